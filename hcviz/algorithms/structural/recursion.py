"""The recursion of all top-down methods of Chatziafratis et al. (2018), Algorithm 1: contract, cut,
split, repeat.

On the current set, a and b of every triplet ab|c inside it are one supernode; so are the items of
every group that is smaller than the set. The supergraph (sizes
in items, parallel edges summed, no loops) is cut. Triplets that the cut resolves are dropped. Soft
triplets contract nothing: each is an extra edge a-b while c is in the set.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from hcviz.algorithms.structural import cutkernels, kernels, sparse, sparsekernels
from hcviz.core import spectral, spectralkernels
from hcviz.core.buildkernels import renumbered
from hcviz.core.cost import dasgupta_cost, penalty
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.treekernels import lca_table

#: Sets up to this size are divided to their leaves in one compiled call (40 ms at most).
SMALL = 64
#: A snapshot follows each such part of the pairs of items.
SNAPSHOT_PARTS = 10
#: Above this many items only the last snapshot has the cost, which takes a pass over the matrix.
MAX_COST_ITEMS = 3000

Bools = NDArray[np.bool_]
#: Maps weights (k, k), the weights inside each supernode (k,) and sizes (k,) to a side (k,).
Cut = Callable[[NDArray[Any], NDArray[np.float64], NDArray[np.int64]], Bools]


@dataclass
class CutSettings:
    """How sets are cut.

    Parameters
    ----------
    balanced, refined : bool
        Balanced cuts; refined cuts.
    cut : Cut or None
        Replaces the spectral sweep.
    ignores_weights : bool
        True if ``cut`` needs no weights.
    prices : float64 (m,)
        Prices of the triplets, which make them soft. Empty: triplets are hard.
    uneven : int64 (1,)
        Counts sets without a balanced cut.
    lam : float or None
        The price of one violated triplet of weight 1, for the metrics.
    """

    balanced: bool = False
    refined: bool = False
    cut: Cut | None = None
    ignores_weights: bool = False
    prices: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    uneven: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    lam: float | None = None


class CutState:
    """The arrays of the recursion; see :mod:`hcviz.algorithms.structural.kernels`."""

    def __init__(self, n: int, rows: NDArray[np.int32]) -> None:
        self.n = n
        self.rows = rows.copy()
        self.items = np.arange(n, dtype=np.int32)
        self.active = np.arange(len(self.rows), dtype=np.int32)
        self.up = np.full(2 * n - 1, -1, np.int32)
        self.made = n
        self.link = np.empty(n, np.int32)
        self.key = np.empty(n, np.int32)
        self.spare_items = np.empty(n, np.int32)
        self.spare_active = np.empty(len(self.rows), np.int32)
        self.at = np.empty(4, np.int32)
        self.member = np.zeros(n, np.int32)  # equals ``stamp`` at the items of the set, if sparse
        self.stamp = 0
        self.buffer = np.empty(0, np.float32)
        #: Pending sets, largest first: (-size, begin, end, triplets' begin and end, parent).
        self.waiting: list[tuple[int, int, int, int, int, int]] = []
        self.left = 0  # pairs of items inside pending sets
        self.add(0, n, 0, len(self.rows), -1)

    def add(self, begin: int, end: int, t_begin: int, t_end: int, over: int) -> None:
        """Add a pending set below the node ``over``."""
        begin, end, t_begin, t_end = int(begin), int(end), int(t_begin), int(t_end)
        entry = (begin - end, begin, end, t_begin, t_end, over)
        heapq.heappush(self.waiting, entry)
        self.left += (end - begin) * (end - begin - 1) // 2

    def square(self, size: int) -> NDArray[np.float32]:
        """Return a buffer for a large set's weights, (size, size); reused, to save allocations."""
        if self.buffer.size < size * size:
            self.buffer = np.empty(size * size, np.float32)
        return self.buffer[: size * size].reshape(size, size)

    def take(self) -> tuple[int, int, int, int, int]:
        """Remove and return the largest pending set."""
        size, begin, end, t_begin, t_end, over = heapq.heappop(self.waiting)
        self.left -= size * (size + 1) // 2  # size is negative
        return begin, end, t_begin, t_end, over

    def separated_pairs(self) -> int:
        """Return the number of pairs of items that are in different sets."""
        return self.n * (self.n - 1) // 2 - self.left

    def tree(self, fallback: Tree, table: tuple[Any, Any]) -> Tree:
        """Return the tree so far; pending sets are parts of ``fallback``."""
        up, made = self.up.copy(), self.made
        if self.waiting:
            _, begins, ends, _, _, overs = np.array(self.waiting, dtype=np.int32).T.copy()
            made = kernels.graft(
                self.items, begins, ends, overs, fallback.leaf_start[: self.n].copy(),
                *table, up, made, fallback.n_nodes,
            )  # fmt: skip
        return Tree.with_size_heights(renumbered(up[:made].copy(), self.n), self.n)


