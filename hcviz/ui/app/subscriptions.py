"""Subscribe views to the store, with a limited rate while a run returns trees."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from hcviz.ui.state.store import Store
from hcviz.ui.state.subscribers import same

#: Seconds between two updates of a run's numbers.
LIVE = 0.15
#: Seconds between two updates of what takes longer to draw: sheets and the inspector's sections.
SLOW = 0.5


def everything(store: Store) -> Any:
    """Return what most parts depend on."""
    return (store.session, store.view, store.dataset)


def draw(
    store: Store,
    part: Any,
    name: str,
    state: Callable[[Store], dict[str, Any]],
    interval: float = 0.0,
    depends_on: Callable[[Store], Any] = everything,
) -> None:
    """Set the attribute ``name`` of a part to ``state(store)`` when ``depends_on(store)`` changes.

    See :func:`watch` for ``interval``.
    """

    def changed(_: Any) -> None:
        now = state(store)
        if getattr(part, name) != now:
            setattr(part, name, now)

    watch(store, depends_on, changed, interval)


def watch(
    store: Store, select: Callable[[Store], Any], call: Callable[[Any], None], interval: float
) -> None:
    """Call ``call(slice)`` now and when ``select(store)`` changes.

    While a run returns trees and nothing else changes, there are ``interval`` seconds or more
    between two calls. The state after the end of a run is always shown.
    """
    shown: Any = object()
    state: Any = None
    last = 0.0

    def is_due() -> bool:
        return not store.is_streaming or time.monotonic() - last >= interval

    def with_due(_: Store) -> Any:
        now = select(store)
        return now, is_due() and not same(shown, now)

    def update(selected: Any) -> None:
        nonlocal state, shown, last
        now, _ = selected
        before = state
        state = (store.session.run, store.is_streaming, len(store.session.log), store.view)
        if same(shown, now) or (state == before and not is_due()):
            return
        shown, last = now, time.monotonic()
        call(now)

    store.subscribe(with_due, update)
