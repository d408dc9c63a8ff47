"""Reading of NumPy files: an ``.npy`` array of features, or an ``.npz`` with features and names."""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hcviz.core.errors import HcvizError, InvalidData, TooLarge
from hcviz.core.text import count_noun
from hcviz.datasets import Dataset
from hcviz.io.cells import MAX_NUMBER, quote
from hcviz.io.rawtable import MAX_ROWS
from hcviz.io.unpacking import max_unpacked_bytes

#: Cells of an array: a million items with 64 features. Each column gets a name.
MAX_ARRAY_CELLS = 64_000_000
MAX_ARRAY_COLUMNS = 100_000
#: Arrays in an archive, and bytes of an array's header.
MAX_MEMBERS = 200
MAX_HEADER_BYTES = 12_000
#: Characters of a name.
MAX_NAME_LENGTH = 10_000
#: First bytes of the two kinds of file.
NPY, ZIP = b"\x93NUMPY", b"PK\x03\x04"


def is_array(content: bytes, filename: str = "") -> bool:
    """Return True for an ``.npy`` file, or a zip archive whose name ends in ``.npz``."""
    return content.startswith(NPY) or (
        content.startswith(ZIP) and filename.lower().endswith(".npz")
    )


def read_array(content: bytes, filename: str = "") -> Dataset:
    """Read numbers (n, d), one row per item with NaN where missing, as a data set.

    In an ``.npz``, the features are the array called ``features``, or else the only array with two
    dimensions. Labels are in ``labels`` and names of columns in ``feature_names``. Without labels,
    items are named by their row numbers. Pickled objects are refused.

    Raises
    ------
    TooLarge
        Above a million rows, 100,000 columns or 64 million cells, or if an archive unpacks to far
        more than its size.
    InvalidData
        If the file is damaged or does not hold such an array.
    """
    source = f"The file {filename!r}" if filename else "The file"
    try:
        features, labels, columns = _read_parts(content, source)
    except HcvizError:
        raise
    except Exception:  # NumPy and zipfile raise many types for a broken or pickled file
        raise InvalidData(
            f"{source} is damaged, or holds Python objects rather than numbers.",
            "Write plain numbers: numpy.save(file, array) or numpy.savez(file, features=array).",
        ) from None
    n = len(features)
    if labels is None:
        labels = tuple(f"row {row + 1}" for row in range(n))
    if len(labels) != n:
        raise InvalidData(
            f"{source} has {count_noun(len(labels), 'name')} for {n:,} rows of features."
        )
    return Dataset(
        name=Path(filename).stem or "array",
        title=filename or "Array",
        labels=labels,
        features=features,
        feature_names=columns,
        provenance=f"Your array {filename!r}." if filename else "Your array.",
    )


def _read_parts(content: bytes, source: str) -> tuple[Any, Any, tuple[str, ...]]:
    """Return ``(features float64 (n, d), labels or None, feature names)``. Labels are unchecked."""
    labels = names = None
    if content.startswith(NPY):
        _check_features(read_header(io.BytesIO(content), len(content)), source)
        array = _to_float64(np.load(io.BytesIO(content), allow_pickle=False), source)
    else:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            key, others = _choose_members(archive, len(content), source)
            array = _to_float64(_read(archive, key), source)
            labels, names = (_to_texts(_read(archive, each)) if each else None for each in others)
    if names is None or len(names) != array.shape[1]:
        names = tuple(f"column {k + 1}" for k in range(array.shape[1]))
    return array, labels, names


def _choose_members(
    archive: zipfile.ZipFile, packed: int, source: str
) -> tuple[str, tuple[str, str]]:
    """Return the archive's members with the features, and with labels and feature names ("" if
    missing).

    This reads and checks headers only: nothing is unpacked yet.
    """
    members = {each.filename.removesuffix(".npy"): each for each in archive.infolist()}
    key = "features" if "features" in members else None
    if key is None:
        candidates = list(members.values())[:MAX_MEMBERS]
        flat = [each for each in candidates if len(_header_in(archive, each).shape) == 2]
        key = flat[0].filename.removesuffix(".npy") if len(flat) == 1 else None
    if key is None or len(members) > MAX_MEMBERS:
        listed = ", ".join(quote(name) for name in list(members)[:5]) or "nothing"
        raise InvalidData(
            f"{source} holds {listed}: which are the features?",
            "Name the array of numbers, with one row per item, 'features'.",
        )
    shape = _check_features(_header_in(archive, members[key]), source)
    used, unpacked = [], members[key].file_size
    for name, most in (("labels", shape[0]), ("feature_names", shape[1])):
        header = _header_in(archive, members[name]) if name in members else None
        if header is not None and header.count > most and name == "labels":
            raise InvalidData(
                f"{source} has {header.count:,} names for {shape[0]:,} rows of features.",
                "Give one name for each row.",
            )
        if header is not None and header.dtype.itemsize > 4 * MAX_NAME_LENGTH:
            raise InvalidData(
                f"{source} has {name} of more than {MAX_NAME_LENGTH:,} characters.",
                "Give shorter names.",
            )
        fits = header is not None and header.count <= most
        used.append(members[name].filename if fits else "")
        unpacked += members[name].file_size if fits else 0
    if unpacked > max_unpacked_bytes(packed):
        raise TooLarge(
            f"{source} would unpack to {unpacked / 2**20:,.0f} MB, {unpacked // packed:,} times "
            "its size.",
            "Save it without compression (numpy.savez), or take a sample.",
        )
    return members[key].filename, (used[0], used[1])


