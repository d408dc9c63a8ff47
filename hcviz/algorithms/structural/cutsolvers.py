"""Cut solvers other than the spectral sweep: all cuts, and the two classic relaxations.

Each maps a supergraph (``weights`` (k, k), ``sizes`` (k,)) to a side, bool (k,). The relaxations
are stated in cvxpy, solved by solvers that come with it, and rounded by sweeps. The methods'
parameter ``oracle`` names one.

- ``exact``: enumeration of all 2^(k-1) - 1 cuts.
- ``lp`` (Leighton and Rao 1999): the metric d that minimises sum w_ij d_ij, where sum s_i s_j d_ij
= 1. Its
  value is a lower bound of the sparsest cut's ratio. A cut within O(log k) of it is among the
  sweeps
  along distances to random sets (Bourgain 1985; Linial, London and Rabinovich 1995). Distances to
  single nodes are added. Clarabel, an interior point method: 3 to 4 CPU s at k = 60.
- ``sdp`` (Goemans 1997, Linial): the same with d_ij = |x_i - x_j|^2. A cut within O(sqrt(log k))
  comes from random hyperplanes (Arora, Rao and Vazirani 2009). Two sets far apart along a direction
  are chosen, close pairs of them are dropped, and a sweep follows the distance to one of them. SCS
  is a first-order method, so the bound is accurate to about 1e-4. Violated triangle inequalities
  are added until none is violated; the optimum is that of all. At k = 60: 2.5 to 16 CPU s.

For balanced cuts the same metrics are swept for the lightest balanced cut. This is a
pseudo-approximation, as in theorem 2 of Chatziafratis et al. (2018).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.structural import cutkernels
from hcviz.algorithms.structural.recursion import Cut
from hcviz.core import spectralkernels
from hcviz.core.errors import HcvizError, TooLarge

Float = NDArray[np.float64]
Sizes = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: The most supernodes of each solver.
LIMITS = {"exact": 18, "lp": 60, "sdp": 60}
#: Random sets, or directions, for each doubling of k.
TRIES = 8
#: A triangle inequality counts as violated above this share of the mean distance.
SLACK = 1e-3


def check_size(name: str, count: int) -> None:
    """Raise :class:`TooLarge` if the solver cannot cut a graph of ``count`` supernodes."""
    if count > LIMITS[name]:
        raise TooLarge(
            f"The {name} cut takes up to {LIMITS[name]} supernodes, and a set has {count}.",
            "Choose oracle='spectral', or fewer items.",
        )


def cut_solver(name: str, balanced: bool, refined: bool, rng: np.random.Generator) -> Cut | None:
    """Return the solver of that name; None for the spectral cut, which the recursion has itself."""
    if name == "spectral":
        return None

    def cut(weights: Float, own: Float, sizes: Sizes) -> Any:
        check_size(name, len(sizes))
        if name == "exact":  # needs no refinement
            return cutkernels.best_cut(weights, sizes, balanced)
        labels, count = spectralkernels.component_labels(weights)
        if count > 1 and not balanced:  # a cut between components weighs nothing
            return spectralkernels.halve_components(labels, count, sizes)
        if name == "lp":
            lines = metric_lines(lp_metric(weights, sizes)[0], rng)
        else:
            lines = hyperplane_lines(sdp_points(weights, sizes)[0], rng)
        found = best_sweep(weights, sizes, lines, balanced)
        if refined:
            cutkernels.refine(weights, sizes, found, balanced, 1.0)
        return found

    return cut


def best_sweep(weights: Float, sizes: Sizes, lines: Iterator[Float], balanced: bool) -> Bools:
    """Return the best cut among the prefixes of all orders in ``lines``."""
    degree = spectralkernels.degrees(weights)
    total = int(sizes.sum())
    best: tuple[float, float, Bools] | None = None
    for values in lines:
        if balanced:
            side = cutkernels.balanced_sweep(weights, degree, values, sizes)
        else:
            side = spectralkernels.sweep(weights, degree, values, sizes)[0]
        inside = int(sizes[side].sum())
        ratio = float(weights[side][:, ~side].sum())
        ratio /= 1.0 if balanced else inside * (total - inside)
        key = (ratio, abs(2 * inside - total))
        if (
            best is None
            or key[0] < best[0] * (1 - 1e-9)
            or (key[0] <= best[0] * (1 + 1e-9) and key[1] < best[1])
        ):
            best = (*key, side)
    assert best is not None
    return best[2]


# ---------------------------------------------------------------------- relaxations


def lp_metric(weights: Float, sizes: Sizes) -> tuple[Float, float]:
    """Solve Leighton and Rao's relaxation: return the metric d (k, k), and its value.

    The value is a lower bound of every cut's w(S, S^c) / (|S| |S^c|).
    """
    cp: Any = import_module("cvxpy")

    k = len(sizes)
    first, second = np.triu_indices(k, 1)
    d = cp.Variable(len(first), nonneg=True)
    constraints: list[Any] = [(sizes[first] * sizes[second]).astype(float) @ d == 1]
    scale = max(float(weights.max()), 1e-300)
    goal = cp.Minimize((weights[first, second] / scale) @ d)
    number = np.zeros((k, k), int)
    number[first, second] = number[second, first] = np.arange(len(first))
    three = np.array(list(combinations(range(k), 3)), int).reshape(-1, 3)
    for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        x, y, z = three[:, a], three[:, b], three[:, c]
        constraints.append(d[number[x, y]] <= d[number[x, z]] + d[number[z, y]])
    problem = cp.Problem(goal, constraints)
    _solve(problem, cp.CLARABEL)
    square = np.zeros((k, k))
    square[first, second] = square[second, first] = np.maximum(d.value, 0.0)
    return square, float(problem.value) * scale


def sdp_points(weights: Float, sizes: Sizes) -> tuple[Float, float]:
    """Solve Goemans and Linial's relaxation: return ``(x (k, r), value)``, with d_ij = |x_i -
    x_j|^2."""
    cp: Any = import_module("cvxpy")

    k = len(sizes)
    first, second = np.triu_indices(k, 1)
    gram = cp.Variable((k, k), PSD=True)
    squares = cp.diag(gram)
    # In units in which the mean distance is 1, since the solver's tolerances are absolute.
    pairs = (sizes[first] * sizes[second]).astype(float)
    scale = max(float(weights.sum()), 1e-300)
    share = np.zeros((k, k))
    share[first, second] = pairs / pairs.sum()
    given = np.triu(weights, 1) / scale * (pairs.sum() / max(pairs.mean(), 1.0))
    apart = cp.reshape(squares, (k, 1), order="C") @ np.ones((1, k))
    distance = apart + apart.T - 2 * gram
    constraints: list[Any] = [
        cp.sum(cp.multiply(share, distance)) == 1,
        cp.sum(gram) == 0,  # centred: distances do not determine the origin
    ]
    goal = cp.Minimize(cp.sum(cp.multiply(given, distance)))
    while True:
        problem = cp.Problem(goal, constraints)
        _solve(problem, cp.SCS, eps=1e-5, max_iters=20_000)
        value = np.asarray(gram.value)
        values, vectors = np.linalg.eigh((value + value.T) / 2)
        points = vectors * np.sqrt(np.maximum(values, 0.0))
        square = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        rows = violated_triangles(square, SLACK)
        if not len(rows):
            unit = scale / (pairs.sum() / max(pairs.mean(), 1.0)) / pairs.sum()
            return points, float(problem.value) * unit
        a, b, c = rows.T
        constraints.append(distance[a, b] <= distance[a, c] + distance[c, b])


def violated_triangles(distance: Float, slack: float) -> NDArray[np.int64]:
    """Return rows (a, b, c), a < b, with d_ab > d_ac + d_cb: the worst c of each pair, int (r,
    3)."""
    k = len(distance)
    limit = slack * distance.sum() / (k * (k - 1))
    over = distance[:, :, None] - distance[:, None, :] - distance.T[None, :, :]
    worst = over.argmax(axis=2)
    first, second = np.triu_indices(k, 1)
    excess = over[first, second, worst[first, second]]
    chosen = np.flatnonzero(excess > limit)
    return np.stack([first, second, worst[first, second]], axis=1)[chosen]


def _solve(problem: Any, solver: str, **options: Any) -> None:
    """Solve a program of cvxpy; raise :class:`HcvizError` if it fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": the sweep evaluates the result
        problem.solve(solver=solver, **options)
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise HcvizError(
            f"The relaxation of a cut was not solved ({problem.status}).",
            "Choose oracle='spectral'.",
        )


