"""Partitions by a semidefinite program (Perrot et al. 2020).

A similarity from comparisons, a semidefinite program, k-means on the rows of its solution; SPUR
(Algorithm 1 of the paper) chooses the number of clusters.
"""

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
from hcviz.algorithms.comparison.sdp import MAX_LAMBDA, Solution, solve_steps
from hcviz.algorithms.comparison.similarities import adds, as_given, check_items, mulk3, mulk4_steps
from hcviz.algorithms.comparison.stated import MAX_CVXPY_ITEMS, solve_stated
from hcviz.core.agglomerate import agglomerate
from hcviz.core.build import build
from hcviz.core.cut import cut
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.heights import kernel_heights
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Matrix, Series, Snapshot
from hcviz.core.tree import Tree

#: A k is solved precisely if its theta is roughly within this of the largest. Between gaps of 1e-2
#: and 1e-3, theta has risen by up to 0.08.
THETA_MARGIN = 0.15
PAPER = "Perrot, Esser and Ghoshdastidar 2020"
Float = NDArray[np.float64]


class Parameters(param.Parameterized):
    """Parameters of the partition."""

    k: Any = param.Integer(
        default=0,
        bounds=(0, None),
        label="Clusters k",
        doc="The number of clusters; 0: SPUR estimates it.",
    )
    lam = param.Number(
        None,
        bounds=(0, MAX_LAMBDA),
        allow_None=True,
        label="Lambda",
        doc="Solve SDP-lambda with this lambda instead (k must be 0). It is in units of the "
        "similarity, which are answers for AddS. A larger lambda gives fewer clusters; their "
        "number is the trace of X. None or 0: SDP-k or SPUR.",
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
        doc="Stop the solver at this relative gap between the solution and its upper bound.",
    )
    solver: Any = param.Selector(
        default="admm",
        objects=["admm", "scs", "clarabel"],
        doc="admm: the solver of hcviz. scs, clarabel: cvxpy's solvers, with k or lam, for 200 "
        "items at most. If admm does not reach the tolerance in max_steps, scs tries as well, "
        "also for SPUR, with up to 200 items. A call of these ends only with its process.",
    )
    max_steps = param.Integer(
        2000, bounds=(1, None), doc="Stop after this many steps, however wide the gap is."
    )


#: The view that shows the quality of each number of clusters.
_CURVE = "theta by k"
#: The names of the similarities' matrices.
_NAMES = {"adds": "AddS", "mulk-3": "MulK-3", "mulk-4": "MulK-4"}


def lambda_range(n: int, answers: int) -> tuple[float, float]:
    """Return SPUR's (lambda_min, lambda_max) = (sqrt(c ln n / n), c / n) for c answers."""
    return math.sqrt(answers * math.log(n) / n), answers / n


def theta(solution: Solution, k: int) -> float:
    """Return the share of X's trace in its k largest eigenvalues: 1 if X is a partition into k."""
    n = len(solution.x)
    values = eigh(solution.x, eigvals_only=True, subset_by_index=[max(n - k, 0), n - 1])
    return float(values.sum() / np.trace(solution.x))


