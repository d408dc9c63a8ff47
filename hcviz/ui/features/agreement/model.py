"""``AgreementRuns``: runs other methods on the present data, to compare their clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.oracle_protocols import SimilarityOracle
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.jobs import BackgroundRuns
from hcviz.session.model import Session
from hcviz.ui.features.agreement.agreed import Agreed
from hcviz.ui.state import default_method
from hcviz.ui.state.store import Store

#: Methods that are compared by default, at most.
MAX_METHODS = 8
#: Seconds after which a method is stopped. Its last tree is used, if it has one.
TIMEOUT = 60.0
#: Results that are kept.
MAX_KEPT = 64

Key = tuple[Any, ...]


def runnable_methods(problem: Problem) -> list[str]:
    """Return the names of the methods that can run on the problem."""
    return [each.name for each in default_method.able(problem)]


def default_methods(problem: Problem) -> tuple[str, ...]:
    """Return the names of the methods that are compared by default.

    These are methods with a ``compare_order``, in that order: those that query few similarities if
    a similarity is expensive, else the others. Methods that use comparisons follow. If there are
    other data too, they need more than n ln n comparisons, since fewer do not determine a tree.
    """
    methods = [each for each in default_method.able(problem) if each.compare_order is not None]
    methods.sort(key=lambda each: each.compare_order or 0)
    n, known = problem.n_items, problem.comparisons
    oracle = problem.oracle
    alone = problem.similarity is None and problem.features is None
    expensive = alone and isinstance(oracle, SimilarityOracle) and not problem.all_at_once
    readers = [each.name for each in methods if "comparisons" in each.needs]
    others = [each for each in methods if each.name not in readers]
    wanted = [each.name for each in others if each.subquadratic == expensive]
    if known is not None and (not wanted or len(known) > n * math.log(n)):
        wanted += readers
    return tuple(wanted[:MAX_METHODS])


def chosen_methods(store: Store) -> tuple[str, ...]:
    """Return the methods to compare: the chosen ones that can run, else the default ones."""
    picked = store.view.agree_with
    if picked is None:
        return default_methods(store.problem)
    names = set(runnable_methods(store.problem))
    return tuple(name for name in picked if name in names)


def cluster_count(store: Store) -> int:
    """Return the number of clusters to compare.

    The first of: the number chosen for the comparison, the number of coloured clusters, the number
    of classes, the number that the session's method found, and 4.
    """
    n = len(store.session.labels)
    view, data, snapshot = store.view, store.dataset, store.session.snapshot
    found = view.agree_k or view.clusters
    if not found and data is not None and data.classes is not None:
        found = len({name for name in data.classes if name is not None})
    if not found and snapshot is not None:
        found = int(snapshot.metrics.get("k", 0))
    return max(1, min(found or 4, n))


def cluster_count_inputs(store: Store) -> tuple[int, int, float]:
    """Return what :func:`cluster_count` depends on, apart from the data."""
    snapshot = store.session.snapshot
    found = 0.0 if snapshot is None else snapshot.metrics.get("k", 0.0)
    return (store.view.agree_k, store.view.clusters or 0, found)


def result_key(session: Session, name: str, k: int) -> Key:
    """Return the key of a cached result: all that the result of a method depends on."""
    triplets, groups = session.triplets, session.required_clades
    avoided = session.avoided_clades.rows.tobytes() if get_algorithm(name).avoids_groups else b""
    rows = triplets.rows.tobytes() + groups.rows.tobytes()
    stated = (rows, avoided, triplets.weights.tobytes() + groups.weights.tobytes(), session.choices)
    own = k if get_algorithm(name).at_k is not None else 0
    given = repr(sorted(params_of(session, name).items()))
    return (name, session.data, session.seed, given, own, *stated)


def params_of(session: Session, name: str) -> Mapping[str, Any]:
    """Return the parameters that a method has in the session."""
    return session.params if name == session.method else session.other_params.get(name, {})


def problem_for(store: Store, name: str) -> Problem:
    """Return the session's problem with the constraints that a method can keep."""
    session = store.session
    problem = store.problem.with_triplets(session.triplets)
    problem = problem.with_groups(session.required_clades)
    if get_algorithm(name).avoids_groups:
        problem = problem.with_not_groups(session.avoided_clades)
    return problem


