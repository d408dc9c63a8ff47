"""SDP-lambda and SDP-k of paper 004, by ADMM on a few eigenvectors a step, with a dual bound.

    SDP-k:       max <S, X>                    SDP-lambda:  max <S, X> - lambda trace X
    over X >= 0 entrywise, X positive semidefinite, X 1 = 1; for SDP-k also trace X = k.

The spectral constraints are met by X = 1 1^T / n + Q Y Q^T, Q a basis of the complement of 1: the
nearest such X keeps the eigenvalues' positive part (SDP-lambda), or projects them on the simplex of
sum k - 1 (SDP-k). The other block is max(., 0).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigsh

from hcviz.algorithms.comparison import kernels
from hcviz.core.errors import InvalidParameter

Float = NDArray[np.float64]

#: Steps between two looks at the gap.
LOOK = 5
#: Over-relaxation, and how many times smaller the primal residual is kept than the dual one.
RELAX = 1.6
BALANCE = 5.0, 80.0
#: The bound stands still if it falls by less than this share of the gap between two looks. Then it
#: is the value that is waited for, and where the rank is that of a partition, the balance moves.
LAG = 0.1
#: Eigenvectors looked at beyond the rank: so many, and one for each so many of the rank; where that
#: makes more than n / WIDE, all of them are.
SPARE, EACH, WIDE = 4, 4, 4
#: From so many items on they are followed, up to a rank of n / NARROW, and made anew after so many
#: steps at the latest: without that it can stall on directions that it never sees.
FOLLOW, NARROW, REFRESH = 150, 5, 10
#: From so many items on, up to n / THIN eigenvectors are made by Lanczos' method.
LANCZOS, THIN = 1000, 40
#: Gaps no smaller than this are reached in single precision, from FOLLOW items on: its rounding is
#: far below, and it halves the price of an eigendecomposition. Both ends of the gap are double.
SINGLE = 5e-4
#: How many of its last dual points bound a problem together.
LINES = 20


@dataclass
class Solution:
    """``x`` float64 (n, n) is feasible to rounding, ``value`` its objective, ``bound`` no less than
    the optimum; ``gap`` = (bound - value) / max(1, |value|, |bound|). ``both`` (the
    nonnegative block where it is positive, the scaled multipliers where it is negative) and ``rho``
    are where a neighbouring problem may start. ``line`` is the last dual point as ``(a, b)``: no
    feasible X of any trace t has <S, X> above a + b (t - 1)."""

    x: Float
    value: float
    bound: float
    steps: int
    converged: bool
    both: Float = field(repr=False)
    rho: float = 1.0
    line: tuple[float, float] = (np.inf, 0.0)

    @property
    def gap(self) -> float:
        return (self.bound - self.value) / max(1.0, abs(self.value), abs(self.bound))


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
    """Solve SDP-k (``k``) or SDP-lambda (``lam``); a generator that yields at every step and
    *returns* a :class:`Solution`.

    ``similarity`` float64 (n, n), symmetric. It stops once the gap between a feasible X and a dual
    bound, relative to the larger of the two and 1, is below ``tolerance``, or after ``max_steps``
    (then ``converged`` is False, and the gap says how far it can be from the optimum).

    *Primal.* The iterate meets all but X >= 0, and is mended (:func:`mended`); or, if its large
    entries form a partition, that partition's X is taken where it is better. *Dual.* For any
    symmetric N >= 0 entrywise, <S, X> is at most the maximum of <S + N, X> over the spectral
    constraints alone, which is 1^T (S + N) 1 / n + (t - 1) times the largest eigenvalue of S + N on
    the complement of 1 for X of trace t: a line in t. The bound is the least of these lines at k;
    for SDP-lambda, less lambda t, at the t from 1 to n where that is largest. One line that falls
    keeps t small, where the others then do well: ``lines`` may give some that are known of the same
    ``similarity`` (:attr:`Solution.line`). N is read off the multipliers.

    O(n^3) a step where the solution's rank is above n / 5, three times faster below, O(n^2 rank)
    below n / 6. From 150 items on steps are made in single precision unless ``tolerance`` is below
    5e-4; X, value and bound never are.
    """
    s = (similarity + similarity.T) / 2
    n = len(s)
    if (k is None) == (lam is None):
        raise InvalidParameter("Give either k or lam.")
    if k is not None and not 1 <= k <= n:
        raise InvalidParameter(f"k must be from 1 to {n}, the number of items, not {k}.")
    if lam is not None:
        s = s - lam * np.eye(n)
    centred = _centre(s)
    scale = float(np.sqrt((centred**2).sum() / n)) or 1.0  # the root mean square eigenvalue
    if k in (1, n) or n == 1:
        x = np.full((n, n), 1.0 / n) if k == 1 or n == 1 else np.eye(n)
        value = float((s * x).sum())
        return Solution(x, value, value, 0, True, x)
    shift = lam or 0.0  # a line of <S, X> falls by lambda t, and so does what it bounds
    given = [(a - shift, b - shift) for a, b in lines if np.isfinite(a)]
    own: deque[tuple[float, float]] = deque(maxlen=LINES)
    rho = (8.0 if k is not None else 5.0) * scale
    if warm is None:
        both = np.eye(n) * 0.5 + 0.5 / n
    else:  # the same multipliers, but not the rho to which the last problem had come
        both = np.where(warm.both < 0, warm.both * (warm.rho / rho), warm.both)
    single = tolerance >= SINGLE and n >= FOLLOW
    working: Float = s.astype(np.float32 if single else np.float64)
    both = both.astype(working.dtype)
    target = np.abs(both) + working / rho
    spectrum = _Spectrum(n)
    look = LOOK if n < LANCZOS else 2 * LOOK
    best: Any = None
    value, bound = -np.inf, np.inf
    balance, least = BALANCE[0], np.inf
    done = False
    step = 0
    for step in range(1, max_steps + 1):
        x = spectrum.project(target, k)
        primal, moved, sizes = kernels.admm_step(both, x, working, rho, RELAX, target)
        yield None
        if step % look and step != max_steps:
            continue
        split = np.maximum(both, 0.0)
        for candidate in _feasible(spectrum.point(), split, k, n):
            worth = float((s * candidate).sum())
            if worth > value:
                value, best = worth, candidate
        goal = tolerance * max(1.0, abs(value))
        multipliers = np.maximum(-rho * both, 0.0)
        total = s + (multipliers + multipliers.T) / 2
        before, least = least, _height([*given, *own, spectrum.optimist(total)], k, n)
        lags = before - least < LAG * (least - value)  # the bound waits for the value
        narrow = spectrum.rank <= 2 * (k or 0) and moved < 2.0 * tolerance * sizes[1]
        balance = min(2.0 * balance, BALANCE[1]) if lags and narrow else BALANCE[0]
        if step == max_steps or least - value <= goal:
            own.append(_line(total))
            bound = min(bound, _height([*given, *own], k, n))
        if np.isfinite(bound) and bound - value <= tolerance * max(abs(value), abs(bound), 1.0):
            done = True
            break
        # both residuals in one size, each relative to its own variable
        ratio = np.sqrt(balance * primal * sizes[1] / max(moved * sizes[0], 1e-300))
        by = float(np.clip(ratio, 0.5, 2.0))
        if not 1 / 1.5 < by < 1.5:
            rho *= by
            kernels.rescale_dual(both, by, working, rho, target)
    a, b = own[-1]
    return Solution(best, value, bound, step, done, both, rho, (a + shift, b + shift))


def solve(similarity: Float, **options: Any) -> Solution:
    """:func:`solve_steps` to its end."""
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
    """Another solver's X and multipliers of X >= 0 (divided by ``scale``; None: it has none) as a
    feasible :class:`Solution` with a bound."""
    n = len(similarity)
    s = similarity if lam is None else similarity - lam * np.eye(n)
    if x is None or not np.isfinite(x).all():
        x, converged = np.eye(n), False
    if multipliers is None or not np.isfinite(multipliers).all():
        multipliers = np.zeros((n, n))
    near = _Spectrum(n).project((x + x.T) / 2, k)
    best = max(_feasible(near, near, k, n), key=lambda each: float((s * each).sum()))
    multipliers = np.maximum(multipliers * scale, 0.0)
    bound = _height([_line(s + (multipliers + multipliers.T) / 2)], k, n)
    value = float((s * best).sum())
    return Solution(best, value, max(bound, value), 0, converged, near)


def partition_matrix(labels: NDArray[Any]) -> Float:
    """X of a partition: 1 / |C| inside each cluster C."""
    code = np.unique(labels, return_inverse=True)[1]
    size = np.bincount(code)
    return np.where(code[:, None] == code[None], 1.0 / size[code][:, None], 0.0)


def simplex_threshold(values: Float, total: float) -> float:
    """tau with sum of max(values - tau, 0) = total > 0; O(m log m)."""
    ordered = np.sort(values)[::-1]
    tau = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    return float(tau[np.flatnonzero(ordered > tau)[-1]])


def _centre(matrix: Float) -> Float:
    """P M P, P the projection on the complement of 1."""
    mean = matrix.mean(axis=0)
    out: Float = matrix - mean[None] - mean[:, None] + mean.mean()
    return out


class _Spectrum:
    """The projection on the spectral constraints, by few eigenvectors where few are needed.

    These are followed from step to step by a small Krylov space of the last ones. What that misses
    makes a step less exact and nothing else: any orthonormal vectors give an x that meets the
    spectral constraints, and the bound has an eigenvalue of its own.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.rank = n
        self.basis: Float | None = None
        self.half: Float = np.zeros((n, 0))
        self.since = 0  # steps since the last exact eigenvectors

    def project(self, matrix: Float, k: int | None) -> Float:
        n = self.n
        values, vectors = self._followed(matrix, k) or self._top(_centre(matrix), k)
        tau = 0.0 if k is None else simplex_threshold(values, k - 1.0)
        kept = values > tau
        self.rank = int(kept.sum())
        want = self.wanted()
        self.basis = vectors[:, -want:] if want <= n // NARROW and n >= FOLLOW else None
        self.half = vectors[:, kept] * np.sqrt(values[kept] - tau)
        return self.half @ self.half.T + self.half.dtype.type(1.0 / n)

    def wanted(self) -> int:
        return self.rank + self.rank // EACH + SPARE

    def point(self) -> Float:
        """The last projection in double precision: positive semidefinite to its rounding."""
        half = self.half.astype(np.float64)
        return half @ half.T + 1.0 / self.n

    def optimist(self, total: Float) -> tuple[float, float]:
        """No more than :func:`_line` of this S + N, at a small part of its price."""
        ones = float(total.sum()) / self.n
        if self.basis is None:
            return ones, -np.inf
        basis = self.basis.astype(np.float64)
        return ones, float(np.linalg.eigvalsh(basis.T @ (total @ basis))[-1])

    def _followed(self, matrix: Float, k: int | None) -> tuple[Float, Float] | None:
        """Ritz values and vectors of span(V, MV), V the last step's; None where they do not
        reach below the threshold."""
        if self.basis is None or self.since == REFRESH:
            self.since = 0
            return None
        self.since += 1
        image = matrix @ self.basis
        image -= image.mean(axis=0)
        image /= np.linalg.norm(image, axis=0)
        # 1 first: where V is invariant, what MV adds to it is rounding, and may lie along 1
        ones = np.ones((self.n, 1), matrix.dtype)
        q = qr(
            np.concatenate([ones, self.basis, image], axis=1), mode="economic",
            check_finite=False, overwrite_a=True,
        )[0][:, 1:]  # fmt: skip
        values, inner = np.linalg.eigh(q.T @ (matrix @ q))
        tau = 0.0 if k is None else simplex_threshold(values, k - 1.0)
        if values[-self.basis.shape[1]] > tau:
            return None
        return values, q @ inner

    def _top(self, c: Float, k: int | None) -> tuple[Float, Float]:
        """Eigenvalues of P M P on the complement of 1: all that lie above the threshold."""
        n = self.n
        want = self.wanted()
        # lift the eigenvalue of 1 out of the way, below all others
        floor = -2.0 * float(np.sqrt((c**2).sum())) - 1.0
        lifted = c + floor / n
        if want <= n // WIDE:
            few = _few(lifted, want)
            tau = 0.0 if k is None else simplex_threshold(few[0], k - 1.0)
            if few[0].min() <= tau:
                return few[0], few[1]
        values, vectors = eigh(lifted, check_finite=False, driver="evd")
        return values[1:], vectors[:, 1:]


