"""Top-down methods for dissimilarities (Chatziafratis et al. 2018, section 4): high values are
wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import param

from hcviz.algorithms.base import Algorithm, NoParameters, start_tree
from hcviz.algorithms.structural import cutkernels
from hcviz.algorithms.structural.crsc import PAPER, most_negative
from hcviz.algorithms.structural.recursion import Plan, recurse
from hcviz.core.build import build, build_guided
from hcviz.core.errors import InvalidData
from hcviz.core.heights import SIZE
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot


class Parameters(param.Parameterized):
    shift = param.Boolean(
        False,
        label="Shift to 0",
        doc="Where dissimilarities are negative, take the lowest from all of them (else refuse).",
    )


def run_random(
    problem: Problem, params: NoParameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive random cutting (theorem 3), on the supergraph under triplets (theorem 5).

    Every supernode tosses a fair coin for its side, again where a side stays empty. In expectation
    the value, the sum of w_ij |T[i,j]|, is 2/3 n sum w_ij or more, and no tree has more than
    n sum w_ij; under triplets :func:`hcviz.metrics.dependency_guarantee` of it. The numbers have
    no say in the tree. O((n + m) log n) expected.
    """
    plan = Plan(cut=lambda weights, own, sizes: cutkernels.coin_sides(rng, len(sizes)), blind=True)
    return _recurse(problem.as_dissimilarities(), plan, 0.0, start)


def run_derandomised(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Random cutting made deterministic by conditional expectations (theorem 4).

    On each set, one item after the other goes to the side with the higher expected value of
    recursive random cutting, the later ones still tossing coins; the last goes to the side that is
    empty, if one is. Hence never less than 2/3 n sum w_ij. The expectations are kept up to date in
    O(|A|) an item, so that the whole takes O(n^2) a level of the tree (paper: O(n^2 (n + m))).

    Under triplets whole supernodes are placed, and the expectation is that of a recursion in which
    they come apart at once: no guarantee is known for it.
    """
    problem = problem.as_dissimilarities()
    low = _lowest(problem, params.shift)

    def cut(weights: Any, own: Any, sizes: Any) -> Any:
        return cutkernels.conditional_sides(weights, own, sizes)

    return _recurse(problem, Plan(cut=cut), low, start)


def run_densest(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive locally densest cut (Cohen-Addad and others 2018), on the supergraph.

    Begins with the densest cut of one supernode from the rest, and moves one supernode at a time
    while w(S, S^c) / (|S| |S^c|) rises. Without triplets a (2/3 - o(1))-approximation; with a
    single one it can be off by a factor of order n (Chatziafratis et al. 2018, Figure 4:
    :func:`hcviz.datasets.densest_cut_trap`). O(|A|^2) a set, O(|A|) a move.
    """
    problem = problem.as_dissimilarities()
    low = _lowest(problem, params.shift)

    def cut(weights: Any, own: Any, sizes: Any) -> Any:
        side = cutkernels.dense_start(weights, sizes)
        cutkernels.refine(weights, sizes, side, False, -1.0)
        return side

    return _recurse(problem, Plan(cut=cut), low, start)


def _recurse(problem: Problem, plan: Plan, low: float, start: Any) -> Iterator[Snapshot | None]:
    aho = build(problem.n_items, problem.triplets)
    begun = start_tree(start)
    fallback = aho if begun is None else build_guided(begun, problem.triplets)
    return recurse(problem, plan, low, fallback, begun is not None)


def _lowest(problem: Problem, shift: bool) -> float:
    if problem.n_items < 2:
        return 0.0
    found = most_negative(problem.similarity_or_default)
    if found is None:
        return 0.0
    row, column, low = found
    if not shift:
        labels = problem.labels or ()
        raise InvalidData(
            f"Dissimilarities must be 0 or more; row {row}, column {column} "
            f"({labels[row]} and {labels[column]}) is {low:g}.",
            "Take the lowest from all: Shift to 0 (shift=True).",
        )
    return low


RANDOM_CUT = Algorithm(
    name="random-cut",
    title="Random cuts",
    paper=PAPER,
    run=run_random,
    needs=("items",),
    triplets="hard",
    objective="maximise",
    runs="thread",
    heights=SIZE,
    summary="Every item tosses a coin, again and again: for dissimilarities two thirds of the "
    "best in expectation, and sturdy under answers.",
)

DERANDOMISED_CUT = Algorithm(
    name="derandomised-cut",
    title="Random cuts without chance",
    paper=PAPER,
    run=run_derandomised,
    needs=("similarity",),
    triplets="hard",
    objective="maximise",
    runs="thread",
    heights=SIZE,
    params=Parameters,
    summary="Reads the numbers as dissimilarities; places each item where random cuts would do "
    "best on average. At least two thirds of the best, always.",
)

DENSEST_CUT = Algorithm(
    name="densest-cut",
    title="Recursive densest cut",
    paper=PAPER,
    run=run_densest,
    needs=("similarity",),
    triplets="hard",
    objective="maximise",
    runs="thread",
    heights=SIZE,
    params=Parameters,
    summary="Reads the numbers as dissimilarities; cuts where they are densest. Good without "
    "answers, and easily fooled by one.",
)


def warm() -> None:
    """Compile (or load) the kernels, so that nobody's first click waits for it."""
    problem = Problem(similarity=np.ones((5, 5)), triplets=[[0, 1, 2]])
    for method in (RANDOM_CUT, DERANDOMISED_CUT, DENSEST_CUT):
        for _ in method.start_run(problem, method.parameters(), np.random.default_rng(0)):
            pass
