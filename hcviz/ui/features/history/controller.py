"""``FootControls``: what the controls at the foot of the page do."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.session import actions as act
from hcviz.ui.features.files.controller import FileController
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.store import Store

ACTS = Acts()


@dataclass
class FootControls(Controls):
    """Handles the messages of the foot of the page."""

    ACTS = ACTS

    store: Store
    files: FileController

    @ACTS.on("stop-reading")
    def _cancel_file(self) -> None:
        self.files.stop()

    @ACTS.on("step")
    def _step(self, by: int) -> None:
        """Undo ``-by`` steps, or redo ``by`` of them."""
        for _ in range(abs(by)):
            self.store.dispatch(act.Undo() if by < 0 else act.Redo())
