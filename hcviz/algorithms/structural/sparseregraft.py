"""Compiled search by regrafting over trees of a sparse graph: O(edges), not O(n), for a subtree.

:mod:`hcviz.algorithms.structural.regraft` defines the value f(u) of putting a subtree S back
above a node u. Let X(u) be the weight between S and the items below u. If X(u) is 0, then f(u) is
at least f of the parent of u: S makes one more clade larger, and no pair of S has a smaller clade.
So the best place is the root, or a node above a neighbour of S. Only these *marked* nodes are
evaluated.

The tree is stored by pointers, so that a move changes the ancestors of two places only. Triplets
and groups are hard, with the rules of the dense search: nothing goes strictly below LCA(a, b) if c
is in S, and S goes at or below a node if a or b is in S. The second kind of node is marked too.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hcviz.core.arrays import Counters, FloatM, IntList, IntM, Parents, TripletRows
from hcviz.core.jit import njit

#: A perturbation is 1 to MAX_MOVES regrafts, each to the best of TRIED random marked places.
MAX_MOVES = 4
TRIED = 3
#: Moves that can be undone, at most.
JOURNAL = 4096


class SparseSearch(NamedTuple):
    """The tree, the queue of subtrees to try, and work space. Nodes are 0..2n-2, leaves first."""

    up: Parents
    left: IntM  # -1 at leaves
    right: IntM
    size: IntM
    cut: FloatM  # the weight between the children
    rows: TripletRows
    item_begin: IntList  # (n + 1,): where an item's triplets begin in item_triplets
    item_triplets: IntList
    group_size: IntList
    group_first: IntList
    x: FloatM  # the weight between S and the items below, at marked nodes
    down: FloatM  # what S adds above a marked node
    value: FloatM  # f at marked nodes; inf if not allowed
    mark: IntM  # the stamp of the last evaluation that marked the node
    inside: IntM  # ... that had the node in S
    above: IntM  # ... that had S below the node
    floor: IntM  # ... below which S must not go
    other: IntM  # stamps of ancestors for lowest common ancestors
    need: IntM  # number of constraints that want S at or below the node
    met: IntM
    order: IntM  # marked nodes, parents first
    queue: IntM  # a ring of subtrees to try
    waiting: IntM  # 1 if a node is in the queue
    journal: IntList  # (2 * JOURNAL,): subtrees that were moved, and their former siblings
    state: Counters  # see the constants below
    totals: FloatM  # the cost of the tree, and of the last tree that was kept


#: Places in ``state``: the root, the last stamps, the queue's first place and length, moves in the
#: journal, whether moves are recorded, places evaluated, operations, marked nodes, and whether a
#: subtree moved since the last complete pass.
ROOT, STAMP, ALIAS, FIRST, LENGTH, MOVES, RECORDS, EVALUATED, WORK, MARKED, MOVED = range(11)
#: Places in ``totals``.
COST, KEPT = range(2)


@njit
def put_tree(s, parent, n):
    """Write a binary tree, whose parents come after their children."""
    m = parent.size
    s.left[:] = -1
    s.right[:] = -1
    for v in range(m):
        s.up[v] = parent[v]
        s.waiting[v] = 0
        s.size[v] = 1 if v < n else 0
    for v in range(m - 1):
        p = parent[v]
        s.size[p] += s.size[v]
        if s.left[p] < 0:
            s.left[p] = v
        else:
            s.right[p] = v
    s.state[ROOT] = m - 1
    s.state[MOVED] = 0
    queue_all(s)


@njit
def queue_all(s):
    """Put all subtrees but the whole tree into the queue, single items first."""
    m = s.up.size
    s.state[FIRST] = 0
    s.state[LENGTH] = 0
    for v in range(m):
        s.waiting[v] = 0
    for v in range(m):
        if v != s.state[ROOT]:
            append(s, v)


@njit
def append(s, v):
    """Put a subtree into the queue, if it is not in it."""
    if v < 0 or s.waiting[v] or v == s.state[ROOT]:
        return
    m = s.queue.size
    s.queue[(s.state[FIRST] + s.state[LENGTH]) % m] = v
    s.waiting[v] = 1
    s.state[LENGTH] += 1


@njit
def put_cuts(s, pair_lca, weights):
    """Write the cuts from the LCA and the weight of each pair, and return the cost."""
    s.cut[:] = 0.0
    for e in range(weights.size):
        s.cut[pair_lca[e]] += weights[e]
    total = 0.0
    for v in range(s.up.size):
        total += s.size[v] * s.cut[v]
    s.totals[COST] = total
    s.totals[KEPT] = total


@njit
def twin_of(s, v):
    """Return the other child of a node's parent."""
    p = s.up[v]
    return s.right[p] if s.left[p] == v else s.left[p]


