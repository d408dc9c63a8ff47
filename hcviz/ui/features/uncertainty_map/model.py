"""The uncertainty heatmap: how much the depth of the LCA of two items varies among sampled trees.

The values are computed in a thread. A kernel releases the GIL, so that the page goes on meanwhile.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from hcviz.jobs import Samples
from hcviz.posterior import Posterior, depth_moments
from hcviz.posterior.thinned_trees import MAX_MATRIX
from hcviz.ui.state.store import Store
from hcviz.ui.tree.heatmap_cells import HeatmapCells, uncertainty_cells

log = logging.getLogger("hcviz")

#: Time between two updates during a run: seconds, at least; and a multiple of the time of the last
#: one, at least.
MIN_SECONDS, TIMES_AS_LONG = 2.0, 4.0

UNCERTAINTY = "uncertainty"


def unavailable_because(store: Store) -> str:
    """Return a sentence that says why the heatmap is not available, "" if it is."""
    if store.samples is None:
        return "Only of trees that are sampled."
    if len(store.session.labels) > MAX_MATRIX:
        return f"Only of {MAX_MATRIX:,} items or fewer."
    return ""


def shown_matrix(store: Store) -> str:
    """Return the heatmap that is shown: the chosen one if it is available, else the similarity."""
    asked = store.view.matrix
    return "similarity" if asked == UNCERTAINTY and unavailable_because(store) else asked


def depends_on(store: Store) -> Any:
    """Return what the heatmap depends on; a constant if another heatmap is shown."""
    if shown_matrix(store) != UNCERTAINTY:
        return (None,)
    return (store.samples, store.session.snapshot, store.session.status, store.view.paused)


class UncertaintyMap:
    """Computes the uncertainty heatmap of one store.

    Parameters
    ----------
    store : Store
    schedule : callable
        ``schedule(callback)`` calls ``callback`` on the document's thread.
    show : callable
        ``show(cells)`` draws new values. It is called on the document's thread.
    """

    def __init__(
        self,
        store: Store,
        schedule: Callable[[Callable[[], None]], None],
        show: Callable[[HeatmapCells], None],
    ) -> None:
        self._store, self._schedule, self._show = store, schedule, show
        self.busy = False
        #: The samples of the values shown, and their posterior.
        self._made: tuple[Samples | None, Posterior | None] = (None, None)
        self._next = 0.0  # during a run, no update before this time

    def recompute(self) -> None:
        """Compute the values again, although the sampled trees are the same."""
        self._made = (None, None)
        self.update()

    def update(self) -> None:
        """Begin an update if the heatmap is shown, there are new trees, and it is time."""
        store = self._store
        samples = store.samples
        if self.busy or samples is None or shown_matrix(store) != UNCERTAINTY:
            return
        if store.is_streaming and self._made[0] is samples and time.monotonic() < self._next:
            return
        with samples.open() as posterior:
            if posterior is None or self._made[1] is posterior:
                return
            shapes = posterior.shapes()
        self.busy = True
        threading.Thread(
            target=self._compute,
            args=(samples, posterior, shapes),
            name="hcviz-uncertainty",
            daemon=True,
        ).start()

    def _compute(self, samples: Samples, posterior: Posterior, shapes: Any) -> None:
        """Compute the values. Runs in a thread, and does not use the page's objects."""
        begin = time.monotonic()
        try:
            cells = uncertainty_cells(depth_moments(*shapes)[1])
        except Exception:
            log.exception("The uncertainty could not be computed.")
            self._schedule(lambda: self._finish(None, (samples, posterior), begin))
            return
        self._schedule(lambda: self._finish(cells, (samples, posterior), begin))

    def _finish(
        self, cells: HeatmapCells | None, made: tuple[Samples, Posterior], begin: float
    ) -> None:
        now = time.monotonic()
        self.busy, self._made, self._next = (
            False,
            made,
            now + max(MIN_SECONDS, TIMES_AS_LONG * (now - begin)),
        )
        if cells is not None and len(self._store.session.labels) == cells.width:
            self._show(cells)
        self.update()
