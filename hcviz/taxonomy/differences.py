"""The differences between two versions of a taxonomy, group by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidTaxonomy
from hcviz.core.table_cells import quote
from hcviz.taxonomy.group import Group
from hcviz.taxonomy.placement import MIN_JACCARD

if TYPE_CHECKING:
    import pandas

GroupStatus = Literal["kept", "renamed", "changed", "split", "merged", "new", "gone"]

#: In the order in which they are counted.
STATUSES: tuple[GroupStatus, ...] = get_args(GroupStatus)

Int = NDArray[np.int64]


@dataclass(frozen=True)
class GroupDifference:
    """A group of the first version, and what it is in the second.

    Parameters
    ----------
    status : {"kept", "renamed", "changed", "split", "merged", "new", "gone"}
        ``kept`` and ``renamed`` groups have the same items. ``changed`` groups have other items.
    first, second : Group or None
        The group in each version. None where it does not exist.
    gained, lost : tuple of str
        Items that only the second group has, and items that only the first has.
    into : tuple of Group
        Groups of the second version that the first group was split into.
    sources : tuple of Group
        Groups of the first version that were merged into the second group.

    Examples
    --------
    >>> first = Taxonomy.from_text("Birds\\n  owl\\n  rook\\n  wren\\nelm\\n")
    >>> second = Taxonomy.from_text("Birds\\n  owl\\n  rook\\nwren\\nelm\\n")
    >>> difference = first.compared_with(second).groups[0]
    >>> difference.status, difference.lost
    ('changed', ('wren',))
    """

    status: GroupStatus
    first: Group | None
    second: Group | None
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    into: tuple[Group, ...] = ()
    sources: tuple[Group, ...] = ()

    @property
    def is_same(self) -> bool:
        """True if name, items, note and other names are the same."""
        first, second = self.first, self.second
        if self.status != "kept" or first is None or second is None:
            return False
        return (first.note, first.alternatives) == (second.note, second.alternatives)


@dataclass(frozen=True)
class MovedItem:
    """An item that is in another group.

    Parameters
    ----------
    item : str
        Name of the item.
    origin, target : Group or None
        Its smallest group in each version. None without a group.

    Examples
    --------
    >>> first = Taxonomy.from_text("A\\n  1\\n  2\\n  3\\nB\\n  4\\n  5\\n")
    >>> second = Taxonomy.from_text("A\\n  1\\n  2\\nB\\n  3\\n  4\\n  5\\n")
    >>> [(each.item, each.target.name) for each in first.compared_with(second).moved]
    [('3', 'B')]
    """

    item: str
    origin: Group | None
    target: Group | None


@dataclass(frozen=True)
class TaxonomyDifferences:
    """The differences between two versions of a taxonomy.

    Parameters
    ----------
    groups : tuple of GroupDifference
        First the groups of the first version in their order, then new groups.
    moved : tuple of MovedItem
        Items that are in another group.
    only_first, only_second : tuple of str
        Items that only one of the versions has.

    Examples
    --------
    >>> taxonomy = Taxonomy.from_text("Birds\\n  owl\\n  rook\\nelm\\n")
    >>> [each.status for each in taxonomy.compared_with(taxonomy).groups]
    ['kept']
    """

    groups: tuple[GroupDifference, ...]
    moved: tuple[MovedItem, ...] = ()
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The number of groups of each status."""
        found: dict[str, int] = {status: 0 for status in STATUSES}
        for each in self.groups:
            found[each.status] += 1
        return found

    def frame(self) -> pandas.DataFrame:
        """Return the groups as a table.

        Returns
        -------
        pandas.DataFrame
            The columns are status, first, second, gained, lost, into and sources. Groups are
            given by their names; the last four columns have tuples.

        Examples
        --------
        >>> taxonomy = Taxonomy.from_text("Birds\\n  owl\\n  rook\\nelm\\n")
        >>> taxonomy.compared_with(taxonomy).frame()["first"].tolist()
        ['Birds']
        """
        import pandas

        return pandas.DataFrame(
            [
                {
                    "status": each.status,
                    "first": None if each.first is None else each.first.name,
                    "second": None if each.second is None else each.second.name,
                    "gained": each.gained,
                    "lost": each.lost,
                    "into": tuple(group.name for group in each.into),
                    "sources": tuple(group.name for group in each.sources),
                }
                for each in self.groups
            ],
            columns=["status", "first", "second", "gained", "lost", "into", "sources"],
            dtype=object,
        )


