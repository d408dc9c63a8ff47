"""Compiled passes over parent arrays: children, leaf orders, ancestors.

Everywhere ``parent`` is int32 of length m, with ``parent[v] > v`` except for the root, which is
last and has the parent -1. So a loop over increasing indices visits children before parents, and a
loop over decreasing indices visits parents first. There is no recursion.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit


@njit
def is_valid_tree(parent, height, n):
    """Return True if the arrays satisfy the six invariants of ``hcviz.core.tree``. O(m).

    ``parent`` must be int32 (m,) and ``height`` float64, both one-dimensional.
    """
    m = parent.size
    if n < 1 or height.size != m or parent[m - 1] != -1 or not np.isfinite(height[m - 1]):
        return False
    if n == 1:
        return m == 1 and height[0] == 0.0
    if not n < m <= 2 * n - 1:
        return False
    count = np.zeros(m, np.int32)
    for v in range(m - 1):
        p = parent[v]
        if p <= v or p >= m or p < n:
            return False
        if v < n and height[v] != 0.0:
            return False
        if not height[v] <= height[p]:  # also where one is NaN
            return False
        if height[v] == -np.inf:
            return False
        count[p] += 1
    return count[n:].min() >= 2


@njit
def children_csr(parent):
    """Return ``(offsets, items)``: node v has the children ``items[offsets[v]:offsets[v + 1]]``."""
    m = parent.size
    offsets = np.zeros(m + 1, np.int32)
    for v in range(m - 1):
        offsets[parent[v] + 1] += 1
    for v in range(m):
        offsets[v + 1] += offsets[v]
    fill = offsets[:m].copy()
    items = np.empty(m - 1, np.int32)
    for v in range(m - 1):
        p = parent[v]
        items[fill[p]] = v
        fill[p] += 1
    return offsets, items


@njit
def subtree_sizes(parent, n_leaves):
    """Return the number of leaves below each node (1 for a leaf): int32 (m,)."""
    size = np.zeros(parent.size, np.int32)
    size[:n_leaves] = 1
    for v in range(parent.size - 1):
        size[parent[v]] += size[v]
    return size


@njit
def depths(parent):
    """Return the number of edges between each node and the root: int32 (m,)."""
    depth = np.zeros(parent.size, np.int32)
    for v in range(parent.size - 2, -1, -1):
        depth[v] = depth[parent[v]] + 1
    return depth


@njit
def ancestor_to_position(parent, start, size, node, position):
    """Return the lowest ancestor of ``node``, or itself, whose leaves extend to ``position``."""
    while start[node] + size[node] <= position:
        node = parent[node]
    return node


@njit
def first_leaf_positions(parent, size):
    """Return the first position of each node's leaves in a depth-first order: int32 (m,).

    The leaves below v have the positions ``start[v] .. start[v] + size[v] - 1``; children come in
    the order of their indices.
    """
    m = parent.size
    start = np.zeros(m, np.int32)
    used = np.zeros(m, np.int32)
    # The loop must visit parents first, so it runs over decreasing indices and visits the last
    # sibling first. Therefore it reserves the positions of a node's children from the right.
    for v in range(m - 2, -1, -1):
        p = parent[v]
        used[p] += size[v]
        start[v] = start[p] + size[p] - used[p]
    return start


@njit
def preorder(parent):
    """Return ``(position, node)``: each node's position in a preorder, and the inverse."""
    m = parent.size
    nodes_below = np.ones(m, np.int32)
    for v in range(m - 1):
        nodes_below[parent[v]] += nodes_below[v]
    position = np.zeros(m, np.int32)
    used = np.zeros(m, np.int32)
    for v in range(m - 2, -1, -1):
        p = parent[v]
        used[p] += nodes_below[v]
        position[v] = position[p] + nodes_below[p] - used[p]
    node = np.empty(m, np.int32)
    for v in range(m):
        node[position[v]] = v
    return position, node


@njit
def lca_table(parent):
    """Return ``(position, table)``: a sparse table that answers LCA queries in O(1).

    Row 0 has, at preorder position i, the parent of the node there. If u is before v in preorder,
    their LCA is the highest of the parents at the positions ``position[u] + 1 .. position[v]``,
    which is the one with the smallest position. O(m log m) time and memory.
    """
    m = parent.size
    position, node = preorder(parent)
    rows = 1
    while (1 << rows) <= m:
        rows += 1
    table = np.empty((rows, m), np.int32)
    table[0, 0] = m - 1
    for i in range(1, m):
        table[0, i] = parent[node[i]]
    for k in range(1, rows):
        half = 1 << (k - 1)
        for i in range(m):
            left = table[k - 1, i]
            j = i + half
            if j < m and position[table[k - 1, j]] < position[left]:
                left = table[k - 1, j]
            table[k, i] = left
    return position, table


