"""BUILD: the tree that a set of triplets asks for, why there is none, and what follows from them.

Aho, Sagiv, Szymanski and Ullman (1981): join a and b for every ab|c inside a set of items. One
component and more than one item means that no tree exists; otherwise the components are the
children, and each is treated alike. All of it is iterative; the repair of a tree that violates
some triplets is :mod:`hcviz.core.repair`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InconsistentTriplets, InvalidConstraint
from hcviz.core.jit import njit
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets

Int = NDArray[np.int32]

#: How many rows of a conflict the message spells out.
SHOWN = 3


def build(n_leaves: int, triplets: Any) -> Tree:
    """The Aho tree of ``triplets`` over items 0..n_leaves-1, polytomies left.

    Parameters
    ----------
    n_leaves : int
        Number of items, 1 or more.
    triplets : Triplets or int (m, 3)
        ab|c rows. Repeats are harmless.

    Returns a tree that satisfies every row; heights are clade size - 1, inner nodes are numbered by
    size. Raises :class:`InconsistentTriplets` with a minimal ``conflict``, and
    :class:`InvalidConstraint` for a row that names an unknown item. O(depth * (n + m)) time,
    O(n + m) memory (paper 001, section 2).
    """
    rows = _rows(n_leaves, triplets)
    parent, failed = _aho_tree(n_leaves, rows)
    if failed.size:
        raise _explained(n_leaves, rows, failed)
    return Tree.with_size_heights(parent, n_leaves)


def is_consistent(n_leaves: int, triplets: Any) -> bool:
    """Whether some tree satisfies all ``triplets``; the cost of :func:`build`."""
    return _aho_tree(n_leaves, _rows(n_leaves, triplets))[1].size == 0


def implies(n_leaves: int, triplets: Any, abc: ArrayLike) -> bool:
    """Whether every tree that satisfies ``triplets`` satisfies ab|c as well.

    ``abc`` is one row (a, b, c). By Bryant and Steel (1995) this holds iff neither ac|b nor bc|a
    can be added. Raises :class:`InconsistentTriplets` where the triplets themselves have no tree.
    Three times the cost of :func:`build`.
    """
    rows = _rows(n_leaves, triplets)
    (a, b, c) = _rows(n_leaves, np.reshape(abc, (1, -1)))[0]
    failed = _aho_tree(n_leaves, rows)[1]
    if failed.size:
        raise _explained(n_leaves, rows, failed)
    return not any(
        is_consistent(n_leaves, np.concatenate([rows, np.array([other], np.int32)]))
        for other in ((a, c, b), (b, c, a))
    )


def aho_components(items: ArrayLike, triplets: Any) -> list[Int]:
    """The components of the Aho graph on ``items``, each increasing, in order of their least item.

    An edge a-b for every ab|c with a, b and c all among ``items``. O(n + m) beyond sorting.
    """
    members = np.unique(np.asarray(items, dtype=np.int32))
    if members.size == 0:
        return []
    rows = Triplets.of(triplets).rows
    place = np.full(max(int(members[-1]), int(rows.max(initial=0))) + 1, -1, np.int32)
    place[members] = np.arange(members.size, dtype=np.int32)
    inside = place[rows]
    inside = np.ascontiguousarray(inside[(inside >= 0).all(axis=1)])
    component = _components(members.size, inside)
    order = np.argsort(component, kind="stable")
    return np.split(members[order], np.cumsum(np.bincount(component))[:-1])


def chain_triplets(group: ArrayLike, apart: int) -> Int:
    """ "Group apart from x" as int32 (len(group) - 1, 3) rows.

    g0 g1 | x, g1 g2 | x, ... imply gi gj | x for all pairs: the clades that hold neighbours and not
    x are nested or overlap, so one of them holds all. Raises :class:`InvalidConstraint` for fewer
    than two members, a repeat, or x among them.
    """
    members = np.asarray(group, dtype=np.int64).ravel()
    if members.size < 2:
        raise InvalidConstraint(
            "A group needs two items or more to stand apart from another.", "Add an item to it."
        )
    if np.unique(members).size < members.size:
        raise InvalidConstraint("The group names an item twice.")
    if apart in members:
        raise InvalidConstraint(f"Item {apart} cannot stand apart from a group that holds it.")
    outside = np.full(members.size - 1, apart)
    return np.stack([members[:-1], members[1:], outside], axis=1).astype(np.int32)


def minimal_conflict(n_leaves: int, triplets: Any) -> tuple[int, ...]:
    """Rows of a minimal inconsistent subset, increasing; empty where a tree exists.

    Minimal as a set of rows: without any one of them the others have a tree. Of the rows that
    could stand in one, those with small indices are preferred: the latest answer that broke
    things, and the earliest that it contradicts. Deletion over BUILD, by bisection: O(k log m)
    BUILDs for a conflict of k rows.
    """
    rows = _rows(n_leaves, triplets)
    failed = _aho_tree(n_leaves, rows)[1]
    return _shrink(rows, failed) if failed.size else ()


def warm() -> None:
    """Compile (or load) the kernels, so that nobody's first click waits for it."""
    is_consistent(3, [[0, 1, 2]])
    aho_components([0, 1, 2], [[0, 1, 2]])


