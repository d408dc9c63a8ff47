"""``Outline``: the groups of a taxonomy, nested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hcviz.taxonomy.group import Group


@dataclass(frozen=True)
class Outline:
    """A group and what is in it, in the order of the tree's leaves.

    ``group`` is None at the top. ``contents`` are the items (indices) in no group below it, and the
    groups directly below it.
    """

    group: Group | None
    contents: tuple[int | Outline, ...]

    @property
    def name(self) -> str:
        return "" if self.group is None else self.group.name

    @property
    def items(self) -> tuple[int, ...]:
        """The items that are in no group below this one."""
        return tuple(each for each in self.contents if not isinstance(each, Outline))

    @property
    def children(self) -> tuple[Outline, ...]:
        """The groups directly below this one."""
        return tuple(each for each in self.contents if isinstance(each, Outline))

    def walk(self) -> Iterator[tuple[Outline, tuple[Group, ...]]]:
        """This one and all below it, each with the groups from the top down to itself."""
        waiting: list[tuple[Outline, tuple[Group, ...]]] = [(self, ())]
        while waiting:
            each, path = waiting.pop()
            path = path if each.group is None else (*path, each.group)
            yield each, path
            waiting.extend((child, path) for child in reversed(each.children))


__all__ = ["Outline"]
