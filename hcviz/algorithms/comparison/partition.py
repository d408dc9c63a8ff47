"""Perrot et al. (2020): a similarity from comparisons, a semidefinite program, k-means on its rows,
SPUR."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np
import param
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment

from hcviz.algorithms.base import Algorithm, ClusterCurve
from hcviz.algorithms.comparison.passive import REPEATS, answers_of, never_compared
from hcviz.algorithms.comparison.sdp import MOST_LAMBDA, Solution, solve_steps
from hcviz.algorithms.comparison.similarities import adds, as_given, check_items, mulk3, mulk4_steps
from hcviz.algorithms.comparison.stated import MOST_ITEMS, solve_stated
from hcviz.core.agglomerate import agglomerate
from hcviz.core.build import build
from hcviz.core.cut import cut
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.heights import kernel_heights
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Matrix, Series, Snapshot
from hcviz.core.tree import Tree

#: A k whose theta, roughly, is further than this below the largest is not looked at again: between
#: gaps of 1e-2 and 1e-3, theta was seen to rise by up to 0.08.
CONTENDER = 0.15
PAPER = "Perrot, Esser and Ghoshdastidar 2020"
Float = NDArray[np.float64]


class Parameters(param.Parameterized):
    k: Any = param.Integer(
        default=0, bounds=(0, None), doc="How many clusters; 0 lets SPUR estimate it."
    )
    lam = param.Number(
        None,
        bounds=(0, MOST_LAMBDA),
        allow_None=True,
        label="Lambda",
        doc="Solve SDP-lambda with this lambda instead (k must be 0), in units of the similarity, "
        "which are answers where that is AddS: the larger, the fewer clusters; their number is the "
        "trace of X. None or 0: SDP-k or SPUR.",
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
        doc="admm: our own. scs, clarabel: the program as it is stated, by cvxpy, with k or lam, "
        "for 200 items at most. Where ours does not get there in max_steps, scs tries as well (for "
        "so many items, SPUR's programs too), in one call that only ends with its process.",
    )
    max_steps = param.Integer(
        2000, bounds=(1, None), doc="And at this many steps, however wide the gap then is."
    )


#: What the similarities are called where they are shown.
#: The view that shows the quality of each number of clusters.
_CURVE = "theta by k"
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
    """SDP-k, then k-means on the rows of X (Perrot et al. 2020); SPUR where ``k`` is 0; SDP-lambda,
    with round(trace X) clusters, where ``lam`` is given.

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
    the partition, numbered by first item. Where triplets contradict it, so that some cluster of it
    is no clade of the tree, they are the tree's clusters instead, its last k - 1 merges undone, and
    the metric ``moved`` counts the items that are in another cluster for that, under the matching
    of old and new clusters that moves the fewest.

    Metrics: ``k``, ``value``, ``bound``, ``gap`` and ``steps`` of the solution shown, ``converged``
    (1 where the gap is within the tolerance, whoever solved it), ``answers``, ``never compared``;
    under triplets ``moved``; for SPUR also ``theta``, ``k low`` and ``k high``, and the view "theta
    by k".
    """
    n = problem.n_items
    check_items(n)
    build(n, problem.triplets)
    answers = answers_of(problem, params.repeats)
    if params.k > n:
        raise InvalidParameter(f"k must be at most {n}, the number of items, not {params.k}.")
    if params.similarity == "mulk-3" and answers.is_quadruplets:
        raise InvalidData(
            "MulK-3 needs triplets, and these are quadruplets.", "Choose adds or mulk-4."
        )
    if params.lam and params.k:
        raise InvalidParameter(
            "SDP-lambda finds the number of clusters by itself: k and lam cannot both be given.",
            "Set k=0, or lam=None.",
        )
    spur = params.k == 0 and not params.lam
    if params.solver != "admm":
        if spur:
            raise InvalidParameter(
                f"The solver {params.solver} needs k or lam: SPUR is made for ours.",
                "Give k, or take the solver 'admm'.",
            )
        if n > MOST_ITEMS:
            raise InvalidParameter(
                f"The solver {params.solver} is for {MOST_ITEMS} items at most, not {n:,}.",
                "Take the solver 'admm'.",
            )
    if spur:
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
) -> Generator[Snapshot | None, None, None]:
    n = problem.n_items
    if params.similarity == "adds":
        similarity = adds(n, answers)
    elif params.similarity == "mulk-3":
        similarity = mulk3(n, answers)
    else:
        similarity = yield from mulk4_steps(n, as_given(answers, n))
    options: dict[str, Any] = {"tolerance": params.tolerance, "max_steps": params.max_steps}
    told = {"answers": float(len(answers)), "never compared": never_compared(problem)}
    views: dict[str, Any] = {}
    if params.k or params.lam or n <= 2:
        which: dict[str, Any] = {"lam": params.lam} if params.lam else {"k": params.k or n}
        if params.solver == "admm":
            solution = yield from _solved(similarity, **which, **options)
        else:
            solution = solve_stated(similarity, solver=params.solver, **which)
        k = which.get("k") or min(n, max(1, round(float(np.trace(solution.x)))))
    else:
        k, solution, ks, thetas = yield from _spur(similarity, len(answers), options)
        views[_CURVE] = Series(
            np.array(ks, float), np.array(thetas), "number of clusters", "share of the trace"
        )
        told |= {"theta": max(thetas), "k low": float(ks[0]), "k high": float(ks[-1])}
    yield None
    labels = rows_partition(solution.x, k, rng)
    tree = agglomerate(similarity, groups=labels, triplets=problem.triplets, rng=rng)
    if len(problem.triplets):
        held = labels_of(tree, labels)
        told["moved"] = float(n - most_alike(labels, held))
        labels = held
    told |= {
        "k": float(k),
        "value": solution.value,
        "bound": solution.bound,
        "gap": solution.gap,
        "steps": float(solution.steps),
        "converged": float(solution.gap <= params.tolerance),
    }
    views["X"] = Matrix(solution.x, items=True)
    matrices = {_NAMES[params.similarity]: similarity, "X": solution.x}
    yield Snapshot(tree, 1, 1, metrics=told, labels=labels, matrices=matrices, views=views)


def _solved(similarity: Float, **options: Any) -> Any:
    """:func:`solve_steps`; SCS's solution where ours does not get there and that is nearer."""
    solution = yield from solve_steps(similarity, **options)
    if not solution.converged and len(similarity) <= MOST_ITEMS:
        which = {name: options[name] for name in ("k", "lam") if name in options}
        other = solve_stated(similarity, **which)
        solution = min(solution, other, key=lambda each: each.gap)
    return solution