# ---------------------------------------------------------------------- explanations


def _rows(n_leaves: int, triplets: Any) -> Int:
    if n_leaves < 1:
        raise InvalidConstraint("A tree needs at least one item.")
    return Triplets.of(triplets, n_leaves).rows.copy()  # kernels want writable arrays


def _explained(n_leaves: int, rows: Int, failed: Int) -> InconsistentTriplets:
    conflict = _shrink(rows, failed)
    said = ", ".join(f"{a},{b}|{c}" for a, b, c in rows[list(conflict[:SHOWN])].tolist())
    more = f" and {len(conflict) - SHOWN} more" if len(conflict) > SHOWN else ""
    return InconsistentTriplets(
        f"No tree satisfies these triplets together: {said}{more} "
        f"(row(s) {', '.join(map(str, conflict[:10]))}{', ...' if len(conflict) > 10 else ''}).",
        "Drop or disable any one of them.",
        conflict,
    )


def _shrink(rows: Int, failed: Int) -> tuple[int, ...]:
    """A minimal conflict among ``rows[failed]``, which are inconsistent.

    Keep a core; find the shortest prefix of the candidates that is inconsistent with it. Its last
    row t belongs to the core, what comes after it is not needed. Core and prefix without t have a
    tree and hold all that is ever chosen, so the result without t has one too: it is minimal.
    """
    candidates = np.sort(failed)
    core: list[int] = []
    while True:
        items, local = np.unique(
            rows[np.append(candidates, core).astype(np.int64)], return_inverse=True
        )
        local = np.ascontiguousarray(local.reshape(-1, 3), dtype=np.int32)
        low, high = 0, candidates.size  # with `high` candidates inconsistent
        kept = local[candidates.size :]
        while low < high:
            middle = (low + high) // 2
            trial = np.concatenate([kept, local[:middle]])
            if _aho_tree(items.size, trial)[1].size:
                high = middle
            else:
                low = middle + 1
        if high == 0:
            return tuple(sorted(core))
        core.append(int(candidates[high - 1]))
        candidates = candidates[: high - 1]


# ---------------------------------------------------------------------- kernels


@njit
def find(link, x):
    """The representative of x in a union-find forest, halving the path."""
    while link[x] != x:
        link[x] = link[link[x]]
        x = link[x]
    return x


@njit
def _components(n, rows):
    """Component of each item under edges a-b of all rows, numbered by first item: int32 (n,)."""
    link = np.arange(n).astype(np.int32)
    for t in range(rows.shape[0]):
        a, b = find(link, rows[t, 0]), find(link, rows[t, 1])
        link[max(a, b)] = min(a, b)
    number = np.full(n, -1, np.int32)
    count = 0
    for x in range(n):
        root = find(link, x)  # the least item of its component: numbered already, unless x is it
        if number[root] < 0:
            number[root] = count
            count += 1
        number[x] = number[root]
    return number


