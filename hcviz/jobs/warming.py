"""``warm_modules``: import every method and compile its kernels, so that nobody's click waits."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from importlib import import_module

from hcviz.algorithms import MODULES

#: Packages whose ``warm`` starts the warming, rather than compile kernels.
STARTERS = ("hcviz.jobs", "hcviz.ui")

log = logging.getLogger(__name__)


def warm_modules(unless: Callable[[], bool] = lambda: False) -> list[str]:
    """Call ``warm()`` of every module that defines one; their names.

    The modules are those of hcviz and of the registry's methods, wherever these are: a new one
    needs no entry here. Imports what the registry names first; leaves off as soon as ``unless()``.
    A failure is logged, not raised: a cold kernel is slow, not wrong.
    """
    for name in [*sorted(set(MODULES.values())), "hcviz.posterior", "hcviz.questions"]:
        if unless():
            return []
        try:
            import_module(name)
        except Exception:
            log.exception("Could not import %s.", name)
    warmed = []
    for name, module in sorted(sys.modules.items()):
        if not _has_kernels(name):
            continue
        if unless():
            break
        own = vars(module).get("warm")
        if callable(own) and own.__module__ == name:  # not one imported from its neighbour
            try:
                own()
                warmed.append(name)
            except Exception:
                log.exception("Could not warm %s.", name)
    return warmed


def _has_kernels(module: str) -> bool:
    """Whether a module may define kernels: one of hcviz or of a method, apart from the starters."""
    homes = {"hcviz", *MODULES.values()}
    inside = any(module == home or module.startswith(f"{home}.") for home in homes)
    return inside and not module.startswith(STARTERS)
