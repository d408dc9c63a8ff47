"""Import the methods, and compile their kernels before they are needed."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

from hcviz.algorithms import MODULES, get
from hcviz.core.interpreter_exit import log_fault
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.samples import Samples
from hcviz.jobs.snapshot_channel import Message
from hcviz.jobs.task import PauseControl, Task, run_task
from hcviz.session.model import Session

#: Packages whose ``warm`` starts this function and compiles no kernels.
EXCLUDED = ("hcviz.jobs", "hcviz.ui")

#: Modules with kernels that are not methods, and that these do not import.
OTHERS = ("hcviz.metrics.placementkernels", "hcviz.posterior", "hcviz.questions")

#: Thresholds of the garbage collector while kernels are compiled: numba makes many small objects.
COLLECTIONS = (50_000, 20, 100)

log = logging.getLogger(__name__)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage less often within the block, which saves a sixth of the time to compile."""
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@rare_collections()
def warm_first_picture() -> None:
    """Compile what the first trees of a new page need: the default method and its supports.

    A failure is logged and not raised, because an uncompiled kernel is only slower.
    """
    method = Session().method
    problem = Problem(features=[[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 2.0]])
    task = Task(1, method, MODULES[method], problem, {"steps": 8, "every": 4}, 0, None)
    samples = Samples(problem.n_items) if get(method).samples else None
    run_task(task, _Nowhere(), PauseControl(), samples=samples)


class _Nowhere:
    """Receives the messages of a run, and drops them."""

    def offer(self, snapshot: Snapshot) -> None:
        """Drop a tree."""

    def end(self, message: Message) -> None:
        """Drop the last message; :func:`run_task` has logged an unexpected failure."""


@rare_collections()
def warm_modules(
    stop_early: Callable[[], bool] = lambda: False,
    backwards: bool = False,
    first: Sequence[str] = (),
    claim: Callable[[str], bool] = lambda name: True,
) -> list[str]:
    """Call ``warm()`` of every module that defines it; return the module names.

    The modules are those of hcviz and of the registry's methods, and ``first`` before all others. A
    new module needs no entry here. The function stops as soon as ``stop_early()`` is true. A
    failure is logged and not raised, because an uncompiled kernel is only slower. A process that
    takes the modules ``backwards`` compiles other kernels than one that takes them forwards at the
    same time. Each loads what the other has compiled from the cache. Modules for which
    ``claim(name)`` is false are left to another process.
    """
    for name in [*first, *sorted(set(MODULES.values())), *OTHERS]:
        if stop_early():
            return []
        try:
            import_module(name)
        except Exception as fault:
            log_fault(log, fault, "Could not import %s.", name)
    others = sorted(filter(_has_kernels, sys.modules), reverse=backwards)
    warmed = []
    for name in dict.fromkeys([*first, *others]):
        if stop_early():
            break
        own = vars(sys.modules[name]).get("warm") if name in sys.modules else None
        if callable(own) and own.__module__ == name and claim(name):  # not one that was imported
            try:
                own()
                warmed.append(name)
            except Exception as fault:
                log_fault(log, fault, "Could not warm %s.", name)
    return warmed


def _has_kernels(module: str) -> bool:
    """Return True if a module may define kernels: one of hcviz or of a method."""
    homes = {"hcviz", *MODULES.values()}
    inside = any(module == home or module.startswith(f"{home}.") for home in homes)
    return inside and not module.startswith(EXCLUDED)