@njit
def _aho_tree(n, rows):
    """``(parent, failed)``: the Aho tree, or the rows inside the set that could not be split."""
    m = rows.shape[0]
    none = np.empty(0, np.int32)
    top = np.full(2 * n - 1, -1, np.int32)  # parents; inner nodes numbered as they are made
    if n == 1:
        return top, none
    items = np.arange(n).astype(np.int32)  # each set is a slice of it, and so are its triplets
    active = np.arange(m).astype(np.int32)
    spare_items = np.empty(n, np.int32)
    spare_active = np.empty(m, np.int32)
    link = np.empty(n, np.int32)
    number = np.empty(n, np.int32)  # component of an item, by first item of the slice
    item_at = np.empty(n + 1, np.int32)
    active_at = np.empty(n + 1, np.int32)
    todo = np.empty((n, 5), np.int32)  # slice of items, slice of triplets, node
    todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3], todo[0, 4] = 0, n, 0, m, n
    waiting = 1
    made = n + 1
    while waiting:
        waiting -= 1
        begin, end, t_begin, t_end, node = todo[waiting]
        if t_begin == t_end:
            for k in range(begin, end):
                top[items[k]] = node
            continue
        for k in range(begin, end):
            link[items[k]] = items[k]
            number[items[k]] = -1
        left = end - begin
        for k in range(t_begin, t_end):
            a = find(link, rows[active[k], 0])
            b = find(link, rows[active[k], 1])
            if a != b:
                link[max(a, b)] = min(a, b)
                left -= 1
        if left == 1:
            return top, active[t_begin:t_end].copy()
        count = 0
        for k in range(begin, end):
            root = find(link, items[k])  # slices are increasing, so the least item comes first
            if number[root] < 0:
                number[root] = count
                item_at[count] = 0
                active_at[count] = 0
                count += 1
            number[items[k]] = number[root]
            item_at[number[root]] += 1
        for k in range(t_begin, t_end):
            side = number[rows[active[k], 0]]
            if side == number[rows[active[k], 2]]:
                active_at[side] += 1
        item_next, active_next = begin, t_begin
        for side in range(count):
            size, inside = item_at[side], active_at[side]
            item_at[side], active_at[side] = item_next, active_next
            if size > 1:
                top[made] = node
                todo[waiting, 0], todo[waiting, 1] = item_next, item_next + size
                todo[waiting, 2], todo[waiting, 3] = active_next, active_next + inside
                todo[waiting, 4] = made
                waiting += 1
                made += 1
            item_next += size
            active_next += inside
        for k in range(begin, end):
            x = items[k]
            side = number[x]
            spare_items[item_at[side]] = x
            item_at[side] += 1
        for k in range(t_begin, t_end):
            side = number[rows[active[k], 0]]
            if side == number[rows[active[k], 2]]:
                spare_active[active_at[side]] = active[k]
                active_at[side] += 1
        item_next = begin
        for side in range(count):
            if item_at[side] - item_next == 1:
                top[spare_items[item_next]] = node
            item_next = item_at[side]
        items[begin:end] = spare_items[begin:end]
        active[t_begin:active_next] = spare_active[t_begin:active_next]
    return renumbered(top[:made], n), none


@njit
def renumbered(top, n):
    """A parent array whose inner nodes were numbered from the root down, by clade size instead.

    ``top[n]`` is the root's entry, -1, and every other inner node has a parent made before it.
    Nodes of equal size keep the later-made first, so a parent still comes after its children.
    """
    m = top.size
    size = np.zeros(m, np.int64)
    size[:n] = 1
    for x in range(n):
        size[top[x]] += 1
    for v in range(m - 1, n, -1):
        size[top[v]] += size[v]
    begin = np.zeros(n + 2, np.int64)
    for v in range(n, m):
        begin[size[v] + 1] += 1
    for s in range(n + 1):
        begin[s + 1] += begin[s]
    new = np.empty(m, np.int32)
    for x in range(n):
        new[x] = x
    for v in range(m - 1, n - 1, -1):
        new[v] = n + begin[size[v]]
        begin[size[v]] += 1
    parent = np.full(m, -1, np.int32)
    for v in range(m):
        if top[v] >= 0:
            parent[new[v]] = new[top[v]]
    return parent
