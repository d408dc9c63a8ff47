"""Baselines: place the items in few dimensions, then average linkage with the cosine.

t-STE (van der Maaten and Weinberger 2012) and FORTE (Jain, Jamieson and Nowak 2016). Both also read
quadruplets, as statements that one distance is less than another.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
import param
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from hcviz.algorithms.base import Algorithm
from hcviz.algorithms.comparison.passive import REPEATS, answers_of, never_compared
from hcviz.algorithms.comparison.similarities import check_items
from hcviz.core.agglomerate import agglomerate
from hcviz.core.blas import one_thread
from hcviz.core.build import build
from hcviz.core.errors import InvalidData
from hcviz.core.heights import kernel_heights
from hcviz.core.problem import Problem
from hcviz.core.similarity import cosine
from hcviz.core.snapshot import Points, Snapshot

Float = NDArray[np.float64]
Rows = NDArray[np.int32]
Loss = Callable[[Float, Rows], tuple[float, Float]]
Steps = Generator[None, None, tuple[Float, float]]

#: The most comparisons with which several starts are tried.
MAX_TRIAL_ROWS = 100_000


class Parameters(param.Parameterized):
    """Parameters of both embeddings."""

    dimensions = param.Integer(2, bounds=(1, 100), doc="The number of dimensions of the embedding.")
    max_steps = param.Integer(500, bounds=(1, None), doc="The most steps of each descent.")
    starts = param.Integer(
        5, bounds=(1, 1000), doc="The number of random starts; the lowest result is taken."
    )
    repeats: Any = param.Selector(default="all", objects=["all", "once"], doc=REPEATS)


class StudentParameters(Parameters):
    """Parameters of t-STE."""

    freedom = param.Number(
        0.0,
        bounds=(0, None),
        doc="Degrees of freedom of the Student kernel. 0: dimensions - 1, at least 1, as in the "
        "paper.",
    )


def student_loss(x: Float, rows: Rows, freedom: float) -> tuple[float, Float]:
    """Return t-STE's mean negative log likelihood and its gradient: float, float64 (n, d).

    P(i, j closer than k, l) = q_ij / (q_ij + q_kl), where q = (1 + |x_i - x_j|^2 / a)^(-(1 + a) /
    2) and a is ``freedom``. ``rows``: int32 (m, 4). O(m d).
    """
    near, far, d_near, d_far = _distances(x, rows)
    power = (freedom + 1) / 2
    gap = power * (np.log1p(d_near / freedom) - np.log1p(d_far / freedom))  # -log ratio of the q
    wrong = expit(gap)
    pull = wrong * power / (freedom + d_near)
    push = -wrong * power / (freedom + d_far)
    gradient = _gradient(x, rows, near, far, 2 * pull, 2 * push)
    return float(np.logaddexp(0, gap).mean()), gradient / max(1, len(rows))


def logistic_loss(x: Float, rows: Rows) -> tuple[float, Float]:
    """Return FORTE's mean logistic loss, log(1 + exp(d_ij^2 - d_kl^2)), and its gradient in X."""
    near, far, d_near, d_far = _distances(x, rows)
    wrong = expit(d_near - d_far)
    gradient = _gradient(x, rows, near, far, 2 * wrong, -2 * wrong)
    return float(np.logaddexp(0, d_near - d_far).mean()), gradient / max(1, len(rows))


def _distances(x: Float, rows: Rows) -> tuple[Float, Float, Float, Float]:
    """Return the difference vectors of both pairs of each row, and their squared lengths."""
    near = x[rows[:, 0]] - x[rows[:, 1]]
    far = x[rows[:, 2]] - x[rows[:, 3]]
    return near, far, (near**2).sum(axis=1), (far**2).sum(axis=1)


def _gradient(x: Float, rows: Rows, near: Float, far: Float, pull: Float, push: Float) -> Float:
    """Sum the forces on the four items of each row: float64 (n, d)."""
    out = np.zeros_like(x)
    for axis in range(x.shape[1]):
        for column, values in (
            (0, pull * near[:, axis]),
            (1, -pull * near[:, axis]),
            (2, push * far[:, axis]),
            (3, -push * far[:, axis]),
        ):
            out[:, axis] += np.bincount(rows[:, column], values, len(x))
    return out


def embed_student(n: int, rows: Rows, params: StudentParameters, rng: np.random.Generator) -> Steps:
    """Return t-STE's points, float64 (n, d), and their loss: L-BFGS, the best of several starts.

    Starts are standard normal. The loss has local minima with quite different clusters, so the
    result depends on the starts.
    """
    d = int(params.dimensions)
    freedom = float(params.freedom) or max(1.0, d - 1.0)
    return _lowest(lambda x, some: student_loss(x, some, freedom), n, rows, params, rng)


