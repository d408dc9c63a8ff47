"""Pictures of several trees side by side: with matplotlib, and as SVG for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from hcviz.core.text import shorten
from hcviz.core.tree import Tree
from hcviz.core.tree_colours import BRANCH_COLOUR, CLUSTER_COLOURS
from hcviz.side_by_side.lines import (
    MIXED,
    aligned_orders,
    item_colours,
    tree_lines,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Names are drawn beside trees of at most so many items.
MAX_NAMED = 60
#: Longest name in a picture, in letters.
MAX_NAME = 24
#: Width of a tree and heights of a row and of a whole picture in a notebook, in pixels.
TREE_PX, ROW_PX, TALL_PX = 210, 14, 420


def draw_trees(
    axes: Sequence[Axes],
    trees: Sequence[Tree],
    titles: Sequence[str],
    captions: Sequence[str],
    labels: Sequence[str] | None,
    *,
    names: bool | None = None,
) -> None:
    """Draw trees over the same items, one on each of the axes.

    Parameters
    ----------
    axes, trees, titles, captions : sequences of the same length
        Where to draw, what, and the texts above and below.
    labels : sequence of str, or None
        The names of the items.
    names : bool, optional
        Whether to draw the names; by default for 60 items or fewer.
    """
    from matplotlib.collections import LineCollection

    n = trees[0].n_leaves
    named = labels is not None and (n <= MAX_NAMED if names is None else names)
    codes, orders = item_colours(trees[0]), aligned_orders(trees)
    width = min(1.1, max(0.35, 150 / n))
    for ax, tree, order, title, caption in zip(axes, trees, orders, titles, captions, strict=True):
        drawn = tree_lines(tree, order, codes)
        colours = [_colour(code) for code in drawn.colours.tolist()]
        lines = drawn.ends.reshape(-1, 2, 2)
        ax.add_collection(LineCollection(list(lines), colors=colours, linewidths=width))
        ax.set_xlim(1.02, -0.005)
        ax.set_ylim(1.0, 0.0)
        ax.set_xticks([])
        for side in ax.spines.values():
            side.set_visible(False)
        ax.set_title(title, loc="left", fontsize="medium")
        ax.set_xlabel(caption, loc="left", fontsize="small")
        if not named or labels is None:
            ax.set_yticks([])
            continue
        shown = order.tolist()
        ax.set_yticks((np.arange(n) + 0.5) / n, [shorten(labels[item], MAX_NAME) for item in shown])
        ax.yaxis.tick_right()
        ax.yaxis.set_tick_params(length=0, labelsize="small" if n <= 30 else "x-small")
        for text, item in zip(ax.get_yticklabels(), shown, strict=True):
            text.set_color(_colour(int(codes[item]), "black"))


def html_page(
    trees: Sequence[Tree], titles: Sequence[str], labels: Any, table: pd.DataFrame
) -> str:
    """Return pictures of the trees and a table of figures, for a notebook."""
    codes, orders = item_colours(trees[0]), aligned_orders(trees)
    n = trees[0].n_leaves
    names = [shorten(str(name), MAX_NAME) for name in labels] if n <= MAX_NAMED else None
    pictures = "".join(
        f'<figure style="margin:0"><figcaption style="font-weight:600">{escape(title)}'
        f"</figcaption>{svg_of_tree(tree, order, codes, names, title)}</figure>"
        for tree, title, order in zip(trees, titles, orders, strict=True)
    )
    figures = table.to_html(
        formatters={
            "cost": "{:,.1f}".format,
            "distance": "{:.3f}".format,
            "queries": "{:,.0f}".format,
            "seconds": "{:.3f}".format,
        },
        na_rep="–",
        border=0,
    )
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:12px 24px">{pictures}</div>'
        f"<div>{figures}</div>"
    )


def svg_of_tree(tree: Tree, order: Any, codes: Any, names: Sequence[str] | None, title: str) -> str:
    """Return one tree as an SVG picture, with the names of its items if they are given.

    ``order`` int (n,) has the leaves from top to bottom, and ``codes`` int (n,) the colour of each
    item in ``CLUSTER_COLOURS``, or -1.
    """
    n, drawn = len(order), tree_lines(tree, order, codes)
    height = ROW_PX * n if names is not None else TALL_PX
    text = 5.8 * max(map(len, names)) + 8 if names is not None else 0
    parts = []
    x, y = TREE_PX - (TREE_PX - 4) * drawn.ends[:, [0, 2]], height * drawn.ends[:, [1, 3]]
    for code in np.unique(drawn.colours).tolist():
        own = np.flatnonzero(drawn.colours == code)
        path = "".join(
            f"M{x[k, 0]:.1f} {y[k, 0]:.1f}L{x[k, 1]:.1f} {y[k, 1]:.1f}" for k in own.tolist()
        )
        parts.append(f'<path d="{path}" stroke="{_colour(code)}" fill="none"/>')
    if names is not None:
        parts += [
            f'<text x="{TREE_PX + 5}" y="{ROW_PX * (k + 0.5) + 4:.1f}" '
            f'fill="{_colour(int(codes[item]), "currentColor")}">{escape(names[item])}</text>'
            for k, item in enumerate(np.asarray(order).tolist())
        ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{TREE_PX + text:.0f}" '
        f'height="{height}" font-family="sans-serif" font-size="11">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _colour(code: int, otherwise: str = BRANCH_COLOUR) -> str:
    return otherwise if code == MIXED else CLUSTER_COLOURS[code]


__all__ = ["draw_trees", "html_page", "svg_of_tree"]
