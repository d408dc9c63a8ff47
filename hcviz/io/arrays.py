"""Features as NumPy wrote them: an ``.npy``, or an ``.npz`` of features and names."""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hcviz.core.errors import HcvizError, InvalidData, TooLarge
from hcviz.datasets import Dataset
from hcviz.io.cells import MAX_NUMBER, count, quote
from hcviz.io.rawtable import MAX_ROWS
from hcviz.io.unpacking import most_unpacked

#: Cells of an array: a million items of 64 features. Its columns are named one by one.
MAX_ARRAY_CELLS = 64_000_000
MAX_ARRAY_COLUMNS = 100_000
#: Arrays in an archive whose headers are read, and the bytes of one that a header may take.
MAX_MEMBERS = 200
LONGEST_HEADER = 12_000
#: Characters of a name in an archive.
LONGEST_NAME = 10_000
#: How such files begin.
NPY, ZIP = b"\x93NUMPY", b"PK\x03\x04"


def is_array(content: bytes, filename: str = "") -> bool:
    """Whether the bytes are a NumPy array, or say that they are an archive of some."""
    return content.startswith(NPY) or (
        content.startswith(ZIP) and filename.lower().endswith(".npz")
    )


def read_array(content: bytes, filename: str = "") -> Dataset:
    """Numbers (n, d), an item a row, NaN where missing, as a data set.

    Of an ``.npz``: the array called ``features``, else the only one of two dimensions; names are
    those in ``labels``. Without names items are called by their row numbers. No pickled objects.
    Raises :class:`TooLarge` above a million rows, 100,000 columns or 64 million cells, and for an
    archive that unpacks to far more than its size; :class:`InvalidData` for all else.
    """
    said = f"The file {filename!r}" if filename else "The file"
    try:
        features, labels, columns = _parts(content, said)
    except HcvizError:
        raise
    except Exception:  # whatever NumPy and zipfile make of a broken or pickled file
        raise InvalidData(
            f"{said} is damaged, or holds Python objects rather than numbers.",
            "Write plain numbers: numpy.save(file, array) or numpy.savez(file, features=array).",
        ) from None
    n = len(features)
    if labels is None:
        labels = tuple(f"row {row + 1}" for row in range(n))
    if len(labels) != n:
        raise InvalidData(f"{said} has {count(len(labels), 'name')} for {n:,} rows of features.")
    return Dataset(
        name=Path(filename).stem or "array",
        title=filename or "Array",
        labels=labels,
        features=features,
        feature_names=columns,
        provenance=f"Your array {filename!r}." if filename else "Your array.",
    )


def _parts(content: bytes, said: str) -> tuple[Any, Any, tuple[str, ...]]:
    """``(features float64 (n, d), names or None, names of columns)``, checked but for the names."""
    labels = names = None
    if content.startswith(NPY):
        _check_features(_header(io.BytesIO(content), len(content)), said)
        array = _loaded(np.load(io.BytesIO(content), allow_pickle=False), said)
    else:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            key, others = _chosen(archive, len(content), said)
            array = _loaded(_read(archive, key), said)
            labels, names = (_texts(_read(archive, each)) if each else None for each in others)
    if names is None or len(names) != array.shape[1]:
        names = tuple(f"column {k + 1}" for k in range(array.shape[1]))
    return array, labels, names


