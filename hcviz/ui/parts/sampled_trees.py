"""Values that sheets compute from the sampled trees: cached, and updated at a limited rate."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from hcviz.posterior import Posterior
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.state.store import Store

#: Messages that all these sheets have.
ACTS = Acts()

#: Seconds between two updates while a run adds sampled trees.
REDRAW_SECONDS = 1.5
NO_SAMPLED_TREE = "No tree has been sampled under these answers yet."


@dataclass(frozen=True)
class _Cached:
    """A computed value, with what it was computed from and when."""

    posterior: Posterior
    options: tuple[Any, ...]
    labels: tuple[str, ...]
    time: float
    value: Any


class SampledTreesCache:
    """Caches one value for each store, computed from the sampled trees.

    The value is computed again when there is a new posterior, or with other options. During a run
    this happens at most every ``REDRAW_SECONDS``. After a change of the constraints, the old value
    is returned until there is a sampled tree under the new ones.

    Parameters
    ----------
    compute : callable
        ``compute(posterior, options, before)`` returns the value. ``before`` is the last value for
        the same items, or None; a view can use it to change as little as possible.
    """

    def __init__(self, compute: Callable[[Posterior, tuple[Any, ...], Any], Any]) -> None:
        self._compute = compute
        self._cached: WeakKeyDictionary[Store, _Cached] = WeakKeyDictionary()

    def get(self, store: Store, *options: Any) -> Any:
        """Return the value for the sampled trees of ``store``; None if there are none yet."""
        samples, labels = store.samples, store.session.labels
        known = self._cached.get(store)
        if known is not None and known.labels != labels:
            known = None
        if samples is None:
            return None
        running = store.session.status == "sampling" and not store.view.paused
        usable = known is not None and known.options == options and running
        if known is not None and usable and time.monotonic() - known.time < REDRAW_SECONDS:
            return known.value
        with samples.open() as posterior:
            if posterior is None:
                return known.value if known is not None and usable else None
            if known is None or known.posterior is not posterior or known.options != options:
                value = self._compute(posterior, options, None if known is None else known.value)
                known = _Cached(posterior, options, labels, time.monotonic(), value)
                self._cached[store] = known
        return known.value


def unavailable_because(store: Store) -> str:
    """Return a sentence that says why there are no sampled trees to draw; "" if there are."""
    if store.session.snapshot is None:
        return "No tree yet."
    return "" if store.samples is not None else "Only of trees that are sampled."


def depends_on(store: Store) -> tuple[Any, ...]:
    """Return what a view of the sampled trees depends on."""
    return (store.samples, store.session.snapshot, store.session.status, store.view.paused)


def live(store: Store) -> dict[str, Any]:
    """Return the part of the state that changes at every click."""
    return {"selection": list(store.view.selection)}


@ACTS.on("take")
def _select(actions: Actions, items: Sequence[int]) -> None:
    """Select the items, if they exist."""
    if items and min(items) >= 0 and max(items) < len(actions.store.session.labels):
        actions.select_items(tuple(items))


@ACTS.on("heights")
def _set_heights(actions: Actions, value: str) -> None:
    if value in ("true", "even"):
        actions.store.change_view(heights=value)
