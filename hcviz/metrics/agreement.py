"""How alike two hierarchies over the same items are: by triplets, by flat cuts, by clades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.cut import cut
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.tree import Tree
from hcviz.metrics import kernels

Int = NDArray[np.int32]


def triplet_distance(target: Tree, tree: Tree) -> float:
    """TD(T*, T) of Vikram & Dasgupta (2016): the share of the target's resolved triplets that
    ``tree`` violates or leaves open; in [0, 1], 0 when the target resolves nothing. Not symmetric.

    Multifurcations are allowed in both. O(n log^2 n) on the trees seen (O(n log^3 n) at worst) and
    O(n) memory: smaller-half trick on one tree, heavy paths on the other, cf. Brodal, Fagerberg,
    Mailund, Pedersen and Sand (2013). Raises :class:`InvalidData` for trees of different sizes.
    """
    shared, resolved = shared_triplets(target, tree)
    return 1.0 - shared / resolved if resolved else 0.0


def triplet_agreement(a: Tree, b: Tree) -> float:
    """The share of all C(n, 3) triples that both trees resolve, and alike; symmetric.

    A triple that either leaves open counts as disagreement (Krishnamurthy et al. 2012 calls this
    the *outlier fraction*). 1 for fewer than three items. Cost of :func:`triplet_distance`.
    """
    shared, _ = shared_triplets(a, b)
    n = a.n_leaves
    triples = n * (n - 1) * (n - 2) // 6
    return shared / triples if triples else 1.0


def shared_triplets(a: Tree, b: Tree) -> tuple[int, int]:
    """Triplets resolved alike by both, and those that ``a`` resolves."""
    _same_items(a, b)
    n = a.n_leaves
    resolved, sizes_a = kernels.resolved_triplets(a.parent, a.size, n)
    _, sizes_b = kernels.resolved_triplets(b.parent, b.size, n)
    both = kernels.common_clade_sum(
        a.parent, a.size, a.leaf_start, a.leaf_order, b.parent, b.size, b.leaf_start
    )
    return int(n * (n * (n - 1) // 2) - sizes_a - sizes_b + both), int(resolved)


def aari(target: Tree, tree: Tree, levels: int) -> float:
    """The averaged adjusted Rand index of Ghoshdastidar et al. (2019): the mean over l = 1..levels
    of the ARI between both trees cut into 2^l clusters by undoing the last 2^l - 1 merges
    (:func:`cut`).

    In [-1, 1], 1 for equal cuts. O(levels * n + n log n).
    """
    _same_items(target, tree)
    if levels < 1:
        raise InvalidParameter(f"levels must be 1 or more, not {levels}.")
    counts = [2**level for level in range(1, levels + 1)]
    return float(np.mean([adjusted_rand_index(cut(target, k), cut(tree, k)) for k in counts]))


def adjusted_rand_index(first: NDArray[np.int32], second: NDArray[np.int32]) -> float:
    """Hubert and Arabie's adjusted Rand index of two labelings, int (n,), labels from 0.

    1 where both are the same partition, trivial ones included.
    """
    rows, columns = int(first.max()) + 1, int(second.max()) + 1
    table = np.bincount(first.astype(np.int64) * columns + second, minlength=rows * columns)
    table = table.reshape(rows, columns)

    def pairs(counts: NDArray[np.int64]) -> float:
        return float((counts * (counts - 1) // 2).sum())

    both, left, right = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    every = first.size * (first.size - 1) / 2
    expected = left * right / every if every else 0.0
    most = (left + right) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def ari_matrix(partitions: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
    """:func:`adjusted_rand_index` of every two of m partitions of the same items; (m, m)."""
    out = np.eye(len(partitions))
    for a, b in combinations(range(len(partitions)), 2):
        out[a, b] = out[b, a] = adjusted_rand_index(partitions[a], partitions[b])
    return out


@dataclass(frozen=True, eq=False)
class CladeChanges:
    """What a rerun changed. ``gained``: nodes of the later tree whose leaf set is new; ``lost``:
    nodes of the earlier one whose leaf set is gone (both int32, increasing, inner nodes only);
    ``kept``: how many clades both have, the root among them."""

    gained: Int
    lost: Int
    kept: int


def clade_changes(before: Tree, after: Tree) -> CladeChanges:
    """Clades gained and lost between two trees over the same items.

    Clades are compared as sets of items, by the XOR of a fixed 64-bit code per leaf; numbering and
    heights mean nothing, so two trees are one hierarchy iff nothing is gained and nothing lost (up
    to a chance of about n^2 / 2^64 that two different sets look alike). O(n log n).
    """
    _same_items(before, after)
    n = before.n_leaves
    codes = np.random.default_rng(0x68637669).integers(0, 2**64, n, dtype=np.uint64)
    old = kernels.clade_hashes(before.parent, codes)[n:]
    new = kernels.clade_hashes(after.parent, codes)[n:]
    gained = n + np.flatnonzero(~np.isin(new, old))
    lost = n + np.flatnonzero(~np.isin(old, new))
    return CladeChanges(gained.astype(np.int32), lost.astype(np.int32), int(old.size - lost.size))


def nearest_clades(tree: Tree, other: Tree, nodes: Int) -> Int:
    """How new the clades ``nodes`` of ``tree`` are beside those of ``other``, over the same items.

    int32 (len(nodes), 2): the node of ``other`` whose leaves differ least from the clade's, single
    items included, and by how many items it differs (0: it is a clade of both). One pass over
    ``other`` for each node: O(len(nodes) * n).
    """
    _same_items(tree, other)
    parts = [tree.leaves(int(node)) for node in nodes]
    starts = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    leaves = np.concatenate([np.empty(0, np.int32), *parts]).astype(np.int32)
    found: Int = kernels.nearest_clades(
        other.parent.copy(), other.size.astype(np.int32), leaves, starts
    )
    return found


def _same_items(a: Tree, b: Tree) -> None:
    for each in (a, b):
        if not isinstance(each, Tree):
            raise InvalidData(f"Only trees can be compared, not {type(each).__name__}.")
    if a.n_leaves != b.n_leaves:
        raise InvalidData(
            f"The trees have {a.n_leaves} and {b.n_leaves} leaves; only trees over the same items "
            "can be compared.",
            "Use tree.restrict(leaves) first.",
        )
