"""``warm_modules``: import every method and compile its kernels, so that nobody's click waits."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from importlib import import_module

from hcviz.algorithms import MODULES

#: Where kernels are written.
WARMED = (
    "hcviz.core.",
    "hcviz.metrics",
    "hcviz.posterior.",
    "hcviz.questions.",
    "hcviz.algorithms.",
)

log = logging.getLogger(__name__)


def warm_modules(unless: Callable[[], bool] = lambda: False) -> list[str]:
    """Call ``warm()`` of every module of the package that has one; their names.

    Imports what the registry names first; leaves off as soon as ``unless()``. A failure is logged,
    not raised: a cold kernel is slow, not wrong.
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
        if not name.startswith(WARMED):
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
