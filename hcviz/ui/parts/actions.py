"""``Actions``: the commands that a section or a sheet may use when a person acts on it."""

from __future__ import annotations

from typing import Protocol

from hcviz.ui.state.store import Store


class Actions(Protocol):
    """The part of :class:`hcviz.ui.features.constraints.gestures.Gestures` that views use."""

    store: Store

    def select_items(self, leaves: tuple[int, ...]) -> None:
        """Add items to the open draft, or select them if no draft is open."""
