"""Compiled parts of the flat methods: divide some items by a dense similarity, in two or in k.

``weights`` is float64 (m, m), symmetric; its diagonal is not used. Items that triplets bind are
*supernodes*: ``key`` int32 (m,) numbers them 0..count-1 by their first item. Let C be the summed
weights of supernodes, and D their sizes. A vector that is constant on supernodes has x' W x = y' C
y and x' x = y' D y. So every eigenproblem over items becomes one of D^-1/2 C D^-1/2 over
supernodes.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.algorithms.active.eigenkernels import deflated, gap_and_vectors, reduce_rows
from hcviz.algorithms.active.noisefreekernels import lowest_similarity_groups
from hcviz.core.copykernels import copy_vector
from hcviz.core.jit import njit
from hcviz.core.spectralkernels import exact_vector
from hcviz.core.splitmixkernels import child_seed, uniform

LAPLACIAN, CENTRED, KMEANS = 0, 1, 2

#: Residual, relative to the largest weight, at which the signs of an eigenvector are reliable.
TOLERANCE = 1e-6
#: Starts of k-means, and iterations of each start.
STARTS = 4
ITERATIONS = 60
#: The most passes over the items while some of them move.
PASSES = 30


@njit(shared=True)
def contracted(weights, key, count):
    """Return ``(summed, sizes)``: weights between supernodes and items in each.

    ``summed`` float64 (count, count) has the weights inside supernodes on its diagonal, in both
    orders, without those of an item with itself. ``sizes`` float64 (count,).
    """
    summed = np.zeros((count, count))
    sizes = np.zeros(count)
    m = key.size
    for i in range(m):
        sizes[key[i]] += 1.0
    if count == m:
        for i in range(m):
            for j in range(m):
                summed[i, j] = weights[i, j]
            summed[i, i] = 0.0
        return summed, sizes
    for i in range(m):
        row = summed[key[i]]
        for j in range(m):
            if i != j:
                row[key[j]] += weights[i, j]
    return summed, sizes


@njit
def prepare(summed, laplacian):
    """Make, in place, the matrix whose top eigenvector divides, scaled to at most 1.

    For the Laplacian it is W - D: the smallest eigenvalue of D - W becomes the largest.
    """
    count = summed.shape[0]
    if laplacian:
        for i in range(count):
            summed[i, i] = 0.0
            summed[i, i] = -summed[i].sum()
    largest = 0.0
    for i in range(count):
        for j in range(count):
            largest = max(largest, abs(summed[i, j]))
    if largest > 0:
        for i in range(count):
            for j in range(count):
                summed[i, j] /= largest


@njit
def kernel_kmeans(summed, sizes, labels, k):
    """Move single supernodes while the sum over clusters of (weight inside) / (items inside) grows.

    The top eigenvectors of the centred matrix relax this discrete problem; it is kernel k-means.
    Changes ``labels`` (int32 (count,)), and empties no cluster.
    """
    count = sizes.size
    link = np.zeros((count, k))
    inside = np.zeros(k)
    held = np.zeros(k)
    nodes = np.zeros(k, np.int64)
    for i in range(count):
        row = summed[i]
        own = link[i]
        for j in range(count):
            if j != i:
                own[labels[j]] += row[j]
        held[labels[i]] += sizes[i]
        nodes[labels[i]] += 1
    for i in range(count):
        inside[labels[i]] += link[i, labels[i]] + summed[i, i]
    limit = 1e-9 * np.abs(summed).max()
    for _ in range(PASSES):
        moved = 0
        for i in range(count):
            here = labels[i]
            if nodes[here] == 1:
                continue
            own, size = summed[i, i], sizes[i]
            less = (inside[here] - 2.0 * link[i, here] - own) / (held[here] - size)
            loss = inside[here] / held[here] - less
            best, gain = -1, limit
            for c in range(k):
                if c != here:
                    more = (inside[c] + 2.0 * link[i, c] + own) / (held[c] + size)
                    change = more - inside[c] / held[c] - loss
                    if change > gain:
                        best, gain = c, change
            if best < 0:
                continue
            inside[here] -= 2.0 * link[i, here] + own
            inside[best] += 2.0 * link[i, best] + own
            held[here] -= size
            held[best] += size
            nodes[here] -= 1
            nodes[best] += 1
            labels[i] = best
            row = summed[i]
            for j in range(count):
                if j != i:
                    link[j, here] -= row[j]
                    link[j, best] += row[j]
            moved += 1
        if moved == 0:
            break


@njit
def profiles(weights, key, count):
    """Return ``(points, sizes)`` for k-means: each supernode's mean row, float64 (count, m).

    The similarity of an item with itself is taken to be that with the most similar other item.
    """
    m = key.size
    points = np.zeros((count, m))
    sizes = np.zeros(count)
    for i in range(m):
        out = points[key[i]]
        sizes[key[i]] += 1.0
        highest = -np.inf
        for j in range(m):
            if j != i:
                out[j] += weights[i, j]
                highest = max(highest, weights[i, j])
        out[i] += highest
    for c in range(count):
        for j in range(m):
            points[c, j] /= sizes[c]
    return points, sizes


@njit
def squared(x, y):
    """Return the squared Euclidean distance."""
    total = 0.0
    for t in range(x.size):
        total += (x[t] - y[t]) * (x[t] - y[t])
    return total


@njit
def seed_centres(points, sizes, k, seed, centres):
    """Choose ``centres`` (k, d) among the points by k-means++ (Arthur and Vassilvitskii 2007)."""
    count = sizes.size
    near = np.full(count, np.inf)
    for c in range(k):
        total = 0.0
        for i in range(count):
            if c > 0:
                near[i] = min(near[i], squared(points[i], centres[c - 1]))
            total += sizes[i] * (near[i] if c > 0 else 1.0)
        goal = uniform(child_seed(seed, c)) * total
        chosen = -1
        for i in range(count):
            mass = sizes[i] * (near[i] if c > 0 else 1.0)
            if mass > 0.0:
                chosen = i
                goal -= mass
                if goal <= 0.0:
                    break
        copy_vector(centres[c], points[max(chosen, 0)])


@njit
def lloyd(points, sizes, labels, centres):
    """Do one iteration: assign points to the nearest centre, then move the centres.

    Returns ``(changes, sum of squares)``. A centre without points does not move.
    """
    k = centres.shape[0]
    changes = 0
    sum_of_squares = 0.0
    held = np.zeros(k)
    for i in range(sizes.size):
        best, distance = 0, np.inf
        for c in range(k):
            here = squared(points[i], centres[c])
            if here < distance:
                best, distance = c, here
        sum_of_squares += sizes[i] * distance
        held[best] += sizes[i]
        if labels[i] != best:
            labels[i] = best
            changes += 1
    for c in range(k):
        if held[c] > 0:
            centres[c, :] = 0.0
    for i in range(sizes.size):
        row, share = centres[labels[i]], sizes[i] / held[labels[i]]
        for t in range(row.size):
            row[t] += share * points[i, t]
    return changes, sum_of_squares


@njit
def kmeans(points, sizes, k, seed):
    """Return the best of ``STARTS`` runs of Lloyd's algorithm with weights ``sizes``: int32
    (count,)."""
    best = np.zeros(sizes.size, np.int32)
    least = np.inf
    centres = np.empty((k, points.shape[1]))
    for start in range(STARTS):
        seed_centres(points, sizes, k, child_seed(seed, start), centres)
        labels = np.full(sizes.size, -1, np.int32)
        for _ in range(ITERATIONS):
            changes, sum_of_squares = lloyd(points, sizes, labels, centres)
            if changes == 0:
                break
        if sum_of_squares < least:
            least = sum_of_squares
            best = labels
    return best


@njit
def halves(sizes):
    """Label the first supernodes with about half of the items 0, the others 1: int32 (count,)."""
    total = sizes.sum()
    inside = 0.0
    labels = np.ones(sizes.size, np.int32)
    for i in range(sizes.size):
        if i > 0 and 2.0 * (inside + sizes[i]) > total + sizes[i]:
            break
        if i < sizes.size - 1:
            labels[i] = 0
            inside += sizes[i]
    return labels


@njit
def signs(vector):
    """Label entries of 0 or more 0, others 1: int32 (count,) (Krishnamurthy et al. 2012, Algorithm
    2)."""
    labels = np.zeros(vector.size, np.int32)
    for i in range(vector.size):
        if vector[i] < 0:
            labels[i] = 1
    return labels


@njit
def one_sided(labels):
    """Return True if all labels are equal."""
    return labels.min() == labels.max()


@njit
def renamed(labels):
    """Return the same clusters, numbered by their first members: int32 (count,).

    So the arbitrary sign of an eigenvector does not change the tree.
    """
    names = np.full(labels.max() + 1, -1, np.int32)
    out = np.empty(labels.size, np.int32)
    used = 0
    for i in range(labels.size):
        if names[labels[i]] < 0:
            names[labels[i]] = used
            used += 1
        out[i] = names[labels[i]]
    return out


@njit
def cut_in_two(weights, key, count, method, seed):
    """Divide supernodes in two by a built-in method: int32 (count,), with both labels 0 and 1."""
    labels = np.zeros(count, np.int32)
    if count <= 2:
        labels[count - 1] = 1
        return labels
    if method == KMEANS:
        points, sizes = profiles(weights, key, count)
        labels = kmeans(points, sizes, 2, seed)
    else:
        summed, sizes = contracted(weights, key, count)
        prepare(summed, method == LAPLACIAN)
        labels = signs(exact_vector(summed, sizes, TOLERANCE))
        if method == CENTRED and not one_sided(labels):
            kernel_kmeans(summed, sizes, labels, 2)
    return halves(sizes) if one_sided(labels) else renamed(labels)


@njit
def kmeans_of_vectors(summed, sizes, vectors, method, seed):
    """Run k-means on the supernodes' rows of ``vectors`` (k - 1, count): int32 (count,).

    The centred method improves them by :func:`kernel_kmeans`.
    """
    k = vectors.shape[0] + 1
    points = np.empty((sizes.size, k - 1))
    for i in range(sizes.size):
        for c in range(k - 1):
            points[i, c] = vectors[c, i] / np.sqrt(sizes[i])
    labels = kmeans(points, sizes, k, seed)
    if method == CENTRED and not one_sided(labels):
        kernel_kmeans(summed, sizes, labels, k)
    return labels


@njit(shared=True)
def cut_in_many(weights, key, count, method, k, max_k, seed):
    """Divide supernodes into ``k`` clusters by a built-in method; 0: by the eigengap, 2 to
    ``max_k``.

    Returns int32 (count,): at least two clusters, possibly fewer than k.
    """
    max_k, k = min(max_k, count - 1), min(k, count)
    if k == 0 and max_k < 3:
        k = 2
    if k == 2 or (k > 0 and method == KMEANS):
        if k == 2:
            return cut_in_two(weights, key, count, method, seed)
        points, sizes = profiles(weights, key, count)
        labels = kmeans(points, sizes, k, seed)
        return halves(sizes) if one_sided(labels) else renamed(labels)
    summed, sizes = contracted(weights, key, count)
    prepare(summed, method == LAPLACIAN)
    matrix, tridiagonal = deflated(summed, sizes), np.zeros((3, count))
    reduce_rows(matrix, tridiagonal, count, 1)
    k, vectors = gap_and_vectors(matrix, tridiagonal, max_k, k, False)
    if k == 2 or method == KMEANS:
        return cut_in_many(weights, key, count, method, k, max_k, seed)
    labels = kmeans_of_vectors(summed, sizes, vectors, method, seed)
    return halves(sizes) if one_sided(labels) else renamed(labels)


@njit
def divide_whole(weights, method, seed, least, k, max_k, exact):
    """Divide m items by their similarity matrix with :func:`cut_in_many`, recursively.

    Sets of ``least`` items or fewer become stars (1: all sets are divided). With ``exact``, groups
    of :func:`noisefreekernels.lowest_similarity_groups` stay together. Returns ``(up, made)``:
    parents int32 (2m - 1,), and the number of nodes. Leaves are 0..m-1; inner nodes follow in the
    order made, the first with parent -1.
    """
    m = weights.shape[0]
    up = np.full(2 * m - 1, -1, np.int32)
    made = m
    order = np.arange(m).astype(np.int32)
    spare = np.empty(m, np.int32)
    pending = np.empty((m + 1, 3), np.int64)
    seeds = np.empty(m + 1, np.uint64)
    pending[0, 0], pending[0, 1], pending[0, 2] = 0, m, -1
    seeds[0] = seed
    waiting = 1
    while waiting:
        waiting -= 1
        begin, end, over, own = (
            pending[waiting, 0],
            pending[waiting, 1],
            pending[waiting, 2],
            seeds[waiting],
        )
        size = end - begin
        if size == 1:
            up[order[begin]] = over
            continue
        up[made] = over
        node = made
        made += 1
        if size <= least or size == 2:
            for p in range(begin, end):
                up[order[p]] = node
            continue
        part = np.empty((size, size))
        for i in range(size):
            row = weights[order[begin + i]]
            for j in range(size):
                part[i, j] = row[order[begin + j]]
        key, count = np.arange(size).astype(np.int32), size
        if exact:
            key, count = lowest_similarity_groups(part, key, count)
        labels = cut_in_many(part, key, count, method, k, max_k, own)[key]
        where = begin
        for side in range(labels.max() + 1):
            first = where
            for i in range(size):
                if labels[i] == side:
                    spare[where] = order[begin + i]
                    where += 1
            pending[waiting, 0], pending[waiting, 1], pending[waiting, 2] = first, where, node
            seeds[waiting] = child_seed(own, side)
            waiting += 1
        for p in range(begin, end):
            order[p] = spare[p]
    return up, made