def _few(matrix: Float, want: int) -> tuple[Float, Float]:
    """The ``want`` largest eigenvalues and their vectors, increasing."""
    n = len(matrix)
    if n >= LANCZOS and want <= n // THIN:
        start = np.cos(np.arange(n)).astype(matrix.dtype)  # no chance: the same each time
        with suppress(ArpackError):
            values, vectors = eigsh(matrix, want, which="LA", v0=start, tol=1e-4, maxiter=20)
            order = np.argsort(values)
            return values[order], vectors[:, order]
    values, vectors = eigh(matrix, check_finite=False, subset_by_index=[n - want, n - 1])
    return values, vectors


def _feasible(x: Float, split: Float, k: int | None, n: int) -> Iterator[Float]:
    """Points that meet every constraint, near ``x``."""
    yield mended(x, k)
    top = np.sqrt(np.outer(np.diagonal(split), np.diagonal(split)))
    count, labels = connected_components(csr_matrix(split > 0.4 * top), directed=False)
    if (k is None and count < n) or count == k:
        yield partition_matrix(labels)


def mended(x: Float, k: int | None) -> Float:
    """A feasible point near ``x``, which meets all constraints but X >= 0. O(n^2).

    An entry -t < 0 at (i, j) goes by adding t (e_i + e_j)(e_i + e_j)^T, which is positive
    semidefinite; the rows are then scaled to sums of 1 alike from both sides, which keeps that; and
    the trace, a little too large, is brought to k by mixing with 1 1^T / n, or else with I. What
    this costs goes with the sum of the negative entries of a row, not with the largest of them.
    """
    n = len(x)
    lacking = np.maximum(-x, 0.0)
    np.fill_diagonal(lacking, 0.0)
    out = np.maximum(x, 0.0)
    out[np.diag_indices(n)] += lacking.sum(axis=1)
    scale = np.ones(n)
    for _ in range(100):
        rows = scale * (out @ scale)
        if abs(rows - 1.0).max() < 1e-13:
            break
        scale /= np.sqrt(rows)
    out *= np.outer(scale, scale)
    if k is not None:
        trace = float(np.trace(out))
        if trace > k:
            mix = (trace - k) / (trace - 1.0)
            out = (1.0 - mix) * out + mix / n
        else:
            mix = (k - trace) / (n - trace)
            out *= 1.0 - mix
            out[np.diag_indices(n)] += mix
    return out


