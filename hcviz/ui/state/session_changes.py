"""What a changed session means for the view state, and a restored one for its methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.session.draft import Draft
from hcviz.session.model import Session
from hcviz.ui.state.saved_look import ALL
from hcviz.ui.state.view_state import ViewState

#: The view state in which nothing refers to items of the tree.
NOTHING_MARKED: dict[str, Any] = {
    "selection": (), "draft": Draft(), "clusters": None, "n_clusters": 0, "cut": None, "level": ALL,
}  # fmt: skip


def view_after(view: ViewState, before: Session, after: Session) -> ViewState:
    """Return the view state without what the new session makes invalid."""
    if after.labels != before.labels:
        few = min(before.n_items, after.n_items)
        if not few or after.labels[:few] != before.labels[:few]:
            view = replace(view, **NOTHING_MARKED, new_items=None)
        else:  # items were added at the end, or this was undone
            view = replace(view, selection=(), draft=Draft())
        view = replace(view, three=(), offered_version=None)
    if after.method != before.method:
        view = replace(view, faults=())
    if after.conflict is not before.conflict:
        view = replace(view, pointed_items=None)
    return view


def with_registered_modes(session: Session) -> Session:
    """Return the session with its methods' present ways to treat constraints, in all its steps.

    In an earlier version the linkages ignored constraints.
    """

    def with_registered_mode(each: Any) -> Any:
        if each.constraint_mode != "ignored":
            return each
        return replace(
            each, constraint_mode=get_algorithm(each.method).constraint_mode(each.params)
        )

    past, future = (
        tuple(map(with_registered_mode, steps)) for steps in (session.past, session.future)
    )
    present: Session = with_registered_mode(session)
    return replace(present, past=past, future=future)


__all__ = ["NOTHING_MARKED", "view_after", "with_registered_modes"]