def _chosen(archive: zipfile.ZipFile, packed: int, said: str) -> tuple[str, tuple[str, str]]:
    """Names in the archive: of the features, and of labels and feature names, "" where there are
    none. Only headers are read; what an array claims is checked before it is unpacked."""
    members = {each.filename.removesuffix(".npy"): each for each in archive.infolist()}
    key = "features" if "features" in members else None
    if key is None:
        looked_at = list(members.values())[:MAX_MEMBERS]
        flat = [each for each in looked_at if len(_header_in(archive, each).shape) == 2]
        key = flat[0].filename.removesuffix(".npy") if len(flat) == 1 else None
    if key is None or len(members) > MAX_MEMBERS:
        listed = ", ".join(quote(name) for name in list(members)[:5]) or "nothing"
        raise InvalidData(
            f"{said} holds {listed}: which are the features?",
            "Call the array of numbers, an item a row, 'features'.",
        )
    shape = _check_features(_header_in(archive, members[key]), said)
    used, unpacked = [], members[key].file_size
    for name, most in (("labels", shape[0]), ("feature_names", shape[1])):
        header = _header_in(archive, members[name]) if name in members else None
        if header is not None and header.count > most and name == "labels":
            raise InvalidData(
                f"{said} has {header.count:,} names for {shape[0]:,} rows of features.",
                "Give a name for each row.",
            )
        if header is not None and header.dtype.itemsize > 4 * LONGEST_NAME:
            raise InvalidData(
                f"{said} has {name} of more than {LONGEST_NAME:,} characters.",
                "Give shorter names.",
            )
        fits = header is not None and header.count <= most
        used.append(members[name].filename if fits else "")
        unpacked += members[name].file_size if fits else 0
    if unpacked > most_unpacked(packed):
        raise TooLarge(
            f"{said} would unpack to {unpacked / 2**20:,.0f} MB, {unpacked // packed:,} times its "
            "size.",
            "Save it without compression (numpy.savez), or take a sample.",
        )
    return members[key].filename, (used[0], used[1])


@dataclass(frozen=True)
class _Header:
    """What an array in NumPy's format says it holds; :func:`_header` has checked its size."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def count(self) -> int:
        return math.prod(self.shape)


def _header(file: Any, size: int) -> _Header:
    """The header of an array of ``size`` bytes in all. ValueError where the two disagree."""
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, _, dtype = read(file)
    header = _Header(tuple(map(int, shape)), dtype)
    if min(header.shape, default=0) < 0:
        raise ValueError("a negative dimension")
    if dtype.hasobject or (header.count and not dtype.itemsize):
        raise ValueError("Python objects, or cells without bytes")
    if header.count * dtype.itemsize != size - file.tell():
        raise ValueError("the array is shorter or longer than its header says")
    return header


def _header_in(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> _Header:
    with archive.open(member) as file:
        return _header(io.BytesIO(file.read(LONGEST_HEADER)), member.file_size)


def _read(archive: zipfile.ZipFile, name: str) -> Any:
    with archive.open(name) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _texts(array: Any) -> tuple[str, ...]:
    if array.dtype.kind == "S":  # bytes: they are text in UTF-8
        array = np.char.decode(array, "utf-8", "replace")
    return tuple(str(name) for name in array.ravel().tolist())


def _check_features(array: Any, said: str) -> tuple[int, int]:
    """The shape of an array, or of what its header says; refused unless it can be a table."""
    if len(array.shape) != 2 or array.dtype.kind not in "biuf":
        shape = " x ".join(map(str, array.shape)) or "no dimension"
        raise InvalidData(
            f"{said} holds {array.dtype} of shape {shape}.",
            "Give numbers in two dimensions: an item a row, a feature a column.",
        )
    rows, columns = array.shape
    if rows * columns > MAX_ARRAY_CELLS:
        raise TooLarge(
            f"{said} has {rows:,} x {columns:,} cells; the limit is {MAX_ARRAY_CELLS:,}.",
            "Take a sample.",
        )
    if rows > MAX_ROWS or columns > MAX_ARRAY_COLUMNS:
        raise TooLarge(
            f"{said} has {count(rows, 'row')} and {count(columns, 'column')}; the limits are "
            f"{MAX_ROWS:,} and {MAX_ARRAY_COLUMNS:,}.",
            "Take a sample.",
        )
    if rows < 2 or columns < 1:
        raise InvalidData(
            f"{said} has {count(rows, 'row')} and {count(columns, 'column')}.",
            "A hierarchy needs two items or more, and a feature.",
        )
    return rows, columns


def _loaded(array: Any, said: str) -> Any:
    """The numbers as float64; refused where one is too large."""
    _check_features(array, said)
    values = np.array(array, dtype=np.float64)
    wrong = np.argwhere(np.isinf(values) | (np.abs(values) > MAX_NUMBER))
    if wrong.size:
        row, column = wrong[0]
        raise InvalidData(
            f"Row {row + 1}, column {column + 1} of the array is {values[row, column]:g}, too "
            "large to reckon with.",
            f"Numbers may go up to {MAX_NUMBER:g}; NaN is a missing cell.",
        )
    return values


__all__ = ["MAX_ARRAY_CELLS", "MAX_ARRAY_COLUMNS", "is_array", "read_array"]
