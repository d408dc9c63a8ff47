"""The trees that a learning curve is seen beside: made without answers, once, behind the scenes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs import Behind
from hcviz.ui.state import default_method as choosing
from hcviz.ui.state.store import Store

#: Of built-in data these are made once for all pages, this many at most.
KEPT = 64

Key = tuple[Any, ...]
Known = dict[Key, Tree | None]
_everybodys: Known = {}


def beside() -> list[tuple[str, str]]:
    """The methods that declare a ``baseline``, and what the page calls their trees.

    Samplers come last, since they take longest.
    """
    found = sorted(choosing.known(), key=lambda each: each.samples)
    return [(each.name, each.baseline) for each in found if each.baseline]


class Baselines:
    """Runs each of :func:`beside` with its default parameters once there is an answer.

    Only while the store's own job rests; one after the other. The trees appear as
    ``store.view.baselines``; a method that cannot run on the data, or fails, has none.
    """

    def __init__(self, store: Store, schedule: Callable[[Callable[[], None]], None]) -> None:
        self._store = store
        self._behind = Behind(schedule)
        self._at: Key | None = None  # what it runs
        self._ours: Known = {}
        store.subscribe(
            lambda s: (s.session.data, s.session.seed, s.session.status, bool(s.session.enabled)),
            lambda _: self._next(),
        )

    def close(self) -> None:
        self._behind.close()
        self._at = None

    def _next(self) -> None:
        """Show what is known; start the next that is not, if the store's job rests."""
        store = self._store
        session = store.session
        common = session.data.kind == "built-in" and not session.data.answers
        known = _everybodys if common else self._ours
        baselines = beside()
        keys = [(name, session.data, session.seed) for name, _ in baselines]
        if self._at is not None and self._at not in keys:  # other data, or another seed
            self.close()
        trees = [(title, known.get(key)) for key, (_, title) in zip(keys, baselines, strict=True)]
        found = tuple((title, tree) for title, tree in trees if tree is not None)
        if found != store.view.baselines:
            store.look(baselines=found)
        rests = session.status not in ("idle", "sampling")
        if self._at is None and session.enabled and rests and store.dataset is not None:
            wanted = next((key for key in keys if key not in known), None)
            if wanted is not None:
                self._start(wanted, known)

    def _start(self, key: Key, known: Known) -> None:
        name, _, seed = key
        problem = self._store.problem
        if get_algorithm(name).missing_data(problem):
            self._know(key, known, None)
            return

        def done(last: Snapshot | None, fault: HcvizError | None) -> None:
            self._at = None
            self._know(key, known, last.tree if last is not None and fault is None else None)

        self._at = key
        self._behind.start(name, problem, {}, seed, done, seconds=self._store.seconds)

    def _know(self, key: Key, known: Known, tree: Tree | None) -> None:
        known[key] = tree
        while len(known) > KEPT:
            del known[next(iter(known))]
        self._next()
