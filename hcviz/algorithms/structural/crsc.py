"""CRSC, CRBC and HRSC: recursive cuts of similarities under triplets (Chatziafratis et al.
2018)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import param
from numpy.typing import NDArray
from scipy.sparse import coo_array

from hcviz.algorithms.base import Algorithm
from hcviz.algorithms.starting import start_tree
from hcviz.algorithms.structural import cutkernels, cutsolvers
from hcviz.algorithms.structural.recursion import CutSettings, recurse
from hcviz.core import spectral, spectralkernels
from hcviz.core.build import aho_components, build, build_guided
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.heights import SIZE
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree


class Parameters(param.Parameterized):
    """Parameters of the hard methods."""

    oracle: Any = param.Selector(
        default="spectral",
        label="Cut by",
        objects={
            "spectral sweep": "spectral",
            "all cuts, up to 18": "exact",
            "metric relaxation, up to 60": "lp",
            "semidefinite, up to 60": "sdp",
        },
        doc="How a set is cut: by a sweep along the second eigenvector; by trying all cuts (up to "
        "18 supernodes); by the metric or the semidefinite relaxation (up to 60, slow).",
    )
    refine = param.Boolean(
        False,
        label="Refine cuts",
        doc="Move single supernodes across a cut while that improves the cut. The tree is usually "
        "cheaper (observed: -11 to +0.4 per cent), and takes 1 to 8 times as long.",
    )
    shift = param.Boolean(
        False,
        label="Shift to 0",
        doc="If similarities are negative, subtract the lowest from all of them (else refuse).",
    )


class SoftParameters(Parameters):
    """Parameters of HRSC."""

    lam = param.Number(
        1.0,
        label="Lambda",
        bounds=(0, None),
        doc="The cost of violating a triplet of weight 1, for each item of the smallest clade "
        "that contains a and b. 0: triplets are ignored.",
    )


def run_crsc(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive sparsest cut on the supergraph (Chatziafratis et al. 2018, Algorithm 1).

    On the current set, a and b of every triplet ab|c inside it are one supernode. The supergraph is
    cut so that w(S, S^c) / (|S| |S^c|) is small (|S| in items), exactly or nearly, by the parameter
    ``oracle`` (:mod:`hcviz.algorithms.structural.cutsolvers`). Triplets that the cut satisfies are
    dropped. All triplets hold in every tree it yields: sets not yet divided show ``start``
    repaired, or the Aho tree of their triplets. ``step`` counts the pairs of items that are
    separated. With spectral cuts nothing is random.

    Deviation: the paper allows any approximation of the sparsest cut. Its guarantee is for an
    O(sqrt(log n)) one, which the sweep is not. Its own experiments use this spectral cut.

    Raises :class:`InconsistentTriplets`, and :class:`InvalidData` for a negative similarity unless
    ``shift`` is set, before it yields anything. O(n^2) for each level of the tree and Lanczos step,
    float32 (n, n) memory. Spectral cuts keep a sparse similarity sparse: time and memory are
    proportional to its stored pairs (:mod:`hcviz.algorithms.structural.sparse`).
    """
    return _hard(problem, params, rng, start, balanced=False)


