"""SDP-lambda and SDP-k of Perrot et al. (2020), by ADMM on a few eigenvectors a step, with a dual
bound.

    SDP-k:       max <S, X>                    SDP-lambda:  max <S, X> - lambda trace X
    over X >= 0 entrywise, X positive semidefinite, X 1 = 1; for SDP-k also trace X = k.

X >= 0 and X 1 = 1 imply that no eigenvalue of X is above 1. This is added to the spectral
constraints: it changes no optimum, and makes the bound tighter. The matrices that meet these are X
= 1 1^T / n + Q Y Q^T, where Q is a basis of the complement of 1, and Y is between 0 and I. For
SDP-lambda, the nearest such X clips the eigenvalues to [0, 1]. For SDP-k, it first subtracts one
number from all, so that their sum is k - 1. The other block of ADMM is max(., 0).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.sparse.linalg import ArpackError, eigsh

from hcviz.algorithms.comparison import kernels
from hcviz.algorithms.comparison.feasible import feasible, partition_matrix, repaired
from hcviz.core.blas import one_thread
from hcviz.core.errors import InvalidParameter

Float = NDArray[np.float64]

#: Steps between two computations of the gap.
CHECK_EVERY = 5
#: Over-relaxation.
RELAX = 1.6
#: The primal residual is kept this many times smaller than the dual one.
BALANCE = 5.0
#: Eigenvectors computed beyond the rank: SPARE, and one for each EACH of the rank. If these are
#: more
#: than n / WIDE, all are computed.
SPARE, EACH, WIDE = 4, 4, 4
#: From FOLLOW items on, up to a rank of n / NARROW, eigenvectors are updated from step to step.
#: Every
#: REFRESH steps, missed ones are searched from NEW random directions, by DEEP products.
FOLLOW, NARROW, REFRESH = 150, 5, 10
NEW, DEEP = 8, 3
#: From LANCZOS items on, up to n / THIN eigenvectors are computed by Lanczos' method.
LANCZOS, THIN = 1000, 40
#: Gaps no smaller than this are reached in single precision, from FOLLOW items on. Its rounding is
#: far smaller, and it halves the cost of an eigendecomposition. Value and bound are double.
SINGLE = 5e-4
#: The largest lambda: far above those that leave one cluster, and its square is finite.
MAX_LAMBDA = 1e100
#: How many of the last dual points bound a problem together.
LINES = 20


@dataclass
class Solution:
    """A solution of SDP-k or SDP-lambda, with a certificate.

    Parameters
    ----------
    x : float64 (n, n)
        Feasible to rounding.
    value, bound : float
        Its objective, and a number that is no less than the optimum.
    steps : int
        Steps of ADMM.
    converged : bool
        True if the gap is within the tolerance.
    both : float64 (n, n)
        For a warm start: the nonnegative block where positive, the scaled multipliers where
        negative.
    rho : float
        The penalty of ADMM.
    line : (float, float)
        The last dual point as ``(a, b)``: no feasible X of trace t has <S, X> above a + b (t - 1).
    floor : float
        The least denominator of the gap: 1, or the largest similarity if that is less. So the gap
        is relative for a kernel far below 1, too.
    """

    x: Float
    value: float
    bound: float
    steps: int
    converged: bool
    both: Float = field(repr=False)
    rho: float = 1.0
    line: tuple[float, float] = (np.inf, 0.0)
    floor: float = 1.0

    @property
    def gap(self) -> float:
        """(bound - value) / max(floor, abs(value), abs(bound))."""
        return (self.bound - self.value) / max(self.floor, abs(self.value), abs(self.bound))


def solve_steps(
    similarity: Float,
    *,
    k: int | None = None,
    lam: float | None = None,
    tolerance: float = 1e-3,
    max_steps: int = 5000,
    warm: Solution | None = None,
    lines: Sequence[tuple[float, float]] = (),
) -> Generator[None, None, Solution]:
    """Solve SDP-k (``k``) or SDP-lambda (``lam``) in a generator that *returns* a
    :class:`Solution`.

    It yields None at every step. It stops when the relative gap between a feasible X and a dual
    bound (:attr:`Solution.gap`) is below ``tolerance``, or after ``max_steps``. In that case
    ``converged`` is False.

    Parameters
    ----------
    similarity : float64 (n, n)
        Symmetric.
    k, lam : int or float
        Exactly one is given.
    tolerance : float
        The relative gap to reach.
    max_steps : int
        The most steps.
    warm : Solution, optional
        Where to start: the solution of a similar problem.
    lines : sequence of (a, b)
        Known dual points of the same ``similarity`` (:attr:`Solution.line`).

    Notes
    -----
    *Primal.* The iterate meets all constraints except X >= 0, and is repaired (:func:`repaired`).
    If its large entries form a partition, the X of that partition is taken if it is better.

    *Dual.* For any symmetric N >= 0 entrywise, <S, X> is at most the maximum of <S + N, X> over the
    spectral constraints alone. For X of trace t this maximum is 1^T (S + N) 1 / n plus the t - 1
    largest eigenvalues of S + N on the complement of 1 (Ky Fan). It is concave in t, so its
    tangents, lines in t, are above it. For SDP-k the bound is the least of these lines at k. For
    SDP-lambda it is the maximum over t from 1 to n of the least line minus lambda t, where the
    tangent of a dual point has slope 0. N is computed from the multipliers.

    O(n^3) for a step if the solution's rank is above n / 5; three times faster below; O(n^2 rank)
    below n / 6. From 150 items on, steps use single precision unless ``tolerance`` is below 5e-4.
    X, value and bound are always double. BLAS has one thread (:func:`hcviz.core.blas.one_thread`).
    """
    return one_thread(_solve_steps(similarity, k, lam, tolerance, max_steps, warm, lines))


def _solve_steps(
    similarity: Float,
    k: int | None,
    lam: float | None,
    tolerance: float,
    max_steps: int,
    warm: Solution | None,
    lines: Sequence[tuple[float, float]],
) -> Generator[None, None, Solution]:
    """Run ADMM; see :func:`solve_steps`."""
    s = (similarity + similarity.T) / 2
    n, floor = len(s), _floor(s)
    if (k is None) == (lam is None):
        raise InvalidParameter("Give either k or lam.")
    if k is not None and not 1 <= k <= n:
        raise InvalidParameter(f"k must be from 1 to {n}, the number of items, not {k}.")
    if lam is not None:
        if not abs(lam) <= MAX_LAMBDA:
            raise InvalidParameter(f"lam must be {MAX_LAMBDA:g} at most, not {lam}.")
        s = s - lam * np.eye(n)
    centred = double_centred(s)
    scale = float(np.sqrt((centred**2).sum() / n)) or 1.0  # the root mean square eigenvalue
    if k in (1, n) or n == 1:
        x = np.full((n, n), 1.0 / n) if k == 1 or n == 1 else np.eye(n)
        value = float((s * x).sum())
        return Solution(x, value, value, 0, True, x, floor=floor)
    shift = lam or 0.0  # subtract lambda t from lines of <S, X>
    given = [(a - shift, b - shift) for a, b in lines if np.isfinite(a)]
    own: deque[tuple[float, float]] = deque(maxlen=LINES)
    rho = (8.0 if k is not None else 5.0) * scale
    if warm is None:
        both = np.eye(n) * 0.5 + 0.5 / n
    else:  # the same multipliers, but not the last rho of the other problem
        both = np.where(warm.both < 0, warm.both * (warm.rho / rho), warm.both)
    single = tolerance >= SINGLE and n >= FOLLOW
    working: Float = s.astype(np.float32 if single else np.float64)
    both = both.astype(working.dtype)
    target = np.abs(both) + working / rho
    spectrum = SpectralProjection(n)
    total = np.empty((n, n))
    check_every = CHECK_EVERY if n < LANCZOS else 2 * CHECK_EVERY
    best: Any = None
    value, bound = -np.inf, np.inf
    done = False
    step = 0
    for step in range(1, max_steps + 1):
        x = spectrum.project(target, k)
        primal, moved, sizes = kernels.admm_step(both, x, working, rho, RELAX, target)
        yield None
        if step % check_every and step != max_steps:
            continue
        for candidate in feasible(spectrum.point(), both, k):
            worth = float(np.vdot(s, candidate))
            if worth > value:
                value, best = worth, candidate
        goal = tolerance * max(floor, abs(value))
        kernels.plus_multipliers(s, both, rho, total)
        least = least_line([*given, *own, spectrum.optimistic_line(total, k)], k, n)
        if step == max_steps or least - value <= goal:
            own.append(dual_line((total + total.T) / 2, k))
            bound = min(bound, least_line([*given, *own], k, n))
        if np.isfinite(bound) and bound - value <= tolerance * max(abs(value), abs(bound), floor):
            done = True
            break
        if step % check_every == 0 and least - value <= goal:  # the optimistic bound was too low
            spectrum.trusted = False
        # Both residuals in one unit, each relative to its own variable.
        ratio = np.sqrt(BALANCE * primal * sizes[1] / max(moved * sizes[0], 1e-300))
        by = float(np.clip(ratio, 0.5, 2.0))
        if not 1 / 1.5 < by < 1.5:
            rho *= by
            kernels.rescale_dual(both, by, working, rho, target)
    a, b = own[-1]
    return Solution(best, value, bound, step, done, both, rho, (a + shift, b + shift), floor)


def solve(similarity: Float, **options: Any) -> Solution:
    """Return the solution of :func:`solve_steps`."""
    steps: Any = solve_steps(similarity, **options)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Solution = end.value
            return found


def certified(
    similarity: Float,
    x: Float | None,
    multipliers: Float | None,
    scale: float,
    *,
    k: int | None,
    lam: float | None,
    converged: bool,
) -> Solution:
    """Return a feasible :class:`Solution` with a bound from another solver's X and multipliers.

    ``multipliers`` are those of X >= 0, divided by ``scale``; None if the solver has none.
    """
    n = len(similarity)
    s = similarity if lam is None else similarity - lam * np.eye(n)
    if x is None or not np.isfinite(x).all():
        x, converged = np.eye(n), False
    if multipliers is None or not np.isfinite(multipliers).all():
        multipliers = np.zeros((n, n))
    near = SpectralProjection(n).project((x + x.T) / 2, k)
    best = max(feasible(near, near, k), key=lambda each: float((s * each).sum()))
    multipliers = np.maximum(multipliers * scale, 0.0)
    bound = least_line([dual_line(s + (multipliers + multipliers.T) / 2, k)], k, n)
    value = float((s * best).sum())
    bound = max(bound, value)
    return Solution(best, value, bound, 0, converged, near, floor=_floor(similarity))


def _floor(similarity: Float) -> float:
    """Return the least denominator of the gap."""
    return min(1.0, float(np.abs(similarity).max(initial=0.0))) or 1.0


def capped_threshold(values: Float, total: float) -> float:
    """Return tau with sum of clip(values - tau, 0, 1) = total, 0 < total <= their number; O(m log
    m)."""
    ordered = np.sort(values)[::-1].astype(np.float64)
    m = len(ordered)
    # The sum falls from m to 0 as tau rises. It bends at the values, and at each value minus 1.
    bends = np.sort(np.concatenate([ordered, ordered - 1.0]))
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    negated = -ordered
    whole = np.searchsorted(negated, -(bends + 1.0), side="right")  # values >= bend + 1
    some = np.searchsorted(negated, -bends, side="right")
    at = whole + (sums[some] - sums[whole]) - bends * (some - whole)
    last = int(np.searchsorted(-at, -total, side="right")) - 1  # the last bend with at >= total
    last = min(max(last, 0), 2 * m - 2)
    width = bends[last + 1] - bends[last]
    fall = at[last] - at[last + 1]
    return float(bends[last] + (width * (at[last] - total) / fall if fall > 0 else 0.0))


def double_centred(matrix: Float) -> Float:
    """Return P M P, where P is the projection on the complement of 1."""
    mean = matrix.mean(axis=0)
    out: Float = matrix - mean[None] - mean[:, None] + mean.mean()
    return out


class SpectralProjection:
    """The projection on the spectral constraints, by few eigenvectors if few are needed.

    The eigenvectors are updated at each step, in a small Krylov space of the last ones. Every
    :data:`REFRESH` steps this space is deeper, and has some random directions. All eigenvectors are
    computed instead once the bound was higher than expected (``trusted`` is False), since some were
    missed. A missed one only makes a step less exact. Any orthonormal vectors give an x that meets
    the spectral constraints, and the bound computes its own eigenvalues.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.rank = n
        self.basis: Float | None = None
        self.half: Float = np.zeros((n, 0))
        self.leading: Float = self.half
        self.random = np.random.default_rng(0)  # a fixed seed: the same result each time
        self.trusted = True
        self.since = 0  # steps since the last search for missed eigenvectors

    def project(self, matrix: Float, k: int | None) -> Float:
        """Return the nearest matrix that meets the spectral constraints."""
        n = self.n
        values, vectors = self._updated(matrix, k) or self._top(double_centred(matrix), k)
        tau = 0.0 if k is None else capped_threshold(values, k - 1.0)
        kept = values > tau
        self.rank = int(kept.sum())
        want = self.number()
        self.basis = vectors[:, -want:] if want <= n // NARROW and n >= FOLLOW else None
        # Enough for the bound, which sums k - 1 eigenvalues.
        self.leading = vectors[:, -max(want if self.basis is not None else 0, (k or 0) + 20) :]
        ones = np.full((n, 1), n**-0.5, matrix.dtype)
        part = vectors[:, kept] * np.sqrt(np.minimum(values[kept] - tau, 1.0))
        self.half = np.concatenate([ones, part], axis=1)
        return self.half @ self.half.T

    def number(self) -> int:
        """Return how many eigenvectors to compute."""
        return self.rank + self.rank // EACH + SPARE

    def point(self) -> Float:
        """Return the last projection in double precision, positive semidefinite to its rounding."""
        half = self.half.astype(np.float64)
        half[:, 0] = self.n**-0.5
        return half @ half.T

    def optimistic_line(self, total: Float, k: int | None) -> tuple[float, float]:
        """Return a line that is at most :func:`dual_line` of this S + N, at far less cost."""
        ones = float(total.sum()) / self.n
        basis = self.leading.astype(np.float64)
        return _tangent(ones, np.asarray(np.linalg.eigvalsh(basis.T @ (total @ basis)), float), k)

    def _updated(self, matrix: Float, k: int | None) -> tuple[Float, Float] | None:
        """Return Ritz values and vectors of span(V, MV), with V from the last step, or of a deeper
        space.

        None if they do not reach below the threshold.
        """
        due = self.since >= REFRESH
        if self.basis is None or (due and not self.trusted):
            self.since = 0
            return None
        self.since += 1
        depth, blocks = 1, [self.basis]
        if due:
            self.since = 0
            new = self.random.standard_normal((self.n, NEW)).astype(matrix.dtype)
            depth, blocks = DEEP, [np.concatenate([self.basis, new - new.mean(axis=0)], axis=1)]
        for _ in range(depth):
            image = matrix @ blocks[-1]
            image -= image.mean(axis=0)
            image /= np.linalg.norm(image, axis=0)
            blocks.append(image)
        # 1 comes first: if V is invariant, MV adds only rounding, which may be parallel to 1.
        ones = np.ones((self.n, 1), matrix.dtype)
        q = qr(
            np.concatenate([ones, *blocks], axis=1), mode="economic",
            check_finite=False, overwrite_a=True,
        )[0][:, 1:]  # fmt: skip
        values, inner = np.linalg.eigh(q.T @ (matrix @ q))
        tau = 0.0 if k is None else capped_threshold(values, k - 1.0)
        if values[-self.basis.shape[1]] > tau:
            return None
        return values, q @ inner

    def _top(self, c: Float, k: int | None) -> tuple[Float, Float]:
        """Return the eigenvalues of P M P on the complement of 1: all that are above the
        threshold."""
        n = self.n
        want = self.number()
        # Move the eigenvalue of 1 below all others.
        floor = -2.0 * float(np.sqrt((c**2).sum())) - 1.0
        lifted = c + floor / n
        if want <= n // WIDE:
            few = _few(lifted, want)
            tau = 0.0 if k is None else capped_threshold(few[0], k - 1.0)
            if few[0].min() <= tau:
                return few[0], few[1]
        values, vectors = eigh(lifted, check_finite=False, driver="evd")
        return values[1:], vectors[:, 1:]


