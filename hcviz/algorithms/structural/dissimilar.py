"""Top-down methods for dissimilarities, which maximise the value (Chatziafratis et al. 2018,
section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import param

from hcviz.algorithms.base import Algorithm, NoParameters
from hcviz.algorithms.starting import start_tree
from hcviz.algorithms.structural import cutkernels
from hcviz.algorithms.structural.crsc import PAPER, most_negative
from hcviz.algorithms.structural.recursion import CutSettings, recurse
from hcviz.core.build import build, build_guided
from hcviz.core.errors import InvalidData
from hcviz.core.heights import SIZE
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot


class Parameters(param.Parameterized):
    """Parameters of the methods for dissimilarities."""

    shift = param.Boolean(
        False,
        label="Shift to 0",
        doc="If dissimilarities are negative, subtract the lowest from all of them (else refuse).",
    )


def run_random(
    problem: Problem, params: NoParameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive random cutting (theorem 3), on the supergraph under triplets (theorem 5).

    Every supernode tosses a fair coin for its side, again while a side is empty. The expected
    value, the sum of w_ij |T[i,j]|, is at least 2/3 n sum w_ij, and no tree has more than n sum
    w_ij. Under triplets it is at least :func:`hcviz.metrics.dependency_guarantee` of that. The tree
    does not depend on the dissimilarities. O((n + m) log n) expected.
    """
    settings = CutSettings(
        cut=lambda weights, own, sizes: cutkernels.coin_sides(rng, len(sizes)), ignores_weights=True
    )
    return _recurse(problem.as_dissimilarities(), settings, 0.0, start)


def run_derandomised(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Random cutting made deterministic by conditional expectations (theorem 4).

    On each set, one item after the other goes to the side with the higher expected value of
    recursive random cutting, while the sides of later items are random. The last item goes to an
    empty side if there is one. So the value is at least 2/3 n sum w_ij. Updating the expectations
    takes O(|A|) for each item, so a level of the tree takes O(n^2) (paper: O(n^2 (n + m))).

    Under triplets whole supernodes are placed, and the expectation assumes that they are divided at
    once. No guarantee is known for this.
    """
    problem = problem.as_dissimilarities()
    low = _lowest(problem, params.shift)

    def cut(weights: Any, own: Any, sizes: Any) -> Any:
        return cutkernels.conditional_sides(weights, own, sizes)

    return _recurse(problem, CutSettings(cut=cut), low, start)


def run_densest(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive locally densest cut (Cohen-Addad et al. 2018), on the supergraph.

    It begins with the densest cut of one supernode, and moves one supernode at a time while w(S,
    S^c) / (|S| |S^c|) increases. Without triplets it is a (2/3 - o(1))-approximation. With a single
    triplet it can be worse by a factor of order n (Chatziafratis et al. 2018, Figure 4:
    :func:`hcviz.datasets.densest_cut_trap`). O(|A|^2) for a set, O(|A|) for a move.
    """
    problem = problem.as_dissimilarities()
    low = _lowest(problem, params.shift)

    def cut(weights: Any, own: Any, sizes: Any) -> Any:
        side = cutkernels.densest_single_cut(weights, sizes)
        cutkernels.refine(weights, sizes, side, False, -1.0)
        return side

    return _recurse(problem, CutSettings(cut=cut), low, start)


def _recurse(
    problem: Problem, settings: CutSettings, low: float, start: Any
) -> Iterator[Snapshot | None]:
    """Check the triplets, then run the recursion."""
    aho = build(problem.n_items, problem.triplets, problem.groups)
    warm_tree = start_tree(start)
    fallback = (
        aho if warm_tree is None else build_guided(warm_tree, problem.triplets, problem.groups)
    )
    return recurse(problem, settings, low, fallback, warm_tree is not None)


def _lowest(problem: Problem, shift: bool) -> float:
    """Return what is subtracted from every dissimilarity: 0, or with ``shift`` the lowest."""
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
            "Subtract the lowest from all: Shift to 0 (shift=True).",
        )
    return low


RANDOM_CUT = Algorithm(
    name="random-cut",
    title="Random cuts",
    paper=PAPER,
    run=run_random,
    needs=("items",),
    triplets="hard",
    reads_groups=True,
    objective="maximise",
    runs="thread",
    heights=SIZE,
    summary="Every item tosses a coin, again and again: for dissimilarities two thirds of the "
    "best value in expectation. Best as a baseline: random cuts without chance reach 7 to 22 per "
    "cent more.",
    how_it_works="Every item tosses a coin for one of two sides. If a side stays empty, all toss "
    "again. Items that a constraint keeps together toss one coin. Each side is divided in the "
    "same way, until single items are left. The data have no effect on the tree.",
)

DERANDOMISED_CUT = Algorithm(
    name="derandomised-cut",
    title="Random cuts without chance",
    paper=PAPER,
    run=run_derandomised,
    needs=("similarity",),
    triplets="hard",
    reads_groups=True,
    objective="maximise",
    runs="thread",
    heights=SIZE,
    params=Parameters,
    summary="Reads the numbers as dissimilarities; places each item where random cuts would do "
    "best on average. Best for a guarantee: always two thirds of the best value. Average linkage "
    "is faster, and reaches up to 1 per cent more.",
    how_it_works="The method divides all items into two sides, and then each side again. The "
    "items choose their sides one after the other. For each side, it computes the mean value of "
    "all random trees that could follow. The item goes to the side with the higher mean, so no "
    "chance remains.",
)

DENSEST_CUT = Algorithm(
    name="densest-cut",
    title="Recursive densest cut",
    paper=PAPER,
    run=run_densest,
    needs=("similarity",),
    triplets="hard",
    reads_groups=True,
    objective="maximise",
    runs="thread",
    heights=SIZE,
    params=Parameters,
    summary="Reads the numbers as dissimilarities; cuts where they are densest. Best for comparing "
    "with the paper: random cuts without chance reach up to 4 per cent more, and one answer can "
    "mislead it.",
    how_it_works="The method begins with all items, and cuts them in two, where dissimilarity is "
    "densest. It begins with the best cut that separates one item. Then it moves one item at a "
    "time to the other side, while the cut becomes denser. Each side is cut again, until single "
    "items are left.",
)


def warm() -> None:
    """Compile or load the kernels, so that the first run does not wait for this."""
    problem = Problem(similarity=np.ones((5, 5)), triplets=[[0, 1, 2]])
    for method in (RANDOM_CUT, DERANDOMISED_CUT, DENSEST_CUT):
        for _ in method.start_run(problem, method.parameters(), np.random.default_rng(0)):
            pass
