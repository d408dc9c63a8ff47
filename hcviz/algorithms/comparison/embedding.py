"""Baselines: place the items in few dimensions, then average linkage with cosine.

t-STE (van der Maaten and Weinberger 2012) and FORTE (Jain, Jamieson and Nowak 2016). Both read
quadruplets too, as statements that one distance is less than another.
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

#: Answers that are enough to tell starts apart.
TRIED = 100_000


class Parameters(param.Parameterized):
    dimensions = param.Integer(2, bounds=(1, 100), doc="In how many dimensions items are placed.")
    max_steps = param.Integer(500, bounds=(1, None), doc="At most so many steps of each descent.")
    starts = param.Integer(
        5, bounds=(1, 1000), doc="From so many random starts; the one that ends lowest is taken."
    )
    repeats: Any = param.Selector(default="all", objects=["all", "once"], doc=REPEATS)


class StudentParameters(Parameters):
    freedom = param.Number(
        0.0,
        bounds=(0, None),
        doc="Degrees of freedom of the Student kernel; 0 takes dimensions - 1, at least 1, as its "
        "authors do.",
    )


def student_loss(x: Float, rows: Rows, freedom: float) -> tuple[float, Float]:
    """t-STE's mean negative log likelihood and its gradient: float, float64 (n, d).

    P(i, j closer than k, l) = q_ij / (q_ij + q_kl), q = (1 + |x_i - x_j|^2 / a)^(-(1 + a) / 2), a
    the degrees of ``freedom``; ``rows`` int32 (m, 4). O(m d).
    """
    near, far, d_near, d_far = _distances(x, rows)
    power = (freedom + 1) / 2
    gap = power * (np.log1p(d_near / freedom) - np.log1p(d_far / freedom))  # -log ratio of the q
    wrong = expit(gap)
    pull = wrong * power / (freedom + d_near)
    push = -wrong * power / (freedom + d_far)
    gradient = _carry(x, rows, near, far, 2 * pull, 2 * push)
    return float(np.logaddexp(0, gap).mean()), gradient / max(1, len(rows))


def logistic_loss(x: Float, rows: Rows) -> tuple[float, Float]:
    """FORTE's mean logistic loss, log(1 + exp(d_ij^2 - d_kl^2)), and its gradient in X."""
    near, far, d_near, d_far = _distances(x, rows)
    wrong = expit(d_near - d_far)
    gradient = _carry(x, rows, near, far, 2 * wrong, -2 * wrong)
    return float(np.logaddexp(0, d_near - d_far).mean()), gradient / max(1, len(rows))


def _distances(x: Float, rows: Rows) -> tuple[Float, Float, Float, Float]:
    near = x[rows[:, 0]] - x[rows[:, 1]]
    far = x[rows[:, 2]] - x[rows[:, 3]]
    return near, far, (near**2).sum(axis=1), (far**2).sum(axis=1)


def _carry(x: Float, rows: Rows, near: Float, far: Float, pull: Float, push: Float) -> Float:
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
    """t-STE's points, float64 (n, d), and their loss, by L-BFGS from the best of several starts.

    Starts are standard normal. The loss has local minima, whose clusters can be quite different
    ones: what is found depends on the starts.
    """
    d = int(params.dimensions)
    freedom = float(params.freedom) or max(1.0, d - 1.0)
    return _lowest(lambda x, some: student_loss(x, some, freedom), n, rows, params, rng)


def embed_forte(n: int, rows: Rows, params: Parameters, rng: np.random.Generator) -> Steps:
    """FORTE's points, float64 (n, d), and their loss.

    The paper descends on Gram matrices of rank d by projected gradients; here G = X X^T with X
    (n, d), the same set and loss, by L-BFGS from the best of several standard normal starts: the
    optimum is the same where the paper's is global, and no n x n matrix is made.
    """
    return _lowest(logistic_loss, n, rows, params, rng)


def _lowest(loss: Loss, n: int, rows: Rows, params: Any, rng: np.random.Generator) -> Steps:
    """The lowest end of ``params.starts`` descents; a generator that yields between them.

    Beyond :data:`TRIED` answers the starts descend on so many drawn of them, and the best goes on
    with all.
    """
    few = rows
    if params.starts > 1 and len(rows) > TRIED:
        few = rows[np.sort(rng.choice(len(rows), TRIED, replace=False))]
    best, least = np.zeros((n, int(params.dimensions))), np.inf
    for _ in range(int(params.starts)):
        x = _descend(lambda y: loss(y, few), rng.normal(size=best.shape), params.max_steps)
        value = loss(x, few)[0]
        if value < least or not np.isfinite(least):
            best, least = x, value
        yield None
    if few is not rows:
        best = _descend(lambda y: loss(y, rows), best, params.max_steps)
        least = loss(best, rows)[0]
    return best, least


def _descend(loss: Any, start: Float, max_steps: int) -> Float:
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

    Metrics ``agreement``, the share of answers that the points' distances tell alike, and ``loss``,
    the mean that was descended on. Items that were never compared stay where chance put them. One
    snapshot.
    """
    check_items(problem.n_items)
    build(problem.n_items, problem.triplets)
    return _run(which, problem, params, rng)


def _run(
    which: str, problem: Problem, params: Any, rng: np.random.Generator
) -> Iterator[Snapshot | None]:
    n = problem.n_items
    answers = answers_of(problem, params.repeats)
    rows = answers.as_quadruplets().rows
    embed = embed_student if which == "t-ste" else embed_forte
    x, loss = yield from embed(n, rows, params, rng)
    if not np.isfinite(x).all():
        raise InvalidData("The embedding ran away.", "Take fewer dimensions or other answers.")
    yield None
    similarity = cosine(x)
    similarity = (similarity + similarity.T) / 2
    tree = agglomerate(similarity, triplets=problem.triplets, rng=rng)
    _, _, near, far = _distances(x, rows)
    told = {
        "agreement": float(np.mean(near < far)) if len(rows) else 1.0,
        "loss": loss,
        "answers": float(len(answers)),
        "never compared": never_compared(problem),
    }
    views = {"points": Points(x)} if x.shape[1] == 2 else {}
    yield Snapshot(tree, 1, 1, metrics=told, matrices={"cosine": similarity}, views=views)


def _algorithm(name: Any, title: str, paper: str, params: Any, order: int) -> Algorithm:
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
        summary="A baseline: places the items so that answers come true, then average linkage.",
    )


T_STE = _algorithm(
    "t-ste", "t-STE and average linkage", "van der Maaten and Weinberger 2012", StudentParameters, 4
)
FORTE = _algorithm(
    "forte", "FORTE and average linkage", "Jain, Jamieson and Nowak 2016", Parameters, 5
)
