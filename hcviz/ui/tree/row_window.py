"""``RowWindow``: the rows in view, as the one vertical range that all figures share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bokeh.models import Range1d

from hcviz.ui.compat.bounded_range import show_range
from hcviz.ui.tree.tree_state import TreeState

#: Rows that the wheel zooms to, at least. Trees with fewer rows cannot be zoomed.
FEWEST_ROWS = 4.0
#: Space above the first row and below the last, as a share of all rows. Letters are higher than
#: a row.
PADDING = 0.005


class RowWindow:
    """Shows rows ``top`` to ``bottom`` between ``-bottom`` and ``-top`` of a Bokeh range."""

    def __init__(self, state: TreeState) -> None:
        self.range: Any = Range1d(start=-1, end=0, min_interval=FEWEST_ROWS)
        self._state = state
        self._is_own_change = False

    def on_move(self, call: Callable[[], None]) -> None:
        """Call ``call`` after the browser has changed the rows in view."""

        def moved(_attribute: str, _old: Any, _new: Any) -> None:
            if not self._is_own_change:
                call()

        self.range.on_change("start", moved)
        self.range.on_change("end", moved)

    @property
    def rows(self) -> tuple[float, float]:
        """The first and the last row edge in view."""
        return -float(self.range.end), -float(self.range.start)

    @property
    def padding(self) -> float:
        """Rows of empty space above the first row and below the last."""
        return PADDING * self._n_rows

    @property
    def whole(self) -> tuple[float, float]:
        """The first and the last row edge when all rows are in view."""
        return -self.padding, self._n_rows + self.padding

    @property
    def is_zoomed(self) -> bool:
        """Return True if some rows are out of view."""
        top, bottom = self.rows
        return self._state.layout is not None and bottom - top < self._n_rows

    def clamp(self, top: float, bottom: float) -> tuple[float, float]:
        """Move and shorten a stretch of rows until it is within the whole."""
        rows, padding = float(self._n_rows), self.padding
        span = min(bottom - top, rows + 2 * padding)
        top = min(max(top, -padding), rows + padding - span)
        return top, top + span

    def show(self, top: float, bottom: float, within: tuple[float, float] | None = None) -> bool:
        """Show these rows; return True if anything changed.

        ``within`` limits the rows that a pointer can reach; None for no limit.
        """
        bounds = None if within is None else (-within[1], -within[0])
        if self.rows == (top, bottom) and self.range.bounds == bounds:
            return False
        self._is_own_change = True
        show_range(self.range, -bottom, -top, bounds)
        self._is_own_change = False
        return True

    @property
    def _n_rows(self) -> int:
        layout = self._state.layout
        return 1 if layout is None else layout.n_rows


__all__ = ["RowWindow"]
