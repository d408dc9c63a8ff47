"""What a method may carry from one run to the next, in a form that files can hold.

``Snapshot.state`` is the method's own business, as long as it turns into arrays and back, bit for
bit. A file names the class; only classes of this package's methods, or registered ones, are made
from a file, and nothing is ever unpickled.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Protocol, Self, runtime_checkable

from numpy.typing import NDArray

from hcviz.core.errors import SessionFileError


@runtime_checkable
class ArrayState(Protocol):
    """A state: arrays out, the equal state back in. ``from_arrays`` raises for nonsense."""

    def to_arrays(self) -> dict[str, NDArray[Any]]: ...

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self: ...


_OURS = re.compile(r"hcviz\.algorithms(\.[A-Za-z_]\w*)+:[A-Za-z_]\w*")
_REGISTERED: dict[str, type[ArrayState]] = {}


def register_state(cls: Any) -> Any:
    """A decorator for state classes that live outside ``hcviz.algorithms``."""
    _REGISTERED[_name(cls)] = cls
    return cls


def state_name(state: ArrayState) -> str:
    """What a file calls the class of ``state``: ``module:Class``."""
    return _name(type(state))


def state_class(name: str) -> type[ArrayState]:
    """The class of that name; :class:`SessionFileError` if there is none here."""
    found: Any = _REGISTERED.get(name)
    if found is None and _OURS.fullmatch(name):
        module, _, attribute = name.partition(":")
        try:
            found = getattr(import_module(module), attribute, None)
        except ImportError:
            found = None
    if isinstance(found, type) and _name(found) == name and issubclass(found, ArrayState):
        return found
    raise SessionFileError(
        f"The session file carries a state of {name!r}, which this version does not know.",
        "Open it with the version (and the added methods) that saved it.",
    )


def _name(cls: type[Any]) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"
