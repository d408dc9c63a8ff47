"""CRSC: recursive sparsest cut under triplets (Chatziafratis, Niazadeh and Charikar 2018)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np
import param
from numpy.typing import NDArray

from hcviz.algorithms.base import Algorithm, start_tree
from hcviz.algorithms.structural import kernels
from hcviz.core import spectral, spectralkernels
from hcviz.core.build import build, build_guided
from hcviz.core.buildkernels import renumbered
from hcviz.core.cost import dasgupta_cost
from hcviz.core.errors import InvalidData
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


class Parameters(param.Parameterized):
    shift = param.Boolean(
        False,
        doc="Where similarities are negative, take the lowest from all of them (else refuse).",
    )


def run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive sparsest cut on the supergraph, paper 001, Algorithm 1 with a spectral sweep.

    On the current set, a and b of every triplet ab|c inside it are one supernode; the supergraph
    (sizes in items, parallel edges added, no loops) is cut by
    :func:`hcviz.core.spectral.sweep_cut`, which approximately minimises w(S, S^c) / (|S| |S^c|);
    triplets that the cut resolves drop out. All triplets hold in every tree it yields: sets not
    yet divided show ``start`` repaired, or the Aho tree of their triplets. ``step`` counts the
    pairs of items that are parted for good. The result depends on nothing random.

    Deviation: the paper leaves the sparsest cut to any approximation; its guarantee is that of an
    O(sqrt(log n)) one, which the sweep is not. Its own experiments use this spectral cut.

    Raises, before anything runs, :class:`InconsistentTriplets`, and :class:`InvalidData` for a
    negative similarity unless ``shift`` is set. O(n^2) a level of the tree times the Lanczos steps,
    float32 (n, n) memory.
    """
    n = problem.n_items
    aho = build(n, problem.triplets)
    low = lowest(problem, params.shift)
    begun = start_tree(start)
    fallback = aho if begun is None else build_guided(begun, problem.triplets)
    return recurse(problem, low, fallback, begun is not None)


def lowest(problem: Problem, shift: bool) -> float:
    """What is taken from every similarity: 0, or with ``shift`` the lowest where negative."""
    matrix = problem.similarity
    if matrix is None or problem.n_items < 2:  # the default similarity is never negative
        return 0.0
    lowest = float(matrix.min())
    if lowest >= 0:
        return 0.0
    apart = matrix.copy()
    np.fill_diagonal(apart, np.inf)
    row, column = divmod(int(apart.argmin()), len(apart))
    lowest = float(apart[row, column])
    if lowest >= -1e-12 * float(np.abs(matrix).max()):  # rounding; the kernels take it as 0
        return 0.0
    if not shift:
        labels = problem.labels or ()
        raise InvalidData(
            f"Sparsest cuts need similarities of 0 or more; row {row}, column {column} "
            f"({labels[row]} and {labels[column]}) is {lowest:g}.",
            "Choose another similarity, or set shift=True to take the lowest from all.",
        )
    return lowest


class _State:
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
        #: Waiting sets, largest first: (-size, begin, end, triplets' begin and end, parent).
        self.waiting: list[tuple[int, int, int, int, int, int]] = []
        self.add(0, n, 0, len(self.rows), -1)

    def add(self, begin: int, end: int, t_begin: int, t_end: int, over: int) -> None:
        begin, end, t_begin, t_end = int(begin), int(end), int(t_begin), int(t_end)
        entry = (begin - end, begin, end, t_begin, t_end, over)
        heapq.heappush(self.waiting, entry)

    def parted(self) -> int:
        """Pairs of items that stand in different sets."""
        left = sum(size * (size + 1) // 2 for size, *_ in self.waiting)  # size is negative
        return self.n * (self.n - 1) // 2 - left

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


def recurse(problem: Problem, low: float, fallback: Tree, show: bool) -> Iterator[Snapshot | None]:
    n = problem.n_items
    total = max(1, n * (n - 1) // 2)
    matrix = problem.similarity_or_default.view()
    matrix.flags.writeable = False  # whether given or derived: numba compiles one variant

    def snapshot(tree: Tree, step: int) -> Snapshot:
        known = step == total or n <= COST_EACH
        return Snapshot(tree, step, total, {"cost": dasgupta_cost(tree, matrix)} if known else {})

    if show and n > 1:
        yield snapshot(Tree.with_size_heights(fallback.parent, n), 0)
    state = _State(n, problem.triplets)
    table = lca_table(fallback.parent.copy())
    shown = 0
    while state.waiting:
        _, begin, end, t_begin, t_end, over = heapq.heappop(state.waiting)
        if end - begin <= SMALL:
            state.made = kernels.finish(
                matrix, low, state.items, begin, end, state.rows, state.active, t_begin, t_end,
                over, state.up, state.made, state.link, state.key,
                state.spare_items, state.spare_active,
            )  # fmt: skip
        else:
            yield from _divide(state, matrix, low, begin, end, t_begin, t_end, over)
        yield None
        step = state.parted()
        if state.waiting and (step - shown) * SHARE >= total:
            shown = step
            yield snapshot(state.tree(fallback, table), step)
    yield snapshot(state.tree(fallback, table), total)


def _divide(
    state: _State,
    matrix: NDArray[np.float64],
    low: float,
    begin: int,
    end: int,
    t_begin: int,
    t_end: int,
    over: int,
) -> Iterator[None]:
    """Cut one large set in two, in steps."""
    count = kernels.contract(
        state.items, begin, end, state.rows, state.active, t_begin, t_end, state.link, state.key
    )
    sizes = kernels.supernode_sizes(state.items, begin, end, state.key, count)
    weights = np.zeros((count, count), np.float32 if count > spectralkernels.EXACT else np.float64)
    stride = max(1, spectral.CHUNK // (2 * (end - begin)))
    for first in range(begin, end, stride):
        kernels.add_weights(
            matrix, low, state.items, begin, end, state.key,
            first, min(first + stride, end), weights,
        )  # fmt: skip
        yield None
    side = yield from spectral.sweep_cut(weights, sizes)
    where, t_where, t_stop = kernels.divide(
        state.items, begin, end, state.active, t_begin, t_end, state.rows, state.key, side,
        state.spare_items, state.spare_active, state.at,
    )  # fmt: skip
    state.up[state.made] = over
    state.add(begin, where, t_begin, t_where, state.made)
    state.add(where, end, t_where, t_stop, state.made)
    state.made += 1


CRSC = Algorithm(
    name="crsc",
    title="Recursive sparsest cut",
    paper="Chatziafratis, Niazadeh and Charikar 2018",
    run=run,
    needs=("similarity",),
    triplets="hard",
    runs="thread",
    params=Parameters,
    summary="Cuts the items in two, again and again, where they hang together least; "
    "constrained items travel as one. Deterministic, and fast at thousands of items.",
)


def warm() -> None:
    """Compile (or load) the kernels, so that nobody's first click waits for it."""
    spectral.warm()
    n = spectralkernels.EXACT + 2  # large enough for Lanczos, and its halves for the rest
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    problem = Problem(similarity=np.exp(-apart / 9.0), triplets=[[0, 1, 2]])
    for _ in CRSC.start_run(problem, CRSC.parameters(), np.random.default_rng(0), Tree.star(n)):
        pass
