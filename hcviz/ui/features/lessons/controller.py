"""``LessonController``: takes an item out of the tree, and compares a guess with the target tree.

After each guess a correct constraint is added to the session, so that the tree improves too. A
prepared lesson is a session file whose steps are redone one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from hcviz.core.errors import HcvizError
from hcviz.core.tree import Tree
from hcviz.metrics.placement import RemovedItem
from hcviz.session import actions as act
from hcviz.session.draft import Draft
from hcviz.ui.features.lessons.lesson import (
    Lesson,
    PlacementQuestion,
    judge_guess,
    open_prepared_lesson,
)
from hcviz.ui.features.lessons.model import (
    guessed_items,
    no_lesson_because,
    target_tree,
    tree_to_show,
)
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Author of the constraints that a lesson adds.
LESSON_AUTHOR = "the lesson"


class LessonController(Controls):
    """Handles the lesson of one store."""

    ACTS = ACTS

    def __init__(self, store: Store) -> None:
        self.store = store
        self._rng = np.random.default_rng(0)
        self._labels: Any = None
        store.subscribe(
            lambda s: (
                s.session.status, s.session.run, s.session.labels, len(s.session.past),
                s.view.lesson,
            ),
            lambda _: self._ask(),
        )  # fmt: skip

    def start_or_stop(self) -> None:
        """Begin a lesson, or end the one in progress."""
        with self.store.guarded():
            self.stop() if self.store.view.lesson is not None else self.start()

    def open_prepared(self, name: str) -> None:
        """Open a prepared lesson and begin it."""
        with self.store.guarded():
            if self.store.restore(open_prepared_lesson(name)):
                self.start()

    @ACTS.on("skip")
    def _skip(self) -> None:
        self._put_back(done=True)
        self.store.change_view()

    @ACTS.on("back")
    def _back(self) -> None:
        if self.store.view.lesson is not None:
            self._put_back()
            self.store.dispatch(act.Undo())

    @ACTS.on("forward")
    def _forward(self) -> None:
        if self.store.view.lesson is not None:
            self._put_back()
            self.store.dispatch(act.Redo())

    def key(self, key: str) -> bool:
        """Handle Enter, which reveals and then goes on. Return True if the key has a meaning."""
        lesson = self.store.view.lesson
        if lesson is None or lesson.asked is None or key != "Enter" or self.store.view.draft.open:
            return False
        self.go_on() if lesson.outcome is not None else self.reveal()
        return True

    # ------------------------------------------------------------------ steps

    def start(self) -> None:
        """Begin a lesson. Raises :class:`HcvizError` if no target tree is known."""
        session, fault = self.store.session, no_lesson_because(self.store)
        if fault:
            raise HcvizError(fault)
        self._rng = np.random.default_rng(np.random.SeedSequence((session.seed, len("lesson"))))
        self._labels = session.labels
        self.store.change_view(
            lesson=Lesson(replay=bool(session.future)), playing=None, selection=(), draft=Draft(),
            question=None, wants_question=False, clusters=None, n_clusters=0, cut=None,
            message="Lesson: click where the item belongs, then press Enter.",
        )  # fmt: skip

    @ACTS.on("stop")
    def stop(self) -> None:
        """End the lesson. Classes and scores are shown again."""
        if self.store.view.lesson is not None:
            self.store.change_view(lesson=None, selection=(), message="The lesson has ended.")

    @ACTS.on("reveal")
    def reveal(self) -> None:
        """Compare the selected place with the target tree."""
        store, lesson = self.store, self.store.view.lesson
        if lesson is None or lesson.asked is None or lesson.outcome is not None:
            return
        items = guessed_items(store, lesson.asked)
        if not items:
            store.change_view(
                message="First click where it belongs: a subtree, or an item beside it."
            )
            return
        found = judge_guess(lesson.asked, items)
        results = (*lesson.results, (found.share, found.right))
        beside = tuple(int(each) for each in lesson.asked.gap.clade(found.guess))
        store.change_view(
            lesson=replace(lesson, outcome=found, results=results), selection=beside,
            message=(
                "Right." if found.right
                else "The path from the correct place to yours is marked."
            ),
        )  # fmt: skip

    @ACTS.on("go-on")
    def go_on(self) -> None:
        """Add what was revealed to the session, and go on to the next item."""
        store, lesson = self.store, self.store.view.lesson
        if lesson is None or lesson.asked is None:
            return
        item, target = lesson.asked.gap.item, lesson.asked.target
        self._put_back(done=True)
        session = store.session
        if lesson.replay:
            store.dispatch(act.Redo())
        elif session.tree is not None:
            rows = RemovedItem(session.tree, item).violated_triplets(target)
            if len(rows):
                a, b, c = (int(each) for each in rows[self._rng.integers(len(rows))])
                store.dispatch(act.AddConstraint((a, b), c, author=LESSON_AUTHOR))
                return
        store.change_view()

    @ACTS.on("wider")
    def widen(self) -> None:
        """Select the next larger clade around the selection."""
        store, lesson = self.store, self.store.view.lesson
        tree = tree_to_show(store)
        if lesson is None or lesson.asked is None or tree is None:
            return
        gap, items = lesson.asked.gap, guessed_items(store, lesson.asked)
        if not items:
            return
        place = gap.place(items)
        if len(items) == int(gap.rest.size[place]) and place != gap.rest.root:
            place = int(gap.rest.parent[place])
        store.change_view(selection=tuple(int(each) for each in gap.clade(place)))

    # ------------------------------------------------------------------ asking

    def _put_back(self, done: bool = False) -> None:
        """Put the item back into the tree. If ``done``, it is not asked about again."""
        lesson = self.store.view.lesson
        if lesson is None:
            return
        known = lesson.known
        if done and lesson.asked is not None:
            known |= {lesson.asked.gap.item}
        self.store.view = replace(
            self.store.view,
            lesson=replace(lesson, asked=None, outcome=None, known=known),
            selection=(),
        )

    def _ask(self) -> None:
        """Take the next item out of the tree, if no run is in progress."""
        store, lesson = self.store, self.store.view.lesson
        session = store.session
        if lesson is None:
            return
        target = target_tree(store)
        if session.labels != self._labels or target is None:
            store.change_view(lesson=None)
            return
        tree = session.tree
        if lesson.asked is not None:
            if tree is not lesson.asked.gap.tree:  # undo, or another run, changed the tree
                self._put_back()
                store.change_view()
            return
        if tree is None or session.status == "sampling":
            return
        item = self._next_item(tree, target, lesson)
        if item is not None:
            asked = PlacementQuestion(RemovedItem(tree, item), target)
            store.change_view(lesson=replace(lesson, asked=asked), selection=())

    def _next_item(self, tree: Tree, target: Tree, lesson: Lesson) -> int | None:
        session = self.store.session
        if lesson.replay:
            if not session.future:
                return None
            here = {each.id for each in session.constraints}
            fresh = [c for c in session.future[-1].constraints if c.id not in here]
            named = [item for c in fresh[:1] for item in c.named]
            return _most_misplaced(tree, target, named) if named else None
        left = [item for item in range(session.n_items) if item not in lesson.known]
        order = [left[k] for k in self._rng.permutation(len(left))]
        wrong = (item for item in order if len(RemovedItem(tree, item).violated_triplets(target)))
        return next(wrong, order[0] if order else None)


def _most_misplaced(tree: Tree, target: Tree, items: Iterable[int]) -> int:
    """Return the first item with the most violated triplets of the target."""
    return max(items, key=lambda item: len(RemovedItem(tree, item).violated_triplets(target)))
