"""Conversion of sessions to JSON and arrays, and back, with checks of every value.

Only the types listed here can be written. Values of JSON's types are written as they are, and
tuples as JSON arrays. All other values are JSON objects whose key ``~`` names the type. Equal
arrays are written once. A tree or snapshot that occurs several times (in the session, its undo
stack and its history) is one object again after reading. So are equal names, constraints and data.
"""

from __future__ import annotations

import hashlib
import io
import math
import struct
import warnings
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from hcviz.core import snapshot as views
from hcviz.core.column_options import ColumnOptions
from hcviz.core.errors import SessionFileError
from hcviz.core.snapshot import Snapshot
from hcviz.core.state import ArrayState, state_class, state_name
from hcviz.core.tree import Tree
from hcviz.session import actions, model
from hcviz.session.restore import Restore

_ACTIONS = [
    each
    for each in actions.Action.__subclasses__()
    if each not in (actions.Arrived, Restore)  # logs never hold these
]
_VIEWS = [views.Series, views.Matrix, views.Graph, views.Points, views.Mask]
_MODEL = [
    model.AddedRows,
    model.Session,
    model.Checkpoint,
    model.Conflict,
    model.Choice,
    model.ChosenClusters,
    ColumnOptions,
    model.Constraint,
    model.DataSpec,
    model.Group,
    model.HistoryEntry,
    model.LogEntry,
    model.OfferedItems,
    model.ReviewedPiece,
    model.SecondVersion,
]

#: Values that the undo stack repeats. A file holds each once.
_SHARED = (
    model.AddedRows, model.Choice, model.ChosenClusters, model.Constraint, model.DataSpec,
    model.Group,
)  # fmt: skip

#: Class -> its name in a file, where the two differ. Names in files never change.
_FILE_CLASS_NAMES: dict[type[Any], str] = {
    actions.AddChoice: "Choose",
    actions.AddComparisons: "Attach",
    actions.EnableAuthor: "SwitchAuthor",
    actions.RemoveChoice: "TakeBack",
    actions.ReviewPiece: "Look",
    actions.RunInterrupted: "Resumed",
    actions.SessionStarted: "Began",
    actions.SetAuthorWeight: "WeighAuthor",
    model.ReviewedPiece: "Seen",
}
_STATE_FIELDS = {
    "constraint_mode": "treats",
    "warm_start": "footing",
    "disabled_by_author": "resting",
}
#: Class -> field -> the field's name in a file, where the two differ.
_FILE_FIELD_NAMES: dict[type[Any], dict[str, str]] = {
    model.Session: {**_STATE_FIELDS, "rerun_pending": "awaiting", "reviewed": "seen"},
    model.Checkpoint: _STATE_FIELDS,
    actions.AddComparisons: {"note": "said"},
    actions.LoadedData: {"note": "said", "reason": "why"},
    actions.SessionStarted: {"constraint_mode": "treats"},
    actions.SetParams: {"is_dragging": "going_on"},
}


def _class_in_file(cls: type[Any]) -> str:
    return _FILE_CLASS_NAMES.get(cls, cls.__name__)


def _field_in_file(cls: type[Any], name: str) -> str:
    return _FILE_FIELD_NAMES.get(cls, {}).get(name, name)


#: The dataclasses that a file may hold, by their name in the file.
CLASSES: dict[str, type[Any]] = {
    _class_in_file(each): each for each in (*_MODEL, *_VIEWS, *_ACTIONS)
}

#: Fields that only earlier versions wrote. The registry of methods now has this information.
_OBSOLETE = {
    "LoadedData": {"treats"},
    "SetMethod": {"triplets"},
    "SetParams": {"triplets"},
    "Choose": {"heeded"},
    "TakeBack": {"heeded"},
    "Attach": {"heeded"},
}


