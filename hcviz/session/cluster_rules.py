"""The rule of clusters that are chosen by hand. It starts no run, and no run changes them."""

from __future__ import annotations

from dataclasses import replace

from hcviz.session.actions import ChooseClusters
from hcviz.session.chosen_clusters import check_clusters
from hcviz.session.history import UpdateResult, add_undo_step
from hcviz.session.model import Session
from hcviz.session.runs import announce, no_change


def choose(session: Session, action: ChooseClusters) -> UpdateResult:
    """Set the clusters, or leave them to a cut of the tree again."""
    chosen = action.clusters
    check_clusters(chosen, session.n_items)
    if chosen == session.chosen_clusters:
        return no_change(session)
    if chosen is None:
        text = "The clusters chosen by hand are replaced by a cut. Undo brings them back."
    else:
        text = f"{chosen.count:,} clusters, chosen by hand."
    text = action.note or text
    return announce(replace(add_undo_step(session, text.rstrip(".")), chosen_clusters=chosen), text)


__all__ = ["choose"]
