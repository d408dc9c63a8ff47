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
from hcviz.core.repairkernels import repair, repaired_heights
from hcviz.core.text import join_names
from hcviz.core.tree import Tree
from hcviz.core.treekernels import lca_table
from hcviz.core.triplets import Triplets
from hcviz.core.validation import check_integer, check_integers

Int = NDArray[np.int32]

#: Number of rows of a conflict in an error message.
SHOWN_ROWS = 3


def build(n_leaves: int, triplets: Any) -> Tree:
    """Build the Aho tree of triplets.

    Parameters
    ----------
    n_leaves : int
        Number of items, 1 or more.
    triplets : Triplets or int (m, 3)
        Rows ab|c over the items 0..n_leaves-1; repeats are allowed.

    Returns
    -------
    Tree
        It satisfies all rows, and can have polytomies. Heights are clade size - 1; inner nodes are
        numbered by size.

    Raises
    ------
    InconsistentTriplets
        No tree satisfies all rows. Its ``conflict`` is a minimal conflict.
    InvalidConstraint
        A row names an unknown item.

    Notes
    -----
    O(depth * (n + m)) time, O(n + m) memory.

    References
    ----------
    Aho, Sagiv, Szymanski and Ullman (1981); Chatziafratis et al. (2018), section 2.

    Examples
    --------
    >>> build(3, [[0, 1, 2]]).leaves(3).tolist()
    [0, 1]
    """
    n, rows = _checked(n_leaves, triplets)
    parent, failed = kernels.aho_tree(n, rows)
    if failed.size:
        raise _inconsistency_error(rows, failed)
    return Tree.with_size_heights(parent, n)


def is_consistent(n_leaves: int, triplets: Any) -> bool:
    """Return True if some tree satisfies all ``triplets``. Time as for :func:`build`."""
    return kernels.aho_tree(*_checked(n_leaves, triplets))[1].size == 0


def implies(n_leaves: int, triplets: Any, abc: ArrayLike) -> bool:
    """Return True if every tree that satisfies ``triplets`` also satisfies ab|c.

    Parameters
    ----------
    n_leaves : int
        Number of items.
    triplets : Triplets or int (m, 3)
        Consistent rows.
    abc : int (3,)
        The row a, b, c.

    Raises
    ------
    InconsistentTriplets
        No tree satisfies ``triplets``.

    Notes
    -----
    The triplets imply ab|c if and only if neither ac|b nor bc|a can be added to them (Bryant and
    Steel 1995). Three times the cost of :func:`build`.
    """
    n, rows = _checked(n_leaves, triplets)
    (a, b, c) = _checked(n, np.reshape(abc, (1, -1)))[1][0]
    failed = kernels.aho_tree(n, rows)[1]
    if failed.size:
        raise _inconsistency_error(rows, failed)
    return not any(
        is_consistent(n, np.concatenate([rows, np.array([other], np.int32)]))
        for other in ((a, c, b), (b, c, a))
    )


def aho_components(items: ArrayLike, triplets: Any) -> list[Int]:
    """Return the components of the Aho graph of a set of items.

    The graph has an edge a-b for each ab|c with a, b and c in ``items``. Each component is
    increasing; components are in the order of their lowest items. O((n + m) log n).
    """
    members = np.unique(np.asarray(items, dtype=np.int32))
    if members.size == 0:
        return []
    rows = Triplets.of(triplets).rows
    place = np.full(max(int(members[-1]), int(rows.max(initial=0))) + 1, -1, np.int32)
    place[members] = np.arange(members.size, dtype=np.int32)
    inside = place[rows]
    inside = np.ascontiguousarray(inside[(inside >= 0).all(axis=1)])
    component = kernels.components(members.size, inside)
    order = np.argsort(component, kind="stable")
    return np.split(members[order], np.cumsum(np.bincount(component))[:-1])


def chain_triplets(group: ArrayLike, apart: int) -> Int:
    """Convert a constraint to triplets: some clade contains ``group`` and not ``apart``.

    Parameters
    ----------
    group : int (k,)
        Two or more different items.
    apart : int
        An item that is not in the group.

    Returns
    -------
    int32 (k - 1, 3)
        g0 g1 | x, g1 g2 | x, ... with x = ``apart``. They imply gi gj | x for all pairs.

    Raises
    ------
    InvalidConstraint
        The group has fewer than two items, a repeated item, or the item ``apart``.

    Examples
    --------
    >>> chain_triplets([0, 1, 2], 5).tolist()
    [[0, 1, 5], [1, 2, 5]]
    """
    members = check_integers(group, "The items of a group", InvalidConstraint).ravel()
    if members.size < 2:
        raise InvalidConstraint("A group needs two items or more.", "Add an item to the group.")
    if np.unique(members).size < members.size:
        raise InvalidConstraint("The group names an item twice.")
    apart = check_integer(apart, "The item apart from the group", InvalidConstraint)
    if apart in members:
        raise InvalidConstraint(f"Item {apart} is in the group, so it cannot be apart from it.")
    outside = np.full(members.size - 1, apart)
    return np.stack([members[:-1], members[1:], outside], axis=1).astype(np.int32)


