"""The positions at which a pruned subtree makes a set of items a clade that must not be one.

Let R be the pruned tree, S the subtree, and F the set. The new tree has the clade F in two cases:

1. F has no item of S and is the clade of a node v of R, and S goes to the branch above v or to a
   branch that is not below v. So only branches strictly below v are legal.
2. S is a proper part of F, the rest of F is the clade of a node v of R, and S goes to the branch
   above v or below it. So these branches are illegal.

In all other cases F is no clade of the new tree, or S has the clade F, which no move changes. The
moves give an illegal position the density 0. In case 1 a walk begins at v, so that it seldom ends
in one.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.algorithms.ddt.legal import is_above
from hcviz.algorithms.ddt.work import (
    ANYWHERE_ELSE,
    BARRED_NODE,
    FIRST,
    LEFT,
    MEMBERS,
    ONLY_BELOW,
    PARENT,
    RIGHT,
    RULE,
    SET_SIZE,
    SIZE,
    STACK,
)
from hcviz.core.jit import njit


@njit
def gather_barred(w, subtree):
    """Write the rules for a detached ``subtree`` to the first rows of ``w.avoided``.

    Returns their number. O(depth) for each set, and O(its size) where a rule is likely.
    """
    node, avoided = w.node, w.avoided
    leaf = subtree
    while node[leaf, LEFT] >= 0:
        leaf = node[leaf, LEFT]
    leaves = node[subtree, SIZE]
    found = 0
    for g in range(avoided.shape[0]):
        size = avoided[g, SET_SIZE]
        rule = ONLY_BELOW
        v = avoided[g, FIRST]
        if avoided[g, MEMBERS + leaf]:
            if leaves >= size or not is_inside(w, g, subtree):
                continue
            rule = ANYWHERE_ELSE
            size -= leaves
            while is_below(node, v, subtree):
                v += 1
                while not avoided[g, MEMBERS + v]:
                    v += 1
        while v >= 0 and v != subtree and node[v, SIZE] < size:
            v = node[v, PARENT]
        if v >= 0 and v != subtree and node[v, SIZE] == size and is_inside(w, g, v):
            avoided[found, RULE] = rule
            avoided[found, BARRED_NODE] = v
            found += 1
    return found


@njit
def is_below(node, v, subtree):
    """Return True if v is below the detached ``subtree``, or is its root. O(depth)."""
    while v >= 0 and v != subtree:
        v = node[v, PARENT]
    return v >= 0


@njit
def is_inside(w, g, v):
    """Return True if set ``g`` has all leaves below v. O(leaves below v)."""
    node, avoided, spare = w.node, w.avoided, w.spare
    top = 1
    spare[STACK, 0] = v
    while top > 0:
        top -= 1
        x = spare[STACK, top]
        if node[x, LEFT] < 0:
            if not avoided[g, MEMBERS + x]:
                return False
        else:
            spare[STACK, top] = node[x, LEFT]
            spare[STACK, top + 1] = node[x, RIGHT]
            top += 2
    return True


@njit
def lowest_start(w, found, top):
    """Return where a walk begins: ``top``, or the lowest node below it that a rule names."""
    for x in range(found):
        v = w.avoided[x, BARRED_NODE]
        if w.avoided[x, RULE] == ONLY_BELOW and is_above(w.node, w.time, top, v):
            top = np.int64(v)
    return top


@njit
def is_barred(w, found, branch):
    """Return True if one of the rules forbids the branch above ``branch``. O(found * depth)."""
    for x in range(found):
        v = w.avoided[x, BARRED_NODE]
        below = is_above(w.node, w.time, v, branch)
        if w.avoided[x, RULE] == ANYWHERE_ELSE:
            if below:
                return True
        elif branch == v or not below:
            return True
    return False
