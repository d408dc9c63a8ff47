"""Import the methods, and compile their kernels before they are needed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

import numpy as np

from hcviz.algorithms import MODULES, get
from hcviz.core.interpreter_exit import log_fault
from hcviz.core.problem import Problem
from hcviz.jobs.samples import Samples
from hcviz.session.model import Session

#: Packages whose ``warm`` starts this function and compiles no kernels.
EXCLUDED = ("hcviz.jobs", "hcviz.ui")

log = logging.getLogger(__name__)


def warm_first_picture() -> None:
    """Compile what the first tree of a new page needs: the default method and its supports.

    A failure is logged and not raised, because an uncompiled kernel is only slower.
    """
    try:
        _run_first_picture()
    except Exception as fault:
        log_fault(log, fault, "Could not warm the first picture.")


def _run_first_picture() -> None:
    """Run the default method on four items, and summarise its draws."""
    method = get(Session().method)
    problem = Problem(features=[[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 2.0]])
    rng = np.random.default_rng(0)
    samples = Samples(problem.n_items) if method.samples else None
    for snapshot in method.start_run(problem, method.parameters(), rng):
        if snapshot is not None and samples is not None:
            samples.take_tree(snapshot, snapshot.step == snapshot.total)
    if method.recorded_run is not None:
        method.start_recorded_run(problem, method.parameters(), rng)


def warm_modules(
    stop_early: Callable[[], bool] = lambda: False,
    backwards: bool = False,
    first: Sequence[str] = (),
) -> list[str]:
    """Call ``warm()`` of every module that defines it; return the module names.

    The modules are those of hcviz and of the registry's methods, and ``first`` before all others. A
    new module needs no entry here. The function stops as soon as ``stop_early()`` is true. A
    failure is logged and not raised, because an uncompiled kernel is only slower. A process that
    takes the modules ``backwards`` compiles other kernels than one that takes them forwards at the
    same time. Each loads what the other has compiled from the cache.
    """
    for name in [*first, *sorted(set(MODULES.values())), "hcviz.posterior", "hcviz.questions"]:
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
        if callable(own) and own.__module__ == name:  # not one that was imported
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