def embed_forte(n: int, rows: Rows, params: Parameters, rng: np.random.Generator) -> Steps:
    """Return FORTE's points, float64 (n, d), and their loss: L-BFGS, the best of several starts.

    The paper descends on Gram matrices of rank d by projected gradients. Here G = X X^T with X (n,
    d), which is the same set and loss. So the optimum is the same if the paper's is global, and no
    n x n matrix is needed. Starts are standard normal.
    """
    return _lowest(logistic_loss, n, rows, params, rng)


def _lowest(loss: Loss, n: int, rows: Rows, params: Any, rng: np.random.Generator) -> Steps:
    """Return the lowest result of ``params.starts`` descents; yield between them.

    With more than :data:`MAX_TRIAL_ROWS` comparisons, the starts descend on a random part of them.
    Then the best start continues with all.
    """
    few = rows
    if params.starts > 1 and len(rows) > MAX_TRIAL_ROWS:
        few = rows[np.sort(rng.choice(len(rows), MAX_TRIAL_ROWS, replace=False))]
    best, least = np.zeros((n, int(params.dimensions))), np.inf
    for _ in range(int(params.starts)):
        x = descend(lambda y: loss(y, few), rng.normal(size=best.shape), params.max_steps)
        value = loss(x, few)[0]
        if value < least or not np.isfinite(least):
            best, least = x, value
        yield None
    if few is not rows:
        best = descend(lambda y: loss(y, rows), best, params.max_steps)
        least = loss(best, rows)[0]
    return best, least


def descend(loss: Any, start: Float, max_steps: int) -> Float:
    """Minimise ``loss`` from ``start`` by L-BFGS, and centre the result."""

    def flat(vector: Float) -> tuple[float, Float]:
        value, gradient = loss(vector.reshape(start.shape))
        return value, gradient.ravel()

    found = minimize(
        flat, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": max_steps}
    )
    x = found.x.reshape(start.shape)
    return np.asarray(x - x.mean(axis=0))


def run(
    which: Literal["t-ste", "forte"],
    problem: Problem,
    params: Any,
    rng: np.random.Generator,
    start: Any,
) -> Iterator[Snapshot | None]:
    """Embed, then average linkage of the cosine between centred points (Ghoshdastidar et al. 2019,
    section 4.2).

    Yields one snapshot. Metrics: ``agreement``, the share of answers that the distances of the
    points satisfy, and ``loss``, the mean loss. Items that were never compared stay at their random
    start.
    """
    check_items(problem.n_items)
    build(problem.n_items, problem.triplets)
    return one_thread(_run(which, problem, params, rng))


def _run(
    which: str, problem: Problem, params: Any, rng: np.random.Generator
) -> Generator[Snapshot | None, None, None]:
    """Embed the items, then agglomerate."""
    n = problem.n_items
    answers = answers_of(problem, params.repeats)
    rows = answers.as_quadruplets().rows
    embed = embed_student if which == "t-ste" else embed_forte
    x, loss = yield from embed(n, rows, params, rng)
    if not np.isfinite(x).all():
        raise InvalidData("The embedding diverged.", "Take fewer dimensions or other answers.")
    yield None
    similarity = cosine(x)
    similarity = (similarity + similarity.T) / 2
    tree = agglomerate(similarity, triplets=problem.triplets, rng=rng)
    _, _, near, far = _distances(x, rows)
    metrics = {
        "agreement": float(np.mean(near < far)) if len(rows) else 1.0,
        "loss": loss,
        "answers": float(len(answers)),
        "never compared": never_compared(problem),
    }
    views = {"points": Points(x)} if x.shape[1] == 2 else {}
    yield Snapshot(tree, 1, 1, metrics=metrics, matrices={"cosine": similarity}, views=views)


def _algorithm(name: Any, title: str, paper: str, params: Any, order: int, loss: str) -> Algorithm:
    """Declare an embedding. ``loss`` says how much a violated comparison counts."""
    return Algorithm(
        name=name,
        title=title,
        paper=paper,
        run=partial(run, name),
        needs=("comparisons",),
        triplets="hard",
        runs="process",
        heights=kernel_heights,
        params=params,
        views={"points": Points},
        compare_order=order,
        summary="Places the items so that the answers hold, then average linkage. Best for a map "
        "of the items; average linkage of comparisons gives better trees.",
        how_it_works="Each item begins at a random point of the plane. The points move so that "
        f"more alike items come nearer, as the comparisons say. {loss} The best of several random "
        "beginnings is taken. Average linkage of the points, seen from their centre, is the tree.",
    )


T_STE = _algorithm(
    "t-ste",
    "t-STE and average linkage",
    "van der Maaten and Weinberger 2012",
    StudentParameters,
    4,
    "Comparisons that are far from satisfied pull only weakly, so wrong answers do little harm.",
)
FORTE = _algorithm(
    "forte",
    "FORTE and average linkage",
    "Jain, Jamieson and Nowak 2016",
    Parameters,
    5,
    "The farther a comparison is from satisfied, the more strongly it pulls.",
)
