"""``SecondVersion``: another person's groups of the same items, while they are reviewed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy import Group, TaxonomyDifferences
from hcviz.taxonomy.differences import find_differences
from hcviz.taxonomy.nesting import check_groups


@dataclass(frozen=True)
class SecondVersion:
    """A second version of the groups, and the decisions about it.

    Attributes
    ----------
    name : str
        Name of its file.
    mine : tuple of Group
        The session's groups when the version was opened.
    theirs : tuple of Group
        The groups of the file, with the items of the session.
    items : tuple of int
        The session's items that the file has.
    taken, kept : tuple of int
        The decided rows of :meth:`differences`.
    """

    name: str
    mine: tuple[Group, ...]
    theirs: tuple[Group, ...]
    items: tuple[int, ...]
    taken: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()

    def check(self, n_items: int) -> None:
        """Raise InvalidTaxonomy unless the groups fit ``n_items`` items."""
        check_groups(self.mine, n_items)
        check_groups(self.theirs, n_items)
        known = set(self.items)
        inside = all(known.issuperset(group.members) for group in self.theirs)
        if not inside or any(not 0 <= item < n_items for item in known):
            raise InvalidTaxonomy("The second version has groups with other items than its own.")

    def differences(self, labels: Sequence[str]) -> TaxonomyDifferences:
        """Return the differences, one row for each group. They do not change with decisions.

        A group of which the file has no item has no row: the file cannot tell anything about it.
        """
        known = frozenset(self.items)
        place = {item: k for k, item in enumerate(self.items)}
        own = {group.id: group for group in self.theirs}
        theirs = [
            replace(group, members=tuple(place[item] for item in group.members))
            for group in self.theirs
        ]
        found = find_differences(labels, self.mine, [labels[item] for item in self.items], theirs)
        rows = tuple(
            replace(
                row,
                second=None if row.second is None else own[row.second.id],
                into=tuple(own[group.id] for group in row.into),
            )
            for row in found.groups
            if row.first is None or not known.isdisjoint(row.first.members)
        )
        return replace(found, groups=rows)

    def undecided(self, labels: Sequence[str]) -> tuple[int, ...]:
        """Return the rows with a difference that are neither taken over nor kept."""
        decided = {*self.taken, *self.kept}
        rows = self.differences(labels).groups
        return tuple(k for k, row in enumerate(rows) if not row.is_same and k not in decided)


__all__ = ["SecondVersion"]
