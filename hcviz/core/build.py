"""BUILD: the tree of a set of triplets, minimal conflicts, implied triplets, and repair.

BUILD (Aho, Sagiv, Szymanski and Ullman 1981) connects a and b for each ab|c inside a set of items.
If the set has several items and one component, no tree exists. Otherwise the components are the
children, and BUILD continues with each of them. All functions are iterative. The repair of a tree
is compiled in :mod:`hcviz.core.repairkernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import buildkernels as kernels
from hcviz.core.errors import InconsistentTriplets, InvalidConstraint
from hcviz.core.groups import Groups, group_rows, shown_items
from hcviz.core.repairkernels import repair, repaired_heights
from hcviz.core.text import join_names
from hcviz.core.tree import Tree
from hcviz.core.treekernels import lca_table
from hcviz.core.triplets import Triplets, chain_triplets
from hcviz.core.validation import check_integer

Int = NDArray[np.int32]

#: Fixed cost of one BUILD, in rows that it reads, where work is counted.
BUILD_OVERHEAD = 400
#: Number of rows of a conflict in an error message.
SHOWN_ROWS = 3


def build(n_leaves: int, triplets: Any = None, groups: Any = None) -> Tree:
    """Build the Aho tree of triplets and groups.

    Parameters
    ----------
    n_leaves : int
        Number of items, 1 or more.
    triplets : Triplets or int (m, 3), optional
        Rows ab|c over the items 0..n_leaves-1; repeats are allowed.
    groups : Groups or sets of items, optional
        Sets of items that must be clades.

    Returns
    -------
    Tree
        It satisfies all rows and groups, and can have polytomies. Heights are clade size - 1; inner
        nodes are numbered by size.

    Raises
    ------
    InconsistentTriplets
        No tree satisfies all rows and groups. Its ``conflict`` and ``groups`` are the rows and
        the groups of a minimal conflict.
    InvalidConstraint
        A row or a group is not valid.

    Notes
    -----
    O(depth * (n + m)) time, O(n + m) memory; a group of k items counts as k - 1 rows.

    References
    ----------
    Aho, Sagiv, Szymanski and Ullman (1981); Chatziafratis et al. (2018), section 2.

    Examples
    --------
    >>> build(3, [[0, 1, 2]]).leaves(3).tolist()
    [0, 1]
    >>> build(4, groups=[{0, 3}]).to_newick()
    '(1:3.0,2:3.0,(0:1.0,3:1.0):2.0);'
    """
    n, rows, known = _checked(n_leaves, triplets, groups)
    parent, failed = kernels.aho_tree(n, rows)
    if failed.size:
        raise _inconsistency_error(n, rows, known, failed)
    return Tree.with_size_heights(parent, n)


def is_consistent(n_leaves: int, triplets: Any = None, groups: Any = None) -> bool:
    """Return True if some tree satisfies all triplets and groups. Time as for :func:`build`."""
    n, rows, _ = _checked(n_leaves, triplets, groups)
    return kernels.aho_tree(n, rows)[1].size == 0


def constraint_rows(triplets: Any = None, groups: Any = None) -> Int:
    """Return the rows of triplets, followed by the rows of groups, int32 (m, 3).

    See :mod:`hcviz.core.groups` for the rows of groups.
    """
    return np.concatenate([Triplets.of(triplets).rows, Groups.of(groups).rows])


def implies(n_leaves: int, triplets: Any, abc: ArrayLike, groups: Any = None) -> bool:
    """Return True if every tree that satisfies ``triplets`` and ``groups`` also satisfies ab|c.

    Parameters
    ----------
    n_leaves : int
        Number of items.
    triplets : Triplets or int (m, 3)
        Consistent rows.
    abc : int (3,)
        The row a, b, c.
    groups : Groups or sets of items, optional
        Sets of items that must be clades.

    Raises
    ------
    InconsistentTriplets
        No tree satisfies ``triplets`` and ``groups``.

    Notes
    -----
    The triplets imply ab|c if and only if neither ac|b nor bc|a can be added to them (Bryant and
    Steel 1995). Three times the cost of :func:`build`.
    """
    n, rows, known = _checked(n_leaves, triplets, groups)
    (a, b, c) = _checked(n, np.reshape(abc, (1, -1)))[1][0]
    failed = kernels.aho_tree(n, rows)[1]
    if failed.size:
        raise _inconsistency_error(n, rows, known, failed)
    return not any(
        kernels.aho_tree(n, np.concatenate([np.array([other], np.int32), rows]))[1].size == 0
        for other in ((a, c, b), (b, c, a))
    )


def aho_components(items: ArrayLike, triplets: Any, groups: Any = None) -> list[Int]:
    """Return the components of the Aho graph of a set of items.

    The graph has an edge a-b for each ab|c with a, b and c in ``items``. The members of a group in
    the set are joined if the set has an item outside the group. Each component is increasing;
    components are in the order of their lowest items.
    O((n + m) log n).
    """
    members = np.unique(np.asarray(items, dtype=np.int32))
    if members.size == 0:
        return []
    rows, known = Triplets.of(triplets).rows, Groups.of(groups)
    most = max([int(members[-1]), int(rows.max(initial=0)), *(int(each[-1]) for each in known)])
    place = np.full(most + 1, -1, np.int32)
    place[members] = np.arange(members.size, dtype=np.int32)
    found = place[rows]
    parts = [found[(found >= 0).all(axis=1)]]
    for each in known:
        here = place[each]
        here = here[here >= 0]
        if 1 < here.size < members.size:  # the set has an item outside the group
            parts.append(group_rows(here))
    inside = np.ascontiguousarray(np.concatenate(parts))
    component = kernels.components(members.size, inside)
    order = np.argsort(component, kind="stable")
    return np.split(members[order], np.cumsum(np.bincount(component))[:-1])


def build_guided(tree: Tree, triplets: Any = None, groups: Any = None) -> Tree:
    """Repair a tree: change it as little as possible, so that it satisfies all constraints.

    Parameters
    ----------
    tree : Tree
        The tree before; it may have polytomies.
    triplets : Triplets or int (m, 3), optional
        Rows ab|c.
    groups : Groups or sets of items, optional
        Sets of items that must be clades.

    Returns
    -------
    Tree
        It satisfies all rows and groups. It is ``tree`` itself if that satisfies them, and binary
        if ``tree`` is binary. A clade stays if no constraint names one of its items. The height of
        a node is that of the old LCA of its items; where a parent and its child have the same old
        LCA, heights are spread evenly.

    Raises
    ------
    InconsistentTriplets
        No tree satisfies all rows and groups.

    Notes
    -----
    The repair starts at each topmost node that is LCA(a,b,c) of a violated triplet ab|c, or the LCA
    of a violated group, and divides its items again. Old clades that no constraint contradicts stay
    together as far as the Aho graph allows. Each component follows the child with most of its items
    down the old tree (ties: the larger child, then the first) until the components separate. Then
    each side is repaired in the same way. O(s (n g + m)) for s divided sets and g violated groups
    (1 without groups).

    References
    ----------
    Vikram and Dasgupta (2016), section 3.2: BUILD with the old geometry where there is a choice.

    Examples
    --------
    >>> tree = Tree.from_newick("(((0,1),2),3);")
    >>> build_guided(tree, [[2, 3, 0]]).to_newick()
    '((0:1.0,1:1.0):2.0,(2:1.5,3:1.5):1.5);'
    """
    n, rows, known = _checked(tree.n_leaves, triplets, groups)
    if bool(tree.satisfies(triplets, known).all()):
        return tree
    failed = kernels.aho_tree(n, rows)[1]
    if failed.size:
        raise _inconsistency_error(n, rows, known, failed)
    position, table = lca_table(tree.parent.copy())
    unit = np.full(len(rows), -1, np.int32)
    unit[len(rows) - len(known.rows) :] = known.row_group
    top = np.array([tree.smallest_clade(items) for items in known], np.int32)
    violated = tree.size[top] > np.array([items.size for items in known], np.int32)
    parent, origin = repair(
        tree.parent.copy(), n, tree.leaf_order.copy(), position, table, rows, unit, top, violated
    )
    return Tree(parent, repaired_heights(parent, origin, n, tree.height.copy()), n)


def minimal_conflict(n_leaves: int, triplets: Any, groups: Any = None) -> tuple[int, ...]:
    """Find a minimal set of rows that no tree satisfies together with the groups.

    Parameters
    ----------
    n_leaves : int
        Number of items.
    triplets : Triplets or int (m, 3)
        Rows ab|c.
    groups : Groups or sets of items, optional
        Sets of items that must be clades.

    Returns
    -------
    tuple of int
        Indices of the rows, increasing; empty if a tree satisfies all rows and groups. Without any
        one of them, a tree satisfies the others. Rows with small indices are preferred.

    Notes
    -----
    The set need not have the fewest rows; see
    :func:`hcviz.core.conflict.smallest_conflict`. Deletion by bisection: O(k log m) runs of BUILD
    for a conflict of k rows.
    """
    n, rows, known = _checked(n_leaves, triplets, groups)
    failed = kernels.aho_tree(n, rows)[1]
    found = _shrink(n, rows, known, failed) if failed.size else ()
    return tuple(unit for unit in found if unit < len(rows) - len(known.rows))


def warm() -> None:
    """Compile the kernels, or load them from the cache."""
    is_consistent(3, [[0, 1, 2]])
    aho_components([0, 1, 2], [[0, 1, 2]])
    build_guided(build(3, [[0, 1, 2]]), [[0, 2, 1]])
    build_guided(build(4, groups=[[0, 1]]), groups=[[0, 2]])


# ---------------------------------------------------------------------- conflicts


def _checked(n_leaves: int, triplets: Any, groups: Any = None) -> tuple[int, Int, Groups]:
    n = check_integer(n_leaves, "n_leaves", InvalidConstraint, 1)
    known = Groups.of(groups, n)
    rows = np.concatenate([Triplets.of(triplets, n).rows, known.rows])  # writable, as kernels want
    return n, rows, known


def _inconsistency_error(n: int, rows: Int, groups: Groups, failed: Int) -> InconsistentTriplets:
    found = _shrink(n, rows, groups, failed)
    first = len(rows) - len(groups.rows)  # units from here on are groups
    conflict = tuple(unit for unit in found if unit < first)
    sets = tuple(unit - first for unit in found if unit >= first)
    names = [f"{a},{b}|{c}" for a, b, c in rows[list(conflict[:SHOWN_ROWS])].tolist()]
    parts = []
    if conflict:
        shown = join_names(names, SHOWN_ROWS, len(conflict))
        places = ", ".join(map(str, conflict[:10])) + (", ..." if len(conflict) > 10 else "")
        parts.append(f"{shown} (row(s) {places})")
    if sets:
        shown = join_names(
            [shown_items(groups.members[each]) for each in sets[:SHOWN_ROWS]],
            SHOWN_ROWS,
            len(sets),
        )
        parts.append(f"group(s) {', '.join(map(str, sets[:10]))}: {shown}")
    kind = "constraints" if sets else "triplets"
    return InconsistentTriplets(
        f"No tree satisfies these {kind} together: {'; '.join(parts)}.",
        "Drop or disable any one of them.",
        conflict,
        sets,
    )


def _shrink(n: int, rows: Int, groups: Groups, failed: Int) -> tuple[int, ...]:
    """Return a minimal conflict among the inconsistent ``rows[failed]``, as units.

    A unit is a triplet, or a group with all its rows; groups are numbered after the triplets.
    Repeatedly find the shortest prefix of the candidates that is inconsistent with the core. Its
    last unit t is added to the core, and later candidates are dropped. The result is minimal: core
    and prefix without t are consistent, and they contain the rest of the result.
    """
    first = len(rows) - len(groups.rows)
    sizes = np.array([len(items) - 1 for items in groups], np.int64)
    ends = np.cumsum(np.concatenate([np.ones(first, np.int64), sizes]))
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    candidates = np.unique(np.searchsorted(ends, failed, side="right"))
    core: list[int] = []
    while True:
        chosen = np.append(candidates, core).astype(np.int64)
        counts = ends[chosen] - begins[chosen]
        at = np.repeat(begins[chosen] - np.cumsum(counts) + counts, counts)
        m, local = compact_rows(rows[at + np.arange(at.size)], n)
        stops = np.concatenate([[0], np.cumsum(counts)])
        kept = local[stops[candidates.size] :]
        low, high = 0, candidates.size  # the first `high` candidates are inconsistent with the core
        while low < high:
            middle = (low + high) // 2
            trial = np.concatenate([kept, local[: stops[middle]]])
            if kernels.aho_tree(m, trial)[1].size:
                high = middle
            else:
                low = middle + 1
        if high == 0:
            return tuple(sorted(core))
        core.append(int(candidates[high - 1]))
        candidates = candidates[: high - 1]


def compact_rows(rows: Int, n: int) -> tuple[int, Int]:
    """Rename the items of constraint rows to 0..m-1; return m and the rows.

    All items that no row names become one item, the last, since a group needs items outside.
    """
    items, local = np.unique(rows[rows >= 0], return_inverse=True)
    found = rows.astype(np.int32)
    found[rows >= 0] = local
    return max(1, int(items.size) + (items.size < n)), np.ascontiguousarray(found)


__all__ = [
    "aho_components",
    "build",
    "build_guided",
    "chain_triplets",
    "implies",
    "is_consistent",
    "minimal_conflict",
]
