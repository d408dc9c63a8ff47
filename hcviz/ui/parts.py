"""The page's small parts: each a picture of a state, and a stream of what the person did to it.

A part draws ``state`` (plain JSON) in the browser and answers with messages ``{"act": ..., ...}``.
What an act means is the :class:`Store`'s business.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import param

from hcviz.ui.compat.plainscript import PlainScript

ASSETS = Path(__file__).parent / "assets"
_DOM = (ASSETS / "dom.js").read_text()
_CSS = [(ASSETS / "tokens.css").read_text(), (ASSETS / "common.css").read_text()]

OnAct = Callable[[str, dict[str, Any]], None]


def sources(name: str, *shared: str) -> dict[str, Any]:
    """Script and style of a part: ``assets/NAME.js`` and ``.css``, after what all share, and after
    what it shares with some."""
    files = [*shared, name]
    return {
        "_esm": _DOM + "\n".join((ASSETS / f"{each}.js").read_text() for each in files),
        "_stylesheets": [*_CSS, *((ASSETS / f"{each}.css").read_text() for each in files)],
    }


class Part(PlainScript):
    """Draws ``state``; ``live`` holds what changes many times a second."""

    state = param.Dict(default={})
    live = param.Dict(default={})

    _esm = "export function render() {}"

    def __init__(self, on_act: OnAct, **params: Any) -> None:
        super().__init__(**params)
        self._on_act = on_act

    @property
    def _linked_properties(self) -> tuple[str, ...]:
        """None: the browser sends messages and sets nothing.

        Panel 1.9.4 would take each change of ours that was held back for one of the browser's.
        """
        return ()

    def _handle_msg(self, msg: Any) -> None:
        if isinstance(msg, dict) and isinstance(msg.get("act"), str):
            self._on_act(msg["act"], {key: value for key, value in msg.items() if key != "act"})

    def download(self, filename: str, content: bytes, mime: str) -> None:
        """Hand a file to the person's browser."""
        encoded = base64.b64encode(content).decode()
        self._send_msg({"download": filename, "base64": encoded, "mime": mime})

    def heard(self, upload: Any, pieces: int, stop: bool = False) -> None:
        """Tell the browser how many pieces of an upload are here, or to send no more of it."""
        self._send_msg({"upload": upload, "heard": pieces, "stop": stop})

    def copy(self, text: str) -> None:
        """Put text on the person's clipboard; the browser answers with the act ``copied``."""
        self._send_msg({"copy": text})


class Bar(Part):
    """Data, similarity, method, seed; run, pause, cancel; undo, redo; files; theme."""

    locals().update(sources("bar"))


class Constraints(Part):
    """The gestures, the constraint being stated, the list, and what is at odds."""

    locals().update(sources("constraints", "conflict", "picked"))


class Question(Part):
    """The question card, and how the next question is chosen."""

    locals().update(sources("question"))


class Compare(Part):
    """Three items, of which one is named."""

    locals().update(sources("compare"))


class Inspector(Part):
    """The selected subtree, and the facts of the tree shown."""

    locals().update(sources("inspector"))


class Form(Part):
    """The method's parameters, and how the data is prepared for it."""

    locals().update(sources("form"))


class Foot(Part):
    """The sentence bar and the history strip."""

    locals().update(sources("foot"))


class Lesson(Part):
    """Where does it go? A guess, the truth, and the steps of a lesson that is a file."""

    locals().update(sources("lesson"))


class Notice(Part):
    """Offers an unfinished session; knows the visitor's token, which the browser keeps."""

    locals().update(sources("notice"))


class Tools(Part):
    """What the heatmap shows, how many clusters are coloured, the search."""

    locals().update(sources("tools"))


class Tabs(Part):
    """Which picture is in the middle: the tree, or a sheet over it."""

    locals().update(sources("tabs"))


class Sections(Part):
    """The inspector's further sections; each has a script of its own."""

    _esm = "\n".join(
        [_DOM, (ASSETS / "plots.js").read_text(), "const SECTIONS = {}"]
        + [f"{{\n{each.read_text()}\n}}" for each in sorted((ASSETS / "sections").glob("*.js"))]
        + [(ASSETS / "sections.js").read_text()]
    )
    _stylesheets: ClassVar[list[str]] = [
        *_CSS,
        (ASSETS / "plots.css").read_text(),
        *(each.read_text() for each in sorted((ASSETS / "sections").glob("*.css"))),
    ]
