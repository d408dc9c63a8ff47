"""What the tree on the screen took to make: which similarities were asked for, and how many."""

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

#: Of more items the pairs are not counted on the way: it takes 15 ms.
COUNTED = 5_000
#: The numbers of a run that :func:`count` tells.
TOLD = ("queries", "share", "repair")


def asks(store: Store) -> bool:
    """Whether the method in use asks for some of the similarities only."""
    return get_algorithm(store.session.method).sampled_division is not None


def of_snapshot(snapshot: Snapshot | None) -> Mask | None:
    """What was asked for, as far as the snapshot tells; not where it came from a file that speaks
    of other items."""
    if snapshot is None:
        return None
    view = next((each for each in snapshot.views.values() if isinstance(each, Mask)), None)
    if view is None:
        return None
    n = snapshot.tree.n_leaves
    fits = all(items.max(initial=-1) < n for items in (view.rows, view.cols))
    return view if fits else None


def mask(store: Store) -> Mask | None:
    """What the heatmap is veiled by; None: by nothing."""
    return of_snapshot(store.session.snapshot) if store.view.veil else None


@dataclass(frozen=True)
class Count:
    """Distinct pairs asked for, their share of all, similarities for second looks, and whether that
    is all."""

    pairs: int
    share: float
    second: int
    last: bool


def count(snapshot: Snapshot | None) -> Count | None:
    """None where it is not known: on the way to a large tree, or where the method does not ask."""
    if snapshot is None or "repair" not in snapshot.metrics:
        return None
    second, n = int(snapshot.metrics["repair"]), snapshot.tree.n_leaves
    if "queries" in snapshot.metrics:
        told = snapshot.metrics
        return Count(int(told["queries"]), float(told["share"]), second, True)
    view = of_snapshot(snapshot)
    if view is None or n > COUNTED:
        return None
    pairs = query_counts.count_pairs(view, n)
    return Count(pairs, pairs / max(1, n * (n - 1) // 2), second, False)


@dataclass(frozen=True, eq=False)
class Trial:
    """A run that came to its end: under which parameters, what it asked for, its tree."""

    method: str
    params: dict[str, Any]
    count: Count
    tree: Tree
    present: bool


def trials(session: Session) -> list[Trial]:
    """The runs of methods that ask, over the present data: of the undo stack, the present one, and
    what was undone; each once, the present one as such."""
    moments: list[Session | Checkpoint] = [session, *reversed(session.past), *session.future]
    return list(_each_once(moments, session))


def _each_once(moments: list[Session | Checkpoint], session: Session) -> Iterator[Trial]:
    seen: list[Tree] = []
    for moment in moments:
        same = moment.data == session.data and moment.labels == session.labels
        snapshot = moment.snapshot
        if snapshot is None or "queries" not in snapshot.metrics:  # it did not come to its end
            continue
        queries = get_algorithm(moment.method).sampled_division is not None
        found = count(snapshot) if same and queries else None
        if found is None:
            continue
        if any(snapshot.tree is tree for tree in seen):
            continue
        seen.append(snapshot.tree)
        yield Trial(moment.method, dict(moment.params), found, snapshot.tree, moment is session)


__all__ = ["Count", "Trial", "asks", "count", "mask", "of_snapshot", "trials"]
