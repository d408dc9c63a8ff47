"""``TopBarControls``: what the controls of the top bar do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import panel as pn

from hcviz.session import actions as act
from hcviz.session.model import DataSpec
from hcviz.ui.app.link import link_of, to_query
from hcviz.ui.features.files.controller import ACTS as FILE_ACTS
from hcviz.ui.features.files.controller import FileController
from hcviz.ui.features.lesson_player.controller import PlayerController
from hcviz.ui.features.lessons.controller import LessonController
from hcviz.ui.features.presentation.controller import PresentationController
from hcviz.ui.features.top_bar.model import CURRENT, OFFERED
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.parts.numbers import whole_number
from hcviz.ui.state.data_sources import offered
from hcviz.ui.state.store import Store

ACTS = Acts()


@dataclass
class TopBarControls(Controls):
    """Handles the messages of the top bar."""

    ACTS = ACTS

    store: Store
    lessons: LessonController
    player: PlayerController
    presentation: PresentationController
    files: FileController
    #: Puts text on the person's clipboard.
    copy: Callable[[str], None]
    #: Begins the tour, at the step where the person left it.
    begin_tour: Callable[[], None]

    def act(self, name: str, fields: Mapping[str, Any]) -> None:
        """Handle a message of the top bar, of its File menu or of its lessons."""
        if name in FILE_ACTS:
            self.files.act(name, dict(fields))
        else:
            super().act(name, fields)

    @classmethod
    def schema(cls) -> dict[str, dict[str, str]]:
        """Return the messages of the top bar, with those of its File menu."""
        return super().schema() | FILE_ACTS.schema()

    @ACTS.on("lesson")
    def _lesson(self) -> None:
        self.lessons.start_or_stop()

    @ACTS.on("open-lesson")
    def _open_lesson(self, name: str) -> None:
        self.lessons.open_prepared(name)

    @ACTS.on("open-script")
    def _open_script(self, name: str) -> None:
        self.player.open_prepared(name)

    @ACTS.on("present")
    def _present(self) -> None:
        self.presentation.start()

    @ACTS.on("data")
    def _data(self, value: str) -> None:
        similarity = self.store.session.data.similarity
        offer = offered()
        if value == OFFERED and offer is not None:
            self.store.open_data(replace(offer.spec, similarity=similarity))
        elif value != CURRENT:
            self.store.open_data(DataSpec(kind="built-in", name=value, similarity=similarity))

    @ACTS.on("similarity")
    def _similarity(self, value: str) -> None:
        self.store.dispatch(act.SetSimilarity(value))

    @ACTS.on("method")
    def _method(self, value: str) -> None:
        self.store.dispatch(act.SetMethod(value))

    @ACTS.on("seed")
    def _seed(self, value: str) -> None:
        with self.store.guarded():
            self.store.dispatch(act.SetSeed(whole_number(value, "The seed")))

    @ACTS.on("run")
    def _run(self) -> None:
        self.store.dispatch(act.Rerun())

    @ACTS.on("cancel")
    def _cancel(self) -> None:
        self.store.dispatch(act.Cancel())

    @ACTS.on("pause")
    def _pause(self) -> None:
        paused = not self.store.view.paused
        self.store.runs.pause(paused)
        self.store.change_view(paused=paused)

    @ACTS.on("undo")
    def _undo(self) -> None:
        self.store.dispatch(act.Undo())

    @ACTS.on("redo")
    def _redo(self) -> None:
        self.store.dispatch(act.Redo())

    @ACTS.on("theme")
    def _theme(self) -> None:
        self.store.change_view(theme="light" if self.store.view.theme == "dark" else "dark")

    @ACTS.on("tour")
    def _tour(self) -> None:
        self.begin_tour()

    @ACTS.on("share")
    def _share(self) -> None:
        """Put a link to this view on the clipboard and into the address bar."""
        session, view = self.store.session, self.store.view
        if session.data.kind != "built-in":
            self.store.change_view(
                error=(
                    "A link can only carry built-in data.",
                    "Save the session to a file instead (File, Session): it holds your table.",
                )
            )
            return
        query = to_query(link_of(session, view))
        location = pn.state.location
        base = ""
        if location is not None and location.hostname:
            base = f"{location.protocol}//{location.hostname}"
            base += f":{location.port}" if location.port else ""
            base += location.pathname or ""
            location.search = f"?{query}"
        self.copy(f"{base}?{query}")
