"""``SideBySideRuns``: runs up to four methods on the present data and answers, one by one."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.snapshot import Snapshot
from hcviz.jobs import BackgroundRuns
from hcviz.side_by_side import queries_of
from hcviz.ui.features.agreement.model import (
    Key,
    default_methods,
    params_of,
    problem_for,
    result_key,
    runnable_methods,
)
from hcviz.ui.features.side_by_side.result import SideResult
from hcviz.ui.state.store import Store

#: Methods side by side, at most.
MAX_METHODS = 4
#: Seconds after which a method is stopped. Its last tree is used, if it has one.
TIMEOUT = 60.0
#: Results that are kept.
MAX_KEPT = 32


def chosen_methods(store: Store) -> tuple[str, ...]:
    """Return the methods to run: the chosen ones, else the session's own and default ones."""
    picked = store.view.side_methods
    able = runnable_methods(store.problem)
    if picked is not None:
        return tuple(name for name in picked if name in able)
    own = [store.session.method] if store.session.method in able else []
    return tuple(dict.fromkeys([*own, *default_methods(store.problem)]))[:MAX_METHODS]


class SideBySideRuns:
    """Runs the chosen methods one by one, while the session itself has no run in progress.

    ``store.view.side_results`` holds the results so far, ``store.view.side_running`` the name of
    the method that runs, or "". Results are kept: a method runs again only if its inputs change.
    """

    def __init__(self, store: Store, schedule: Callable[[Callable[[], None]], None]) -> None:
        self._store = store
        self._background = BackgroundRuns(schedule)
        self._at: Key | None = None
        self._known: dict[Key, SideResult] = {}
        self._labels: Any = None
        store.subscribe(
            lambda s: (
                s.session.data, s.session.labels, s.session.seed, s.session.status,
                s.session.constraints, s.session.choices, s.session.method, s.session.params,
                s.view.side_methods, s.view.side_wanted,
            ),
            lambda _: self._next(),
        )  # fmt: skip

    @property
    def busy(self) -> bool:
        """True while a method runs."""
        return self._background.busy

    def close(self) -> None:
        """Stop the run in progress."""
        self._background.close()
        self._at = None

    def _next(self) -> None:
        """Show the results, and start the next method if a person asked for it."""
        store = self._store
        session = store.session
        if store.dataset is None or store.dataset.labels != session.labels:
            return
        if self._labels != session.labels:  # other items: a person must ask again
            self._labels = session.labels
            self.close()
            if store.view.side_wanted or store.view.side_methods is not None:
                store.change_view(side_wanted=False, side_methods=None)
                return
        names = chosen_methods(store)
        keys = {name: result_key(session, name, 0) for name in names}
        if self._at is not None and (not store.view.side_wanted or self._at not in keys.values()):
            self.close()
        found = {name: self._known[key] for name, key in keys.items() if key in self._known}
        wanted = next((name for name in names if name not in found), None)
        if wanted is None and store.view.side_wanted:
            store.change_view(side_wanted=False)
            return
        is_idle = session.status not in ("idle", "sampling")
        if self._at is None and store.view.side_wanted and is_idle and wanted is not None:
            self._start(wanted, keys[wanted])
        running = self._at[0] if self._at is not None else ""
        results = tuple(found.items())
        if results != store.view.side_results or running != store.view.side_running:
            store.change_view(side_results=results, side_running=running)

    def _start(self, name: str, key: Key) -> None:
        store = self._store
        problem, method = problem_for(store, name), get_algorithm(name)

        def done(last: Snapshot | None, fault: HcvizError | None) -> None:
            tree = None if last is None else last.tree
            queries = nan if last is None else queries_of(method, problem, last.metrics)
            self._at = None
            self._known[key] = SideResult(tree, queries, self._background.seconds, str(fault or ""))
            while len(self._known) > MAX_KEPT:
                del self._known[next(iter(self._known))]
            self._next()

        self._at = key
        self._background.start(
            name, problem, dict(params_of(store.session, name)), store.session.seed, done,
            TIMEOUT, store.seconds,
        )  # fmt: skip


__all__ = ["MAX_METHODS", "SideBySideRuns", "chosen_methods"]