def run_crbc(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive balanced cut on the supergraph (Chatziafratis et al. 2018, theorem 2 and equation
    (3)).

    As :func:`run_crsc`, but the cut is the lightest of those with at least a third of the items on
    each side. There is one unless a supernode has more than two thirds of the items. Then this
    supernode is cut off, and the metric ``uneven`` counts such sets.
    """
    return _hard(problem, params, rng, start, balanced=True)


def _hard(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any, balanced: bool
) -> Iterator[Snapshot | None]:
    """Check the problem, then run CRSC or CRBC."""
    n = problem.n_items
    aho = build(n, problem.triplets, problem.groups)
    low = lowest_similarity(problem, params.shift)
    warm_tree = start_tree(start)
    fallback = (
        aho if warm_tree is None else build_guided(warm_tree, problem.triplets, problem.groups)
    )
    settings = CutSettings(balanced=balanced, refined=params.refine)
    settings.cut = cutsolvers.cut_solver(params.oracle, balanced, params.refine, rng)
    if params.oracle != "spectral":
        blocks = aho_components(np.arange(n), problem.triplets, problem.groups)
        cutsolvers.check_size(params.oracle, len(blocks))
    return recurse(problem, settings, low, fallback, warm_tree is not None)


def run_hrsc(
    problem: Problem, params: SoftParameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive sparsest cut of a hypergraph, where triplets have a price (Chatziafratis et al.
    2018, section 3).

    It approximately minimises the regularised cost, equation (4): Dasgupta's cost plus ``lam`` c_k
    |T[a,b]| for every violated ab|c of weight c_k. On a set that contains a, b and c, the edge a-b
    weighs ``lam`` c_k more (w'_ab = lam c_k, w'_ac = w'_bc = 0). So a cut pays for the triplet
    exactly if it separates a from b while c is in the set. Triplets may contradict each other.
    Metrics: ``cost``, ``regularised``, and ``violated``, the number of violated triplets.
    """
    n = problem.n_items
    low = lowest_similarity(problem, params.shift)
    lam = float(params.lam)
    if not np.isfinite(lam):
        raise InvalidParameter("lam must be finite.", "CRSC makes every triplet hold.")
    warm_tree = start_tree(start)
    settings = CutSettings(refined=params.refine, lam=lam)
    settings.prices = lam * problem.triplets.weights
    settings.cut = cutsolvers.cut_solver(params.oracle, False, params.refine, rng)
    if params.oracle != "spectral":
        cutsolvers.check_size(params.oracle, n)
    return recurse(problem, settings, low, warm_tree or Tree.star(n), warm_tree is not None)


def lowest_similarity(problem: Problem, shift: bool) -> float:
    """Return what is subtracted from every similarity: 0, or with ``shift`` the lowest if
    negative."""
    matrix = problem.similarity
    if matrix is None and problem.all_at_once:
        matrix = problem.similarity_or_default
    if matrix is None or problem.n_items < 2:  # the default similarity is never negative
        return 0.0
    found = most_negative(matrix)
    if found is None:
        return 0.0
    row, column, lowest = found
    if not shift:
        labels = problem.labels or ()
        raise InvalidData(
            f"Sparsest cuts need similarities of 0 or more; row {row}, column {column} "
            f"({labels[row]} and {labels[column]}) is {lowest:g}.",
            "Choose another similarity, or subtract the lowest from all: Shift to 0 (shift=True).",
        )
    return lowest


def most_negative(matrix: Any) -> tuple[int, int, float] | None:
    """Return row, column and value of the lowest number off the diagonal, if it is negative.

    Negative values of rounding size do not count; the kernels take them as 0. The matrix is copied
    only if it has negative numbers.
    """
    least = float(matrix.min())
    if least >= 0:
        return None
    apart = matrix.copy()
    np.fill_diagonal(apart, np.inf)
    row, column = divmod(int(apart.argmin()), len(apart))
    value = float(apart[row, column])
    if value >= -1e-12 * max(-least, float(matrix.max())):
        return None
    return row, column, value


def _uses_relaxation(params: Mapping[str, Any]) -> bool:
    """Return True if cvxpy is used, whose solvers hold the GIL for seconds."""
    return params.get("oracle") in ("lp", "sdp")


PAPER = "Chatziafratis, Niazadeh and Charikar 2018"

CRSC = Algorithm(
    name="crsc",
    title="Recursive sparsest cut",
    paper=PAPER,
    run=run_crsc,
    needs=("similarity",),
    triplets="hard",
    reads_groups=True,
    runs="thread",
    heights=SIZE,
    params=Parameters,
    needs_process=_uses_relaxation,
    objective="minimise",
    compare_order=4,
    summary="Cuts the items in two, again and again, where their similarity is least; "
    "constrained items stay together. Best for many answers in little time: with 1,000 it "
    "came within 0.1 per cent of the cheapest tree. Without any, average linkage is faster.",
    how_it_works="The method begins with all items, and cuts them in two. A good cut separates "
    "little similarity for the sizes of its sides. An eigenvector of the similarities sorts the "
    "items, and the best place along it is the cut. Items that a constraint keeps together move "
    "as one. Each side is cut again, until single items are left.",
)

CRBC = Algorithm(
    name="crbc",
    title="Recursive balanced cut",
    paper=PAPER,
    run=run_crbc,
    needs=("similarity",),
    triplets="hard",
    reads_groups=True,
    runs="thread",
    heights=SIZE,
    params=Parameters,
    needs_process=_uses_relaxation,
    objective="minimise",
    balanced=True,
    summary="As recursive sparsest cut, with at least a third of the items on each side if "
    "the answers allow it. Best for shallow trees with clades of similar size, which cost up to 6 "
    "per cent more.",
    how_it_works="The method begins with all items, and cuts them in two. Each side must have a "
    "third of the items or more, if the constraints allow it. Of these cuts it takes one that "
    "separates little similarity. Items that a constraint keeps together move as one. Each side "
    "is cut again, until single items are left.",
)

HRSC = Algorithm(
    name="hrsc",
    title="Recursive sparsest cut, answers at a price",
    paper=PAPER,
    run=run_hrsc,
    needs=("similarity",),
    triplets="soft",
    runs="thread",
    heights=SIZE,
    params=SoftParameters,
    needs_process=_uses_relaxation,
    objective="minimise",
    priced_by="lam",
    summary="Weighs answers against similarity: each violated answer costs lambda. Best for many "
    "answers of which some are wrong; the search with a price finds cheaper trees, but slowly.",
    how_it_works="The method begins with all items, and cuts them in two, where little "
    "similarity is separated. An answer makes its two items more similar by the price lambda, "
    "while the third item is with them. So a cut between them is possible, but it costs more. "
    "Each side is cut again, until single items are left.",
)


def _ring(n: int) -> NDArray[np.int64]:
    """Return both neighbours of each of n items in a ring."""
    here = np.arange(n)
    return np.stack([(here - 1) % n, (here + 1) % n], axis=1).ravel()


def warm() -> None:
    """Compile or load the kernels, so that the first run does not wait for this."""
    spectral.warm()
    n = spectralkernels.SMALL_GRAPH + 2  # large enough for Lanczos, and its halves for the rest
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    problem = Problem(similarity=np.exp(-apart / 9.0), triplets=[[0, 1, 2]])
    weights = np.ones((3, 3)) - np.eye(3)
    cutkernels.best_cut(weights, np.ones(3, np.int64), False)
    ring = coo_array((np.ones(2 * n), (np.arange(2 * n) // 2, _ring(n))), shape=(n, n))
    thin = Problem(similarity=ring.tocsr(), triplets=[[0, 1, 2]])
    for method, given in ((CRBC, thin), (HRSC, thin)):
        for _ in method.start_run(given, method.parameters(refine=True), np.random.default_rng(0)):
            pass
    for method in (CRSC, CRBC, HRSC):
        params = method.parameters(refine=True)
        for _ in method.start_run(problem, params, np.random.default_rng(0), Tree.star(n)):
            pass
