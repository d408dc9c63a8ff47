"""Sessions as JSON and arrays, and back: a closed set of types, each value checked on its way in.

JSON's own types stand for themselves, arrays for tuples; everything else is an object whose ``~``
says what it is. Equal arrays are written once. Trees and snapshots keep their identity: what was
one object (in the session, its undo stack, its history) is one object again; equal names,
constraints and data become one.
"""

from __future__ import annotations

import hashlib
import io
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from hcviz.core import snapshot as views
from hcviz.core.errors import SessionFileError
from hcviz.core.snapshot import Snapshot
from hcviz.core.state import ArrayState, state_class, state_name
from hcviz.core.tree import Tree
from hcviz.session import actions, model
from hcviz.session.restore import Restore

_ACTIONS = [
    each
    for each in actions.Action.__subclasses__()
    if each not in (actions.Arrived, Restore)  # never in a log
]
_VIEWS = [views.Series, views.Matrix, views.Graph, views.Points, views.Mask]
_MODEL = [
    model.Session,
    model.Checkpoint,
    model.Conflict,
    model.Choice,
    model.Constraint,
    model.DataSpec,
    model.HistoryEntry,
    model.LogEntry,
    model.ReviewedPiece,
]

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

#: Fields that earlier versions wrote and this one does not read: the registry knows them.
_OBSOLETE = {
    "LoadedData": {"treats"},
    "SetMethod": {"triplets"},
    "SetParams": {"triplets"},
    "Choose": {"heeded"},
    "TakeBack": {"heeded"},
    "Attach": {"heeded"},
}


class Encoder:
    """Turns values into JSON; what JSON cannot hold goes to ``entries`` (name -> bytes)."""

    def __init__(self) -> None:
        self.entries: dict[str, bytes] = {}
        self.trees: list[Any] = []
        self.snapshots: list[Any] = []
        self.shared: list[Any] = []
        self._known: dict[Any, int] = {}
        self._alive: list[Any] = []  # ids are compared only while their objects live

    def document(self, session: model.Session) -> dict[str, Any]:
        body = self.value(session)
        return {
            "shared": self.shared,
            "trees": self.trees,
            "snapshots": self.snapshots,
            "session": body,
        }

    def value(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, float) and not math.isfinite(value):  # JSON has no word for these
            return {"~": "float", "bits": np.float64(value).tobytes().hex()}
        if isinstance(value, (int, float)):
            return value.item() if isinstance(value, np.generic) else value
        if isinstance(value, np.generic):
            return self.value(value.item())
        names = isinstance(value, tuple) and set(map(type, value)) == {str}
        if names or isinstance(value, (model.Choice, model.Constraint, model.DataSpec)):
            # What every step of an undo stack repeats: written once.
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
        """Where ``thing`` stands in the table: once for each ``key``, or for each object."""
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
        # What undo keeps packed is of this process: a file has no more of it than it ever had.
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
        except TypeError:  # a method's private object: the next run goes on from the tree
            return None


class Decoder:
    """The way back. Raises :class:`SessionFileError`, or whatever nonsense makes Python raise.

    What is decoded takes no more room than the document allows: a shared value is a name list or a
    small object, so that values do not multiply by holding each other, and all arrays together
    take at most ``most_bytes``.
    """

    def __init__(
        self, document: Any, read: Callable[[str], bytes], most_bytes: int = 64 * 2**20
    ) -> None:
        self._document = document
        self._read = read
        self._bytes_left = most_bytes
        self._shared: list[Any] = []
        self._names: set[int] = set()  # the ids of shared tuples of texts, which are checked once
        self._trees: list[Tree] = []
        self._snapshots: list[Snapshot] = []
        for each in document["shared"]:
            self._share(self.value(each))
        self._trees = [self._tree(each) for each in document["trees"]]
        self._snapshots = [self._snapshot(each) for each in document["snapshots"]]

    def _share(self, value: Any) -> None:
        if isinstance(value, tuple) and conforms(value, tuple[str, ...]):
            self._names.add(id(value))
        elif not isinstance(value, (model.Choice, model.Constraint, model.DataSpec)):
            raise SessionFileError(
                "The session file shares a value that is neither a list of names nor an answer.",
                "Nothing was changed. Save the session again and open that file.",
            )
        self._shared.append(value)

    def session(self) -> model.Session:
        return checked(self.value(self._document["session"]), model.Session, "the session")

    def value(self, value: Any) -> Any:
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
        # What a field with a default says was not said yet by the hcviz that wrote the file.
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
        """An .npy entry, its header believed only as far as the bytes reach."""
        content = self._read(name)
        buffer = io.BytesIO(content)
        if np.lib.format.read_magic(buffer) != (1, 0):
            raise SessionFileError(f"The entry {name} is no array of the kind written here.")
        shape, in_fortran_order, dtype = np.lib.format.read_array_header_1_0(buffer)
        body = content[buffer.tell() :]
        count = 1
        for side in shape:
            count *= int(side)
        if dtype.kind not in "iufb" or in_fortran_order or count * dtype.itemsize != len(body):
            raise SessionFileError(f"The entry {name} is no array of the kind written here.")
        self._bytes_left -= len(body)
        if self._bytes_left < 0:
            raise SessionFileError("The arrays in the session file repeat more than sessions do.")
        return np.frombuffer(body, dtype).reshape(shape).copy()  # writable, as kernels want it

    def _tree(self, value: Any) -> Tree:
        parent, height = self.value(value["parent"]), self.value(value["height"])
        if parent.dtype != np.int32 or height.dtype != np.float64:
            raise SessionFileError("A tree in the session file has arrays of the wrong type.")
        return Tree(parent, height, checked(value["n_leaves"], int))

    def _snapshot(self, value: Any) -> Snapshot:
        parts = {part.name: self.value(value[part.name]) for part in fields(Snapshot)}
        for name, hint in _hints(Snapshot).items():
            checked(parts[name], hint, f"Snapshot.{name}")
        for name in ("metrics", "matrices", "views"):  # a worker process gets them by pickle
            parts[name] = dict(parts[name])
        if isinstance(parts["state"], MappingProxyType):
            parts["state"] = dict(parts["state"])
        return Snapshot(**parts)


# ---------------------------------------------------------------------- types


@cache
def _hints(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls)
    if "metrics" in hints:  # whatever a method counts: shown, never computed with
        hints["metrics"] = Mapping[str, Any]
    return hints


def checked(value: Any, hint: Any, where: str = "a value") -> Any:
    """``value``, if it is what the type hint says; else :class:`SessionFileError`."""
    if not conforms(value, hint):
        raise SessionFileError(f"In the session file {where} is of the wrong kind.")
    return value


def conforms(value: Any, hint: Any) -> bool:
    """Whether a value is of a type, as far as the hints of the session's classes need it."""
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
        if inside == (str, Ellipsis):  # ten thousand names, in every step of undo
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