def _line(total: Float) -> tuple[float, float]:
    """``(a, b)``: of all that meets the spectral constraints with trace t, a + b (t - 1) is the
    most that <S + N, X> can be."""
    n = len(total)
    c = _centre(total)
    floor = -2.0 * float(np.sqrt((c**2).sum())) - 1.0
    lifted = c + floor / n
    top = float(eigh(lifted, eigvals_only=True, subset_by_index=[n - 1, n - 1])[0])
    return float(total.sum()) / n, top


def _height(lines: Sequence[tuple[float, float]], k: int | None, n: int) -> float:
    """The least of the lines at trace k; for None the highest that this is from 1 to n."""
    if k is not None:
        return min(a + b * (k - 1.0) for a, b in lines)
    a, b = np.array(lines).T
    if not np.isfinite(b).all():
        return -np.inf
    # between 1 and n it is highest at an end or where a rising line meets a falling one
    up, down = b > 0, b <= 0
    steep = b[up][:, None] - b[down]
    meet = (a[down] - a[up][:, None]) / steep
    at = np.concatenate([[0.0, n - 1.0], np.clip(meet, 0.0, n - 1.0).ravel()])
    return float((a[:, None] + b[:, None] * at).min(axis=0).max())


__all__ = [
    "Solution",
    "certified",
    "mended",
    "partition_matrix",
    "simplex_threshold",
    "solve",
    "solve_steps",
]
