"""``FormControls``: what the fields of the form of parameters do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hcviz.session import actions as act
from hcviz.ui.features.parameters.model import set_field
from hcviz.ui.parts.messages import Acts
from hcviz.ui.state.store import Store

ACTS = Acts()


@dataclass
class FormControls:
    """Handles the messages of the form of parameters."""

    store: Store

    def act(self, name: str, fields: dict[str, Any]) -> None:
        """Handle a message of the form."""
        ACTS(self, name, fields)

    @ACTS.on("set")
    def _set(self, name: str, value: Any) -> None:
        """Give a parameter of the method, or of the data's preparation, another value."""
        if name == "data:scaling":
            self.store.dispatch(act.SetScaling(str(value)))
        elif name == "data:missing":
            self.store.dispatch(act.SetMissing(str(value)))
        else:
            with self.store.guarded():
                set_field(self.store, name, value)
