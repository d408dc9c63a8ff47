"""``Playing``: the place in a lesson script, and what the page shows there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hcviz.io.lesson_script import LessonScript, LessonStep, Phase

#: The name of the main view, the tree, and of the view of a linkage's merges.
TREE, MERGES = "tree", "merges"


@dataclass(frozen=True)
class Frame:
    """One phase of one step; ``at`` is the index of the step."""

    at: int
    phase: Phase


@dataclass(frozen=True)
class DoneStep:
    """Actions that were done at a frame.

    Attributes
    ----------
    frame : int
        The index of the frame.
    before : int
        Number of undo steps before the actions.
    undone : int
        Number of undo steps that Back has undone.
    checkpoint : object
        The next state of the redo stack after Back; None if there is none.
    """

    frame: int
    before: int
    undone: int = 0
    checkpoint: Any = None


@dataclass(frozen=True, eq=False)
class Playing:
    """A lesson that is played.

    Attributes
    ----------
    lesson : LessonScript
        The lesson.
    frame : int
        Index of the present frame.
    votes : mapping of int to int
        Index of a step -> index of the choice that the class predicted.
    done, redo : tuple of DoneStep
        Actions that Back can undo, and undone actions that Next can redo; the newest is last.
    """

    lesson: LessonScript
    frame: int = 0
    votes: Mapping[int, int] = field(default_factory=dict)
    done: tuple[DoneStep, ...] = ()
    redo: tuple[DoneStep, ...] = ()

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """All phases of all steps."""
        return tuple(
            Frame(at, phase) for at, step in enumerate(self.lesson.steps) for phase in step.phases
        )

    @property
    def now(self) -> Frame:
        """The present frame."""
        return self.frames[self.frame]

    @property
    def step(self) -> LessonStep:
        """The present step."""
        return self.lesson.steps[self.now.at]

    @property
    def predicts(self) -> bool:
        """True if the class predicts, so that the step has done nothing yet."""
        return self.now.phase == "predict"

    @property
    def has_later_prediction(self) -> bool:
        """True if a later step asks for a prediction of what was done before, such as its cost."""
        ahead = self.lesson.steps[self.now.at + (not self.predicts) :]
        return any(step.predict and not step.actions for step in ahead)

    @property
    def sheet(self) -> str:
        """The view that the lesson shows now: that of the last ``show``."""
        shown = [step.show for step in self._begun if step.show]
        if shown:
            return shown[-1]
        return MERGES if any(step.merges for step in self.lesson.steps) else TREE

    @property
    def merges(self) -> int:
        """Number of merges so far. Any other action begins again at 0."""
        count = 0
        for step in self._begun:
            for action in step.actions:
                count = count + 1 if action.kind == "merge" else 0
        return count

    @property
    def marks_merge(self) -> bool:
        """True if the last merge is of the present step, so that its cell is marked."""
        return not self.predicts and bool(self.step.merges)

    @property
    def _begun(self) -> tuple[LessonStep, ...]:
        """The steps whose actions are done."""
        return self.lesson.steps[: self.now.at + (not self.predicts)]


__all__ = ["MERGES", "TREE", "DoneStep", "Frame", "Playing"]
