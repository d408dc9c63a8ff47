"""Comparing three: the card that asks which is most central, or which is the odd one out.

Each answer is an action of the session; where the method reads comparisons the tree follows. The
next three come at once: they depend on how often items were compared, not on the tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.questions.next_triple import next_triple
from hcviz.session import actions as act
from hcviz.session.choice import ChoiceKind
from hcviz.session.draft import Draft
from hcviz.ui.parts.images import as_uri
from hcviz.ui.state.store import Store

#: ChoiceKind -> what the card asks, and what an answer is called.
ASKS = {
    "odd": ("Which is the odd one out?", "Odd one out"),
    "central": ("Which of the three is most central?", "Most central"),
}
FROM = {"seldom": "seldom seen items", "any": "all items"}
#: So many of the person's answers are listed, the newest first.
LISTED = 60


class Comparing:
    """The driver of one store's card."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._asked: set[frozenset[int]] = set()
        self._about: Any = None
        self._rng = np.random.default_rng(0)
        store.subscribe(lambda s: s.session.labels, lambda _: self._other_items())

    def act(self, name: str, more: dict[str, Any]) -> None:
        """What was done on the card."""
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
        elif name == "question" and value in ASKS:
            store.look(three_question=value, three_put=value)
        elif name == "from" and value in FROM:
            store.look(three_from=value)
        elif name == "method":
            with store.guarded():
                store.dispatch(act.SetMethod(value))

    def key(self, key: str) -> bool:
        """C, and while three are shown 1, 2, 3, Space and X; whether it meant something here."""
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
        """The place of an answer in the list; None if it is gone meanwhile."""
        at = int(more["at"])
        return at if 0 <= at < len(self.store.session.choices) else None

    def _choose(self, item: int) -> None:
        store = self.store
        three, question = store.view.three, question_of(store)
        if item not in three:
            return
        others = [other for other in three if other != item]
        store.dispatch(
            act.AddChoice(question, (item, others[0], others[1]), author=store.session.author)
        )
        if not store.view.error:
            self._next()

    def _next(self) -> None:
        """Put three that were not put before; the other card's question gives way."""
        store = self.store
        if len(store.session.labels) < 3:
            store.look(three=(), said="Three items are needed to compare.")
            return
        known = store.problem.comparisons
        n = len(store.session.labels)
        seen = np.zeros(n, np.int64) if known is None else known.appearances(n)
        three = next_triple(seen, self._rng, self._asked, store.view.three_from)
        if three is None:
            store.look(three=(), said="Every three of these items have been asked about.")
            return
        self._asked.add(frozenset(three))
        store.look(
            three=three, three_put=_wanted(store),
            question=None, wants_question=False, draft=Draft(), error=None, said="",
        )  # fmt: skip

    def _other_items(self) -> None:
        labels = self.store.session.labels
        if labels != self._about:
            self._about, self._asked = labels, set()
            self._rng = np.random.default_rng(self.store.session.seed)
            if self.store.view.three:
                self.store.look(three=())


# ---------------------------------------------------------------------- what the card shows


def question_of(store: Store) -> ChoiceKind:
    """Which question is put: what other answers come meanwhile, it is not another under a hand."""
    return (store.view.three and store.view.three_put) or _wanted(store)


def _wanted(store: Store) -> ChoiceKind:
    """The chosen question; else the one that most of the data's answers are to.

    So what is added to a crowd's answers are answers to the crowd's own question.
    """
    view, data = store.view, store.dataset
    if view.three_question is not None:
        return view.three_question
    known = data.asked if data is not None and data.labels == store.session.labels else None
    return "central" if (known or {}).get("central", 0) > (known or {}).get("odd", 0) else "odd"


def picture(store: Store) -> dict[str, Any]:
    """The card, as plain JSON."""
    session, view, data = store.session, store.view, store.dataset
    own, question = len(session.choices), question_of(store)
    fits = data is not None and data.labels == session.labels
    images = data.images if data is not None and fits else None
    return {
        "ready": len(session.labels) > 2,
        "prominent": fits and data is not None and data.comparisons is not None,
        "ask": ASKS[question][0],
        "question": question,
        "questions": [[kind, title] for kind, (_, title) in ASKS.items()],
        "from": view.three_from,
        "froms": [[kind, title] for kind, title in FROM.items()],
        "items": [
            {
                "id": item,
                "name": session.labels[item],
                "image": None if images is None else _shown(images[item]),
            }
            for item in view.three
            if item < len(session.labels)
        ],
        "answers": own,
        "last": session.choices[-1].sentence(session.labels) if own else "",
        "given": [
            {"at": at, "sentence": session.choices[at].sentence(session.labels)}
            for at in range(own - 1, max(-1, own - 1 - LISTED), -1)
        ],
        "unheeded": _unheeded(store),
    }


def _shown(image: Any) -> str | None:
    return None if image is None else as_uri(image)


def _unheeded(store: Store) -> dict[str, str] | None:
    """Where there are answers that the method in use does not read: one that does."""
    session = store.session
    given = session.choices or session.data.answers
    if not given or "comparisons" in get_algorithm(session.method).needs:
        return None
    readers = (get_algorithm(name) for name in algorithms())
    other = next(each for each in readers if "comparisons" in each.needs)
    return {
        "said": f"{get_algorithm(session.method).title} does not read such answers.",
        "method": other.name,
        "title": other.title,
    }
