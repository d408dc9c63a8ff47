"""Similarity oracles: matrices, features with a kernel, functions, strings; no n x n array."""

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
from hcviz.core.problem import Problem, SimilarityOracle, check_features, check_sparse, check_square
from hcviz.core.similarity import scaled, zscore
from hcviz.core.whole import whole_number

Int = NDArray[np.int32]
Float = NDArray[np.float64]

#: Rows that a Gaussian's width is measured on where there are more.
WIDTH_FROM = 1000


class MatrixOracle:
    """A similarity matrix, dense or scipy.sparse (what that leaves out is 0), as an oracle."""

    cheap = thread_safe = symmetric = all_at_once = True

    def __init__(self, matrix: Any) -> None:
        check = check_sparse if issparse(matrix) else check_square
        self.matrix: Any = check(matrix, "similarity")
        self.n_items = int(self.matrix.shape[0])

    @classmethod
    def of_checked(cls, matrix: Any) -> MatrixOracle:
        """Of a :class:`Problem`'s matrix, which is checked and frozen already: no copy."""
        made = cls.__new__(cls)
        made.matrix, made.n_items = matrix, int(matrix.shape[0])
        return made

    def similarity(self, rows: Int, cols: Int) -> Float:
        if issparse(self.matrix):
            return np.asarray(self.matrix[rows][:, cols].toarray())
        return np.asarray(self.matrix[np.ix_(rows, cols)])


def _unit_rows(features: Float) -> Float:
    length = np.linalg.norm(features, axis=1, keepdims=True)
    return np.divide(features, length, out=np.zeros_like(features), where=length > 0)


