"""Similarity oracles over matrices, features, functions and strings, without an n x n array."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import pdist, squareform

from hcviz.core import oraclekernels as kernels
from hcviz.core.errors import HcvizError, InvalidData, InvalidParameter
from hcviz.core.matrix_checks import check_features, check_sparse, check_square
from hcviz.core.oracle_protocols import SimilarityOracle
from hcviz.core.problem import Problem
from hcviz.core.similarity import scaled, zscore
from hcviz.core.validation import check_integer

Int = NDArray[np.int32]
Float = NDArray[np.float64]

#: The width of a Gaussian is measured on at most this many rows.
MAX_WIDTH_ROWS = 1000


class MatrixOracle:
    """A similarity matrix as an oracle: dense, or scipy.sparse with 0 for missing entries."""

    cheap = thread_safe = symmetric = all_at_once = True

    def __init__(self, matrix: Any) -> None:
        check = check_sparse if issparse(matrix) else check_square
        self.matrix: Any = check(matrix, "similarity")
        self.n_items = int(self.matrix.shape[0])

    @classmethod
    def of_checked(cls, matrix: Any) -> MatrixOracle:
        """Create an oracle without a copy from a matrix that :class:`Problem` has checked."""
        made = cls.__new__(cls)
        made.matrix, made.n_items = matrix, int(matrix.shape[0])
        return made

    def similarity(self, rows: Int, cols: Int) -> Float:
        """Return the similarities of ``rows`` and ``cols``, float64 (len(rows), len(cols))."""
        if issparse(self.matrix):
            return np.asarray(self.matrix[rows][:, cols].toarray())
        return np.asarray(self.matrix[np.ix_(rows, cols)])


def _unit_rows(features: Float) -> Float:
    length = np.linalg.norm(features, axis=1, keepdims=True)
    return np.divide(features, length, out=np.zeros_like(features), where=length > 0)


class FeatureOracle:
    """An oracle that computes similarities from features on request.

    Parameters
    ----------
    features : float64 (n, d)
        Finite numbers, one row for each item.
    kind : str
        ``cosine-z``: (1 + cosine of the z-scores) / 2, the default of hcviz. ``cosine``: cosine of
        the rows. ``correlation``: (1 + Pearson correlation of the rows) / 2. ``gaussian``:
        exp(-d^2 / 2h^2) of the z-scores. Equal to :mod:`hcviz.core.similarity` up to 1e-14.
    width : float or None
        The width h of the Gaussian. None: the median distance to the 7th neighbour, among at most
        1,000 evenly spaced rows.
    scale : (float64 (d,), float64 (d,)) or None
        Means and standard deviations for the z-scores; None: those of ``features``.
    factors : float64 (d,)
        The columns are multiplied by these after their scaling.

    Raises
    ------
    InvalidData
        The features are not valid, as for :class:`Problem`.
    InvalidParameter
        ``kind`` is unknown, or ``width`` is not positive.

    Notes
    -----
    O(d) for each similarity. The value of a pair does not depend on the block.

    Examples
    --------
    >>> oracle = FeatureOracle([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0]], kind="cosine")
    >>> oracle.similarity([0], [1, 2]).round(3).tolist()
    [[1.0, 0.0]]
    """

    cheap = thread_safe = symmetric = all_at_once = True
    KINDS = ("cosine-z", "cosine", "correlation", "gaussian")

    def __init__(
        self,
        features: ArrayLike,
        kind: str = "cosine-z",
        width: float | None = None,
        scale: tuple[Float, Float] | None = None,
        factors: Float | float = 1.0,
    ) -> None:
        self.check_kind(kind)
        raw = check_features(features)
        self.kind, self.n_items = kind, len(raw)
        if kind in ("correlation", "cosine"):
            raw = raw * factors
        if kind == "correlation":
            raw = raw - raw.sum(axis=1, keepdims=True) / max(raw.shape[1], 1)
        elif kind != "cosine":
            raw = (zscore(raw) if scale is None else scaled(raw, *scale)) * factors
        self.rows = np.ascontiguousarray(raw if kind == "gaussian" else _unit_rows(raw))
        self.width = 0.0
        if kind == "gaussian":
            self.width = self._default_width() if width is None else float(width)
            if not (np.isfinite(self.width) and self.width > 0):
                raise InvalidParameter(f"The width of a Gaussian must be positive, not {width}.")

    @classmethod
    def check_kind(cls, kind: str) -> None:
        """Raise an error for a similarity that depends on more than two rows.

        Parameters
        ----------
        kind : str
            Kind of similarity.

        Raises
        ------
        InvalidParameter
            The kind is not in ``KINDS``.

        Examples
        --------
        >>> FeatureOracle.check_kind("cosine")
        """
        if kind not in cls.KINDS:
            raise InvalidParameter(
                f"Similarities of kind {kind!r} cannot be computed one by one.",
                f"Those that can: {', '.join(cls.KINDS)}.",
            )

    def part(self, items: ArrayLike) -> FeatureOracle:
        """Return an oracle over a selection of the items.

        Parameters
        ----------
        items : int (k,)
            Items of this oracle. Item r of the result is ``items[r]``.

        Returns
        -------
        FeatureOracle
            Each pair has exactly the same similarity as in this oracle.

        Notes
        -----
        O(k d).

        Examples
        --------
        >>> oracle = FeatureOracle([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0]], kind="cosine")
        >>> oracle.part([2, 0]).similarity([0], [1]).tolist()
        [[0.0]]
        """
        return self._with_rows(np.ascontiguousarray(self.rows[np.asarray(items, np.int32)]))

    def joined_with(self, other: FeatureOracle) -> FeatureOracle:
        """Return an oracle over the items of this part, then those of another part.

        Parameters
        ----------
        other : FeatureOracle
            Another part of the same oracle.

        Returns
        -------
        FeatureOracle
            Each pair has exactly the same similarity as in the whole oracle.

        Notes
        -----
        O((k + l) d) for parts of k and l items.

        Examples
        --------
        >>> oracle = FeatureOracle([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0]], kind="cosine")
        >>> oracle.part([2]).joined_with(oracle.part([0, 1])).n_items
        3
        """
        return self._with_rows(np.concatenate([self.rows, other.rows]))

    def _with_rows(self, rows: Float) -> FeatureOracle:
        made = FeatureOracle.__new__(FeatureOracle)
        made.kind, made.width, made.rows, made.n_items = self.kind, self.width, rows, len(rows)
        return made

    def _default_width(self) -> float:
        n = self.n_items
        count = min(n, MAX_WIDTH_ROWS)
        distance = pdist(self.rows[np.arange(count) * n // count])
        median = float(np.median(np.sort(squareform(distance), axis=1)[:, min(7, count - 1)]))
        if median > 0:
            return median
        positive = distance[distance > 0]
        return float(np.median(positive)) if positive.size else 1.0

    def similarity(self, rows: Int, cols: Int) -> Float:
        """Return the similarities of all ``rows`` with all ``cols``.

        Parameters
        ----------
        rows, cols : int32 (r,), int32 (c,)
            Items; repeats are allowed.

        Returns
        -------
        float64 (r, c)
            The similarities.

        Notes
        -----
        O(r c d).

        Examples
        --------
        >>> oracle = FeatureOracle([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0]], kind="cosine")
        >>> oracle.similarity([0, 1], [2]).tolist()
        [[0.0], [0.0]]
        """
        rows, cols = np.asarray(rows, np.int32), np.asarray(cols, np.int32)
        if self.kind == "gaussian":
            return np.asarray(kernels.gaussians(self.rows, rows, cols, self.width))
        half = 1.0 if self.kind == "cosine" else 0.5
        return np.asarray(kernels.scaled_dots(self.rows, rows, cols, 1.0 - half, half))


class FunctionOracle:
    """An oracle that calls a Python function of two items.

    Parameters
    ----------
    function : callable
        ``function(a, b) -> float``, symmetric. It is called once for each pair of a request, with
        the lower item first; the first 16 pairs also in the other order, to check that. It is not
        called for an item with itself: that similarity is the
        largest other one of the request, or 0.
    items : sequence or None
        The arguments of the function, by position: a list, an array, a pandas Series (its index is
        ignored) or the rows of a DataFrame. None: the numbers of the items.
    n_items : int or None
        Number of items, if ``items`` is None.
    thread_safe : bool
        True: several threads may call the function at once.
    batched : bool
        True: ``function(first, second)`` takes two lists of items and returns one number for each
        pair. It is called once for a request, and once more to check symmetry.

    Raises
    ------
    InvalidData
        The function raises an exception, returns something other than one finite number, or is
        not symmetric; the message names the two items. Symmetry is checked for the first 16 pairs.

    Examples
    --------
    >>> oracle = FunctionOracle(lambda a, b: -abs(a - b), items=[1.0, 2.0, 5.0])
    >>> oracle.similarity([0], [1, 2]).tolist()
    [[-1.0, -4.0]]
    """

    #: Number of pairs that are computed in both orders, to detect an asymmetric function.
    SYMMETRY_CHECKS = 16
    symmetric = True  # this class raises an error if the function is not symmetric

    def __init__(
        self,
        function: Callable[[Any, Any], float],
        items: Sequence[Any] | None = None,
        n_items: int | None = None,
        thread_safe: bool = False,
        batched: bool = False,
    ) -> None:
        if not callable(function):
            raise InvalidData(f"A similarity function must be callable, not {function!r}.")
        if items is None and n_items is None:
            raise InvalidData("How many items are there?", "Give items, or n_items.")
        if items is not None and (
            isinstance(items, Mapping)
            or not (hasattr(items, "__len__") and hasattr(items, "__getitem__"))
        ):
            raise InvalidData(
                f"Items must have positions 0, 1, ... like a list; {type(items).__name__} has not.",
                "Give a list.",
            )
        self.function, self.items = function, items
        count = n_items if items is None else len(items)
        self.n_items = check_integer(count, "The number of items", InvalidData, 1)
        self.thread_safe, self.batched = bool(thread_safe), bool(batched)
        self._symmetry_checks = 0
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def similarity(self, rows: Int, cols: Int) -> Float:
        """Return the similarities of all ``rows`` with all ``cols``.

        Parameters
        ----------
        rows, cols : int32 (r,), int32 (c,)
            Items; repeats are allowed.

        Returns
        -------
        float64 (r, c)
            The similarities.

        Raises
        ------
        InvalidData
            The function fails, or its answer is not valid.

        Notes
        -----
        The function is called for each different pair, or once if it is batched.

        Examples
        --------
        >>> oracle = FunctionOracle(lambda a, b: -abs(a - b), items=[1.0, 2.0, 5.0])
        >>> oracle.similarity([0, 1], [2]).tolist()
        [[-4.0], [-3.0]]
        """
        rows, cols = np.asarray(rows), np.asarray(cols)
        values = self.paired_similarity(np.repeat(rows, cols.size), np.tile(cols, rows.size))
        return values.reshape(rows.size, cols.size)

    def paired_similarity(self, first: Int, second: Int) -> Float:
        """Return the similarities of pairs of items.

        Parameters
        ----------
        first, second : int32 (k,)
            The items of each pair.

        Returns
        -------
        float64 (k,)
            The similarity of ``first[i]`` and ``second[i]``.

        Raises
        ------
        InvalidData
            The function fails, or its answer is not valid.

        Examples
        --------
        >>> oracle = FunctionOracle(lambda a, b: -abs(a - b), items=[1.0, 2.0, 5.0])
        >>> oracle.paired_similarity([0, 2], [1, 1]).tolist()
        [-1.0, -3.0]
        """
        low, high = np.minimum(first, second), np.maximum(first, second)
        pairs = list(zip(low.tolist(), high.tolist(), strict=True))
        different = [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
        with contextlib.nullcontext() if self.thread_safe else self._lock:
            known = dict(zip(different, self._compute(different), strict=True))
        self_similarity = max(known.values(), default=0.0)
        return np.array([known.get(pair, self_similarity) for pair in pairs], dtype=np.float64)

    def _compute(self, pairs: list[tuple[int, int]]) -> list[float]:
        """Return the similarities of different pairs; the first ones are checked for symmetry."""
        if not self.batched:
            return [self._compute_one(*pair) for pair in pairs]
        values = self._call(pairs)
        checked = pairs[: self.SYMMETRY_CHECKS - self._symmetry_checks]
        self._symmetry_checks += len(checked)
        reverse = self._call([(y, x) for x, y in checked])
        for pair, value, other in zip(checked, values, reverse, strict=False):
            self._require_equal(*pair, value, other)
        return values

    def _compute_one(self, x: int, y: int) -> float:
        (value,) = self._call([(x, y)])
        if self._symmetry_checks < self.SYMMETRY_CHECKS:
            self._symmetry_checks += 1
            self._require_equal(x, y, value, *self._call([(y, x)]))
        return value

    def _require_equal(self, x: int, y: int, value: float, reverse: float) -> None:
        if abs(reverse - value) > 1e-9 * max(1.0, abs(value), abs(reverse)):
            raise InvalidData(
                f"The similarity function is not symmetric: items {x} and {y} have similarity "
                f"{value:g}, the other way round {reverse:g}.",
                "For example, return the mean of both.",
            )

    def _call(self, pairs: list[tuple[int, int]]) -> list[float]:
        """Call the function once: with all pairs if it is batched, else with the only pair."""
        if not pairs:
            return []
        arguments = self._arguments(pairs)
        try:
            answer = self.function(*arguments)
        except HcvizError:
            raise
        except Exception as error:
            x, y = pairs[0]
            first = f", items {x} and {y} first" if self.batched else ""
            raise InvalidData(
                f"The similarity function failed on {self._name(pairs)}{first} "
                f"({type(error).__name__}: {error})."
            ) from error
        try:
            numbers = _numbers(answer)
        except (TypeError, ValueError):
            raise InvalidData(
                f"The similarity function's answer on {self._name(pairs)} is not a "
                f"{'list of numbers' if self.batched else 'number'}: {answer!r:.60}."
            ) from None
        if not (numbers.shape == (len(pairs),) if self.batched else numbers.size == 1):
            raise InvalidData(
                f"The similarity function's answer on {self._name(pairs)} has shape "
                f"{numbers.shape}; one number {'for each pair ' * self.batched}is needed."
            )
        values: list[float] = numbers.ravel().tolist()
        for (x, y), value in zip(pairs, values, strict=True):
            if not math.isfinite(value):
                raise InvalidData(
                    f"The similarity function returns {value} for items {x} and {y}.",
                    "Similarities must be finite numbers.",
                )
        return values

    def _arguments(self, pairs: list[tuple[int, int]]) -> Iterable[Any]:
        """Return the arguments of the function: two items, or two lists of items."""
        if not self.batched:
            return [self._item(x) for x in pairs[0]]
        return [[self._item(x) for x in side] for side in zip(*pairs, strict=True)]

    def _item(self, x: int) -> Any:
        if self.items is None:
            return x
        try:
            # In pandas, frame[x] looks up a label of the index; iloc looks up a position.
            return getattr(self.items, "iloc", self.items)[x]
        except HcvizError:
            raise
        except Exception as error:
            raise InvalidData(
                f"Item {x} of the similarity function cannot be read ({type(error).__name__}: "
                f"{error})."
            ) from error

    def _name(self, pairs: list[tuple[int, int]]) -> str:
        """Name the arguments of a call in a message."""
        return f"{len(pairs)} pairs" if self.batched else "items {} and {}".format(*pairs[0])


def _numbers(answer: Any) -> Float:
    """Convert an answer to float64; TypeError or ValueError for texts and complex numbers."""
    given = np.asarray(answer)
    if given.dtype.kind not in "biufO":
        raise TypeError
    return given.astype(np.float64)


class StringOracle:
    """An oracle for texts: 1 - Levenshtein(a, b) / length of the longer text, in [0, 1].

    Parameters
    ----------
    strings : sequence of str
        One text for each item. Two empty texts have the similarity 1.

    Raises
    ------
    InvalidData
        An item is not a text, or the package rapidfuzz is not installed.

    Notes
    -----
    rapidfuzz (the extra ``hcviz[strings]``) releases the GIL; 10 microseconds for two texts of 500
    letters. ``all_at_once`` is True up to 250,000 letters in all: their similarities take about
    three seconds.

    References
    ----------
    Levenshtein (1966), "Binary codes capable of correcting deletions, insertions, and reversals".

    Examples
    --------
    >>> oracle = StringOracle(["spoon", "spoons", "fork"])
    >>> oracle.similarity([0], [1, 2]).round(2).tolist()
    [[0.83, 0.2]]
    """

    thread_safe = symmetric = pictures = True
    #: Methods that need a full matrix are available up to this number of letters in all texts.
    MAX_LETTERS = 250_000

    def __init__(self, strings: Sequence[str]) -> None:
        self.strings = list(strings)
        for place, text in enumerate(self.strings):
            if not isinstance(text, str):
                raise InvalidData(f"Item {place} is {type(text).__name__}, not a text.")
        self.n_items = check_integer(len(self.strings), "The number of texts", InvalidData, 1)
        self.all_at_once = sum(map(len, self.strings)) <= self.MAX_LETTERS
        try:
            import rapidfuzz.distance  # noqa: F401  an extra
        except ImportError:
            raise InvalidData(
                "Edit distances need the package rapidfuzz, which is not installed.",
                "pip install hcviz[strings]",
            ) from None

    def similarity(self, rows: Int, cols: Int) -> Float:
        """Return the similarities of all ``rows`` with all ``cols``.

        Parameters
        ----------
        rows, cols : int32 (r,), int32 (c,)
            Items; repeats are allowed.

        Returns
        -------
        float64 (r, c)
            From 0 to 1.

        Notes
        -----
        If ``rows`` and ``cols`` are equal, each pair is computed once.

        Examples
        --------
        >>> StringOracle(["spoon", "spool"]).similarity([0], [1]).tolist()
        [[0.8]]
        """
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist

        first = [self.strings[i] for i in np.asarray(rows).tolist()]
        # If both lists are the same object, rapidfuzz computes each pair once.
        same = np.array_equal(rows, cols)
        second = first if same else [self.strings[j] for j in np.asarray(cols).tolist()]
        if not first or not second:
            return np.empty((len(first), len(second)))
        return np.asarray(
            cdist(first, second, scorer=Levenshtein.normalized_similarity, dtype=np.float64)
        )


def oracle_of(problem: Problem) -> SimilarityOracle:
    """Return an oracle for a problem: its own, or one for its similarity matrix or its features.

    Raises
    ------
    InvalidData
        The problem has no oracle, similarity or features.
    """
    if isinstance(problem.oracle, SimilarityOracle):
        return problem.oracle
    if problem.similarity is not None:
        return MatrixOracle.of_checked(problem.similarity)
    if problem.features is None:
        raise InvalidData(
            "This needs similarities, and the problem has no oracle, similarity or features."
        )
    return FeatureOracle(problem.features)


__all__ = ["FeatureOracle", "FunctionOracle", "MatrixOracle", "StringOracle", "oracle_of"]
