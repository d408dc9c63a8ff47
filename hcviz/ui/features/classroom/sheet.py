"""The sheet Class, on the page of the teacher only."""

from __future__ import annotations

from collections.abc import Sequence

from hcviz.session import actions as act
from hcviz.session.classroom import new_answers
from hcviz.ui.features.classroom import model
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store

ACTS = Acts()


@ACTS.on("merge")
def _merge(actions: Actions, students: Sequence[int]) -> None:
    """Add the new answers of these students to the teacher's session, each with its author."""
    store = actions.store
    room = store.classroom
    if room is None:
        return
    wanted = set(students)
    chosen = [
        each
        for each in room.students
        if each.number in wanted and each.labels == store.session.labels
    ]
    found = [(each.name, *new_answers(each, store.session)) for each in chosen]
    constraints = [c for _, theirs, _ in found for c in theirs]
    if constraints:
        source = found[0][0] if len(found) == 1 else f"{len(found)} students"
        store.dispatch(act.ImportConstraints(tuple(constraints), source=f"{source}: "))
    for name, _, choices in found:
        store.dispatch(*(act.AddChoice(c.question, c.items, name) for c in choices))


def _is_teacher(store: Store) -> bool:
    return store.classroom is not None


def _no_class(store: Store) -> str:
    return "" if _is_teacher(store) else "The page is not a teacher's."


SHEET = Sheet(
    name="class",
    title="Class",
    summary="The answers of your students",
    make=sheet_part(__file__),
    state=model.state,
    depends_on=model.depends_on,
    unavailable_because=_no_class,
    has_tab=_is_teacher,
    acts=ACTS,
)