# ---------------------------------------------------------------------- rounding


def metric_lines(distance: Float, rng: np.random.Generator) -> Iterator[Float]:
    """Yield distances to every single node, and to random sets of 2, 4, 8, ... nodes."""
    k = len(distance)
    yield from distance.copy()
    size = 2
    while size < k:
        for _ in range(TRIES):
            chosen = rng.choice(k, size, replace=False)
            yield distance[chosen].min(axis=0)
        size *= 2


def hyperplane_lines(points: Float, rng: np.random.Generator) -> Iterator[Float]:
    """Yield random directions, and along each the distances to one of two well separated sets."""
    k = len(points)
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    yield from distance.copy()
    for _ in range(TRIES * max(1, int(np.log2(k)))):
        along = points @ rng.normal(size=points.shape[1])
        yield along
        order = np.argsort(along, kind="stable")
        third = max(1, k // 3)
        left, right = list(order[:third]), list(order[-third:])
        near = distance.mean() / max(1.0, np.sqrt(np.log(k)))
        for i in order[:third]:  # drop a matching of pairs that are too close
            close = [j for j in right if distance[i, j] < near]
            if close and len(left) > 1 and len(right) > 1:
                left.remove(i)
                right.remove(close[0])
        yield distance[left].min(axis=0)
        yield -distance[right].min(axis=0)
