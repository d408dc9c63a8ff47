"""``warm_modules``: import every method and compile its kernels before they are needed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from importlib import import_module

from hcviz.algorithms import MODULES

#: Packages whose ``warm`` starts this function and compiles no kernels.
EXCLUDED = ("hcviz.jobs", "hcviz.ui")

log = logging.getLogger(__name__)


def warm_modules(stop_early: Callable[[], bool] = lambda: False) -> list[str]:
    """Call ``warm()`` of every module that defines it; return the module names.

    The modules are those of hcviz and of the registry's methods. A new module needs no entry here.
    The function stops as soon as ``stop_early()`` is true. A failure is logged and not raised,
    because an uncompiled kernel is only slower.
    """
    for name in [*sorted(set(MODULES.values())), "hcviz.posterior", "hcviz.questions"]:
        if stop_early():
            return []
        try:
            import_module(name)
        except Exception:
            log.exception("Could not import %s.", name)
    warmed = []
    for name, module in sorted(sys.modules.items()):
        if not _has_kernels(name):
            continue
        if stop_early():
            break
        own = vars(module).get("warm")
        if callable(own) and own.__module__ == name:  # not one that was imported
            try:
                own()
                warmed.append(name)
            except Exception:
                log.exception("Could not warm %s.", name)
    return warmed


def _has_kernels(module: str) -> bool:
    """Return True if a module may define kernels: one of hcviz or of a method."""
    homes = {"hcviz", *MODULES.values()}
    inside = any(module == home or module.startswith(f"{home}.") for home in homes)
    return inside and not module.startswith(EXCLUDED)
