"""Agreement of two trees over the same items: by triplets, by cuts, and by clades."""

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
    """Compute the triplet distance TD: the share of the target's triplets that ``tree`` lacks.

    Parameters
    ----------
    target : Tree
        The target.
    tree : Tree
        A tree over the same items. Both may have polytomies.

    Returns
    -------
    float
        From 0 to 1; 0 if the target resolves no triplet. Not symmetric.

    Raises
    ------
    InvalidData
        The trees have different numbers of leaves.

    Notes
    -----
    Usually O(n log^2 n) time, at worst O(n log^3 n); O(n) memory. The algorithm uses heavy paths
    in both trees, similar to Brodal et al. (2013).

    References
    ----------
    Vikram and Dasgupta (2016). Brodal, Fagerberg, Mailund, Pedersen and Sand (2013).

    Examples
    --------
    >>> target, tree = Tree.from_newick("((0,1),2);"), Tree.from_newick("((0,2),1);")
    >>> triplet_distance(target, tree)
    1.0
    """
    shared, resolved = shared_triplets(target, tree)
    return 1.0 - shared / resolved if resolved else 0.0


def triplet_agreement(a: Tree, b: Tree) -> float:
    """Compute the share of all C(n, 3) triples of items that both trees resolve in the same way.

    Parameters
    ----------
    a, b : Tree
        Trees over the same items.

    Returns
    -------
    float
        From 0 to 1, symmetric; 1 for fewer than three items. A triple that one tree leaves
        unresolved counts as disagreement.

    Raises
    ------
    InvalidData
        The trees have different numbers of leaves.

    Notes
    -----
    Time as for :func:`triplet_distance`.

    References
    ----------
    Krishnamurthy et al. (2012), who call it the *outlier fraction*.

    Examples
    --------
    >>> triplet_agreement(Tree.star(4), Tree.star(4))
    0.0
    """
    shared, _ = shared_triplets(a, b)
    n = a.n_leaves
    triples = n * (n - 1) * (n - 2) // 6
    return shared / triples if triples else 1.0


def shared_triplets(a: Tree, b: Tree) -> tuple[int, int]:
    """Count the triplets that both trees have, and the triplets of ``a``."""
    _same_items(a, b)
    n = a.n_leaves
    resolved, sizes_a = kernels.resolved_triplets(a.parent, a.size, n)
    _, sizes_b = kernels.resolved_triplets(b.parent, b.size, n)
    both = kernels.common_clade_sum(
        a.parent, a.size, a.leaf_start, a.leaf_order, b.parent, b.size, b.leaf_start
    )
    return int(n * (n * (n - 1) // 2) - sizes_a - sizes_b + both), int(resolved)


def aari(target: Tree, tree: Tree, levels: int) -> float:
    """Compute the averaged adjusted Rand index (AARI).

    It is the mean over l = 1..levels of the adjusted Rand index of both trees, cut into 2^l
    clusters (:func:`cut`).

    Parameters
    ----------
    target, tree : Tree
        Trees over the same items.
    levels : int
        Number of cuts, 1 or more.

    Returns
    -------
    float
        From -1 to 1; 1 if all cuts are equal.

    Raises
    ------
    InvalidData, InvalidParameter
        The trees have different numbers of leaves, or ``levels`` is below 1.

    Notes
    -----
    O(levels * n + n log n).

    References
    ----------
    Ghoshdastidar et al. (2019).

    Examples
    --------
    >>> tree = Tree.from_newick("((0,1),(2,3));")
    >>> aari(tree, tree, 2)
    1.0
    """
    _same_items(target, tree)
    if levels < 1:
        raise InvalidParameter(f"levels must be 1 or more, not {levels}.")
    counts = [2**level for level in range(1, levels + 1)]
    return float(np.mean([adjusted_rand_index(cut(target, k), cut(tree, k)) for k in counts]))


def adjusted_rand_index(first: NDArray[np.int32], second: NDArray[np.int32]) -> float:
    """Compute the adjusted Rand index of two partitions.

    Parameters
    ----------
    first, second : int32 (n,)
        The cluster of each item, from 0.

    Returns
    -------
    float
        1 if the partitions are equal, also for trivial ones.

    References
    ----------
    Hubert and Arabie (1985).

    Examples
    --------
    >>> import numpy as np
    >>> adjusted_rand_index(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    rows, columns = int(first.max()) + 1, int(second.max()) + 1
    table = np.bincount(first.astype(np.int64) * columns + second, minlength=rows * columns)
    table = table.reshape(rows, columns)

    def pairs(counts: NDArray[np.int64]) -> float:
        return float((counts * (counts - 1) // 2).sum())

    both, left, right = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    all_pairs = first.size * (first.size - 1) / 2
    expected = left * right / all_pairs if all_pairs else 0.0
    maximum = (left + right) / 2
    return 1.0 if maximum == expected else (both - expected) / (maximum - expected)


def ari_matrix(partitions: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
    """Compute :func:`adjusted_rand_index` for each two of m partitions.

    Parameters
    ----------
    partitions : sequence of int32 (n,)
        Partitions of the same items; cluster numbers from 0.

    Returns
    -------
    float64 (m, m)
        Symmetric; 1 on the diagonal.

    Notes
    -----
    O(m^2 (n + k^2)) for k clusters.

    References
    ----------
    Hubert and Arabie (1985).

    Examples
    --------
    >>> ari_matrix([np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])]).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    out = np.eye(len(partitions))
    for a, b in combinations(range(len(partitions)), 2):
        out[a, b] = out[b, a] = adjusted_rand_index(partitions[a], partitions[b])
    return out


