"""The height axis: its title, and what it says about a clade, in the tooltip and the inspector."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hcviz.core.layout import with_even_heights
from hcviz.core.tree import Tree

EVEN_TITLE, EVEN_WORD = "level (branchings down to the items)", "Level"


@dataclass(frozen=True, eq=False)
class Axis:
    """Of one tree: ``title`` and ``word`` of its own heights, and whether levels are shown."""

    tree: Tree
    own_title: str
    word: str
    even: bool = False

    @property
    def title(self) -> str:
        return EVEN_TITLE if self.even else self.own_title

    @cached_property
    def shown(self) -> Tree:
        """The tree as it is drawn."""
        return with_even_heights(self.tree) if self.even else self.tree

    def facts(self, node: int) -> list[tuple[str, str]]:
        """What the axis says about a clade, and its own height where levels are shown."""
        own = (self.word, number(float(self.tree.height[node])))
        return [(EVEN_WORD, number(float(self.shown.height[node]))), own] if self.even else [own]


def number(value: float) -> str:
    """``1,234`` or ``0.4913``: whole numbers whole, others with four figures."""
    if not np.isfinite(value):
        return "-"
    if float(value).is_integer() and abs(value) < 1e12:
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.1f}"


__all__ = ["Axis", "number"]
