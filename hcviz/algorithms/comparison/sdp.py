"""SDP-lambda and SDP-k of paper 004, by ADMM on one eigendecomposition a step, with a dual bound.

    SDP-k:       max <S, X>                    SDP-lambda:  max <S, X> - lambda trace X
    over X >= 0 entrywise, X positive semidefinite, X 1 = 1; for SDP-k also trace X = k.

The spectral constraints are met by X = 1 1^T / n + Q Y Q^T, Q a basis of the complement of 1: the
nearest such X keeps the eigenvalues' positive part (SDP-lambda), or projects them on the simplex of
sum k - 1 (SDP-k). The other block is max(., 0).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from hcviz.core.errors import InvalidParameter

Float = NDArray[np.float64]

#: Steps between two looks at the gap.
LOOK = 5


@dataclass
class Solution:
    """``x`` float64 (n, n) is feasible to rounding, ``value`` its objective, ``bound`` no less than
    the optimum; ``gap`` = (bound - value) / max(1, |value|, |bound|). ``split`` and ``dual`` are
    where a neighbouring problem may start."""

    x: Float
    value: float
    bound: float
    steps: int
    converged: bool
    split: Float = field(repr=False)
    dual: Float = field(repr=False)
    rho: float = 1.0

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
) -> Generator[None, None, Solution]:
    """Solve SDP-k (``k``) or SDP-lambda (``lam``); a generator that yields at every step and
    *returns* a :class:`Solution`.

    ``similarity`` float64 (n, n), symmetric. It stops once the gap between a feasible X and a dual
    bound, relative to the larger of the two and 1, is below ``tolerance``, or after ``max_steps``
    (then ``converged`` is False, and the gap says how far it can be from the optimum).

    *Primal.* The iterate meets all but X >= 0, and is mixed with the centre of the feasible set,
    whose entries are positive, as far as that takes; or, if its large entries form a partition,
    that partition's X is taken where it is better. *Dual.* For any symmetric N >= 0 entrywise the
    optimum is at most the maximum of <S + N, X> over the spectral constraints alone, which is
    1^T (S + N) 1 / n + (k - 1) largest eigenvalue of S + N on the complement of 1; for SDP-lambda
    it is that of S - lambda I + N with n - 1 times its positive part, as trace X <= n. N is read
    off the multipliers. O(n^3) a step, three times
    faster where the solution's rank is below n / 4.
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
        return Solution(x, value, value, 0, True, x, np.zeros((n, n)))
    if warm is None:
        split, dual, rho = (
            np.eye(n) * 0.5 + 0.5 / n,
            np.zeros((n, n)),
            (8.0 if k is not None else 5.0) * scale,
        )
    else:
        split, dual, rho = warm.split.copy(), warm.dual.copy(), warm.rho
    best: Any = None
    value, bound = -np.inf, np.inf
    spectrum = _Spectrum(n)
    done = False
    step = 0
    for step in range(1, max_steps + 1):
        x = spectrum.project(split - dual + s / rho, k)
        relaxed = 1.6 * x - 0.6 * split
        before = split
        split = np.maximum(relaxed + dual, 0.0)
        dual = dual + relaxed - split
        yield None
        if step % LOOK and step != max_steps:
            continue
        for candidate in _feasible(x, split, k, n):
            worth = float((s * candidate).sum())
            if worth > value:
                value, best = worth, candidate
        bound = min(bound, _bound(s, np.maximum(-rho * dual, 0.0), k, n))
        if bound - value <= tolerance * max(1.0, abs(value), abs(bound)):
            done = True
            break
        primal = float(np.linalg.norm(x - split))
        moved = float(np.linalg.norm(split - before))
        if step % (4 * LOOK) == 0:  # both residuals in one size
            if primal > 5 * moved:
                rho, dual = rho * 1.6, dual / 1.6
            elif moved > 5 * primal:
                rho, dual = rho / 1.6, dual * 1.6
    return Solution(best, value, bound, step, done, split, dual, rho)


def solve(similarity: Float, **options: Any) -> Solution:
    """:func:`solve_steps` to its end."""
    steps: Any = solve_steps(similarity, **options)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Solution = end.value
            return found


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
    """The projection on the spectral constraints, by few eigenvectors where few are needed."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.rank = n

    def project(self, matrix: Float, k: int | None) -> Float:
        n = self.n
        c = _centre(matrix)
        values, vectors = self._top(c, k)
        tau = 0.0 if k is None else simplex_threshold(values, k - 1.0)
        kept = values > tau
        self.rank = int(kept.sum())
        half = vectors[:, kept] * np.sqrt(values[kept] - tau)
        return half @ half.T + 1.0 / n

    def _top(self, c: Float, k: int | None) -> tuple[Float, Float]:
        """Eigenvalues of P M P on the complement of 1: all that lie above the threshold."""
        n = self.n
        want = self.rank + 3
        # lift the eigenvalue of 1 out of the way, below all others
        floor = -2.0 * float(np.sqrt((c**2).sum())) - 1.0
        lifted = c + floor / n
        if want <= n // 4:
            few = eigh(lifted, check_finite=False, subset_by_index=[n - want, n - 1])
            tau = 0.0 if k is None else simplex_threshold(few[0], k - 1.0)
            if few[0].min() <= tau:
                return few[0], few[1]
        values, vectors = eigh(lifted, check_finite=False, driver="evd")
        return values[1:], vectors[:, 1:]


def _feasible(x: Float, split: Float, k: int | None, n: int) -> Iterator[Float]:
    """Points that meet every constraint, near ``x``."""
    if k is not None:
        rest = (k - 1.0) / (n - 1.0)
    else:
        rest = min(0.5, (max(float(np.trace(x)), 1.0) - 1.0) / (n - 1.0))
    lowest = float(x.min())
    centre_low = (1.0 - rest) / n
    mix = 0.0 if lowest >= 0 else -lowest / (centre_low - lowest)
    centre = np.full((n, n), centre_low)
    centre[np.diag_indices(n)] += rest
    yield (1.0 - mix) * x + mix * centre
    top = np.sqrt(np.outer(np.diagonal(split), np.diagonal(split)))
    count, labels = connected_components(csr_matrix(split > 0.4 * top), directed=False)
    if (k is None and count < n) or count == k:
        yield partition_matrix(labels)


def _bound(s: Float, multipliers: Float, k: int | None, n: int) -> float:
    total = s + (multipliers + multipliers.T) / 2
    c = _centre(total)
    floor = -2.0 * float(np.sqrt((c**2).sum())) - 1.0
    lifted = c + floor / n
    top = float(eigh(lifted, eigvals_only=True, subset_by_index=[n - 1, n - 1])[0])
    ones = float(total.sum()) / n
    return ones + ((k - 1.0) * top if k is not None else (n - 1.0) * max(top, 0.0))


__all__ = ["Solution", "partition_matrix", "simplex_threshold", "solve", "solve_steps"]
