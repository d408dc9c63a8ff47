"""``ComparisonController``: chooses three items to compare, and handles the answers.

Each answer is an action of the session. The next three items follow at once: they depend on how
often items were compared, not on the tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.questions.next_triple import next_triple
from hcviz.session import actions as act
from hcviz.session.draft import Draft
from hcviz.ui.features.comparisons.model import (
    ITEM_CHOICES,
    QUESTIONS,
    current_question,
    default_question,
)
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.store import Store

ACTS = Acts()


class ComparisonController(Controls):
    """Handles the comparison card of one store."""

    ACTS = ACTS

    def __init__(self, store: Store) -> None:
        self.store = store
        self._asked: set[frozenset[int]] = set()
        self._labels: Any = None
        self._rng = np.random.default_rng(0)
        store.subscribe(lambda s: s.session.labels, lambda _: self._labels_changed())

    @ACTS.on("stop")
    def _stop(self) -> None:
        self.store.change_view(three=())

    @ACTS.on("show")
    def _show(self, at: int) -> None:
        if self._exists(at):
            self.store.change_view(selection=self.store.session.choices[at].items)

    @ACTS.on("take-back")
    def _take_back(self, at: int) -> None:
        if self._exists(at):
            with self.store.guarded():
                self.store.dispatch(act.RemoveChoice(at))

    @ACTS.on("question")
    def _set_question(self, value: str) -> None:
        if value in QUESTIONS:
            self.store.change_view(three_question=value, three_put=value)

    @ACTS.on("from")
    def _set_items(self, value: str) -> None:
        if value in ITEM_CHOICES:
            self.store.change_view(three_from=value)

    @ACTS.on("method")
    def _set_method(self, value: str) -> None:
        with self.store.guarded():
            self.store.dispatch(act.SetMethod(value))

    def key(self, key: str) -> bool:
        """Handle C, and 1, 2, 3, Space and X while three items are shown.

        Return True if the key has a meaning now.
        """
        three = self.store.view.three
        if key == "c":
            self._stop() if three else self._next()
        elif not three:
            return False
        elif key in ("1", "2", "3"):
            self._choose(three[int(key) - 1])
        elif key == " ":
            self._next()
        elif key == "x":
            self._stop()
        else:
            return False
        return True

    def _exists(self, at: int) -> bool:
        """Return True if there is an answer with this index: it may be gone meanwhile."""
        return 0 <= at < len(self.store.session.choices)

    @ACTS.on("choose")
    def _choose(self, id: int) -> None:
        """Record the item that a person picked, and show the next three."""
        store, item = self.store, id
        three, question = store.view.three, current_question(store)
        if item not in three:
            return
        others = [other for other in three if other != item]
        store.dispatch(
            act.AddChoice(question, (item, others[0], others[1]), author=store.session.author)
        )
        if not store.view.error:
            self._next()

    @ACTS.on("compare", "skip")
    def _next(self) -> None:
        """Show three items that were not shown before, and close the question card."""
        store = self.store
        if len(store.session.labels) < 3:
            store.change_view(three=(), message="Comparing needs at least three items.")
            return
        known = store.problem.comparisons
        n = len(store.session.labels)
        seen = np.zeros(n, np.int64) if known is None else known.appearances(n)
        three = next_triple(seen, self._rng, self._asked, store.view.three_from)
        if three is None:
            store.change_view(three=(), message="All sets of three items have been asked about.")
            return
        self._asked.add(frozenset(three))
        store.change_view(
            three=three, three_put=default_question(store),
            question=None, wants_question=False, draft=Draft(), error=None, message="",
        )  # fmt: skip

    def _labels_changed(self) -> None:
        """Start again if the session has other items."""
        labels = self.store.session.labels
        if labels != self._labels:
            self._labels, self._asked = labels, set()
            self._rng = np.random.default_rng(self.store.session.seed)
            if self.store.view.three:
                self.store.change_view(three=())
