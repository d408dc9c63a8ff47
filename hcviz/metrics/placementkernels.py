"""Triplets about one item x, from the positions of the other items relative to its branch.

On the path from the branch of x to the root, each other item has a *level*, the first node of the
path above it (0: below the branch itself), and a *branch*, the child of that node above the item.
Of two items, the one with the lower level is nearer to x. Two items with equal levels are nearer to
each other than to x if they have the same branch, or if their level is 0.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit


@njit
def levels_and_branches(parent, place):
    """Return level and branch of each node, relative to the branch above ``place``; O(m).

    ``branch`` is -1 below the place and on the path to the root.
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
                # A parent on the path has no branch, so its child begins a new branch.
                branch[node] = node if branch[up] < 0 else branch[up]
    return level, branch


@njit
def resolve_triple(level_y, branch_y, level_z, branch_z):
    """Return 1 for xy|z, 2 for xz|y, 3 for yz|x, 0 if not resolved."""
    if level_y < level_z:
        return 1
    if level_z < level_y:
        return 2
    return 3 if level_y == 0 or branch_y == branch_z else 0


@njit
def differing_triplets(level, branch, other_level, other_branch, others, item):
    """Return the triplets of the first tree that the second one lacks: int32 (m, 3)."""
    count = 0
    for turn in range(2):
        if turn == 1:
            rows = np.empty((count, 3), np.int32)
            count = 0
        for i in range(others.size):
            y = others[i]
            for j in range(i):
                z = others[j]
                relation = resolve_triple(level[y], branch[y], level[z], branch[z])
                if relation == 0 or relation == resolve_triple(
                    other_level[y], other_branch[y], other_level[z], other_branch[z]
                ):
                    continue
                if turn == 1:
                    if relation == 1:
                        rows[count, 0], rows[count, 1], rows[count, 2] = item, y, z
                    elif relation == 2:
                        rows[count, 0], rows[count, 1], rows[count, 2] = item, z, y
                    else:
                        rows[count, 0], rows[count, 1], rows[count, 2] = y, z, item
                count += 1
    return rows


def warm() -> None:
    """Compile the kernels, or load them from the cache."""
    parent = np.array([3, 3, 4, 4, -1], np.int32)
    found = levels_and_branches(parent, 0)
    differing_triplets(*found, *found, np.array([1, 2], np.int32), 0)
