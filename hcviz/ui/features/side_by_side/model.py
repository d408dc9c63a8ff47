"""``SideBySideRuns``: runs up to four methods on the present data and answers, one by one."""

from __future__ import annotations

from math import nan

from hcviz.algorithms import get as get_algorithm
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.side_by_side import queries_of
from hcviz.ui.features.side_by_side.result import SideResult
from hcviz.ui.parts.method_runs import MethodRuns, default_methods, runnable_methods
from hcviz.ui.state.store import Store

#: Methods side by side, at most.
MAX_METHODS = 4


def chosen_methods(store: Store) -> tuple[str, ...]:
    """Return the methods to run: the chosen ones, else the session's own and default ones."""
    picked = store.view.side_methods
    able = runnable_methods(store.problem)
    if picked is not None:
        return tuple(name for name in picked if name in able)
    own = [store.session.method] if store.session.method in able else []
    return tuple(dict.fromkeys([*own, *default_methods(store.problem)]))[:MAX_METHODS]


class SideBySideRuns(MethodRuns[SideResult]):
    """The runs of the methods side by side.

    ``store.view.side_results`` holds the results so far, ``store.view.side_running`` the name of
    the method that runs, or "".
    """

    CHOSEN, WANTED, RESULTS, RUNNING = (
        "side_methods", "side_wanted", "side_results", "side_running",
    )  # fmt: skip

    def _methods(self) -> tuple[str, ...]:
        return chosen_methods(self._store)

    def _seconds(self) -> float:
        return self._store.seconds

    def _result(
        self, name: str, problem: Problem, last: Snapshot | None, sentence: str
    ) -> SideResult:
        tree = None if last is None else last.tree
        queries = nan if last is None else queries_of(get_algorithm(name), problem, last.metrics)
        return SideResult(tree, queries, self._background.seconds, sentence)


__all__ = ["MAX_METHODS", "SideBySideRuns", "chosen_methods"]
