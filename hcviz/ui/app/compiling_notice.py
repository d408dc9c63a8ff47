"""``CompilingNotice``: what a page says while the server compiles the methods."""

from __future__ import annotations

from hcviz.jobs.compiling import COMPILING
from hcviz.ui.state.store import Store

#: The sentences before the first tree, and beside the tree from which a sampler starts.
NO_TREE = (
    "At its first start, hcviz prepares its methods. This takes a minute or two, once. "
    "A tree appears as soon as one is ready."
)
FIRST_TREE = (
    "This is a first tree. The method is still being prepared, once, for a minute or two. "
    "You can correct the tree already; better ones follow."
)


class CompilingNotice:
    """Shows how far the compilation is, and a sentence until the method's own trees arrive.

    Parameters
    ----------
    store : Store
        Of the page.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._said = self._before = ""

    def update(self) -> None:
        """Show the present state; called again and again."""
        view, percent = self._store.view, COMPILING.percent
        if percent is None and view.compiling is None:
            return
        sentence = "" if percent is None else self._sentence()
        message = view.message
        if sentence != self._said and (not self._said or message == self._said):
            if not self._said:
                self._before = message
            message = sentence or self._before  # another message meanwhile stays
        self._said = sentence
        if (percent, message) != (view.compiling, view.message):
            self._store.change_view(compiling=percent, message=message)

    def _sentence(self) -> str:
        """Return the sentence for the tree on the page, "" if it is one of the method's own."""
        session = self._store.session
        if session.snapshot is None:
            return NO_TREE
        waits = session.status == "sampling" and session.progress[0] == 0
        return FIRST_TREE if waits else ""


__all__ = ["FIRST_TREE", "NO_TREE", "CompilingNotice"]
