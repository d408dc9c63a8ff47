"""Paper 004: a similarity from comparisons, a semidefinite program, k-means on its rows, SPUR."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import param
from numpy.typing import NDArray
from scipy.linalg import eigh

from hcviz.algorithms.base import Algorithm
from hcviz.algorithms.comparison.passive import REPEATS, answers_of, never_compared
from hcviz.algorithms.comparison.sdp import Solution, solve_steps
from hcviz.algorithms.comparison.similarities import adds, mulk3, mulk4_steps
from hcviz.algorithms.comparison.stated import MOST_ITEMS, solve_stated
from hcviz.core.agglomerate import agglomerate
from hcviz.core.build import build
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Matrix, Series, Snapshot

#: A k whose theta, roughly, is further than this below the largest is not looked at again: between
#: gaps of 1e-2 and 1e-3, theta was seen to rise by up to 0.08.
CONTENDER = 0.15
PAPER = "Perrot, Esser and Ghoshdastidar 2020"
Float = NDArray[np.float64]


class Parameters(param.Parameterized):
    k: Any = param.Integer(
        default=0, bounds=(0, None), doc="How many clusters; 0 lets SPUR estimate it."
    )
    similarity: Any = param.Selector(
        default="adds",
        objects=["adds", "mulk-3", "mulk-4"],
        doc="AddS-3 of triplets and AddS-4 of quadruplets; or a multiplicative kernel, MulK-3 of "
        "triplets, MulK-4 of either (these need k).",
    )
    repeats: Any = param.Selector(default="all", objects=["all", "once"], doc=REPEATS)
    tolerance = param.Number(
        1e-3,
        bounds=(0, 1),
        inclusive_bounds=(False, True),
        doc="Stop the solver at this relative gap between what it has and what could be had.",
    )
    solver: Any = param.Selector(
        default="admm",
        objects=["admm", "scs", "clarabel"],
        doc="admm: our own. scs, clarabel: the program as it is stated, by cvxpy, with k and for "
        "200 items at most. Where ours does not get there in max_steps, scs tries as well.",
    )
    max_steps = param.Integer(
        2000, bounds=(1, None), doc="And at this many steps, however wide the gap then is."
    )


#: What the similarities are called where they are shown.
_NAMES = {"adds": "AddS", "mulk-3": "MulK-3", "mulk-4": "MulK-4"}


def lambda_range(n: int, answers: int) -> tuple[float, float]:
    """SPUR's (lambda_min, lambda_max) = (sqrt(c ln n / n), c / n) for c answers."""
    return math.sqrt(answers * math.log(n) / n), answers / n


def theta(solution: Solution, k: int) -> float:
    """The share of X's trace in its k largest eigenvalues: 1 where X is a partition into k."""
    n = len(solution.x)
    values = eigh(solution.x, eigvals_only=True, subset_by_index=[max(n - k, 0), n - 1])
    return float(values.sum() / np.trace(solution.x))


def run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """SDP-k, then k-means on the rows of X (paper 004); SPUR where ``k`` is 0.

    Comparison-based SPUR (Algorithm 1 of the paper): SDP-lambda at lambda_max = c / n and
    lambda_min = sqrt(c ln n / n), c the number of answers, gives the range of k from
    max(2, round(trace X)) at the one to round(trace X) + 2 at the other, at most n; SDP-k is solved
    for each, from where the last one ended. Once one more unit of trace is worth less than
    lambda_min there, that program starts from it as well, with the bounds found on the way: it is
    solved to the tolerance, all others to ten times that at first; then every k whose :func:`theta`
    is within 0.15 of the largest to the tolerance itself, and k is the one with the largest, the
    first of equals. The range needs c > n ln n answers: with fewer, lambda_min >= lambda_max, and
    :class:`InvalidData` says so. Deviation: the published code's SDP-lambda solves with 2 lambda;
    this is the paper's.

    The tree: average linkage of the similarity, which merges within the clusters first and them
    after that, ties and triplets as in :func:`hcviz.core.agglomerate.agglomerate`. ``labels`` are
    the partition, numbered by first item. Metrics: ``k``, ``value``, ``bound``, ``gap`` and
    ``steps`` of the solution shown, ``converged`` (1 or 0), ``answers``, ``never compared``; for
    SPUR also ``theta``, ``k low`` and ``k high``, and the view "theta by k".
    """
    n = problem.n_items
    build(n, problem.triplets)
    answers = answers_of(problem, params.repeats)
    if params.k > n:
        raise InvalidParameter(f"k must be at most {n}, the number of items, not {params.k}.")
    if params.similarity == "mulk-3" and answers.is_quadruplets:
        raise InvalidData(
            "MulK-3 needs triplets, and these are quadruplets.", "Choose adds or mulk-4."
        )
    if params.solver != "admm":
        if params.k == 0:
            raise InvalidParameter(
                f"The solver {params.solver} needs k: SPUR is made for ours.",
                "Give k, or take the solver 'admm'.",
            )
        if n > MOST_ITEMS:
            raise InvalidParameter(
                f"The solver {params.solver} is for {MOST_ITEMS} items at most, not {n:,}.",
                "Take the solver 'admm'.",
            )
    if params.k == 0:
        if params.similarity != "adds":
            raise InvalidParameter(
                "SPUR's range of lambda is made for AddS: a multiplicative kernel needs k.",
                "Give k, or choose similarity='adds'.",
            )
        if n > 2 and len(answers) <= n * math.log(n):
            raise InvalidData(
                f"SPUR needs more than n ln n = {n * math.log(n):.0f} answers to have a range of "
                f"lambda; there are {len(answers)}.",
                "Give the number of clusters, k, or more answers.",
            )
    return _run(problem, params, rng, answers)


