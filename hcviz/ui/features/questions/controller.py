"""``QuestionController``: chooses the questions about the tree, and handles the answers.

A question is about the tree on the screen and the sampled trees under the present constraints. A
person can accept the piece that is shown, or correct it by a gesture. During a run the next
question waits for the end of the run, so that it is about the newest tree.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hcviz import questions
from hcviz.core.errors import InvalidParameter
from hcviz.questions import Memory, Question
from hcviz.session import actions as act
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP, Constraint
from hcviz.session.draft import Draft
from hcviz.session.model import ReviewedPiece
from hcviz.ui.features.questions.model import CANDIDATES, SIZES, card_order, deniable
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Act of a button on the card -> its key.
KEYS = {"ask": "q", "accept": "a", "repair": "r", "skip": " ", "lock": "l", "stop": "x"}


class QuestionController(Controls):
    """Handles the question card of one store."""

    ACTS = ACTS

    def __init__(self, store: Store) -> None:
        self.store = store
        self.memory = Memory()
        self._labels: Any = None  # the items that the memory is about
        self._remembered: tuple[
            ReviewedPiece, ...
        ] = ()  # the part of the memory that the session keeps
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

    @ACTS.on("strategy")
    def _set_strategy(self, value: str) -> None:
        self.store.change_view(strategy=value)
        self.another()

    @ACTS.on("size")
    def _set_size(self, value: str) -> None:
        with self.store.guarded():
            self.store.change_view(question_size=_whole_number(value, "Items in a piece", *SIZES))
            self.another()

    @ACTS.on("candidates")
    def _set_candidates(self, value: str) -> None:
        with self.store.guarded():
            count = _whole_number(value, "Pieces to choose from", *CANDIDATES)
            self.store.change_view(question_candidates=count)
            self.another()

    @ACTS.on("induced")
    def _set_induced(self, value: str) -> None:
        self.store.change_view(question_induced=value == "piece")
        self.another()

    @ACTS.on("deny")
    def _deny(self) -> None:
        """Answer that the items are not a group, without saying which does not belong."""
        store, question = self.store, self.store.view.question
        if question is None or not question.is_group:
            return
        author = store.session.author
        with store.guarded():
            store.dispatch(act.AddConstraint(question.items, NOT_A_GROUP, author=author))
            if deniable(store, question):
                self._request_next()
            else:  # the tree keeps the group, so it must not be asked again
                message = store.session.message
                self.memory.skip(question)
                self._remember(question, accepted=False)
                store.change_view(message=message)

    @ACTS.on(*KEYS)
    def _press(self, act: str) -> None:
        self.key(KEYS[act])

    def key(self, key: str) -> bool:
        """Handle Q, A, R, Space, L, X and digits. Return True if the key has a meaning now."""
        store = self.store
        question = store.view.question
        if key.isdigit():
            return question is not None and self._pick_by_digit(question, int(key))
        if key == "q":
            if question is None:
                store.change_view(wants_question=True, three=(), error=None)
        elif key == "x":
            store.change_view(question=None, wants_question=False, draft=Draft())
        elif question is None or key not in "ar l":
            return False
        elif question.is_group and key in "ar l":
            self._answer_group(question, key)
        elif key == "a":
            self.memory.accept(question)
            self._remember(question, accepted=True)
        elif key == " ":
            self.memory.skip(question)
            self._remember(question, accepted=False)
        elif key == "r":
            store.change_view(draft=Draft().begin_repair(), selection=())
        else:
            self._lock(question)
        return True

    @ACTS.on("pick")
    def pick(self, id: int) -> None:
        """Handle a click on a name: the odd one out, a part of a correction, or a selection."""
        store, item = self.store, id
        question = store.view.question
        draft = store.view.draft
        if question is not None and question.is_odd_one_out:
            rest = tuple(i for i in question.items if i != item)
            store.change_view(draft=Draft("odd", rest, (item,)), selection=())
        elif draft.open:
            store.change_view(draft=draft.pick((item,)))
        else:
            store.change_view(selection=(item,))

    def _pick_by_digit(self, question: Question, place: int) -> bool:
        """Pick the name at a place of the card (from 1). Return False if no name is needed."""
        correcting = self.store.view.draft.mode in ("repair", "eject")
        wanted = question.is_odd_one_out or correcting
        names = card_order(question)
        if not wanted or not 1 <= place <= len(names):
            return False
        self.pick(names[place - 1])
        return True

    def another(self) -> None:
        """Replace the open question, which was answered or is out of date."""
        if self.store.view.question is not None:
            self._request_next()

    def _answer_group(self, question: Question, key: str) -> None:
        """Yes (A, L), no (R), or skip (Space). No asks for the items that do not belong.

        Yes is the answer after No as well. Of two items, No asks nothing more. If the method
        cannot keep that they are not a group, the constraint stays in the list, with this reason,
        for a method that can.
        """
        store = self.store
        if key == " ":
            self.memory.skip(question)
            self._remember(question, accepted=False)
        elif key == "r" and len(question.items) == 2:
            self._deny()  # of a pair, none is the one that does not belong
        elif key == "r":
            store.change_view(draft=Draft().begin_eject(question.items), selection=())
        else:
            author = store.session.author
            with store.guarded():
                store.dispatch(act.AddConstraint(question.items, EVERYTHING_ELSE, author=author))
                self._request_next()

    def _lock(self, question: Question) -> None:
        """Add constraints for all that the piece shows."""
        rows = questions.shown_triplets(question).tolist()
        if rows:
            by = self.store.session.author
            each = (Constraint(0, (a, b), c, author=by, time=act.now()) for a, b, c in rows)
            self.store.dispatch(act.ImportConstraints(tuple(each)))
        self.memory.accept(question)
        self._request_next()

    def _remember(self, question: Question, accepted: bool) -> None:
        """Keep the question with the session, so that it is not asked again after a reload."""
        items, clades = question.key()
        shown = tuple(sorted(tuple(sorted(clade)) for clade in clades))
        self._remembered = (*self._remembered, ReviewedPiece(items, shown, accepted))
        self.store.dispatch(act.ReviewPiece(items, shown, accepted))
        self._request_next()

    def _request_next(self) -> None:
        """Close the open question and request another."""
        self.store.change_view(question=None, wants_question=True, draft=Draft())

    def _next(self) -> None:
        """Show the next question, if one was requested and no run is in progress."""
        store = self.store
        session, view = store.session, store.view
        if (self._labels, self._remembered) != (session.labels, session.reviewed):
            # Other data were opened, or another session.
            self.memory = Memory()
            self._labels, self._remembered = session.labels, session.reviewed
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
            store.change_view(wants_question=False, message="No more questions about this tree.")
            return
        self.memory.ask(found)
        store.change_view(question=found, wants_question=False, message="")

    def _ask(self) -> Question | None:
        """Choose a question; None if there is none left."""
        store = self.store
        view, tree = store.view, store.session.snapshot.tree  # type: ignore[union-attr]
        # A tree may violate soft constraints, so no answer follows from them.
        hard = not store.session.is_soft
        known = store.session.triplets if hard else None
        groups = store.session.required_clades if hard else None

        def ask(posterior: Any) -> Question | None:
            return questions.ask(
                view.strategy, tree, posterior, size=view.question_size,
                candidates=view.question_candidates, induced=view.question_induced,
                triplets=known, groups=groups, memory=self.memory, rng=self._rng,
            )  # fmt: skip

        if store.samples is None:
            return ask(None)
        with store.samples.open() as posterior:
            return ask(posterior)


def _whole_number(text: str, what: str, low: int, high: int) -> int:
    """Return a whole number between two limits that a person typed."""
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise InvalidParameter(f"{what} must be a whole number from {low} to {high}, not {text!r}.")
    return number