def _few(matrix: Float, want: int) -> tuple[Float, Float]:
    """Return the ``want`` largest eigenvalues and their vectors, increasing."""
    n = len(matrix)
    if n >= LANCZOS and want <= n // THIN:
        start = np.cos(np.arange(n)).astype(matrix.dtype)  # fixed: the same result each time
        with suppress(ArpackError):
            values, vectors = eigsh(matrix, want, which="LA", v0=start, tol=1e-4, maxiter=20)
            order = np.argsort(values)
            return values[order], vectors[:, order]
    values, vectors = eigh(matrix, check_finite=False, subset_by_index=[n - want, n - 1])
    return values, vectors


def dual_line(total: Float, k: int | None) -> tuple[float, float]:
    """Return the line ``(a, b)`` of a dual point: <S + N, X> is at most a + b (t - 1).

    This holds for all X of trace t that meet the spectral constraints. At t = k the line is the
    maximum of <S + N, X>; for k None it bounds all t.
    """
    n = len(total)
    c = double_centred(total)
    floor = -2.0 * float(np.sqrt((c**2).sum())) - 1.0
    lifted = c + floor / n
    first = 1 if k is None else n - k
    values = eigh(lifted, eigvals_only=True, subset_by_index=[first, n - 1])
    return _tangent(float(total.sum()) / n, values, k)


