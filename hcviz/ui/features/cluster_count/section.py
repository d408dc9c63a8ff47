"""The section How many clusters: a curve of quality against k, from which a person chooses k.

It is shown for methods that declare such a curve (:attr:`hcviz.algorithms.base.Algorithm.curve`).
"""

from __future__ import annotations

from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.declared_parts import ClusterCurve
from hcviz.core.snapshot import Series
from hcviz.session import actions as act
from hcviz.session.model import Checkpoint, Session
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.section import Section
from hcviz.ui.state.store import Store

ACTS = Acts()


def cluster_curve(session: Session) -> Series | None:
    """Return the curve of the tree shown; None if there is none.

    A run with a chosen k has no curve. Then an earlier run with the same data and answers is used.
    """
    declared = get_algorithm(session.method).curve
    if declared is None:
        return None
    moments: tuple[Session | Checkpoint, ...] = (session, *reversed(session.past))
    for moment in moments:
        if not _same_inputs(moment, session, declared.depends):
            return None
        view = None if moment.snapshot is None else moment.snapshot.views.get(declared.view)
        if isinstance(view, Series):
            return view
    return None


def _declared_curve(session: Session) -> ClusterCurve:
    """Return the curve that the method in use declares, which it must do."""
    declared = get_algorithm(session.method).curve
    assert declared is not None
    return declared


def _same_inputs(moment: Session | Checkpoint, session: Session, depends: tuple[str, ...]) -> bool:
    return (
        moment.data == session.data
        and moment.labels == session.labels
        and moment.choices == session.choices
        and all(moment.params.get(name) == session.params.get(name) for name in depends)
    )


def state(store: Store) -> dict[str, Any] | None:
    session = store.session
    found = cluster_curve(session)
    if found is None or session.snapshot is None:
        return None
    ks = [int(k) for k in found.x]
    thetas = [float(value) for value in found.y]
    best = ks[thetas.index(max(thetas))]
    shown = session.snapshot.metrics.get("k")
    taken = None if shown is None else int(shown)
    own = bool(session.params.get(_declared_curve(session).parameter))
    sentence = f"From {ks[0]} to {ks[-1]} clusters, {best} are the clearest."
    if own and taken is not None:
        sentence += f" You chose {taken}."
    return {
        "points": [[k, value] for k, value in zip(ks, thetas, strict=True)],
        "best": best,
        "shown": taken,
        "own": own,
        "sentence": sentence,
        "quality": _declared_curve(session).quality,
    }


@ACTS.on("k")
def _set_count(actions: Actions, value: int) -> None:
    """Set the number of clusters, if it is on the curve."""
    found = cluster_curve(actions.store.session)
    if found is not None and value in [int(k) for k in found.x]:
        _set_parameter(actions.store, value)


@ACTS.on("estimate")
def _estimate_count(actions: Actions) -> None:
    if cluster_curve(actions.store.session) is not None:
        _set_parameter(actions.store, 0)


def _set_parameter(store: Store, value: int) -> None:
    store.dispatch(act.SetParams({_declared_curve(store.session).parameter: value}))


SECTION = Section(
    name="clusters",
    state=state,
    depends_on=lambda s: (s.session.snapshot, s.session.params, s.session.method, s.session.past),
    acts=ACTS,
)
