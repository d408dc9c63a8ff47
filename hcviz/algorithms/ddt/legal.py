"""The positions at which a pruned subtree satisfies all constraints (Vikram & Dasgupta 2016,
section 3.2).

Let R be the pruned tree and S the subtree. A triplet ab|c is *active* only if S holds some but not
all of its items. Then one rule applies:

1. c in S, a and b not: not below LCA_R(a, b). The branch above that node is legal.
2. a in S, b and c not (or b in S, a and c not): at or below the child of LCA_R(b, c) on b's side.
3. a and b in S: always satisfied. S cannot hold a and c without b, or b and c without a, if the
tree satisfies the triplet. A tree that violates it, as soft triplets allow, continues to violate
it.

So the legal branches are those of one subtree of R, without those below some nodes. They are the
branches above ``top`` and above its descendants. Strict descendants of nodes whose ``FLOOR`` is the
stamp are excluded.

*Groups.* A group G is a clade of every tree; let v be its node. If S has all items of G, or the
node of G is in S, nothing changes. If S has no item of G, it may not go strictly below v. If S has
some but not all items of G, it goes at or below the node of G's other items in R, and the branch
above this node is legal. So ``top`` is the node of the other items of the smallest group that
contains S and more. The ``FLOOR`` of the node of group g is always :func:`group_floor`, which no
stamp equals; that of the smallest group that contains S is cleared while S is detached.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.algorithms.ddt.work import (
    APART,
    APART_SEEN,
    END,
    FLOOR,
    GROUP_SEEN,
    IN_GROUP,
    KIND,
    LEAVES,
    LEFT,
    MARK,
    NODE,
    ORDER,
    PARENT,
    RIGHT,
    SIZE,
    STACK,
    STAMP,
    TOUCHED,
    TRIPLET,
    U,
)
from hcviz.core.jit import njit

#: Kinds of rules: nothing strictly below the node, or only at it and below it.
NOT_BELOW, AT_OR_BELOW = 1, 2

#: Stamps above this start again from 0, in :func:`reset_stamps`. After a reset, one move makes far
#: fewer stamps than this (about 3 k for k triplets), so they fit int32.
MAX_STAMP = 2**30


@njit
def reset_stamps(node, tally):
    """Start stamps again if they run out; all stamps so far become invalid.

    Call it only between two moves: within a move, stamps of floors and of messages must stay valid.
    O(1), except for O(n) once in 2^30 stamps.
    """
    if tally[STAMP] > MAX_STAMP:
        for v in range(node.shape[0]):
            node[v, FLOOR] = min(node[v, FLOOR], 0)  # the marks of groups are negative
        node[:, FLOOR + 1 :] = 0
        tally[STAMP] = 0


@njit
def group_floor(group):
    """Return the mark of a group's node in the column FLOOR, -2 or less."""
    return -2 - group


@njit
def ends_at(node, v, stamp):
    """Return True if nothing is legal strictly below v: a stamped node, or the node of a group."""
    floor = node[v, FLOOR]
    return floor == stamp or floor < -1


@njit
def mark_groups(node, group_size, group_first):
    """Mark the nodes of all groups, after a tree was written. O(n + groups * depth)."""
    for v in range(node.shape[0]):
        node[v, FLOOR] = max(node[v, FLOOR], 0)
    for g in range(group_size.size):
        v = group_first[g]
        while node[v, SIZE] < group_size[g]:
            v = node[v, PARENT]
        node[v, FLOOR] = group_floor(g)


@njit
def enter_group(w, subtree, parent, sibling, root):
    """Find where the groups allow a detached subtree: ``(group, top)``.

    ``group`` is the smallest group that contains S and more items, or -1. ``top`` is the node of
    its other items, or the root. Clears the marks of ``parent``, and of ``top`` if it is that of
    ``group``. O(depth).
    """
    node, group_size = w.node, w.group_size
    if group_size.size == 0:
        return np.int64(-1), root
    node[parent, FLOOR] = max(node[parent, FLOOR], 0)
    leaf = subtree
    while node[leaf, LEFT] >= 0:
        leaf = node[leaf, LEFT]
    leaves = node[subtree, SIZE]
    group = np.int64(w.group_home[leaf])
    while group >= 0 and group_size[group] <= leaves:
        group = np.int64(w.group_over[group])
    if group < 0:
        return group, root
    top = sibling
    while node[top, SIZE] < group_size[group] - leaves:
        top = np.int64(node[top, PARENT])
    if node[top, FLOOR] == group_floor(group):
        node[top, FLOOR] = 0
    return group, top