def _run(
    problem: Problem, params: Parameters, rng: np.random.Generator, answers: Any
) -> Iterator[Snapshot | None]:
    n = problem.n_items
    if params.similarity == "adds":
        similarity = adds(n, answers)
    elif params.similarity == "mulk-3":
        similarity = mulk3(n, answers)
    else:
        similarity = yield from mulk4_steps(n, answers)
    options: dict[str, Any] = {"tolerance": params.tolerance, "max_steps": params.max_steps}
    told = {"answers": float(len(answers)), "never compared": never_compared(problem)}
    views: dict[str, Any] = {}
    if params.k or n <= 2:
        k = params.k or n
        if params.solver == "admm":
            solution = yield from solve_steps(similarity, k=k, **options)
            if not solution.converged and n <= MOST_ITEMS:
                other = solve_stated(similarity, k=k)
                solution = min(solution, other, key=lambda each: each.gap)
        else:
            solution = solve_stated(similarity, k=k, solver=params.solver)
    else:
        k, solution, ks, thetas = yield from _spur(similarity, len(answers), options)
        views["theta by k"] = Series(
            np.array(ks, float), np.array(thetas), "number of clusters", "share of the trace"
        )
        told |= {"theta": max(thetas), "k low": float(ks[0]), "k high": float(ks[-1])}
    yield None
    labels = rows_partition(solution.x, k, rng)
    tree = agglomerate(similarity, groups=labels, triplets=problem.triplets, rng=rng)
    told |= {
        "k": float(k),
        "value": solution.value,
        "bound": solution.bound,
        "gap": solution.gap,
        "steps": float(solution.steps),
        "converged": float(solution.converged),
    }
    views["X"] = Matrix(solution.x, items=True)
    matrices = {_NAMES[params.similarity]: similarity, "X": solution.x}
    yield Snapshot(tree, 1, 1, metrics=told, labels=labels, matrices=matrices, views=views)


def _spur(similarity: Float, count: int, options: dict[str, Any]) -> Any:
    """``(k, solution, ks, thetas)``; a generator as :func:`solve_steps` is."""
    n = len(similarity)
    low_lambda, high_lambda = lambda_range(n, count)
    rough = options | {"tolerance": min(1.0, 10 * options["tolerance"])}
    few = yield from solve_steps(similarity, lam=high_lambda, **rough)
    low = min(n, max(2, round(float(np.trace(few.x)))))
    high = n
    thetas: dict[int, float] = {}
    kept: dict[int, Solution] = {}
    warm: Solution | None = None
    lines: list[tuple[float, float]] = []
    many: Solution | None = None
    k = low
    while k <= high:
        kept[k] = warm = yield from solve_steps(similarity, k=k, warm=warm, **rough)
        thetas[k] = theta(warm, k)
        bar = max(thetas.values()) - CONTENDER
        kept = {each: solved for each, solved in kept.items() if thetas[each] > bar}
        lines.append(warm.line)
        # one more unit of trace is worth less than lambda: the trace of X_lambda is about here
        if many is None and (warm.line[1] < low_lambda or k == n):
            many = yield from solve_steps(
                similarity, lam=low_lambda, warm=warm, lines=lines, **options
            )
            high = min(n, max(low, k, round(float(np.trace(many.x))) + 2))
        k += 1
    for k, solved in kept.items():
        kept[k] = yield from solve_steps(similarity, k=k, warm=solved, **options)
        thetas[k] = theta(kept[k], k)
    bar = max(thetas[k] for k in kept) - 1e-9
    best = next(k for k in kept if thetas[k] > bar)
    return best, kept[best], list(thetas), list(thetas.values())


def rows_partition(x: Float, k: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """k-means on the rows of X, int32 (n,), clusters numbered by their first item."""
    from sklearn.cluster import KMeans  # half a second to import: only when it runs

    rounded = np.round(x, 9)
    different = len(np.unique(rounded, axis=0))
    seed = int(rng.integers(2**31))
    found = KMeans(min(k, different), n_init=10, random_state=seed).fit_predict(rounded)
    first = np.unique(found, return_index=True)[1]
    name = np.argsort(np.argsort(first))
    return name[np.unique(found, return_inverse=True)[1]].astype(np.int32)


ADDS_SDP = Algorithm(
    name="adds-sdp",
    title="Partition by a semidefinite program",
    paper=PAPER,
    run=run,
    needs=("comparisons",),
    triplets="hard",
    runs="process",
    params=Parameters,
    summary="Finds clusters, and how many, from few and noisy answers; the tree refines them.",
)
