"""Blocks: parts of the pruned tree within which a regraft stays near where the subtree was.

A regraft into the whole tree draws its place as the diffusion does, without the data, so it is
seldom accepted. A local regraft draws it from one block of R only. With a given size m, the blocks
are the largest clades of R that have at most m leaves. A block holds all branches of its clade and
the branch above it. The blocks are disjoint, and they depend on R alone. So S leads from each place
of a block to the same block, and within it the regraft is the same independence sampler: its walk
begins at the block's topmost branch. If S is at a branch of R with more than m leaves below, it is
in no block and stays where it is.

Every other regraft is into all of R, so that a chain recovers soon from the repair of a tree. The
sizes of the blocks take turns: 2, 4, 8, and so on. Each serves for four local regrafts and the four
regrafts into all of R between them.

In three of these four pairs of turns S is a leaf, drawn uniformly. The clades that change slowly
are those that single items join and leave, and a larger subtree seldom finds another place.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.algorithms.ddt.work import GIVEN, PARENT, SCALES, SIZE
from hcviz.core.jit import njit

#: Pairs of turns with one size of blocks: a local turn and one into the whole tree. All but the
#: last pair prune a leaf.
PAIRS = 4


@njit
def block_size(tally, turn, n):
    """Return the most leaves of a block in the regrafts of a turn; n for all of R.

    Vikram & Dasgupta (2016) regraft into the whole tree, so given locations have no blocks.
    """
    if turn % 2 == 1 or tally[SCALES] == 0 or tally[GIVEN] == 1:
        return np.int64(n)
    return np.int64(2) << ((turn // (2 * PAIRS)) % tally[SCALES])


@njit
def prunes_leaf(tally, turn):
    """Return True if a turn prunes a leaf, and not any node. Vikram & Dasgupta (2016) prune any."""
    return (turn // 2) % PAIRS != PAIRS - 1 and tally[GIVEN] == 0


@njit
def block_top(node, branch, most, top):
    """Return the topmost branch of the block that contains ``branch``, at or below ``top``.

    ``branch`` has at most ``most`` leaves below it, and is at or below ``top``. O(depth).
    """
    x = np.int64(branch)
    while x != top and node[node[x, PARENT], SIZE] <= most:
        x = np.int64(node[x, PARENT])
    return x
