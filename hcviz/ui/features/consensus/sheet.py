"""One tree for all that were sampled: their consensus, the most credible or the central one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.layout import elbows, leaf_order, outer_children, places, with_even_heights
from hcviz.core.tree import Tree
from hcviz.posterior import Posterior
from hcviz.questions.central import central_tree
from hcviz.ui.parts import sampled_trees as sampled
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.packing import packed, spans
from hcviz.ui.parts.sheet import Sheet, drawn_by
from hcviz.ui.state.store import Store

#: Which tree, and what is said of it.
SUMMARIES = {
    "consensus": ("Consensus", ""),
    "credible": ("Most credible", "The sampled tree whose clades have the most support."),
    "central": ("Central", "The sampled tree that disagrees least with the others."),
}
#: The least and the largest threshold of a consensus, in per cent.
LEAST, MOST = 50, 95


def summary(posterior: Posterior, kind: str, majority: int) -> tuple[Tree, NDArray[np.float64]]:
    """The tree, and the supports of its inner nodes, float64 (n_internal,).

    The central tree is chosen by chance where there are many threes of items: the same trees give
    the same choice.
    """
    if kind == "credible":
        tree = posterior.max_credibility()
    elif kind == "central" and posterior.n_items >= 3:
        tree = central_tree(posterior, np.random.default_rng(0))
    else:
        return posterior.consensus(majority / 100)
    return tree, posterior.support(tree)


def picture(store: Store) -> dict[str, Any]:
    view = store.view
    found = _drawings.of(store, view.summary, view.majority, view.heights)
    if found is None:
        return {"said": sampled.NONE_YET}
    labels = store.session.labels
    return {
        "kinds": [[kind, title, hint] for kind, (title, hint) in SUMMARIES.items()],
        "kind": view.summary,
        "majority": view.majority,
        "bounds": [LEAST, MOST],
        "heights": view.heights,
        **found["drawn"],
        "names": [labels[item] for item in found["order"].tolist()],
    }


def _draw(posterior: Posterior, how: tuple[Any, ...], before: Any) -> dict[str, Any]:
    """The chosen tree on paper, its leaves as near as possible to where they stood before."""
    kind, majority, heights = how
    tree, support = summary(posterior, kind, majority)
    near = places(before["order"] if before else posterior.trees(1)[0].leaf_order)
    order = leaf_order(tree, near)
    shown = with_even_heights(tree) if heights == "even" else tree
    x, y = elbows(shown, order)
    return {
        "order": order,
        "drawn": {
            "items": order.tolist(),
            "top": float(shown.height[-1]) or 1.0,
            "x": packed(x, np.float32),
            "y": packed(y, np.float32),
            "clades": _clades(shown, order, support),
            "said": _said(kind, majority, support[:-1], len(posterior), posterior.clade_error),
        },
    }


def _clades(tree: Tree, order: NDArray[Any], support: NDArray[Any]) -> list[dict[str, Any]]:
    """Every clade but the whole, from top to bottom, the larger first.

    ``at``: its height and its parent's; ``y``: its row and those of its outer children; ``rows``:
    the first and the last row of its items; ``percent``: its support.
    """
    n = tree.n_leaves
    low, high, y = outer_children(tree.parent, places(order) + 0.5)
    first, last = spans(tree, order)
    inner = np.arange(n, tree.n_nodes - 1)
    percents = _percents(support[:-1])
    return [
        {
            "at": [round(float(tree.height[v]), 6), round(float(tree.height[tree.parent[v]]), 6)],
            "y": [float(y[v]), float(y[low[v]]), float(y[high[v]])],
            "rows": [int(first[v]), int(last[v])],
            "percent": percents[v - n],
        }
        for v in inner[np.lexsort((-last[inner], first[inner]))].tolist()
    ]


def _percents(shares: NDArray[np.float64]) -> list[int]:
    """Whole per cent; what is not quite all is never rounded to 100."""
    rounded = np.rint(100 * shares).astype(int)
    return [int(each) for each in np.where((rounded == 100) & (shares < 1), 99, rounded)]


def _said(kind: str, majority: int, shares: Any, trees: int, error: float) -> str:
    share = "half" if majority == 50 else f"{majority} %"
    many = int((shares > majority / 100).sum())
    of = f"the last {trees:,} tree{'s' * (trees != 1)}"
    if kind == "consensus":
        count = f"{many:,} clade{'s' * (many != 1)}" if many else "No clade"
        said = f"{count} {'are' if many > 1 else 'is'} in more than {share} of {of}."
    else:
        verb = "is" if many == 1 else "are"
        hint = SUMMARIES[kind][1]
        said = f"{hint} {many:,} of its {len(shares):,} clades {verb} in more than half of {of}."
    if error >= 0.005:
        said += f" Supports may be too low by {100 * error:.0f} points."
    return said


_drawings = sampled.Calm(_draw)


def _sees(store: Store) -> Any:
    view = store.view
    return (*sampled.sees(store), view.summary, view.majority, view.heights, view.selection)


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    store, value = actions.store, more.get("value")
    if name == "kind" and value in SUMMARIES:
        store.look(summary=value)
    elif name == "majority":
        store.look(majority=min(max(int(float(str(value))), LEAST), MOST))
    else:
        sampled.act(actions, name, more)


SHEET = Sheet(
    name="consensus",
    title="Consensus",
    summary="The clades that most of the sampled trees have",
    make=drawn_by(__file__),
    picture=picture,
    sees=_sees,
    lacks=sampled.lacks,
    act=_act,
    live=sampled.live,
)