def _tangent(ones: float, values: Float, k: int | None) -> tuple[float, float]:
    """Return the line of these eigenvalues, increasing: the tangent at k, or the one with slope 0.

    The sum of the t - 1 largest eigenvalues is at most b (t - 1) plus what all of them exceed b by.
    """
    b = 0.0 if k is None else float(values[max(0, len(values) - k)])
    return ones + float(np.maximum(values - b, 0.0).sum()), b


def least_line(lines: Sequence[tuple[float, float]], k: int | None, n: int) -> float:
    """Return the least of the lines at trace k; for None, its maximum over traces from 1 to n."""
    if k is not None:
        return min(a + b * (k - 1.0) for a, b in lines)
    a, b = np.array(lines).T
    if not np.isfinite(b).all():
        return -np.inf
    # Between 1 and n the maximum is at an end, or where a rising line meets a falling one.
    up, down = b > 0, b <= 0
    steep = b[up][:, None] - b[down]
    meet = (a[down] - a[up][:, None]) / steep
    at = np.concatenate([[0.0, n - 1.0], np.clip(meet, 0.0, n - 1.0).ravel()])
    return float((a[:, None] + b[:, None] * at).min(axis=0).max())


__all__ = [
    "MAX_LAMBDA",
    "Solution",
    "capped_threshold",
    "certified",
    "partition_matrix",
    "repaired",
    "solve",
    "solve_steps",
]
