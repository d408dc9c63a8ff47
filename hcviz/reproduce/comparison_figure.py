"""Drawing of the figures of Ghoshdastidar et al. (2019) and Perrot et al. (2020)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from PIL import Image

from hcviz.core.layout import elbows, leaf_order
from hcviz.core.tree import Tree

#: Colours of a panel's methods, in order (Okabe and Ito).
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999",
)  # fmt: skip

#: Labels of an axis with more letters together are turned.
MAX_TICK_LETTERS = 36


def draw_hierarchies(result: dict[str, Any], files: list[Path]) -> None:
    """Draw AARI by delta for each rate, and costs by rate."""
    planted = result["planted"]
    linkages = planted.get("all", {})
    rates = [rate for rate in planted if rate != "all"]
    panels: list[tuple[str, Any]] = [("planted", rate) for rate in rates]
    panels += [("cost", data) for data in result["cost"]]
    methods = _methods([*planted.values(), *result["cost"].values()])
    wide = max(1, min(4, max(len(rates), len(result["cost"]))))
    rows = max(1, -(-len(panels) // wide))
    figure = Figure(figsize=(4.2 * wide, 3.2 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(figure.subplots(rows, wide)).ravel()
    for axis in axes[len(panels) :]:
        axis.axis("off")
    for axis, (part, name) in zip(axes, panels, strict=False):
        if part == "planted":
            both = {delta: row | linkages.get(delta, {}) for delta, row in planted[name].items()}
            curves(axis, both, methods)
            axis.set(
                title=f"planted, p = {name}", xlabel="delta", ylabel="AARI", ylim=(-0.05, 1.05)
            )
        else:
            curves(axis, result["cost"][name], methods)
            axis.set(title=name, xlabel="p", ylabel="Dasgupta's cost / 1e5")
    _legend_below(figure, axes[: len(panels)], methods)
    for file in files:
        figure.savefig(file, dpi=110)


def _methods(tables: Iterable[dict[str, dict[str, Any]]]) -> list[str]:
    """Return the methods of all panels, so that each has one colour."""
    return list(dict.fromkeys(name for each in tables for row in each.values() for name in row))


def _legend_below(figure: Figure, axes: Iterable[Axes], methods: Sequence[str]) -> None:
    """Write the methods once, below the panels, where they cover no line."""
    lines: dict[str, Any] = {}
    for axis in axes:
        lines |= dict(zip(*axis.get_legend_handles_labels()[::-1], strict=True))
    names = [name for name in methods if name in lines]
    if names:
        columns = max(1, int(figure.get_figwidth() / 1.9))
        figure.legend(
            [lines[name] for name in names], names, ncols=min(columns, len(names)),
            loc="outside lower center", fontsize=7, frameon=False,
        )  # fmt: skip


def draw_cars(trees: dict[str, Any], data: Any, files: list[Path]) -> None:
    """Draw the trees side by side, with roots at the left and a photograph at each leaf.

    Heights are ranks of merges, since nearly all cosines of an embedding are close to 1.
    """
    figure = Figure(figsize=(5.6 * len(trees), 13), layout="constrained")
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(figure.subplots(1, len(trees))).ravel()
    for axis, (title, tree) in zip(axes, trees.items(), strict=True):
        photographs(axis, _by_order(tree), data)
        axis.set_title(title)
    classes = dict.fromkeys(data.classes)
    lines = [Line2D([], [], color=COLOURS[k], lw=3, label=name) for k, name in enumerate(classes)]
    figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), frameon=False)
    figure.suptitle(
        f"{tree.n_leaves} cars, {len(data.comparisons):,} comparisons; merges in their order"
    )
    for file in files:
        figure.savefig(file, dpi=110)


def _by_order(tree: Tree) -> Tree:
    """Return the tree with the ranks of its inner nodes as heights."""
    n = tree.n_leaves
    height = np.zeros(tree.n_nodes)
    height[n + np.argsort(tree.height[n:], kind="stable")] = np.arange(1.0, tree.n_nodes - n + 1)
    return Tree(tree.parent, height, n)


def curves(axis: Axes, table: dict[str, dict[str, list[float]]], methods: Sequence[str]) -> None:
    """Draw a ``table``: x -> method -> (mean, standard deviation), coloured by ``methods``."""
    for k, method in enumerate(methods):
        found = [(float(x), *row[method]) for x, row in table.items() if method in row]
        if not found:
            continue
        x, mean, spread = np.array(found, float).T
        dash = ("-", "--", ":")[k // len(COLOURS) % 3]
        axis.errorbar(x, mean, spread, fmt=f"o{dash}", ms=3, lw=1.3, capsize=2,
                      color=COLOURS[k % len(COLOURS)], label=method)  # fmt: skip
    axis.grid(axis="y", alpha=0.3)


def photographs(axis: Axes, tree: Any, data: Any) -> None:
    """Draw a tree with its root at the left, and pictures at its leaves, coloured by class."""
    order = leaf_order(tree)
    x, y = elbows(tree, order)
    axis.plot(x, y, color="#555555", lw=0.8)
    classes = list(dict.fromkeys(data.classes))
    for row, item in enumerate(order):
        colour = COLOURS[classes.index(data.classes[item])]
        shift = -(row % 4) * 0.06 * float(tree.height[-1])  # beside each other, not on top
        axis.plot([0, shift], [row + 0.5, row + 0.5], color=colour, lw=0.6)
        if data.images[item] is not None:
            with Image.open(io.BytesIO(data.images[item])) as picture:
                pixels = np.asarray(picture.convert("RGB"))
            zoom = 26 / max(pixels.shape[:2])
            axis.add_artist(
                AnnotationBbox(
                    OffsetImage(pixels, zoom=zoom), (shift - 0.03 * tree.height[-1], row + 0.5),
                    bboxprops={"edgecolor": colour, "lw": 1.2}, pad=0.05,
                )
            )  # fmt: skip
    axis.set(xlim=(1.02 * tree.height[-1], -0.28 * tree.height[-1]), ylim=(tree.n_leaves, 0))
    axis.axis("off")


def draw_partitions(result: dict[str, Any], files: list[Path]) -> None:
    """Draw ARI by answers, noise and distribution, for MNIST, and the matrix of the cars."""
    panels = [(name, table) for name, table in result.items() if name.startswith("ari by")]
    methods = _methods(table for _, table in panels)
    cars = result.get("car")
    count = len(panels) + (1 if cars else 0)
    figure = Figure(figsize=(5.2 * min(count, 3), 4.2 * -(-count // 3)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(figure.subplots(-(-count // 3), min(count, 3))).ravel()
    for axis in axes[count:]:
        axis.axis("off")
    for axis, (name, table) in zip(axes, panels, strict=False):
        numbers = {str(at): row for at, row in enumerate(table.values())}
        curves(axis, numbers, methods)
        long = max(map(len, table), default=0) * len(table) > MAX_TICK_LETTERS
        turned: dict[str, Any] = {"rotation": 35, "ha": "right", "fontsize": 7} if long else {}
        axis.set_xticks(range(len(table)), list(table), **turned)
        axis.set(title=name, ylabel="ARI", ylim=(-0.05, 1.05))
    _legend_below(figure, axes[: len(panels)], methods)
    if cars:
        axis = axes[len(panels)]
        axis.imshow(cars["matrix"], vmin=0, vmax=1, cmap="Greys")
        names = range(len(cars["methods"]))
        axis.set_xticks(names, cars["methods"], rotation=60, ha="right", fontsize=7)
        axis.set_yticks(names, cars["methods"], fontsize=7)
        axis.set_title("cars: ARI between methods")
        for a in names:
            for b in names:
                value = cars["matrix"][a][b]
                axis.text(b, a, f"{value:.2f}", ha="center", va="center", fontsize=6,
                          color="white" if value > 0.5 else "black")  # fmt: skip
    for file in files:
        figure.savefig(file, dpi=110)
