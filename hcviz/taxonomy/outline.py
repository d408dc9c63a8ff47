"""The class ``Outline``: the nested groups of a taxonomy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hcviz.taxonomy.group import Group


@dataclass(frozen=True)
class Outline:
    """A group and its contents, in the order of the tree's leaves.

    Parameters
    ----------
    group : Group or None
        The group; None for the whole taxonomy.
    contents : tuple of (int or Outline)
        Indices of the items directly in the group, and the groups directly in it.

    Examples
    --------
    >>> outline = Taxonomy.from_text("Birds\\n  owl\\n  rook\\nelm\\n").outline
    >>> outline.items, outline.children[0].name, outline.children[0].items
    ((0,), 'Birds', (1, 2))
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
        """Iterate over this outline and all outlines inside, each before its contents.

        Yields
        ------
        outline : Outline
            This outline, or one inside.
        path : tuple of Group
            The groups that contain it and its own group, the outermost first.

        Examples
        --------
        >>> outline = Taxonomy.from_text("Birds\\n  owl\\n  rook\\nelm\\n").outline
        >>> [(each.name, len(path)) for each, path in outline.walk()]
        [('', 0), ('Birds', 1)]
        """
        waiting: list[tuple[Outline, tuple[Group, ...]]] = [(self, ())]
        while waiting:
            each, path = waiting.pop()
            path = path if each.group is None else (*path, each.group)
            yield each, path
            waiting.extend((child, path) for child in reversed(each.children))

    def at_level(self, level: int) -> list[Outline]:
        """Return the innermost groups that are shown if the outline is collapsed to a level.

        Parameters
        ----------
        level : int
            1 for the outermost groups.

        Returns
        -------
        list of Outline
            The groups on this level, and those above it that contain no groups, in their order.

        Examples
        --------
        >>> text = "Animals\\n  newt\\n  Birds\\n    owl\\n    rook\\nTrees\\n  elm\\n  yew\\n"
        >>> outline = Taxonomy.from_text(text).outline
        >>> [each.name for each in outline.at_level(1)]
        ['Animals', 'Trees']
        >>> [each.name for each in outline.at_level(2)]
        ['Birds', 'Trees']
        """
        return [
            each
            for each, path in self.walk()
            if path and (len(path) == level or (len(path) < level and not each.children))
        ]


__all__ = ["Outline"]
