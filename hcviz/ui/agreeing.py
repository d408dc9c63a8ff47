"""Other methods' trees of the present data, made behind the scenes, to see how they agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs import Behind
from hcviz.session.model import Session
from hcviz.ui.store import Store

#: What is run unless the person chooses: quick ones, by similarities and by comparisons.
BY_SIMILARITY = ("average", "complete", "ward", "crsc", "spectral", "ddt")
BY_COMPARISONS = ("4-al", "4k-al", "adds-sdp", "t-ste", "forte")
#: No more than so many by default.
MOST = 8
#: A method that needs longer (s) is stopped; the last tree it gave counts, if it gave one.
LIMIT = 60.0
#: Results kept.
KEPT = 64

Key = tuple[Any, ...]
#: A tree, and a sentence where there is none or it is not the method's last.
Result = tuple[Tree | None, str]


def able(problem: Problem) -> list[str]:
    """The methods that can run on the problem."""
    return [name for name in algorithms() if not get_algorithm(name).lacks(problem)]


def usual(problem: Problem) -> tuple[str, ...]:
    """Those of them that are run unless the person chooses others.

    Comparisons beside other data must be n ln n at least: of fewer nobody makes a tree in earnest.
    """
    names = set(able(problem))
    n, known = problem.n_items, problem.comparisons
    wanted = [name for name in BY_SIMILARITY if name in names]
    if known is not None and (not wanted or len(known) > n * math.log(n)):
        wanted += [name for name in BY_COMPARISONS if name in names]
    return tuple(wanted[:MOST])


def chosen(store: Store) -> tuple[str, ...]:
    """The methods to be compared: the person's choice, as far as they can run, or the usual."""
    picked = store.view.agree_with
    if picked is None:
        return usual(store.problem)
    names = set(able(store.problem))
    return tuple(name for name in picked if name in names)


def key(session: Session, name: str) -> Key:
    """What a method's tree depends on."""
    params = session.params if name == session.method else session.other_params.get(name, {})
    said = (session.triplets.rows.tobytes(), session.triplets.weights.tobytes(), session.choices)
    return (name, session.data, session.seed, repr(sorted(params.items())), *said)


class Agreeing:
    """Runs the chosen methods one by one, only while the store's own job rests.

    ``store.view.agreed`` are the results so far, by method; ``store.view.agreeing`` the method at
    work, or "". What was made is kept: a method is run again only when something it sees changed.
    """

    def __init__(self, store: Store, schedule: Callable[[Callable[[], None]], None]) -> None:
        self._store = store
        self._behind = Behind(schedule)
        self._at: Key | None = None
        self._known: dict[Key, Result] = {}
        self._about: Any = None
        store.subscribe(
            lambda s: (
                s.session.data, s.session.labels, s.session.seed, s.session.status,
                s.session.constraints, s.session.choices, s.session.method, s.session.params,
                s.view.agree_with, s.view.agree_wanted,
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
        keys = {name: key(session, name) for name in names}
        if session.method in keys and session.status == "settled" and session.tree is not None:
            self._known[keys[session.method]] = (session.tree, "")
        if self._at is not None and (not store.view.agree_wanted or self._at not in keys.values()):
            self.close()
        found = {name: self._known[k] for name, k in keys.items() if k in self._known}
        wanted = next((name for name in names if name not in found), None)
        rests = session.status not in ("idle", "sampling")
        if wanted is None and store.view.agree_wanted:
            store.look(agree_wanted=False)
            return
        if self._at is None and store.view.agree_wanted and rests and wanted is not None:
            self._start(wanted, keys[wanted])
        working = self._at[0] if self._at is not None else ""
        agreed = tuple((name, *result) for name, result in found.items())
        if agreed != store.view.agreed or working != store.view.agreeing:
            store.look(agreed=agreed, agreeing=working)

    def _start(self, name: str, at: Key) -> None:
        session = self._store.session
        params = session.params if name == session.method else session.other_params.get(name, {})

        def done(last: Snapshot | None, fault: HcvizError | None) -> None:
            self._at = None
            self._known[at] = (last.tree if last is not None else None, str(fault or ""))
            while len(self._known) > KEPT:
                del self._known[next(iter(self._known))]
            self._next()

        self._at = at
        problem = self._store.problem.with_triplets(session.triplets)
        self._behind.start(name, problem, dict(params), session.seed, done, LIMIT)
