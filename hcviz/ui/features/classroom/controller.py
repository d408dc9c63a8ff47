"""``StudentTab`` reports the answers of a page to the class; ``TeacherTab`` shows the class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hcviz.session import actions as act
from hcviz.session.classroom import Classroom, Student
from hcviz.session.model import Session
from hcviz.ui.state.store import Store

#: Seconds from a change to the update of the teacher's page, which shows all changes until then.
#: Thirty students make ten a second.
PACE = 1.0


class StudentTab:
    """The page of a student. It gets nothing from the class but the student's own answers.

    All methods must be called on the document's thread.
    """

    def __init__(self, store: Store, classroom: Classroom) -> None:
        self._store, self._classroom = store, classroom
        self._visitor = ""
        self._reported = False  # answers of this tab
        # Answers of the session that the server was started with are not the student's.
        self._given_ids = {each.id for each in store.session.constraints}
        self._given_choices = store.session.choices

    def connect(self, visitor: str) -> None:
        """Join the class with the token of the browser, and bring back its earlier answers."""
        if self._visitor:
            return
        self._visitor = visitor
        student, store = self._classroom.join(visitor), self._store
        store.dispatch(act.SetAuthor(student.typed or student.default_name))
        if student.n_answers and student.labels == store.session.labels:
            self._bring_back(student)
        store.change_view(
            message=f"You are {student.name}. Your teacher sees your answers. You may write your "
            "name below the list of constraints."
        )
        store.subscribe(_reported_fields, lambda _: self._report())

    def close(self) -> None:
        """Leave the class. The answers stay there."""
        if self._visitor:
            self._classroom.leave(self._visitor)
            self._visitor = ""

    def _bring_back(self, student: Student) -> None:
        author = self._store.session.author
        constraints = tuple(replace(each, author=author) for each in student.constraints)
        if constraints:
            self._store.dispatch(act.ImportConstraints(constraints, source="Your answers: "))
        for each in student.choices:
            self._store.dispatch(act.AddChoice(each.question, each.items, author))

    def _report(self) -> None:
        """Report the answers, unless an empty tab would replace those of another one."""
        if not self._visitor:
            return
        session = self._store.session
        own = replace(
            session,
            constraints=tuple(c for c in session.constraints if c.id not in self._given_ids),
            choices=tuple(c for c in session.choices if c not in self._given_choices),
        )
        known = self._classroom.student(self._visitor)
        self._reported = self._reported or bool(own.constraints or own.choices)
        if self._reported or not known.n_answers:
            self._classroom.report(self._visitor, own)


def _reported_fields(store: Store) -> object:
    session: Session = store.session
    tree = None if session.status == "sampling" else session.tree
    return (session.constraints, session.choices, session.author, session.labels, tree)


class TeacherTab:
    """The page of the teacher: the only one that gets the class.

    Parameters
    ----------
    store, classroom
        The state of the page, and the class.
    later
        ``later(seconds, call)`` calls on the document's thread.
    """

    def __init__(
        self,
        store: Store,
        classroom: Classroom,
        later: Callable[[float, Callable[[], None]], None],
    ) -> None:
        self._store, self._classroom, self._later = store, classroom, later
        self._waits, self._is_open = False, True
        store.classroom = classroom.view()
        self._stop = classroom.listen(self._changed)
        store.change_view(sheet="class")

    def connect(self, visitor: str) -> None:
        """Do nothing: the teacher is no student."""

    def close(self) -> None:
        """Show no further changes."""
        self._is_open = False
        self._stop()

    def _changed(self) -> None:
        """Show the class soon; changes until then are shown together."""
        if not self._waits:
            self._waits = True
            self._later(PACE, self._show)

    def _show(self) -> None:
        self._waits = False
        if self._is_open:
            self._store.classroom = self._classroom.view()
            self._store.notify()


__all__ = ["StudentTab", "TeacherTab"]
