"""Compiled parts of the spectral cut of a sparse supergraph; none is quadratic.

A supergraph of k nodes is given by its rows. The neighbours of v are int32
``target[start[v]:start[v+1]]``, and their weights are float64 ``weight`` in the same places. Each
edge is in both rows, parallel edges count as their sum, and there are no loops. ``start`` is int64
(k + 1,).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.algorithms.structural.cutkernels import cut_value, is_balanced
from hcviz.core.jit import njit
from hcviz.core.spectralkernels import best_prefix


@njit
def supergraph(
    indptr, indices, data, items, begin, end, number, count, member, stamp,
    rows, active, t_begin, t_end, price,
):  # fmt: skip
    """Return the supergraph of a set: ``(start, target, weight)``. O(the set's items and their
    edges).

    ``number[item]`` is its supernode; ``member`` (n,) becomes ``stamp`` at the set's items. If
    ``price`` is not empty (soft triplets), every active ab|c is also an edge a-b of that weight.
    """
    for k in range(begin, end):
        member[items[k]] = stamp
    start = np.zeros(count + 1, np.int64)
    for k in range(begin, end):
        x = items[k]
        for e in range(indptr[x], indptr[x + 1]):
            if member[indices[e]] == stamp and number[indices[e]] != number[x]:
                start[number[x] + 1] += 1
    soft = price.size > 0
    if soft:
        for k in range(t_begin, t_end):
            a, b = number[rows[active[k], 0]], number[rows[active[k], 1]]
            if a != b:
                start[a + 1] += 1
                start[b + 1] += 1
    for v in range(count):
        start[v + 1] += start[v]
    target = np.empty(start[count], np.int32)
    weight = np.empty(start[count])
    at = start[:count].copy()
    for k in range(begin, end):
        x = items[k]
        v = number[x]
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if member[y] == stamp and number[y] != v:
                target[at[v]] = number[y]
                weight[at[v]] = data[e]
                at[v] += 1
    if soft:
        for k in range(t_begin, t_end):
            t = active[k]
            a, b = number[rows[t, 0]], number[rows[t, 1]]
            if a != b:
                target[at[a]], weight[at[a]] = b, price[t]
                target[at[b]], weight[at[b]] = a, price[t]
                at[a] += 1
                at[b] += 1
    return start, target, weight


@njit
def set_matrix(indptr, indices, data, items, begin, end, place, member, stamp):
    """Return the similarities inside a small set, float64 (m, m); ``place[item]`` becomes its
    row."""
    m = end - begin
    out = np.zeros((m, m))
    for k in range(begin, end):
        member[items[k]] = stamp
        place[items[k]] = k - begin
    for k in range(begin, end):
        x = items[k]
        for e in range(indptr[x], indptr[x + 1]):
            if member[indices[e]] == stamp:
                out[k - begin, place[indices[e]]] = data[e]
    return out


@njit
def as_dense(start, target, weight):
    """Return the graph as a matrix, float64 (k, k), for small ones."""
    k = start.size - 1
    out = np.zeros((k, k))
    for v in range(k):
        for e in range(start[v], start[v + 1]):
            out[v, target[e]] += weight[e]
    return out


@njit
def components(start, target, weight):
    """Return ``(labels int32 (k,), count)``: connected components, numbered by first node."""
    k = start.size - 1
    labels = np.full(k, -1, np.int32)
    queue = np.empty(k, np.int32)
    count, seen = 0, 0
    for first in range(k):
        if labels[first] >= 0:
            continue
        labels[first] = count
        done = seen
        queue[seen] = first
        seen += 1
        while done < seen:
            v = queue[done]
            done += 1
            for e in range(start[v], start[v + 1]):
                u = target[e]
                if weight[e] > 0 and labels[u] < 0:
                    labels[u] = count
                    queue[seen] = u
                    seen += 1
        count += 1
    return labels, count


@njit
def link_pieces(start, target, weight, labels, count):
    """Return the graph with a tiny weight from each component to the next, so that it has an
    order."""
    k = start.size - 1
    first = np.full(count, -1, np.int32)
    for v in range(k):
        if first[labels[v]] < 0:
            first[labels[v]] = v
    total = weight.sum()
    trace = 1e-6 * total / k if total > 0 else 1.0
    begin = np.zeros(k + 1, np.int64)
    for v in range(k):
        piece = labels[v]
        more = 0
        if v == first[piece]:
            more = int(piece > 0) + int(piece < count - 1)
        begin[v + 1] = begin[v] + start[v + 1] - start[v] + more
    to = np.empty(begin[k], np.int32)
    weights = np.empty(begin[k])
    for v in range(k):
        at = begin[v]
        for e in range(start[v], start[v + 1]):
            to[at], weights[at] = target[e], weight[e]
            at += 1
        piece = labels[v]
        if v == first[piece]:
            if piece > 0:
                to[at], weights[at] = first[piece - 1], trace
                at += 1
            if piece < count - 1:
                to[at], weights[at] = first[piece + 1], trace
    return begin, to, weights


@njit
def degrees(start, weight):
    """Return row sums, float64 (k,)."""
    k = start.size - 1
    out = np.zeros(k)
    for v in range(k):
        for e in range(start[v], start[v + 1]):
            out[v] += weight[e]
    return out


@njit(fastmath={"reassoc", "contract"})
def lanczos(start, target, weight, scale, basis, alpha, beta, begin, end):
    """Do the same as :func:`hcviz.core.spectralkernels.lanczos`, on the rows of a sparse graph."""
    k = scale.size
    scaled = np.empty_like(scale)
    zero = np.zeros_like(scale[:1])  # numbers of the basis's type
    factor = np.zeros_like(scale[:1])
    for step in range(begin, end):
        x = basis[step + 1]
        for i in range(k):
            scaled[i] = scale[i] * x[i]
        fresh = basis[step + 2]
        for i in range(k):
            total = 0.0
            for e in range(start[i], start[i + 1]):
                total += weight[e] * scaled[target[e]]
            fresh[i] = scale[i] * total
        for again in range(2):
            for earlier in range(step + 1, max(step - 1, -1) if again == 0 else -1, -1):
                other = basis[earlier]
                dot = zero[0]
                for i in range(k):
                    dot += other[i] * fresh[i]
                if earlier == step + 1:
                    alpha[step] = dot if again == 0 else alpha[step] + dot
                for i in range(k):
                    fresh[i] -= dot * other[i]
        norm = 0.0
        for i in range(k):
            norm += np.float64(fresh[i]) * fresh[i]
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
def sweep(start, target, weight, degree, values, sizes, balanced):
    """Return the best prefix of the nodes ordered by ``values``: bool (k,). O(k log k + edges).

    Best and ties are as in :func:`hcviz.core.spectralkernels.sweep`, or with ``balanced`` as in
    :func:`hcviz.algorithms.structural.cutkernels.balanced_sweep`.
    """
    k = degree.size
    order = np.argsort(values, kind="mergesort")
    side = np.zeros(k, np.bool_)
    total = sizes.sum()
    cut, inside = 0.0, 0
    value = np.full(k - 1, np.inf)
    held = np.empty(k - 1, np.int64)
    for i in range(k - 1):
        v = order[i]
        joined = 0.0
        for e in range(start[v], start[v + 1]):
            if side[target[e]]:
                joined += weight[e]
        side[v] = True
        cut += degree[v] - 2.0 * joined
        inside += sizes[v]
        held[i] = inside
        if not balanced or is_balanced(inside, total):
            value[i] = cut_value(cut, inside, total, balanced)
    best = best_prefix(value, held, total)
    side[:] = False
    if value[best] == np.inf:
        side[np.argmax(sizes)] = True
        return side
    for i in range(best + 1):
        side[order[i]] = True
    return side


@njit
def refine(start, target, weight, sizes, side, balanced):
    """Do the same as :func:`hcviz.algorithms.structural.cutkernels.refine`.

    O(k) for each move and O(edges) to begin.
    """
    k = sizes.size
    total = sizes.sum()
    inside = 0
    cut, scale = 0.0, 0.0
    gain = np.zeros(k)
    for v in range(k):
        for e in range(start[v], start[v + 1]):
            if side[target[e]] != side[v]:
                gain[v] += weight[e]
                cut += weight[e] / 2.0
            else:
                gain[v] -= weight[e]
        scale = max(scale, abs(gain[v]))
        inside += sizes[v] if side[v] else 0
    if balanced and not is_balanced(inside, total):
        return
    while True:
        now = cut_value(cut, inside, total, balanced)
        least = now - 1e-12 * max(abs(now), cut_value(scale, 1, total, balanced))
        best = -1
        for v in range(k):
            left = inside - sizes[v] if side[v] else inside + sizes[v]
            if left == 0 or left == total or (balanced and not is_balanced(left, total)):
                continue
            value = cut_value(cut - gain[v], left, total, balanced)
            if value < least:
                best, least = v, value
        if best < 0:
            return
        cut -= gain[best]
        gain[best] = -gain[best]
        for e in range(start[best], start[best + 1]):
            if side[target[e]] == side[best]:
                gain[target[e]] += 2.0 * weight[e]
            else:
                gain[target[e]] -= 2.0 * weight[e]
        inside += -sizes[best] if side[best] else sizes[best]
        side[best] = not side[best]
