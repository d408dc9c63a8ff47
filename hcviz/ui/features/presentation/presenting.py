"""``Presenting``: what a presentation shows, and what the page showed before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Size of the type in a presentation, as a multiple of the usual one.
SCALE = 1.75


@dataclass(frozen=True, eq=False)
class Presenting:
    """A presentation.

    Attributes
    ----------
    nodes : tuple of int
        The clades to step through, as nodes of the tree; the first is the root.
    at : int
        Index of the present one.
    selection, sheet, level, message
        The values of the page before the presentation.
    picture : mapping
        Zoom and collapsed clades before the presentation (``Centre.view_settings``).
    """

    nodes: tuple[int, ...]
    at: int
    selection: tuple[int, ...]
    sheet: str
    level: str
    message: str
    picture: Mapping[str, Any]


__all__ = ["SCALE", "Presenting"]
