"""Drawing of figures 1 to 4 of Krishnamurthy et al. (2012)."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hcviz.core.tree import Tree
from hcviz.reproduce.claims import verdict

#: Method -> colour (Okabe and Ito), dashes, title.
STYLES = {
    "SC": ("#0072b2", "--", "spectral, all"),
    "KM": ("#009e73", "--", "k-means, all"),
    "SL": ("#999999", ":", "single linkage"),
    "ASC": ("#56b4e9", "-", "active spectral (paper)"),
    "AKM": ("#e69f00", "-", "active k-means (paper)"),
    "HSC": ("#cc79a7", "-", "HeurSpec (paper)"),
    "ours": ("#d55e00", "-", "active spectral, ours"),
    "sampled entries": ("#000000", "-.", "sampled entries"),
    "half the entries": ("#000000", ":", "half as many entries"),
}
PANELS = {"SC": "a", "KM": "b", "ASC": "c", "AKM": "d", "ours": ""}


def draw(rows: list[Any], result: dict[str, Any], pictures: Any, files: list[Path]) -> None:
    """Draw all figures on one sheet, and save it in each of ``files``."""
    height = 3 + len(pictures.heat)
    figure = Figure(figsize=(17.0, 3.25 * height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(height, 5)
    for axis, (method, letter) in zip(axes[0], PANELS.items(), strict=True):
        _threshold(axis, rows, method)
        axis.set_title(f"2 {letter}: {STYLES[method][2]}" if letter else f"(2) {STYLES[method][2]}")
    _lines(axes[1, 0], rows, "sample", "s", "success", "2 e: right first divisions")
    _lines(axes[1, 1], rows, "noise", "sigma", "agreement", "2 f: agreement")
    _lines(axes[1, 2], rows, "noise", "sigma", "deepest", "2 f: at the deepest level")
    for axis, name, title in (
        (axes[1, 3], "queries", "2 g: similarities"),
        (axes[1, 4], "seconds", "2 h: CPU seconds"),
    ):
        _lines(axis, rows, "growth", "n", name, title, result["slopes"])
        axis.set_xscale("log")
        axis.set_yscale("log")
    for axis, (title, mask) in zip(axes[2], pictures.masks.items(), strict=False):
        axis.imshow(mask, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axis.set_title(f"1: queried, {title}")
    _labels(axes[2, 4])
    for row, (data, heats) in zip(axes[3:], pictures.heat.items(), strict=True):
        for axis, (method, heat) in zip(row, heats.items(), strict=False):
            low, high = np.quantile(heat, [0.02, 0.98])
            axis.imshow(heat, cmap="viridis", vmin=low, vmax=high, interpolation="nearest")
            axis.set_title(f"4: {data}, {STYLES[method][2]}")
        row[4].axis("off")
    _articles(axes[3, 4], *pictures.articles)
    _claims(axes[4, 4], result["claims"], result.get("paper_size", ""))
    for axis in (*axes[2, :4], *axes[3:, :4].flat):
        axis.set_xticks([])
        axis.set_yticks([])
    for file in files:
        figure.savefig(file, dpi=110)


def _threshold(axis: Axes, rows: list[Any], method: str) -> None:
    found = [r for r in rows if r.part == "threshold" and r.method == method]
    ns = sorted({r.n for r in found})
    for k, n in enumerate(ns):
        points = [(r.sigma, r.success) for r in found if r.n == n]
        shade = 0.25 + 0.75 * k / max(1, len(ns) - 1)
        axis.plot(*zip(*points, strict=True), "o-", ms=3, lw=1.3, alpha=shade, label=f"n = {n}",
                  color=STYLES[method][0])  # fmt: skip
    axis.set_xscale("log")
    axis.set_ylim(-0.03, 1.03)
    axis.set_xlabel("sigma")
    axis.set_ylabel("right first divisions")
    axis.legend(fontsize=7)


def _lines(
    axis: Axes, rows: list[Any], part: str, x: str, y: str, title: str, slopes: Any = None
) -> None:
    found = [r for r in rows if r.part == part]
    for method, (colour, dashes, _) in STYLES.items():
        points = [(getattr(r, x), getattr(r, y)) for r in found if r.method == method]
        if points:
            name = f"{method}: {slopes[method][y]:.2f}" if slopes else None
            axis.plot(*zip(*points, strict=True), dashes, color=colour, lw=1.5, label=name)
    axis.set_title(title)
    axis.set_xlabel({"sigma": "sigma", "s": "s (items sampled)", "n": "n"}[x])
    if slopes:
        axis.legend(fontsize=7, title="exponent of n", title_fontsize=7)
    else:
        axis.set_ylim(-0.03, 1.03)


def _labels(axis: Axes) -> None:
    """Draw the legend for all panels."""
    axis.axis("off")
    for colour, dashes, name in STYLES.values():
        axis.plot([], [], dashes, color=colour, label=name)
    axis.legend(loc="center", fontsize=9, frameon=False)


def _claims(axis: Axes, claims: list[dict[str, Any]], paper_size: str) -> None:
    """Write the paper's claims about figure 2, with their verdicts."""
    axis.axis("off")
    axis.set_title("Claims of the paper about figure 2")
    text = "\n".join(line for each in claims for line in wrap_claim(each, paper_size))
    axis.text(0.0, 0.98, text, fontsize=7.5, va="top", transform=axis.transAxes)


def wrap_claim(claim: dict[str, Any], paper_size: str = "") -> list[str]:
    """Return a claim as a few short lines that begin with its verdict."""
    words = verdict(claim["holds"], paper_size).partition(" (")[0]
    return wrap(f"{words}: {claim['claim']}", 46, subsequent_indent="      ")


def _articles(axis: Axes, tree: Tree, names: tuple[str, ...]) -> None:
    """Draw figure 3: a dendrogram with its root at the left and ranks as heights."""
    n = tree.n_leaves
    rank = np.unique(tree.height, return_inverse=True)[1].astype(float)
    at = np.zeros(tree.n_nodes)
    at[tree.leaf_order] = np.arange(n)
    for v in range(n, tree.n_nodes):
        below = tree.children(v)
        at[v] = at[below].mean()
        axis.plot([-rank[v]] * 2, [at[below].min(), at[below].max()], color="#555555", lw=0.9)
        for u in below.tolist():
            axis.plot([-rank[v], -rank[u]], [at[u]] * 2, color="#555555", lw=0.9)
    for leaf in range(n):
        axis.text(0.3, at[leaf], names[leaf], fontsize=6, va="center")
    axis.set_xlim(-rank.max() - 0.5, rank.max() * 1.2 + 1)
    axis.axis("off")
    axis.set_title("3: active k-means")
