"""The messages of the constraints panel, with those of the conflict card in it."""

from __future__ import annotations

from hcviz.core.errors import InvalidConstraint
from hcviz.session import actions as act
from hcviz.session.draft import Draft
from hcviz.ui.features.conflicts.controller import ACTS as CONFLICT_ACTS
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.parts.messages import Acts

ACTS = Acts(CONFLICT_ACTS)


# ---------------------------------------------------------------------- the draft


@ACTS.on("gesture")
def _begin(gestures: Gestures, mode: str) -> None:
    gestures.begin(mode)


@ACTS.on("group")
def _state_group(gestures: Gestures) -> None:
    gestures.state_group()


@ACTS.on("not-group")
def _state_not_group(gestures: Gestures) -> None:
    gestures.state_group(is_group=False)


@ACTS.on("apply")
def _apply(gestures: Gestures) -> None:
    gestures.apply()


@ACTS.on("clear")
def _clear(gestures: Gestures) -> None:
    gestures.store.change_view(draft=Draft())


@ACTS.on("take-back")
def _take_back(gestures: Gestures, item: int) -> None:
    gestures.store.change_view(draft=gestures.store.view.draft.without(item))


@ACTS.on("keep-constraints")
def _keep_constraints(gestures: Gestures) -> None:
    switch = constraints_model.switch_method_action(gestures.store)
    if switch is not None:
        gestures.store.dispatch(switch)


# ---------------------------------------------------------------------- the list


@ACTS.on("show")
def _show(gestures: Gestures, id: int) -> None:
    found = gestures.store.session.find(id)
    if found is not None:
        gestures.store.change_view(selection=found.named)
        gestures.reveal(found.named)


@ACTS.on("enable")
def _enable(gestures: Gestures, id: int, value: bool) -> None:
    gestures.store.dispatch(act.EnableConstraint(id) if value else act.DisableConstraint(id))
    _show_fields(gestures)


@ACTS.on("delete")
def _delete(gestures: Gestures, id: int) -> None:
    gestures.store.dispatch(act.DeleteConstraint(id))


@ACTS.on("note")
def _note(gestures: Gestures, id: int, value: str) -> None:
    gestures.store.dispatch(act.EditConstraint(id, note=value))


@ACTS.on("weight")
def _weigh(gestures: Gestures, id: int, value: str) -> None:
    with gestures.store.guarded():
        gestures.store.dispatch(act.EditConstraint(id, weight=_weight(value)))
    _show_fields(gestures)


# ---------------------------------------------------------------------- authors


@ACTS.on("author")
def _set_author(gestures: Gestures, value: str) -> None:
    gestures.store.dispatch(act.SetAuthor(value))
    _show_fields(gestures)


@ACTS.on("expert")
def _enable_author(gestures: Gestures, name: str, value: bool) -> None:
    gestures.store.dispatch(act.EnableAuthor(name, value))
    _show_fields(gestures)


@ACTS.on("expert-weight")
def _weigh_author(gestures: Gestures, name: str, value: str) -> None:
    with gestures.store.guarded():
        gestures.store.dispatch(act.SetAuthorWeight(name, _weight(value)))
    _show_fields(gestures)


def _show_fields(gestures: Gestures) -> None:
    """Draw the fields again: the value of one may have been refused, and the state the same."""
    store = gestures.store
    store.change_view(n_redraws=store.view.n_redraws + 1)


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidConstraint(f"A weight must be a positive number, not {text!r}.") from None
