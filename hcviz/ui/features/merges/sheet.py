"""The sheet Merges: a linkage merge by merge, with the distances beside the tree."""

from __future__ import annotations

from hcviz.ui.features.merges import model
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.sheet import Sheet, sheet_part

ACTS = Acts()


@ACTS.on("go")
def _go(actions: Actions, to: int) -> None:
    """Show this number of merges, the last one marked; a lesson has its own buttons."""
    store = actions.store
    count = len(model.steps_of(store)) if model.has_merges(store) else 0
    if store.view.playing is None and count:
        to = max(0, min(count, to))
        store.change_view(merges=to, marks_merge=to > 0)


SHEET = Sheet(
    name="merges",
    title="Merges",
    summary="The merges of the linkage one by one, with the distances between the clusters",
    make=sheet_part(__file__),
    state=model.state,
    depends_on=model.depends_on,
    has_tab=model.has_merges,
    acts=ACTS,
)
