"""The page's frame: named regions, folding side panels, and the keyboard.

Folding and drawers live in the browser (no round trip); what a key *means* is decided in Python,
so that keys and buttons cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import param
from panel.custom import Child, Children  # type: ignore[attr-defined]

from hcviz.ui.compat import COMPAT
from hcviz.ui.compat.message_component import MessageFrame
from hcviz.ui.parts.part import PARTS

HERE = Path(__file__).parent


class Shell(MessageFrame):
    """Top bar, left panel, centre, right panel, foot; posts every shortcut to ``on_key``."""

    bar = Child()
    lesson = Child()
    ask = Child()
    compare = Child()
    left = Child()
    centre = Child()
    right = Child()
    below = Children(doc="Under what is right, each apart: a Column would be laid out with it.")
    foot = Child()
    notice = Child(doc="Floats over the foot of the tree; without a word it takes no room.")
    theme: Any = param.Selector(default="light", objects=["light", "dark"])
    busy = param.Boolean(default=False, doc="A run is going on: shown by the bar's thin line.")
    progress = param.Number(default=0.0, bounds=(0, 1))
    whole_page = param.Boolean(
        default=True, doc="The page is this explorer: else it is a guest, as in a notebook's cell."
    )
    asking = param.Boolean(
        default=False, doc="A card asks something: the panel that it is in opens if it is folded."
    )
    stating = param.Boolean(
        default=False, doc="A statement is in progress: where panels lie over the tree it is a bar."
    )
    beat = param.Integer(default=0, doc="Counts what was sent; a guest answers when it is drawn.")

    _esm = "\n".join(
        each.read_text()
        for each in (
            COMPAT / "component_view.js",
            COMPAT / "kernel_connection.js",
            HERE / "connection.js",
            HERE / "shell.js",
        )
    )
    _stylesheets: ClassVar[list[str]] = [
        (PARTS / "tokens.css").read_text(),
        (HERE / "shell.css").read_text(),
    ]

    def __init__(self, on_key: Callable[[str], None], **params: Any) -> None:
        super().__init__(**params)
        self._on_key = on_key
        self.on_shown: Callable[[int], None] = lambda beat: None

    def _handle_msg(self, msg: Any) -> None:
        if not isinstance(msg, dict):
            return
        if isinstance(msg.get("key"), str):
            self._on_key(msg["key"])
        elif isinstance(msg.get("shown"), int):
            self.on_shown(msg["shown"])
