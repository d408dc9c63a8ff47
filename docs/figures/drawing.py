"""What the figures share: a frame, its colours, a tree with coloured branches, and SVG text."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from hcviz import Tree

#: The page's own colour of text, and a grey that is readable on a light and on a dark page.
INK, GREY = "#010203", "#8a8a8a"
#: Colours of clusters, readable on both pages (after Okabe and Ito).
COLOURS = ("#2a85d0", "#e07b00", "#1a9e77", "#c8609b", "#9a7fd1", "#b08d00", "#4aa8b8", "#d05a4a")
BLUE, ORANGE = COLOURS[:2]

STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "hcviz", "font.size": 9.5, "axes.titlesize": 9.5,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "axes.titlecolor": INK,
    "xtick.color": INK, "ytick.color": INK,
}  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """One step of a figure: its picture, and the sentence below it."""

    figure: Figure
    caption: str


def new_figure(width: float = 7.0, height: float = 3.0) -> Figure:
    """Return a transparent figure, in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_visible(False)
    return figure


def svg(frame: Frame, prefix: str) -> str:
    """Return the picture as an SVG element. It takes the page's font and its colour of text.

    ``prefix`` begins every id, since the frames of a page are in one document.
    """
    text = io.StringIO()
    FigureCanvasSVG(frame.figure).print_svg(text, metadata={"Date": None, "Creator": None})
    element = text.getvalue()
    element = element[element.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r' width="[\d.]+pt"| height="[\d.]+pt"', "", element, count=2)
    element = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', element)
    element = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}\1"', element)
    element = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", element)
    element = re.sub(r"(font-family: |font: [\d.]+px )[^;\"]+", r"\1var(--font-stack)", element)
    element = element.replace(INK, "currentColor")
    return element.replace("<svg ", '<svg aria-hidden="true" ', 1)


def draw_tree(
    axis: Axes,
    tree: Tree,
    labels: list[str],
    colours: Mapping[int, str] | None = None,
    notes: Mapping[int, str] | None = None,
) -> None:
    """Draw a tree with its root at the left, and evenly spaced levels.

    ``colours`` are those of the branches above nodes; ``notes`` are texts above branches.
    """
    colours, notes = colours or {}, notes or {}
    n = tree.n_leaves
    level = np.zeros(tree.n_nodes)
    row = np.zeros(tree.n_nodes)
    row[np.asarray(tree.leaf_order)] = np.arange(n)
    for node in range(n, tree.n_nodes):
        below = tree.children(node)
        level[node] = level[below].max() + 1
        row[node] = row[below].mean()
    root_edge = 0.6
    for node in range(tree.n_nodes):
        above = tree.parent[node]
        left = level[above] if above >= 0 else level[node] + root_edge
        colour = colours.get(node, INK)
        style = {"color": colour, "lw": 2.6 if node in colours else 1.3, "zorder": 2}
        axis.plot([left, level[node]], [row[node]] * 2, solid_capstyle="butt", **style)
        if node in notes:
            axis.text(left - 0.08, row[node] - 0.12, notes[node], va="bottom", ha="left",
                      fontsize=8, color=colour)  # fmt: skip
        if node >= n:
            below = row[tree.children(node)]
            axis.plot([level[node]] * 2, [below.min(), below.max()], color=INK, lw=1.3, zorder=1)
        else:
            axis.text(-0.12, row[node], labels[node], va="center", ha="left", color=colour)
    axis.set_xlim(level.max() + root_edge + 0.1, -0.3 * max(level.max(), 3) - 0.4)
    axis.set_ylim(n - 0.4, -0.8)
    axis.axis("off")


def draw_matrix(axis: Axes, matrix: np.ndarray, title: str, limit: float | None = None) -> None:
    """Draw a symmetric matrix; with a limit, its colours are symmetric around 0."""
    if limit is None:
        axis.imshow(matrix, cmap="viridis", interpolation="none")
    else:
        axis.imshow(matrix, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="none")
    axis.set_title(title)
    axis.set_xticks([])
    axis.set_yticks([])
