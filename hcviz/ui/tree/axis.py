"""``Axis``: the title of the height axis, and the heights of a clade as text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hcviz.core.layout import with_even_heights
from hcviz.core.tree import Tree

EVEN_TITLE, EVEN_WORD = "level (branchings down to the items)", "Level"


@dataclass(frozen=True, eq=False)
class Axis:
    """The height axis of one tree.

    ``own_title`` and ``word`` describe the tree's own heights. ``even``: the picture shows levels
    instead, with even distances.
    """

    tree: Tree
    own_title: str
    word: str
    even: bool = False

    @property
    def title(self) -> str:
        """The title of the axis."""
        return EVEN_TITLE if self.even else self.own_title

    @cached_property
    def shown(self) -> Tree:
        """The tree with the heights that are drawn."""
        return with_even_heights(self.tree) if self.even else self.tree

    def heights_of(self, node: int) -> list[tuple[str, str]]:
        """Return names and values of a clade's heights: the level, if shown, and its own height."""
        own = (self.word, number(float(self.tree.height[node])))
        return [(EVEN_WORD, number(float(self.shown.height[node]))), own] if self.even else [own]


def number(value: float) -> str:
    """Return a height as text: ``1,234`` or, with four significant digits, ``0.4913``."""
    if not np.isfinite(value):
        return "-"
    if float(value).is_integer() and abs(value) < 1e12:
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.1f}"


__all__ = ["Axis", "number"]
