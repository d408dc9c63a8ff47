"""Who looks: a job is held while nobody does, so that a closed tab stops computing at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bokeh.document import Document

from hcviz.ui.compat.server_session import browser_count
from hcviz.ui.state.store import Store

#: Milliseconds between two looks.
OFTEN = 500


def attendance(store: Store, nobody: Callable[[], bool]) -> Callable[[], None]:
    """To be called now and then: holds the store's job while ``nobody()``, and lets it go on.

    The server destroys a session only some seconds after its tab is gone; a tab that merely lost
    its connection finds its job going on.
    """
    away = False

    def look() -> None:
        nonlocal away
        gone = nobody()
        if gone != away:
            away = gone
            (store.runner.pause if gone or store.view.paused else store.runner.resume)()

    return look


def deserted(documents: Iterable[Document]) -> bool:
    """Whether each of the documents is served, and to no browser."""
    return all(browser_count(each) == 0 for each in documents)