@njit
def pair_lca(u, v, position, table):
    """Return the LCA of two nodes, from the sparse table of :func:`lca_table`."""
    if u == v:
        return u
    low, high = position[u], position[v]
    if low > high:
        low, high = high, low
    low += 1
    k = 0
    while (2 << k) <= high - low + 1:
        k += 1
    left = table[k, low]
    right = table[k, high + 1 - (1 << k)]
    return left if position[left] < position[right] else right


@njit
def lca_many(first, second, position, table):
    """Return the LCA of ``first[i]`` and ``second[i]`` for each i: int32."""
    out = np.empty(first.size, np.int32)
    for i in range(first.size):
        out[i] = pair_lca(first[i], second[i], position, table)
    return out


@njit
def lca_size_matrix(parent, size, start, leaf_order, n_leaves):
    """Return the number of leaves below the LCA of i and j, for all pairs: int32 (n, n)."""
    out = np.empty((n_leaves, n_leaves), np.int32)
    offsets, items = children_csr(parent)
    for i in range(n_leaves):
        out[i, i] = 1
    for v in range(n_leaves, parent.size):
        for a in range(offsets[v], offsets[v + 1]):
            left = items[a]
            for b in range(a + 1, offsets[v + 1]):
                right = items[b]
                for x in range(start[left], start[left] + size[left]):
                    i = leaf_order[x]
                    for y in range(start[right], start[right] + size[right]):
                        j = leaf_order[y]
                        out[i, j] = size[v]
                        out[j, i] = size[v]
    return out


@njit
def restrict_nodes(parent, kept_rank, n_kept):
    """Return the induced tree over some leaves: ``(parent, origin)``.

    ``kept_rank[leaf]`` is the index of the leaf in the new tree, or -1. ``origin[u]`` is the old
    node of the new node u: for an inner node, the LCA of the kept leaves below it.
    """
    m = parent.size
    n_leaves = kept_rank.size
    new_parent = np.full(2 * n_kept - 1, -1, np.int32)
    origin = np.full(2 * n_kept - 1, -1, np.int32)
    branches = np.zeros(m, np.int32)  # number of children with a kept leaf below them
    for v in range(m - 1):
        if (v < n_leaves and kept_rank[v] >= 0) or branches[v] > 0:
            branches[parent[v]] += 1
    number = np.full(m, -1, np.int32)
    count = n_kept
    for v in range(m):
        if v < n_leaves:
            number[v] = kept_rank[v]
        elif branches[v] >= 2:
            number[v] = count
            count += 1
        if number[v] >= 0:
            origin[number[v]] = v
    above = np.full(m, -1, np.int32)  # the nearest ancestor in the new tree
    for v in range(m - 2, -1, -1):
        p = parent[v]
        above[v] = number[p] if number[p] >= 0 else above[p]
        if number[v] >= 0:
            new_parent[number[v]] = above[v]
    return new_parent[:count], origin[:count]


@njit(fastmath={"reassoc", "contract"})  # allows vectorised sums; keeps NaN and infinity
def dasgupta(parent, size, start, leaf_order, matrix):
    """Return the sum over i < j of |T[i,j]| (w_ij + w_ji) / 2, in one pass over ``matrix``.

    In leaf order, the leaves of the ancestors of i are growing intervals around i. So |T[i,j]| is
    a step function on both sides of i, and no LCA is needed.
    """
    n = leaf_order.size
    place = np.empty(n, np.int32)
    for k in range(n):
        place[leaf_order[k]] = k
    clade = np.empty(n)  # |T[i,j]| by the position of j, and 0 at i
    total = 0.0
    for here in range(n):
        i = leaf_order[here]
        row = matrix[i]
        clade[here] = 0.0
        low, high = here, here + 1
        v = parent[i]
        while v >= 0:
            begin, end = start[v], start[v] + size[v]
            for k in range(begin, low):
                clade[k] = size[v]
            for k in range(high, end):
                clade[k] = size[v]
            low, high = begin, end
            v = parent[v]
        part = 0.0
        for j in range(n):
            part += clade[place[j]] * row[j]
        total += part
    return total / 2.0
