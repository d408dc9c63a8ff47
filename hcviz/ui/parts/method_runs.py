"""``MethodRuns``: runs several methods on the present data and answers, beside the session's run.

A feature that shows the results of several methods has a subclass.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.oracle_protocols import SimilarityOracle
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.jobs import BackgroundRuns
from hcviz.session.model import Session
from hcviz.ui.state import default_method
from hcviz.ui.state.store import Store

#: Methods that run by default, at most.
MAX_METHODS = 8
#: Seconds after which a method is stopped. Its last tree is used, if it has one.
TIMEOUT = 60.0
#: Results that are kept.
MAX_KEPT = 64

#: All that the result of a method depends on; its name is the first.
Key = tuple[Any, ...]
Result = TypeVar("Result")


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


def result_key(session: Session, name: str, *own: Any) -> Key:
    """Return the key of a result; ``own`` is what else it depends on."""
    triplets, groups = session.triplets, session.required_clades
    avoided = session.avoided_clades.rows.tobytes() if get_algorithm(name).avoids_groups else b""
    rows = triplets.rows.tobytes() + groups.rows.tobytes()
    stated = (rows, avoided, triplets.weights.tobytes() + groups.weights.tobytes(), session.choices)
    given = repr(sorted(params_of(session, name).items()))
    return (name, session.data, session.seed, given, *own, *stated)


class MethodRuns(ABC, Generic[Result]):
    """Runs the chosen methods one by one, while the session itself has no run in progress.

    A method runs again only if its inputs change. Fields of the view state have what the person
    chose, and the results so far; their names are class attributes of the subclass.
    """

    #: The field with the chosen methods; None for the default ones.
    CHOSEN: ClassVar[str]
    #: The field that is True while a person waits for the methods.
    WANTED: ClassVar[str]
    #: The field with the results so far, ``((name, result), ...)``.
    RESULTS: ClassVar[str]
    #: The field with the name of the method that runs, or "".
    RUNNING: ClassVar[str]

    def __init__(self, store: Store, schedule: Callable[[Callable[[], None]], None]) -> None:
        self._store = store
        self._background = BackgroundRuns(schedule)
        self._at: Key | None = None
        self._known: dict[Key, Result] = {}
        self._labels: Any = None
        store.subscribe(
            lambda s: (
                s.session.data, s.session.labels, s.session.seed, s.session.status,
                s.session.constraints, s.session.choices, s.session.method, s.session.params,
                getattr(s.view, self.CHOSEN), getattr(s.view, self.WANTED), self._inputs(),
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

    # ------------------------------------------------------------------ what a subclass says

    @abstractmethod
    def _methods(self) -> tuple[str, ...]:
        """Return the methods to run."""

    @abstractmethod
    def _result(self, name: str, problem: Problem, last: Snapshot | None, sentence: str) -> Result:
        """Return the result of a run: its last snapshot, and what went wrong or ""."""

    def _inputs(self) -> Any:
        """Return what else the results depend on."""
        return None

    def _own_key(self, name: str) -> tuple[Any, ...]:
        """Return what else the result of one method depends on."""
        return ()

    def _params(self, name: str) -> Mapping[str, Any]:
        """Return the parameters of a method."""
        return params_of(self._store.session, name)

    def _seconds(self) -> float:
        """Return the budget of a sampler's run; 0 for a fixed number of steps."""
        return 0.0

    def _of_session(self, name: str, known: Result | None) -> Result | None:
        """Return the result of the session's own run, if it differs from the known one."""
        return None

    # ------------------------------------------------------------------ runs

    def _next(self) -> None:
        """Show the results, and start the next method if a person asked for it."""
        store = self._store
        session, view = store.session, store.view
        if store.dataset is None or store.dataset.labels != session.labels:
            return
        if self._labels != session.labels:  # other items: a person must ask again
            self._labels = session.labels
            self.close()
            if getattr(view, self.WANTED) or getattr(view, self.CHOSEN) is not None:
                store.change_view(**{self.WANTED: False, self.CHOSEN: None})
                return
        is_wanted = getattr(view, self.WANTED)
        keys = {name: result_key(session, name, *self._own_key(name)) for name in self._methods()}
        if session.method in keys:
            key = keys[session.method]
            own = self._of_session(session.method, self._known.get(key))
            if own is not None:
                self._known[key] = own
        if self._at is not None and (not is_wanted or self._at not in keys.values()):
            self.close()
        found = {name: self._known[key] for name, key in keys.items() if key in self._known}
        missing = next((name for name in keys if name not in found), None)
        if missing is None and is_wanted:
            store.change_view(**{self.WANTED: False})
            return
        is_idle = session.status not in ("idle", "sampling")
        if self._at is None and is_wanted and is_idle and missing is not None:
            self._start(missing, keys[missing])
        running = self._at[0] if self._at is not None else ""
        results = tuple(found.items())
        if results != getattr(view, self.RESULTS) or running != getattr(view, self.RUNNING):
            store.change_view(**{self.RESULTS: results, self.RUNNING: running})

    def _start(self, name: str, key: Key) -> None:
        store = self._store
        problem = problem_for(store, name)

        def done(last: Snapshot | None, fault: HcvizError | None) -> None:
            self._at = None
            self._known[key] = self._result(name, problem, last, str(fault or ""))
            while len(self._known) > MAX_KEPT:
                del self._known[next(iter(self._known))]
            self._next()

        self._at = key
        self._background.start(
            name, problem, dict(self._params(name)), store.session.seed, done, TIMEOUT,
            self._seconds(),
        )  # fmt: skip


__all__ = [
    "MAX_METHODS",
    "MethodRuns",
    "default_methods",
    "params_of",
    "problem_for",
    "result_key",
    "runnable_methods",
]
