"""What the person does on the page's parts, and with its keys: turned into actions and looks.

Gestures, questions, files and lessons have drivers of their own; here is the rest, and who of them
is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import panel as pn

from hcviz.core.errors import HcvizError
from hcviz.session import actions as act
from hcviz.session.model import DataSpec
from hcviz.ui.app import link
from hcviz.ui.app.link import to_query
from hcviz.ui.app.sections import SECTIONS
from hcviz.ui.app.sheets import TREE
from hcviz.ui.features.autosave.model import Autosave
from hcviz.ui.features.comparisons.model import Comparing
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.files.model import Files
from hcviz.ui.features.inspector import changed_clades as changes
from hcviz.ui.features.inspector import model as inspector
from hcviz.ui.features.lessons.classroom import Classroom
from hcviz.ui.features.parameters.model import set_field
from hcviz.ui.features.questions.model import Asking
from hcviz.ui.features.top_bar import model as top_bar
from hcviz.ui.state.data_sources import offered
from hcviz.ui.state.store import Store
from hcviz.ui.state.view_state import BELOW, LOOKS
from hcviz.ui.tree import Centre
from hcviz.ui.tree.drawing import Drawing


@dataclass
class Acts:
    """A handler for each part of the page; all run on the document's thread."""

    store: Store
    centre: Centre
    drawing: Drawing
    gestures: Gestures
    asking: Asking
    comparing: Comparing
    classroom: Classroom
    files: Files
    #: Puts text on the person's clipboard.
    copy: Callable[[str], None]
    #: Keeps what is done here, where the page's owner wants that.
    autosave: Autosave | None = None

    def key(self, key: str) -> None:
        if key == "undo":
            self.store.dispatch(act.Undo())
        elif key == "redo":
            self.store.dispatch(act.Redo())
        elif key == "u":
            self.store.dispatch(act.Undo())
        elif key == "Escape" and self.store.view.sheet != TREE and not self.store.view.draft.open:
            self.store.look(sheet=TREE)
        elif key == "0":
            self.centre.reset_zoom()
        elif self.comparing.key(key) or self.classroom.key(key) or self.asking.key(key):
            pass
        elif key == "Enter" and not self.store.view.draft.open:
            if len(self.store.view.selection) > 1:
                self.centre.toggle_collapse(self.store.view.selection)
        else:
            self.gestures.key(key)

    def bar(self, name: str, more: dict[str, Any]) -> None:
        store = self.store
        session = store.session
        value = more.get("value")
        begun = offered()
        if name == "data" and value == top_bar.OFFERED and begun is not None:
            store.open_data(replace(begun.spec, similarity=session.data.similarity))
        elif name == "data" and value != top_bar.CURRENT:
            store.open_data(
                DataSpec(kind="built-in", name=str(value), similarity=session.data.similarity)
            )
        elif name == "similarity":
            store.dispatch(act.SetSimilarity(str(value)))
        elif name == "method":
            store.dispatch(act.SetMethod(str(value)))
        elif name == "seed":
            with store.guarded():
                store.dispatch(act.SetSeed(_whole(value, "The seed")))
        elif name == "run":
            store.dispatch(act.Rerun())
        elif name == "cancel":
            store.dispatch(act.Cancel())
        elif name == "pause":
            (store.runner.resume if store.view.paused else store.runner.pause)()
            store.look(paused=not store.view.paused)
        elif name == "undo":
            store.dispatch(act.Undo())
        elif name == "redo":
            store.dispatch(act.Redo())
        elif name == "theme":
            store.look(theme="light" if store.view.theme == "dark" else "dark")
        elif name == "share":
            self._share()
        elif name in ("lesson", "open-lesson"):
            self.classroom.act(name, more)
        else:
            self.files.act(name, more)

    def tools(self, name: str, more: dict[str, Any]) -> None:
        store = self.store
        value = more.get("value")
        if name in LOOKS:
            store.look(**{name: str(value)})
        elif name == "source":
            store.look(source=str(value))
        elif name == "clusters":
            with store.guarded():
                text = str(value or "").strip()
                self.drawing.colour(_whole(text, "The number of clusters") if text else None)
        elif name == "below":
            with store.guarded():
                store.look(below=_percent(value))
        elif name == "find":
            self._find(str(value))
        elif name == "reset":
            self.centre.reset_zoom()

    def inspector(self, name: str, more: dict[str, Any]) -> None:
        store = self.store
        if name == "pick":
            self.gestures.take((int(more["id"]),))
        elif name == "clade":
            items = changes.members(store, str(more["which"]), int(more["node"]))
            if items:
                self.gestures.take(items)
        elif name == "focus":
            self.centre.focus(store.view.selection)
        elif name == "collapse":
            self.centre.toggle_collapse(store.view.selection)
            store._notify()
        elif name == "parent":
            store.look(selection=inspector.wider(store))

    def section(self, name: str, more: dict[str, Any]) -> None:
        section = SECTIONS.get(str(more.pop("section", "")))
        if section is not None:
            section.act(self.gestures, name, more)

    def form(self, _name: str, more: dict[str, Any]) -> None:
        store = self.store
        name, value = str(more.get("name")), more.get("value")
        if name == "data:scaling":
            store.dispatch(act.SetScaling(str(value)))
        elif name == "data:missing":
            store.dispatch(act.SetMissing(str(value)))
        else:
            with store.guarded():
                set_field(store, name, value)

    def notice(self, name: str, more: dict[str, Any]) -> None:
        if self.autosave is not None:
            self.autosave.act(name, more)

    def foot(self, name: str, more: dict[str, Any]) -> None:
        if name == "stop-reading":
            self.files.stop()
            return
        steps = int(more.get("by", 0))
        for _ in range(abs(steps)):
            self.store.dispatch(act.Undo() if steps < 0 else act.Redo())

    def _find(self, text: str) -> None:
        labels = self.store.session.labels
        wanted = text.strip().casefold()
        exact = [i for i, name in enumerate(labels) if name.casefold() == wanted]
        found = exact or [i for i, name in enumerate(labels) if wanted in name.casefold()]
        if not found:
            self.store.look(error=(f"No item is called {text!r}.", ""))
            return
        chosen = tuple(found)
        self.centre.expand(chosen[:1] if self.store.view.draft.open else chosen)
        if self.store.view.draft.open:
            self.gestures.take(chosen[:1])
            self.centre.focus(chosen[:1])
            return
        said = f"Found {labels[found[0]]}" + (f" and {len(found) - 1} more." if found[1:] else ".")
        self.store.look(selection=chosen, error=None, said=said)
        self.centre.focus(chosen)

    def _share(self) -> None:
        session, view = self.store.session, self.store.view
        if session.data.kind != "built-in":
            self.store.look(
                error=(
                    "A link can only carry built-in data.",
                    "Save the session to a file instead (File, Session): it holds your table.",
                )
            )
            return
        query = to_query(link.link_of(session, view))
        location = pn.state.location
        base = ""
        if location is not None and location.hostname:
            base = f"{location.protocol}//{location.hostname}"
            base += f":{location.port}" if location.port else ""
            base += location.pathname or ""
            location.search = f"?{query}"
        self.copy(f"{base}?{query}")


def _whole(value: Any, what: str) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = -1
    if number < 0:
        raise HcvizError(f"{what} must be a whole number, not {value!r}.")
    return number


def _percent(value: Any) -> int:
    """What was typed as the support below which a split is uncertain; empty: the usual."""
    text = str(value or "").strip().removesuffix("%").strip()
    if not text:
        return BELOW
    number = _whole(text, "The least support")
    if number > 100:
        raise HcvizError(f"The least support is from 0 to 100 per cent, not {text}.")
    return number
