"""``Debouncer``: joins many requests for one call into a single, delayed call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hcviz.ui.compat.message_batch import as_one_message

#: ``timer(call, milliseconds)`` calls ``call`` after a delay.
Timer = Callable[[Callable[[], None], int], Any]


class Debouncer:
    """``debouncer(name, call, milliseconds)`` calls ``call`` once after the delay.

    Further requests with the same ``name`` are ignored until then. Without a clock, as in a test,
    the call is made at once.
    """

    def __init__(self, figure: Any) -> None:
        self._figure = figure
        self._waiting: set[str] = set()
        #: The clock of a notebook, where the figure's document has none.
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
            with as_one_message(self._figure.document):  # see message_batch.py
                call()

        clock(run, milliseconds)

    @property
    def has_clock(self) -> bool:
        """Return True if calls can be delayed."""
        return self._clock is not None

    @property
    def _clock(self) -> Timer | None:
        document = self._figure.document
        if document is not None and document.session_context is not None:
            return lambda call, milliseconds: document.add_timeout_callback(call, milliseconds)
        return self.timer
