"""``ToolControls``: what the tools above the tree do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.levels.controller import ACTS as LEVEL_ACTS
from hcviz.ui.features.levels.controller import LevelControls
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.parts.numbers import percentage
from hcviz.ui.state.saved_look import BELOW, LOOKS
from hcviz.ui.state.store import Store
from hcviz.ui.tree import Centre

ACTS = Acts()


@dataclass
class ToolControls(Controls):
    """Handles the messages of the tools above the tree."""

    ACTS = ACTS

    store: Store
    centre: Centre
    gestures: Gestures
    levels: LevelControls

    def act(self, name: str, fields: Mapping[str, Any]) -> None:
        """Handle a message of the tools or of the row of levels."""
        if name in LEVEL_ACTS:
            self.levels.act(name, fields)
        else:
            super().act(name, fields)

    @classmethod
    def schema(cls) -> dict[str, dict[str, str]]:
        """Return the messages of the tools, with those of the row of levels."""
        return super().schema() | LEVEL_ACTS.schema()

    @ACTS.on(*(name for name in LOOKS if name != "level"))
    def _look(self, act: str, value: str) -> None:
        if value in LOOKS[act]:
            self.store.change_view(**{act: value})

    @ACTS.on("source")
    def _source(self, value: str) -> None:
        self.store.change_view(source=value)

    @ACTS.on("below")
    def _below(self, value: str) -> None:
        with self.store.guarded():
            self.store.change_view(below=percentage(value, "The least support", BELOW))

    @ACTS.on("reset")
    def _reset(self) -> None:
        self.centre.reset_zoom()

    @ACTS.on("find")
    def find(self, value: str) -> None:
        """Select the items with this name, else those whose names contain it, and show them."""
        store = self.store
        labels = store.session.labels
        wanted = value.strip().casefold()
        exact = [i for i, name in enumerate(labels) if name.casefold() == wanted]
        found = exact or [i for i, name in enumerate(labels) if wanted in name.casefold()]
        if not found:
            store.change_view(error=(f"No item is called {value!r}.", ""))
            return
        chosen = tuple(found)
        self.centre.expand(chosen[:1] if store.view.draft.open else chosen)
        if store.view.draft.open:
            self.gestures.select_items(chosen[:1])
            self.centre.focus(chosen[:1])
            return
        message = f"Found {labels[found[0]]}" + (
            f" and {len(found) - 1} more." if found[1:] else "."
        )
        store.change_view(selection=chosen, error=None, message=message)
        self.centre.focus(chosen)
