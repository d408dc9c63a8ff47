"""Where a pruned subtree may be put back so that every triplet holds (paper 003, section 3.2).

With R the pruned tree and S the subtree, a triplet ab|c has a say only if S holds some but not all
of its items, and then

1. c in S, a and b not: not below LCA_R(a, b) (the branch above that node is still legal);
2. a in S, b and c not (or b in S, a and c not): at or below the child of LCA_R(b, c) on b's side;
3. a and b in S: always satisfied. (a and c, or b and c: cannot be where the triplet holds; a tree
   that violates it, which soft triplets allow, goes on violating it.)

The legal branches are therefore those of one subtree of R, cut off below some nodes: ``top`` and
the nodes with ``floor == stamp``.
"""

from __future__ import annotations

from hcviz.algorithms.ddt.work import STAMP
from hcviz.core.jit import njit


@njit
def gather(w, subtree):
    """Fill ``active``, ``node`` and ``kind`` for moving ``subtree``, which is detached already.

    Returns how many triplets have a say. O(size + (their number) * depth).
    """
    n = w.data.shape[0]
    if w.triplets.shape[0] == 0:
        return 0
    w.count[STAMP] += 1
    stamp = w.count[STAMP]
    leaves = 0
    top = 1
    w.stack[0] = subtree
    while top > 0:
        top -= 1
        v = w.stack[top]
        if v < n:
            if w.at[v + 1] > w.at[v]:
                w.touched[leaves] = v
                leaves += 1
            w.inside[v] = stamp
        else:
            w.stack[top] = w.child[v, 0]
            w.stack[top + 1] = w.child[v, 1]
            top += 2
    found = 0
    for x in range(leaves):
        leaf = w.touched[x]
        for y in range(w.at[leaf], w.at[leaf + 1]):
            t = w.of[y]
            a = w.triplets[t, 0]
            b = w.triplets[t, 1]
            c = w.triplets[t, 2]
            if leaf == c:
                if w.inside[a] == stamp or w.inside[b] == stamp:
                    continue
                w.kind[found] = 1
                w.node[found] = meet(w, a, b, False)
            else:
                other = b if leaf == a else a
                if w.inside[other] == stamp or w.inside[c] == stamp:
                    continue
                w.kind[found] = 2
                w.node[found] = meet(w, other, c, True)
            w.active[found] = t
            found += 1
    return found


@njit
def meet(w, a, b, below):
    """LCA of two leaves, or its child on a's side where ``below``. O(depth)."""
    w.count[STAMP] += 1
    stamp = w.count[STAMP]
    x = b
    while x >= 0:
        w.mark[x] = stamp
        x = w.parent[x]
    x = a
    while w.mark[w.parent[x]] != stamp:
        x = w.parent[x]
    return x if below else w.parent[x]


@njit
def restrict(w, found, root):
    """``(top, stamp)`` of the legal branches under the gathered triplets, all of them hard.

    The branches above ``top`` and its descendants are legal, but for strict descendants of nodes
    whose ``floor`` is ``stamp``. ``top`` is -1 if no branch is legal.
    """
    w.count[STAMP] += 1
    stamp = w.count[STAMP]
    top = root
    for x in range(found):
        v = w.node[x]
        if w.kind[x] == 1:
            w.floor[v] = stamp
        elif not is_above(w, v, top):
            if not is_above(w, top, v):
                return -1, stamp
            top = v
    x = w.parent[top]
    while x >= 0:  # a floor above the top leaves nothing; it cannot be while the tree is legal
        if w.floor[x] == stamp:
            return -1, stamp
        x = w.parent[x]
    return top, stamp


@njit
def is_above(w, v, x):
    """Whether v is x or an ancestor of x; u grows downward and ends the climb early."""
    while x >= 0 and x != v and w.u[x] > w.u[v]:
        x = w.parent[x]
    return x == v


@njit
def broken(w, found, branch):
    """Weight of the gathered triplets violated by attaching above ``branch``. O(depth + found)."""
    w.count[STAMP] += 1
    stamp = w.count[STAMP]
    x = branch
    while x >= 0:
        w.mark[x] = stamp
        x = w.parent[x]
    total = 0.0
    for x in range(found):
        v = w.node[x]
        below = w.mark[v] == stamp
        if (w.kind[x] == 1 and below and v != branch) or (w.kind[x] == 2 and not below):
            total += w.weight[w.active[x]]
    return total


@njit
def violated(w):
    """Number of triplets that the tree violates, and their weight. O(k depth)."""
    number = 0
    weight = 0.0
    for t in range(w.triplets.shape[0]):
        pair = meet(w, w.triplets[t, 0], w.triplets[t, 1], False)
        w.count[STAMP] += 1
        stamp = w.count[STAMP]
        x = w.triplets[t, 2]
        while x >= 0:
            w.mark[x] = stamp
            x = w.parent[x]
        if w.mark[pair] == stamp:
            number += 1
            weight += w.weight[t]
    return number, weight
