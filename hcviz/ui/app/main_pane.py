"""The middle of the page: tabs, the tree with its tools, and the sheet that may lie over them.

The tree stays where it is under a sheet, so that nothing has to be laid out again when the sheet is
taken away; it is only hidden, from the keyboard and from screen readers too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn

from hcviz.ui.app.sheets import SHEETS, TREE
from hcviz.ui.app.tabs import Tabs
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.tree_tools.view import TreeTools
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.parts.part import OnAct, Part
from hcviz.ui.parts.sheet import Sheet
from hcviz.ui.state.store import Store
from hcviz.ui.tree import Centre

ACTS = Acts()

#: Height of the tabs' row, in CSS pixels.
TABS = 33
LESSON = "Not during a lesson: it could show what is asked."
_OVER = {
    "position": "absolute", "inset": f"{TABS}px 0 0 0", "height": f"calc(100% - {TABS}px)",
    "z-index": "5", "overflow": "hidden",
}  # fmt: skip


class Middle(Controls):
    """``view`` is what Panel shows; ``later(handler)`` wraps what the browser calls."""

    ACTS = ACTS

    def __init__(
        self,
        gestures: Gestures,
        centre: Centre,
        tools: TreeTools,
        later: Callable[[Callable[..., None]], OnAct],
    ) -> None:
        self._gestures, self._store, self._later = gestures, gestures.store, later
        self.tabs = Tabs(
            later(self.act), acts=self.schema(), sizing_mode="stretch_width", height=TABS
        )
        self._tools = tools
        self._tree = pn.Column(tools, centre.view, sizing_mode="stretch_both", margin=0)
        self._over = pn.Column(visible=False, margin=0, styles=_OVER, sizing_mode="stretch_width")
        self._made: dict[str, Any] = {}
        self.view = pn.Column(
            self.tabs, self._tree, self._over, sizing_mode="stretch_both", margin=0
        )

    def show_tools(self, shown: bool) -> None:
        """Show the tabs and the tools of the tree, or hide them during a presentation."""
        # Bokeh does not lay these parts out again, so their property `visible` has no effect.
        for part in (self.tabs, self._tools):
            part.styles = {"display": "block" if shown else "none"}

    def turn(self, _: Any = None) -> None:
        """Lay the chosen sheet over the tree, or take it away; draw it if it is one."""
        name = self.now(self._store)
        sheet = SHEETS.get(name)
        if sheet is None:
            if self._over.visible:
                self._over.visible = False
                self._tree.styles = {"visibility": "visible"}  # an empty style would change nothing
            return
        shown = self.part_of(sheet)
        state, live = sheet.state(self._store), sheet.live(self._store)
        if shown.state != state:
            shown.state = state
        if shown.live != live:
            shown.live = live
        if not self._over.visible or self._over.objects != [shown]:
            self._over.objects = [shown]
            self._over.visible = True
            self._tree.styles = {"visibility": "hidden"}

    def part_of(self, sheet: Sheet) -> Any:
        """Return the part of a sheet, which is made when it is first opened."""
        made = self._made.get(sheet.name)
        if made is None:
            on_act = self._later(partial(sheet.acts, self._gestures))
            made = self._made[sheet.name] = sheet.make(on_act, acts=sheet.acts.schema())
            made.param.update(sizing_mode="stretch_both", margin=0)
        return made

    @property
    def open(self) -> Part | None:
        """The open sheet."""
        return self._made.get(self.now(self._store))

    @staticmethod
    def now(store: Store) -> str:
        """The sheet to show: the chosen one, if it has something to show."""
        sheet = SHEETS.get(store.view.sheet)
        nothing = sheet is None or not sheet.has_tab(store) or _lacks(sheet, store)
        return TREE if sheet is None or nothing else sheet.name

    @classmethod
    def depends_on(cls, store: Store) -> Any:
        """What the picture in the middle depends on, but for the tree's own."""
        sheet = SHEETS.get(cls.now(store))
        return (None,) if sheet is None else (sheet.name, store.view.theme, sheet.depends_on(store))

    @classmethod
    def tabs_state(cls, store: Store) -> dict[str, Any]:
        tree = {"name": TREE, "title": "Tree", "summary": "The tree and its heatmap", "lacks": ""}
        tabs = [
            {"name": s.name, "title": s.title, "summary": s.summary, "lacks": _lacks(s, store)}
            for s in SHEETS.values()
            if s.has_tab(store)
        ]
        return {"tabs": [tree, *tabs], "now": cls.now(store)}

    @ACTS.on("sheet")
    def _open_sheet(self, value: str) -> None:
        self._store.change_view(sheet=value)


def _lacks(sheet: Sheet, store: Store) -> str:
    """Why there is nothing to show: a lesson's question might be answered on any sheet."""
    return LESSON if store.view.lesson is not None else sheet.unavailable_because(store)