@dataclass(frozen=True)
class Header:
    """Shape and type of an array, from its header. :func:`read_header` has checked the size."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def count(self) -> int:
        return math.prod(self.shape)


def read_header(file: Any, size: int) -> Header:
    """Read the header of an array file of ``size`` bytes.

    Raises
    ------
    ValueError
        If the header is damaged, they disagree, or the cells are Python objects.
    """
    try:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers of Python 2
            shape, _, dtype = read(file)
    except Exception as fault:  # NumPy raises errors of Python's own parser
        raise ValueError(f"the header is damaged: {fault}") from None
    header = Header(tuple(map(int, shape)), dtype)
    if min(header.shape, default=0) < 0:
        raise ValueError("a negative dimension")
    if dtype.hasobject or (header.count and not dtype.itemsize):
        raise ValueError("Python objects, or cells without bytes")
    if header.count * dtype.itemsize != size - file.tell():
        raise ValueError("the size of the array differs from its header")
    return header


def _header_in(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Header:
    with archive.open(member) as file:
        return read_header(io.BytesIO(file.read(MAX_HEADER_BYTES)), member.file_size)


def _read(archive: zipfile.ZipFile, name: str) -> Any:
    with archive.open(name) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _to_texts(array: Any) -> tuple[str, ...]:
    if array.dtype.kind == "S":  # bytes, read as UTF-8
        array = np.char.decode(array, "utf-8", "replace")
    return tuple(str(name) for name in array.ravel().tolist())


def _check_features(array: Any, source: str) -> tuple[int, int]:
    """Return the shape of an array or a header. Raise an error unless it can be a table."""
    if len(array.shape) != 2 or array.dtype.kind not in "biuf":
        shape = " x ".join(map(str, array.shape)) or "no dimension"
        raise InvalidData(
            f"{source} holds {array.dtype} of shape {shape}.",
            "Give numbers in two dimensions: one row per item, one column per feature.",
        )
    rows, columns = array.shape
    if rows * columns > MAX_ARRAY_CELLS:
        raise TooLarge(
            f"{source} has {rows:,} x {columns:,} cells; the limit is {MAX_ARRAY_CELLS:,}.",
            "Take a sample.",
        )
    if rows > MAX_ROWS or columns > MAX_ARRAY_COLUMNS:
        raise TooLarge(
            f"{source} has {count_noun(rows, 'row')} and {count_noun(columns, 'column')}; the "
            f"limits are {MAX_ROWS:,} and {MAX_ARRAY_COLUMNS:,}.",
            "Take a sample.",
        )
    if rows < 2 or columns < 1:
        raise InvalidData(
            f"{source} has {count_noun(rows, 'row')} and {count_noun(columns, 'column')}.",
            "A hierarchy needs two or more items, and one or more features.",
        )
    return rows, columns


def _to_float64(array: Any, source: str) -> Any:
    """Return the numbers as float64. Raise InvalidData if one is too large."""
    _check_features(array, source)
    values = np.array(array, dtype=np.float64)
    wrong = np.argwhere(np.isinf(values) | (np.abs(values) > MAX_NUMBER))
    if wrong.size:
        row, column = wrong[0]
        raise InvalidData(
            f"Row {row + 1}, column {column + 1} of the array is {values[row, column]:g}, which "
            "is too large.",
            f"Numbers may go up to {MAX_NUMBER:g}; NaN is a missing cell.",
        )
    return values


__all__ = [
    "MAX_ARRAY_CELLS", "MAX_ARRAY_COLUMNS", "Header", "is_array", "read_array", "read_header",
]  # fmt: skip
