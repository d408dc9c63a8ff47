"""Compiled passes behind the metrics."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.copykernels import copy_matrix
from hcviz.core.jit import njit
from hcviz.core.treekernels import children_csr


@njit
def resolved_triplets(parent, size, n):
    """Count the triplets ab|c of a tree, and sum |T[a,b]| over unordered pairs."""
    m = parent.size
    same_child = np.zeros(m, np.int64)  # number of pairs below the same child of a node
    for v in range(m - 1):
        same_child[parent[v]] += np.int64(size[v]) * (size[v] - 1) // 2
    resolved = 0
    pair_sizes = 0
    for v in range(n, m):
        pairs = np.int64(size[v]) * (size[v] - 1) // 2 - same_child[v]
        resolved += pairs * (n - size[v])
        pair_sizes += pairs * size[v]
    return resolved, pair_sizes


# ---------------------------------------------------------------------- triplets in both trees
#
# Both trees have the triplet ab|c if and only if c is outside u = LCA(a,b) in the first tree and
# outside v = LCA(a,b) in the second. There are n - |u| - |v| + |u and v| such items c. The first
# three terms are easy to sum. For the last term, fix u. Let I(v) be the number of leaves of u below
# v, and D(v) the number of pairs below v that are below different children of u. The sum over v of
# I(v) (D(v) - sum of D over v's children) is
#
#     D(root) I(root)  -  sum over v not the root of  D(v) (I(parent v) - I(v)).        (*)
#
# The algorithm visits each heavy path of the first tree from the bottom to the top. The leaves of
# the path so far are the "old" leaves; h(v) of them are below v in the second tree. At u the leaves
# of the light children are added: c(v) of them are below v, and c_i(v) of these belong to child i.
# D = h c + (c^2 - sum c_i^2) / 2 is 0 except above light leaves, that is, on the chains between
# neighbouring nodes of the tree that the light leaves induce. On a chain c is constant, so (*)
# telescopes, except for c times the sum of h(v) (h(parent v) - h(v)).
#
# To compute that sum, let a heavy path of the second tree have the nodes 0 (top) .. L-1, and let
# d_j = h_j - h_(j+1). A new leaf changes one d on each of its O(log n) heavy paths, and
#
#     sum over t <= j < b of d_j h_(j+1)  =  (S^2 - R) / 2 + S h_b,   S = sum d_j, R = sum d_j^2.
#
# Two Fenwick trees for each path give S and R. Each leaf is added once for each of the O(log n)
# heavy paths above it in the first tree.


@njit
def heavy_paths(parent, size):
    """Return ``(head, rank, length)`` of the heavy paths.

    ``head`` is the top of each node's path, ``rank`` its position on the path, and ``length`` the
    length of the path (at its head). The heavy child is the largest; of equal ones, the first.
    """
    m = parent.size
    heavy = np.full(m, -1, np.int32)
    for v in range(m - 1):
        p = parent[v]
        if heavy[p] < 0 or size[v] > size[heavy[p]]:
            heavy[p] = v
    head = np.empty(m, np.int32)
    rank = np.zeros(m, np.int32)
    length = np.zeros(m, np.int32)
    head[m - 1] = m - 1
    length[m - 1] = 1
    for v in range(m - 2, -1, -1):
        p = parent[v]
        if heavy[p] == v:
            head[v] = head[p]
            rank[v] = rank[p] + 1
        else:
            head[v] = v
        length[head[v]] = rank[v] + 1
    return head, rank, length


@njit
def insert(leaf, by, parent, head, rank, length, base, count, sums, squares, values):
    """Add ``by`` (1 or -1) old leaves at ``leaf`` to all paths above it."""
    v = leaf
    while v >= 0:
        top = head[v]
        at = base[top]
        j = rank[v]
        before = values[at + j]
        values[at + j] = before + by
        change = by * (2 * before + by)
        count[top] += by
        j += 1
        while j <= length[top]:
            sums[at + j - 1] += by
            squares[at + j - 1] += change
            j += j & -j
        v = parent[top]


@njit
def leaving(top, below, base, sums, squares):
    """Return ``(S, R)``: sums of d and d^2 over positions 0 .. below-1 of the path of ``top``."""
    total = np.int64(0)
    square = np.int64(0)
    at = base[top]
    j = below
    while j > 0:
        total += sums[at + j - 1]
        square += squares[at + j - 1]
        j -= j & -j
    return total, square


@njit
def old_below(v, head, rank, base, count, sums):
    """Return h(v), the number of old leaves below v."""
    top = head[v]
    total = count[top]
    at = base[top]
    j = rank[v]
    while j > 0:
        total -= sums[at + j - 1]
        j -= j & -j
    return total


@njit
def climb(v, goal, parent, head, rank, base, count, sums, squares):
    """Sum h(x) (h(parent x) - h(x)) for x from v to below ``goal``; also return the last h(x)."""
    total = np.int64(0)
    last = np.int64(0)
    while head[v] != head[goal]:
        top = head[v]
        gone, square = leaving(top, rank[v], base, sums, squares)
        total += (gone * gone - square) // 2 + gone * (count[top] - gone)
        v = parent[top]
        last = count[top]
        if last:
            total += last * (old_below(v, head, rank, base, count, sums) - last)
    if v != goal:
        top = head[v]
        gone, square = leaving(top, rank[v], base, sums, squares)
        gone_goal, square_goal = leaving(top, rank[goal], base, sums, squares)
        here = count[top] - gone
        last = count[top] - gone_goal - values_at(goal, top, rank, base, sums)
        gone -= gone_goal
        square -= square_goal
        total += (gone * gone - square) // 2 + gone * here
    return total, last


@njit
def values_at(v, top, rank, base, sums):
    """Return d at one position of a path, from its Fenwick tree."""
    at = base[top]
    j = rank[v] + 1
    stop = j - (j & -j)
    total = np.int64(sums[at + j - 1])
    j -= 1
    while j > stop:
        total -= sums[at + j - 1]
        j -= j & -j
    return total


@njit
def path_lca(u, v, parent, head, rank):
    """Return the LCA, by heavy paths: O(log n) without a table."""
    while head[u] != head[v]:
        if head[u] < head[v]:  # ancestors have larger indices, so move up from the smaller head
            u = parent[head[u]]
        else:
            v = parent[head[v]]
    return u if rank[u] < rank[v] else v


@njit
def virtual_tree(places, count, leaf_at, parent, head, rank, node, above, below, stack):
    """Compute the tree induced by the leaves at the increasing positions ``places[:count]``.

    Nodes are listed with children before parents. Fills ``node``; ``above``, the index of the
    parent in the list (-1 at the top); and ``below``, the number of leaves. Returns the number of
    nodes.
    """
    made = 0
    depth = 0
    for k in range(count):
        node[made], below[made], above[made] = leaf_at[places[k]], 1, -1
        last = made
        made += 1
        join = -1
        if k < count - 1:
            join = path_lca(node[last], leaf_at[places[k + 1]], parent, head, rank)
        while depth > 0 and (join < 0 or node[stack[depth - 1]] < join):
            above[last] = stack[depth - 1]
            below[stack[depth - 1]] += below[last]
            depth -= 1
            last = stack[depth]
        if join >= 0:
            if depth == 0 or node[stack[depth - 1]] != join:
                node[made], below[made], above[made] = join, 0, -1
                stack[depth] = made
                depth += 1
                made += 1
            above[last] = stack[depth - 1]
            below[stack[depth - 1]] += below[last]
    return made


@njit
def common_clade_sum(first_parent, first_size, first_start, first_order, parent, size, start):
    """Sum |u and v| over unordered pairs, where u and v are the LCAs in the two trees.

    At worst O(n log^3 n), usually O(n log^2 n); O(n) memory.
    """
    n = first_order.size
    m = parent.size
    head, rank, length = heavy_paths(parent, size)
    base = np.zeros(m, np.int32)
    used = 0
    for v in range(m):
        if head[v] == v:
            base[v] = used
            used += length[v]
    count = np.zeros(m, np.int64)
    sums = np.zeros(m, np.int64)
    squares = np.zeros(m, np.int64)
    values = np.zeros(m, np.int64)
    leaf_at = np.empty(n, np.int32)
    for x in range(n):
        leaf_at[start[x]] = x

    first_head, _, _ = heavy_paths(first_parent, first_size)
    offsets, items = children_csr(first_parent)
    places = np.empty(n, np.int32)
    node = np.empty(2 * n, np.int32)
    above = np.empty(2 * n, np.int32)
    below = np.empty(2 * n, np.int64)
    stack = np.empty(n, np.int32)
    total = np.int64(0)
    root = m - 1
    for bottom in range(n):
        path_top = first_head[bottom]
        if path_top == bottom:
            continue
        insert(bottom, 1, parent, head, rank, length, base, count, sums, squares, values)
        u = bottom
        while u != path_top:
            came_from = u
            u = first_parent[u]
            old = np.int64(first_size[came_from])
            new = np.int64(first_size[u]) - old
            fill = 0
            for k in range(first_start[u], first_start[u] + first_size[u]):
                if not 0 <= k - first_start[came_from] < old:
                    places[fill] = start[first_order[k]]
                    fill += 1
            light = places[:fill]
            light.sort()
            made = virtual_tree(
                places, fill, leaf_at, parent, head, rank, node, above, below, stack
            )
            part = np.int64(0)
            top = -1
            for k in range(made):
                c = below[k]
                if above[k] < 0:
                    top = k
                    part += (
                        c * climb(node[k], root, parent, head, rank, base, count, sums, squares)[0]
                    )
                else:
                    chain, last = climb(
                        node[k], node[above[k]], parent, head, rank, base, count, sums, squares
                    )
                    part += c * (chain + last * (below[above[k]] - c))
            pairs = old * new
            for k in range(fill):
                insert(
                    leaf_at[places[k]], 1,
                    parent, head, rank, length, base, count, sums, squares, values,
                )  # fmt: skip
            if offsets[u + 1] - offsets[u] > 2:
                # Add (c^2 - sum of c_i^2) / 2. Now h includes the new leaves, so h = I.
                twice = add_chain_squares(
                    made, node, above, below, top, head, rank, base, count, sums, root
                )
                pairs_twice = new * new
                for j in range(offsets[u], offsets[u + 1]):
                    child = items[j]
                    if child == came_from:
                        continue
                    k0 = first_start[child]
                    for k in range(first_size[child]):
                        places[k] = start[first_order[k0 + k]]
                    colour = places[: first_size[child]]
                    colour.sort()
                    made = virtual_tree(
                        places, first_size[child], leaf_at, parent, head, rank,
                        node, above, below, stack,
                    )  # fmt: skip
                    for k in range(made):
                        if above[k] < 0:
                            top = k
                    twice -= add_chain_squares(
                        made, node, above, below, top, head, rank, base, count, sums, root
                    )
                    pairs_twice -= np.int64(first_size[child]) ** 2
                part += twice // 2
                pairs += pairs_twice // 2
            total += pairs * (old + new) - part
        for k in range(first_start[path_top], first_start[path_top] + first_size[path_top]):
            insert(
                first_order[k], -1,
                parent, head, rank, length, base, count, sums, squares, values,
            )  # fmt: skip
    return total


@njit
def add_chain_squares(made, node, above, below, top, head, rank, base, count, sums, root):
    """Sum c^2 (I(upper end) - I(lower end)) over the chains of an induced tree."""
    total = np.int64(0)
    for k in range(made):
        upper = root if k == top else node[above[k]]
        total += (below[k] * below[k]) * (
            old_below(upper, head, rank, base, count, sums)
            - old_below(node[k], head, rank, base, count, sums)
        )
    return total


@njit
def clade_hashes(parent, codes):
    """Return the XOR of the codes of the leaves below each node: uint64 (m,)."""
    out = np.zeros(parent.size, np.uint64)
    out[: codes.size] = codes
    for v in range(parent.size - 1):
        out[parent[v]] ^= out[v]
    return out


@njit
def nearest_clades(parent, size, leaves, starts):
    """Find the node whose leaves differ least from each set ``leaves[starts[k] : starts[k + 1]]``.

    Returns int32 (k, 2): the node (the first one in a tie), and the number of different items.
    O(k m).
    """
    m = parent.size
    out = np.empty((starts.size - 1, 2), np.int32)
    shared = np.empty(m, np.int64)
    for k in range(starts.size - 1):
        for v in range(m):
            shared[v] = 0
        for place in range(starts[k], starts[k + 1]):
            shared[leaves[place]] = 1
        count = starts[k + 1] - starts[k]
        best, fewest = -1, 2 * m
        for v in range(m):
            apart = count + size[v] - 2 * shared[v]
            if apart < fewest:
                best, fewest = v, apart
            if v < m - 1:
                shared[parent[v]] += shared[v]
        out[k, 0], out[k, 1] = best, fewest
    return out


# ---------------------------------------------------------------------- sums over clusters


@njit
def clade_sums(parent, rows):
    """Sum the ``rows`` (float64 (n, d)) of the leaves below each node: float64 (m, d)."""
    m, width = parent.size, rows.shape[1]
    out = np.zeros((m, width))
    copy_matrix(out[: rows.shape[0]], rows)
    for v in range(m - 1):
        above = out[parent[v]]
        for t in range(width):
            above[t] += out[v, t]
    return out


@njit
def cross_weights(parent, size, start, leaf_order, matrix):
    """Sum the similarities of each node's leaves to its parent's other leaves: float64 (m,)."""
    n = leaf_order.size
    across = np.zeros(parent.size)
    before = np.empty(n + 1)
    for k in range(n):
        i = leaf_order[k]
        before[0] = 0.0
        for j in range(n):
            other = leaf_order[j]
            before[j + 1] = before[j] + (0.0 if other == i else matrix[i, other])
        v = i
        inside = 0.0
        while parent[v] >= 0:
            p = parent[v]
            whole = before[start[p] + size[p]] - before[start[p]]
            across[v] += whole - inside
            inside = whole
            v = p
    return across
