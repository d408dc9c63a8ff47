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
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hcviz.core import buildkernels as kernels
from hcviz.core.build import BUILD_OVERHEAD, build_guided, constraint_rows
from hcviz.core.errors import InconsistentTriplets
from hcviz.core.groups import SHOWN_ITEMS, Groups, group_rows, shown_items
from hcviz.core.text import join_names
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets

Int = NDArray[np.int32]

#: Limit of the exhaustive search for witnesses: rows that BUILD reads. About a tenth of a second.
WORK_LIMIT = 800_000
#: Children of a clade, at most, whose items are tried as two members of it.
TRIED_CHILDREN = 4


@dataclass(frozen=True)
class NotGroup:
    """The statement that a set of items, int32 (k,), is not a clade."""

    items: Int


class Witnesses(NamedTuple):
    """The result of a search for witnesses.

    ``rows`` are one witness of each set, int32 (g, 3); None if none were found. ``complete`` is
    False if the search ended at its limit. ``work`` counts the rows that BUILD read.
    """

    rows: Int | None
    complete: bool
    work: int


def may_have_tree(
    n_items: int, rows: Int, not_groups: Sequence[NotGroup], work_limit: int = WORK_LIMIT
) -> tuple[bool, int]:
    """Return True if a tree satisfies the rows and has none of the clades, and the work done.

    False is proven. True is not, if the search ended at its limit.
    """
    found = find_witnesses(n_items, rows, [each.items for each in not_groups], work_limit)
    return found.rows is not None or not found.complete, found.work


def avoids(tree: Tree, not_groups: Any) -> NDArray[np.bool_]:
    """Return for each set whether the tree does not have it as a clade, bool (g,). O(sizes)."""
    known = Groups.of(not_groups, tree.n_leaves)
    return np.array([not tree.has_clade(items) for items in known], np.bool_)


