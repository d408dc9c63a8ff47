"""Methods of Ghoshdastidar et al. (2019) that query an oracle: single and complete linkage,
4K-AL."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from functools import partial
from typing import Any

import numpy as np
import param

from hcviz.algorithms.base import Algorithm, NoParameters
from hcviz.algorithms.comparison.oracle import Asker, asker_of, pairs_of, ranks
from hcviz.algorithms.comparison.similarities import check_items
from hcviz.core.agglomerate import Method, agglomerate
from hcviz.core.blas import one_thread
from hcviz.core.build import build
from hcviz.core.heights import kernel_heights
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree

#: What the methods query: a comparison oracle, or a similarity in its place.
NEEDS = ("comparison oracle", "similarity")
PAPER = "Ghoshdastidar, Perrot and von Luxburg 2019"


class ActiveKernelParameters(param.Parameterized):
    """Parameters of the active quadruplets kernel."""

    variant: Any = param.Selector(
        default="paper",
        objects=["paper", "published"],
        doc="paper: each item is a landmark with probability ln N / N, and as many reference pairs "
        "as the budget allows. published: all items are landmarks, with fewer reference pairs, as "
        "in the authors' code.",
    )
    p = param.Number(
        0.1,
        label="Budget p",
        bounds=(0, 1),
        inclusive_bounds=(False, True),
        doc="The budget: this share of all comparisons of two pairs, as passive methods get them. "
        "Single and complete linkage ask fewer if p is above 2 log2 M / M, for M = N (N - 1) / 2 "
        "pairs: above 0.0036 for 120 items. The least is one reference pair, about N ln N "
        "questions.",
    )


def run_linkage(
    method: Method, problem: Problem, params: NoParameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Single or complete linkage by comparisons of pairs (Ghoshdastidar et al. 2019, section 3.1).

    The questions go to the problem's comparison oracle. Without one, its similarity answers them,
    and the method learns only the answers.

    All pairs are sorted by comparisons. These linkages need only their order (proof of Proposition
    1), so the tree is that of the hidden similarities. Pairs that the oracle calls equally similar
    share a rank. Equal merges follow the seeded order of
    :func:`hcviz.core.agglomerate.agglomerate`. Heights are ranks of pairs. Merges that triplets
    forbid are skipped. If the oracle contradicts itself, the tree is that of the order which the
    sort returns. The metric ``queries`` counts the questions, O(N^2 log N). O(N^2) memory.
    """
    check_items(problem.n_items)
    build(problem.n_items, problem.triplets)
    return _linkage(method, problem, asker_of(problem), rng)


def _linkage(
    method: Method, problem: Problem, asker: Asker, rng: np.random.Generator
) -> Iterator[Snapshot | None]:
    """Rank all pairs, then agglomerate."""
    n = problem.n_items
    rank = yield from ranks(asker, n, rng)
    matrix = _square(rank.astype(float), n)
    tree = agglomerate(matrix, method, triplets=problem.triplets, rng=rng)
    yield _last(tree, matrix, "rank", asker)


