"""``Classroom``: the students of a lesson on one server, and their answers.

Pages of students report to it, and the teacher's page reads it. A student's page never gets it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hcviz.core.tree import Tree
from hcviz.session.choice import Choice
from hcviz.session.constraint import Constraint
from hcviz.session.experts import ExpertAgreement, agreement_between
from hcviz.session.model import Session


@dataclass(frozen=True, eq=False)
class Student:
    """A browser of a student.

    Attributes
    ----------
    number : int
        1 for the first student who opened the page.
    typed : str
        The name that the student typed; "" without one.
    n_tabs : int
        The number of tabs that are open.
    labels : tuple of str
        The items that the answers are about.
    constraints, choices : tuple
        The answers. Their author is the student's name at that moment.
    tree : Tree or None
        The student's tree after the last run.
    used_names : tuple of str
        All names under which the answers were reported.
    revision : int
        Grows when the answers or the tree change.
    """

    number: int
    typed: str = ""
    n_tabs: int = 0
    labels: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    choices: tuple[Choice, ...] = ()
    tree: Tree | None = None
    used_names: tuple[str, ...] = ()
    revision: int = 0

    @property
    def default_name(self) -> str:
        """The name of a student who typed none, such as ``Student 7``."""
        return f"Student {self.number}"

    @property
    def name(self) -> str:
        """The typed name with the number, which tells equal names apart; else the default name."""
        return f"{self.typed} ({self.number})" if self.typed else self.default_name

    @property
    def n_answers(self) -> int:
        """The number of answers."""
        return len(self.constraints) + len(self.choices)


@dataclass(frozen=True, eq=False)
class ClassView:
    """A class at one moment, as the teacher's page shows it; see :class:`Classroom`.

    Attributes
    ----------
    address, code : str
        What students need to join.
    students : tuple of Student
        All students, in the order in which they came.
    """

    address: str
    code: str
    students: tuple[Student, ...]


@dataclass(eq=False)
class Classroom:
    """The students of a lesson. All methods must be called on the thread of the pages.

    Attributes
    ----------
    address : str
        The address that students open.
    code : str
        What students type there; "" if it is a password from a file, which is not shown.

    Examples
    --------
    >>> room = Classroom("http://192.168.1.5:5006", "hkmwtzpd")
    >>> room.join("the token of a browser").name
    'Student 1'
    """

    address: str
    code: str = ""
    _students: dict[str, Student] = field(default_factory=dict)
    _listeners: list[Callable[[], None]] = field(default_factory=list)

    @property
    def students(self) -> tuple[Student, ...]:
        """All students, in the order in which they came."""
        return tuple(self._students.values())

    def view(self) -> ClassView:
        """Return the class as it is now."""
        return ClassView(self.address, self.code, self.students)

    def student(self, visitor: str) -> Student:
        """Return the student with this token, who has joined."""
        return self._students[visitor]

    def join(self, visitor: str) -> Student:
        """Count a new tab of the browser with this token, and return its student."""
        known = self._students.get(visitor) or Student(len(self._students) + 1)
        return self._set(visitor, replace(known, n_tabs=known.n_tabs + 1))

    def leave(self, visitor: str) -> None:
        """Count a closed tab. The student's answers stay."""
        known = self._students[visitor]
        self._set(visitor, replace(known, n_tabs=known.n_tabs - 1))

    def report(self, visitor: str, session: Session) -> None:
        """Keep the answers and the name of a student's session, and its tree after a run."""
        known = self._students[visitor]
        tree = known.tree if session.status == "sampling" else session.tree
        made = replace(
            known,
            typed="" if session.author == known.default_name else session.author,
            labels=session.labels,
            constraints=session.constraints,
            choices=session.choices,
            tree=tree if tree is not None and tree.n_leaves == session.n_items else None,
        )
        made = replace(
            made,
            constraints=tuple(replace(each, author=made.name) for each in made.constraints),
            choices=tuple(replace(each, author=made.name) for each in made.choices),
            used_names=tuple(dict.fromkeys((*known.used_names, made.name))),
        )
        if made.constraints != known.constraints or made.tree is not known.tree:
            made = replace(made, revision=known.revision + 1)
        self._set(visitor, made)

    def listen(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call ``call()`` after each change. The returned function ends this."""
        self._listeners.append(call)
        return lambda: self._listeners.remove(call)

    def _set(self, visitor: str, student: Student) -> Student:
        self._students[visitor] = student
        for call in tuple(self._listeners):
            call()
        return student


def new_answers(student: Student, session: Session) -> tuple[list[Constraint], list[Choice]]:
    """Return the answers of a student that a session does not have, under any of their names."""

    def keys(given: tuple[Constraint, ...]) -> list[tuple[frozenset[int], object]]:
        return [(frozenset(c.group), frozenset(c.outsiders) or c.apart) for c in given]

    theirs = tuple(c for c in session.constraints if c.author in student.used_names)
    known = set(keys(theirs))
    chosen = {(c.question, c.items) for c in session.choices if c.author in student.used_names}
    constraints = [
        each
        for key, each in zip(keys(student.constraints), student.constraints, strict=True)
        if key not in known
    ]
    return constraints, [c for c in student.choices if (c.question, c.items) not in chosen]


def pairwise_agreement(
    students: tuple[Student, ...],
) -> dict[tuple[int, int], ExpertAgreement]:
    """Return the agreement of each two students, by their numbers.

    Pairs whose answers did not change are cached.
    """
    return {
        (a.number, b.number): agreement_between(a.name, a.constraints, b.name, b.constraints)
        for k, a in enumerate(students)
        for b in students[k + 1 :]
    }


def shares_with_class(
    students: tuple[Student, ...], pairs: dict[tuple[int, int], ExpertAgreement]
) -> dict[int, float | None]:
    """Return for each student the agreement with all others together; None if nothing is shared."""
    found: dict[int, float | None] = {}
    for each in students:
        theirs = [pair for numbers, pair in pairs.items() if each.number in numbers]
        alike = sum(pair.n_agreeing for pair in theirs)
        decided = alike + sum(pair.n_contradicting for pair in theirs)
        found[each.number] = alike / decided if decided else None
    return found


__all__ = [
    "ClassView",
    "Classroom",
    "Student",
    "new_answers",
    "pairwise_agreement",
    "shares_with_class",
]
