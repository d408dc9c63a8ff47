"""``how_made``: the caption of a saved picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hcviz.algorithms import get
from hcviz.ui.state.store import Store


def how_made(store: Store) -> str:
    """Return the method, what it compared, the number of constraints, and the seed."""
    session = store.session
    info = get(session.method).info(store.problem, session.params, session.seed)
    count = len(session.enabled)
    return str(replace(info, constraints={"constraints": count} if count else {}))


def how_made_depends_on(store: Store) -> Any:
    """Return what :func:`how_made` reads; undo may change it without a run."""
    session = store.session
    return (session.data, session.method, session.params, session.seed, session.constraints)


__all__ = ["how_made", "how_made_depends_on"]