def _session_result(session: Session, k: int) -> Agreed | None:
    """Return the result of the session's run.

    None if the run has not finished, or if it has another number of clusters.
    """
    snapshot = session.snapshot
    if session.status != "settled" or snapshot is None:
        return None
    if get_algorithm(session.method).at_k is None:
        return Agreed(snapshot.tree)
    if snapshot.labels is None or snapshot.metrics.get("k") != k:
        return None
    return Agreed(snapshot.tree, snapshot.labels)


class AgreementRuns:
    """Runs the chosen methods one by one, while the session itself has no run in progress.

    ``store.view.agreed`` holds the results so far, ``store.view.agreeing`` the name of the method
    that runs, or "". Results are cached: a method runs again only if its inputs change.
    """

    def __init__(self, store: Store, schedule: Callable[[Callable[[], None]], None]) -> None:
        self._store = store
        self._background = BackgroundRuns(schedule)
        self._at: Key | None = None
        self._known: dict[Key, Agreed] = {}
        self._about: Any = None
        store.subscribe(
            lambda s: (
                s.session.data, s.session.labels, s.session.seed, s.session.status,
                s.session.constraints, s.session.choices, s.session.method, s.session.params,
                s.view.agree_with, s.view.agree_wanted, cluster_count_inputs(s),
            ),
            lambda _: self._next(),
        )  # fmt: skip

    @property
    def busy(self) -> bool:
        """True while a method runs."""
        return self._background.busy

    def close(self) -> None:
        self._background.close()
        self._at = None

    def _next(self) -> None:
        """Show the results, and start the next method if a person asked for the comparison."""
        store = self._store
        session = store.session
        if store.dataset is None or store.dataset.labels != session.labels:
            return
        if self._about != session.labels:  # other items: a person must ask again
            self._about = session.labels
            self.close()
            if store.view.agree_wanted or store.view.agree_with is not None:
                store.change_view(agree_wanted=False, agree_with=None)
                return
        names = chosen_methods(store)
        k = cluster_count(store)
        keys = {name: result_key(session, name, k) for name in names}
        own = _session_result(session, k) if session.method in keys else None
        if own is not None:
            before = self._known.get(keys[session.method])
            if before is None or before.tree is not own.tree:
                self._known[keys[session.method]] = own
        if self._at is not None and (not store.view.agree_wanted or self._at not in keys.values()):
            self.close()
        found = {name: self._known[at] for name, at in keys.items() if at in self._known}
        wanted = next((name for name in names if name not in found), None)
        is_idle = session.status not in ("idle", "sampling")
        if wanted is None and store.view.agree_wanted:
            store.change_view(agree_wanted=False)
            return
        if self._at is None and store.view.agree_wanted and is_idle and wanted is not None:
            self._start(wanted, keys[wanted], k)
        working = self._at[0] if self._at is not None else ""
        agreed = tuple(found.items())
        if agreed != store.view.agreed or working != store.view.agreeing:
            store.change_view(agreed=agreed, agreeing=working)

    def _start(self, name: str, at: Key, k: int) -> None:
        session = self._store.session
        params, at_k = params_of(session, name), get_algorithm(name).at_k
        if at_k is not None:
            params = at_k(params, k)

        def done(last: Snapshot | None, fault: HcvizError | None) -> None:
            self._at = None
            tree, labels = (None, None) if last is None else (last.tree, last.labels)
            self._known[at] = Agreed(tree, None if at_k is None else labels, str(fault or ""))
            while len(self._known) > MAX_KEPT:
                del self._known[next(iter(self._known))]
            self._next()

        self._at = at
        problem = problem_for(self._store, name)
        self._background.start(name, problem, dict(params), session.seed, done, TIMEOUT)
