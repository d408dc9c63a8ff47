"""``AgreementRuns``: runs other methods on the present data, to compare their clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.session.model import Session
from hcviz.ui.features.agreement.agreed import Agreed
from hcviz.ui.parts.method_runs import MethodRuns, default_methods, runnable_methods
from hcviz.ui.state.store import Store


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


class AgreementRuns(MethodRuns[Agreed]):
    """The runs of the methods whose clusters are compared.

    ``store.view.agreed`` holds the results so far, ``store.view.agreeing`` the name of the method
    that runs, or "".
    """

    CHOSEN, WANTED, RESULTS, RUNNING = "agree_with", "agree_wanted", "agreed", "agreeing"

    def _methods(self) -> tuple[str, ...]:
        return chosen_methods(self._store)

    def _inputs(self) -> Any:
        return cluster_count_inputs(self._store)

    def _own_key(self, name: str) -> tuple[Any, ...]:
        return (cluster_count(self._store),) if get_algorithm(name).at_k is not None else ()

    def _params(self, name: str) -> Mapping[str, Any]:
        params, at_k = super()._params(name), get_algorithm(name).at_k
        return params if at_k is None else at_k(params, cluster_count(self._store))

    def _of_session(self, name: str, known: Agreed | None) -> Agreed | None:
        own = _session_result(self._store.session, cluster_count(self._store))
        return None if own is None or (known is not None and known.tree is own.tree) else own

    def _result(self, name: str, problem: Problem, last: Snapshot | None, sentence: str) -> Agreed:
        if last is None:
            return Agreed(None, None, sentence)
        makes_clusters = get_algorithm(name).at_k is not None
        return Agreed(last.tree, last.labels if makes_clusters else None, sentence)
