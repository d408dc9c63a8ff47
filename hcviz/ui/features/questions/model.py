"""The conversation: which piece of the tree is put to the person, and what the answer does.

A question is about the tree on the screen and the samples under the answers so far; accepting it
changes nothing, a correction is a gesture like any other, with its verdict first. While a run is
going on the next question waits for its end, so that it is asked about the newest tree.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hcviz import questions
from hcviz.core.errors import InvalidParameter
from hcviz.core.layout import elbows, leaf_order, with_even_heights
from hcviz.questions import Memory, Question
from hcviz.session import actions as act
from hcviz.session.constraint import Constraint
from hcviz.session.draft import Draft
from hcviz.session.model import ReviewedPiece
from hcviz.ui.parts.images import as_uri
from hcviz.ui.state.store import Store

#: Items a question and pieces to choose from that may be asked for.
SIZES, CANDIDATES = (3, 12), (1, 200)


#: A larger one is looked at in the middle of the page, where it is drawn already.
LARGEST_PIECE = 16
#: The card's buttons and their keys.
KEYS = {"ask": "q", "accept": "a", "repair": "r", "skip": " ", "lock": "l", "stop": "x"}


class Asking:
    """The driver of the question card of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.memory = Memory()
        self._about: Any = None  # the items that the memory is about
        self._told: tuple[ReviewedPiece, ...] = ()  # what of it the session keeps
        self._rng = np.random.default_rng(0)
        store.subscribe(
            lambda s: (
                s.session.status,
                s.session.run,
                s.session.labels,
                s.view.wants_question,
                s.session.reviewed,
            ),
            lambda _: self._next(),
        )

    def act(self, name: str, more: dict[str, Any]) -> None:
        """What was done on the card."""
        store = self.store
        if name == "strategy":
            store.look(strategy=str(more.get("value")))
            self.another()
        elif name in ("size", "candidates"):
            low, high = SIZES if name == "size" else CANDIDATES
            with store.guarded():
                store.look(**{f"question_{name}": _between(more.get("value"), name, low, high)})
                self.another()
        elif name == "induced":
            store.look(question_induced=more.get("value") == "piece")
            self.another()
        elif name == "pick":
            self.pick(int(more["id"]))
        else:
            self.key(KEYS.get(name, "x"))

    def key(self, key: str) -> bool:
        """Q, A, R, Space, L, X (stop), digits for names; whether it meant something here."""
        store = self.store
        question = store.view.question
        if key.isdigit():
            return question is not None and self._named(question, int(key))
        if key == "q":
            if question is None:
                store.look(wants_question=True, three=(), error=None)
        elif key == "x":
            store.look(question=None, wants_question=False, draft=Draft())
        elif question is None or key not in "ar l":
            return False
        elif key == "a":
            self.memory.accept(question)
            self._looked(question, accepted=True)
        elif key == " ":
            self.memory.skip(question)
            self._looked(question, accepted=False)
        elif key == "r":
            store.look(draft=Draft().begin_repair(), selection=())
        else:
            self._lock(question)
        return True

    def pick(self, item: int) -> None:
        """A name on the card: the odd one of three, a part of a correction, or just a look."""
        store = self.store
        question = store.view.question
        draft = store.view.draft
        if question is not None and question.is_odd_one_out:
            rest = tuple(i for i in question.items if i != item)
            store.look(draft=Draft("odd", rest, (item,)), selection=())
        elif draft.open:
            store.look(draft=draft.pick((item,)))
        else:
            store.look(selection=(item,))

    def _named(self, question: Question, place: int) -> bool:
        """Pick the name at that place on the card, the first is 1, while names are asked for."""
        wanted = question.is_odd_one_out or self.store.view.draft.mode == "repair"
        names = order_on_card(question)
        if not wanted or not 1 <= place <= len(names):
            return False
        self.pick(names[place - 1])
        return True

    def another(self) -> None:
        """The open question, if one is, has been answered or would be chosen otherwise now."""
        if self.store.view.question is not None:
            self._done()

    def _lock(self, question: Question) -> None:
        rows = questions.shown_triplets(question).tolist()
        if rows:
            by = self.store.session.author
            each = (Constraint(0, (a, b), c, author=by, time=act.now()) for a, b, c in rows)
            self.store.dispatch(act.ImportConstraints(tuple(each)))
        self.memory.accept(question)
        self._done()

    def _looked(self, question: Question, accepted: bool) -> None:
        """It is kept with the session, so that it is not asked about after a reload either."""
        items, clades = question.key()
        shown = tuple(sorted(tuple(sorted(clade)) for clade in clades))
        self._told = (*self._told, ReviewedPiece(items, shown, accepted))
        self.store.dispatch(act.ReviewPiece(items, shown, accepted))
        self._done()

    def _done(self) -> None:
        self.store.look(question=None, wants_question=True, draft=Draft())

    def _next(self) -> None:
        """Put the next question, if one is wanted and the tree stands still."""
        store = self.store
        session, view = store.session, store.view
        if (self._about, self._told) != (
            session.labels,
            session.reviewed,
        ):  # other data, or a session
            self.memory = Memory()
            self._about, self._told = session.labels, session.reviewed
            for seen in session.reviewed:
                self.memory.recall(seen.items, seen.clades, seen.accepted)
            self._rng = np.random.default_rng(session.seed)
            if view.question is not None or view.wants_question:
                store.view = replace(view, question=None, wants_question=False)
            return
        if not view.wants_question or session.snapshot is None or session.status == "sampling":
            return
        found = self._ask()
        if found is None:
            store.look(wants_question=False, said="There is nothing left to ask about this tree.")
            return
        self.memory.ask(found)
        store.look(question=found, wants_question=False, said="")

    def _ask(self) -> Question | None:
        store = self.store
        view, tree = store.view, store.session.snapshot.tree  # type: ignore[union-attr]
        # What is weighed need not hold in the tree: then nothing is taken to follow from it.
        known = None if store.session.is_soft else store.session.triplets

        def ask(posterior: Any) -> Question | None:
            return questions.ask(
                view.strategy, tree, posterior, size=view.question_size,
                candidates=view.question_candidates, induced=view.question_induced,
                triplets=known, memory=self.memory, rng=self._rng,
            )  # fmt: skip

        if store.samples is None:
            return ask(None)
        with store.samples.open() as posterior:
            return ask(posterior)


