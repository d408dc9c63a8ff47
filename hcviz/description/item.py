"""What is known of one item: its row, its nearest items, and the groups that it may be in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hcviz.core.tree import Tree
from hcviz.description.item_data import ItemData
from hcviz.description.names import check_items
from hcviz.posterior import Posterior, membership_shares
from hcviz.taxonomy import Group, Taxonomy

#: Nearest items that are listed, at most.
MAX_NEAREST = 5
#: Sampled trees that are compared with the groups, at most and at least.
MAX_TREES, LEAST_TREES = 256, 32
#: Trees times groups times items that are compared, at most: about a second.
MAX_WORK = 20_000_000


@dataclass(frozen=True)
class ItemDescription:
    """What is known of one item.

    Parameters
    ----------
    item : int
        The item.
    row : tuple of (str, value)
        Its features: a number, True or False, the value of a category, or None where missing.
    nearest : tuple of (int, float)
        The most similar items, with their similarities.
    groups : tuple of (str, float)
        Named groups, with the share of sampled trees in which the item is inside. The highest
        comes first. Empty without sampled trees.

    Examples
    --------
    >>> describe_item([[0.0, 1.0], [0.1, 1.0], [5.0, 0.0]], 0).row
    (('feature 1', 0.0), ('feature 2', True))
    """

    item: int
    row: tuple[tuple[str, float | str | bool | None], ...]
    nearest: tuple[tuple[int, float], ...]
    groups: tuple[tuple[str, float], ...]


def describe_item(
    data: Any,
    item: int,
    groups: Taxonomy | Sequence[Group] = (),
    posterior: Posterior | None = None,
) -> ItemDescription:
    """Describe one item.

    Parameters
    ----------
    data : Dataset, Problem, DataFrame or float (n, d)
        The items and what is known of them.
    item : int
        The item.
    groups : Taxonomy or sequence of Group
        Named groups that the item may be in.
    posterior : Posterior, optional
        Sampled trees, for the probabilities of the groups.

    Returns
    -------
    ItemDescription
        Row, nearest items, and probabilities of groups.

    Raises
    ------
    InvalidData
        The item does not exist.

    Notes
    -----
    A sampled tree counts for a group if the item is inside the clade that best matches the other
    members of the group; see :func:`hcviz.posterior.membership_shares`. Up to 256 evenly thinned
    trees are used. O(n + d) without sampled trees, O(trees * groups * n) with them.

    Examples
    --------
    >>> zoo = load("zoo")
    >>> found = describe_item(zoo, zoo.labels.index("dolphin"))
    >>> zoo.labels[found.nearest[0][0]]
    'porpoise'
    """
    known = ItemData.of(data)
    chosen = int(check_items([item], known.n_items)[0])
    named = groups.groups if isinstance(groups, Taxonomy) else groups
    return ItemDescription(
        item=chosen,
        row=() if known.columns is None else tuple(known.columns.row(chosen)),
        nearest=_nearest(known, chosen),
        groups=group_probabilities(thinned_trees(posterior, len(named)), chosen, named),
    )


def thinned_trees(posterior: Posterior | None, n_groups: int) -> list[Tree]:
    """Return the thinned trees that are compared with the groups; none without groups."""
    if posterior is None or not n_groups:
        return []
    most = MAX_WORK // (n_groups * posterior.n_items)
    return posterior.trees(min(MAX_TREES, max(LEAST_TREES, most)))


def group_probabilities(
    trees: Sequence[Tree], item: int, groups: Sequence[Group]
) -> tuple[tuple[str, float], ...]:
    """Return name and share of each group that has another member, the highest share first."""
    if not trees or not groups:
        return ()
    shares = membership_shares(trees, item, [group.members for group in groups])
    named = [
        (group.name, float(share))
        for group, share in zip(groups, shares, strict=True)
        if not np.isnan(share)
    ]
    return tuple(sorted(named, key=lambda pair: -pair[1]))


def _nearest(known: ItemData, item: int) -> tuple[tuple[int, float], ...]:
    if not known.similarities.is_known:
        return ()
    values = known.similarities.of_item(item, known.n_items).copy()
    values[item] = np.nan
    order = np.argsort(-values, kind="stable")[:MAX_NEAREST]  # NaN comes last
    return tuple((int(k), float(values[k])) for k in order if not np.isnan(values[k]))


__all__ = ["ItemDescription", "describe_item", "group_probabilities", "thinned_trees"]
