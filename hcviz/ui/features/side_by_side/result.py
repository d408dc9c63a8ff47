"""``SideResult``: the run of one of the methods side by side."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.core.tree import Tree


@dataclass(frozen=True, eq=False)
class SideResult:
    """The run of one method.

    Attributes
    ----------
    tree
        Its tree; None if it returned none.
    queries
        Number of similarities, or of comparisons, that it asked for; NaN if it asks for nothing.
    seconds
        Wall time of the run.
    sentence
        What went wrong; "" if nothing did.
    """

    tree: Tree | None
    queries: float
    seconds: float
    sentence: str = ""


__all__ = ["SideResult"]