def run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """SDP-k, then k-means on the rows of X (Perrot et al. 2020).

    If ``k`` is 0, SPUR chooses it. If ``lam`` is given, SDP-lambda gives round(trace X) clusters.

    Comparison-based SPUR (Algorithm 1): let c be the number of answers. SDP-lambda at lambda_max =
    c / n and at lambda_min = sqrt(c ln n / n) gives the range of k. It is from max(2, round(trace
    X)) at the first to round(trace X) + 2 at the second, at most n. SDP-k is solved for each k,
    starting from the last solution. The chosen k has the largest :func:`theta`, the first of
    equals. The range needs c > n ln n answers; with fewer, :class:`InvalidData` is raised.

    To save time, SDP-k is first solved to ten times the tolerance. Every k whose theta is within
    0.15 of the largest is then solved to the tolerance. SDP-lambda at lambda_min starts when one
    more unit of trace is worth less than lambda_min. It begins at that solution, with the bounds
    found so far. Deviation: the published code's SDP-lambda uses 2 lambda; this is the paper's.

    The tree is average linkage of the similarity. It merges within clusters first, then the
    clusters; ties and triplets are as in :func:`hcviz.core.agglomerate.agglomerate`. ``labels`` are
    the partition, numbered by first items. If triplets contradict it, some cluster is no clade of
    the tree. Then ``labels`` are the tree without its last k - 1 merges. The metric ``moved``
    counts the items that this moves, under the matching of clusters that moves the fewest.

    Metrics: ``k``, ``value``, ``bound``, ``gap`` and ``steps`` of the solution; ``converged`` (1 if
    the gap is within the tolerance), ``answers``, ``never compared``; under triplets ``moved``; for
    SPUR also ``theta``, ``k low`` and ``k high``, and the view "theta by k".
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
                f"The solver {params.solver} needs k or lam: SPUR runs with admm only.",
                "Give k, or take the solver 'admm'.",
            )
        if n > MAX_CVXPY_ITEMS:
            raise InvalidParameter(
                f"The solver {params.solver} is for {MAX_CVXPY_ITEMS} items at most, not {n:,}.",
                "Take the solver 'admm'.",
            )
    if spur:
        if params.similarity != "adds":
            raise InvalidParameter(
                "SPUR's range of lambda is defined for AddS: a multiplicative kernel needs k.",
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
    """Compute the similarity, solve the program, and yield the tree and the partition."""
    n = problem.n_items
    if params.similarity == "adds":
        similarity = adds(n, answers)
    elif params.similarity == "mulk-3":
        similarity = mulk3(n, answers)
    else:
        similarity = yield from mulk4_steps(n, as_given(answers, n))
    options: dict[str, Any] = {"tolerance": params.tolerance, "max_steps": params.max_steps}
    metrics = {"answers": float(len(answers)), "never compared": never_compared(problem)}
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
        metrics |= {"theta": max(thetas), "k low": float(ks[0]), "k high": float(ks[-1])}
    yield None
    labels = rows_partition(solution.x, k, rng)
    tree = agglomerate(similarity, groups=labels, triplets=problem.triplets, rng=rng)
    if len(problem.triplets):
        held = labels_of(tree, labels)
        metrics["moved"] = float(n - most_alike(labels, held))
        labels = held
    metrics |= {
        "k": float(k),
        "value": solution.value,
        "bound": solution.bound,
        "gap": solution.gap,
        "steps": float(solution.steps),
        "converged": float(solution.gap <= params.tolerance),
    }
    views["X"] = Matrix(solution.x, items=True)
    matrices = {_NAMES[params.similarity]: similarity, "X": solution.x}
    yield Snapshot(tree, 1, 1, metrics=metrics, labels=labels, matrices=matrices, views=views)


def _solved(similarity: Float, **options: Any) -> Any:
    """Solve by ADMM; if it does not converge, return the better of its solution and that of SCS."""
    solution = yield from solve_steps(similarity, **options)
    if not solution.converged and len(similarity) <= MAX_CVXPY_ITEMS:
        which = {name: options[name] for name in ("k", "lam") if name in options}
        other = solve_stated(similarity, **which)
        solution = min(solution, other, key=lambda each: each.gap)
    return solution


def _spur(similarity: Float, count: int, options: dict[str, Any]) -> Any:
    """Run SPUR, Algorithm 1: return ``(k, solution, ks, thetas)``.

    A generator, as :func:`solve_steps` is. :func:`run` explains the first, rough solutions.
    """
    n = len(similarity)
    # The range of lambda, and from it the smallest k.
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
    # SDP-k for each k of the range, and its theta.
    while k <= high:
        kept[k] = warm = yield from _solved(similarity, k=k, warm=warm, **rough)
        thetas[k] = theta(warm, k)
        bar = max(thetas.values()) - THETA_MARGIN
        kept = {each: solved for each, solved in kept.items() if thetas[each] > bar}
        lines.append(warm.line)
        # The largest k. One more unit of trace is worth less than lambda: the trace is about here.
        if many is None and (warm.line[1] < low_lambda or k == n):
            many = yield from _solved(similarity, lam=low_lambda, warm=warm, lines=lines, **options)
            high = min(n, max(low, k, round(float(np.trace(many.x))) + 2))
        k += 1
    # The k of the largest theta, among solutions to the full tolerance.
    for k, solved in kept.items():
        kept[k] = yield from _solved(similarity, k=k, warm=solved, **options)
        thetas[k] = theta(kept[k], k)
    bar = max(thetas[k] for k in kept) - 1e-9
    best = next(k for k in kept if thetas[k] > bar)
    return best, kept[best], list(thetas), list(thetas.values())


def rows_partition(x: Float, k: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Run k-means on the rows of X: int32 (n,), clusters numbered by their first items."""
    from sklearn.cluster import KMeans  # its import takes half a second

    rounded = np.round(x, 9)
    different = len(np.unique(rounded, axis=0))
    seed = int(rng.integers(2**31))
    found = KMeans(min(k, different), n_init=10, random_state=seed).fit_predict(rounded)
    return by_first_item(found)


def by_first_item(labels: NDArray[Any]) -> NDArray[np.int32]:
    """Return the same partition with its clusters numbered by their first items."""
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code].astype(np.int32)


def labels_of(tree: Tree, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return ``labels`` if each cluster is a clade of ``tree``, else a cut into as many clusters.

    int32 (n,), clusters numbered by their first items. O(n k).
    """
    count = int(labels.max()) + 1
    if all(_is_clade(tree, np.flatnonzero(labels == name)) for name in range(count)):
        return labels
    return by_first_item(cut(tree, count))


def _is_clade(tree: Tree, items: NDArray[Any]) -> bool:
    """Return True if the items are a clade."""
    node = int(items[0])
    for item in items[1:]:
        node = tree.lca(node, int(item))
    return int(tree.size[node]) == len(items)


def most_alike(first: NDArray[np.int32], second: NDArray[np.int32]) -> int:
    """Return how many items stay in their cluster under the best matching of two partitions."""
    table = np.zeros((int(first.max()) + 1, int(second.max()) + 1), int)
    np.add.at(table, (first, second), 1)
    return int(table[linear_sum_assignment(table, maximize=True)].sum())


def at_k(params: Mapping[str, Any], k: int) -> Mapping[str, Any]:
    """Return the parameters of SDP-k with k clusters, without SPUR and lambda."""
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
    summary="Finds clusters, and their number, from few and noisy answers; the tree refines them. "
    "Best for flat clusters whose number is unknown.",
    how_it_works="The method adds up the comparisons: two items gain similarity when they are "
    "judged more alike. A semidefinite program finds the clusters with the greatest similarity "
    "within. It is solved for several numbers of clusters, and the clearest solution is taken. "
    "Average linkage then makes a tree inside the clusters and above them.",
)