@njit
def leave_group(node, group, top, parent, branch):
    """Mark the node of ``group`` again, after S was attached to the branch above ``branch``."""
    if group >= 0:
        node[parent if branch == top else top, FLOOR] = group_floor(group)


@njit
def new_stamp(node, tally):
    """Return a number that no stamp column holds. O(1)."""
    tally[STAMP] += 1
    return tally[STAMP]


@njit
def mark_ancestors(node, tally, v):
    """Mark v and its ancestors; return the stamp."""
    stamp = new_stamp(node, tally)
    while v >= 0:
        node[v, MARK] = stamp
        v = node[v, PARENT]
    return stamp


@njit
def lca(node, tally, a, b, below):
    """Return the LCA of two leaves, or its child on a's side if ``below``. O(depth)."""
    stamp = mark_ancestors(node, tally, b)
    x = a
    while node[node[x, PARENT], MARK] != stamp:
        x = node[x, PARENT]
    return x if below else node[x, PARENT]


@njit
def gather_partials(
    node, time, tally, spare, partial, items, partial_begin, item_partials, active, subtree
):
    """Write the rules of hard triplets, taken together as statements (A, B).

    1. S has an item of B and none of A: not below LCA_R(A).
    2. S has some items of A, but not all: at or below the highest node above another item of A that
       has no item of B below it.

    O(size + depth * (items of the statements that name an item of S)); ancestors that several items
    share count once.
    """
    leaves = list_leaves(node, spare, partial_begin, subtree)
    touched = 0
    for x in range(leaves):
        leaf = spare[LEAVES, x]
        for y in range(partial_begin[leaf], partial_begin[leaf + 1]):
            p = item_partials[y] >> 1
            if partial[p, GROUP_SEEN] + partial[p, APART_SEEN] == 0:
                partial[touched, TOUCHED] = p
                touched += 1
            partial[p, GROUP_SEEN + (item_partials[y] & 1)] += 1
    found = 0
    for x in range(touched):
        p = partial[x, TOUCHED]
        inside, outside = partial[p, GROUP_SEEN], partial[p, APART_SEEN]
        partial[p, GROUP_SEEN] = partial[p, APART_SEEN] = 0
        begin, middle, end = partial[p, IN_GROUP], partial[p, APART], partial[p, END]
        if inside == 0:
            active[found, KIND] = NOT_BELOW
            active[found, NODE] = lca_of_all(node, time, tally, items, begin, middle)
            found += 1
        elif inside < middle - begin and outside == 0:
            y = begin
            while in_list(spare, leaves, items[y]):
                y += 1
            active[found, KIND] = AT_OR_BELOW
            active[found, NODE] = highest_without(node, tally, items, middle, end, items[y])
            found += 1
    return found


@njit
def lca_of_all(node, time, tally, items, begin, end):
    """Return the LCA of the leaves ``items[begin:end]``, all in the same tree."""
    stamp = mark_ancestors(node, tally, items[begin])
    best = items[begin]
    for y in range(begin + 1, end):
        v = items[y]
        while node[v, MARK] != stamp:
            node[v, MARK] = stamp
            v = node[v, PARENT]
        if time[v, U] < time[best, U]:
            best = v
    return best


@njit
def highest_without(node, tally, items, begin, end, leaf):
    """Return the highest node above ``leaf`` with none of ``items[begin:end]`` below it."""
    stamp = new_stamp(node, tally)
    for y in range(begin, end):
        v = items[y]
        while v >= 0 and node[v, MARK] != stamp:
            node[v, MARK] = stamp
            v = node[v, PARENT]
    v = leaf
    while node[v, PARENT] >= 0 and node[node[v, PARENT], MARK] != stamp:
        v = node[v, PARENT]
    return v


