"""``BaselineRuns``: trees of other methods without constraints, shown beside a learning curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs import BackgroundRuns
from hcviz.ui.state import default_method
from hcviz.ui.state.store import Store

#: Trees of built-in data that are kept for all pages, at most.
MAX_KEPT = 64

Key = tuple[Any, ...]
TreeCache = dict[Key, Tree | None]
#: Trees of built-in data, for all sessions.
SHARED_TREES: TreeCache = {}


def baseline_methods() -> list[tuple[str, str]]:
    """Return the methods that declare a ``baseline``, as (name, title of the baseline).

    Samplers come last, since they take longest.
    """
    found = sorted(default_method.known(), key=lambda each: each.samples)
    return [(each.name, each.baseline) for each in found if each.baseline]


class BaselineRuns:
    """Runs each of :func:`baseline_methods` with its default parameters, one after the other.

    The runs begin when there is a constraint, while the session itself has no run in progress. The
    trees are put into ``store.view.baselines``. A method that cannot run, or fails, has no tree.
    """

    def __init__(self, store: Store, schedule: Callable[[Callable[[], None]], None]) -> None:
        self._store = store
        self._background = BackgroundRuns(schedule)
        self._at: Key | None = None  # the key of the run in progress
        self._ours: TreeCache = {}
        store.subscribe(
            lambda s: (s.session.data, s.session.seed, s.session.status, bool(s.session.enabled)),
            lambda _: self._next(),
        )

    @property
    def busy(self) -> bool:
        """True while a method runs."""
        return self._background.busy

    def close(self) -> None:
        self._background.close()
        self._at = None

    def _next(self) -> None:
        """Show the trees so far, and start the next run if the session has none in progress."""
        store = self._store
        session = store.session
        common = session.data.kind == "built-in" and not session.data.answers
        known = SHARED_TREES if common else self._ours
        baselines = baseline_methods()
        keys = [(name, session.data, session.seed) for name, _ in baselines]
        if self._at is not None and self._at not in keys:  # other data, or another seed
            self.close()
        trees = [(title, known.get(key)) for key, (_, title) in zip(keys, baselines, strict=True)]
        found = tuple((title, tree) for title, tree in trees if tree is not None)
        if found != store.view.baselines:
            store.change_view(baselines=found)
        is_idle = session.status not in ("idle", "sampling")
        if self._at is None and session.enabled and is_idle and store.dataset is not None:
            wanted = next((key for key in keys if key not in known), None)
            if wanted is not None:
                self._start(wanted, known)

    def _start(self, key: Key, known: TreeCache) -> None:
        name, _, seed = key
        problem = self._store.problem
        if get_algorithm(name).missing_data(problem):
            self._know(key, known, None)
            return

        def done(last: Snapshot | None, fault: HcvizError | None) -> None:
            self._at = None
            self._know(key, known, last.tree if last is not None and fault is None else None)

        self._at = key
        self._background.start(name, problem, {}, seed, done, seconds=self._store.seconds)

    def _know(self, key: Key, known: TreeCache, tree: Tree | None) -> None:
        known[key] = tree
        while len(known) > MAX_KEPT:
            del known[next(iter(known))]
        self._next()