@njit
def replace_child(s, q, old, new):
    """Put a node in the place of a child of ``q``; of the root if ``q`` is -1."""
    s.up[new] = q
    if q < 0:
        s.state[ROOT] = new
    elif s.left[q] == old:
        s.left[q] = new
    else:
        s.right[q] = new


@njit
def lowest_common(s, a, b):
    """Return the LCA of two nodes, and leave the ancestors of ``a`` stamped. O(depth)."""
    s.state[ALIAS] += 1
    stamp = s.state[ALIAS]
    while a >= 0:
        s.other[a] = stamp
        a = s.up[a]
    while s.other[b] != stamp:
        b = s.up[b]
    return b


@njit
def mark_path(s, v, stamp):
    """Mark a node and its ancestors."""
    while v >= 0 and s.mark[v] != stamp:
        s.mark[v] = stamp
        s.x[v] = 0.0
        s.need[v] = 0
        v = s.up[v]
        s.state[WORK] += 1


@njit
def apply_triplets(s, item, stamp, p, sibling):
    """Write the rules of the triplets of an item in S; return the number of nodes that it needs."""
    wanted = 0
    for y in range(s.item_begin[item], s.item_begin[item + 1]):
        t = s.item_triplets[y]
        a, b, c = s.rows[t, 0], s.rows[t, 1], s.rows[t, 2]
        s.state[WORK] += 32
        if item == c:
            if s.inside[a] == stamp or s.inside[b] == stamp:
                continue
            s.floor[lowest_common(s, a, b)] = stamp
        else:
            far = b if item == a else a
            if s.inside[far] == stamp or s.inside[c] == stamp:
                continue
            top = lowest_common(s, c, far)
            q = far
            while s.up[q] != top:
                q = s.up[q]
            if q == p:
                q = sibling
            mark_path(s, q, stamp)
            s.need[q] += 1
            wanted += 1
    return wanted


@njit
def apply_groups(s, stamp, p, sibling, wanted):
    """Do the same for the groups. O(groups * depth)."""
    for g in range(s.group_size.size):
        v = s.group_first[g]
        while s.size[v] < s.group_size[g]:
            v = s.up[v]
        s.state[WORK] += 16
        if s.inside[v] == stamp:
            continue
        if s.above[v] == stamp:
            q = sibling if v == p else v
            mark_path(s, q, stamp)
            s.need[q] += 1
            wanted += 1
        else:
            s.floor[v] = stamp
    return wanted


@njit
def weight_of(s, v, stamp):
    """Return X at a node."""
    return s.x[v] if s.mark[v] == stamp else 0.0


