"""The state that a method keeps from one run to the next, in a form that a file can hold.

A method defines the class of its ``Snapshot.state``. The class converts a state to arrays and back
without loss. A session file contains the name of the class. Only classes of hcviz's methods and
registered classes are created from a file; nothing is unpickled.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Protocol, Self, runtime_checkable

from numpy.typing import NDArray

from hcviz.core.errors import SessionFileError


@runtime_checkable
class ArrayState(Protocol):
    """A state that converts to arrays and back; ``from_arrays`` refuses invalid arrays."""

    def to_arrays(self) -> dict[str, NDArray[Any]]: ...

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self: ...


_BUILT_IN = re.compile(r"hcviz\.algorithms(\.[A-Za-z_]\w*)+:[A-Za-z_]\w*")
_REGISTERED: dict[str, type[ArrayState]] = {}


def register_state(cls: Any) -> Any:
    """Register a state class that is defined outside ``hcviz.algorithms``; use as a decorator."""
    _REGISTERED[_name(cls)] = cls
    return cls


def state_name(state: ArrayState) -> str:
    """Return the name of the class of ``state`` in a file: ``module:Class``."""
    return _name(type(state))


def state_class(name: str) -> type[ArrayState]:
    """Return the state class with that name, or raise :class:`SessionFileError`."""
    found: Any = _REGISTERED.get(name)
    if found is None and _BUILT_IN.fullmatch(name):
        module, _, attribute = name.partition(":")
        try:
            found = getattr(import_module(module), attribute, None)
        except ImportError:
            found = None
    if isinstance(found, type) and _name(found) == name and issubclass(found, ArrayState):
        return found
    raise SessionFileError(
        f"The session file has a state of the class {name!r}, which this version does not have.",
        "Open it with the version (and the added methods) that saved it.",
    )


def _name(cls: type[Any]) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"
