"""What sheets draw of the sampled trees: computed once for as many as there are, at a calm pace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from hcviz.jobs import Samples
from hcviz.posterior import Posterior
from hcviz.ui.parts.actions import Actions
from hcviz.ui.state.store import Store

#: Seconds between two pictures while more trees come.
PACE = 1.5
NONE_YET = "No tree has been sampled under these answers yet."


@dataclass(frozen=True)
class _Known:
    samples: Samples
    trees: int
    how: tuple[Any, ...]
    labels: tuple[str, ...]
    made: float
    value: Any


class Calm:
    """``make(posterior, how, before)`` for a store, kept until its trees or ``how`` are others.

    ``before`` is what was made last of the same items, so that a picture can stay near to it; None
    at first. While a run goes on it is made anew every ``PACE`` seconds at most, and what was made
    of earlier answers stands until there is a tree under the new ones.
    """

    def __init__(self, make: Callable[[Posterior, tuple[Any, ...], Any], Any]) -> None:
        self._make = make
        self._known: WeakKeyDictionary[Store, _Known] = WeakKeyDictionary()

    def of(self, store: Store, *how: Any) -> Any:
        """What is made of ``store``'s samples; None where nothing is sampled yet."""
        samples, labels = store.samples, store.session.labels
        known = self._known.get(store)
        if known is not None and known.labels != labels:
            known = None
        if samples is None:
            return None
        busy = store.session.status == "sampling" and not store.view.paused
        now = time.monotonic()
        if known is not None and known.how == how and busy and now - known.made < PACE:
            return known.value
        with samples.open() as posterior:
            if posterior is None:
                return known.value if known is not None and known.how == how and busy else None
            trees = len(posterior)
            same = known is not None and (known.samples, known.trees, known.how) == (
                samples,
                trees,
                how,
            )
            if known is None or not same:
                value = self._make(posterior, how, None if known is None else known.value)
                known = _Known(samples, trees, how, labels, time.monotonic(), value)
                self._known[store] = known
        return known.value


def lacks(store: Store) -> str:
    """Why there are no sampled trees to draw."""
    if store.session.snapshot is None:
        return "No tree yet."
    return "" if store.samples is not None else "Only of trees that are sampled."


def sees(store: Store) -> tuple[Any, ...]:
    """What a picture of the sampled trees depends on."""
    return (store.samples, store.session.snapshot, store.session.status, store.view.paused)


def live(store: Store) -> dict[str, Any]:
    """What changes at every click."""
    return {"selection": list(store.view.selection)}


def act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    """What can be done on each of them: take items, choose how high clades are drawn."""
    if name == "take":
        _take(actions, more)
    elif name == "heights" and more.get("value") in ("true", "even"):
        actions.store.look(heights=more["value"])


def _take(actions: Actions, more: dict[str, Any]) -> None:
    """A click that says which items it takes."""
    n = len(actions.store.session.labels)
    items = tuple(int(item) for item in more.get("items", ()))
    if items and min(items) >= 0 and max(items) < n:
        actions.take(items)
