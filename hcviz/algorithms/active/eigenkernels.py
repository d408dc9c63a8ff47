"""Compiled: the few largest eigenvalues of a dense symmetric matrix, and their vectors.

LAPACK uses the threads of its BLAS, which slows down matrices of some hundred rows, and cannot be
called from the kernels of the recursion. So these kernels use Householder's reduction to
tridiagonal form (4/3 m^3 operations), bisection with Sturm counts, and inverse iteration. The
reduction starts from the last row, so that it reads rows in memory order. Sturm counts give equal
eigenvalues with their multiplicity.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit
from hcviz.core.spectralkernels import solve_tridiagonal
from hcviz.core.splitmixkernels import child_seed, mix64, uniform

#: Vectors of eigenvalues nearer than this share of the largest are made orthogonal.
NEAR = 1e-3
#: Gaps that differ by less than this share of the matrix's norm are equal except for rounding.
EQUAL = 1e-9
#: Solves for each vector. One is enough unless the start is unlucky, two unless values are equal.
SOLVES = 4


@njit(shared=True)
def deflated(summed, sizes):
    """Move sqrt(sizes), an eigenvector of D^-1/2 W D^-1/2, to the bottom of the spectrum.

    Returns float64 (m, m).
    """
    m = sizes.size
    matrix = np.empty((m, m))
    trivial = np.empty(m)
    across = np.zeros(m)
    root = np.sqrt(sizes.sum())
    for i in range(m):
        trivial[i] = np.sqrt(sizes[i]) / root
    for i in range(m):
        for j in range(m):
            matrix[i, j] = summed[i, j] / (np.sqrt(sizes[i]) * np.sqrt(sizes[j]))
            across[i] += matrix[i, j] * trivial[j]
    inner = 0.0
    for i in range(m):
        inner += trivial[i] * across[i]
    low = 0.0
    for i in range(m):
        row = 0.0
        for j in range(m):
            matrix[i, j] -= trivial[i] * across[j] + across[i] * trivial[j]
            row += abs(matrix[i, j])
        low = max(low, row)
    for i in range(m):
        for j in range(m):
            matrix[i, j] += (inner - low - 1.0) * trivial[i] * trivial[j]
    return matrix


@njit(shared=True, fastmath={"reassoc", "contract"})
def reduce_rows(matrix, form, begin, end):
    """Reduce rows ``begin - 1`` down to ``end`` to tridiagonal form, in place.

    Rows m - 1 down to 1 are all rows. Only the lower triangle of ``matrix`` is used; its entries
    are about 1 at most. ``form`` float64 (3, m), zeros at first, receives three rows: the diagonal;
    the entries beside it (at i: between i - 1 and i); and v'v / 2 of each row's reflection, 0 if
    there is none. The vector v is left in the first i places of the row.
    """
    diagonal, beside, halves = form[0], form[1], form[2]
    p = np.empty(begin)
    for i in range(begin - 1, end - 1, -1):
        v = matrix[i]
        tail = 0.0
        for j in range(i - 1):
            tail += v[j] * v[j]
        diagonal[i] = matrix[i, i]
        if tail < 1e-200:  # only rounding is left, and its squares would underflow
            beside[i] = v[i - 1]
            continue
        length = np.sqrt(tail + v[i - 1] * v[i - 1])
        alpha = -length if v[i - 1] > 0 else length
        beside[i] = alpha
        half = length * length - alpha * v[i - 1]
        v[i - 1] -= alpha
        halves[i] = half
        for j in range(i):
            row = matrix[j]
            own = v[j]
            total = row[j] * own
            for t in range(j):
                total += row[t] * v[t]
            p[j] = total
            for t in range(j):
                p[t] += row[t] * own
        inner = 0.0
        for j in range(i):
            p[j] /= half
            inner += p[j] * v[j]
        inner /= 2.0 * half
        for j in range(i):
            p[j] -= inner * v[j]
        for j in range(i):
            row = matrix[j]
            x, y = v[j], p[j]
            for t in range(j + 1):
                row[t] -= x * p[t] + y * v[t]
    diagonal[0] = matrix[0, 0]


@njit
def above(diagonal, squares, at, least):
    """Return how many eigenvalues of a tridiagonal matrix are larger than ``at`` (Sturm).

    ``least`` replaces a pivot of 0.
    """
    count = 0
    q = 1.0
    for i in range(diagonal.size):
        q = diagonal[i] - at - (squares[i] / q if i > 0 else 0.0)
        if abs(q) < least:
            q = -least
        if q > 0:
            count += 1
    return count


@njit
def largest_of_tridiagonal(diagonal, beside, count):
    """Return the ``count`` largest eigenvalues with multiplicity, decreasing: float64 (count,)."""
    m = diagonal.size
    squares = beside * beside
    high, low = -np.inf, np.inf
    for i in range(m):
        reach = (abs(beside[i]) if i > 0 else 0.0) + (abs(beside[i + 1]) if i < m - 1 else 0.0)
        high = max(high, diagonal[i] + reach)
        low = min(low, diagonal[i] - reach)
    size = max(abs(high), abs(low), 1e-300)
    least = 1e-300 + 1e-32 * size
    found = np.empty(count)
    lows = np.full(count, low)
    ceiling = high + 1e-15 * size
    for c in range(count):
        up, down = ceiling, lows[c]
        while up - down > 4e-16 * size:
            middle = down + (up - down) / 2.0
            if middle <= down or middle >= up:
                break
            seen = above(diagonal, squares, middle, least)
            for d in range(c, min(seen, count)):
                lows[d] = max(lows[d], middle)
            if seen > c:
                down = middle
            else:
                up = middle
        found[c] = down + (up - down) / 2.0
        ceiling = up
    return found


@njit
def vectors_of(diagonal, beside, values):
    """Return orthonormal eigenvectors of a tridiagonal matrix as rows: float64 (len(values), m)."""
    m, count = diagonal.size, values.size
    out = np.empty((count, m))
    size = 1e-300
    for i in range(m):
        size = max(size, abs(diagonal[i]) + (2.0 * abs(beside[i]) if i > 0 else 0.0))
    couplings = beside.copy()
    for i in range(m):  # entries of rounding size couple nothing, and would be divided by
        if abs(couplings[i]) <= 1e-15 * size:
            couplings[i] = 0.0
    for c in range(count):
        x = out[c]
        start = mix64(np.uint64(c))
        for i in range(m):  # a fixed start without a pattern, another for each vector
            x[i] = uniform(child_seed(start, i)) - 0.5
        for _ in range(SOLVES):
            solve_tridiagonal(diagonal, couplings[1:], values[c], x, 1e-16 * size)
            largest = np.abs(x).max()
            if largest > 0:
                x /= largest
            for _again in range(2):
                for d in range(c):
                    if values[d] - values[c] <= NEAR * size:
                        dot = (out[d] * x).sum()
                        for i in range(m):
                            x[i] -= dot * out[d, i]
            x /= np.sqrt((x * x).sum())
    return out


@njit(shared=True)
def gap_and_vectors(matrix, form, most, k, roots):
    """Return ``(k, vectors)`` of a matrix of :func:`deflated` that was reduced to ``form``.

    ``vectors`` float64 (k - 1, m) are the eigenvectors that separate k clusters. If ``k`` is 0, k
    is chosen in 2..``most``: the largest gap mu_(k-1) - mu_k of the decreasing eigenvalues, the
    least k of equal gaps. Then ``most`` is at least 3 and below m, and there are no vectors if the
    choice is 2. With ``roots`` the gaps are those of the square roots; values below 0 count as 0.
    """
    m = matrix.shape[0]
    diagonal, beside, halves = form[0], form[1], form[2]
    values = largest_of_tridiagonal(diagonal, beside, most if k == 0 else min(k - 1, m))
    if k == 0:
        k = widest_gap(np.sqrt(np.maximum(values, 0.0)) if roots else values)
        if k == 2:
            return 2, np.empty((0, m))
        values = values[: k - 1]
    vectors = vectors_of(diagonal, beside, values)
    for i in range(1, m):  # undo the reflections
        if halves[i] > 0:
            v = matrix[i]
            for c in range(values.size):
                x = vectors[c]
                dot = 0.0
                for j in range(i):
                    dot += v[j] * x[j]
                dot /= halves[i]
                for j in range(i):
                    x[j] -= dot * v[j]
    return k, vectors


@njit
def widest_gap(values):
    """Return 2 plus the index of the largest gap between decreasing ``values``, the first of
    equals."""
    best, widest = 0, -np.inf
    slack = EQUAL * np.abs(values).max()
    for i in range(values.size - 1):
        gap = values[i] - values[i + 1]
        if gap > widest + slack:
            best, widest = i, gap
    return best + 2
