"""The class ``Outline``: the nested groups of a taxonomy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hcviz.taxonomy.group import Group


@dataclass(frozen=True)
class Outline:
    """A group and its contents, in the order of the tree's leaves.

    Attributes
    ----------
    group : the group, or None for the whole taxonomy
    contents : indices of the items directly in the group, and the groups directly in it
    """

    group: Group | None
    contents: tuple[int | Outline, ...]

    @property
    def name(self) -> str:
        """Name of the group, or an empty text."""
        return "" if self.group is None else self.group.name

    @property
    def items(self) -> tuple[int, ...]:
        """The items directly in this group."""
        return tuple(each for each in self.contents if not isinstance(each, Outline))

    @property
    def children(self) -> tuple[Outline, ...]:
        """The groups directly in this group."""
        return tuple(each for each in self.contents if isinstance(each, Outline))

    def walk(self) -> Iterator[tuple[Outline, tuple[Group, ...]]]:
        """Yield this outline and all inside, each with its path of groups, the outermost first."""
        waiting: list[tuple[Outline, tuple[Group, ...]]] = [(self, ())]
        while waiting:
            each, path = waiting.pop()
            path = path if each.group is None else (*path, each.group)
            yield each, path
            waiting.extend((child, path) for child in reversed(each.children))


__all__ = ["Outline"]
