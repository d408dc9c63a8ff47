"""``CountingOracle``: which similarities were asked for, how many, and what they were.

A similarity oracle is anything with ``n_items`` and ``similarity(rows, cols)``; those that come
with hcviz are in :mod:`hcviz.core.lazy`.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import oraclekernels as kernels
from hcviz.core.asked import cells, count
from hcviz.core.cells import LARGEST
from hcviz.core.errors import HcvizError, InvalidData, InvalidParameter
from hcviz.core.known import Known
from hcviz.core.pace import Pace
from hcviz.core.problem import SimilarityOracle, check_oracle
from hcviz.core.snapshot import Mask
from hcviz.core.whole import whole_number, whole_numbers

Int = NDArray[np.int32]
Float = NDArray[np.float64]
#: What was asked: pairs of item lists, each meaning all of the first with all of the second.
Log = list[tuple[Int, Int]]

#: Pairs that are asked both ways round behind a cache.
TRIED = 16
#: So many similarities are kept at most, unless told otherwise: 128 MB in a half empty table.
KEPT = 1 << 22


class CountingOracle:
    """A similarity oracle that knows what it was asked.

    Parameters
    ----------
    oracle : anything with ``n_items`` and ``similarity(rows, cols) -> (len(rows), len(cols))``
    cache : int, optional
        How many similarities it keeps, so that it asks for each of them once (default: four
        million, none where the oracle says ``cheap = True``); 32 bytes each. What comes when the
        cache is full is asked for again, by another request.
    fickle : bool
        The oracle draws its answers anew each time: the first one for a pair counts, as long as it
        is in the cache.

    A request is kept as its two lists of items, not as its pairs, so that memory grows with the
    lists: about 4 n log2(n) bytes for an active method on n items, 80 MB for a million. Counting is
    exact all the same: :attr:`queries`. An item's similarity to itself is not counted.

    With a cache that is not full, every pair is asked for once, in one order, and no item with
    itself (the answer there is 0, and means nothing): what the oracle is asked is what is counted.
    A request is then one call if the oracle has ``paired_similarity(first, second)``. If it has
    not, one for each set of rows that lack the same columns; of some items with themselves, one for
    each item but the last, with those after it: no fewer rectangles hold all pairs of m items once
    each (Graham & Pollak 1971). Of up to 16 early pairs the other order is asked too, to tell an
    oracle that is not symmetric, unless it says ``symmetric = True``.

    Threads may share one; the oracle is asked by one at a time, unless it says ``thread_safe =
    True``. (A Dask worker has one for each task: with several threads a worker, an oracle of one's
    own must bear several at once.)

    Every answer is checked: :class:`InvalidData` for a wrong shape, a value that is no number (or
    complex, or beyond 1e100), an exception inside, and for both orders of a pair that differ.
    """

    def __init__(self, oracle: Any, cache: int | None = None, fickle: bool = False) -> None:
        self.n_items = check_oracle(oracle)
        if not isinstance(oracle, SimilarityOracle):
            raise InvalidData("This needs an oracle that answers similarity(rows, cols).")
        self.oracle = oracle
        if cache is None:
            cache = 0 if getattr(oracle, "cheap", False) else KEPT
        self.cache = whole_number(cache, "The size of a cache", InvalidParameter)
        self.fickle = bool(fickle)
        self.cheap = self.cache > 0 or bool(getattr(oracle, "cheap", False))
        self.thread_safe = self.symmetric = True
        self._tried = 0
        self._pace = Pace()
        self._lock_up()
        self.reset()
        #: What is in the cache, to look at: it asks for nothing, and does not count.
        self.known = Known(self)

    def _lock_up(self) -> None:
        self._lock = threading.Lock()  # of the cache
        safe = getattr(self.oracle, "thread_safe", False)
        self._turn: Any = contextlib.nullcontext() if safe else threading.Lock()

    def reset(self) -> None:
        """Forget what was asked; the cache stays."""
        self.log: Log = []
        self._counted = (0, 0)  # requests, and the distinct pairs in them
        if not hasattr(self, "_keys"):
            self._keys = np.full(1 << 10 if self.cache else 0, -1, np.int64)
            self._values = np.empty(len(self._keys))
            self._held = 0

    def __getstate__(self) -> dict[str, Any]:
        locks = ("_lock", "_turn")
        with self._lock:  # a run may be asking, which fills the tables in place
            state = {name: value for name, value in self.__dict__.items() if name not in locks}
            return state | {"_keys": self._keys.copy(), "_values": self._values.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock_up()

    def __repr__(self) -> str:
        return f"CountingOracle({self.n_items} items, {len(self.log)} requests)"

    # ------------------------------------------------------------------ asking

    def similarity(self, rows: ArrayLike, cols: ArrayLike) -> Float:
        """Similarities of all ``rows`` with all ``cols``, float64 (len(rows), len(cols))."""
        r, c = self._items(rows), self._items(cols)
        self.log.append((r, c))
        with self._turn:
            return self._cached(r, c) if self.cache else self._answer(r, c, self.fickle)

    @property
    def dear(self) -> bool:
        """Whether to ask takes longer than to remember, as far as the oracle says."""
        inner = self.oracle
        if isinstance(inner, CountingOracle):
            return inner.dear
        return not getattr(inner, "cheap", False)

    @property
    def at_once(self) -> int | None:
        """How many similarities to ask for in one request, so that it takes a tenth of a second, by
        the time that earlier ones took (:class:`Pace`). None where it is not :attr:`dear`."""
        inner = self.oracle
        if isinstance(inner, CountingOracle):
            return inner.at_once
        return self._pace.at_once if self.dear else None

    @property
    def held(self) -> int:
        """How many similarities are in the cache."""
        return int(self._held)

    def recalled(self, rows: ArrayLike, cols: ArrayLike) -> Float:
        """What the cache has of all ``rows`` with all ``cols``: float64 (len(rows), len(cols)), NaN
        where it has nothing, 0 for an item with itself. Asks for nothing."""
        r, c = self._items(rows), self._items(cols)
        out, known = np.empty((r.size, c.size)), np.empty((r.size, c.size), np.bool_)
        if not self.cache:
            return np.full(out.shape, np.nan)
        with self._lock:
            kernels.recall(self._keys, self._values, self.n_items, r, c, out, known)
        out[~known] = np.nan
        return out

    def kept(self, most: int) -> Float:
        """At most ``most`` of the similarities in the cache, evenly from all: float64 (k,)."""
        with self._lock:
            values = self._values[self._keys >= 0]
        return values[:: max(1, -(-values.size // max(1, most)))]

    def absorb(self, log: Log) -> None:
        """Add what a task elsewhere asked the same oracle."""
        self.log.extend(log)
        if isinstance(self.oracle, CountingOracle):  # the caller's own, which counts too
            self.oracle.absorb(log)

    def _items(self, items: ArrayLike) -> Int:
        whole = whole_numbers(items, "The items of a request", InvalidData).ravel()
        if whole.size and (whole.min() < 0 or whole.max() >= self.n_items):
            raise InvalidData(
                f"Similarities were asked for an item outside 0..{self.n_items - 1}.",
                "Items are numbered from 0.",
            )
        return np.array(whole, dtype=np.int32)

    def _cached(self, rows: Int, cols: Int) -> Float:
        out, n = np.empty((rows.size, cols.size)), self.n_items
        known = np.empty(out.shape, np.bool_)
        with self._lock:
            lacking = int(kernels.recall(self._keys, self._values, n, rows, cols, out, known))
        if not lacking:
            return out
        room = 1 << (2 * lacking).bit_length()
        source = kernels.first_cells(n, rows, cols, known, room)
        self._fill(rows, cols, out, source == np.arange(out.size).reshape(out.shape))
        out[~known] = out.ravel()[source[~known]]
        with self._lock:
            wanted = min(self._held + lacking, self.cache)
            if 2 * wanted > self._keys.size:
                room = 1 << int(2 * wanted - 1).bit_length()
                self._keys, self._values = kernels.moved(self._keys, self._values, room)
            self._held = kernels.remember(
                self._keys, self._values, n, rows, cols, out, known, self._held, self.cache
            )
        return out

    def _fill(self, rows: Int, cols: Int, out: Float, asked: NDArray[np.bool_]) -> None:
        """Ask for the cells that are ``asked``: all at once where the oracle can, or they are a
        block; else the rows that ask for the same columns at once."""
        patterns = np.packbits(asked, axis=1)
        first, group = np.unique(patterns, axis=0, return_index=True, return_inverse=True)[1:]
        first = np.sort(first[asked[first].any(axis=1)])
        if first.size > 1 and callable(getattr(self.oracle, "paired_similarity", None)):
            i, j = np.nonzero(asked)
            began = time.perf_counter()
            out[i, j] = checked_pairs(self.oracle, rows[i], cols[j])
            self._pace.note(i.size, time.perf_counter() - began)
            self._try(rows[i], cols[j], out[i, j])
            return
        for place in first:
            across = np.flatnonzero(group.ravel() == group.ravel()[place])
            down = np.flatnonzero(asked[place])
            block = self._answer(rows[across], cols[down], self.fickle)
            out[np.ix_(across, down)] = block
            self._try(np.repeat(rows[place], down.size), cols[down], block[0])

    def _answer(self, rows: Int, cols: Int, fickle: bool) -> Float:
        began = time.perf_counter()
        block = checked(self.oracle, rows, cols, fickle)
        self._pace.note(block.size, time.perf_counter() - began)
        return block

    def _try(self, first: Int, second: Int, values: Float) -> None:
        """Ask for the first pairs the other way round; those of a row have one ``first``."""
        count = min(TRIED - self._tried, first.size)
        if count <= 0 or self.fickle or getattr(self.oracle, "symmetric", False):
            return
        self._tried += count
        first, second = first[:count], second[:count]
        if first.min() == first.max():
            back = checked(self.oracle, second, first[:1])[:, 0]
        else:
            back = checked_pairs(self.oracle, second, first)
        same_both_ways(self.oracle, first, second, values[:count], back)

    # ------------------------------------------------------------------ what was asked

    def asked(self, upto: int | None = None) -> Mask:
        """The requests so far (the first ``upto`` of them), as they are drawn and saved."""
        return Mask.of(self.log[:upto])

    @property
    def queries(self) -> int:
        """Distinct pairs of items asked for so far, a pair with itself left out.

        Counted when it is read, and remembered until more is asked: O(area of the requests) time,
        some 3 ns a similarity, and O(n) memory.
        """
        if self._counted[0] != len(self.log):
            upto = len(self.log)
            self._counted = (upto, count(self.asked(upto), self.n_items))
        return self._counted[1]

    @property
    def share(self) -> float:
        """:attr:`queries` as a share of all pairs; 0 where there are none."""
        pairs = self.n_items * (self.n_items - 1) // 2
        return self.queries / pairs if pairs else 0.0

    def mask(self, order: ArrayLike | None = None, size: int = 512) -> Float:
        """The picture of what was asked: shares, float64 (k, k), symmetric, k = min(size, n).

        Row and column a stand for the items at places ``a n / k .. (a + 1) n / k`` of ``order`` (a
        permutation of the items, a tree's ``leaf_order`` say; default: as they are numbered). A
        cell is the share of its pairs that were asked, exactly: 0 where nothing was, and where
        there is no pair (an item with itself). Time as :attr:`queries`.
        """
        n = self.n_items
        k = min(whole_number(size, "The size of a mask", InvalidParameter, 1), n)
        place = np.arange(n)
        if order is not None:
            ordered = self._items(order)
            if ordered.size != n or np.bincount(ordered, minlength=n).max() > 1:
                raise InvalidParameter("The order of a mask must name every item once.")
            place[ordered] = np.arange(n)
        place = place * k // n
        drawn = cells(self.asked(), place.astype(np.int32), k)
        held = np.bincount(place, minlength=k).astype(np.float64)
        pairs = np.outer(held, held)
        np.fill_diagonal(pairs, held * (held - 1) / 2)
        shares = drawn / np.maximum(pairs, 1)
        upper = np.triu(shares)
        return np.asarray(upper + np.triu(shares, 1).T)


def checked(oracle: Any, rows: Int, cols: Int, fickle: bool = False) -> Float:
    """The oracle's answer, float64 (len(rows), len(cols)), or a sentence on what it is instead.

    ``fickle``: both ways round need not agree.
    """
    block = _answered(oracle, "similarity", rows, cols, (rows.size, cols.size))
    if not fickle and rows.size == cols.size > 1 and np.array_equal(rows, cols):
        same_both_ways(oracle, rows[:, None], cols, block, block.T)
    return block


def checked_pairs(oracle: Any, first: Int, second: Int) -> Float:
    """The same of pairs, ``first[i]`` with ``second[i]``: float64 (len(first),)."""
    return _answered(oracle, "paired_similarity", first, second, (first.size,))


def _answered(oracle: Any, ask: str, rows: Int, cols: Int, shape: tuple[int, ...]) -> Float:
    """What the oracle's method ``ask`` answers, of that shape, every value a number."""
    name = type(oracle).__name__
    what = " x ".join(map(str, shape)) + (" similarities" if len(shape) == 2 else " pairs")
    try:
        answer = getattr(oracle, ask)(rows, cols)
    except (HcvizError, MemoryError):
        raise
    except Exception as fault:
        raise InvalidData(
            f"The oracle {name} failed when asked for {what} ({type(fault).__name__}: {fault})."
        ) from fault
    try:
        given = np.asarray(answer)
        if given.dtype.kind == "c":
            raise InvalidData(f"The oracle {name} answered with complex numbers.")
        block = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData(f"The oracle {name} did not answer with numbers.") from None
    if given.shape != shape:
        raise InvalidData(
            f"The oracle {name} was asked for {what} and answered with shape {given.shape}.",
            "similarity(rows, cols) returns one row for each of rows, one column for each of cols."
            if len(shape) == 2
            else "paired_similarity(first, second) returns one number for each pair.",
        )
    wrong = int(kernels.first_bad(np.atleast_2d(block), LARGEST))
    if wrong >= 0:
        i, j = divmod(wrong, cols.size) if len(shape) == 2 else (wrong, wrong)
        raise InvalidData(
            f"The oracle {name} says that the similarity of items {rows[i]} and {cols[j]} is "
            f"{block.flat[wrong]}.",
            f"Similarities must be numbers up to {LARGEST:g}.",
        )
    return block


def same_both_ways(oracle: Any, first: Int, second: Int, forth: Float, back: Float) -> None:
    """:class:`InvalidData` unless answers for ``first`` with ``second``, of their shape together,
    are the same the other way round."""
    gap = np.abs(forth - back)
    if gap.max() > 1e-9 * max(1.0, float(np.abs(forth).max())):
        worst = int(gap.argmax())
        i, j = (each.flat[worst] for each in np.broadcast_arrays(first, second))
        raise InvalidData(
            f"The oracle {type(oracle).__name__} is not symmetric: items {i} and {j} "
            f"have similarity {forth.flat[worst]:g}, the other way round {back.flat[worst]:g}.",
            "One that draws anew each time: CountingOracle(oracle, fickle=True).",
        )


def warm() -> None:
    """Compile (or load) the kernels, so that nobody's first click waits for it."""
    from hcviz.core.lazy import FeatureOracle, MatrixOracle

    items = np.arange(3, dtype=np.int32)
    counted = CountingOracle(MatrixOracle(np.ones((3, 3))), cache=4)
    counted.similarity(items, items)
    counted.mask()
    for kind in ("cosine-z", "gaussian"):
        FeatureOracle(np.eye(3), kind).similarity(items, items)


__all__ = ["CountingOracle", "checked"]