def build_guided(tree: Tree, triplets: Any) -> Tree:
    """Repair a tree: change it as little as possible, so that it satisfies ``triplets``.

    Parameters
    ----------
    tree : Tree
        The tree before; it may have polytomies.
    triplets : Triplets or int (m, 3)
        Consistent rows.

    Returns
    -------
    Tree
        It satisfies all rows. It is ``tree`` itself if that satisfies all rows, and binary if
        ``tree`` is binary. A clade stays if no triplet names one of its items. The height of a
        node is that of the old LCA of its items; where a parent and its child have the same old
        LCA, heights are spread evenly.

    Raises
    ------
    InconsistentTriplets
        No tree satisfies all rows.

    Notes
    -----
    The repair starts at each topmost node that is LCA(a,b,c) of a violated triplet ab|c, and
    divides its items again. Old clades that no triplet contradicts stay together as far as the
    Aho graph allows. Each component follows the child with most of its items down the old tree
    (ties: the larger child, then the first) until the components separate. Then each side is
    repaired in the same way. O(s (n + m)) for s divided sets.

    References
    ----------
    Vikram and Dasgupta (2016), section 3.2: BUILD with the old geometry where there is a choice.

    Examples
    --------
    >>> tree = Tree.from_newick("(((0,1),2),3);")
    >>> build_guided(tree, [[2, 3, 0]]).to_newick()
    '((0:1.0,1:1.0):2.0,(2:1.5,3:1.5):1.5);'
    """
    n, rows = _checked(tree.n_leaves, triplets)
    if not len(rows) or bool(tree.satisfies(rows).all()):
        return tree
    failed = kernels.aho_tree(n, rows)[1]
    if failed.size:
        raise _inconsistency_error(rows, failed)
    position, table = lca_table(tree.parent.copy())
    parent, origin = repair(tree.parent.copy(), n, tree.leaf_order.copy(), position, table, rows)
    return Tree(parent, repaired_heights(parent, origin, n, tree.height.copy()), n)


def minimal_conflict(n_leaves: int, triplets: Any) -> tuple[int, ...]:
    """Find a minimal set of rows that no tree satisfies together.

    Parameters
    ----------
    n_leaves : int
        Number of items.
    triplets : Triplets or int (m, 3)
        Rows ab|c.

    Returns
    -------
    tuple of int
        Indices of the rows, increasing; empty if a tree satisfies all rows. Without any one of
        them, a tree satisfies the others. Rows with small indices are preferred.

    Notes
    -----
    The set need not have the fewest rows; see
    :func:`hcviz.core.conflict.smallest_conflict`. Deletion by bisection: O(k log m) runs of BUILD
    for a conflict of k rows.
    """
    n, rows = _checked(n_leaves, triplets)
    failed = kernels.aho_tree(n, rows)[1]
    return _shrink(rows, failed) if failed.size else ()


def warm() -> None:
    """Compile the kernels, or load them from the cache."""
    is_consistent(3, [[0, 1, 2]])
    aho_components([0, 1, 2], [[0, 1, 2]])
    build_guided(build(3, [[0, 1, 2]]), [[0, 2, 1]])


# ---------------------------------------------------------------------- conflicts


def _checked(n_leaves: int, triplets: Any) -> tuple[int, Int]:
    n = check_integer(n_leaves, "n_leaves", InvalidConstraint, 1)
    return n, Triplets.of(triplets, n).rows.copy()  # kernels want writable arrays


def _inconsistency_error(rows: Int, failed: Int) -> InconsistentTriplets:
    conflict = _shrink(rows, failed)
    first = [f"{a},{b}|{c}" for a, b, c in rows[list(conflict[:SHOWN_ROWS])].tolist()]
    shown = join_names(first, SHOWN_ROWS, len(conflict))
    return InconsistentTriplets(
        f"No tree satisfies these triplets together: {shown} "
        f"(row(s) {', '.join(map(str, conflict[:10]))}{', ...' if len(conflict) > 10 else ''}).",
        "Drop or disable any one of them.",
        conflict,
    )


def _shrink(rows: Int, failed: Int) -> tuple[int, ...]:
    """Return a minimal conflict among the inconsistent ``rows[failed]``.

    Repeatedly find the shortest prefix of the candidates that is inconsistent with the core. Its
    last row t is added to the core, and later candidates are dropped. The result is minimal: core
    and prefix without t are consistent, and they contain the rest of the result.
    """
    candidates = np.sort(failed)
    core: list[int] = []
    while True:
        items, local = np.unique(
            rows[np.append(candidates, core).astype(np.int64)], return_inverse=True
        )
        local = np.ascontiguousarray(local.reshape(-1, 3), dtype=np.int32)
        low, high = 0, candidates.size  # the first `high` candidates are inconsistent with the core
        kept = local[candidates.size :]
        while low < high:
            middle = (low + high) // 2
            trial = np.concatenate([kept, local[:middle]])
            if kernels.aho_tree(items.size, trial)[1].size:
                high = middle
            else:
                low = middle + 1
        if high == 0:
            return tuple(sorted(core))
        core.append(int(candidates[high - 1]))
        candidates = candidates[: high - 1]
