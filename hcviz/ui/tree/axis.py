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
    instead, with even distances. ``note``: a tooltip for a height.
    ``is_share``: the tree's own heights are 1 minus a share. ``crowded``: they are even unless a
    person chooses otherwise.
    """

    tree: Tree
    own_title: str
    word: str
    even: bool = False
    is_share: bool = False
    note: str = ""
    crowded: bool = False

    @property
    def title(self) -> str:
        """The title of the axis."""
        return EVEN_TITLE if self.even else self.own_title

    @cached_property
    def shown(self) -> Tree:
        """The tree with the heights that are drawn."""
        return with_even_heights(self.tree) if self.even else self.tree

    def tick(self, height: float) -> str:
        """Return what the axis writes at a height; a share is in per cent, without the sign."""
        return share_text(height)[:-2] if self.is_share and not self.even else f"{height:.6g}"

    def heights_of(self, node: int) -> list[tuple[str, str]]:
        """Return names and values of a clade's heights: the level, if shown, and its own height."""
        height = float(self.tree.height[node])
        own = (self.word, share_text(height) if self.is_share else number(height))
        return [(EVEN_WORD, number(float(self.shown.height[node]))), own] if self.even else [own]


def number(value: float) -> str:
    """Return a height as text: ``1,234`` or, with four significant digits, ``0.4913``."""
    if not np.isfinite(value):
        return "-"
    if float(value).is_integer() and abs(value) < 1e12:
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.1f}"


def share_text(height: float) -> str:
    """Return the share that a height is 1 minus of, in per cent."""
    return f"{round(100 * (1 - height), 1) + 0.0:g} %"


__all__ = ["Axis", "number", "share_text"]
