"""``Keyboard``: what the shortcuts of the page do."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.session import actions as act
from hcviz.ui.app.sheets import TREE
from hcviz.ui.features.comparisons.controller import ComparisonController
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.lesson_player.controller import PlayerController
from hcviz.ui.features.lessons.controller import LessonController
from hcviz.ui.features.presentation.controller import PresentationController
from hcviz.ui.features.questions.controller import QuestionController
from hcviz.ui.state.store import Store
from hcviz.ui.tree import Centre


@dataclass
class Keyboard:
    """Handles the shortcuts: those of a presentation, the page, open cards, a branch, a draft."""

    store: Store
    centre: Centre
    gestures: Gestures
    asking: QuestionController
    comparing: ComparisonController
    lessons: LessonController
    player: PlayerController
    presentation: PresentationController

    def press(self, key: str) -> None:
        """Handle a key, or "undo" and "redo" for their combinations of keys."""
        store = self.store
        drafting = store.view.draft.open
        if self.presentation.key(key):
            pass
        elif key in ("undo", "u"):
            store.dispatch(act.Undo())
        elif key == "redo":
            store.dispatch(act.Redo())
        elif key == "p":
            self.presentation.start()
        elif key == "0":
            self.centre.reset_zoom()
        elif key == "n":
            store.change_view(
                message="Select a branch first: click it. Then press N and type its name."
            )
        elif key == "Escape" and store.view.sheet != TREE and not drafting:
            store.change_view(sheet=TREE)
        elif any(
            card.key(key) for card in (self.player, self.comparing, self.lessons, self.asking)
        ):
            pass
        elif key == "Enter" and not drafting:
            if len(store.view.selection) > 1:
                self.centre.toggle_collapse(store.view.selection)
        else:
            self.gestures.key(key)
