"""Compiled search over trees by regrafting: all places for one subtree are evaluated in O(n).

A binary tree over n items is stored in preorder, m = 2n - 1 positions. The left child of k is k +
1, its right child is ``end[k + 1]``, and its nodes are ``k .. end[k] - 1``. ``cut[k]`` is the
weight between the children of node k. Soft triplets add the penalty lam c_k of every ab|c that
fails there (LCA(a, b) = k with c below it). The objective, to be minimised, is the sum of ``size[k]
cut[k]``: Dasgupta's cost, or the regularised cost of Chatziafratis et al. (2018), equation (4).

Remove the subtree S of s items, and put it back above node u of the rest R. Let X(u) be the weight
between S and the items below u. The cost of all pairs of S with others, and of all clades that S
makes larger, is

    f(u) = (s + |u|) X(u) + sum over strict ancestors a of u of
           s cut(a) + (|a| + s) X(child of a that u is not below),

so one pass up (X) and one pass down (the sum) evaluate all places. Triplets that name items both
inside and outside S have these rules (ab|c; R restricted to the other items):

1. c in S: fails strictly below LCA(a, b). There a hard one forbids u, and a soft one costs lam c_k
times the size.
2. a in S (or b; call the other one b): holds at or below the child q of LCA(b, c) on b's side. A
soft one is an edge of weight lam c_k from S to q, which costs nothing from there on.
3. c and a in S, b not (or a and b exchanged): a tree that satisfies ab|c has none. A soft one is an
edge from S to b.

Groups are always hard. A group that contains S and more items is like a triplet of case 2: S goes
at or below the node of the group's other items. A group outside S is like one of case 1: nothing
goes strictly below its node. A group inside S moves with it.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hcviz.core.arrays import (
    BoolM,
    Counters,
    FloatK,
    FloatM,
    FloatN,
    IntList,
    IntM,
    IntN,
    IntRows,
    Parents,
    TripletRows,
)
from hcviz.core.buildkernels import renumbered
from hcviz.core.jit import njit

#: A perturbation is 1 to MAX_MOVES regrafts, each to the best of TRIED random places.
MAX_MOVES = 4
TRIED = 3


class Best(NamedTuple):
    """The best tree so far, as in :class:`Search`."""

    leaf: IntM
    up: Parents
    cut: FloatM
    cost: FloatM  # (1,)


class Search(NamedTuple):
    """The tree and work space; see the module's docstring. All arrays are C-contiguous."""

    size: IntM
    end: IntM
    up: Parents  # parent's position, -1 at the root
    leaf: IntM  # item or -1
    cut: FloatM
    place: IntN  # position of an item
    rows: TripletRows
    price: FloatK  # lam times weight; 0: hard
    item_begin: IntList  # (n + 1,): where an item's triplets begin in item_triplets
    item_triplets: IntList  # (3k,)
    x: FloatN  # weight between S and an item
    weight: FloatM  # X
    edge: FloatM  # case 2: edges that end at this node
    below: FloatM  # case 1: the price strictly below this node
    floor: BoolM  # case 1, hard
    need: IntM  # case 2, hard
    met: IntM  # how many of them hold here
    down: FloatM  # the sum over ancestors
    value: FloatM  # f; inf if not allowed
    touched: IntList  # (3k + g + 1,): positions to clear; the last entry is their number
    old: FloatM  # cuts of S's ancestors
    spare: IntRows  # (5, m)
    spare_cut: FloatM
    tally: Counters  # (5,): see the constants below
    group_size: IntList  # (g,)
    group_first: IntList  # (g,): the lowest item of each group


#: Places in ``tally``: the next position, subtrees without a gain in a row, perturbations,
#: operations done, and places evaluated.
NEXT, IDLE, PERTURBATIONS, WORK, EVALUATED = range(5)


@njit
def lca(s, u, v):
    """Return the LCA of two positions: O(depth)."""
    while not (u <= v and v < s.end[u]):
        u = s.up[u]
    return u


@njit
def put_tree(s, left, right, root):
    """Write a binary tree in preorder, from the children of its nodes (-1 for leaves 0..n-1)."""
    n = s.place.size
    stack = s.spare[0]
    over = s.spare[1]
    stack[0], over[0] = root, -1
    top, k = 1, 0
    while top:
        top -= 1
        v = stack[top]
        s.up[k] = over[top]
        s.size[k] = 1
        if v < n:
            s.leaf[k] = v
            s.place[v] = k
        else:
            s.leaf[k] = -1
            stack[top], over[top] = right[v], k
            stack[top + 1], over[top + 1] = left[v], k
            top += 2
        k += 1
    s.tally[NEXT] = 1
    s.tally[IDLE] = 0
    finish_layout(s)


