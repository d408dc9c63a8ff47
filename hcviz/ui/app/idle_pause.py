"""Pause the run of a page while no browser is connected to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bokeh.document import Document

from hcviz.ui.compat.server_session import browser_count
from hcviz.ui.state.store import Store

#: Milliseconds between two checks.
INTERVAL = 500


def pause_while_idle(store: Store, is_idle: Callable[[], bool]) -> Callable[[], None]:
    """Return a function to be called periodically, which pauses or resumes the run.

    The run is paused while ``is_idle()`` is True. The server destroys a session only seconds after
    its tab was closed. A tab that merely lost its connection finds its run continued.
    """
    was_idle = False

    def check() -> None:
        nonlocal was_idle
        idle = is_idle()
        if idle != was_idle:
            was_idle = idle
            store.runs.pause(idle or store.view.paused)

    return check


def without_browser(documents: Iterable[Document]) -> bool:
    """Return True if every document is served and no browser is connected to any of them."""
    return all(browser_count(each) == 0 for each in documents)
