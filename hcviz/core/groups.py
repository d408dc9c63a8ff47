"""``Groups``: sets of items that must be clades, and the forms in which kernels read them.

A group G is equivalent to all triplets aa'|b with a and a' in G and b outside. They are never
expanded for methods that read groups themselves. Row kernels read *group rows* instead: (a, b, -k),
where k is the number of items of G and a, b are neighbours in G. Such a row joins a and b in the
Aho graph of every set that contains G and more than k items. So it is like a triplet whose c is any
item outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidConstraint
from hcviz.core.text import join_names
from hcviz.core.validation import check_integers

Int = NDArray[np.int32]

#: A soft group becomes at most this number of triplets, or one for each item if that is more.
SOFT_ROWS = 2000
#: Number of items of a group in an error message.
SHOWN_ITEMS = 5


class Groups:
    """Sets of items, each of which must be a clade. Immutable.

    Parameters
    ----------
    members : iterable of int sequences
        The items of each group: two or more different ones. Repeats are kept, as for triplets.
    weights : float64 (g,), optional
        Positive prices of violated groups, for methods with soft constraints. Default: all 1.

    Attributes
    ----------
    members : tuple of int32 arrays
        The items of each group, increasing.

    Raises
    ------
    InvalidConstraint
        A group has fewer than two items, an item twice, or an item below 0.

    Examples
    --------
    >>> groups = Groups([[0, 1], [0, 1, 2]])
    >>> len(groups), groups.members[1].tolist()
    (2, [0, 1, 2])
    """

    members: tuple[Int, ...]
    weights: NDArray[np.float64]

    def __init__(self, members: Iterable[ArrayLike] = (), weights: ArrayLike | None = None) -> None:
        given = list(members)
        prices = np.ones(len(given)) if weights is None else np.asarray(weights, np.float64)
        if prices.shape != (len(given),) or not np.all(np.isfinite(prices) & (prices > 0)):
            raise InvalidConstraint("The weights of groups must be positive numbers, one for each.")
        self.members = tuple(_items_of(each, number) for number, each in enumerate(given))
        self.weights = prices.copy()
        self.weights.flags.writeable = False
        for items in self.members:
            items.flags.writeable = False

    @classmethod
    def of(cls, groups: Any, n_items: int | None = None) -> Groups:
        """Convert sets of items to ``Groups``; None gives no group.

        Raises
        ------
        InvalidConstraint
            A group is not valid, names an item that is not below ``n_items``, or has all items.
        """
        if groups is None:
            return NO_GROUPS
        try:
            made = groups if isinstance(groups, cls) else cls(groups)
        except TypeError:
            raise InvalidConstraint(
                f"groups must be a list of sets of items, not {groups!r}."
            ) from None
        if n_items is None:
            return made
        for number, items in enumerate(made.members):
            if items[-1] >= n_items:
                raise InvalidConstraint(
                    f"Group {number} names item {items[-1]}, but there are only {n_items} items "
                    f"(0..{n_items - 1})."
                )
            if items.size == n_items:
                raise InvalidConstraint(
                    f"Group {number} has all {n_items} items, so it has no effect.",
                    "Leave out the items that do not belong to it.",
                )
        return made

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Int]:
        return iter(self.members)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Groups):
            return NotImplemented
        same = [each.tolist() for each in self.members] == [each.tolist() for each in other.members]
        return same and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash(tuple(each.tobytes() for each in self.members))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Groups, (self.members, self.weights))

    def __repr__(self) -> str:
        return f"Groups({len(self)})"

    def __add__(self, other: Groups) -> Groups:
        return Groups(
            (*self.members, *other.members), np.concatenate([self.weights, other.weights])
        )

    @cached_property
    def rows(self) -> Int:
        """The group rows (a, b, -k) of all groups in turn, int32 (sum of (k - 1), 3)."""
        if not self.members:
            return np.empty((0, 3), np.int32)
        return np.concatenate([group_rows(items) for items in self.members])

    @cached_property
    def row_group(self) -> Int:
        """The group of each row of :attr:`rows`, int32."""
        sizes = [items.size - 1 for items in self.members]
        return np.repeat(np.arange(len(self), dtype=np.int32), sizes)

    def triplets(self, n_items: int) -> Int:
        """Return triplets that are equivalent to the groups, int32 (sum of (k - 1)(n - k), 3)."""
        parts = [np.empty((0, 3), np.int32)]
        for items in self.members:
            outside = np.setdiff1d(np.arange(n_items, dtype=np.int32), items)
            pairs = np.stack([items[:-1], items[1:]], axis=1)
            parts.append(
                np.column_stack([np.repeat(pairs, outside.size, 0), np.tile(outside, len(pairs))])
            )
        return np.concatenate(parts).astype(np.int32)

    def soft_triplets(self, n_items: int) -> tuple[Int, NDArray[np.float64]]:
        """Return triplets and weights that price violated groups.

        Each group gives all its triplets aa'|b, or an even part of them: about ``SOFT_ROWS``, with
        each member and each item outside. The weight of the group is divided equally.
        """
        parts, weights = [np.empty((0, 3), np.int32)], [np.empty(0)]
        for items, weight in zip(self.members, self.weights.tolist(), strict=True):
            outside = np.setdiff1d(np.arange(n_items, dtype=np.int32), items)
            pairs = items.size - 1
            count = min(pairs * outside.size, max(SOFT_ROWS, pairs, outside.size))
            each = np.arange(count, dtype=np.int64)
            if count == pairs * outside.size:
                a, c = each // outside.size, each % outside.size
            else:
                a, c = each % pairs, (each + each // np.lcm(pairs, outside.size)) % outside.size
            parts.append(np.column_stack([items[a], items[a + 1], outside[c]]))
            weights.append(np.full(count, weight / count))
        return np.concatenate(parts).astype(np.int32), np.concatenate(weights)


def _items_of(group: ArrayLike, number: int) -> Int:
    """Check one group; return its items, increasing."""
    if isinstance(group, (set, frozenset)):
        group = sorted(group)
    found = check_integers(group, f"The items of group {number}", InvalidConstraint).ravel()
    items = np.unique(found)
    if items.size < found.size:
        raise InvalidConstraint(f"Group {number} names an item twice.")
    if items.size < 2:
        raise InvalidConstraint(
            f"Group {number} has {items.size} item(s).", "A group needs two items or more."
        )
    if items[0] < 0 or items[-1] > np.iinfo(np.int32).max:
        wrong = items[0] if items[0] < 0 else items[-1]
        raise InvalidConstraint(f"Group {number} names item {wrong}.", "Items are numbered from 0.")
    return items.astype(np.int32)


def group_rows(items: ArrayLike) -> Int:
    """Return the group rows (a, b, -k) of one group, int32 (k - 1, 3)."""
    members = np.asarray(items, np.int32)
    size = np.full(members.size - 1, -members.size, np.int32)
    return np.stack([members[:-1], members[1:], size], axis=1)


NO_GROUPS = Groups()


class Nesting:
    """Groups that are nested or disjoint, as the kernels of samplers and searches read them.

    Parameters
    ----------
    groups : Groups
        No two of them overlap without nesting.
    n_items : int
        Number of items.

    Attributes
    ----------
    home : int32 (n,)
        The smallest group of each item, or -1.
    over : int32 (g,)
        The smallest group that contains each group and is larger, or -1.
    size : int32 (g,)
        Number of items.
    first : int32 (g,)
        The lowest item.

    Raises
    ------
    InvalidConstraint
        Two groups overlap without nesting.

    Notes
    -----
    Different groups are numbered by size, smallest first. O(sum of the sizes).
    """

    def __init__(self, groups: Groups, n_items: int) -> None:
        different = {items.tobytes(): items for items in groups.members}
        order = sorted(different.values(), key=len)
        self.home = np.full(n_items, -1, np.int32)
        self.over = np.full(len(order), -1, np.int32)
        self.size = np.array([len(each) for each in order], np.int32)
        self.first = np.array([each[0] for each in order], np.int32)
        self.members = tuple(order)
        top = np.full(n_items, -1, np.int32)  # the largest group so far of each item
        for number, items in enumerate(order):
            inside = np.unique(top[items])
            for child in inside[inside >= 0].tolist():
                if not np.isin(order[child], items, assume_unique=True).all():
                    raise InvalidConstraint(
                        f"The groups {shown_items(order[child])} and {shown_items(items)} overlap, "
                        "and neither contains the other.",
                        "Drop one of them.",
                    )
                self.over[child] = number
            top[items] = number
            self.home[items[self.home[items] < 0]] = number

    def slots(self, triplets: ArrayLike) -> Int:
        """Rename the items of triplets: inside the smallest group that contains all three.

        An item of a smaller group there is named by that group's lowest item. Rows whose a and b
        become equal hold in any tree with the groups, and are left out. int32 (m, 3).

        Notes
        -----
        A tree satisfies the groups and the triplets if and only if the tree over the parts of each
        group (items and smaller groups) satisfies the renamed triplets inside it. O(m depth).
        """
        found = []
        for row in np.asarray(triplets, np.int32).reshape(-1, 3).tolist():
            chains = [self.chain(item) for item in row]
            common = set(chains[0]) & set(chains[1]) & set(chains[2])
            names = []
            for item, chain in zip(row, chains, strict=True):
                below = [group for group in chain if group not in common]
                names.append(int(self.first[below[-1]]) if below else item)
            if names[0] != names[1]:
                found.append(names)
        return np.array(found, np.int32).reshape(-1, 3)

    def chain(self, item: int) -> list[int]:
        """Return the groups that contain an item, smallest first."""
        found = []
        group = int(self.home[item])
        while group >= 0:
            found.append(group)
            group = int(self.over[group])
        return found


def shown_items(items: Sequence[int] | Int) -> str:
    """Return the items of a group for a message: ``{0, 1, 2, ... and 7 more}``."""
    names = [str(int(each)) for each in items[:SHOWN_ITEMS]]
    return "{" + join_names(names, SHOWN_ITEMS, len(items)) + "}"


__all__ = ["Groups", "Nesting", "group_rows"]
