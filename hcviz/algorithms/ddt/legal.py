"""Where a pruned subtree may be put back so that every triplet holds (Vikram & Dasgupta 2016,
section 3.2).

With R the pruned tree and S the subtree, a triplet ab|c has a say only if S holds some but not all
of its items, and then

1. c in S, a and b not: not below LCA_R(a, b) (the branch above that node is still legal);
2. a in S, b and c not (or b in S, a and c not): at or below the child of LCA_R(b, c) on b's side;
3. a and b in S: always satisfied. (a and c, or b and c: cannot be where the triplet holds; a tree
   that violates it, which soft triplets allow, goes on violating it.)

The legal branches are therefore those of one subtree of R, cut off below some nodes: those above
``top`` and its descendants, but for strict descendants of nodes whose ``FLOOR`` is the stamp.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from hcviz.algorithms.ddt.work import (
    FLOOR,
    KIND,
    LEFT,
    MARK,
    NODE,
    PARENT,
    RIGHT,
    STAMP,
    WHICH,
    U,
)
from hcviz.core.jit import njit

#: Stamps beyond this are started over, by :func:`make_room` alone. What asks for room once makes
#: fewer than as many again (a move some 3 k, k triplets), so they stay within int32.
MAX_STAMP = 2**30


@njit
def make_room(node, count):
    """Start stamps over where they run out; all that were given before lose their meaning.

    Only between two moves: within one, stamps of floors and of known messages must outlive those
    made after them. O(1), but for O(n) once in a thousand million.
    """
    if count[STAMP] > MAX_STAMP:
        node[:, FLOOR:] = 0
        count[STAMP] = 0


@njit
def new_stamp(node, count):
    """A number that no stamp column holds. O(1)."""
    count[STAMP] += 1
    return count[STAMP]


@njit
def climb(node, count, v):
    """Mark v and its ancestors; the stamp."""
    stamp = new_stamp(node, count)
    while v >= 0:
        node[v, MARK] = stamp
        v = node[v, PARENT]
    return stamp


@njit
def meet(node, count, a, b, below):
    """LCA of two leaves, or its child on a's side where ``below``. O(depth)."""
    stamp = climb(node, count, b)
    x = a
    while node[node[x, PARENT], MARK] != stamp:
        x = node[x, PARENT]
    return x if below else node[x, PARENT]


@njit
def gather(node, count, spare, triplets, at, of, say, subtree):
    """Fill ``say`` for moving ``subtree``, which is detached already; how many triplets it holds.

    O(size + (their number) * depth).
    """
    if triplets.shape[0] == 0:
        return 0
    # The leaves of S are known by their place in a list: spare[1, leaf] = place, spare[2] the list.
    leaves = 0
    top = 1
    spare[0, 0] = subtree
    while top > 0:
        top -= 1
        v = spare[0, top]
        if node[v, LEFT] < 0:
            if at[v + 1] > at[v]:
                spare[2, leaves] = v
                spare[1, v] = leaves
                leaves += 1
        else:
            spare[0, top] = node[v, LEFT]
            spare[0, top + 1] = node[v, RIGHT]
            top += 2
    found = 0
    for x in range(leaves):
        leaf = spare[2, x]
        for y in range(at[leaf], at[leaf + 1]):
            t = of[y]
            a = triplets[t, 0]
            b = triplets[t, 1]
            c = triplets[t, 2]
            if leaf == c:
                if not (listed(spare, leaves, a) or listed(spare, leaves, b)):
                    say[found, KIND] = 1
                    say[found, NODE] = meet(node, count, a, b, False)
                    say[found, WHICH] = t
                    found += 1
            else:
                other = b if leaf == a else a
                if not (listed(spare, leaves, other) or listed(spare, leaves, c)):
                    say[found, KIND] = 2
                    say[found, NODE] = meet(node, count, other, c, True)
                    say[found, WHICH] = t
                    found += 1
    return found


@njit
def listed(spare, number, leaf):
    """Whether ``spare[2, :number]`` has ``leaf``, at the place that spare[1] says."""
    place = spare[1, leaf]
    return 0 <= place < number and spare[2, place] == leaf


@njit
def restrict(node, time, count, say, found, root):
    """``(top, stamp)`` of the legal branches under the gathered triplets, all of them hard.

    ``top`` is -1 if no branch is legal. O(found * depth).
    """
    stamp = new_stamp(node, count)
    top = root
    for x in range(found):
        v = say[x, NODE]
        if say[x, KIND] == 1:
            node[v, FLOOR] = stamp
        elif not is_above(node, time, v, top):
            if not is_above(node, time, top, v):
                return -1, stamp
            top = v
    x = node[top, PARENT]
    while x >= 0:  # cannot be while the tree satisfies them
        if node[x, FLOOR] == stamp:
            return -1, stamp
        x = node[x, PARENT]
    return top, stamp


@njit
def is_above(node, time, v, x):
    """Whether v is x or an ancestor of x; u rises downward and ends the climb early."""
    while x >= 0 and x != v and time[x, U] > time[v, U]:
        x = node[x, PARENT]
    return x == v


@njit
def broken(node, count, say, weight, found, branch):
    """Weight of the gathered triplets violated by attaching above ``branch``. O(depth + found)."""
    stamp = climb(node, count, branch)
    total = 0.0
    for x in range(found):
        v = say[x, NODE]
        on_path = node[v, MARK] == stamp
        if (say[x, KIND] == 1 and on_path and v != branch) or (say[x, KIND] == 2 and not on_path):
            total += weight[say[x, WHICH]]
    return total


@njit
def violated(w):
    """How many triplets the tree violates. O(k depth)."""
    node, count, triplets = w.node, w.tally, w.triplets
    make_room(node, count)
    number = 0
    for t in range(triplets.shape[0]):
        pair = meet(node, count, triplets[t, 0], triplets[t, 1], False)
        stamp = climb(node, count, triplets[t, 2])
        if node[pair, MARK] == stamp:
            number += 1
    return number
