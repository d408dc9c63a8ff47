"""4-AL: average linkage of quadruplets (Ghoshdastidar et al. 2019, section 3.3), from lists and
from sign tables.

With w_kl = 1 / (|G(k)| |G(l)|) for k and l in different clusters and 0 within one, equation (5) is
W(p, q) = 2 / (K (K - 1) |p| |q|) * sum over ij in p x q of v_ij, v_ij = sum over pairs {k, l} of
s(i, j; k, l) w_kl. A merge changes w only at pairs that touch the two clusters. So V(p, q), the sum
of v over p x q, is kept up to date by the comparisons of those pairs (the *sparse* phase); once the
pairs of clusters are few enough for a matrix over them, by sums of its rows (the *dense* phase).
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

#: Bytes that the dense phase's matrix may take. Longer with the list is cheaper than a larger one,
#: whose pages the machine has to find: 2.5 s at 4e8 and 7.9 s at 1.7e9, of two million answers.
MEMORY = 300_000_000


def four_al_steps(
    n_items: int,
    answers: Comparisons | NDArray[Any],
    *,
    initial: ArrayLike | None = None,
    triplets: Any = None,
    rng: np.random.Generator | None = None,
) -> Generator[None, None, Tree]:
    """4-AL as a generator that *returns* its tree; it yields now and then, so it can be stopped.

    Parameters
    ----------
    answers
        :class:`Comparisons`, where triplets (a, b, c) count as quadruplets (a, b, a, c), each
        answer counting as often as it was given; or a dense antisymmetric int8 or int16 (M, M)
        matrix of signs, as in :func:`hcviz.algorithms.comparison.similarities.mulk4_steps`.
    initial : int (n,), optional
        Clusters to start from (4-AL-I3, I5); a negative number is a cluster of its own. They stand
        in the tree as nodes without inner structure.
    triplets : Triplets, optional
        ab|c that the tree satisfies: merges after which that could not be are passed over. With
        ``initial``, the clusters must allow it.
    rng : numpy Generator, optional
        Breaks ties as :func:`hcviz.core.agglomerate.agglomerate` does. Similarities that differ by
        less than 1e-9 of the largest (and what rounding leaves of 0) count as tied, since sums of
        fractions are rounded.

    Heights are the ranks of the merges (initial clusters 1): W is not monotone. Items that were
    never compared have W = 0 with everything, and join where that is the highest.

    Time: for a list, the comparisons of each item times the clusters it passes through; dense,
    O(M^2) additions. Memory: 10 bytes an answer, or 2 bytes times M^2 once the clusters are few
    (``MEMORY``); beside a matrix of signs, which is never written, 2 bytes times M^2 / 3. Raises
    :class:`InvalidData`, :class:`InconsistentTriplets`.
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
    """:func:`four_al_steps` to its end."""
    tree: Tree = finish(four_al_steps(n_items, answers, **options))
    return tree


def _initial(
    initial: ArrayLike | None, order: Any, rows: Any, n: int
) -> tuple[NDArray[np.int32], list[list[int]]]:
    """Slot of each place (the lowest of its cluster), and the clusters with several items."""
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
        largest = int(table.max(initial=1))  # antisymmetric: no cell is further below 0
        if len(clusters) == n:  # columns in the table's own order: nothing to gather
            clusters, number = place.astype(np.int64), order.astype(np.int32)
            matrix = table
            store = np.empty(
                (_most_merged(n), len(table)), np.int16 if _small(size, largest) else np.int32
            )
        else:
            matrix = np.zeros((math.comb(len(clusters), 2),) * 2, np.int32)
            fast.matrix_of_table(table, order.astype(np.int32), number[slot], matrix)
    if matrix is not None:
        if store is None:  # it is ours to overwrite: every row is where it was
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
    """The slots of the clusters, and the number of each slot among them."""
    clusters = np.flatnonzero(alive)
    number = np.full(n, -1, np.int32)
    number[clusters] = np.arange(len(clusters))
    return clusters, number


def _small(size: Any, largest: int) -> bool:
    """Whether sums of rows fit int16: at most n^2 / 4 rows, of cells up to ``largest``."""
    n = len(size)
    return n * n / 4 * largest <= 32767


def _most_merged(n: int) -> int:
    """The most rows of sums at a time: m merged clusters among at most n - m have m (2 n - 3 m - 1)
    / 2 pairs; and the next merge may ask for its rows before it has given back m."""
    return max(m * (2 * n - 3 * m + 1) // 2 for m in range(n // 2 + 1))


def _fits(k: int, cell: int) -> bool:
    """Whether the matrix over pairs of k clusters may be made, with so many bytes a cell."""
    return math.comb(k, 2) ** 2 * cell <= MEMORY


def _tree(first: Any, second: Any, order: Any, slot: Any, nodes: list[list[int]], n: int) -> Tree:
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