@njit
def list_leaves(node, spare, begin, subtree):
    """List the leaves of S that have entries: those x with ``begin[x] < begin[x + 1]``.

    ``spare[LEAVES]`` is the list, and ``spare[ORDER, leaf]`` the place of a leaf in it. Returns
    their number.
    """
    leaves = 0
    top = 1
    spare[STACK, 0] = subtree
    while top > 0:
        top -= 1
        v = spare[STACK, top]
        if node[v, LEFT] < 0:
            if begin[v + 1] > begin[v]:
                spare[LEAVES, leaves] = v
                spare[ORDER, v] = leaves
                leaves += 1
        else:
            spare[STACK, top] = node[v, LEFT]
            spare[STACK, top + 1] = node[v, RIGHT]
            top += 2
    return leaves


@njit
def gather_active(node, tally, spare, triplets, item_begin, item_triplets, active, subtree):
    """Write the active triplets of a detached ``subtree`` to ``active``; return their number.

    O(size + (their number) * depth).
    """
    if triplets.shape[0] == 0:
        return 0
    leaves = list_leaves(node, spare, item_begin, subtree)
    found = 0
    for x in range(leaves):
        leaf = spare[LEAVES, x]
        for y in range(item_begin[leaf], item_begin[leaf + 1]):
            t = item_triplets[y]
            a = triplets[t, 0]
            b = triplets[t, 1]
            c = triplets[t, 2]
            if leaf == c:
                if not (in_list(spare, leaves, a) or in_list(spare, leaves, b)):
                    active[found, KIND] = NOT_BELOW
                    active[found, NODE] = lca(node, tally, a, b, False)
                    active[found, TRIPLET] = t
                    found += 1
            else:
                other = b if leaf == a else a
                if not (in_list(spare, leaves, other) or in_list(spare, leaves, c)):
                    active[found, KIND] = AT_OR_BELOW
                    active[found, NODE] = lca(node, tally, other, c, True)
                    active[found, TRIPLET] = t
                    found += 1
    return found


@njit
def in_list(spare, number, leaf):
    """Return True if ``leaf`` is in the list ``spare[LEAVES, :number]``."""
    place = spare[ORDER, leaf]
    return 0 <= place < number and spare[LEAVES, place] == leaf


@njit
def legal_region(node, time, tally, active, found, root):
    """Return ``(top, stamp)`` of the legal branches under the active triplets, all of them hard.

    ``root`` is the root of R, or the topmost legal node for the groups. ``top`` is -1 if no branch
    is legal. O(found * depth).
    """
    stamp = new_stamp(node, tally)
    top = root
    for x in range(found):
        v = active[x, NODE]
        if active[x, KIND] == NOT_BELOW:
            if node[v, FLOOR] >= 0:  # nothing is legal below the node of a group anyway
                node[v, FLOOR] = stamp
        elif not is_above(node, time, v, top):
            if not is_above(node, time, top, v):
                return -1, stamp
            top = v
    x = node[top, PARENT]
    while x >= 0:  # finds nothing while the tree satisfies the triplets
        if node[x, FLOOR] == stamp:
            return -1, stamp
        x = node[x, PARENT]
    return top, stamp


@njit
def is_above(node, time, v, x):
    """Return True if v is x or an ancestor of x; u increases downwards, which ends the climb
    early."""
    while x >= 0 and x != v and time[x, U] > time[v, U]:
        x = node[x, PARENT]
    return x == v


@njit
def violated_weight(node, tally, active, weight, found, branch):
    """Return the weight of active triplets violated by attaching above ``branch``. O(depth +
    found)."""
    stamp = mark_ancestors(node, tally, branch)
    total = 0.0
    for x in range(found):
        v = active[x, NODE]
        on_path = node[v, MARK] == stamp
        kind = active[x, KIND]
        if (kind == NOT_BELOW and on_path and v != branch) or (kind == AT_OR_BELOW and not on_path):
            total += weight[active[x, TRIPLET]]
    return total


@njit
def count_violated(w):
    """Return how many triplets the tree violates. O(k depth)."""
    node, tally, triplets = w.node, w.tally, w.triplets
    reset_stamps(node, tally)
    number = 0
    for t in range(triplets.shape[0]):
        pair = lca(node, tally, triplets[t, 0], triplets[t, 1], False)
        stamp = mark_ancestors(node, tally, triplets[t, 2])
        if node[pair, MARK] == stamp:
            number += 1
    return number
