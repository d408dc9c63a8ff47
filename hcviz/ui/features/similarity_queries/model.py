"""Which similarities a method queried for the tree on the screen, and how many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core import query_counts
from hcviz.core.snapshot import Mask, Snapshot
from hcviz.core.tree import Tree
from hcviz.session.model import Checkpoint, Session
from hcviz.ui.state.store import Store

#: Items whose pairs are counted during a run, at most; this takes 15 ms.
MAX_COUNTED = 5_000
#: Metrics of a run that :func:`query_count` reads.
QUERY_METRICS = ("queries", "share", "repair")


def queries_similarities(store: Store) -> bool:
    """Return True if the method in use queries only some of the similarities."""
    return get_algorithm(store.session.method).sampled_division is not None


def snapshot_mask(snapshot: Snapshot | None) -> Mask | None:
    """Return the queried pairs of a snapshot, if it has them and they are of its items."""
    if snapshot is None:
        return None
    view = next((each for each in snapshot.views.values() if isinstance(each, Mask)), None)
    if view is None:
        return None
    n = snapshot.tree.n_leaves
    fits = all(items.max(initial=-1) < n for items in (view.rows, view.cols))
    return view if fits else None


def heatmap_mask(store: Store) -> Mask | None:
    """Return the queried pairs, by which the heatmap is darkened; None if it is not."""
    return snapshot_mask(store.session.snapshot) if store.view.query_mask else None


@dataclass(frozen=True)
class QueryCount:
    """How many similarities were queried.

    Parameters
    ----------
    pairs : int
        Distinct pairs.
    share : float
        Share of all pairs.
    second : int
        Similarities that were queried to check the place of an item.
    last : bool
        The run has finished.
    """

    pairs: int
    share: float
    second: int
    last: bool


def query_count(snapshot: Snapshot | None) -> QueryCount | None:
    """Return how many similarities were queried.

    None if it is unknown: during a run with many items, or for a method that does not query.
    """
    if snapshot is None or "repair" not in snapshot.metrics:
        return None
    second, n = int(snapshot.metrics["repair"]), snapshot.tree.n_leaves
    if "queries" in snapshot.metrics:
        metrics = snapshot.metrics
        return QueryCount(int(metrics["queries"]), float(metrics["share"]), second, True)
    view = snapshot_mask(snapshot)
    if view is None or n > MAX_COUNTED:
        return None
    pairs = query_counts.count_pairs(view, n)
    return QueryCount(pairs, pairs / max(1, n * (n - 1) // 2), second, False)


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """A finished run: its parameters, its number of queries, and its tree."""

    method: str
    params: dict[str, Any]
    count: QueryCount
    tree: Tree
    present: bool


def finished_runs(session: Session) -> list[FinishedRun]:
    """Return the finished runs of the session on the present data, by methods that query.

    They are taken from the undo stack, the present state and the redo stack. Each run occurs once.
    """
    moments: list[Session | Checkpoint] = [session, *reversed(session.past), *session.future]
    return list(_each_once(moments, session))


def _each_once(moments: list[Session | Checkpoint], session: Session) -> Iterator[FinishedRun]:
    seen: list[Tree] = []
    for moment in moments:
        same = moment.data == session.data and moment.labels == session.labels
        snapshot = moment.snapshot
        if snapshot is None or "queries" not in snapshot.metrics:  # the run did not finish
            continue
        queries = get_algorithm(moment.method).sampled_division is not None
        found = query_count(snapshot) if same and queries else None
        if found is None:
            continue
        if any(snapshot.tree is tree for tree in seen):
            continue
        seen.append(snapshot.tree)
        yield FinishedRun(
            moment.method, dict(moment.params), found, snapshot.tree, moment is session
        )
