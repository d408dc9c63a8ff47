"""The choice of the number of clusters: its quality by k, where a click takes another k.

For a method that declares such a curve (:attr:`hcviz.algorithms.base.Algorithm.curve`).
"""

from __future__ import annotations

from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.base import ClusterCurve
from hcviz.core.snapshot import Series
from hcviz.session import actions as act
from hcviz.session.model import Checkpoint, Session
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.section import Section
from hcviz.ui.state.store import Store


def curve(session: Session) -> Series | None:
    """The declared curve of the tree shown or, where k was then taken from it, of the run before.

    Looked for in the undo stack as long as the data and answers there are the present ones.
    """
    declared = get_algorithm(session.method).curve
    if declared is None:
        return None
    moments: tuple[Session | Checkpoint, ...] = (session, *reversed(session.past))
    for moment in moments:
        if not _about_the_same(moment, session, declared.depends):
            return None
        view = None if moment.snapshot is None else moment.snapshot.views.get(declared.view)
        if isinstance(view, Series):
            return view
    return None


def _declared(session: Session) -> ClusterCurve:
    """The curve that the method in use declares; only where it does."""
    declared = get_algorithm(session.method).curve
    assert declared is not None
    return declared


def _about_the_same(
    moment: Session | Checkpoint, session: Session, depends: tuple[str, ...]
) -> bool:
    return (
        moment.data == session.data
        and moment.labels == session.labels
        and moment.choices == session.choices
        and all(moment.params.get(name) == session.params.get(name) for name in depends)
    )


def picture(store: Store) -> dict[str, Any] | None:
    session = store.session
    found = curve(session)
    if found is None or session.snapshot is None:
        return None
    ks = [int(k) for k in found.x]
    thetas = [float(value) for value in found.y]
    best = ks[thetas.index(max(thetas))]
    shown = session.snapshot.metrics.get("k")
    taken = None if shown is None else int(shown)
    own = bool(session.params.get(_declared(session).parameter))
    said = f"Of {ks[0]} to {ks[-1]} clusters, {best} stand out most clearly."
    if own and taken is not None:
        said += f" Shown: {taken}, by your choice."
    return {
        "points": [[k, value] for k, value in zip(ks, thetas, strict=True)],
        "best": best,
        "shown": taken,
        "own": own,
        "said": said,
        "quality": _declared(session).quality,
    }


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    store = actions.store
    found = curve(store.session)
    if found is None:
        return
    if name == "k" and more.get("value") in [int(k) for k in found.x]:
        store.dispatch(act.SetParams({_declared(store.session).parameter: int(more["value"])}))
    elif name == "estimate":
        store.dispatch(act.SetParams({_declared(store.session).parameter: 0}))


SECTION = Section(
    name="spur",
    picture=picture,
    sees=lambda s: (s.session.snapshot, s.session.params, s.session.method, s.session.past),
    act=_act,
)
