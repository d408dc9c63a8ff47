"""``PlayerController``: opens a lesson script, and plays its steps forward and back.

A step's answers, methods and parameters are actions of the session. Back undoes them; Next redoes
them, unless the person did something else meanwhile. Then it does the actions of the script again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import InvalidData
from hcviz.io.lesson_script import LessonAction, check_items, check_settings, read_lesson
from hcviz.session import actions as act
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP, Apart
from hcviz.session.draft import Draft
from hcviz.session.model import Session
from hcviz.ui.app.sheets import SHEETS
from hcviz.ui.features.lesson_player.playing import TREE, DoneStep, Playing
from hcviz.ui.features.lesson_player.prepared import prepared_text
from hcviz.ui.features.lessons.controller import LESSON_AUTHOR
from hcviz.ui.features.merges.model import has_merges, steps_of
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.data_sources import resolve
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Key -> what it does. Presenters send Page Down and Page Up.
KEYS = {"ArrowRight": "next", "PageDown": "next", "ArrowLeft": "back", "PageUp": "back"}


class PlayerController(Controls):
    """Handles the lesson script of one store."""

    ACTS = ACTS

    def __init__(self, store: Store) -> None:
        self.store = store
        #: Sends a file to the browser: name, content, type.
        self.download: Callable[[str, bytes, str], None] = lambda name, content, mime: None
        self._labels: Any = None
        store.subscribe(lambda s: s.session.labels, lambda _: self._labels_changed())
        store.subscribe(
            lambda s: (s.session.status, s.view.merges, s.view.playing),
            lambda _: self._check_merges(),
        )

    def open_prepared(self, name: str) -> None:
        """Open a script that comes with the package."""
        with self.store.guarded():
            self.open(prepared_text(name))

    def open(self, text: str) -> None:
        """Open a script, which replaces the session.

        Raises
        ------
        HcvizError
            If the script cannot be read, or does not fit its data. The session then stays.
        """
        store, lesson = self.store, read_lesson(text)
        check_settings(lesson, algorithms(), [TREE, *SHEETS])
        dataset = resolve(lesson.data)
        check_items(lesson, dataset.labels)
        method = get_algorithm(lesson.method)
        method.parameters(**lesson.parameters)
        session = Session(
            data=lesson.data, labels=tuple(dataset.labels), method=method.name,
            constraint_mode=method.constraint_mode(lesson.parameters),
            params=act.read_only(lesson.parameters), seed=lesson.seed,
        )  # fmt: skip
        if not store.restore(session, dataset):
            return
        store.dispatch(act.Rerun(fresh=True))
        self._labels = store.session.labels
        store.view = replace(
            store.view, lesson=None, playing=Playing(lesson), draft=Draft(), three=(), message=""
        )
        self._do()
        self._show()

    def key(self, key: str) -> bool:
        """Handle the keys of a presenter. Return True if a lesson is played and has the key."""
        if self.store.view.playing is None or key not in KEYS:
            return False
        self.act(KEYS[key], {})
        return True

    # ------------------------------------------------------------------ messages

    @ACTS.on("next")
    def go_on(self) -> None:
        """Go to the next frame, and do its actions."""
        playing = self.store.view.playing
        if playing is None or playing.frame + 1 >= len(playing.frames):
            return
        self._set(replace(playing, frame=playing.frame + 1))
        self._do()
        self._show()

    @ACTS.on("back")
    def go_back(self) -> None:
        """Undo the actions of the present frame, and go to the frame before."""
        playing = self.store.view.playing
        if playing is None or playing.frame == 0:
            return
        if playing.done and playing.done[-1].frame == playing.frame:
            last = playing.done[-1]
            count = max(0, len(self.store.session.past) - last.before)
            for _ in range(count):
                self.store.dispatch(act.Undo())
            future = self.store.session.future
            undone = replace(last, undone=count, checkpoint=future[-1] if future else None)
            playing = replace(playing, done=playing.done[:-1], redo=(*playing.redo, undone))
        self._set(replace(playing, frame=playing.frame - 1))
        self._show()

    @ACTS.on("vote")
    def vote(self, choice: int) -> None:
        """Note which choice the class predicts; the same one again takes it back."""
        playing = self.store.view.playing
        if playing is None or not playing.predicts or choice >= len(playing.step.choices):
            return
        at = playing.now.at
        others = {step: vote for step, vote in playing.votes.items() if step != at}
        same = playing.votes.get(at) == choice
        self._set(replace(playing, votes=others if same else {**others, at: choice}))
        self.store.notify()

    @ACTS.on("save")
    def save(self) -> None:
        """Send the script to the browser, so that a teacher can edit it."""
        playing = self.store.view.playing
        if playing is not None:
            name = "-".join(playing.lesson.title.lower().split())
            stem = "".join(c for c in name if c.isalnum() or c == "-") or "lesson"
            self.download(f"{stem}.md", playing.lesson.text.encode(), "text/markdown")
            self.store.change_view(
                message=f"Saved: {stem}.md. Edit it, and open it with File, Lessons."
            )

    @ACTS.on("stop")
    def stop(self) -> None:
        """End the lesson. The session stays as the lesson left it."""
        if self.store.view.playing is not None:
            self.store.change_view(
                playing=None, sheet=TREE, selection=(), question=None, wants_question=False,
                message="The lesson has ended. Its session stays.",
            )  # fmt: skip

    # ------------------------------------------------------------------ steps

    def _set(self, playing: Playing) -> None:
        self.store.view = replace(self.store.view, playing=playing)

    def _do(self) -> None:
        """Do the actions of the present frame, or redo them."""
        store, playing = self.store, self.store.view.playing
        assert playing is not None
        if playing.now.phase not in ("step", "reveal"):
            return
        actions = [each for each in playing.step.actions if each.kind != "merge"]
        if not actions:
            return
        known, before, future = playing.redo, len(store.session.past), store.session.future
        if known and known[-1].frame == playing.frame:
            last, playing = known[-1], replace(playing, redo=known[:-1])
            if last.undone and future and future[-1] is last.checkpoint:
                for _ in range(last.undone):
                    store.dispatch(act.Redo())
                actions = []
        with store.guarded():
            for each in actions:
                store.dispatch(self._session_action(each))
        done = (*playing.done, DoneStep(playing.frame, before))
        self._set(replace(playing, done=done))

    def _show(self) -> None:
        """Show the view of the present frame: its sheet, its items, and its merges."""
        store, playing = self.store, self.store.view.playing
        assert playing is not None
        asks = playing.step.ask and not playing.predicts
        # The card shows the items that the class compares, with their pictures.
        compared = [a for a in playing.step.actions if a.kind == "compare" and playing.predicts]
        three = self._items((*compared[0].group, *compared[0].others)) if compared else ()
        kind: Any = compared[0].meaning if compared else None
        # Marked items would tell the class where they are.
        marked = () if playing.predicts else self._items(playing.step.select)
        store.change_view(
            sheet=playing.sheet, selection=marked, draft=Draft(),
            merges=playing.merges, marks_merge=playing.marks_merge,
            question=None, wants_question=asks, three=tuple(sorted(three)), three_put=kind,
        )  # fmt: skip

    def _check_merges(self) -> None:
        """Show a fault if a merge of the step names other items than the method merges."""
        playing = self.store.view.playing
        if playing is None or not playing.marks_merge or self.store.session.status != "settled":
            return
        steps = steps_of(self.store) if has_merges(self.store) else ()
        named = [each for each in playing.step.actions if each.kind == "merge"]
        done = steps[: playing.merges]
        for action, step in zip(reversed(named), reversed(done), strict=False):
            merged = {int(i) for each in step.pair for i in step.clusters[each]}
            if action.group and set(self._items(action.group)) != merged:
                labels = self.store.session.labels
                true = " + ".join(labels[item] for item in sorted(merged))
                self.store.change_view(
                    error=(
                        f"Line {action.line} of the lesson: this merge is another one.",
                        f"Write: - merge: {true}",
                    )
                )

    def _items(self, names: tuple[str, ...]) -> tuple[int, ...]:
        index = {label: item for item, label in enumerate(self.store.session.labels)}
        return tuple(index[name] for name in names)

    def _session_action(self, action: LessonAction) -> act.Action:
        """Return the session's action for an action of the script."""
        if action.kind == "method":
            return act.SetMethod(action.name)
        if action.kind == "parameter":
            return act.SetParams({action.name: action.value})
        group, others = self._items(action.group), self._items(action.others)
        if action.kind == "compare":
            kind: Any = action.meaning
            return act.AddChoice(kind, (group[0], others[0], others[1]), author=LESSON_AUTHOR)
        apart: Apart = others
        if action.meaning in (EVERYTHING_ELSE, NOT_A_GROUP):
            apart = int(action.meaning)
        if action.kind == "answer":
            return act.AddConstraint(group, apart, author=LESSON_AUTHOR)
        for each in self.store.session.constraints:
            if each.states_same(group, apart):
                switch = act.EnableConstraint if action.kind == "switch on" else None
                return (switch or act.DisableConstraint)(each.id)
        raise InvalidData(
            f"Line {action.line} of the lesson: this answer is not in the list.",
            "Give it in an earlier step with - answer: ...",
        )

    def _labels_changed(self) -> None:
        """End the lesson if other data were opened."""
        playing, labels = self.store.view.playing, self.store.session.labels
        if playing is not None and labels != self._labels:
            self.store.change_view(playing=None, sheet=TREE)


__all__ = ["PlayerController"]