class FeatureOracle:
    """Features and a kernel: similarities are computed when they are asked for.

    Parameters
    ----------
    features : float64 (n, d)
    kind : str
        ``cosine-z`` ((1 + cosine of z-scores) / 2, hcviz's default), ``cosine`` (of the rows as
        they are), ``correlation`` ((1 + Pearson of the rows) / 2), ``gaussian``
        (exp(-d^2 / 2h^2) of z-scores): as in :mod:`hcviz.core.similarity`, to 1e-14.
    width : float, optional
        h of the Gaussian. By default the median distance to the 7th neighbour among at most
        1,000 rows, evenly spaced: that of all rows, up to 1,000.
    scale : two of float64 (d,), optional
        Means and standard deviations for the z-scores, where these rows are a part of more.

    O(d) a similarity; a pair has one value, whatever block it is asked in. :class:`InvalidData` as
    :class:`Problem`, :class:`InvalidParameter` for another kind or a width that is not positive.
    """

    cheap = thread_safe = symmetric = all_at_once = True
    KINDS = ("cosine-z", "cosine", "correlation", "gaussian")

    def __init__(
        self,
        features: ArrayLike,
        kind: str = "cosine-z",
        width: float | None = None,
        scale: tuple[Float, Float] | None = None,
    ) -> None:
        self.check_kind(kind)
        raw = check_features(features)
        self.kind, self.n_items = kind, len(raw)
        if kind == "correlation":
            raw = raw - raw.sum(axis=1, keepdims=True) / max(raw.shape[1], 1)
        elif kind != "cosine":
            raw = zscore(raw) if scale is None else scaled(raw, *scale)
        self.rows = np.ascontiguousarray(raw if kind == "gaussian" else _unit_rows(raw))
        self.width = 0.0
        if kind == "gaussian":
            self.width = self._near() if width is None else float(width)
            if not (np.isfinite(self.width) and self.width > 0):
                raise InvalidParameter(f"The width of a Gaussian must be positive, not {width}.")

    @classmethod
    def check_kind(cls, kind: str) -> None:
        """:class:`InvalidParameter` for a similarity that is not of two rows alone."""
        if kind not in cls.KINDS:
            raise InvalidParameter(
                f"Similarities of kind {kind!r} cannot be computed one by one.",
                f"Those that can: {', '.join(cls.KINDS)}.",
            )

    def part(self, items: ArrayLike) -> FeatureOracle:
        """An oracle of these items alone, in this order; a pair has the value that it has here, bit
        for bit: what was standardised stays as it is. O(items d)."""
        return self._of(np.ascontiguousarray(self.rows[np.asarray(items, np.int32)]))

    def beside(self, other: FeatureOracle) -> FeatureOracle:
        """The items of this part, then those of another part of the same oracle."""
        return self._of(np.concatenate([self.rows, other.rows]))

    def _of(self, rows: Float) -> FeatureOracle:
        made = FeatureOracle.__new__(FeatureOracle)
        made.kind, made.width, made.rows, made.n_items = self.kind, self.width, rows, len(rows)
        return made

    def _near(self) -> float:
        n = self.n_items
        count = min(n, WIDTH_FROM)
        distance = pdist(self.rows[np.arange(count) * n // count])
        near = float(np.median(np.sort(squareform(distance), axis=1)[:, min(7, count - 1)]))
        if near > 0:
            return near
        positive = distance[distance > 0]
        return float(np.median(positive)) if positive.size else 1.0

    def similarity(self, rows: Int, cols: Int) -> Float:
        rows, cols = np.asarray(rows, np.int32), np.asarray(cols, np.int32)
        if self.kind == "gaussian":
            return np.asarray(kernels.gaussians(self.rows, rows, cols, self.width))
        half = 1.0 if self.kind == "cosine" else 0.5
        return np.asarray(kernels.scaled_dots(self.rows, rows, cols, 1.0 - half, half))


class FunctionOracle:
    """A Python function of two items.

    Parameters
    ----------
    function : callable
        ``function(a, b) -> float``, symmetric. It is called once for each pair of a request, the
        item with the lower number first; never on an item with itself, which nobody needs to know:
        the answer there is the largest of the request's others, 0 where there are none.
    items : sequence, optional
        What it is called with, by place: a list, an array, pandas' Series (whatever its index) or
        rows of a DataFrame. Without, the items' numbers (then ``n_items`` says how many).
    thread_safe : bool
        Whether several threads may call it at once; by default one at a time does.
    batched : bool
        ``function(first, second)`` takes two lists of items instead, and returns one number for
        each pair: it is called once for all pairs of a request (and once more, for those tried).

    An exception inside, and an answer that is not one finite number, become :class:`InvalidData`
    that names the two items. Of the first 16 pairs both orders are tried: a function that is not
    symmetric is told so.
    """

    #: Pairs that are asked both ways round.
    TRIED = 16
    symmetric = True  # or says that it is not

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
                f"Items must have places 0, 1, ... as a list has; {type(items).__name__} has not.",
                "Give a list.",
            )
        self.function, self.items = function, items
        count = n_items if items is None else len(items)
        self.n_items = whole_number(count, "The number of items", InvalidData, 1)
        self.thread_safe, self.batched = bool(thread_safe), bool(batched)
        self._tried = 0
        self._turn = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._turn = threading.Lock()

    def similarity(self, rows: Int, cols: Int) -> Float:
        rows, cols = np.asarray(rows), np.asarray(cols)
        values = self.paired_similarity(np.repeat(rows, cols.size), np.tile(cols, rows.size))
        return values.reshape(rows.size, cols.size)

    def paired_similarity(self, first: Int, second: Int) -> Float:
        low, high = np.minimum(first, second), np.maximum(first, second)
        pairs = list(zip(low.tolist(), high.tolist(), strict=True))
        different = [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
        with contextlib.nullcontext() if self.thread_safe else self._turn:
            known = dict(zip(different, self._answers(different), strict=True))
        itself = max(known.values(), default=0.0)
        return np.array([known.get(pair, itself) for pair in pairs], dtype=np.float64)

    def _answers(self, pairs: list[tuple[int, int]]) -> list[float]:
        if not self.batched:
            return [self._asked(*pair) for pair in pairs]
        values = self._called(pairs)
        tried = pairs[: self.TRIED - self._tried]
        self._tried += len(tried)
        back = self._called([(y, x) for x, y in tried])
        for pair, value, other in zip(tried, values, back, strict=False):
            self._same(*pair, value, other)
        return values

    def _asked(self, x: int, y: int) -> float:
        (value,) = self._called([(x, y)])
        if self._tried < self.TRIED:
            self._tried += 1
            self._same(x, y, value, *self._called([(y, x)]))
        return value

    def _same(self, x: int, y: int, value: float, back: float) -> None:
        if abs(back - value) > 1e-9 * max(1.0, abs(value), abs(back)):
            raise InvalidData(
                f"The similarity function is not symmetric: items {x} and {y} have similarity "
                f"{value:g}, the other way round {back:g}.",
                "Return the mean of both, say.",
            )

    def _called(self, pairs: list[tuple[int, int]]) -> list[float]:
        """The function's answers: called on all pairs if it is batched, else on the only one."""
        if not pairs:
            return []
        given = self._given(pairs)
        try:
            answer = self.function(*given)
        except HcvizError:
            raise
        except Exception as fault:
            x, y = pairs[0]
            first = f", items {x} and {y} first" if self.batched else ""
            raise InvalidData(
                f"The similarity function failed on {self._named(pairs)}{first} "
                f"({type(fault).__name__}: {fault})."
            ) from fault
        try:
            numbers = _numbers(answer)
        except (TypeError, ValueError):
            raise InvalidData(
                f"The similarity function's answer on {self._named(pairs)} is no "
                f"{'list of numbers' if self.batched else 'number'}: {answer!r:.60}."
            ) from None
        if not (numbers.shape == (len(pairs),) if self.batched else numbers.size == 1):
            raise InvalidData(
                f"The similarity function's answer on {self._named(pairs)} has shape "
                f"{numbers.shape}; one number {'for each pair ' * self.batched}is needed."
            )
        values: list[float] = numbers.ravel().tolist()
        for (x, y), value in zip(pairs, values, strict=True):
            if not math.isfinite(value):
                raise InvalidData(f"The similarity function says {value} on items {x} and {y}.")
        return values

    def _given(self, pairs: list[tuple[int, int]]) -> Iterable[Any]:
        """What the function is called with: two items, or two lists of them."""
        if not self.batched:
            return [self._item(x) for x in pairs[0]]
        return [[self._item(x) for x in side] for side in zip(*pairs, strict=True)]

    def _item(self, x: int) -> Any:
        if self.items is None:
            return x
        try:
            # pandas takes a number in brackets for a label of the index, not for a place.
            return getattr(self.items, "iloc", self.items)[x]
        except HcvizError:
            raise
        except Exception as fault:
            raise InvalidData(
                f"Item {x} of the similarity function cannot be had ({type(fault).__name__}: "
                f"{fault})."
            ) from fault

    def _named(self, pairs: list[tuple[int, int]]) -> str:
        """What the function was called on, in a sentence about it."""
        return f"{len(pairs)} pairs" if self.batched else "items {} and {}".format(*pairs[0])


def _numbers(answer: Any) -> Float:
    """The answer as float64; TypeError or ValueError where it is something else, such as texts of
    numbers and complex ones, of which numpy would take a part."""
    given = np.asarray(answer)
    if given.dtype.kind not in "biufO":
        raise TypeError
    return given.astype(np.float64)


class StringOracle:
    """Edit distance turned round: 1 - Levenshtein(a, b) / length of the longer, in [0, 1].

    ``strings``: n texts; two empty ones have similarity 1. Computed by rapidfuzz (the extra
    ``hcviz[strings]``), which is bit-parallel and releases the GIL: 10 us a pair of 500 letters.
    ``all_at_once``: up to 250,000 letters in all, whose similarities take three seconds or so.
    """

    thread_safe = symmetric = pictures = True
    #: Letters of all texts together, up to which methods that need a matrix get one.
    MOST_LETTERS = 250_000

    def __init__(self, strings: Sequence[str]) -> None:
        self.strings = list(strings)
        for place, text in enumerate(self.strings):
            if not isinstance(text, str):
                raise InvalidData(f"Item {place} is not a text but {type(text).__name__}.")
        self.n_items = whole_number(len(self.strings), "The number of texts", InvalidData, 1)
        self.all_at_once = sum(map(len, self.strings)) <= self.MOST_LETTERS
        try:
            import rapidfuzz.distance  # noqa: F401  an extra
        except ImportError:
            raise InvalidData(
                "Edit distances need the package rapidfuzz, which is not installed.",
                "pip install hcviz[strings]",
            ) from None

    def similarity(self, rows: Int, cols: Int) -> Float:
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist

        first = [self.strings[i] for i in np.asarray(rows).tolist()]
        # Of a list with itself rapidfuzz computes one half.
        same = np.array_equal(rows, cols)
        second = first if same else [self.strings[j] for j in np.asarray(cols).tolist()]
        if not first or not second:
            return np.empty((len(first), len(second)))
        return np.asarray(
            cdist(first, second, scorer=Levenshtein.normalized_similarity, dtype=np.float64)
        )


def oracle_of(problem: Problem) -> SimilarityOracle:
    """A problem's similarities, as lazily as may be: its oracle, else its similarity, else the
    default similarity of its features. :class:`InvalidData` where it has none of them."""
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
