"""Compiled parts of the spectral sweep cut. Each call is short or does a given number of steps.

A graph is a dense symmetric weight matrix, float32 or float64 (k, k), with weights of 0 or more and
a zero diagonal.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit

#: Up to this number of nodes, a cut is computed in float64 and in a single call (2 ms).
SMALL_GRAPH = 128


@njit(shared=True)
def component_labels(weights):
    """Return ``(labels int32 (k,), count)``: the connected components, numbered by first node.

    O(k) when the first row is full, O(k^2) at most.
    """
    k = weights.shape[0]
    labels = np.full(k, -1, np.int32)
    queue = np.empty(k, np.int32)
    count = 0
    seen = 0
    for first in range(k):
        if labels[first] >= 0:
            continue
        labels[first] = count
        queue[seen] = first
        done = seen
        seen += 1
        while done < seen and seen < k:
            row = weights[queue[done]]
            done += 1
            for j in range(k):
                if row[j] > 0 and labels[j] < 0:
                    labels[j] = count
                    queue[seen] = j
                    seen += 1
        count += 1
    return labels, count


@njit(shared=True)
def halve_components(labels, count, sizes):
    """Put components on one side, so that it has about half of the items: bool (k,).

    The weight of such a cut is 0. Components are added in order while this brings the side nearer
    to half of the items; both sides have at least one component.
    """
    n_items = np.zeros(count, np.int64)
    for v in range(labels.size):
        n_items[labels[v]] += sizes[v]
    total = n_items.sum()
    upto = 1
    inside = n_items[0]
    while upto < count - 1 and (
        abs(2 * (inside + n_items[upto]) - total) <= abs(2 * inside - total)
    ):
        inside += n_items[upto]
        upto += 1
    side = np.empty(labels.size, np.bool_)
    for v in range(labels.size):
        side[v] = labels[v] < upto
    return side


@njit
def degrees(weights):
    """Return the row sums, float64 (k,)."""
    k = weights.shape[0]
    out = np.zeros(k)
    for i in range(k):
        total = 0.0
        for j in range(k):
            total += weights[i, j]
        out[i] = total
    return out


@njit(shared=True, fastmath={"reassoc", "contract"})
def lanczos(weights, scale, basis, alpha, beta, begin, end):
    """Do the Lanczos steps ``begin .. end - 1`` on N = D^-1/2 W D^-1/2.

    ``basis`` (steps + 2, k) has the trivial eigenvector in row 0 and the start vector in row 1; its
    type and that of ``scale`` are the type of the weights. The tridiagonal matrix is written to
    ``alpha`` and ``beta`` (steps,). Each vector is made orthogonal to the two before it, then to
    all. Returns the number of steps done; it is below ``end`` if the space is exhausted.
    """
    k = scale.size
    scaled = np.empty_like(scale)
    factor = np.empty_like(scale[:1])  # a number of the type of the weights
    for step in range(begin, end):
        x = basis[step + 1]
        for i in range(k):
            scaled[i] = scale[i] * x[i]
        fresh = basis[step + 2]
        for i in range(k):
            row = weights[i]
            total = row[0] * scaled[0]
            for j in range(1, k):
                total += row[j] * scaled[j]
            fresh[i] = scale[i] * total
        for again in range(2):
            for earlier in range(step + 1, max(step - 1, -1) if again == 0 else -1, -1):
                other = basis[earlier]
                dot = 0.0
                for i in range(k):
                    dot += other[i] * fresh[i]
                if earlier == step + 1:
                    alpha[step] = dot if again == 0 else alpha[step] + dot
                factor[0] = dot
                part = factor[0]
                for i in range(k):
                    fresh[i] -= part * other[i]
        norm = 0.0
        for i in range(k):
            norm += fresh[i] * fresh[i]
        norm = np.sqrt(norm)
        beta[step] = norm
        if norm < 1e-6:
            return step + 1
        factor[0] = 1.0 / norm
        part = factor[0]
        for i in range(k):
            fresh[i] *= part
    return end


@njit
def solve_tridiagonal(diagonal, beside, at, x, tiny):
    """Replace x by (T - at)^-1 x, up to a factor, by elimination with pivoting.

    Pivots below ``tiny`` are replaced by ``tiny``. ``beside[i]`` couples i and i + 1.
    """
    m = diagonal.size
    main, first, second = np.empty(m), np.zeros(m), np.zeros(m)
    a, b = diagonal[0] - at, beside[0] if m > 1 else 0.0
    for i in range(m - 1):
        under, c = beside[i], diagonal[i + 1] - at
        d = beside[i + 1] if i < m - 2 else 0.0
        if abs(under) > abs(a):
            factor = a / under
            main[i], first[i], second[i] = under, c, d
            a, b = b - factor * c, -factor * d
            x[i], x[i + 1] = x[i + 1], x[i] - factor * x[i + 1]
        else:
            pivot = a if abs(a) > tiny else tiny
            factor = under / pivot
            main[i], first[i] = pivot, b
            a, b = c - factor * b, d
            x[i + 1] -= factor * x[i]
    main[m - 1] = a if abs(a) > tiny else tiny
    for i in range(m - 1, -1, -1):
        value = x[i]
        if i < m - 1:
            value -= first[i] * x[i + 1]
        if i < m - 2:
            value -= second[i] * x[i + 2]
        x[i] = value / main[i]
        if abs(x[i]) > 1e200:  # avoid overflow; only the direction of x is needed
            for j in range(m):
                x[j] *= 1e-200


@njit
def top_of_tridiagonal(alpha, beta, m):
    """Return the unit eigenvector of a symmetric tridiagonal matrix's largest eigenvalue.

    ``beta[i]`` couples i and i + 1; the result is float64 (m,). Bisection with Sturm counts, then
    two inverse iterations.
    """
    high = -np.inf
    for i in range(m):
        reach = alpha[i]
        if i > 0:
            reach += abs(beta[i - 1])
        if i < m - 1:
            reach += abs(beta[i])
        high = max(high, reach)
    low = alpha[:m].max()  # a Rayleigh quotient is at most the largest eigenvalue
    span = max(abs(high), abs(low), 1e-30)
    while high - low > 1e-15 * span:
        middle = low + (high - low) / 2.0
        if middle <= low or middle >= high:
            break
        above = False  # True if an eigenvalue is above the middle
        q = alpha[0] - middle
        if q > 0:
            above = True
        for i in range(1, m):
            if above:
                break
            q = alpha[i] - middle - beta[i - 1] * beta[i - 1] / (q if q != 0 else -1e-300)
            if q > 0:
                above = True
        if above:
            low = middle
        else:
            high = middle
    x = np.ones(m)
    for _ in range(2):
        solve_tridiagonal(alpha[:m], beta, high, x, 1e-16 * span)
        largest = np.abs(x).max()
        x /= largest
        x /= np.sqrt((x * x).sum())
    return x


@njit(shared=True)
def begin_lanczos(degree, scale, basis):
    """Fill rows 0 and 1 of ``basis``: the trivial eigenvector, and a start orthogonal to it."""
    k = degree.size
    total = degree.sum()
    dot = 0.0
    start = np.empty(k)
    for i in range(k):
        trivial = np.sqrt(degree[i] / total)
        scale[i] = 1.0 / np.sqrt(degree[i])
        start[i] = ((i + 1) * 0.6180339887498949) % 1.0 - 0.5  # evenly distributed, deterministic
        dot += trivial * start[i]
        basis[0, i] = trivial
    norm = 0.0
    for i in range(k):
        start[i] -= dot * np.sqrt(degree[i] / total)
        norm += start[i] * start[i]
    norm = np.sqrt(norm)
    for i in range(k):
        basis[1, i] = start[i] / norm


@njit(shared=True)
def ritz_weights(alpha, beta, m):
    """Return ``(weights float64 (m,), residual)`` of the largest Ritz value's vector.

    The residual does not need the vector itself, whose computation takes as long as some steps.
    """
    weights_in_basis = top_of_tridiagonal(alpha, beta, m)
    return weights_in_basis, beta[m - 1] * abs(weights_in_basis[m - 1])


@njit
def ritz_vector(basis, weights_in_basis):
    """Return the Ritz vector with these weights, float64 (k,)."""
    out = np.zeros(basis.shape[1])
    for step in range(weights_in_basis.size):
        part = weights_in_basis[step]
        for i in range(out.size):
            out[i] += part * basis[step + 1, i]
    return out


@njit
def exact_vector(weights, degree, tolerance=1e-9):
    """Return the second eigenvector of a small connected graph's normalised Laplacian.

    float64 (k,), k > 2. Lanczos runs in the precision of the weights until the residual is below
    ``tolerance``, or to the end. For any symmetric matrix and positive ``degree``, the result is
    the eigenvector of D^-1/2 W D^-1/2 with the largest eigenvalue, of those orthogonal to
    sqrt(degree).
    """
    k = degree.size
    scale = np.empty_like(weights[0])
    basis = np.empty((k + 1, k), weights.dtype)
    begin_lanczos(degree, scale, basis)
    alpha = np.zeros(k)
    beta = np.zeros(k)
    done = 0
    while True:
        target = min(k - 1, done + 12)
        reached = lanczos(weights, scale, basis, alpha, beta, done, target)
        found, residual = ritz_weights(alpha, beta, reached)
        if reached == k - 1 or reached < target or residual < tolerance:
            return ritz_vector(basis, found)
        done = reached


@njit
def prefixes(weights, degree, values, sizes):
    """Evaluate all proper prefixes of the nodes ordered by ``values``: ``(place, cuts, n_items)``.

    ``place`` int32 (k,) is the position of each node; ``cuts`` float64 (k - 1,) is the weight
    between each prefix and the rest; ``n_items`` int64 (k - 1,) is its number of items. One pass
    over the matrix: adding node v to S changes the cut by degree(v) - 2 w(v, S).
    """
    k = degree.size
    order = np.argsort(values, kind="mergesort")
    place = np.empty(k, np.int32)
    for i in range(k):
        place[order[i]] = i
    cut = 0.0
    inside = 0
    cuts = np.empty(k - 1)
    n_items = np.empty(k - 1, np.int64)
    for i in range(k - 1):
        v = order[i]
        row = weights[v]
        joined = 0.0
        for j in range(k):
            if place[j] < i:
                joined += row[j]
        cut += degree[v] - 2.0 * joined
        inside += sizes[v]
        cuts[i] = cut
        n_items[i] = inside
    return place, cuts, n_items


@njit
def best_prefix(value, n_items, total):
    """Return the last position of the prefix with the lowest ``value``.

    Of values equal up to 1e-6, the prefix whose number of items is nearest to half of ``total``
    wins, then the first one. Without this rule, equal similarities would be cut item by item.
    """
    lowest = value.min()
    limit = lowest + 1e-6 * abs(lowest)
    best = -1
    for i in range(value.size):
        if value[i] <= limit and (
            best < 0 or abs(2 * n_items[i] - total) < abs(2 * n_items[best] - total)
        ):
            best = i
    return best


@njit(shared=True)
def sweep(weights, degree, values, sizes):
    """Return the best prefix of the nodes ordered by ``values``: ``(side bool (k,), cut weight)``.

    The best prefix has the lowest w(S, S^c) / (|S| |S^c|), where |S| is the sum of ``sizes``. Ties
    are broken by :func:`best_prefix`.
    """
    place, cuts, n_items = prefixes(weights, degree, values, sizes)
    total = sizes.sum()
    ratios = np.empty(cuts.size)
    for i in range(cuts.size):
        ratios[i] = cuts[i] / (np.float64(n_items[i]) * (total - n_items[i]))
    best = best_prefix(ratios, n_items, total)
    return place <= best, cuts[best]


@njit(shared=True)
def small_cut(weights, sizes):
    """Return the spectral sweep cut of a graph of 2 to ``SMALL_GRAPH`` nodes: bool (k,)."""
    k = sizes.size
    if k == 2:
        return np.array([True, False])
    labels, count = component_labels(weights)
    if count > 1:
        return halve_components(labels, count, sizes)
    degree = degrees(weights)
    return sweep(weights, degree, exact_vector(weights, degree), sizes)[0]