def recurse(
    problem: Problem, settings: CutSettings, low: float, fallback: Tree, show: bool
) -> Iterator[Snapshot | None]:
    """Divide until every set is one item.

    ``low`` is subtracted from every similarity. Pending sets show ``fallback``; with ``show`` it is
    also the first snapshot.
    """
    n = problem.n_items
    total = max(1, n * (n - 1) // 2)
    matrix = weights_of(problem, settings)

    def snapshot(tree: Tree, step: int) -> Snapshot:
        known = (step == total or n <= MAX_COST_ITEMS) and matrix is not None
        metrics = {"cost": dasgupta_cost(tree, matrix)} if known and matrix is not None else {}
        if settings.lam is not None and known:
            answers = problem.triplets
            metrics["regularised"] = metrics["cost"] + penalty(tree, answers, settings.lam)
            metrics["violated"] = float((~tree.satisfies(answers)).sum())
        if settings.balanced:
            metrics["uneven"] = float(settings.uneven[0])
        return Snapshot(tree, step, total, metrics)

    if show and n > 1:
        yield snapshot(Tree.with_size_heights(fallback.parent, n), 0)
    state = CutState(n, problem.constraint_rows)
    table = lca_table(fallback.parent.copy())
    shown = 0
    while state.waiting:
        begin, end, t_begin, t_end, over = state.take()
        if end - begin <= SMALL and settings.cut is None and issparse(matrix):
            sparse.divide_to_leaves(matrix, state, settings, begin, end, t_begin, t_end, over)
        elif end - begin <= SMALL and settings.cut is None:
            state.made = kernels.divide_to_leaves(
                matrix, low, state.items, begin, end, state.rows, state.active, t_begin, t_end,
                over, state.up, state.made, state.link, state.key,
                state.spare_items, state.spare_active,
                settings.prices, settings.balanced, settings.refined, settings.uneven,
            )  # fmt: skip
        elif end - begin == 1:
            state.up[state.items[begin]] = over
            continue
        else:
            yield from _divide(state, settings, matrix, low, begin, end, t_begin, t_end, over)
        yield None
        step = state.separated_pairs()
        if step < total and (step - shown) * SNAPSHOT_PARTS >= total:
            shown = step
            yield snapshot(state.tree(fallback, table), step)
    yield snapshot(state.tree(fallback, table), total)


def weights_of(problem: Problem, settings: CutSettings) -> Any:
    """Return the matrix, read-only, so that numba compiles one variant.

    None if there is none, and none is needed. Sparse ones stay sparse for spectral cuts, and if
    weights are only needed for the cost.
    """
    if settings.ignores_weights and problem.similarity is None and problem.features is None:
        return None
    if problem.is_sparse and (settings.ignores_weights or settings.cut is None):
        return problem.similarity
    matrix = problem.similarity_or_default.view()
    matrix.flags.writeable = False
    return matrix


def _divide(
    state: CutState,
    settings: CutSettings,
    matrix: Any,
    low: float,
    begin: int,
    end: int,
    t_begin: int,
    t_end: int,
    over: int,
) -> Iterator[None]:
    """Cut one set in two, in steps: contract what constraints join, cut, split.

    Sets of at most ``SMALL`` items do not come here: one kernel does the same steps for them, down
    to their leaves (``kernels.divide_to_leaves``).
    """
    soft = len(settings.prices) > 0
    count = kernels.contract(
        state.items, begin, end, state.rows, state.active, t_begin, t_begin if soft else t_end,
        state.link, state.key,
    )  # fmt: skip
    sizes = kernels.supernode_sizes(state.items, begin, end, state.key, count)
    if settings.balanced and kernels.has_dominant(sizes):
        settings.uneven[0] += 1
    if issparse(matrix) and not settings.ignores_weights:
        side = yield from _sparse_side(state, settings, matrix, begin, end, t_begin, t_end, sizes)
    else:
        side = yield from _dense_side(
            state, settings, matrix, low, begin, end, t_begin, t_end, sizes
        )
    where, t_where, t_stop = kernels.split_set(
        state.items, begin, end, state.active, t_begin, t_end, state.rows, state.key, side,
        state.spare_items, state.spare_active, state.at,
    )  # fmt: skip
    state.up[state.made] = over
    state.add(begin, where, t_begin, t_where, state.made)
    state.add(where, end, t_where, t_stop, state.made)
    state.made += 1


def _sparse_side(
    state: CutState,
    settings: CutSettings,
    matrix: Any,
    begin: int,
    end: int,
    t_begin: int,
    t_end: int,
    sizes: NDArray[np.int64],
) -> Generator[None, None, Bools]:
    """Return the side of each supernode, from the rows of a sparse supergraph."""
    if len(sizes) == 2:
        return np.array([True, False])
    state.stamp += 1
    graph = sparsekernels.supergraph(
        matrix.indptr, matrix.indices, matrix.data, state.items, begin, end, state.key, len(sizes),
        state.member, state.stamp, state.rows, state.active, t_begin, t_end, settings.prices,
    )  # fmt: skip
    yield
    if len(sizes) > spectralkernels.SMALL_GRAPH:
        return (yield from sparse.cut(graph, sizes, settings.balanced, settings.refined))
    return (yield from _spectral(sparsekernels.as_dense(*graph), sizes, settings))


def _dense_side(
    state: CutState,
    settings: CutSettings,
    matrix: NDArray[np.float64] | None,
    low: float,
    begin: int,
    end: int,
    t_begin: int,
    t_end: int,
    sizes: NDArray[np.int64],
) -> Generator[None, None, Bools]:
    """Return the side of each supernode, from the supergraph's dense matrix."""
    soft, count = len(settings.prices) > 0, len(sizes)
    large = count > spectralkernels.SMALL_GRAPH and settings.cut is None
    size = 0 if settings.ignores_weights or matrix is None else count
    single = count == end - begin
    if large:
        weights: NDArray[Any] = state.square(size)
        if not single:
            weights[:] = 0.0
    else:
        weights = np.zeros((size, size))
    own = np.zeros(count)
    if size and count > 2:
        stride = max(1, spectral.CHUNK // (2 * (end - begin)))
        for first in range(begin, end, stride):
            last = min(first + stride, end)
            if single:
                kernels.copy_weights(matrix, low, state.items, begin, end, first, last, weights)
            else:
                kernels.add_weights(
                    matrix, low, state.items, begin, end, state.key, first, last, weights
                )
            yield None
        if soft:
            kernels.add_triplet_prices(
                state.rows, state.active, t_begin, t_end, settings.prices, state.key, weights
            )
        if settings.cut is not None and count < end - begin:
            kernels.add_inner_weights(matrix, state.items, begin, end, state.key, own)
    if settings.cut is not None:
        return np.array([True, False]) if count == 2 else settings.cut(weights, own, sizes)
    return (yield from _spectral(weights, sizes, settings))


def _spectral(
    weights: NDArray[Any], sizes: NDArray[np.int64], settings: CutSettings
) -> Generator[None, None, Bools]:
    """Return the side of each supernode by a spectral sweep cut."""
    if not settings.balanced:
        side = yield from spectral.sweep_cut(weights, sizes)
    elif len(sizes) <= spectralkernels.SMALL_GRAPH:
        side = cutkernels.small_balanced_cut(weights, sizes)
    else:
        if spectralkernels.component_labels(weights)[1] > 1:
            cutkernels.link_pieces(weights, sizes)
        degree = spectralkernels.degrees(weights)
        yield
        values = yield from spectral.second_vector(weights, degree)
        side = cutkernels.balanced_sweep(weights, degree, values, sizes)
    if settings.refined and len(sizes) > 2:
        yield
        cutkernels.refine(weights, sizes, side, settings.balanced, 1.0)
    return side
