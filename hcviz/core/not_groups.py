"""Sets of items that must not be clades: whether a tree avoids them, and which change makes it.

A binary tree does not have the clade F if and only if it has a triplet fx|g with f and g in F and x
outside: a *witness*. For any fixed f in F there is a witness fx|g or gx|f. Proof: the LCA of F
has an item x outside F below it, on one side; take g from the side of x if f is on the other side,
and from the other side otherwise. So constraints have a tree that avoids some sets if BUILD accepts
one witness of each set together with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core import buildkernels as kernels
from hcviz.core.build import build_guided, constraint_rows
from hcviz.core.errors import InconsistentTriplets
from hcviz.core.groups import Groups, shown_items
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets

Int = NDArray[np.int32]

#: Limit of the search for witnesses: rows that BUILD reads. About half a second.
WORK_LIMIT = 4_000_000
#: Fixed cost of a BUILD, in rows.
BUILD_OVERHEAD = 400


@dataclass(frozen=True)
class NotGroup:
    """The statement that a set of items, int32 (k,), is not a clade."""

    items: Int


def has_tree(n_items: int, rows: Int, not_groups: Sequence[NotGroup]) -> bool:
    """Return True if a tree was found that satisfies the rows, and has none of the clades."""
    return find_witnesses(n_items, rows, [each.items for each in not_groups]) is not None


def avoids(tree: Tree, not_groups: Any) -> NDArray[np.bool_]:
    """Return for each set whether the tree does not have it as a clade, bool (g,). O(sizes)."""
    known = Groups.of(not_groups, tree.n_leaves)
    return np.array([not tree.has_clade(items) for items in known], np.bool_)


def find_witnesses(
    n_items: int, rows: Int, not_groups: Sequence[Int], work_limit: int = WORK_LIMIT
) -> Int | None:
    """Find a witness of each set, so that a tree satisfies all of them and the rows.

    Parameters
    ----------
    n_items : int
        Number of items.
    rows : int32 (m, 3)
        Triplets and group rows.
    not_groups : sequence of int32 arrays
        Sets of two items or more, but not of all, that must not be clades.
    work_limit : int
        Limit of the work.

    Returns
    -------
    int32 (g, 3) or None
        The witnesses; None if there are none, or if the limit was reached before any were found.

    Notes
    -----
    Depth-first search. Items that no row names and that are in the same sets can replace one
    another, so only a few of them are tried: g witnesses name at most 3 g of them. One BUILD for
    each witness that is tried. Deterministic.
    """
    rows = np.asarray(rows, np.int32).reshape(-1, 3)
    named = np.unique(np.concatenate([rows[rows >= 0], *not_groups])).astype(np.int32)
    others = np.setdiff1d(np.arange(n_items, dtype=np.int32), named)
    # One more than witnesses name: the rows of a group need an item outside.
    items = np.sort(np.concatenate([named, others[: 3 * len(not_groups) + 1]]))
    local = np.searchsorted(items, rows).astype(np.int32)
    local[rows < 0] = rows[rows < 0]
    sets = [np.searchsorted(items, each).astype(np.int32) for each in not_groups]
    usable = _representatives(items.size, np.unique(local[local >= 0]), sets)
    found = _search(items.size, local, sets, usable, work_limit)
    return None if found is None else items[found]


def _representatives(n: int, named: Int, sets: Sequence[Int]) -> NDArray[np.bool_]:
    """Return which items are tried: those of rows, and a few of each class of other items."""
    inside = np.zeros((n, len(sets)), np.bool_)
    for number, each in enumerate(sets):
        inside[each, number] = True
    usable = np.zeros(n, np.bool_)
    usable[named] = True
    seen: dict[bytes, int] = {}
    for item in np.flatnonzero(~usable).tolist():
        kind = inside[item].tobytes()
        seen[kind] = seen.get(kind, 0) + 1
        usable[item] = seen[kind] <= 3 * len(sets)
    return usable


def _search(
    n: int, rows: Int, sets: Sequence[Int], usable: NDArray[np.bool_], work_limit: int
) -> Int | None:
    """Choose a witness of each set in turn; go back to the set before where none is left."""
    chosen: list[Int] = []
    if kernels.aho_tree(n, rows)[1].size:
        return None
    waiting = [_candidates(n, sets[0], usable)] if sets else []
    work = 0
    while len(chosen) < len(sets):
        if not waiting:
            return None
        witness = next(waiting[-1], None)
        if witness is None:
            waiting.pop()
            if chosen:
                chosen.pop()
            continue
        trial = np.concatenate([rows, *chosen, witness])
        work += BUILD_OVERHEAD + n + len(trial)
        if work > work_limit:
            return None
        if not kernels.aho_tree(n, trial)[1].size:
            chosen.append(witness)
            if len(chosen) < len(sets):
                waiting.append(_candidates(n, sets[len(chosen)], usable))
    return np.concatenate([np.empty((0, 3), np.int32), *chosen])


def _candidates(n: int, items: Int, usable: NDArray[np.bool_]) -> Iterator[Int]:
    """Yield the witnesses of a set, int32 (1, 3)."""
    inside = items[usable[items]]
    outside = np.setdiff1d(np.flatnonzero(usable), items)
    yield from _witnesses(int(inside[0]), inside[1:].tolist(), outside[::-1].tolist())


def _witnesses(first: int, others: Sequence[int], outside: Sequence[int]) -> Iterator[Int]:
    for x in outside:
        for g in others:
            yield np.array([[first, x, g]], np.int32)
            yield np.array([[g, x, first]], np.int32)


def avoid(tree: Tree, not_groups: Any, triplets: Any = None, groups: Any = None) -> Tree:
    """Repair a tree: it satisfies the constraints, and has none of ``not_groups`` as a clade.

    Parameters
    ----------
    tree : Tree
        The tree before, binary.
    not_groups : Groups or sets of items
        Sets of items that must not be clades.
    triplets : Triplets or int (m, 3), optional
        Rows ab|c.
    groups : Groups or sets of items, optional
        Sets of items that must be clades.

    Returns
    -------
    Tree
        ``tree`` itself if it satisfies all. Otherwise a clade that is forbidden gets an item from
        the nearest branch that allows it (:func:`hcviz.core.build.build_guided`).

    Raises
    ------
    InconsistentTriplets
        No tree satisfies all, or none was found within the limit of the work.
    """
    known = Groups.of(not_groups, tree.n_leaves)
    rows = constraint_rows(triplets, groups)
    witnesses: dict[int, Int] = {}
    found = build_guided(tree, triplets, groups)
    while not (fine := avoids(found, known)).all():
        number = int(np.flatnonzero(~fine)[0])
        held = np.concatenate([rows, *witnesses.values()])
        witness = _nearest_witness(found, known.members[number], held)
        if witness is None:
            chosen = check_avoidable(tree.n_leaves, known, triplets, groups)
            witnesses = {place: chosen[[place]] for place in range(len(known))}
        else:
            witnesses[number] = witness
        more = np.concatenate([Triplets.of(triplets).rows, *witnesses.values()])
        found = build_guided(found, more, groups)
    return found


def _nearest_witness(tree: Tree, items: Int, held: Int, work_limit: int = WORK_LIMIT) -> Int | None:
    """Return a witness of a clade of the tree that BUILD accepts with the rows ``held``.

    Items outside are tried from the nearest to the farthest. Items of the other child come first.
    """
    first = int(items[0])
    outside = np.setdiff1d(np.arange(tree.n_leaves, dtype=np.int32), items)
    outside = outside[np.argsort(tree.size[tree.lca(first, outside)], kind="stable")]
    rest = items[1:]
    rest = rest[np.argsort(-tree.size[tree.lca(first, rest)], kind="stable")]
    work = 0
    for witness in _witnesses(first, rest.tolist(), outside.tolist()):
        trial = np.concatenate([held, witness])
        work += BUILD_OVERHEAD + tree.n_leaves + len(trial)
        if work > work_limit:
            return None
        if not kernels.aho_tree(tree.n_leaves, trial)[1].size:
            return witness
    return None


def check_avoidable(n_items: int, not_groups: Any, triplets: Any, groups: Any) -> Int:
    """Return a witness of each set, int32 (g, 3), that agrees with the constraints.

    Raises
    ------
    InconsistentTriplets
        None was found.
    """
    known = Groups.of(not_groups, n_items)
    found = find_witnesses(n_items, constraint_rows(triplets, groups), known.members)
    if found is not None:
        return found
    count = len(known)
    what = "is not a clade" if count == 1 else f"and {count - 1} other set(s) are not clades"
    raise InconsistentTriplets(
        "No tree was found that satisfies the constraints and in which "
        f"{shown_items(known.members[0])} {what}.",
        "Drop one of the sets that must not be groups, or one of the constraints.",
    )


__all__ = ["NotGroup", "avoid", "avoids", "check_avoidable", "find_witnesses", "has_tree"]