class Encoder:
    """Converts values to JSON. Arrays and uploaded tables go to ``entries`` (name -> bytes)."""

    def __init__(self) -> None:
        self.entries: dict[str, bytes] = {}
        self.trees: list[Any] = []
        self.snapshots: list[Any] = []
        self.shared: list[Any] = []
        self._known: dict[Any, int] = {}
        self._alive: list[Any] = []  # keeps objects alive whose id is a key

    def document(self, session: model.Session) -> dict[str, Any]:
        """Return the JSON document of a session."""
        body = self.value(session)
        return {
            "shared": self.shared,
            "trees": self.trees,
            "snapshots": self.snapshots,
            "session": body,
        }

    def value(self, value: Any) -> Any:
        """Return the JSON value of one value."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, float) and not math.isfinite(value):  # JSON has no NaN or infinity
            return {"~": "float", "bits": np.float64(value).tobytes().hex()}
        if isinstance(value, (int, float)):
            return value.item() if isinstance(value, np.generic) else value
        if isinstance(value, np.generic):
            return self.value(value.item())
        names = isinstance(value, tuple) and set(map(type, value)) == {str}
        if names or isinstance(value, _SHARED):
            # Every step of the undo stack repeats these values. Write them once.
            return {"~": "shared", "at": self._once(value, self.shared, self._plain, value)}
        return self._plain(value)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return [self.value(item) for item in value]
        if isinstance(value, list):
            return {"~": "list", "items": [self.value(item) for item in value]}
        if isinstance(value, Mapping):
            items = [[str(key), self.value(item)] for key, item in value.items()]
            return {"~": "map", "items": items}
        if isinstance(value, bytes):
            name = f"tables/{hashlib.sha256(value).hexdigest()}"
            self.entries[name] = value
            return {"~": "bytes", "entry": name}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, Tree):
            return {"~": "tree", "at": self._once(value, self.trees, self._tree)}
        if isinstance(value, Snapshot):
            return {"~": "snapshot", "at": self._once(value, self.snapshots, self._snapshot)}
        cls = type(value)
        kind = _class_in_file(cls)
        if CLASSES.get(kind) is cls:
            parts = {
                _field_in_file(cls, part.name): self.value(getattr(value, part.name))
                for part in fields(value)
            }
            return {"~": kind, **parts}
        raise TypeError(f"A session file cannot hold a {type(value).__name__}.")

    def _array(self, array: NDArray[Any]) -> dict[str, Any]:
        if array.dtype.kind not in "iufb":
            raise TypeError(f"A session file cannot hold an array of {array.dtype}.")
        buffer = io.BytesIO()
        np.save(buffer, np.asarray(array, order="C"), allow_pickle=False)
        content = buffer.getvalue()
        name = f"arrays/{hashlib.sha256(content).hexdigest()}.npy"
        self.entries[name] = content
        return {"~": "array", "entry": name}

    def _once(
        self, thing: Any, table: list[Any], encode: Callable[[Any], Any], key: Any = None
    ) -> int:
        """Return the place of ``thing`` in a table that holds each key, or else object, once."""
        key = id(thing) if key is None else key
        if key not in self._known:
            made = encode(thing)
            self._known[key] = len(table)
            self._alive.append(thing)
            table.append(made)
        return self._known[key]

    def _tree(self, tree: Tree) -> dict[str, Any]:
        return {
            "parent": self._array(tree.parent),
            "height": self._array(tree.height),
            "n_leaves": tree.n_leaves,
        }

    def _snapshot(self, snapshot: Snapshot) -> dict[str, Any]:
        parts = {part.name: getattr(snapshot, part.name) for part in fields(Snapshot)}
        state = parts.pop("state")
        # Packed views exist only for undo within this process. Files omit them.
        parts["views"] = {k: v for k, v in snapshot.views.items() if type(v) in _VIEWS}
        made = {name: self.value(part) for name, part in parts.items()}
        made["state"] = self._state(state)
        return made

    def _state(self, state: Any) -> Any:
        if isinstance(state, ArrayState):
            arrays = {name: np.asarray(part) for name, part in state.to_arrays().items()}
            return {"~": "state", "class": state_name(state), "arrays": self.value(arrays)}
        try:
            return self.value(state)
        except TypeError:  # a method's private object; the next run will begin from the tree
            return None


class Decoder:
    """Converts a JSON document back to a session.

    A damaged document raises :class:`SessionFileError` or another exception. A small document
    cannot fill memory: a shared value is a list of names or a small object, never nested, and all
    arrays together take at most ``max_bytes``.
    """

    def __init__(
        self, document: Any, read: Callable[[str], bytes], max_bytes: int = 64 * 2**20
    ) -> None:
        self._document = document
        self._read = read
        self._bytes_left = max_bytes
        self._shared: list[Any] = []
        self._names: set[int] = set()  # ids of shared tuples of texts that were checked
        self._trees: list[Tree] = []
        self._snapshots: list[Snapshot] = []
        for each in document["shared"]:
            self._share(self.value(each))
        self._trees = [self._tree(each) for each in document["trees"]]
        self._snapshots = [self._snapshot(each) for each in document["snapshots"]]

    def _share(self, value: Any) -> None:
        if isinstance(value, tuple) and conforms(value, tuple[str, ...]):
            self._names.add(id(value))
        elif not isinstance(value, _SHARED):
            raise SessionFileError(
                "The session file shares a value that is not names, an answer, data or a group.",
                "Nothing was changed. Save the session again and open that file.",
            )
        self._shared.append(value)

    def session(self) -> model.Session:
        """Return the session in the document."""
        return checked(self.value(self._document["session"]), model.Session, "the session")

    def value(self, value: Any) -> Any:
        """Return the value that a JSON value stands for."""
        if isinstance(value, list):
            return tuple(self.value(item) for item in value)
        if not isinstance(value, dict):
            return value
        kind = value["~"]
        if kind == "shared":
            return self._shared[value["at"]]
        if kind == "list":
            return [self.value(item) for item in value["items"]]
        if kind == "map":
            return MappingProxyType({checked(k, str): self.value(v) for k, v in value["items"]})
        if kind == "float":
            (number,) = struct.unpack("<d", bytes.fromhex(checked(value["bits"], str)[:16]))
            return float(number)
        if kind == "bytes":
            return self._read(value["entry"])
        if kind == "array":
            return self._array(value["entry"])
        if kind == "tree":
            return self._trees[value["at"]]
        if kind == "snapshot":
            return self._snapshots[value["at"]]
        if kind == "state":
            arrays = self.value(value["arrays"])
            return state_class(value["class"]).from_arrays(
                {name: checked(part, np.ndarray) for name, part in arrays.items()}
            )
        return self._dataclass(CLASSES[kind], value)

    def _dataclass(self, cls: Any, value: dict[str, Any]) -> Any:
        names = {part.name for part in fields(cls)}
        obsolete = _OBSOLETE.get(_class_in_file(cls), set())
        value = {name: part for name, part in value.items() if name not in obsolete}
        for name, in_file in _FILE_FIELD_NAMES.get(cls, {}).items():
            if in_file in value:
                value[name] = value.pop(in_file)
        # A file of an earlier version may lack fields that have a default.
        needed = {p.name for p in fields(cls) if p.default is MISSING is p.default_factory}
        if not needed <= set(value) <= names | {"~"}:
            raise SessionFileError(f"A {cls.__name__} in the session file has the wrong fields.")
        parts = {name: self.value(value[name]) for name in names & set(value)}
        for name, hint in _hints(cls).items():
            known = hint == tuple[str, ...] and id(parts.get(name)) in self._names
            if name in parts and not known:
                checked(parts[name], hint, f"{cls.__name__}.{name}")
        return cls(**parts)

    def _array(self, name: str) -> NDArray[Any]:
        """Read an .npy entry, and check its header against its size."""
        content = self._read(name)
        buffer = io.BytesIO(content)
        if np.lib.format.read_magic(buffer) != (1, 0):
            raise SessionFileError(f"The entry {name} is not an array of a session file.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers of Python 2
            shape, in_fortran_order, dtype = np.lib.format.read_array_header_1_0(buffer)
        body = content[buffer.tell() :]
        count = 1
        for side in shape:
            count *= int(side)
        if dtype.kind not in "iufb" or in_fortran_order or count * dtype.itemsize != len(body):
            raise SessionFileError(f"The entry {name} is not an array of a session file.")
        self._bytes_left -= len(body)
        if self._bytes_left < 0:
            raise SessionFileError("The session file repeats its arrays too often.")
        return np.frombuffer(body, dtype).reshape(shape).copy()  # kernels need writable arrays

    def _tree(self, value: Any) -> Tree:
        parent, height = self.value(value["parent"]), self.value(value["height"])
        if parent.dtype != np.int32 or height.dtype != np.float64:
            raise SessionFileError("A tree in the session file has arrays of the wrong type.")
        return Tree(parent, height, checked(value["n_leaves"], int))

    def _snapshot(self, value: Any) -> Snapshot:
        parts = {part.name: self.value(value[part.name]) for part in fields(Snapshot)}
        for name, hint in _hints(Snapshot).items():
            checked(parts[name], hint, f"Snapshot.{name}")
        for name in ("metrics", "matrices", "views"):  # dicts can be pickled for worker processes
            parts[name] = dict(parts[name])
        if isinstance(parts["state"], MappingProxyType):
            parts["state"] = dict(parts["state"])
        return Snapshot(**parts)


# ---------------------------------------------------------------------- types


@cache
def _hints(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls)
    if "metrics" in hints:  # metrics are only shown, so any value is accepted
        hints["metrics"] = Mapping[str, Any]
    return hints


def checked(value: Any, hint: Any, where: str = "a value") -> Any:
    """Return ``value`` if it matches the type hint. Raise SessionFileError otherwise."""
    if not conforms(value, hint):
        raise SessionFileError(f"In the session file {where} is of the wrong kind.")
    return value


def conforms(value: Any, hint: Any) -> bool:
    """Return True if a value matches a type hint. Only hints of the session's classes work."""
    if hint is Any:
        return True
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(conforms(value, each) for each in inside)
    if origin is Literal:
        return isinstance(value, str) and value in inside
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if inside == (str, Ellipsis):  # fast, since every step of undo may have 10,000 names
            return set(map(type, value)) <= {str}
        if len(inside) == 2 and inside[1] is Ellipsis:
            return all(conforms(item, inside[0]) for item in value)
        return len(value) == len(inside) and all(map(conforms, value, inside))
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(conforms(v, inside[1]) for v in value.values())
    if origin is np.ndarray:
        dtype = get_args(inside[1])[0]
        if not isinstance(value, np.ndarray):
            return False
        return dtype is Any or value.dtype.kind == np.dtype(dtype).kind
    if hint in (NoneType, None):
        return value is None
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)
