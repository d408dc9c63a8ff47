"""``Soon``: what is asked for often and done once, a little later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hcviz.ui.compat.message_batch import as_one

#: Calls back after some milliseconds.
Timer = Callable[[Callable[[], None], int], Any]


class Soon:
    """``soon(name, call, milliseconds)``: call once, a little later, however often ``name`` is
    asked for until then; at once where there is no clock, as in a test."""

    def __init__(self, figure: Any) -> None:
        self._figure = figure
        self._waiting: set[str] = set()
        #: The clock where the figure's document has none: in a notebook.
        self.timer: Timer | None = None

    def __call__(self, name: str, call: Callable[[], Any], milliseconds: int) -> None:
        clock = self._clock
        if clock is None:
            call()
            return
        if name in self._waiting:
            return
        self._waiting.add(name)

        def run() -> None:
            self._waiting.discard(name)
            with as_one(self._figure.document):  # else Panel queues what changes (see parcel.py)
                call()

        clock(run, milliseconds)

    @property
    def has_clock(self) -> bool:
        return self._clock is not None

    @property
    def _clock(self) -> Timer | None:
        document = self._figure.document
        if document is not None and document.session_context is not None:
            return lambda call, milliseconds: document.add_timeout_callback(call, milliseconds)
        return self.timer