class _Side:
    """The groups of one version, with their items among the common ones."""

    def __init__(self, groups: Sequence[Group], labels: Sequence[str], common: dict[str, int]):
        self.groups = groups
        place = [common.get(label, -1) for label in labels]
        self.sets = [
            frozenset(place[item] for item in group.members if place[item] >= 0) for group in groups
        ]
        has = np.zeros((len(groups), len(common)), np.float32)
        for row, items in zip(has, self.sets, strict=True):
            row[list(items)] = 1
        self.has, self.size = has, has.sum(axis=1).astype(np.int64)
        self.shared = shared = (has @ has.T).astype(np.int64)
        inside = (shared == self.size[:, None]) & (self.size[:, None] < self.size[None, :])
        #: For each two groups: 0 overlapping or equal, 1 inside, 2 around, 3 disjoint.
        self.relation = np.select([shared == 0, inside, inside.T], [3, 1, 2], 0)
        names = [tuple(sorted(labels[item] for item in group.members)) for group in groups]
        self.key = [(group.name, own) for group, own in zip(groups, names, strict=True)]

    def smallest(self) -> dict[int, int]:
        """Return the smallest group of each common item that has one; the first of equal size."""
        found: dict[int, int] = {}
        for k in sorted(range(len(self.groups)), key=lambda k: (self.size[k], k)):
            for item in self.sets[k]:
                found.setdefault(item, k)
        return found


def find_differences(
    labels: Sequence[str],
    groups: Sequence[Group],
    other_labels: Sequence[str],
    other_groups: Sequence[Group],
) -> TaxonomyDifferences:
    """Compare the groups of two taxonomies by the names of their items.

    Parameters
    ----------
    labels, other_labels : sequence of str
        Names of the items of each version. Other items than those of both are listed, and have no
        other effect.
    groups, other_groups : sequence of Group
        The groups of each version.

    Returns
    -------
    TaxonomyDifferences

    Raises
    ------
    InvalidTaxonomy
        If two items of a version have the same name.

    Notes
    -----
    Groups are matched one to one, those with the highest Jaccard index first. The index is 0.5 or
    more, as for :func:`hcviz.taxonomy.placement.place`. Ties go to pairs with the same name, then
    to the first in the alphabet. A pair must keep the nesting of the pairs before it: two groups
    are nested or disjoint in the same way in both versions.

    The parts of a group are its match, and groups without a match that have more than half of their
    items from it. A part inside of another one or overlapping the match does not count. A group
    with two parts or more was split; ``merged`` is the reverse. A group for which both are true is
    ``changed``.

    An item has moved if its group's match gained or lost it. It has also moved if neither of its
    smallest groups has a match. O(k^2 n) for k groups and n items. Swapping the versions swaps the
    result.

    Examples
    --------
    >>> found = find_differences("ab", [Group("A", [0, 1])], "ab", [Group("B", [0, 1])])
    >>> found.groups[0].status
    'renamed'
    """
    for version, names in (("first", labels), ("second", other_labels)):
        repeated = next((name for name, count in Counter(names).items() if count > 1), None)
        if repeated is not None:
            raise InvalidTaxonomy(
                f"The {version} version has two items named {quote(repeated)}.",
                "Give each item a different name.",
            )
    others = set(other_labels)
    common = {label: k for k, label in enumerate(x for x in labels if x in others)}
    one, two = _Side(groups, labels, common), _Side(other_groups, other_labels, common)
    shared = (one.has @ two.has.T).astype(np.int64)
    match = _matched(one, two, shared)
    back = {b: a for a, b in match.items()}
    into = [_parts(a, match.get(a), two, back, shared[a]) for a in range(len(groups))]
    sources = [_parts(b, back.get(b), one, match, shared[:, b]) for b in range(len(other_groups))]
    shared_names = list(common)

    def listed(items: frozenset[int]) -> tuple[str, ...]:
        return tuple(shared_names[item] for item in sorted(items))

    def difference(a: int | None, b: int | None) -> GroupDifference:
        left = () if a is None else into[a]
        right = () if b is None else sources[b]
        mine = frozenset[int]() if a is None else one.sets[a]
        theirs = frozenset[int]() if b is None else two.sets[b]
        status: GroupStatus
        if left and not right:
            status = "split"
        elif right and not left:
            status = "merged"
        elif a is None:
            status = "new"
        elif b is None:
            status = "gone"
        elif mine != theirs:
            status = "changed"
        else:
            status = "kept" if groups[a].name == other_groups[b].name else "renamed"
        return GroupDifference(
            status,
            None if a is None else groups[a],
            None if b is None else other_groups[b],
            listed(theirs - mine),
            listed(mine - theirs),
            tuple(other_groups[part] for part in left),
            tuple(groups[part] for part in right),
        )

    found = [difference(a, match.get(a)) for a in range(len(groups))]
    found += [difference(None, b) for b in range(len(other_groups)) if b not in back]
    known = set(labels)
    return TaxonomyDifferences(
        tuple(found),
        _moved(one, two, match, shared_names),
        tuple(label for label in labels if label not in others),
        tuple(label for label in other_labels if label not in known),
    )


