"""``axis_of``: the height axis of a tree that the page shows."""

from __future__ import annotations

from dataclasses import replace

from hcviz.algorithms import get as get_algorithm
from hcviz.core.tree import Tree
from hcviz.ui.state.store import Store
from hcviz.ui.tree.axis import Axis


def axis_of(store: Store, tree: Tree) -> Axis:
    """Return the axis of ``tree`` for the heights chosen.

    The title is that of the tree's method, even if another method was chosen since.
    """
    even, known = store.view.heights == "even", store.axis
    if known is None or known.tree is not tree:
        heights = get_algorithm(store.session.method).heights_of(store.problem, tree)
        measured = (store.dataset.measure if store.dataset is not None else "") or "similarity"
        known = Axis(
            tree,
            heights.title.replace("{similarity}", measured),
            heights.word,
            even,
            heights.is_share,
        )
    return known if known.even == even else replace(known, even=even)
