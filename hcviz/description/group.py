"""What makes a group: its features, its typical items, and what it is most similar to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.tree import Tree
from hcviz.description.contrasts import FeatureContrast, feature_contrasts
from hcviz.description.item_data import ItemData
from hcviz.description.names import SuggestedName, check_items, suggest_names
from hcviz.description.similarities import GroupSimilarities
from hcviz.posterior import Posterior
from hcviz.taxonomy import Group, Taxonomy

Float = NDArray[np.float64]
Items = NDArray[np.int64]

#: Features and items that are listed, at most.
MAX_FEATURES, MAX_ITEMS = 6, 3
#: Differences of margins up to this are an effect of rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class ItemFit:
    """How well an item fits its group.

    Parameters
    ----------
    item : int
        The item.
    similarity : float
        Its mean similarity to the other items of the group.
    margin : float
        ``similarity`` minus the mean similarity to the nearest other group; NaN without one. Below
        0, the item is more similar to the other group.
    nearest : str
        The nearest other group: a name, or an empty text for the sibling.

    Examples
    --------
    >>> ItemFit(3, 0.8, 0.5, "Storage").margin
    0.5
    """

    item: int
    similarity: float
    margin: float
    nearest: str


@dataclass(frozen=True)
class GroupDescription:
    """What makes a group of items.

    Parameters
    ----------
    items : tuple of int
        The group, in increasing order.
    is_clade : bool
        True if the items are a clade of the tree.
    sibling : tuple of int
        The other items of the next larger clade; empty for all items.
    against_sibling, against_rest : tuple of FeatureContrast
        The features that differ most from the sibling, and from all other items.
    similarity_inside, similarity_sibling : float or None
        Mean similarity of two items of the group, and of one with an item of the sibling.
    nearest_group : tuple of (str, float), or None
        The named group that shares no item and is most similar, with the mean similarity.
    typical : tuple of ItemFit
        The items with the highest mean similarity to the group.
    least_fitting : tuple of ItemFit
        Other items with the lowest margins, if these are below the median of the group.
    support : float or None
        The share of sampled trees that have the group as a clade.
    names : tuple of SuggestedName
        Suggested names.

    Examples
    --------
    >>> tree = Tree.from_newick("(((0,1),2),(3,4));")
    >>> found = describe_group([[0.0], [0.1], [0.2], [5.0], [5.1]], tree, [0, 1, 2])
    >>> found.is_clade, found.sibling
    (True, (3, 4))
    """

    items: tuple[int, ...]
    is_clade: bool
    sibling: tuple[int, ...]
    against_sibling: tuple[FeatureContrast, ...]
    against_rest: tuple[FeatureContrast, ...]
    similarity_inside: float | None
    similarity_sibling: float | None
    nearest_group: tuple[str, float] | None
    typical: tuple[ItemFit, ...]
    least_fitting: tuple[ItemFit, ...]
    support: float | None
    names: tuple[SuggestedName, ...]


def describe_group(
    data: Any,
    tree: Tree,
    items: ArrayLike,
    groups: Taxonomy | Sequence[Group] = (),
    posterior: Posterior | None = None,
) -> GroupDescription:
    """Describe what makes a group of items.

    Parameters
    ----------
    data : Dataset, Problem, DataFrame or float (n, d)
        The items and what is known of them. Without features, the description has similarities and
        names only.
    tree : Tree
        A tree over the n items.
    items : int (k,)
        The group, usually a clade of the tree.
    groups : Taxonomy or sequence of Group
        Named groups to compare with.
    posterior : Posterior, optional
        Sampled trees, for the support.

    Returns
    -------
    GroupDescription
        Features, similarities, typical and least fitting items, support and suggested names.

    Raises
    ------
    InvalidData
        An item does not exist, there are no items, or the tree has other items.

    Notes
    -----
    The features are ranked as in :class:`hcviz.description.FeatureContrast`: standardised mean
    differences of numbers, and smoothed log odds ratios of categories and yes/no. The margin of an
    item is the numerator of its silhouette (Rousseeuw 1987), with similarities. O(n d) for the
    features, and O(k n) for the similarities, once these are known.

    Examples
    --------
    >>> zoo = load("zoo")
    >>> tree = fit("average", zoo.problem())
    >>> birds = [k for k, kind in enumerate(zoo.classes) if kind == "bird"]
    >>> describe_group(zoo, tree, birds).against_rest[0].title
    'feathers'
    """
    known = ItemData.of(data)
    group = check_items(items, known.n_items)
    if tree.n_leaves != known.n_items:
        raise InvalidData(
            f"The tree has {tree.n_leaves:,} items, and the data have {known.n_items:,}.",
            "Give a tree of these data.",
        )
    sibling = sibling_items(tree, group)
    rest = np.setdiff1d(np.arange(known.n_items), group, assume_unique=True)
    near, far = (
        ()
        if known.columns is None
        else feature_contrasts(known.columns, group, others, MAX_FEATURES)
        for others in (sibling, rest)
    )
    named = groups.groups if isinstance(groups, Taxonomy) else groups
    fits = _Fits(known.similarities, group, sibling, named)
    whole = len(group) == known.n_items
    support = None
    if posterior is not None and len(posterior) and len(group) > 1 and not whole:
        support = posterior.clade_support(group.astype(np.int32))
    return GroupDescription(
        items=tuple(group.tolist()),
        is_clade=tree.has_clade(group),
        sibling=tuple(sibling.tolist()),
        against_sibling=near,
        against_rest=far,
        similarity_inside=_mean(fits.own),
        similarity_sibling=_mean(fits.to_others[0]) if len(sibling) else None,
        nearest_group=fits.nearest_group,
        typical=fits.typical(),
        least_fitting=fits.least_fitting(),
        support=support,
        names=suggest_names(known, group),
    )


def sibling_items(tree: Tree, group: Items) -> Items:
    """Return the other items of the next larger clade; none for all items."""
    node = tree.smallest_clade(group)
    if int(tree.size[node]) == len(group) and node != tree.root:
        node = int(tree.parent[node])
    return np.setdiff1d(tree.leaves(node), group).astype(np.int64)


class _Fits:
    """Mean similarities of the items of a group to it, its sibling, and disjoint named groups."""

    def __init__(
        self, similarities: GroupSimilarities, group: Items, sibling: Items, named: Sequence[Group]
    ) -> None:
        self.names = [""]
        self.items: Items = similarities.rated(group) if similarities.is_known else group[:0]
        members = frozenset(group.tolist())
        others = [sibling]
        for each in named:
            if members.isdisjoint(each.members):
                self.names.append(each.name)
                others.append(np.array(each.members, np.int64))
        means = similarities.means(self.items, [group, *others])
        self.own, self.to_others = means[0], means[1:]

    @property
    def nearest_group(self) -> tuple[str, float] | None:
        """The named group with the highest mean similarity; None without one."""
        means = [_mean(each) for each in self.to_others[1:]]
        known = [(name, mean) for name, mean in zip(self.names[1:], means, strict=True)
                 if mean is not None]  # fmt: skip
        return max(known, key=lambda pair: pair[1], default=None)

    def typical(self) -> tuple[ItemFit, ...]:
        """Return the items with the highest mean similarity to the group, of three or more."""
        return self._first(-self.own)

    def least_fitting(self) -> tuple[ItemFit, ...]:
        """Return the items with the lowest margins, below that of most items."""
        margin = self._margin()
        if not np.isfinite(margin).any():
            return ()
        typical = [each.item for each in self.typical()]
        low = margin < np.nanmedian(margin) - ROUNDING
        return self._first(np.where(low & ~np.isin(self.items, typical), margin, np.nan))

    def _margin(self) -> Float:
        highest = np.fmax.reduce(self.to_others, axis=0)
        return np.asarray(self.own - highest)

    def _first(self, key: Float) -> tuple[ItemFit, ...]:
        count = min(MAX_ITEMS, len(self.items) // 3)
        if len(self.items) < 3 or not np.isfinite(key).any():
            return ()
        margin = self._margin()
        nearest = np.where(np.isnan(self.to_others), -np.inf, self.to_others).argmax(axis=0)
        return tuple(
            ItemFit(
                int(self.items[k]),
                float(self.own[k]),
                float(margin[k]),
                self.names[int(nearest[k])],
            )
            for k in np.argsort(key, kind="stable")[:count].tolist()
            if np.isfinite(key[k])  # NaN comes last
        )


def _mean(values: Float) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


__all__ = ["GroupDescription", "ItemFit", "describe_group", "sibling_items"]
