"""``how_made``: the caption of a saved picture."""

from __future__ import annotations

from dataclasses import replace

from hcviz.algorithms import get
from hcviz.ui.state.store import Store


def how_made(store: Store) -> str:
    """Return the method, what it compared, the number of constraints, and the seed."""
    session = store.session
    info = get(session.method).info(store.problem, session.params, session.seed)
    count = len(session.enabled)
    return str(replace(info, constraints={"constraints": count} if count else {}))


__all__ = ["how_made"]