def _matched(one: _Side, two: _Side, shared: Int) -> dict[int, int]:
    """Return the matched groups: group of the first version -> group of the second."""
    union = one.size[:, None] + two.size[None, :] - shared
    near = (shared > 0) & (shared >= MIN_JACCARD * union)
    pairs = np.argwhere(near).tolist()

    def rank(pair: list[int]) -> Any:
        a, b = pair
        keys = sorted([one.key[a], two.key[b]])  # the same if the versions are swapped
        return -shared[a, b] / union[a, b], one.key[a][0] != two.key[b][0], keys

    match: dict[int, int] = {}
    firsts, seconds = list[int](), list[int]()
    for a, b in sorted(pairs, key=rank):
        if a in match or b in seconds:
            continue
        if (one.relation[a, firsts] == two.relation[b, seconds]).all():
            match[a] = b
            firsts.append(a)
            seconds.append(b)
    return match


def _parts(
    group: int, matched: int | None, other: _Side, taken: dict[int, int], shared: Int
) -> tuple[int, ...]:
    """Return the groups of the other version that ``group`` consists of; () below two."""
    free = [b for b in np.flatnonzero(2 * shared > other.size).tolist() if b not in taken]
    if matched is not None:
        free = [b for b in free if other.relation[b, matched] == 3]
    outer = [b for b in free if not any(other.relation[b, c] == 1 for c in free)]
    parts = sorted(outer if matched is None else [matched, *outer])
    return tuple(parts) if len(parts) > 1 else ()


def _moved(
    one: _Side, two: _Side, match: dict[int, int], names: Sequence[str]
) -> tuple[MovedItem, ...]:
    back = set(match.values())
    origin, target = one.smallest(), two.smallest()
    moved = {item for a, b in match.items() for item in one.sets[a] ^ two.sets[b]}
    moved |= {
        item
        for item in origin.keys() & target.keys()
        if origin[item] not in match and target[item] not in back
    }
    return tuple(
        MovedItem(
            names[item],
            one.groups[origin[item]] if item in origin else None,
            two.groups[target[item]] if item in target else None,
        )
        for item in sorted(moved)
    )


__all__ = [
    "STATUSES",
    "GroupDifference",
    "GroupStatus",
    "MovedItem",
    "TaxonomyDifferences",
    "find_differences",
]