@njit
def finish_layout(s):
    """Compute sizes and ends from parents: a child comes after its parent."""
    m = s.size.size
    for k in range(m):
        s.size[k] = 1 if s.leaf[k] >= 0 else 0
    for k in range(m - 1, 0, -1):
        s.size[s.up[k]] += s.size[k]
    for k in range(m):
        s.end[k] = k + 2 * s.size[k] - 1


@njit
def put_cuts(s, matrix, sign, begin, stop):
    """Add the pairs of the ``begin .. stop - 1``-th leaves in order to the cuts. O((stop - begin)
    n).

    Each pair is added twice, once from each of its items, so each time half of it is added.
    """
    m = s.size.size
    n = s.place.size
    before = np.empty(n + 1)  # weight between i and the leaves so far
    first = s.spare[0]  # number of leaves before position k
    count = 0
    for k in range(m):
        first[k] = count
        if s.leaf[k] >= 0:
            s.spare[1, count] = s.leaf[k]
            count += 1
    for r in range(begin, stop):
        i = s.spare[1, r]
        row = matrix[i]
        before[0] = 0.0
        for j in range(n):
            before[j + 1] = before[j] + row[s.spare[1, j]]
        k = s.place[i]
        while s.up[k] >= 0:
            p = s.up[k]
            other = p + 1 if k != p + 1 else s.end[k]
            low = first[other]
            s.cut[p] += 0.5 * sign * (before[low + s.size[other]] - before[low])
            k = p


@njit
def put_penalties(s):
    """Add the prices of violated soft triplets to the cuts."""
    for t in range(s.rows.shape[0]):
        if s.price[t] > 0:
            a, b, c = s.rows[t, 0], s.rows[t, 1], s.rows[t, 2]
            k = lca(s, s.place[a], s.place[b])
            if k <= s.place[c] < s.end[k]:
                s.cut[k] += s.price[t]


@njit
def total_cost(s):
    """Return the objective."""
    total = 0.0
    for k in range(s.size.size):
        total += s.size[k] * s.cut[k]
    return total


@njit(fastmath={"reassoc", "contract"})
def sum_rows(s, matrix, sign, k):
    """Compute x: the weight between the items below k and every item."""
    n = s.x.size
    x = s.x
    row = matrix[s.leaf[k] if s.leaf[k] >= 0 else 0]
    if s.leaf[k] >= 0:
        for i in range(n):
            x[i] = sign * row[i]
        return
    x[:] = 0.0
    for j in range(k, s.end[k]):
        if s.leaf[j] >= 0:
            row = matrix[s.leaf[j]]
            for i in range(n):
                x[i] += row[i]
    if sign != 1.0:
        for i in range(n):
            x[i] *= sign


@njit
def apply_triplets(s, k, p, sibling):
    """Write the rules of the triplets for S at k; return hard ones of case 2, and marks to
    clear."""
    wanted = 0
    marks = 0
    stop = s.end[k]
    for j in range(k, stop):
        item = s.leaf[j]
        if item < 0:
            continue
        for y in range(s.item_begin[item], s.item_begin[item + 1]):
            t = s.item_triplets[y]
            first, second, third = s.rows[t, 0], s.rows[t, 1], s.rows[t, 2]
            a, b, c = s.place[first], s.place[second], s.place[third]
            price = s.price[t]
            if item == third:
                a_in, b_in = k <= a < stop, k <= b < stop
                if a_in and b_in:
                    continue
                if a_in or b_in:
                    outside = b if a_in else a
                    if price > 0:
                        s.x[s.leaf[outside]] += price
                    continue
                v = lca(s, a, b)
                s.touched[marks] = v
                marks += 1
                if price > 0:
                    s.below[v] += price
                else:
                    s.floor[v] = True
            else:
                other = b if item == first else a
                if k <= other < stop or k <= c < stop:
                    continue
                q = other
                while not s.up[q] <= c < s.end[s.up[q]]:
                    q = s.up[q]
                if q == p:
                    q = sibling
                s.touched[marks] = q
                marks += 1
                if price > 0:
                    s.edge[q] += price
                else:
                    s.need[q] += 1
                    wanted += 1
    return wanted, marks


@njit
def apply_groups(s, k, p, sibling, wanted, marks):
    """Do the same as :func:`apply_triplets` for the groups. O(groups * depth)."""
    for g in range(s.group_size.size):
        v = s.place[s.group_first[g]]
        while s.size[v] < s.group_size[g]:
            v = s.up[v]
        if k <= v < s.end[k]:
            continue
        if v < k < s.end[v]:
            q = sibling if v == p else v
            s.need[q] += 1
            wanted += 1
        else:
            q = v
            s.floor[q] = True
        s.touched[marks] = q
        marks += 1
    return wanted, marks


