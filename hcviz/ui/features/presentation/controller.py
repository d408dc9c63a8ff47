"""``PresentationController``: begins and ends a presentation, and steps through its clades."""

from __future__ import annotations

from dataclasses import replace

from hcviz.ui.app.sheets import TREE
from hcviz.ui.features.presentation.model import focus, new_stops, stop_items
from hcviz.ui.features.presentation.presenting import SCALE, Presenting
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.store import Store
from hcviz.ui.tree import Centre

ACTS = Acts()

#: Key -> what it does. Presenters send Page Down and Page Up.
KEYS = {
    "ArrowRight": "next", "ArrowDown": "next", "PageDown": "next", " ": "next",
    "ArrowLeft": "back", "ArrowUp": "back", "PageUp": "back",
    "Escape": "stop", "p": "stop",
}  # fmt: skip


class PresentationController(Controls):
    """Handles the presentation of one store; ``centre`` draws its tree."""

    ACTS = ACTS

    def __init__(self, store: Store, centre: Centre) -> None:
        self.store, self.centre = store, centre
        store.subscribe(lambda s: (s.drawn, s.session.groups), lambda _: self._tree_changed())
        store.subscribe(focus, lambda _: self._draw())

    def start(self) -> None:
        """Begin with the whole tree; say why not if there is none."""
        store, view = self.store, self.store.view
        if view.presenting is not None:
            return
        if view.lesson is not None or view.playing is not None:
            store.change_view(message="End the lesson first. Then press P to present the tree.")
            return
        nodes = new_stops(store, self.centre.order)
        if not nodes or view.draft.open:
            store.change_view(
                message="Finish or cancel the statement first (Esc). Then press P."
                if view.draft.open
                else "There is no tree to present yet."
            )
            return
        before = Presenting(
            nodes, 0, view.selection, view.sheet, view.level, view.message,
            self.centre.view_settings(),
        )  # fmt: skip
        self.centre.reset_zoom()
        store.change_view(presenting=before, selection=(), sheet=TREE, message="")

    def key(self, key: str) -> bool:
        """Handle a key. Return True during a presentation, which takes all keys."""
        if self.store.view.presenting is None:
            return False
        if key in KEYS:
            self.act(KEYS[key], {})
        return True

    # ------------------------------------------------------------------ messages

    @ACTS.on("next")
    def go_on(self) -> None:
        """Go to the next clade."""
        self._step(1)

    @ACTS.on("back")
    def go_back(self) -> None:
        """Go to the clade before."""
        self._step(-1)

    @ACTS.on("stop")
    def stop(self) -> None:
        """End the presentation. The page is then as before."""
        before = self.store.view.presenting
        if before is None:
            return
        self.store.change_view(
            presenting=None, selection=before.selection, sheet=before.sheet, level=before.level,
            message=before.message,
        )  # fmt: skip
        self.centre.restore_view_settings(before.picture)

    # ------------------------------------------------------------------ steps

    def _step(self, by: int) -> None:
        presenting = self.store.view.presenting
        if presenting is None or not 0 <= presenting.at + by < len(presenting.nodes):
            return
        now = replace(presenting, at=presenting.at + by)
        self.store.change_view(presenting=now, selection=stop_items(self.store, now))

    def _tree_changed(self) -> None:
        """Step through the clades of another tree; end the presentation without a tree."""
        presenting = self.store.view.presenting
        if presenting is None:
            return
        nodes = new_stops(self.store, self.centre.order)
        if not nodes:
            self.store.change_view(
                presenting=None, selection=(), sheet=presenting.sheet, level=presenting.level
            )
        elif nodes != presenting.nodes:
            self.store.change_view(presenting=replace(presenting, nodes=nodes, at=0), selection=())

    def _draw(self) -> None:
        """Draw large type during a presentation, and what is not talked about faintly."""
        items = focus(self.store)
        self.centre.set_scale(1.0 if items is None else SCALE)
        self.centre.set_muted(bool(items))


__all__ = ["PresentationController"]