@njit
def evaluate(s, indptr, indices, data, k):
    """Compute ``value`` at the marked nodes for the subtree S at k: ``(best, least, now)``.

    The tree does not change. ``best`` is the node with the least value, and ``now`` the value at
    the sibling, where S is.
    """
    s.state[STAMP] += 1
    stamp = s.state[STAMP]
    n = indptr.size - 1
    p = s.up[k]
    sibling = twin_of(s, k)
    inside = s.size[k]
    a = p
    while a >= 0:
        s.above[a] = stamp
        a = s.up[a]
    # Stamp the nodes of S; `order` is the stack.
    top, count = 1, 0
    s.order[0] = k
    while count < top:
        v = s.order[count]
        count += 1
        s.inside[v] = stamp
        if v >= n:
            s.order[top], s.order[top + 1] = s.left[v], s.right[v]
            top += 2
    mark_path(s, sibling, stamp)
    constrained = s.rows.shape[0] + s.group_size.size > 0
    for at in range(count):
        v = s.order[at]
        if v < n:
            for e in range(indptr[v], indptr[v + 1]):
                j = indices[e]
                if s.inside[j] != stamp and data[e] != 0.0:
                    mark_path(s, j, stamp)
                    s.x[j] += data[e]
            s.state[WORK] += indptr[v + 1] - indptr[v]
    wanted = 0
    if constrained:
        for at in range(count):
            v = s.order[at]
            if v < n:
                wanted += apply_triplets(s, v, stamp, p, sibling)
        wanted = apply_groups(s, stamp, p, sibling, wanted)
    s.state[WORK] += count
    # Parents come before their children in `order`.
    root = s.state[ROOT]
    s.order[0] = root
    top, count = 1, 0
    while count < top:
        v = s.order[count]
        count += 1
        if v >= n:
            if s.mark[s.left[v]] == stamp:
                s.order[top] = s.left[v]
                top += 1
            if s.mark[s.right[v]] == stamp:
                s.order[top] = s.right[v]
                top += 1
    for at in range(count - 1, 0, -1):
        v = s.order[at]
        s.x[s.up[v]] += s.x[v]
    grown = np.float64(inside)
    s.down[root] = 0.0
    s.met[root] = s.need[root]
    best, least = -1, np.inf
    for at in range(count):
        v = s.order[at]
        if v != root:
            q = s.up[v]
            if q == p:
                s.down[v] = s.down[p]
                s.met[v] = -1 if s.met[p] < 0 else s.met[p] + s.need[v]
            elif s.met[q] < 0:
                s.met[v] = -1  # below a floor
            else:
                twin = twin_of(s, v)
                across = weight_of(s, twin, stamp)
                size, cut = np.float64(s.size[q]), s.cut[q]
                if s.above[q] == stamp:  # without S, which is below v or below its twin
                    size -= grown
                    low = v if s.above[v] == stamp else twin
                    cut -= weight_of(s, twin if low == v else v, stamp)
                s.down[v] = s.down[q] + grown * cut + (size + grown) * across
                s.met[v] = -1 if s.floor[q] == stamp else s.met[q] + s.need[v]
        if v == p:
            s.value[v] = np.inf
            continue
        size = np.float64(s.size[v] - (inside if s.above[v] == stamp else 0))
        price = (grown + size) * s.x[v] + s.down[v]
        if s.met[v] < wanted:
            price = np.inf
        s.value[v] = price
        if price < least:
            best, least = v, price
    s.state[EVALUATED] += count
    s.state[WORK] += 4 * count
    s.state[MARKED] = count
    return best, least, s.value[sibling]


@njit
def move(s, k, u):
    """Put S, now at k, above the marked node u, after :func:`evaluate`. O(depth)."""
    stamp = s.state[STAMP]
    p = s.up[k]
    sibling = twin_of(s, k)
    inside = s.size[k]
    s.totals[COST] += s.value[u] - s.value[sibling]
    a, child = s.up[p], p
    while a >= 0:
        twin = twin_of(s, child)
        s.cut[a] -= weight_of(s, twin, stamp)
        s.size[a] -= inside
        a, child = s.up[a], a
    replace_child(s, s.up[p], p, sibling)
    q = s.up[u]
    replace_child(s, q, u, p)
    s.up[u] = p
    s.up[k] = p
    s.left[p], s.right[p] = u, k
    s.size[p] = inside + s.size[u]
    s.cut[p] = weight_of(s, u, stamp)
    a, child = q, p
    while a >= 0:
        twin = twin_of(s, child)
        s.cut[a] += weight_of(s, twin, stamp)
        s.size[a] += inside
        a, child = s.up[a], a
        s.state[WORK] += 2
    if s.state[RECORDS]:
        at = s.state[MOVES]
        s.journal[2 * at], s.journal[2 * at + 1] = k, sibling
        s.state[MOVES] += 1
    append(s, k)
    append(s, u)
    append(s, sibling)
    append(s, p)
    append(s, s.up[p])
    append(s, s.up[sibling])


