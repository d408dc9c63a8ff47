"""BUILD: the tree that a set of triplets asks for, why there is none, and what follows from them.

Aho, Sagiv, Szymanski and Ullman (1981): join a and b for every ab|c inside a set of items. One
component and more than one item means that no tree exists; otherwise the components are the
children, and each is treated alike. All of it is iterative; the repair of a tree that violates
some triplets is compiled in :mod:`hcviz.core.repairkernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import buildkernels as kernels
from hcviz.core.errors import InconsistentTriplets, InvalidConstraint
from hcviz.core.repairkernels import repair, repaired_heights
from hcviz.core.tree import Tree
from hcviz.core.treekernels import lca_table
from hcviz.core.triplets import Triplets
from hcviz.core.whole import whole_number, whole_numbers
from hcviz.core.words import shortlist

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
    O(n + m) memory (Chatziafratis et al. 2018, section 2).
    """
    n, rows = _given(n_leaves, triplets)
    parent, failed = kernels.aho_tree(n, rows)
    if failed.size:
        raise _explained(n, rows, failed)
    return Tree.with_size_heights(parent, n)


def is_consistent(n_leaves: int, triplets: Any) -> bool:
    """Whether some tree satisfies all ``triplets``; the cost of :func:`build`."""
    return kernels.aho_tree(*_given(n_leaves, triplets))[1].size == 0


def implies(n_leaves: int, triplets: Any, abc: ArrayLike) -> bool:
    """Whether every tree that satisfies ``triplets`` satisfies ab|c as well.

    ``abc`` is one row (a, b, c). By Bryant and Steel (1995) this holds iff neither ac|b nor bc|a
    can be added. Raises :class:`InconsistentTriplets` where the triplets themselves have no tree.
    Three times the cost of :func:`build`.
    """
    n, rows = _given(n_leaves, triplets)
    (a, b, c) = _given(n, np.reshape(abc, (1, -1)))[1][0]
    failed = kernels.aho_tree(n, rows)[1]
    if failed.size:
        raise _explained(n, rows, failed)
    return not any(
        is_consistent(n, np.concatenate([rows, np.array([other], np.int32)]))
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
    component = kernels.components(members.size, inside)
    order = np.argsort(component, kind="stable")
    return np.split(members[order], np.cumsum(np.bincount(component))[:-1])


def chain_triplets(group: ArrayLike, apart: int) -> Int:
    """ "Group apart from x" as int32 (len(group) - 1, 3) rows.

    g0 g1 | x, g1 g2 | x, ... imply gi gj | x for all pairs: the clades that hold neighbours and not
    x are nested or overlap, so one of them holds all. Raises :class:`InvalidConstraint` for fewer
    than two members, a repeat, or x among them.
    """
    members = whole_numbers(group, "The items of a group", InvalidConstraint).ravel()
    if members.size < 2:
        raise InvalidConstraint(
            "A group needs two items or more to stand apart from another.", "Add an item to it."
        )
    if np.unique(members).size < members.size:
        raise InvalidConstraint("The group names an item twice.")
    apart = whole_number(apart, "The item to stand apart", InvalidConstraint)
    if apart in members:
        raise InvalidConstraint(f"Item {apart} cannot stand apart from a group that holds it.")
    outside = np.full(members.size - 1, apart)
    return np.stack([members[:-1], members[1:], outside], axis=1).astype(np.int32)


def build_guided(tree: Tree, triplets: Any) -> Tree:
    """A tree near ``tree`` that satisfies ``triplets``: the repair behind every click.

    Where nothing below a node is violated, the old tree stays (the very same object if nothing is
    violated anywhere). At the topmost node v at which a triplet ab|c has its LCA(a,b,c) and fails,
    the set of v's items is divided anew: old clades that no triplet contradicts hold together as
    far as the Aho graph stays in pieces, and each piece follows the child with most of its items
    (ties: the larger child, then the first) down the old tree until the pieces part; then each
    side is looked at in the same way. Hence a clade none of whose items a triplet names survives,
    a binary tree stays binary, and the result satisfies every triplet (Vikram & Dasgupta 2016,
    section 3.2, asks for BUILD with the old geometry where it leaves a choice).

    ``tree`` may have polytomies. A node's height is that of the old LCA of its items, spread evenly
    where parent and child have the same one. Raises :class:`InconsistentTriplets` as :func:`build`
    does. O(s (n + m)) for s divided sets.
    """
    n, rows = _given(tree.n_leaves, triplets)
    if not len(rows) or bool(tree.satisfies(rows).all()):
        return tree
    failed = kernels.aho_tree(n, rows)[1]
    if failed.size:
        raise _explained(n, rows, failed)
    position, table = lca_table(tree.parent.copy())
    parent, origin = repair(tree.parent.copy(), n, tree.leaf_order.copy(), position, table, rows)
    return Tree(parent, repaired_heights(parent, origin, n, tree.height.copy()), n)


def minimal_conflict(n_leaves: int, triplets: Any) -> tuple[int, ...]:
    """Rows of a minimal inconsistent subset, increasing; empty where a tree exists.

    Minimal as a set of rows: without any one of them the others have a tree. Of the rows that
    could stand in one, those with small indices are preferred: the latest answer that broke
    things, and the earliest that it contradicts. Deletion over BUILD, by bisection: O(k log m)
    BUILDs for a conflict of k rows. It need not be one with the fewest rows
    (:func:`hcviz.core.conflict.smallest_conflict` looks for that).
    """
    n, rows = _given(n_leaves, triplets)
    failed = kernels.aho_tree(n, rows)[1]
    return _shrink(rows, failed) if failed.size else ()


def warm() -> None:
    """Compile (or load) the kernels, so that nobody's first click waits for it."""
    is_consistent(3, [[0, 1, 2]])
    aho_components([0, 1, 2], [[0, 1, 2]])
    build_guided(build(3, [[0, 1, 2]]), [[0, 2, 1]])


# ---------------------------------------------------------------------- explanations


def _given(n_leaves: int, triplets: Any) -> tuple[int, Int]:
    n = whole_number(n_leaves, "n_leaves", InvalidConstraint, 1)
    return n, Triplets.of(triplets, n).rows.copy()  # kernels want writable arrays


def _explained(n_leaves: int, rows: Int, failed: Int) -> InconsistentTriplets:
    conflict = _shrink(rows, failed)
    first = [f"{a},{b}|{c}" for a, b, c in rows[list(conflict[:SHOWN])].tolist()]
    said = shortlist(first, SHOWN, len(conflict))
    return InconsistentTriplets(
        f"No tree satisfies these triplets together: {said} "
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
            if kernels.aho_tree(items.size, trial)[1].size:
                high = middle
            else:
                low = middle + 1
        if high == 0:
            return tuple(sorted(core))
        core.append(int(candidates[high - 1]))
        candidates = candidates[: high - 1]
