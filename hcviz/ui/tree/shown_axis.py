"""``axis_of``: the height axis of a tree on the page. ``drawn_heights``: true or even ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from hcviz.algorithms import get as get_algorithm
from hcviz.core.tree import Tree
from hcviz.ui.state.store import Store
from hcviz.ui.tree.axis import Axis


def axis_of(store: Store, tree: Tree) -> Axis:
    """Return the axis of ``tree`` for the heights chosen.

    The title is that of the tree's method, even if another method was chosen since.
    """
    known = store.axis
    if known is None or known.tree is not tree:
        heights = get_algorithm(store.session.method).heights_of(store.problem, tree)
        measured = (store.dataset.measure if store.dataset is not None else "") or "similarity"
        known = Axis(
            tree,
            heights.title.replace("{similarity}", measured),
            heights.word,
            is_share=heights.is_share,
            note=heights.note,
            crowded=heights.crowded,
        )
    even = _are_even(store.view.heights, known)
    return known if known.even == even else replace(known, even=even)


def drawn_heights(store: Store) -> Literal["true", "even"]:
    """Return how the heights of trees are drawn: as a person chose, or as suits the tree."""
    return "even" if _are_even(store.view.heights, store.axis) else "true"


def _are_even(chosen: str, axis: Axis | None) -> bool:
    return chosen == "even" or (chosen == "auto" and axis is not None and axis.crowded)