def _spur(similarity: Float, count: int, options: dict[str, Any]) -> Any:
    """``(k, solution, ks, thetas)``; a generator as :func:`solve_steps` is."""
    n = len(similarity)
    low_lambda, high_lambda = lambda_range(n, count)
    rough = options | {"tolerance": min(1.0, 10 * options["tolerance"])}
    few = yield from _solved(similarity, lam=high_lambda, **rough)
    low = min(n, max(2, round(float(np.trace(few.x)))))
    high = n
    thetas: dict[int, float] = {}
    kept: dict[int, Solution] = {}
    warm: Solution | None = None
    lines: list[tuple[float, float]] = []
    many: Solution | None = None
    k = low
    while k <= high:
        kept[k] = warm = yield from _solved(similarity, k=k, warm=warm, **rough)
        thetas[k] = theta(warm, k)
        bar = max(thetas.values()) - CONTENDER
        kept = {each: solved for each, solved in kept.items() if thetas[each] > bar}
        lines.append(warm.line)
        # one more unit of trace is worth less than lambda: the trace of X_lambda is about here
        if many is None and (warm.line[1] < low_lambda or k == n):
            many = yield from _solved(similarity, lam=low_lambda, warm=warm, lines=lines, **options)
            high = min(n, max(low, k, round(float(np.trace(many.x))) + 2))
        k += 1
    for k, solved in kept.items():
        kept[k] = yield from _solved(similarity, k=k, warm=solved, **options)
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
    return by_first_item(found)


def by_first_item(labels: NDArray[Any]) -> NDArray[np.int32]:
    """The same partition with its clusters numbered by their first item."""
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code].astype(np.int32)


def labels_of(tree: Tree, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """``labels`` if each cluster is a clade of ``tree``, else the tree cut into as many clusters.

    int32 (n,), clusters numbered by their first item. O(n k).
    """
    count = int(labels.max()) + 1
    if all(_is_clade(tree, np.flatnonzero(labels == name)) for name in range(count)):
        return labels
    return by_first_item(cut(tree, count))


def _is_clade(tree: Tree, items: NDArray[Any]) -> bool:
    node = int(items[0])
    for item in items[1:]:
        node = tree.lca(node, int(item))
    return int(tree.size[node]) == len(items)


def most_alike(first: NDArray[np.int32], second: NDArray[np.int32]) -> int:
    """How many items stay in their cluster under the best matching of two partitions."""
    table = np.zeros((int(first.max()) + 1, int(second.max()) + 1), int)
    np.add.at(table, (first, second), 1)
    return int(table[linear_sum_assignment(table, maximize=True)].sum())


def at_k(params: Mapping[str, Any], k: int) -> Mapping[str, Any]:
    """The same with SDP-k: neither SPUR nor lambda."""
    return {**params, "k": k, "lam": None}


ADDS_SDP = Algorithm(
    name="adds-sdp",
    title="Partition by a semidefinite program",
    paper=PAPER,
    run=run,
    needs=("comparisons",),
    triplets="hard",
    runs="process",
    heights=kernel_heights,
    params=Parameters,
    at_k=at_k,
    views={_CURVE: Series, "X": Matrix},
    curve=ClusterCurve(_CURVE, "k", depends=("similarity", "repeats"), quality="theta"),
    compare_order=3,
    summary="Finds clusters, and how many, from few and noisy answers; the tree refines them.",
)