@njit
def add_upwards(s, begin, stop, constrained):
    """Compute X at positions ``begin .. stop - 1``, last first; those after them are done."""
    leaf, end, weight, edge, x = s.leaf, s.end, s.weight, s.edge, s.x
    for j in range(stop - 1, begin - 1, -1):
        if leaf[j] >= 0:
            weight[j] = x[leaf[j]]
        else:
            other = end[j + 1]
            weight[j] = weight[j + 1] + weight[other]
            if constrained:
                weight[j] += edge[j + 1] + edge[other]


@njit
def evaluate_places(s, matrix, sign, k):
    """Remove S at k > 0 and compute ``value`` for all positions: ``(best, least, now)``.

    ``best`` is the position with the least value, and ``now`` the value at the sibling, where S
    was. Sizes and cuts of the ancestors of S are those of R until :func:`put_back` or :func:`move`.
    """
    m = s.size.size
    p = s.up[k]
    sibling = s.end[k] if k == p + 1 else p + 1
    stop = s.end[k]
    inside = s.size[k]
    sum_rows(s, matrix, sign, k)
    a = s.up[p]
    depth = 0
    while a >= 0:
        s.old[depth] = s.cut[a]
        depth += 1
        a = s.up[a]
    constrained = s.rows.shape[0] + s.group_size.size > 0
    wanted, marks = 0, 0
    if constrained:
        wanted, marks = apply_triplets(s, k, p, sibling)
        wanted, marks = apply_groups(s, k, p, sibling, wanted, marks)
    weight, edge = s.weight, s.edge
    leaf, end, size, cut, down, value = s.leaf, s.end, s.size, s.cut, s.down, s.value
    add_upwards(s, stop, m, constrained)
    for j in range(k, stop):
        weight[j] = 0.0
        value[j] = np.inf
    add_upwards(s, 0, k, constrained)
    a, child = s.up[p], p
    while a >= 0:
        other = a + 1 if child != a + 1 else end[child]
        size[a] -= inside
        cut[a] -= weight[other] + edge[other] + s.below[a]
        a, child = s.up[a], a
    grown = np.float64(inside)
    down[0] = 0.0
    s.met[0] = s.need[0]
    best, least = -1, np.inf
    j = 0
    while j < m:
        if j == k:
            j = stop
            continue
        here = down[j]
        if j == p:
            value[j] = np.inf
            down[sibling] = here
            if constrained:
                s.met[sibling] = s.met[j] + s.need[sibling]
            j += 1
            continue
        price = (grown + size[j]) * weight[j] + here
        if constrained and s.met[j] < wanted:
            price = np.inf
        value[j] = price
        if price < least:
            best, least = j, price
        if leaf[j] < 0:
            left, right = j + 1, end[j + 1]
            base = here + grown * cut[j]
            tall = grown + size[j]
            if constrained:
                if s.floor[j]:  # nothing below is allowed
                    for i in range(j + 1, end[j]):
                        value[i] = np.inf
                    j = end[j]
                    continue
                base += tall * s.below[j]
                s.met[left] = s.met[j] + s.need[left]
                s.met[right] = s.met[j] + s.need[right]
                down[left] = base + tall * (weight[right] + edge[right])
                down[right] = base + tall * (weight[left] + edge[left])
            else:
                down[left] = base + tall * weight[right]
                down[right] = base + tall * weight[left]
        j += 1
    s.tally[EVALUATED] += m - 2 * inside
    s.tally[WORK] += 4 * m + inside * s.x.size
    s.touched[s.touched.size - 1] = marks
    return best, least, value[sibling]


@njit
def clear_triplets(s):
    """Undo :func:`apply_triplets`."""
    for y in range(s.touched[s.touched.size - 1]):
        v = s.touched[y]
        s.below[v] = 0.0
        s.edge[v] = 0.0
        s.floor[v] = False
        s.need[v] = 0
    s.touched[s.touched.size - 1] = 0


@njit
def put_back(s, k):
    """Undo :func:`evaluate_places`: S stays in its place."""
    a = s.up[s.up[k]]
    depth = 0
    while a >= 0:
        s.cut[a] = s.old[depth]
        s.size[a] += s.size[k]
        depth += 1
        a = s.up[a]
    clear_triplets(s)


