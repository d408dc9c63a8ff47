"""Features as NumPy wrote them: an ``.npy``, or an ``.npz`` of features and names."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from hcviz.core.errors import HcvizError, InvalidData, TooLarge
from hcviz.datasets import Dataset
from hcviz.io.cells import MAX_NUMBER

#: Cells of an array: a million items of 64 features.
MAX_ARRAY_CELLS = 64_000_000
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
    Raises :class:`TooLarge` above 64 million cells, :class:`InvalidData` for all else.
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
        raise InvalidData(f"{said} has {len(labels):,} names for {n:,} rows of features.")
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
        array = _loaded(np.load(io.BytesIO(content), allow_pickle=False), said)
    else:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(each.file_size for each in archive.infolist())
        if size > 16 * MAX_ARRAY_CELLS:
            raise TooLarge(f"{said} is too large once unpacked.", "Take a sample.")
        with np.load(io.BytesIO(content), allow_pickle=False) as held:
            key = "features" if "features" in held.files else None
            if key is None:
                flat = [name for name in held.files if held[name].ndim == 2]
                key = flat[0] if len(flat) == 1 else None
            if key is None:
                listed = ", ".join(held.files[:5]) or "nothing"
                raise InvalidData(
                    f"{said} holds {listed}: which are the features?",
                    "Call the array of numbers, an item a row, 'features'.",
                )
            array = _loaded(held[key], said)
            if "labels" in held.files:
                labels = _texts(held["labels"])
            if "feature_names" in held.files:
                names = _texts(held["feature_names"])
    if names is None or len(names) != array.shape[1]:
        names = tuple(f"column {k + 1}" for k in range(array.shape[1]))
    return array, labels, names


def _texts(array: Any) -> tuple[str, ...]:
    if array.dtype.kind == "S":  # bytes: they are text in UTF-8
        array = np.char.decode(array, "utf-8", "replace")
    return tuple(str(name) for name in array.ravel().tolist())


def _loaded(array: Any, said: str) -> Any:
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        shape = " x ".join(map(str, array.shape)) or "no dimension"
        raise InvalidData(
            f"{said} holds {array.dtype} of shape {shape}.",
            "Give numbers in two dimensions: an item a row, a feature a column.",
        )
    if array.size > MAX_ARRAY_CELLS:
        raise TooLarge(
            f"{said} has {array.shape[0]:,} x {array.shape[1]:,} cells; the limit is "
            f"{MAX_ARRAY_CELLS:,}.",
            "Take a sample.",
        )
    if array.shape[0] < 2 or array.shape[1] < 1:
        raise InvalidData(f"{said} has {array.shape[0]} rows and {array.shape[1]} columns.",
                          "A hierarchy needs two items or more, and a feature.")  # fmt: skip
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


__all__ = ["MAX_ARRAY_CELLS", "is_array", "read_array"]
