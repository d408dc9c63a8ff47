"""The sheet Consensus: one tree for all sampled trees, with the support of each clade."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.layout import (
    elbows,
    leaf_order,
    outer_children,
    places,
    with_balanced_heights,
    with_even_heights,
)
from hcviz.core.text import count_noun, is_or_are
from hcviz.core.tree import Tree
from hcviz.posterior import Posterior
from hcviz.questions.central import central_tree
from hcviz.ui.parts import sampled_trees
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.packing import pack, row_ranges
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store
from hcviz.ui.tree.shown_axis import drawn_heights

ACTS = Acts(sampled_trees.ACTS)

#: Kind of tree -> its name, and what it is.
SUMMARIES = {
    "consensus": ("Consensus", ""),
    "credible": ("Most credible", "The sampled tree whose branches have the most support."),
    "central": ("Central", "The sampled tree that disagrees least with the others."),
}
#: The smallest and the largest threshold of a consensus, in per cent.
MIN_MAJORITY, MAX_MAJORITY = 50, 95


def tree_with_supports(
    posterior: Posterior, kind: str, majority: int
) -> tuple[Tree, NDArray[np.float64]]:
    """Return one tree for the sampled trees, and the supports of its inner nodes.

    Parameters
    ----------
    posterior : Posterior
    kind : str
        ``consensus``, ``credible`` or ``central``.
    majority : int
        Threshold of the consensus, in per cent.

    Returns
    -------
    tree : Tree
    support : ndarray of float64, shape (n_internal,)

    Notes
    -----
    For many items the central tree depends on random triples, drawn with a fixed seed.
    """
    if kind == "credible":
        tree = posterior.max_credibility()
    elif kind == "central" and posterior.n_items >= 3:
        tree = central_tree(posterior, np.random.default_rng(0))
    else:
        return posterior.consensus(majority / 100)
    return tree, posterior.support(tree)


def state(store: Store) -> dict[str, Any]:
    """Return the state of the sheet, as plain JSON."""
    view = store.view
    found = _drawings.get(store, view.summary, view.majority, drawn_heights(store))
    if found is None:
        return {"sentence": sampled_trees.NO_SAMPLED_TREE}
    labels = store.session.labels
    return {
        "kinds": [[kind, title, hint] for kind, (title, hint) in SUMMARIES.items()],
        "kind": view.summary,
        "majority": view.majority,
        "bounds": [MIN_MAJORITY, MAX_MAJORITY],
        "heights": drawn_heights(store),
        **found["drawn"],
        "groups": _groups(store, found["order"], found["drawn"]["clades"]),
        "names": [labels[item] for item in found["order"].tolist()],
    }


def _groups(store: Store, order: NDArray[Any], clades: list[dict[str, Any]]) -> dict[str, str]:
    """Return index of a clade -> name of the group that has exactly these items.

    The indices are texts: Bokeh would send whole numbers as a Map, not as an object.
    """
    names = {frozenset(group.members): group.name for group in store.session.groups}
    sizes = {len(members) for members in names}
    found = {}
    for k, clade in enumerate(clades):
        first, last = clade["rows"]
        if last + 1 - first in sizes:
            name = names.get(frozenset(order[first : last + 1].tolist()))
            if name is not None:
                found[str(k)] = name
    return found


def draw_summary(posterior: Posterior, how: tuple[Any, ...], before: Any) -> dict[str, Any]:
    """Return the chosen tree as numbers to draw, in a leaf order near to the last one.

    ``how`` has the kind of the tree, the least share of a clade in per cent, and the heights: true,
    even or balanced.
    """
    kind, majority, heights = how
    tree, support = tree_with_supports(posterior, kind, majority)
    near = places(before["order"] if before else posterior.trees(1)[0].leaf_order)
    order = leaf_order(tree, near)
    change = {"even": with_even_heights, "balanced": with_balanced_heights}.get(heights)
    shown = tree if change is None else change(tree)
    x, y = elbows(shown, order)
    return {
        "order": order,
        "drawn": {
            "items": order.tolist(),
            "top": float(shown.height[-1]) or 1.0,
            "x": pack(x, np.float32),
            "y": pack(y, np.float32),
            "clades": _clades(shown, order, support),
            "sentence": _summary(
                kind, majority, support[:-1], len(posterior), posterior.clade_error
            ),
        },
    }


def _clades(tree: Tree, order: NDArray[Any], support: NDArray[Any]) -> list[dict[str, Any]]:
    """Return every clade but the root's, from top to bottom, larger clades first.

    ``at`` has the height of a clade and of its parent, ``y`` its row and those of its outer
    children, ``rows`` the first and the last row of its items, ``percent`` its support.
    """
    n = tree.n_leaves
    low, high, y = outer_children(tree.parent, places(order) + 0.5)
    first, last = row_ranges(tree, order)
    inner = np.arange(n, tree.n_nodes - 1)
    percents = whole_percents(support[:-1])
    return [
        {
            "at": [round(float(tree.height[v]), 6), round(float(tree.height[tree.parent[v]]), 6)],
            "y": [float(y[v]), float(y[low[v]]), float(y[high[v]])],
            "rows": [int(first[v]), int(last[v])],
            "percent": percents[v - n],
        }
        for v in inner[np.lexsort((-last[inner], first[inner]))].tolist()
    ]


def whole_percents(shares: NDArray[np.float64]) -> list[int]:
    """Return whole per cents; only exact ones become 100."""
    rounded = np.rint(100 * shares).astype(int)
    return [int(each) for each in np.where((rounded == 100) & (shares < 1), 99, rounded)]


def _summary(kind: str, majority: int, shares: Any, trees: int, error: float) -> str:
    share = "half" if majority == 50 else f"{majority} %"
    many = int((shares > majority / 100).sum())
    of = f"the last {count_noun(trees, 'tree')}"
    if kind == "consensus":
        count = count_noun(many, "branch") if many else "No branch"
        sentence = f"{count} {'are' if many > 1 else 'is'} in more than {share} of {of}."
    else:
        hint = SUMMARIES[kind][1]
        sentence = (
            f"{hint} {many:,} of its {len(shares):,} branches {is_or_are(many)} in more than half "
            f"of {of}."
        )
    if error >= 0.005:
        sentence += f" Supports may be too low by {100 * error:.0f} points."
    return sentence


_drawings = sampled_trees.SampledTreesCache(draw_summary)


def _depends_on(store: Store) -> Any:
    view = store.view
    return (
        *sampled_trees.depends_on(store),
        store.session.groups,
        view.summary,
        view.majority,
        drawn_heights(store),
        view.selection,
    )


@ACTS.on("kind")
def _set_kind(actions: Actions, value: str) -> None:
    if value in SUMMARIES:
        actions.store.change_view(summary=value)


@ACTS.on("majority")
def _set_majority(actions: Actions, value: str) -> None:
    percent = int(float(value))
    actions.store.change_view(majority=min(max(percent, MIN_MAJORITY), MAX_MAJORITY))


SHEET = Sheet(
    name="consensus",
    title="Consensus",
    summary="The branches that most of the sampled trees have",
    make=sheet_part(__file__),
    state=state,
    depends_on=_depends_on,
    unavailable_because=sampled_trees.unavailable_because,
    acts=ACTS,
    live=sampled_trees.live,
)
