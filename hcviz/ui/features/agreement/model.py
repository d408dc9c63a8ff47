"""Other methods' clusters of the present data, made behind the scenes, to see how they agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.problem import Problem, SimilarityOracle
from hcviz.core.snapshot import Snapshot
from hcviz.jobs import Behind
from hcviz.session.model import Session
from hcviz.ui.state import default_method as choosing
from hcviz.ui.state.store import Store
from hcviz.ui.state.view_state import Agreed

#: No more than so many by default.
MOST = 8
#: A method that needs longer (s) is stopped; the last tree it gave counts, if it gave one.
LIMIT = 60.0
#: Results kept.
KEPT = 64

Key = tuple[Any, ...]


def able(problem: Problem) -> list[str]:
    """The methods that can run on the problem."""
    return [each.name for each in choosing.able(problem)]


def usual(problem: Problem) -> tuple[str, ...]:
    """Those of them that are run by default: the ones with a ``compare_order``, in that order.

    Where a similarity is expensive, the methods that query few of them; else the others. Methods
    that read comparisons follow. Comparisons beside other data must be more than n ln n, since
    fewer do not determine a tree.
    """
    methods = [each for each in choosing.able(problem) if each.compare_order is not None]
    methods.sort(key=lambda each: each.compare_order or 0)
    n, known = problem.n_items, problem.comparisons
    oracle = problem.oracle
    alone = problem.similarity is None and problem.features is None
    asks = alone and isinstance(oracle, SimilarityOracle) and not problem.all_at_once
    expensive = asks and getattr(oracle, "dear", True)
    readers = [each.name for each in methods if "comparisons" in each.needs]
    others = [each for each in methods if each.name not in readers]
    wanted = [each.name for each in others if each.subquadratic == expensive]
    if known is not None and (not wanted or len(known) > n * math.log(n)):
        wanted += readers
    return tuple(wanted[:MOST])


def chosen(store: Store) -> tuple[str, ...]:
    """The methods to be compared: the person's choice, as far as they can run, or the usual."""
    picked = store.view.agree_with
    if picked is None:
        return usual(store.problem)
    names = set(able(store.problem))
    return tuple(name for name in picked if name in names)


def clusters(store: Store) -> int:
    """How many clusters are compared: as chosen for it, as coloured, as there are classes, as the
    session's method found; else 4."""
    n = len(store.session.labels)
    view, data, snapshot = store.view, store.dataset, store.session.snapshot
    found = view.agree_k or view.clusters
    if not found and data is not None and data.classes is not None:
        found = len({name for name in data.classes if name is not None})
    if not found and snapshot is not None:
        found = int(snapshot.metrics.get("k", 0))
    return max(1, min(found or 4, n))


def counts(store: Store) -> tuple[int, int, float]:
    """What :func:`clusters` depends on beside the data."""
    snapshot = store.session.snapshot
    found = 0.0 if snapshot is None else snapshot.metrics.get("k", 0.0)
    return (store.view.agree_k, store.view.clusters or 0, found)


def key(session: Session, name: str, k: int) -> Key:
    """What a method's tree depends on, and its own partition into k clusters if it makes one."""
    said = (session.triplets.rows.tobytes(), session.triplets.weights.tobytes(), session.choices)
    own = k if get_algorithm(name).at_k is not None else 0
    given = repr(sorted(_params(session, name).items()))
    return (name, session.data, session.seed, given, own, *said)


def _params(session: Session, name: str) -> Mapping[str, Any]:
    return session.params if name == session.method else session.other_params.get(name, {})


def _own(session: Session, k: int) -> Agreed | None:
    """What the session's own run says of k clusters; None if it is not over, or is of another k."""
    snapshot = session.snapshot
    if session.status != "settled" or snapshot is None:
        return None
    if get_algorithm(session.method).at_k is None:
        return Agreed(snapshot.tree)
    if snapshot.labels is None or snapshot.metrics.get("k") != k:
        return None
    return Agreed(snapshot.tree, snapshot.labels)


class Agreeing:
    """Runs the chosen methods one by one, only while the store's own job rests.

    ``store.view.agreed`` are the results so far, by method; ``store.view.agreeing`` the method at
    work, or "". What was made is kept: a method is run again only when something it sees changed.
    """

    def __init__(self, store: Store, schedule: Callable[[Callable[[], None]], None]) -> None:
        self._store = store
        self._behind = Behind(schedule)
        self._at: Key | None = None
        self._known: dict[Key, Agreed] = {}
        self._about: Any = None
        store.subscribe(
            lambda s: (
                s.session.data, s.session.labels, s.session.seed, s.session.status,
                s.session.constraints, s.session.choices, s.session.method, s.session.params,
                s.view.agree_with, s.view.agree_wanted, counts(s),
            ),
            lambda _: self._next(),
        )  # fmt: skip

    def close(self) -> None:
        self._behind.close()
        self._at = None

    def _next(self) -> None:
        """Show what is known; start the next that is not, if it is wanted and the job rests."""
        store = self._store
        session = store.session
        if store.dataset is None or store.dataset.labels != session.labels:
            return
        if self._about != session.labels:  # other items: nobody asked for these
            self._about = session.labels
            self.close()
            if store.view.agree_wanted or store.view.agree_with is not None:
                store.look(agree_wanted=False, agree_with=None)
                return
        names = chosen(store)
        k = clusters(store)
        keys = {name: key(session, name, k) for name in names}
        own = _own(session, k) if session.method in keys else None
        if own is not None:
            before = self._known.get(keys[session.method])
            if before is None or before.tree is not own.tree:
                self._known[keys[session.method]] = own
        if self._at is not None and (not store.view.agree_wanted or self._at not in keys.values()):
            self.close()
        found = {name: self._known[at] for name, at in keys.items() if at in self._known}
        wanted = next((name for name in names if name not in found), None)
        rests = session.status not in ("idle", "sampling")
        if wanted is None and store.view.agree_wanted:
            store.look(agree_wanted=False)
            return
        if self._at is None and store.view.agree_wanted and rests and wanted is not None:
            self._start(wanted, keys[wanted], k)
        working = self._at[0] if self._at is not None else ""
        agreed = tuple(found.items())
        if agreed != store.view.agreed or working != store.view.agreeing:
            store.look(agreed=agreed, agreeing=working)

    def _start(self, name: str, at: Key, k: int) -> None:
        session = self._store.session
        params, at_k = _params(session, name), get_algorithm(name).at_k
        if at_k is not None:
            params = at_k(params, k)

        def done(last: Snapshot | None, fault: HcvizError | None) -> None:
            self._at = None
            tree, labels = (None, None) if last is None else (last.tree, last.labels)
            self._known[at] = Agreed(tree, None if at_k is None else labels, str(fault or ""))
            while len(self._known) > KEPT:
                del self._known[next(iter(self._known))]
            self._next()

        self._at = at
        problem = self._store.problem.with_triplets(session.triplets)
        self._behind.start(name, problem, dict(params), session.seed, done, LIMIT)