def _between(value: Any, name: str, low: int, high: int) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        what = "Items in a piece" if name == "size" else "Pieces to choose from"
        raise InvalidParameter(f"{what}: a whole number from {low} to {high}, not {value!r}.")
    return number


# ---------------------------------------------------------------------- what the card shows


def picture(store: Store) -> dict[str, Any]:
    """The card, as plain JSON."""
    session, view = store.session, store.view
    question = view.question
    return {
        "ready": session.snapshot is not None,
        "waiting": view.wants_question and session.status == "sampling",
        "strategies": [[s.name, s.title] for s in questions.STRATEGIES.values()],
        "strategy": view.strategy,
        "about": questions.STRATEGIES[view.strategy].summary,
        "size": view.question_size,
        "candidates": view.question_candidates,
        "varied": questions.STRATEGIES[view.strategy].has_distance_variance,
        "induced": view.question_induced,
        "limits": [*SIZES, *CANDIDATES],
        "question": None if question is None else _card(store, question),
    }


def order_on_card(question: Question) -> list[int]:
    """The asked items as the card has them, from top to bottom."""
    if len(question.items) > LARGEST_PIECE:
        return []
    return [int(question.items[leaf]) for leaf in leaf_order(with_even_heights(question.shown))]


def _card(store: Store, question: Question) -> dict[str, Any]:
    labels, data, draft = store.session.labels, store.dataset, store.view.draft
    if len(question.items) > LARGEST_PIECE:
        return {"whole": True, "picks": False, "items": [], "path": []} | {
            "kind": question.strategy, "why": question.why.sentence(labels),
            "repairing": draft.mode == "repair", "top": 1.0,
        }  # fmt: skip
    shown = with_even_heights(question.shown)
    order = leaf_order(shown)
    x, y = elbows(shown, order)
    items = order_on_card(question)
    images = None if data is None or data.images is None else data.images
    return {
        "picks": question.is_odd_one_out,
        "kind": question.strategy,
        "why": question.why.sentence(labels),
        "repairing": draft.mode == "repair",
        "top": float(shown.height[-1]) or 1.0,
        "path": [None if np.isnan(a) else [float(a), float(b)] for a, b in zip(x, y, strict=True)],
        "items": [
            {
                "id": item,
                "name": labels[item],
                "image": None if images is None else as_uri(images[item]),
                "mark": "apart" if item in draft.apart else "together" * (item in draft.group),
            }
            for item in items
        ],
    }
