"""``PictureController``: draws the picture that a person saves, and its preview, on threads."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from hcviz.core.errors import HcvizError, InvalidParameter
from hcviz.jobs import try_schedule
from hcviz.ui.features.picture.caption import how_made
from hcviz.ui.parts.part import Part
from hcviz.ui.state.store import Store

if TYPE_CHECKING:
    from hcviz.io.picture import Format

#: Format of a picture -> its type.
MIME = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
#: Length of the longer side of a preview, in pixels: twice the room of the form.
PREVIEW_PIXELS = 520


@dataclass(frozen=True)
class Choices:
    """What a person chose in the form. Sizes are in millimetres; 0 by 0: as large as needed."""

    format: str
    width: float
    height: float
    heatmap: bool
    supports: bool
    names: bool
    caption: bool


@dataclass(frozen=True)
class Preview:
    """A small picture of the page, as a PNG, and a note. After an error, the PNG is empty."""

    png: bytes
    note: str


class PictureController:
    """Draws pictures of the tree on the page, as a form asks for them."""

    def __init__(self, store: Store, part: Part, centre: Any) -> None:
        self._store, self._part, self._centre = store, part, centre
        self._is_previewing = False
        self._next: tuple[int, Choices] | None = None  # the newest preview that waits

    def save(self, choices: Choices, stem: str) -> None:
        """Send the file of a picture to the browser. It is drawn on a thread."""
        store, options = self._store, self._options(choices)
        if choices.format not in MIME:
            raise InvalidParameter(f"A picture cannot be saved as {choices.format!r}.")
        name = f"{stem}.{choices.format}"

        def draw() -> bytes:
            from hcviz.io.picture import draw_picture  # importing matplotlib takes a second

            return draw_picture(**options, format=cast("Format", choices.format))

        def done(found: bytes | Exception) -> None:
            store.change_view(message="")
            with store.guarded():
                if isinstance(found, Exception):
                    raise found
                self._part.download(name, found, MIME[choices.format])
                store.change_view(message=f"Saved: {name}.")

        store.change_view(message=f"Drawing {name}…")
        self._on_thread(draw, done)

    def preview(self, choices: Choices, number: int) -> None:
        """Send a small picture of what :meth:`save` would save, with the number of the request.

        One preview is drawn at a time. Of the requests that wait, only the newest is answered.
        """
        self._next = (number, choices)
        if not self._is_previewing:
            self._draw_next()

    def _draw_next(self) -> None:
        if self._next is None:
            return
        (number, choices), self._next = self._next, None

        def done(found: Preview | Exception) -> None:
            self._is_previewing = False
            if isinstance(found, HcvizError):
                found = Preview(b"", f"{found.message} {found.hint}".strip())
            with self._store.guarded():
                if isinstance(found, Exception):
                    raise found
                encoded = base64.b64encode(found.png).decode()
                url = f"data:image/png;base64,{encoded}" if found.png else ""
                self._part.show_preview(number, url, found.note)
            self._draw_next()

        try:
            options = self._options(choices)
        except HcvizError as fault:
            done(fault)
            return
        self._is_previewing = True
        self._on_thread(lambda: draw_preview(options, choices.format), done)

    def _options(self, choices: Choices) -> dict[str, Any]:
        """Return the arguments of ``draw_page`` for the tree on the page."""
        shown = {"heat": choices.heatmap, "support": choices.supports, "names": choices.names}
        data = self._centre.picture_data()
        options = {name: value for name, value in data.items() if shown.get(name, True)}
        if choices.caption:
            options["caption"] = how_made(self._store)
        if choices.width or choices.height:
            options["size"] = (choices.width, choices.height)
        return options

    def _on_thread(self, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Call ``done`` on the page's thread, with the result of ``work`` or its exception."""

        def calculate() -> None:
            try:
                found = work()
            except Exception as fault:
                found = fault
            try_schedule(self._store.schedule, lambda: done(found), "its picture")

        threading.Thread(target=calculate, name="hcviz-picture", daemon=True).start()


def draw_preview(options: dict[str, Any], format: str) -> Preview:
    """Draw a page small enough for the form, and say what of it the file has or lacks."""
    from hcviz.io.picture import draw_page  # importing matplotlib takes a second

    page = draw_page(**options, pixels=PREVIEW_PIXELS, check_pixels=format == "png")
    wide, high = page.millimetres
    note = f"{wide:,.0f} × {high:,.0f} mm."
    if not page.labelled:
        note += " The rows are too low for the names of the items."
    elif not page.has_all_texts:
        note += " The file has more text: it is too small to show here."
    return Preview(page.file("png"), note)


__all__ = ["PREVIEW_PIXELS", "Choices", "PictureController", "Preview", "draw_preview"]
