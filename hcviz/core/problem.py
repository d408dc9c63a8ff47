"""``Problem``: what is known about the items."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse

from hcviz.core.cells import LARGEST
from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.frames import features_of_frame, is_frame, matrix_of_frame
from hcviz.core.similarity import from_distance, similarity_from_features
from hcviz.core.triplets import Comparisons, Triplets
from hcviz.core.whole import whole_number

Float = NDArray[np.float64]

#: A sparse similarity of more items is not made dense: 800 MB.
MOST_DENSE = 10_000
#: Rows of a matrix that are compared with its columns at a time.
ROWS = 256


@runtime_checkable
class SimilarityOracle(Protocol):
    """Answers with numbers: how similar are these items to those?

    Symmetric; an item's similarity to itself means nothing. It may say more of itself, each False
    where it does not: ``cheap = True`` (to ask again costs less than to remember; else a run keeps
    the answers, and asks for each pair once), ``thread_safe = True`` (threads may ask at once; else
    one at a time does), ``symmetric = True`` (else some pairs are asked both ways round),
    ``all_at_once = True`` (methods that need a matrix may ask for all of them) and ``pictures =
    True`` (a heatmap may ask for some ten thousand more than a method has).

    Where a call is dear, not a pair alone, it has ``paired_similarity(first, second)`` too: the
    similarities of ``first[i]`` with ``second[i]``, shape (len(first),). Answers that are kept are
    then completed in one call, where ``similarity`` would be called row by row.
    """

    n_items: int

    def similarity(self, rows: NDArray[np.int32], cols: NDArray[np.int32]) -> Float:
        """Similarities, shape (len(rows), len(cols))."""
        ...


@runtime_checkable
class ComparisonOracle(Protocol):
    """Answers with signs: which of two pairs is the more alike?"""

    n_items: int

    def compare(self, first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int8]:
        """+1 where pair ``first[i]`` is more alike than ``second[i]``, -1 where less, 0 for a tie.

        Both are int32 (m, 2); the answer is int8 (m,).
        """
        ...


@dataclass(frozen=True, eq=False)
class Problem:
    """Items and what is known of them; at least one of the fields must say how many there are.

    Parameters
    ----------
    labels : sequence of str, optional
        n different names; default the index of a DataFrame, else ``"0" .. "n-1"``.
    features : float64 (n, d) or DataFrame, optional
        Finite, up to 1e100 either way. d = 0 is allowed (the sampler then draws from its prior).
        The columns of a pandas DataFrame are read as those of a table: numbers as they are, yes/no
        and true/false as one 0/1 column, and each value of a category as a 0/1 column
        ``column=value``. A missing cell gets the mean of its column. Columns called class, label,
        species or image, empty ones and texts that are no categories are left out, with a
        UserWarning.
    similarity : float64 (n, n), optional
        Finite (to 1e100) and symmetric; larger is more alike; the diagonal is ignored. A
        scipy.sparse matrix or array stays sparse (a ``csr_array``, int32 indices): pairs that it
        leaves out are 0, and none may be negative. The index and columns of a DataFrame are the
        items, as with ``dissimilarity``.
    dissimilarity : float64 (n, n), optional
        Distances as they were measured: finite, symmetric, 0 or more; the diagonal is ignored. Read
        by linkages and by methods for dissimilarities; to all others, where nothing else says how
        alike items are, a distance d is the similarity (max d - d) / max d.
    triplets, comparisons : optional
        What people said: hard or soft ab|c, and answers about hidden similarities.
    oracle : optional
        A :class:`SimilarityOracle` or :class:`ComparisonOracle`.
    feature_names : sequence of str, optional
        d names, for the views; default those of a DataFrame.

    Raises :class:`InvalidData` or :class:`InvalidConstraint`, naming the row and column.

    Examples
    --------
    >>> import pandas as pd
    >>> fruit = {"grams": [150, 9], "colour": ["red", "green"], "sour": [False, True]}
    >>> problem = Problem(features=pd.DataFrame(fruit, index=["apple", "grape"]))
    >>> problem.labels
    ('apple', 'grape')
    >>> problem.feature_names
    ('grams', 'colour=green', 'colour=red', 'sour')
    """

    labels: Sequence[str] | None = None
    features: Any = None
    similarity: Any = None
    triplets: Any = None
    comparisons: Any = None
    oracle: Any = None
    feature_names: Sequence[str] | None = None
    dissimilarity: Any = None
    n_items: int = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        self._read_frames()
        counts: dict[str, int] = {}
        if self.labels is not None:
            put(self, "labels", check_labels(self.labels))
            counts["labels"] = len(self.labels)
        if self.features is not None:
            put(self, "features", check_features(self.features))
            counts["rows of features"] = len(self.features)
        if self.similarity is not None:
            check = check_sparse if issparse(self.similarity) else check_square
            put(self, "similarity", check(self.similarity, "similarity"))
            counts["rows of similarity"] = self.similarity.shape[0]
        if self.dissimilarity is not None:
            put(self, "dissimilarity", check_far(self.dissimilarity))
            counts["rows of dissimilarity"] = len(self.dissimilarity)
            if self.similarity is None and self.features is None and self.oracle is None:
                far = self.dissimilarity.copy()
                np.fill_diagonal(far, 0.0)
                turned = from_distance(far)
                put(self, "similarity", check_square(turned, "similarity"))
        if self.oracle is not None:
            counts["items of the oracle"] = check_oracle(self.oracle)
        if self.comparisons is not None and not isinstance(self.comparisons, Comparisons):
            put(self, "comparisons", Comparisons(self.comparisons))
        put(self, "triplets", Triplets.of(self.triplets))
        if len(set(counts.values())) > 1:
            said = ", ".join(f"{count} {what}" for what, count in counts.items())
            raise InvalidData(f"The parts of a problem disagree on the number of items: {said}.")
        named = [int(self.triplets.rows.max(initial=-1)) + 1]
        if self.comparisons is not None:
            named.append(self.comparisons.n_named)
        n = next(iter(counts.values()), max(named, default=0))
        if n < 1:
            raise InvalidData(
                "A problem needs items.", "Give labels, features, a similarity or comparisons."
            )
        put(self, "n_items", n)
        Triplets.of(self.triplets, n)
        if self.comparisons is not None and named[-1] > n:
            raise InvalidData(
                f"The comparisons name item {named[-1] - 1}, but there are only {n} items."
            )
        if self.labels is None:
            put(self, "labels", tuple(str(i) for i in range(n)))
        if self.feature_names is not None:
            put(self, "feature_names", _texts(self.feature_names, "feature_names"))
            if self.features is None or len(self.feature_names) != self.features.shape[1]:
                raise InvalidData("feature_names must name each column of features once.")

    def _read_frames(self) -> None:
        """Put arrays in the place of DataFrames, and the names that these have, if none are
        given."""
        put = object.__setattr__
        named: dict[str, tuple[str, ...]] = {}
        if is_frame(self.features):
            read = features_of_frame(self.features)
            put(self, "features", read.features)
            if self.feature_names is None:
                put(self, "feature_names", read.names)
            named["features"] = read.labels
        for noun in ("similarity", "dissimilarity"):
            if is_frame(getattr(self, noun)):
                named[noun], matrix = matrix_of_frame(getattr(self, noun), noun)
                put(self, noun, matrix)
        if len(set(named.values())) > 1:
            said = " and ".join(named)
            raise InvalidData(
                f"The DataFrames of {said} name different items, or in another order.",
                "Give them the same index: frame.loc[other.index].",
            )
        if self.labels is None and named:
            put(self, "labels", next(iter(named.values())))

    def with_triplets(self, triplets: Any) -> Problem:
        """The same items under other triplets. O(their number)."""
        made = copy(self)  # all else was checked, and is frozen
        object.__setattr__(made, "triplets", Triplets.of(triplets, self.n_items))
        return made

    def with_oracle(self, oracle: Any) -> Problem:
        """The same items with another oracle. O(1)."""
        if check_oracle(oracle) != self.n_items:
            raise InvalidData(
                f"The oracle has {oracle.n_items} items, and the problem {self.n_items}."
            )
        made = copy(self)  # all else was checked, and is frozen
        made.__dict__.pop("similarity_or_default", None)  # that of the other oracle
        object.__setattr__(made, "oracle", oracle)
        return made

    def with_comparisons(self, more: Comparisons | None) -> Problem:
        """The same items with these answers beside those that there are. O(answers)."""
        if more is None or not len(more):
            return self
        if more.n_named > self.n_items:
            raise InvalidData(
                f"The comparisons name item {more.n_named - 1}, but there are only {self.n_items} "
                "items."
            )
        made = copy(self)  # all else was checked, and is frozen
        known = self.comparisons
        object.__setattr__(made, "comparisons", more if known is None else known + more)
        return made

    def as_dissimilarities(self) -> Problem:
        """The problem of a method that reads its numbers as dissimilarities: with the distances
        that were measured in the place of the similarity, where there are any; else itself."""
        if self.dissimilarity is None:
            return self
        made = copy(self)  # all was checked, and is frozen
        made.__dict__.pop("similarity_or_default", None)  # that of the other numbers
        object.__setattr__(made, "similarity", self.dissimilarity)
        return made

    @property
    def is_sparse(self) -> bool:
        """Whether the similarity is a sparse one."""
        return bool(issparse(self.similarity))

    @property
    def all_at_once(self) -> bool:
        """Whether there is an oracle that may be asked for all similarities."""
        return bool(getattr(self.oracle, "all_at_once", False))

    @cached_property
    def similarity_or_default(self) -> Float:
        """The similarity, else that of an oracle which may be asked for all, else the default one
        of the features: (1 + cosine)/2 of z-scores.

        Always dense, float64 (n, n). :class:`TooLarge` for more than 10,000 items, unless they are
        given dense.
        """
        if self.is_sparse:
            if self.n_items > MOST_DENSE:
                raise TooLarge(
                    f"This needs all {self.n_items:,} x {self.n_items:,} similarities, and is made "
                    f"for {MOST_DENSE:,} items at most; yours are sparse.",
                    "Use crsc, crbc or hrsc with spectral cuts, which keep them sparse.",
                )
            whole: Float = self.similarity.toarray()
            whole.flags.writeable = False
            return whole
        if self.similarity is not None:
            dense: Float = self.similarity
            return dense
        if self.features is None and not self.all_at_once:
            raise InvalidData(
                "This needs similarities, and the problem has neither a similarity nor features."
            )
        if self.n_items > MOST_DENSE:
            raise TooLarge(f"This {needs_all(self.n_items)}", ASKS_FEW)
        if self.all_at_once:
            every = np.arange(self.n_items, dtype=np.int32)
            asked: Float = np.asarray(self.oracle.similarity(every, every), dtype=np.float64)
            if not getattr(self.oracle, "cheap", False):  # those are ours: no need to look
                return check_square(asked, "similarity")
            asked.flags.writeable = False
            return asked
        return similarity_from_features(self.features)


#: What to do where all similarities are too many.
ASKS_FEW = "Use active-spectral, which asks for a few per cent of them, or take a sample."


def needs_all(n: int) -> str:
    """The rest of a sentence: how much room all similarities of ``n`` items take."""
    return (
        f"needs all {n:,} x {n:,} similarities at once: {n * n * 8 / 2**30:,.1f} GiB, where "
        f"{MOST_DENSE:,} items are the limit."
    )


def check_labels(labels: Sequence[Any]) -> tuple[str, ...]:
    """Names as strings; none empty, none twice."""
    names = _texts(labels, "Labels")
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        if not name.strip():
            raise InvalidData(f"Item {row} has an empty name.", "Give every item a name.")
        if name in seen:
            raise InvalidData(
                f"The name {name!r} stands twice: items {seen[name]} and {row}.",
                "Names must differ, since constraints speak of items by name.",
            )
        seen[name] = row
    return names


def _texts(values: Any, what: str) -> tuple[str, ...]:
    try:
        return tuple(str(value) for value in values)
    except TypeError:
        raise InvalidData(f"{what} must be a list of names, not {values!r}.") from None


def check_oracle(oracle: Any) -> int:
    """How many items the oracle knows."""
    if not isinstance(oracle, SimilarityOracle | ComparisonOracle):
        raise InvalidData(
            f"An oracle needs n_items and a method similarity or compare; {oracle!r} has not.",
            "See hcviz.core.problem.SimilarityOracle and ComparisonOracle.",
        )
    return whole_number(oracle.n_items, "The oracle's n_items", InvalidData, 1)


def as_problem(given: Any) -> Any:
    """A DataFrame, an array or nested lists as the problem of those features; else itself."""
    return Problem(features=given) if are_features(given) else given


def are_features(given: Any) -> bool:
    """Whether it is a table of numbers by its type: a DataFrame, an array, a matrix or a list."""
    nested = isinstance(given, list | tuple)
    return nested or hasattr(given, "__array__") or issparse(given)


def feature_table(features: ArrayLike) -> Float:
    """A float64 (n, d) array that is not changed elsewhere; its cells may be anything.

    A frozen array that owns its cells is taken as it is; of anything else a copy is made.
    """
    if issparse(features):
        raise InvalidData(
            "The features are a sparse matrix.",
            "Give features.toarray(); similarities may be sparse: Problem(similarity=...).",
        )
    try:
        array = features if _is_frozen(features) else np.array(features, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        if "inhomogeneous" in str(fault):
            raise InvalidData("Features must have shape (n, d): rows differ in length.") from None
        raise InvalidData(f"The features are not numbers: {fault}.") from None
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
    """A finite float64 (n, d) array, frozen."""
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
    """A finite, square, symmetric float64 array, frozen."""
    try:
        array = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise InvalidData(f"The {noun} matrix does not hold numbers: {fault}.") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        shape = " x ".join(str(side) for side in array.shape)
        raise InvalidData(f"A {noun} matrix must be square; this one is {shape}.")
    wrong = np.argwhere(~np.isfinite(array))
    if wrong.size:
        row, column = wrong[0]
        raise InvalidData(f"Row {row}, column {column} of the {noun} is {array[row, column]}.")
    _refuse_huge(array, noun)
    limit = 1e-9 * max(1.0, array.max(initial=0.0), -array.min(initial=0.0))
    for first in range(0, len(array), ROWS):  # the whole difference would be another matrix
        part = slice(first, first + ROWS)
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


def check_far(matrix: ArrayLike) -> Float:
    """As :func:`check_square`, and 0 or more off the diagonal."""
    array = check_square(matrix, "dissimilarity")
    below = np.argwhere(np.triu(array, 1) < 0)
    if below.size:
        row, column = below[0]
        raise InvalidData(
            f"Dissimilarities must be 0 or more; row {row}, column {column} is "
            f"{array[row, column]:g}.",
            "If larger means more alike, it is a similarity.",
        )
    return array


def check_sparse(matrix: Any, noun: str) -> Any:
    """A square, symmetric csr_array of finite float64 >= 0, int32 indices, frozen. O(nnz log)."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        shape = " x ".join(str(side) for side in matrix.shape)
        raise InvalidData(f"A {noun} matrix must be square; this one is {shape}.")
    if matrix.dtype.kind not in "biuf":
        raise InvalidData(f"The {noun} matrix does not hold numbers, but {matrix.dtype}.")
    array = csr_array(matrix, dtype=np.float64, copy=True)
    array.sum_duplicates()
    array.eliminate_zeros()
    for wrong, said in (
        (~np.isfinite(array.data), "must be finite"),
        (array.data > LARGEST, f"too large to compute with (the limit is {LARGEST:g})"),
        (array.data < 0, "must be 0 or more in a sparse matrix, where what is left out is 0"),
    ):
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            row = int(np.searchsorted(array.indptr, place, side="right")) - 1
            raise InvalidData(
                f"Row {row}, column {array.indices[place]} of the {noun} is "
                f"{array.data[place]:g}: {said}."
            )
    gap = coo_array(abs(array - array.T))
    limit = 1e-9 * max(1.0, float(array.data.max(initial=0.0)))
    if gap.nnz and gap.data.max() > limit:
        worst = int(gap.data.argmax())
        row, column = int(gap.coords[0][worst]), int(gap.coords[1][worst])
        raise InvalidData(
            f"A {noun} matrix must be symmetric; row {row}, column {column} is "
            f"{array[row, column]:g} and row {column}, column {row} is {array[column, row]:g}.",
            "A graph of nearest neighbours is made so by (a + a.T) / 2 or a.maximum(a.T).",
        )
    array.indptr = array.indptr.astype(np.int32)
    array.indices = array.indices.astype(np.int32)
    for part in (array.data, array.indptr, array.indices):
        part.flags.writeable = False
    return array


def _refuse_huge(array: Float, noun: str) -> None:
    if max(array.max(initial=0.0), -array.min(initial=0.0)) > LARGEST:
        row, column = np.argwhere(np.abs(array) > LARGEST)[0]
        raise InvalidData(
            f"Row {row}, column {column} of the {noun} is {array[row, column]:g}, too large to "
            f"compute with (the limit is {LARGEST:g}).",
            "Measure in a larger unit.",
        )


__all__ = ["ComparisonOracle", "Problem", "SimilarityOracle", "as_problem"]