@njit
def move(s, k, u):
    """Put S, now at k, above u, after :func:`evaluate_places`. O(n)."""
    m = s.size.size
    p, stop = s.up[k], s.end[k]
    inside = s.size[k]
    child, a = u, s.up[u]
    while a >= 0:
        if a != p:
            other = a + 1 if child != a + 1 else s.end[child]
            s.cut[a] += s.weight[other] + s.edge[other] + s.below[a]
            s.size[a] += inside
        child, a = a, s.up[a]
    over_u = s.up[u]  # not p, whose only other child is the sibling
    s.cut[p] = s.weight[u]
    s.size[p] = inside + s.size[u]
    sibling = s.end[k] if k == p + 1 else p + 1
    clear_triplets(s)
    # New order: all nodes except S and p, with p, then S, in front of u. spare[0]: old -> new.
    new, size, leaf, up = s.spare[0], s.spare[1], s.spare[2], s.spare[3]
    at = 0
    for j in range(m):
        if j == u:
            new[p] = at
            at += 1
            for i in range(k, stop):
                new[i] = at
                at += 1
        if j != p and not k <= j < stop:
            new[j] = at
            at += 1
    for j in range(m):
        v = s.up[j]
        if j == p:
            v = over_u
        elif j in (u, k):
            v = p
        elif j == sibling:
            v = s.up[p]
        size[new[j]] = s.size[j]
        leaf[new[j]] = s.leaf[j]
        up[new[j]] = new[v] if v >= 0 else -1
        s.spare_cut[new[j]] = s.cut[j]
    for j in range(m):
        s.size[j] = size[j]
        s.leaf[j] = leaf[j]
        s.up[j] = up[j]
        s.cut[j] = s.spare_cut[j]
        s.end[j] = j + 2 * size[j] - 1
        if leaf[j] >= 0:
            s.place[leaf[j]] = j
    return new[k]


@njit
def perturb(s, matrix, sign, rng, moves, tried):
    """Regraft ``moves`` random subtrees, each to the best of ``tried`` random places."""
    m = s.size.size
    for _ in range(moves):
        k = 1 + int(rng.random() * (m - 1))
        evaluate_places(s, matrix, sign, k)
        p = s.up[k]
        sibling = s.end[k] if k == p + 1 else p + 1
        u = -1
        for _ in range(tried):
            j = int(rng.random() * m)
            if j != sibling and s.value[j] < np.inf and (u < 0 or s.value[j] < s.value[u]):
                u = j
        if u < 0:
            put_back(s, k)
        else:
            move(s, k, u)
    s.tally[IDLE] = 0
    s.tally[NEXT] = 1
    s.tally[PERTURBATIONS] += 1


@njit
def save_best(s, best):
    """Copy the tree of ``s`` and its cost to ``best``."""
    for k in range(s.size.size):
        best.leaf[k] = s.leaf[k]
        best.up[k] = s.up[k]
        best.cut[k] = s.cut[k]
    best.cost[0] = total_cost(s)


@njit
def restore_best(s, best):
    """Copy the best tree back to ``s``."""
    for k in range(s.size.size):
        s.leaf[k] = best.leaf[k]
        s.up[k] = best.up[k]
        s.cut[k] = best.cut[k]
        if s.leaf[k] >= 0:
            s.place[s.leaf[k]] = k
    finish_layout(s)


@njit
def advance(s, best, matrix, sign, rng, least_gain, work, budget):
    """Regraft one subtree after the other to its best place; perturb the tree at a local optimum.

    Returns after about ``work`` operations, or once ``budget`` places were evaluated in all; call
    again to continue. A tree that is no worse than the best one replaces it, so that plateaus are
    crossed.
    """
    m = s.size.size
    limit = s.tally[WORK] + work
    while s.tally[WORK] < limit and s.tally[EVALUATED] < budget:
        if s.tally[IDLE] == m - 1:  # no regraft of any subtree helps
            if total_cost(s) <= best.cost[0] + least_gain:
                save_best(s, best)
            else:
                restore_best(s, best)
            perturb(s, matrix, sign, rng, 1 + int(rng.random() * MAX_MOVES), TRIED)
            continue
        k = s.tally[NEXT]
        s.tally[NEXT] = k + 1 if k + 1 < m else 1
        u, least, now = evaluate_places(s, matrix, sign, k)
        if now - least > least_gain:
            move(s, k, u)
            s.tally[IDLE] = 0
        else:
            put_back(s, k)
            s.tally[IDLE] += 1
    if s.tally[PERTURBATIONS] == 0 or total_cost(s) < best.cost[0] - least_gain:
        save_best(s, best)


@njit
def parents(leaf, up, n):
    """Return the parent array of a tree in preorder, inner nodes numbered by size."""
    m = leaf.size
    number = np.empty(m, np.int32)
    top = np.full(m, -1, np.int32)
    made = n
    for k in range(m):
        if leaf[k] >= 0:
            number[k] = leaf[k]
        else:
            number[k] = made
            made += 1
        if k > 0:
            top[number[k]] = number[up[k]]
    return renumbered(top, n)
