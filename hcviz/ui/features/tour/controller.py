"""``TourController``: begins, leaves and resumes the tour, and goes on when a step is done.

The browser keeps the step, so that a person can resume the tour after a reload.
"""

from __future__ import annotations

from typing import Any

from hcviz.session.draft import Draft
from hcviz.ui.app.sheets import TREE
from hcviz.ui.features.tour.model import facts, facts_depend_on
from hcviz.ui.features.tour.steps import Tour
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.store import Store

ACTS = Acts()


class TourController(Controls):
    """Handles the tour of one store."""

    ACTS = ACTS

    def __init__(self, store: Store) -> None:
        self.store = store
        store.subscribe(facts_depend_on, lambda _: self._facts_changed())

    @ACTS.on("start")
    def start(self, at: int) -> None:
        """Begin at a step, by its index. The steps are about the tree, so that it is shown."""
        self._change(Tour().go_to(at, facts(self.store)), sheet=TREE)

    @ACTS.on("next")
    def _next(self) -> None:
        self._go(1)

    @ACTS.on("back")
    def _back(self) -> None:
        self._go(-1)

    @ACTS.on("leave")
    def _leave(self) -> None:
        self.store.change_view(tour=None)

    @ACTS.on("finish")
    def _finish(self) -> None:
        self.store.change_view(
            tour=None, message="This was the tour. File, Tour of the page, shows it again."
        )

    def _go(self, by: int) -> None:
        tour = self.store.view.tour
        if tour is not None:
            after = tour.go_to(tour.at + by, facts(self.store))
            changes = {"draft": Draft()} if tour.step.drafts and by < 0 else {}
            self._change(after, **changes)

    def _facts_changed(self) -> None:
        tour = self.store.view.tour
        if tour is not None and (after := tour.after(facts(self.store))) is not tour:
            self._change(after)

    def _change(self, tour: Tour, **changes: Any) -> None:
        """Show a step. If it needs a draft, one is begun with the selected items."""
        view = self.store.view
        if tour.step.drafts and not view.draft.open and self.store.session.snapshot is not None:
            changes["draft"] = Draft().begin_together(view.selection)
        self.store.change_view(tour=tour, **changes)


__all__ = ["ACTS", "TourController"]
