"""The recursion that all top-down methods of Chatziafratis et al. (2018) share: contract, cut,
part, again.

On the current set, a and b of every triplet ab|c inside it are one supernode; the supergraph (sizes
in items, parallel edges added, no loops) is cut, and triplets that the cut resolves drop out. Soft
triplets contract nothing: each is an extra edge a-b for as long as c is there, too.
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
from hcviz.core.triplets import Triplets

#: Sets up to this size are finished in one compiled call (40 ms at the very worst).
SMALL = 64
#: A snapshot for about every such share of the pairs of items.
SHARE = 10
#: Above this many items only the last snapshot carries the cost (one pass over the matrix).
COST_EACH = 3000

Bools = NDArray[np.bool_]
#: From weights (k, k), the weights inside each supernode (k,) and sizes (k,) to a side (k,).
Cut = Callable[[NDArray[Any], NDArray[np.float64], NDArray[np.int64]], Bools]


@dataclass
class Plan:
    """How sets are cut. ``cut`` replaces the spectral sweep; ``blind`` says that it needs no
    weights; ``prices`` (m,) make the triplets soft; ``uneven`` counts sets without a balanced cut.
    """

    balanced: bool = False
    refined: bool = False
    cut: Cut | None = None
    blind: bool = False
    prices: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    uneven: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    sign: float = 1.0
    lam: float | None = None


class State:
    """The recursion's arrays; see :mod:`hcviz.algorithms.structural.kernels`."""

    def __init__(self, n: int, triplets: Triplets) -> None:
        self.n = n
        self.rows: NDArray[np.int32] = triplets.rows.copy()
        self.items = np.arange(n, dtype=np.int32)
        self.active = np.arange(len(self.rows), dtype=np.int32)
        self.up = np.full(2 * n - 1, -1, np.int32)
        self.made = n
        self.link = np.empty(n, np.int32)
        self.key = np.empty(n, np.int32)
        self.spare_items = np.empty(n, np.int32)
        self.spare_active = np.empty(len(self.rows), np.int32)
        self.at = np.empty(4, np.int32)
        self.member = np.zeros(n, np.int32)  # whose items bear ``stamp``: the set's, if sparse
        self.stamp = 0
        self.room = np.empty(0, np.float32)
        #: Waiting sets, largest first: (-size, begin, end, triplets' begin and end, parent).
        self.waiting: list[tuple[int, int, int, int, int, int]] = []
        self.left = 0  # pairs of items inside waiting sets
        self.add(0, n, 0, len(self.rows), -1)

    def add(self, begin: int, end: int, t_begin: int, t_end: int, over: int) -> None:
        begin, end, t_begin, t_end = int(begin), int(end), int(t_begin), int(t_end)
        entry = (begin - end, begin, end, t_begin, t_end, over)
        heapq.heappush(self.waiting, entry)
        self.left += (end - begin) * (end - begin - 1) // 2

    def square(self, size: int) -> NDArray[np.float32]:
        """Room for a large set's weights, (size, size), always the same: new memory costs time."""
        if self.room.size < size * size:
            self.room = np.empty(size * size, np.float32)
        return self.room[: size * size].reshape(size, size)

    def take(self) -> tuple[int, int, int, int, int]:
        size, begin, end, t_begin, t_end, over = heapq.heappop(self.waiting)
        self.left -= size * (size + 1) // 2  # size is negative
        return begin, end, t_begin, t_end, over

    def parted(self) -> int:
        """Pairs of items that stand in different sets."""
        return self.n * (self.n - 1) // 2 - self.left

    def tree(self, fallback: Tree, table: tuple[Any, Any]) -> Tree:
        """The tree so far, ``fallback`` standing in for what is still to be divided."""
        up, made = self.up.copy(), self.made
        if self.waiting:
            _, begins, ends, _, _, overs = np.array(self.waiting, dtype=np.int32).T.copy()
            made = kernels.graft(
                self.items, begins, ends, overs, fallback.leaf_start[: self.n].copy(),
                *table, up, made, fallback.n_nodes,
            )  # fmt: skip
        return Tree.with_size_heights(renumbered(up[:made].copy(), self.n), self.n)


