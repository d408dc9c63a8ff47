"""``InspectorControls``: what the controls of the inspector do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.groups.controller import ACTS as GROUP_ACTS
from hcviz.ui.features.groups.controller import GroupControls
from hcviz.ui.features.inspector import changed_clades
from hcviz.ui.features.inspector.model import parent_clade
from hcviz.ui.features.levels.controller import ACTS as LEVEL_ACTS
from hcviz.ui.features.levels.controller import LevelControls
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.store import Store
from hcviz.ui.tree import Centre

ACTS = Acts()


@dataclass
class InspectorControls(Controls):
    """Handles the messages of the inspector."""

    ACTS = ACTS

    store: Store
    centre: Centre
    gestures: Gestures
    groups: GroupControls
    levels: LevelControls

    def act(self, name: str, fields: Mapping[str, Any]) -> None:
        """Handle a message of the inspector, its name field or its buttons for clusters."""
        if name in GROUP_ACTS:
            self.groups.act(name, fields)
        elif name in LEVEL_ACTS:
            self.levels.act(name, fields)
        else:
            super().act(name, fields)

    @classmethod
    def schema(cls) -> dict[str, dict[str, str]]:
        """Return the messages of the inspector, its name field and its buttons for clusters."""
        return super().schema() | GROUP_ACTS.schema() | LEVEL_ACTS.schema()

    @ACTS.on("pick")
    def _pick(self, id: int) -> None:
        self.gestures.select_items((id,))

    @ACTS.on("clade")
    def _clade(self, which: str, node: int) -> None:
        items = changed_clades.clade_members(self.store, which, node)
        if items:
            self.gestures.select_items(items)

    @ACTS.on("focus")
    def _focus(self) -> None:
        self.centre.focus(self.store.view.selection)

    @ACTS.on("collapse")
    def _collapse(self) -> None:
        self.centre.toggle_collapse(self.store.view.selection)
        self.store.notify()

    @ACTS.on("parent")
    def _parent(self) -> None:
        self.store.change_view(selection=parent_clade(self.store))
