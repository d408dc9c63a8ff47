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
from hcviz.ui.state.store import Store


class ComparisonController:
    """Handles the comparison card of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._asked: set[frozenset[int]] = set()
        self._labels: Any = None
        self._rng = np.random.default_rng(0)
        store.subscribe(lambda s: s.session.labels, lambda _: self._labels_changed())

    def act(self, name: str, more: dict[str, Any]) -> None:
        """Handle an act of the card."""
        store = self.store
        value = str(more.get("value"))
        if name == "compare":
            self._next()
        elif name == "stop":
            store.look(three=())
        elif name == "skip":
            self._next()
        elif name == "choose":
            self._choose(int(more["id"]))
        elif name == "show" and (at := self._given(more)) is not None:
            store.look(selection=store.session.choices[at].items)
        elif name == "take-back" and (at := self._given(more)) is not None:
            with store.guarded():
                store.dispatch(act.RemoveChoice(at))
        elif name == "question" and value in QUESTIONS:
            store.look(three_question=value, three_put=value)
        elif name == "from" and value in ITEM_CHOICES:
            store.look(three_from=value)
        elif name == "method":
            with store.guarded():
                store.dispatch(act.SetMethod(value))

    def key(self, key: str) -> bool:
        """Handle C, and 1, 2, 3, Space and X while three items are shown.

        Return True if the key has a meaning now.
        """
        three = self.store.view.three
        if key == "c":
            self.act("stop" if three else "compare", {})
        elif not three:
            return False
        elif key in ("1", "2", "3"):
            self._choose(three[int(key) - 1])
        elif key == " ":
            self._next()
        elif key == "x":
            self.store.look(three=())
        else:
            return False
        return True

    def _given(self, more: dict[str, Any]) -> int | None:
        """Return the index of an answer in the list; None if it no longer exists."""
        at = int(more["at"])
        return at if 0 <= at < len(self.store.session.choices) else None

    def _choose(self, item: int) -> None:
        """Record the item that a person picked, and show the next three."""
        store = self.store
        three, question = store.view.three, current_question(store)
        if item not in three:
            return
        others = [other for other in three if other != item]
        store.dispatch(
            act.AddChoice(question, (item, others[0], others[1]), author=store.session.author)
        )
        if not store.view.error:
            self._next()

    def _next(self) -> None:
        """Show three items that were not shown before, and close the question card."""
        store = self.store
        if len(store.session.labels) < 3:
            store.look(three=(), said="Comparing needs at least three items.")
            return
        known = store.problem.comparisons
        n = len(store.session.labels)
        seen = np.zeros(n, np.int64) if known is None else known.appearances(n)
        three = next_triple(seen, self._rng, self._asked, store.view.three_from)
        if three is None:
            store.look(three=(), said="All sets of three items have been asked about.")
            return
        self._asked.add(frozenset(three))
        store.look(
            three=three, three_put=default_question(store),
            question=None, wants_question=False, draft=Draft(), error=None, said="",
        )  # fmt: skip

    def _labels_changed(self) -> None:
        """Start again if the session has other items."""
        labels = self.store.session.labels
        if labels != self._labels:
            self._labels, self._asked = labels, set()
            self._rng = np.random.default_rng(self.store.session.seed)
            if self.store.view.three:
                self.store.look(three=())
