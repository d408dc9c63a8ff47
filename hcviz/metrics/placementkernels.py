"""Triplets about one item, told by how the others are seen from its branch.

Along the way from a branch up to the root every other item hangs off at a *level* (0: below the
branch itself) in a *branch* of its own there. Of two items the one at the lower level is nearer;
two at one level are nearer to each other than to the item if they hang in one branch, or below it.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit


@njit
def seen_from(parent, place):
    """Level and branch of every node, seen from the branch above ``place``; O(m).

    ``branch`` is -1 below the place, and on the way itself.
    """
    m = parent.size
    level = np.full(m, -1, np.int32)
    branch = np.full(m, -1, np.int32)
    node = place
    count = 0
    while node >= 0:
        level[node] = count
        count += 1
        node = parent[node]
    for node in range(m - 1, -1, -1):
        if level[node] < 0:
            up = parent[node]
            level[node] = level[up]
            if level[up] > 0:
                # On the way itself no branch is noted: this child begins one.
                branch[node] = node if branch[up] < 0 else branch[up]
    return level, branch


@njit
def said(level_y, branch_y, level_z, branch_z):
    """1: xy|z, 2: xz|y, 3: yz|x, 0: left open."""
    if level_y < level_z:
        return 1
    if level_z < level_y:
        return 2
    return 3 if level_y == 0 or branch_y == branch_z else 0


@njit
def differing(level, branch, here, side, others, item):
    """The triplets that the first resolves and the second does not have so."""
    count = 0
    for turn in range(2):
        if turn == 1:
            rows = np.empty((count, 3), np.int32)
            count = 0
        for i in range(others.size):
            y = others[i]
            for j in range(i):
                z = others[j]
                word = said(level[y], branch[y], level[z], branch[z])
                if word == 0 or word == said(here[y], side[y], here[z], side[z]):
                    continue
                if turn == 1:
                    if word == 1:
                        rows[count, 0], rows[count, 1], rows[count, 2] = item, y, z
                    elif word == 2:
                        rows[count, 0], rows[count, 1], rows[count, 2] = item, z, y
                    else:
                        rows[count, 0], rows[count, 1], rows[count, 2] = y, z, item
                count += 1
    return rows


def warm() -> None:
    """Compile them all."""
    parent = np.array([3, 3, 4, 4, -1], np.int32)
    seen = seen_from(parent, 0)
    differing(*seen, *seen, np.array([1, 2], np.int32), 0)
