"""The public API: the names that are documented, and a walk over them and their members."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

#: The names of each public module. None: all names in its ``__all__``.
MODULES: dict[str, tuple[str, ...] | None] = {
    "hcviz": None,
    "hcviz.metrics": None,
    "hcviz.datasets": None,
    "hcviz.taxonomy": None,
    "hcviz.description": None,
    "hcviz.side_by_side": ("MethodComparison", "MethodResult", "TreeFigures"),
    "hcviz.posterior": (
        "Posterior", "ChainComparison", "Diagnosis", "Verdict",
        "compare_chains", "ess_bulk", "ess_mean", "ess_tail",
        "membership_shares", "rhat", "verdict",
    ),
    "hcviz.algorithms": ("get", "generator"),
    "hcviz.algorithms.base": ("Algorithm", "ClusterCurve", "RunPart", "SplitRun"),
    "hcviz.conformance": ("Finding", "check_run", "conformance", "load_methods"),
    "hcviz.sklearn": ("HierarchicalClustering",),
    "hcviz.core.snapshot": ("Graph", "Mask", "Matrix", "Points", "Series"),
}  # fmt: skip


def names() -> Iterator[tuple[str, str]]:
    """Yield module and name of each public class and function."""
    for module, chosen in MODULES.items():
        home = importlib.import_module(module)
        for name in home.__all__ if chosen is None else chosen:
            value = getattr(home, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                yield module, name


def objects() -> Iterator[tuple[str, Any]]:
    """Yield path and object of each public class and function, and of each public member."""
    for module, name in names():
        path, value = f"{module}.{name}", getattr(importlib.import_module(module), name)
        yield path, value
        if inspect.isclass(value):
            for member, defined in _members(value).items():
                if not member.startswith("_") and is_documented(defined):
                    yield f"{path}.{member}", defined


def _members(kind: type) -> dict[str, Any]:
    """Return what a class and its bases in hcviz define."""
    found: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        if each.__module__.startswith("hcviz"):
            found |= vars(each)
    return found


def is_documented(member: Any) -> bool:
    """Return True for methods and properties, and False for values."""
    kinds = (property, staticmethod, classmethod)
    return inspect.isroutine(member) or isinstance(member, kinds) or is_cached(member)


def is_cached(member: Any) -> bool:
    """Return True for a cached property."""
    return type(member).__name__ == "cached_property"
