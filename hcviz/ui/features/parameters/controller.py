"""``FormControls``: what the fields of the form of parameters do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hcviz.session import actions as act
from hcviz.ui.features.parameters.model import set_field
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.store import Store

ACTS = Acts()


@dataclass
class FormControls(Controls):
    """Handles the messages of the form of parameters."""

    ACTS = ACTS

    store: Store

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