def find_witnesses(
    n_items: int, rows: Int, not_groups: Sequence[Int], work_limit: int = WORK_LIMIT
) -> Witnesses:
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
        Limit of the exhaustive search.

    Returns
    -------
    Witnesses
        Without rows and complete, no tree satisfies all.

    Notes
    -----
    First :func:`_by_aho_tree`, which is fast and nearly always succeeds. Then an exhaustive search.
    Items that no row names and that are in the same sets can replace one another, so only a few of
    them are tried: g witnesses name at most 3 g of them. Deterministic.
    """
    rows = np.asarray(rows, np.int32).reshape(-1, 3)
    named = np.unique(np.concatenate([rows[rows >= 0], *not_groups])).astype(np.int32)
    others = np.setdiff1d(np.arange(n_items, dtype=np.int32), named)
    # One more than witnesses name: the rows of a group need an item outside.
    items = np.sort(np.concatenate([named, others[: 3 * len(not_groups) + 1]]))
    local = np.searchsorted(items, rows).astype(np.int32)
    local[rows < 0] = rows[rows < 0]
    sets = [np.searchsorted(items, each).astype(np.int32) for each in not_groups]
    if any(_is_required(local, each) for each in sets):
        return Witnesses(None, True, len(local))
    found, failed, work = _by_aho_tree(items.size, local, sets)
    if failed:
        return Witnesses(None, True, work)
    complete = True
    if found is None:
        usable = _representatives(items.size, np.unique(local[local >= 0]), sets)
        found, complete, more = _search(items.size, local, sets, usable, work_limit)
        work += more
    return Witnesses(None if found is None else items[found], complete, work)


def _is_required(rows: Int, items: Int) -> bool:
    """Return True if the rows have those of a group of exactly these items."""
    wanted = set(map(tuple, group_rows(items).tolist()))
    return wanted <= set(map(tuple, rows[rows[:, 2] == -items.size].tolist()))


def _by_aho_tree(n: int, rows: Int, sets: Sequence[Int]) -> tuple[Int | None, bool, int]:
    """Choose witnesses by the Aho tree of the rows and of the witnesses so far.

    Let v be the smallest clade with all items of F. If a child of v has items of F and other items,
    the tree has a witness already. If F is some children of v, but not all of them, joining one of
    these with another child is a witness that BUILD accepts. If F is v, items of the branches
    beside v and beside its ancestors are tried. Returns the witnesses or None, whether the rows
    alone have no tree, and the work.
    """
    chosen: dict[int, Int] = {}
    work = n_built = 0  # BUILD's rows, and the witnesses that ``tree`` was built with

    def built(*more: Int) -> Tree | None:
        nonlocal work
        trial = np.concatenate([rows, *chosen.values(), *more])
        work += BUILD_OVERHEAD + n + len(trial)
        parent, failed = kernels.aho_tree(n, trial)
        return None if failed.size else Tree.with_size_heights(parent, n)

    tree = built()
    if tree is None:
        return None, True, work
    present = [_present_witness(tree, items) for items in sets]
    chosen = {number: each for number, each in enumerate(present) if each is not None}
    for number, items in enumerate(sets):
        if number in chosen:
            continue
        if len(chosen) > n_built:
            tree = built()
            assert tree is not None  # the former tree satisfies all of them
            n_built = len(chosen)
        witness = _present_witness(tree, items)
        if witness is not None:
            chosen[number] = witness
            continue
        for witness in _new_witnesses(tree, items):
            found = built(witness)
            if found is not None:
                chosen[number], tree = witness, found
                n_built = len(chosen)
                break
        else:
            return None, False, work
    order = [chosen[number] for number in range(len(sets))]
    return np.concatenate([np.empty((0, 3), np.int32), *order]), False, work


def _members_by_child(tree: Tree, items: Int) -> tuple[int, dict[int, list[int]]]:
    """Return the smallest clade that has the items, and its children with the items below each."""
    v = tree.smallest_clade(items)
    found: dict[int, list[int]] = {}
    for item in items.tolist():
        child = item
        while tree.parent[child] != v:
            child = int(tree.parent[child])
        found.setdefault(child, []).append(item)
    return v, found


def _present_witness(tree: Tree, items: Int) -> Int | None:
    """Return a witness that the tree satisfies, int32 (1, 3); None if it has none."""
    _, below = _members_by_child(tree, items)
    for child, inside in below.items():
        if tree.size[child] > len(inside):
            x = int(np.setdiff1d(tree.leaves(child), inside)[0])
            other = next(each for each in below if each != child)
            return np.array([[inside[0], x, below[other][0]]], np.int32)
    return None


def _new_witnesses(tree: Tree, items: Int) -> Iterator[Int]:
    """Yield witnesses that the tree does not satisfy, the nearest items outside first."""
    v, below = _members_by_child(tree, items)
    firsts = [inside[0] for inside in below.values()][:TRIED_CHILDREN]
    outside = [int(tree.leaves(w)[0]) for w in tree.children(v).tolist() if w not in below]
    while v != tree.root:
        over = int(tree.parent[v])
        outside += [int(tree.leaves(w)[0]) for w in tree.children(over).tolist() if w != v]
        v = over
    for x in outside:
        for f, g in permutations(firsts, 2):
            yield np.array([[f, x, g]], np.int32)


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
) -> tuple[Int | None, bool, int]:
    """Choose a witness of each set in turn; go back to the set before where none is left.

    Returns the witnesses or None, whether the search is complete, and its work.
    """
    chosen: list[Int] = []
    waiting = [_candidates(n, sets[0], usable)]
    work = 0
    while len(chosen) < len(sets):
        if not waiting:
            return None, True, work
        witness = next(waiting[-1], None)
        if witness is None:
            waiting.pop()
            if chosen:
                chosen.pop()
            continue
        trial = np.concatenate([rows, *chosen, witness])
        work += BUILD_OVERHEAD + n + len(trial)
        if work > work_limit:
            return None, False, work
        if not kernels.aho_tree(n, trial)[1].size:
            chosen.append(witness)
            if len(chosen) < len(sets):
                waiting.append(_candidates(n, sets[len(chosen)], usable))
    return np.concatenate(chosen), True, work


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
            chosen = find_witnesses(tree.n_leaves, rows, known.members).rows
            if chosen is None:
                raise _unavoidable(known, None)
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


def check_avoidable(
    n_items: int,
    not_groups: Any,
    triplets: Any = None,
    groups: Any = None,
    labels: Sequence[str] | None = None,
) -> None:
    """Refuse sets that must not be clades, if no tree satisfies the constraints without them.

    Raises
    ------
    InconsistentTriplets
        It is proven that there is no such tree. The message has the labels of the items, if given.
    """
    known = Groups.of(not_groups, n_items)
    found = find_witnesses(n_items, constraint_rows(triplets, groups), known.members)
    if found.rows is None and found.complete:
        raise _unavoidable(known, labels)


def _unavoidable(not_groups: Groups, labels: Sequence[str] | None) -> InconsistentTriplets:
    first = not_groups.members[0]
    text = shown_items(first)
    if labels is not None:
        names = [labels[item] for item in first[:SHOWN_ITEMS].tolist()]
        text = join_names(names, SHOWN_ITEMS, len(first))
    count = len(not_groups)
    what = "is not a clade" if count == 1 else f"and {count - 1} other set(s) are not clades"
    return InconsistentTriplets(
        f"No tree was found that satisfies the constraints and in which {text} {what}.",
        "Drop one of the sets that must not be groups, or one of the constraints.",
    )


__all__ = [
    "NotGroup",
    "Witnesses",
    "avoid",
    "avoids",
    "check_avoidable",
    "find_witnesses",
    "may_have_tree",
]
