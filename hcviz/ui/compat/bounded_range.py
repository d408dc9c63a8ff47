"""``show_range``: set what a range shows together with its bounds.

Internals of BokehJS 3.9.2 (``models/ranges/numerical_range.ts``): ``convert`` clips start and end
by the bounds that the range has when they arrive. The server gets no message. So the bounds are set
first.

Never change ``min_interval`` or ``max_interval`` of a range on a page. The browser answers with a
range made of the new limit and the old rows, and the server takes that for a zoom.
"""

from __future__ import annotations

from typing import Any


def show_range(shown: Any, start: float, end: float, bounds: tuple[float, float] | None) -> None:
    """Set the bounds of a range, then its start and end."""
    shown.bounds = bounds
    shown.update(start=start, end=end)


__all__ = ["show_range"]
