"""4-AL: average linkage of quadruplets (Ghoshdastidar et al. 2019, section 3.3).

Let w_kl = 1 / (|G(k)| |G(l)|) for items k and l of different clusters, and 0 within one. Then
equation (5) is W(p, q) = 2 / (K (K - 1) |p| |q|) * sum over ij in p x q of v_ij, where v_ij = sum
over pairs {k, l} of s(i, j; k, l) w_kl. A merge changes w only at pairs with an item in one of the
two clusters. So V(p, q), the sum of v over p x q, is updated by the comparisons of those pairs: the
*sparse* phase. Once a matrix over the pairs of clusters fits in memory, V is updated by sums of its
rows: the *dense* phase. Comparisons are a list or a table of signs.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.algorithms.comparison import fouralkernels as fast
from hcviz.algorithms.comparison import kernels
from hcviz.algorithms.comparison.similarities import check_items, check_table, finish
from hcviz.core.agglomerate import tree_of_merges
from hcviz.core.build import build
from hcviz.core.errors import InvalidData
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons, Triplets

#: The most bytes of the dense phase's matrix. A longer sparse phase is faster than a larger matrix,
#: whose pages the system must allocate: 2.5 s at 4e8 and 7.9 s at 1.7e9, for two million answers.
MAX_BYTES = 300_000_000


def four_al_steps(
    n_items: int,
    answers: Comparisons | NDArray[Any],
    *,
    initial: ArrayLike | None = None,
    triplets: Any = None,
    rng: np.random.Generator | None = None,
) -> Generator[None, None, Tree]:
    """Run 4-AL as a generator that *returns* its tree, and yields None at places to stop.

    Parameters
    ----------
    n_items : int
        The number of items.
    answers : Comparisons, or int8 or int16 (M, M)
        Triplets (a, b, c) count as quadruplets (a, b, a, c). Each answer counts as often as it was
        given. A dense antisymmetric matrix holds signs, as in
        :func:`hcviz.algorithms.comparison.similarities.mulk4_steps`.
    initial : int (n,), optional
        Clusters to start from (4-AL-I3, I5). An item with a negative number is a cluster of its
        own. They are nodes of the tree without inner structure.
    triplets : Triplets, optional
        Triplets ab|c that the tree satisfies: merges that make this impossible are skipped. With
        ``initial``, the clusters must allow them.
    rng : numpy Generator, optional
        Breaks ties as :func:`hcviz.core.agglomerate.agglomerate` does. Similarities count as tied
        if they differ by less than 1e-9 of the largest, since sums of fractions are rounded.

    Raises
    ------
    InvalidData, InconsistentTriplets

    Notes
    -----
    Heights are the ranks of the merges, and 1 for initial clusters, since W is not monotone. Items
    that were never compared have W = 0 with everything, and merge where 0 is the highest. Time: for
    a list, the comparisons of each item times the clusters that it passes through; dense, O(M^2)
    additions. Memory: 10 bytes for each answer, or 2 bytes times M^2 in the dense phase
    (``MAX_BYTES``). Beside a given matrix of signs, which is not changed, 2 bytes times M^2 / 3.
    """
    n = n_items
    check_items(n)
    rows = Triplets.of(triplets, n).rows
    if len(rows):
        build(n, rows)
    order = np.arange(n) if rng is None else rng.permutation(n)
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    slot, nodes = _initial(initial, order, rows, n)
    if isinstance(answers, Comparisons):
        named = answers.rows.max(initial=-1)
        if named >= n:
            raise InvalidData(f"The comparisons name item {named}, but there are only {n} items.")
        table = None
        columns = kernels.by_pair(place[answers.as_quadruplets().rows], n)
    else:
        table = check_table(answers, n)
        columns = None
    return _steps(n, order, place, slot, nodes, place[rows], columns, table)


def four_al(n_items: int, answers: Comparisons | NDArray[Any], **options: Any) -> Tree:
    """Return the tree of :func:`four_al_steps`."""
    tree: Tree = finish(four_al_steps(n_items, answers, **options))
    return tree


def _initial(
    initial: ArrayLike | None, order: Any, rows: Any, n: int
) -> tuple[NDArray[np.int32], list[list[int]]]:
    """Return the slot of each place (the lowest of its cluster), and clusters of several items."""
    slot = np.arange(n, dtype=np.int32)
    if initial is None:
        return slot, []
    given = np.asarray(initial)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise InvalidData(f"initial must be whole numbers, one for each of the {n} items.")
    clusters = []
    shuffled = given[order]
    for name in np.unique(shuffled[shuffled >= 0]):
        places = np.flatnonzero(shuffled == name)
        slot[places] = places[0]
        if len(places) > 1:
            clusters.append(order[places].tolist())
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    a, b, c = slot[place[rows]].T
    broken = (a != b) & ((a == c) | (b == c)) | ((a == b) & (b == c))
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        raise InvalidData(
            f"Triplet {row}, {tuple(rows[row].tolist())}, cannot hold with these initial clusters.",
            "Take initial=None, or let the clusters agree with the triplets.",
        )
    open_rows = np.stack([a, b, c], axis=1)[a != b]
    build(n, open_rows)
    return slot, clusters


def _steps(
    n: int, order: Any, place: Any, slot: Any, nodes: list[list[int]], rows: Any, columns: Any,
    table: Any,
) -> Generator[None, None, Tree]:  # fmt: skip
    """Run the sparse phase, then the dense phase, and return the tree."""
    state = fast.begin(slot)
    first = np.empty(max(n - 1, 0), np.int32)
    second = np.empty(max(n - 1, 0), np.int32)
    size, alive = state
    value = np.zeros((n, n))
    made = 0
    scale = 0.0
    matrix: Any = None
    store: Any = None
    if columns is not None:
        fast.sums_of_list(*columns, slot, size, value)
        scale = float(np.abs(value).max())
        while int(alive.sum()) > 1:
            clusters, number = _numbered(alive, n)
            k = len(clusters)
            if _fits(k, 2):
                small = fast.most_answers(columns[0], number[slot], k) <= 32767
                if _fits(k, 2 if small else 4):
                    cell = np.int16 if small else np.int32
                    matrix = np.zeros((math.comb(k, 2),) * 2, cell)
                    fast.matrix_of_list(*columns, number[slot], matrix)
                    break
            made = fast.merge_from_list(
                *columns, slot, size, alive, value, rows, first, second, made, made + 16, scale
            )
            yield None
    elif int(alive.sum()) > 1:
        clusters, number = _numbered(alive, n)
        largest = int(table.max(initial=1))  # antisymmetric: no entry is below minus this
        if len(clusters) == n:  # the table's own order of columns: nothing to gather
            clusters, number = place.astype(np.int64), order.astype(np.int32)
            matrix = table
            store = np.empty(
                (_most_merged(n), len(table)), np.int16 if _small(size, largest) else np.int32
            )
        else:
            matrix = np.zeros((math.comb(len(clusters), 2),) * 2, np.int32)
            fast.matrix_of_table(table, order.astype(np.int32), number[slot], matrix)
    if matrix is not None:
        if store is None:  # the matrix may be overwritten: each row stays in its place
            store = matrix
            at, left = np.arange(len(matrix)), 0
        else:
            at, left = np.full(len(matrix), -1), len(store)
        free = np.arange(len(matrix))
        v = np.zeros(len(matrix))
        fast.sums_of_matrix(matrix, clusters, size, v)
        scale = max(scale, float(np.abs(v).max()))
        while made < n - 1 and int(alive.sum()) > 1:
            made, left = fast.merge_from_matrix(
                matrix, store, at, free, left, v, clusters, number, slot, size, alive, rows,
                first, second, made, made + 4, scale,
            )  # fmt: skip
            yield None
    return _tree(first[:made], second[:made], order, slot, nodes, n)


def _numbered(alive: Any, n: int) -> tuple[Any, Any]:
    """Return the slots of the clusters, and the number of each slot among them."""
    clusters = np.flatnonzero(alive)
    number = np.full(n, -1, np.int32)
    number[clusters] = np.arange(len(clusters))
    return clusters, number


def _small(size: Any, largest: int) -> bool:
    """Return True if sums of rows fit int16: at most n^2 / 4 rows, of entries up to ``largest``."""
    n = len(size)
    return n * n / 4 * largest <= 32767


def _most_merged(n: int) -> int:
    """Return the most rows of sums at a time.

    With m merged clusters among at most n - m, these are m (2 n - 3 m - 1) / 2 pairs. The next
    merge may need m rows before it frees others.
    """
    return max(m * (2 * n - 3 * m + 1) // 2 for m in range(n // 2 + 1))


def _fits(k: int, cell: int) -> bool:
    """Return True if the matrix over pairs of k clusters is within MAX_BYTES, at ``cell`` bytes
    each."""
    return math.comb(k, 2) ** 2 * cell <= MAX_BYTES


def _tree(first: Any, second: Any, order: Any, slot: Any, nodes: list[list[int]], n: int) -> Tree:
    """Return the tree of the merges, above the initial clusters ``nodes``."""
    if not nodes:
        if n == 1:
            return Tree.star(1)
        return tree_of_merges(first, second, np.arange(1.0, n), order)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    node = np.array(order, dtype=np.int64)
    children: list[list[int]] = []
    for items in nodes:
        node[place[items].min()] = n + len(children)
        children.append(items)
    for p, q in zip(first, second, strict=True):
        children.append([int(node[p]), int(node[q])])
        node[p] = n + len(children) - 1
    by_size = Tree.from_children(children, n)
    height = np.zeros(by_size.n_nodes)
    height[n : n + len(nodes)] = 1.0
    height[n + len(nodes) :] = 1.0 + np.arange(1, len(first) + 1)
    return Tree(by_size.parent, height, n)


__all__ = ["four_al", "four_al_steps"]