def recurse(
    problem: Problem, plan: Plan, low: float, fallback: Tree, show: bool
) -> Iterator[Snapshot | None]:
    """Divide until every set is one item. ``low`` is taken from every similarity; ``fallback`` is
    what sets not yet divided show, and ``show`` asks for it as the first snapshot."""
    n = problem.n_items
    total = max(1, n * (n - 1) // 2)
    matrix = weights_of(problem, plan)

    def snapshot(tree: Tree, step: int) -> Snapshot:
        known = (step == total or n <= COST_EACH) and matrix is not None
        metrics = {"cost": dasgupta_cost(tree, matrix)} if known and matrix is not None else {}
        if plan.lam is not None and known:
            answers = problem.triplets
            metrics["regularised"] = metrics["cost"] + penalty(tree, answers, plan.lam)
            metrics["violated"] = float((~tree.satisfies(answers)).sum())
        if plan.balanced:
            metrics["uneven"] = float(plan.uneven[0])
        return Snapshot(tree, step, total, metrics)

    if show and n > 1:
        yield snapshot(Tree.with_size_heights(fallback.parent, n), 0)
    state = State(n, problem.triplets)
    table = lca_table(fallback.parent.copy())
    shown = 0
    while state.waiting:
        begin, end, t_begin, t_end, over = state.take()
        if end - begin <= SMALL and plan.cut is None and issparse(matrix):
            sparse.finish(matrix, state, plan, begin, end, t_begin, t_end, over)
        elif end - begin <= SMALL and plan.cut is None:
            state.made = kernels.finish(
                matrix, low, state.items, begin, end, state.rows, state.active, t_begin, t_end,
                over, state.up, state.made, state.link, state.key,
                state.spare_items, state.spare_active,
                plan.prices, plan.balanced, plan.refined, plan.uneven,
            )  # fmt: skip
        elif end - begin == 1:
            state.up[state.items[begin]] = over
            continue
        else:
            yield from _divide(state, plan, matrix, low, begin, end, t_begin, t_end, over)
        yield None
        step = state.parted()
        if step < total and (step - shown) * SHARE >= total:
            shown = step
            yield snapshot(state.tree(fallback, table), step)
    yield snapshot(state.tree(fallback, table), total)


def weights_of(problem: Problem, plan: Plan) -> Any:
    """The matrix, read-only (numba compiles one variant); None if nobody needs one and none is.

    Sparse ones stay sparse for spectral cuts, and where weights are only needed for the cost.
    """
    if plan.blind and problem.similarity is None and problem.features is None:
        return None
    if problem.is_sparse and (plan.blind or plan.cut is None):
        return problem.similarity
    matrix = problem.similarity_or_default.view()
    matrix.flags.writeable = False
    return matrix


def _divide(
    state: State,
    plan: Plan,
    matrix: Any,
    low: float,
    begin: int,
    end: int,
    t_begin: int,
    t_end: int,
    over: int,
) -> Iterator[None]:
    """Cut one set in two, in steps."""
    soft = len(plan.prices) > 0
    count = kernels.contract(
        state.items, begin, end, state.rows, state.active, t_begin, t_begin if soft else t_end,
        state.link, state.key,
    )  # fmt: skip
    sizes = kernels.supernode_sizes(state.items, begin, end, state.key, count)
    if plan.balanced and kernels.largest(sizes):
        plan.uneven[0] += 1
    if issparse(matrix) and not plan.blind:
        side = yield from _sparse(state, plan, matrix, begin, end, t_begin, t_end, sizes)
    else:
        side = yield from _dense(state, plan, matrix, low, begin, end, t_begin, t_end, sizes)
    where, t_where, t_stop = kernels.divide(
        state.items, begin, end, state.active, t_begin, t_end, state.rows, state.key, side,
        state.spare_items, state.spare_active, state.at,
    )  # fmt: skip
    state.up[state.made] = over
    state.add(begin, where, t_begin, t_where, state.made)
    state.add(where, end, t_where, t_stop, state.made)
    state.made += 1


def _sparse(
    state: State,
    plan: Plan,
    matrix: Any,
    begin: int,
    end: int,
    t_begin: int,
    t_end: int,
    sizes: NDArray[np.int64],
) -> Generator[None, None, Bools]:
    """The side of each supernode, by the rows of a sparse supergraph."""
    if len(sizes) == 2:
        return np.array([True, False])
    state.stamp += 1
    graph = sparsekernels.supergraph(
        matrix.indptr, matrix.indices, matrix.data, state.items, begin, end, state.key, len(sizes),
        state.member, state.stamp, state.rows, state.active, t_begin, t_end, plan.prices,
    )  # fmt: skip
    yield
    if len(sizes) > spectralkernels.SMALL_GRAPH:
        return (yield from sparse.cut(graph, sizes, plan.balanced, plan.refined))
    return (yield from _spectral(sparsekernels.dense(*graph), sizes, plan))


def _dense(
    state: State,
    plan: Plan,
    matrix: NDArray[np.float64] | None,
    low: float,
    begin: int,
    end: int,
    t_begin: int,
    t_end: int,
    sizes: NDArray[np.int64],
) -> Generator[None, None, Bools]:
    """The side of each supernode, by the supergraph's whole matrix."""
    soft, count = len(plan.prices) > 0, len(sizes)
    large = count > spectralkernels.SMALL_GRAPH and plan.cut is None
    size = 0 if plan.blind or matrix is None else count
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
            kernels.add_answers(
                state.rows, state.active, t_begin, t_end, plan.prices, state.key, weights
            )
        if plan.cut is not None and count < end - begin:
            kernels.add_own(matrix, state.items, begin, end, state.key, own)
    if plan.cut is not None:
        return np.array([True, False]) if count == 2 else plan.cut(weights, own, sizes)
    return (yield from _spectral(weights, sizes, plan))


def _spectral(
    weights: NDArray[Any], sizes: NDArray[np.int64], plan: Plan
) -> Generator[None, None, Bools]:
    if not plan.balanced:
        side = yield from spectral.sweep_cut(weights, sizes)
    elif len(sizes) <= spectralkernels.SMALL_GRAPH:
        side = cutkernels.small_balanced_cut(weights, sizes)
    else:
        if spectralkernels.component_labels(weights)[1] > 1:
            cutkernels.connect(weights, sizes)
        degree = spectralkernels.degrees(weights)
        yield
        values = yield from spectral.second_vector(weights, degree)
        side = cutkernels.balanced_sweep(weights, degree, values, sizes)
    if plan.refined and len(sizes) > 2:
        yield
        cutkernels.refine(weights, sizes, side, plan.balanced, 1.0)
    return side
