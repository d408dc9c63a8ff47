"""Pieces of the inspector. A new one is a module with a ``SECTION``, its script, a line here."""

from __future__ import annotations

from hcviz.ui.sections import asked, costs, learning, prices, profile, spur, views, why, worth
from hcviz.ui.sections.base import Section

#: In the order in which they stand.
_EACH: tuple[Section, ...] = (
    why.SECTION,
    asked.SECTION,
    spur.SECTION,
    views.SECTION,
    learning.SECTION,
    prices.SECTION,
    costs.SECTION,
    profile.SECTION,
    worth.SECTION,
)
SECTIONS: dict[str, Section] = {each.name: each for each in _EACH}

__all__ = ["SECTIONS", "Section"]
