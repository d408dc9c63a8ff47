"""The nesting of groups by their members, and what groups of one taxonomy may not share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.group import Group


def parents_of(groups: Sequence[Group]) -> tuple[int | None, ...]:
    """Return for each group the index of the smallest group that contains it, or None. O(k^2)."""
    sets = [frozenset(group.members) for group in groups]
    found: list[int | None] = []
    for own in sets:
        around = [k for k, other in enumerate(sets) if own < other]
        found.append(min(around, key=lambda k: (len(sets[k]), k)) if around else None)
    return tuple(found)


def shared_properties(groups: Sequence[Group]) -> Iterator[tuple[Group, Group, str]]:
    """Yield pairs of groups that cannot be in one taxonomy, and what they share."""
    seen: dict[object, Group] = {}
    for group, parent in zip(groups, parents_of(groups), strict=True):
        for key, what in (
            (frozenset(group.members), "the same items"),
            (("id", group.id), f"the id {group.id!r}"),
            (("name", parent, group.name), "the same name below the same group"),
        ):
            twin = seen.setdefault(key, group)
            if twin is not group:
                yield twin, group, what


def check_groups(groups: Sequence[Group], n_items: int) -> None:
    """Check that groups can be in one taxonomy of ``n_items`` items.

    Raises
    ------
    InvalidTaxonomy
        If a member is not an item, or two groups have the same items, the same id, or the same name
        below the same group.
    """
    for group in groups:
        if group.members[-1] >= n_items:
            raise InvalidTaxonomy(
                f"The group {group.name!r} has the item {group.members[-1]}, but there are "
                f"only {n_items} items."
            )
    for twin, group, what in shared_properties(groups):
        raise InvalidTaxonomy(
            f"The groups {twin.name!r} and {group.name!r} have {what}.",
            "Rename or remove one of them.",
        )


__all__ = ["check_groups", "parents_of", "shared_properties"]
