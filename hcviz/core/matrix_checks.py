"""Checks of features and of matrices of similarities or distances: each names the wrong cell."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse
from scipy.spatial.distance import squareform

from hcviz.core.errors import InvalidData
from hcviz.core.table_cells import MAX_NUMBER

Float = NDArray[np.float64]

#: Number of rows in a block of the check for symmetry.
BLOCK_ROWS = 256


def is_feature_table(given: Any) -> bool:
    """Return True for a DataFrame, an array, a sparse matrix, a list or a tuple."""
    nested = isinstance(given, list | tuple)
    return nested or hasattr(given, "__array__") or issparse(given)


def feature_table(features: ArrayLike) -> Float:
    """Convert features to a float64 (n, d) array; its cells are not checked.

    A read-only array that owns its memory is returned unchanged; anything else is copied.
    """
    if issparse(features):
        raise InvalidData(
            "The features are a sparse matrix.",
            "Give a dense array. For similarities, write Problem(similarity=matrix).",
        )
    try:
        array = features if _is_frozen(features) else np.array(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if "inhomogeneous" in str(error):
            raise InvalidData("Features must have shape (n, d): rows differ in length.") from None
        raise InvalidData(f"The features are not numbers: {error}.") from None
    if array.ndim != 2:
        column = ".to_frame()" if hasattr(features, "to_frame") else ".reshape(-1, 1)"
        raise InvalidData(
            f"Features must have shape (n, d), not {array.shape}.",
            f"For a single feature give features{column}." if array.ndim == 1 else "",
        )
    return array


def _is_frozen(array: Any) -> TypeGuard[Float]:
    plain = type(array) is np.ndarray and array.dtype == np.float64
    return plain and array.flags.owndata and not array.flags.writeable


def check_features(features: ArrayLike) -> Float:
    """Return features as a finite, read-only float64 (n, d) array."""
    array = feature_table(features)
    wrong = np.argwhere(~np.isfinite(array))
    if wrong.size:
        row, column = wrong[0]
        raise InvalidData(
            f"Row {row}, column {column} of the features is {array[row, column]} "
            f"({len(wrong)} such cell(s) in all).",
            "Fill missing cells first: hcviz.datasets.fill_missing(features).",
        )
    _refuse_huge(array, "features")
    array.flags.writeable = False
    return array


def check_square(matrix: ArrayLike, noun: str) -> Float:
    """Return a matrix as a finite, square, symmetric, read-only float64 array."""
    try:
        array = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"The {noun} matrix does not hold numbers: {error}.") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        shape = " x ".join(str(side) for side in array.shape)
        raise InvalidData(f"A {noun} matrix must be square; this one is {shape}.")
    wrong = np.argwhere(~np.isfinite(array))
    if wrong.size:
        row, column = wrong[0]
        raise InvalidData(f"Row {row}, column {column} of the {noun} is {array[row, column]}.")
    _refuse_huge(array, noun)
    limit = 1e-9 * max(1.0, array.max(initial=0.0), -array.min(initial=0.0))
    for first in range(0, len(array), BLOCK_ROWS):  # in blocks, to save memory
        part = slice(first, first + BLOCK_ROWS)
        gap = np.abs(array[part] - array[:, part].T)
        if gap.max() > limit:
            row, column = np.unravel_index(int(gap.argmax()), gap.shape)
            row += first
            raise InvalidData(
                f"A {noun} matrix must be symmetric; row {row}, column {column} is "
                f"{array[row, column]:g} and row {column}, column {row} is {array[column, row]:g}."
            )
    array.flags.writeable = False
    return array


def check_dissimilarity(matrix: ArrayLike) -> Float:
    """Check a matrix with :func:`check_square`; entries off the diagonal must be 0 or more."""
    array = check_square(_uncondensed(matrix), "dissimilarity")
    below = np.argwhere(np.triu(array, 1) < 0)
    if below.size:
        row, column = below[0]
        raise InvalidData(
            f"Dissimilarities must be 0 or more; row {row}, column {column} is "
            f"{array[row, column]:g}.",
            "If larger numbers mean more similar, give the matrix as similarity.",
        )
    return array


def _uncondensed(matrix: Any) -> Any:
    """Return the square matrix of scipy's condensed distances; return other values unchanged."""
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 1 or matrix.dtype.kind not in "iuf":
        return matrix
    n = round((1.0 + (1.0 + 8.0 * matrix.size) ** 0.5) / 2.0)
    return squareform(matrix, checks=False) if n * (n - 1) // 2 == matrix.size > 0 else matrix


def check_sparse(matrix: Any, noun: str) -> Any:
    """Return a sparse matrix as a read-only, symmetric csr_array of finite float64 >= 0.

    Its indices are int32. O(nnz log nnz).
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        shape = " x ".join(str(side) for side in matrix.shape)
        raise InvalidData(f"A {noun} matrix must be square; this one is {shape}.")
    if matrix.dtype.kind not in "biuf":
        raise InvalidData(f"The {noun} matrix does not hold numbers, but {matrix.dtype}.")
    array = csr_array(matrix, dtype=np.float64, copy=True)
    array.sum_duplicates()
    array.eliminate_zeros()
    for wrong, problem in (
        (~np.isfinite(array.data), "must be finite"),
        (array.data > MAX_NUMBER, f"too large to compute with (the limit is {MAX_NUMBER:g})"),
        (array.data < 0, "must be 0 or more in a sparse matrix, where missing entries are 0"),
    ):
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            row = int(np.searchsorted(array.indptr, place, side="right")) - 1
            raise InvalidData(
                f"Row {row}, column {array.indices[place]} of the {noun} is "
                f"{array.data[place]:g}: {problem}."
            )
    gap = coo_array(abs(array - array.T))
    limit = 1e-9 * max(1.0, float(array.data.max(initial=0.0)))
    if gap.nnz and gap.data.max() > limit:
        worst = int(gap.data.argmax())
        row, column = int(gap.coords[0][worst]), int(gap.coords[1][worst])
        raise InvalidData(
            f"A {noun} matrix must be symmetric; row {row}, column {column} is "
            f"{array[row, column]:g} and row {column}, column {row} is {array[column, row]:g}.",
            "To make a graph of nearest neighbours symmetric, use (a + a.T) / 2 or a.maximum(a.T).",
        )
    array.indptr = array.indptr.astype(np.int32)
    array.indices = array.indices.astype(np.int32)
    for part in (array.data, array.indptr, array.indices):
        part.flags.writeable = False
    return array


def _refuse_huge(array: Float, noun: str) -> None:
    if max(array.max(initial=0.0), -array.min(initial=0.0)) > MAX_NUMBER:
        row, column = np.argwhere(np.abs(array) > MAX_NUMBER)[0]
        raise InvalidData(
            f"Row {row}, column {column} of the {noun} is {array[row, column]:g}, too large to "
            f"compute with (the limit is {MAX_NUMBER:g}).",
            "Measure in a larger unit.",
        )


__all__ = [
    "check_dissimilarity",
    "check_features",
    "check_sparse",
    "check_square",
    "feature_table",
    "is_feature_table",
]
