"""``Shell``: the frame of the page, with its regions, side panels and keyboard.

The browser folds the panels. Python decides what a key does, so that keys and buttons agree.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import param
from panel.custom import Child, Children  # type: ignore[attr-defined]

from hcviz.ui.compat import COMPAT
from hcviz.ui.compat.message_component import MessageFrame
from hcviz.ui.parts.messages import Acts, logged
from hcviz.ui.parts.part import PARTS

HERE = Path(__file__).parent
ACTS = Acts()


class Shell(MessageFrame):
    """Top bar, left panel, centre, right panel and foot. Calls ``on_key`` with each shortcut."""

    bar = Child()
    player = Child(doc="The lesson that is played, below the bar; empty, it takes no room.")
    presenter = Child(doc="The heading of a presentation; empty, it takes no room.")
    lesson = Child()
    ask = Child()
    compare = Child()
    groups = Child()
    left = Child()
    centre = Child()
    right = Child()
    below = Children(doc="Parts below ``right``, each laid out by itself.")
    foot = Child()
    notice = Child(doc="Below the tree; empty, it takes no room.")
    tour = Child(doc="The tour's offer, in the foot, and its card, which floats over the page.")
    theme: Any = param.Selector(default="light", objects=["light", "dark"])
    busy = param.Boolean(
        default=False, doc="A run is in progress: the thin line below the bar shows it."
    )
    progress = param.Number(default=0.0, bounds=(0, 1))
    whole_page = param.Boolean(
        default=True, doc="The explorer is the whole page; False in a cell of a notebook."
    )
    asking = param.Boolean(
        default=False, doc="A card asks something: the left panel opens if it is folded."
    )
    draft_open = param.Boolean(
        default=False, doc="A draft is open: in narrow windows it is shown as a bar below the tree."
    )
    lesson_open = param.Boolean(
        default=False, doc="A lesson is in progress: narrow windows show its card as a bar."
    )
    panels: Any = param.Selector(
        default="",
        objects=["", "left", "none"],
        doc="The side panels that are open in a lesson or a presentation; empty: as the person "
        "opened them.",
    )
    presenting = param.Boolean(default=False, doc="A presentation hides the bar and the foot.")
    caption = param.String(default="", doc="How the tree was made: the line below it on paper.")
    beat = param.Integer(
        default=0, doc="Number of the last message; a notebook's page answers when it is drawn."
    )

    acts = param.Dict(default={}, doc="The messages that the browser may send, with their fields.")

    _esm = "\n".join(
        each.read_text(encoding="utf-8")
        for each in (
            COMPAT / "component_view.js",
            COMPAT / "kernel_connection.js",
            PARTS / "messages.js",
            HERE / "connection.js",
            HERE / "printing.js",
            HERE / "shell.js",
        )
    )
    _stylesheets: ClassVar[list[str]] = [
        (PARTS / "tokens.css").read_text(encoding="utf-8"),
        (HERE / "shell.css").read_text(encoding="utf-8"),
    ]

    def __init__(self, on_key: Callable[[str], None], **params: Any) -> None:
        super().__init__(acts=ACTS.schema(), **params)
        self._on_key = on_key
        self.on_shown: Callable[[int], None] = lambda beat: None

    def _handle_msg(self, msg: Any) -> None:
        if isinstance(msg, dict):
            fields = {name: value for name, value in msg.items() if name != "act"}
            with logged():
                ACTS(self, str(msg.get("act")), fields)

    @ACTS.on("key")
    def _key(self, key: str) -> None:
        self._on_key(key)

    @ACTS.on("shown")
    def _shown(self, beat: int) -> None:
        self.on_shown(beat)