@njit
def undo(s, indptr, indices, data):
    """Take back the recorded moves, and empty the queue."""
    s.state[RECORDS] = 0
    for at in range(s.state[MOVES] - 1, -1, -1):
        k, u = s.journal[2 * at], s.journal[2 * at + 1]
        sibling = twin_of(s, k)
        evaluate(s, indptr, indices, data, k)
        if u != sibling:
            mark_path(s, u, s.state[STAMP])  # it may have no weight to S; the cost is set below
            move(s, k, u)
    s.state[MOVES] = 0
    s.state[RECORDS] = 1
    s.totals[COST] = s.totals[KEPT]
    while s.state[LENGTH]:
        take(s)


@njit
def take(s):
    """Return the next subtree of the queue."""
    m = s.queue.size
    v = s.queue[s.state[FIRST]]
    s.state[FIRST] = (s.state[FIRST] + 1) % m
    s.state[LENGTH] -= 1
    s.waiting[v] = 0
    return v


@njit
def perturb(s, indptr, indices, data, rng):
    """Make a few random regrafts of subtrees near each other."""
    n = indptr.size - 1
    item = int(rng.random() * n)
    for _ in range(1 + int(rng.random() * MAX_MOVES)):
        k = item
        while rng.random() < 0.5 and s.up[s.up[k]] >= 0:
            k = s.up[k]
        if s.up[k] < 0:
            k = item
        p = s.up[k]
        sibling = twin_of(s, k)
        evaluate(s, indptr, indices, data, k)
        count = s.state[MARKED]
        u = -1
        for _ in range(TRIED):
            j = s.order[int(rng.random() * count)]
            if j not in (p, sibling) and s.value[j] < np.inf and (u < 0 or s.value[j] < s.value[u]):
                u = j
        if u >= 0:
            move(s, k, u)
        degree = indptr[item + 1] - indptr[item]
        if degree:
            item = indices[indptr[item] + int(rng.random() * degree)]


@njit
def advance(s, indptr, indices, data, rng, least_gain, work, budget):
    """Regraft subtrees of the queue to their best places; perturb the tree at a local optimum.

    Returns after about ``work`` operations, or once ``budget`` places were evaluated in all; call
    again to continue. At a local optimum no regraft of any subtree helps. After a perturbation,
    only subtrees near it are tried; if the tree is worse then, the moves are taken back.
    """
    limit = s.state[WORK] + work
    while s.state[WORK] < limit and s.state[EVALUATED] < budget:
        if s.state[LENGTH] == 0:
            if not s.state[RECORDS]:
                if s.state[MOVED]:  # a complete pass must find nothing
                    s.state[MOVED] = 0
                    queue_all(s)
                    continue
            elif s.totals[COST] > s.totals[KEPT] + least_gain:
                undo(s, indptr, indices, data)
            s.totals[KEPT] = s.totals[COST]
            s.state[MOVES] = 0
            s.state[RECORDS] = 1
            perturb(s, indptr, indices, data, rng)
            continue
        k = take(s)
        if s.up[k] < 0:
            continue
        u, least, now = evaluate(s, indptr, indices, data, k)
        if now - least > least_gain and s.state[MOVES] < JOURNAL:
            move(s, k, u)
            s.state[MOVED] = 1


@njit
def keep(s, indptr, indices, data):
    """Return to the last tree that was kept if the present one is worse, or keep this one."""
    if s.state[RECORDS] and s.totals[COST] > s.totals[KEPT]:
        undo(s, indptr, indices, data)
    s.totals[KEPT] = s.totals[COST]
    s.state[MOVES] = 0


@njit
def parents_first(s):
    """Return the parents, int32 (2n - 1,), inner nodes numbered with parents first."""
    m = s.up.size
    n = (m + 1) // 2
    number = np.arange(m).astype(np.int32)
    top = np.full(m, -1, np.int32)
    s.order[0] = s.state[ROOT]
    count, done, made = 1, 0, n
    while done < count:
        v = s.order[done]
        done += 1
        if v >= n:
            number[v] = made
            made += 1
            s.order[count], s.order[count + 1] = s.left[v], s.right[v]
            count += 2
        if s.up[v] >= 0:
            top[number[v]] = number[s.up[v]]
    return top
