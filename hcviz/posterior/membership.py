"""The probability that an item belongs to a group, from sampled trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.tree import Tree

Float = NDArray[np.float64]

#: A tree has a group if some clade has at least this Jaccard index to the group's other members.
MIN_JACCARD = 0.5


def membership_shares(trees: Sequence[Tree], item: int, groups: Sequence[Sequence[int]]) -> Float:
    """Return the share of trees in which an item is inside each of several groups.

    Parameters
    ----------
    trees : sequence of Tree
        One or more trees over the same n items.
    item : int
        The item. It may be a member of some of the groups.
    groups : sequence of sequences of int
        The members of each of the g groups.

    Returns
    -------
    float64 (g,)
        From 0 to 1; NaN for a group that has no member besides the item.

    Raises
    ------
    InvalidData
        There is no tree, or an item does not exist.

    Notes
    -----
    The item is left out of all clades and of the group. A tree's best clade is the one with the
    highest Jaccard index to the group's other members. Ties go to the smaller clade. The item is
    inside if it branches off within that clade or at the branch above it. If the index is below
    0.5, or only the clade of all items is best, the tree does not have the group. Then the item
    counts as outside, unless the other members are all other items.

    O(trees * g * m) for m nodes.

    Examples
    --------
    >>> import hcviz
    >>> trees = [hcviz.Tree.from_newick(text) for text in ("((0,1),2);", "(0,(1,2));")]
    >>> membership_shares(trees, 0, [[0, 1], [2]]).tolist()
    [0.5, 0.0]
    """
    if not trees:
        raise InvalidData("No tree has been sampled yet.", "Let the sampler run first.")
    n = trees[0].n_leaves
    others = [sorted({int(each) for each in group} - {int(item)}) for group in groups]
    if not 0 <= item < n or any(not 0 <= each < n for group in others for each in group):
        raise InvalidData(f"Items must be numbers in 0..{n - 1}.")
    is_member = np.zeros((len(groups), n), np.int32)
    for row, group in zip(is_member, others, strict=True):
        row[group] = 1
    size = is_member.sum(axis=1)
    inside = np.zeros(len(groups))
    for tree in trees:
        inside += _is_inside(tree, int(item), is_member, size)
    return np.where(size > 0, inside / len(trees), np.nan)


def _is_inside(
    tree: Tree, item: int, is_member: NDArray[np.int32], size: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return in which groups the item is in one tree, bool (g,)."""
    begin, end = tree.leaf_start, tree.leaf_start + tree.size
    before = np.zeros((len(is_member), tree.n_leaves + 1), np.int32)
    np.cumsum(is_member[:, tree.leaf_order], axis=1, out=before[:, 1:])
    shared = before[:, end] - before[:, begin]
    has_item = (begin <= begin[item]) & (begin[item] < end)
    width = tree.size - has_item  # without the item
    union = width[None, :] + size[:, None] - shared
    jaccard = np.divide(shared, union, out=np.zeros(shared.shape), where=union > 0)
    whole = tree.n_leaves - 1
    jaccard[:, (width == whole)] *= (size == whole)[:, None]
    best = jaccard.max(axis=1, initial=0.0)
    # Of clades that are equal without the item, the one with the item counts.
    is_best = jaccard == best[:, None]
    least = np.where(is_best, width[None, :], tree.n_leaves + 1).min(axis=1)
    found = (is_best & (width[None, :] == least[:, None]) & has_item[None, :]).any(axis=1)
    answer: NDArray[np.bool_] = found & (best >= MIN_JACCARD)
    return answer


__all__ = ["MIN_JACCARD", "membership_shares"]
