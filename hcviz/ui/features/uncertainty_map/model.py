"""The uncertainty heatmap: how much the depth of two items' LCA varies from tree to tree.

Counted from the sampled trees in a thread of its own, whose kernel lets the page go on; a picture
takes the place of the last one when it is ready.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from hcviz.jobs import Samples
from hcviz.posterior import depth_moments
from hcviz.posterior.summary import MAX_MATRIX
from hcviz.ui.state.store import Store
from hcviz.ui.tree.heatmap_cells import HeatmapCells, uncertainty_cells

log = logging.getLogger("hcviz")

#: Seconds between two pictures while a run goes on, and how many times as long as one took.
PACE, REST = 2.0, 4.0

NAME = "uncertainty"


def lacks(store: Store) -> str:
    """Why there is nothing to see, as a sentence; "" if there is."""
    if store.samples is None:
        return "Only of trees that are sampled."
    if len(store.session.labels) > MAX_MATRIX:
        return f"Only of {MAX_MATRIX:,} items or fewer."
    return ""


def matrix(store: Store) -> str:
    """The heatmap that is shown: the one asked for, or the similarity where that one is not."""
    asked = store.view.matrix
    return "similarity" if asked == NAME and lacks(store) else asked


def sees(store: Store) -> Any:
    """What the picture depends on, while it is looked at; nothing otherwise."""
    if matrix(store) != NAME:
        return (None,)
    return (store.samples, store.session.snapshot, store.session.status, store.view.paused)


class Uncertainty:
    """Keeps one store's picture: ``look()`` when something may have changed; ``show(cells)`` is
    called through ``schedule``, on the document's thread."""

    def __init__(
        self,
        store: Store,
        schedule: Callable[[Callable[[], None]], None],
        show: Callable[[HeatmapCells], None],
    ) -> None:
        self._store, self._schedule, self._show = store, schedule, show
        self._busy = False
        self._made: tuple[Samples | None, int] = (None, 0)  # of what the picture shown is
        self._next = 0.0  # not before, while a run goes on

    def forget(self) -> None:
        """What was shown is gone: count again."""
        self._made = (None, 0)
        self.look()

    def look(self) -> None:
        """Begin another picture, if it is looked at, there are other trees, and it is time."""
        store = self._store
        samples = store.samples
        if self._busy or samples is None or matrix(store) != NAME:
            return
        if not store.still and self._made[0] is samples and time.monotonic() < self._next:
            return
        with samples.open() as posterior:
            if posterior is None or self._made == (samples, len(posterior)):
                return
            trees, shapes = len(posterior), posterior.shapes()
        self._busy = True
        threading.Thread(
            target=self._count, args=(samples, trees, shapes), name="hcviz-uncertainty", daemon=True
        ).start()

    def _count(self, samples: Samples, trees: int, shapes: Any) -> None:
        """On a thread of its own; touches nothing of the page's."""
        begin = time.monotonic()
        try:
            cells = uncertainty_cells(depth_moments(*shapes)[1])
        except Exception:
            log.exception("The uncertainty could not be counted.")
            self._schedule(lambda: self._done(None, (samples, trees), begin))
            return
        self._schedule(lambda: self._done(cells, (samples, trees), begin))

    def _done(self, cells: HeatmapCells | None, made: tuple[Samples, int], begin: float) -> None:
        now = time.monotonic()
        self._busy, self._made, self._next = False, made, now + max(PACE, REST * (now - begin))
        if cells is not None and len(self._store.session.labels) == cells.width:
            self._show(cells)
        self.look()