def run_active_kernel(
    problem: Problem, params: ActiveKernelParameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """4K-AL with active comparisons (Ghoshdastidar et al. 2019, equation (2)), then average
    linkage.

    K_ij sums sgn(w_ik - w_i0j0) sgn(w_jk - w_i0j0) over reference pairs (i0, j0) in R, and over
    landmarks k in S other than i and j. Each item is a landmark with probability q = ln N / N; if
    none is, one is drawn. With M = N (N - 1) / 2, |R| = p M (M - 1) / (2 N |S|), between 1 and M.
    So the number of questions is what passive methods get on average. With ``variant="published"``
    all items are landmarks.

    This number is p M^2 / 2, whatever the landmarks, as in the paper's experiments (p from 0.01 to
    1). The linkages ask about M log2 M questions, so this method asks fewer only for p below 2 log2
    M / M. The O(N ln N) of the paper's Theorem 2 is a single reference pair: p of 4 ln N / N^3 or
    less.

    Metrics: ``queries``, ``budget``, ``landmarks``, ``references``. Each question is asked once,
    even if two landmarks share it. No pair is compared with itself. O(N |S| |R|) questions, as many
    bytes of memory, and N times that time for the product.
    """
    check_items(problem.n_items)
    build(problem.n_items, problem.triplets)
    return one_thread(_active_kernel(problem, params, asker_of(problem), rng))


def _active_kernel(
    problem: Problem, params: ActiveKernelParameters, asker: Asker, rng: np.random.Generator
) -> Generator[Snapshot | None, None, None]:
    """Draw landmarks and reference pairs, query the kernel, then agglomerate."""
    n = problem.n_items
    m = n * (n - 1) // 2
    kernel = np.zeros((n, n))
    budget = params.p * m * (m - 1) / 2
    landmarks = np.arange(n)
    references = 0
    if m:
        if params.variant == "paper":
            landmarks = np.flatnonzero(rng.random(n) < math.log(n) / n)
            if not landmarks.size:
                landmarks = rng.integers(n, size=1)
        references = int(min(m, max(1, budget // (n * landmarks.size))))
        reference = pairs_of(np.sort(rng.choice(m, references, replace=False)), n)
        low, high = np.triu_indices(n, 1)
        chosen = np.zeros(n, bool)
        chosen[landmarks] = True
        wanted = np.flatnonzero(chosen[low] | chosen[high])
        low, high = low[wanted], high[wanted]
        pairs = np.stack([low, high], axis=1).astype(np.int32)
        for pair in reference:
            sign = np.zeros((n, n), np.float32)
            other = np.flatnonzero((pairs != pair).any(axis=1))
            signs = asker(pairs[other], np.tile(pair, (len(other), 1)))
            sign[low[other], high[other]] = signs
            sign[high[other], low[other]] = signs
            column = sign[:, landmarks]  # row k = i is 0: a landmark is not compared with itself
            kernel += column @ column.T  # whole numbers below 2^24: exact in float32
            yield None
    np.fill_diagonal(kernel, 0.0)
    tree = agglomerate(kernel, triplets=problem.triplets, rng=rng)
    yield _last(
        tree, kernel, "kernel", asker, budget=budget, landmarks=len(landmarks),
        references=references,
    )  # fmt: skip


def _square(condensed: Any, n: int) -> Any:
    """Return the symmetric matrix of a condensed one."""
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = condensed
    return matrix + matrix.T


def _last(tree: Tree, matrix: Any, name: str, asker: Asker, **metrics: float) -> Snapshot:
    """Return the last snapshot, with the number of questions as a metric."""
    values = {"queries": float(asker.count)} | {key: float(each) for key, each in metrics.items()}
    return Snapshot(tree, 1, 1, metrics=values, matrices={name: matrix})


def _linkage_algorithm(name: str, method: Method, title: str, summary: str, rule: str) -> Algorithm:
    """Declare a linkage. ``rule`` says in which order clusters merge."""
    return Algorithm(
        name=name,
        title=title,
        paper=PAPER,
        run=partial(run_linkage, method),
        needs=NEEDS,
        triplets="hard",
        runs="process",
        heights=kernel_heights,
        summary=summary,
        how_it_works="The method asks which of two pairs of items is more alike. From the answers "
        f"it sorts all pairs, without any number. {rule} This repeats until one cluster is left.",
    )


SL = _linkage_algorithm(
    "sl",
    "single",
    "Single linkage by questions",
    "Asks which of two pairs is more alike, and merges the clusters with the most alike items. "
    "Best for answers that are nearly all right; with more errors, complete linkage by questions "
    "recovers more.",
    "The two clusters with the most alike pair across merge.",
)
CL = _linkage_algorithm(
    "cl",
    "complete",
    "Complete linkage by questions",
    "Asks which of two pairs is more alike, and merges where the least alike items are most so. "
    "Best for a person or oracle who can be asked, and seldom errs.",
    "For two clusters, the least alike pair across counts. The clusters whose least alike pair is "
    "the most alike merge.",
)
ACTIVE_KERNEL = Algorithm(
    name="4k-al-active",
    title="Quadruplets kernel by questions",
    paper=PAPER,
    run=run_active_kernel,
    needs=NEEDS,
    triplets="hard",
    runs="process",
    heights=kernel_heights,
    params=ActiveKernelParameters,
    summary="Asks how a few landmarks' pairs compare with reference pairs, as often as the budget "
    "p allows. Best for a small p, far fewer questions than the linkages need; for p = 0.1 far "
    "more.",
    how_it_works="The method draws some items as landmarks, and some pairs as references. It "
    "asks whether each item is more alike to a landmark than the two items of a reference pair "
    "are. Two items are similar if their answers agree often. Then the clusters with the greatest "
    "mean similarity merge, until one is left.",
)