@dataclass(frozen=True, eq=False)
class CladeChanges:
    """The clades that differ between two trees.

    Parameters
    ----------
    gained : int32 (g,)
        Inner nodes of the later tree whose clades the earlier tree lacks, increasing.
    lost : int32 (l,)
        Inner nodes of the earlier tree whose clades the later tree lacks, increasing.
    kept : int
        Number of clades in both trees, including the root's.

    Examples
    --------
    >>> changes = clade_changes(Tree.star(3), Tree.from_newick("((0,1),2);"))
    >>> changes.gained.tolist(), changes.lost.tolist(), changes.kept
    ([3], [], 1)
    """

    gained: Int
    lost: Int
    kept: int


def clade_changes(before: Tree, after: Tree) -> CladeChanges:
    """Find the clades that one of two trees over the same items has and the other lacks.

    Parameters
    ----------
    before, after : Tree
        The earlier and the later tree.

    Returns
    -------
    CladeChanges
        Heights and the numbers of nodes have no effect.

    Raises
    ------
    InvalidData
        The trees have different numbers of leaves.

    Notes
    -----
    A clade is represented by the XOR of fixed 64-bit codes of its leaves. Two different clades
    have the same code with a probability of about n^2 / 2^64. O(n log n).

    Examples
    --------
    >>> clade_changes(Tree.star(3), Tree.from_newick("((0,1),2);")).gained.tolist()
    [3]
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
    """Find the most similar clades of another tree over the same items.

    Parameters
    ----------
    tree : Tree
        The tree of ``nodes``.
    other : Tree
        The tree to search; single items count as clades.
    nodes : int32 (k,)
        Nodes of ``tree``.

    Returns
    -------
    int32 (k, 2)
        For each node, the node of ``other`` whose clade differs in the fewest items. The second
        column is the number of these items, 0 if both trees have the clade.

    Raises
    ------
    InvalidData
        The trees have different numbers of leaves.

    Notes
    -----
    O(k n).

    Examples
    --------
    >>> tree, other = Tree.from_newick("((0,1,2),3,4);"), Tree.from_newick("((0,1,2,3),4);")
    >>> nearest_clades(tree, other, np.array([5], np.int32)).tolist()
    [[5, 1]]
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
