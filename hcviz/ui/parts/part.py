"""``Part``: a component of the page that the browser draws from plain JSON.

A part draws its ``state`` and sends messages ``{"act": ..., ...}`` when a person uses it. Handlers
of the features turn these messages into actions on the :class:`Store`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import param

from hcviz.ui.compat import COMPAT
from hcviz.ui.compat.message_component import MessageComponent, PlainJson

#: Folder of the page's code, and of the code that several features share.
UI = Path(__file__).resolve().parents[1]
PARTS = UI / "parts"
#: What the scripts of all parts begin with.
SHARED_SCRIPT = "\n".join(
    each.read_text(encoding="utf-8")
    for each in (COMPAT / "component_view.js", PARTS / "messages.js", PARTS / "dom.js")
)
_CSS = [
    (PARTS / "tokens.css").read_text(encoding="utf-8"),
    (PARTS / "common.css").read_text(encoding="utf-8"),
]

OnAct = Callable[[str, dict[str, Any]], None]


def script_and_style(module: str, name: str, *shared: Path) -> dict[str, Any]:
    """Return the script and the style of a part, as attributes of its class.

    Parameters
    ----------
    module : str
        Path of a Python file. The script and the style are in the same folder.
    name : str
        The files are called ``<name>.js`` and ``<name>.css``.
    *shared : Path
        Further scripts and styles, without their suffix. They come first.

    Returns
    -------
    dict
        The class attributes ``_esm`` and ``_stylesheets``.
    """
    files = [*shared, Path(module).with_name(name)]
    styles = [each.with_suffix(".css") for each in files]
    return {
        "_esm": SHARED_SCRIPT
        + "\n".join(each.with_suffix(".js").read_text(encoding="utf-8") for each in files),
        "_stylesheets": [*_CSS, *(each.read_text(encoding="utf-8") for each in styles)],
    }


class Part(MessageComponent):
    """A component that draws ``state``; ``live`` holds what changes many times a second."""

    state = PlainJson(default={})
    live = PlainJson(default={})
    acts = param.Dict(default={}, doc="The messages that the browser may send, with their fields.")

    _esm = "export function render() {}"

    def __init__(self, on_act: OnAct, acts: Mapping[str, Any], **params: Any) -> None:
        super().__init__(acts=dict(acts), **params)
        self._on_act = on_act

    def _handle_msg(self, msg: Any) -> None:
        """Hand a message of the browser on; its handler checks it."""
        if isinstance(msg, dict) and isinstance(msg.get("act"), str):
            self._on_act(msg["act"], {key: msg[key] for key in msg if key != "act"})

    def download(self, filename: str, content: bytes, mime: str) -> None:
        """Send a file to the browser, which saves it."""
        encoded = base64.b64encode(content).decode()
        self._send_msg({"download": filename, "base64": encoded, "mime": mime})

    def acknowledge_upload(self, upload: Any, pieces: int, stop: bool = False) -> None:
        """Tell the browser how many pieces of an upload have arrived.

        ``stop`` asks the browser to send no more pieces of it.
        """
        self._send_msg({"upload": upload, "received": pieces, "stop": stop})

    def show_preview(self, number: int, url: str, note: str) -> None:
        """Send the picture that the form asked for in its request ``number``."""
        self._send_msg({"preview": number, "url": url, "note": note})

    def focus_field(self, selector: str) -> None:
        """Put the keyboard's focus into a field of the part, if it is visible."""
        self._send_msg({"focus": selector})

    def copy_to_clipboard(self, text: str) -> None:
        """Put text on the clipboard of the browser, which answers with the act ``copied``."""
        self._send_msg({"copy": text})
