"""The page's frame: named regions, folding side panels, and the keyboard.

Folding and drawers live in the browser (no round trip); what a key *means* is decided in Python,
so that keys and buttons cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import param
from panel.custom import Child, JSComponent  # type: ignore[attr-defined]

ASSETS = Path(__file__).parent / "assets"
TOKENS = (ASSETS / "tokens.css").read_text()


class Shell(JSComponent):
    """Top bar, left panel, centre, right panel, foot; posts every shortcut to ``on_key``."""

    bar = Child()
    left = Child()
    centre = Child()
    right = Child()
    foot = Child()
    theme: Any = param.Selector(default="light", objects=["light", "dark"])
    busy = param.Boolean(default=False, doc="A run is going on: shown by the bar's thin line.")
    progress = param.Number(default=0.0, bounds=(0, 1))

    _esm = ASSETS / "shell.js"
    _stylesheets: ClassVar[list[str]] = [TOKENS, (ASSETS / "shell.css").read_text()]

    def __init__(self, on_key: Callable[[str], None], **params: Any) -> None:
        super().__init__(**params)
        self._on_key = on_key

    def _handle_msg(self, msg: Any) -> None:
        if isinstance(msg, dict) and isinstance(msg.get("key"), str):
            self._on_key(msg["key"])
