"""``CountingOracle``: count and cache the similarities that a method asks for.

A similarity oracle is any object with ``n_items`` and ``similarity(rows, cols)``. The oracles of
hcviz are in :mod:`hcviz.core.similarity_oracles`.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import oraclekernels as kernels
from hcviz.core.batch_sizer import BatchSizer
from hcviz.core.cached_similarities import CachedSimilarities
from hcviz.core.errors import HcvizError, InvalidData, InvalidParameter
from hcviz.core.oracle_protocols import SimilarityOracle, check_oracle
from hcviz.core.query_counts import count_pairs, pairs_between_groups
from hcviz.core.snapshot import Mask
from hcviz.core.table_cells import MAX_NUMBER
from hcviz.core.validation import check_integer, check_integers

Int = NDArray[np.int32]
Float = NDArray[np.float64]
#: Requests: pairs of item lists. Each means all items of the first with all items of the second.
Log = list[tuple[Int, Int]]

#: Number of pairs that are asked in both orders, to detect an asymmetric oracle.
SYMMETRY_CHECKS = 16
#: Default number of cached similarities: 128 MB in a table that is half full.
DEFAULT_CACHE = 1 << 22


class CountingOracle:
    """A similarity oracle that records all requests and caches the answers of another oracle.

    Parameters
    ----------
    oracle : object
        Has ``n_items`` and ``similarity(rows, cols) -> (len(rows), len(cols))``.
    cache : int or None
        Number of similarities to cache, 32 bytes each. None: four million, or 0 if the oracle has
        ``cheap = True``. Similarities that do not fit into the cache are asked for again.
    fickle : bool
        True: the oracle draws its answers at random. The first answer for a pair counts while it
        is in the cache.

    Attributes
    ----------
    log : list of (int32, int32)
        The requests so far.
    cached : CachedSimilarities
        A read-only view of the cache.

    Raises
    ------
    InvalidData
        An answer has the wrong shape, or a value that is not a number up to 1e100; the oracle
        raises an exception; or it answers differently for the two orders of a pair.

    Notes
    -----
    *Memory.* A request is stored as two lists of items, not as pairs: about 4 n log2(n) bytes for
    an active method on n items, 80 MB for a million. Nevertheless :attr:`queries` is exact.

    *Cache.* While the cache is not full, each pair is asked for once, in one order. An item is
    never compared with itself; the answer there is 0 and has no meaning. A request needs one call
    if the oracle has ``paired_similarity(first, second)``. Otherwise it needs one call for each
    set of rows that lack the same columns. For all pairs of m items these are m - 1 calls, the
    smallest possible number of rectangles (Graham & Pollak 1971).

    *Symmetry.* Up to 16 early pairs are asked in both orders, unless the oracle has
    ``symmetric = True``.

    *Threads.* Several threads may share a CountingOracle. It calls the oracle from one thread at a
    time, unless the oracle has ``thread_safe = True``. Each Dask task has its own CountingOracle,
    so with several threads in a worker the oracle must be thread-safe.

    References
    ----------
    Graham and Pollak (1971), "On the addressing problem for loop switching".

    Examples
    --------
    >>> import hcviz
    >>> oracle = CountingOracle(hcviz.FeatureOracle([[0.0, 1.0], [0.5, 1.0], [2.0, -1.0]]))
    >>> oracle.similarity([0, 1], [2]).shape
    (2, 1)
    >>> oracle.queries
    2
    """

    def __init__(self, oracle: Any, cache: int | None = None, fickle: bool = False) -> None:
        self.n_items = check_oracle(oracle)
        if not isinstance(oracle, SimilarityOracle):
            raise InvalidData("This needs an oracle that answers similarity(rows, cols).")
        self.oracle = oracle
        if cache is None:
            cache = 0 if getattr(oracle, "cheap", False) else DEFAULT_CACHE
        self.cache = check_integer(cache, "The size of a cache", InvalidParameter)
        self.fickle = bool(fickle)
        self.cheap = self.cache > 0 or bool(getattr(oracle, "cheap", False))
        self.thread_safe = self.symmetric = True
        self._symmetry_checks = 0
        self._batch_sizer = BatchSizer()
        self._create_locks()
        self.reset()
        #: A view of the cache. Reading it sends no request and does not count.
        self.cached = CachedSimilarities(self)

    def _create_locks(self) -> None:
        self._cache_lock = threading.Lock()
        safe = getattr(self.oracle, "thread_safe", False)
        self._oracle_lock: Any = contextlib.nullcontext() if safe else threading.Lock()

    def reset(self) -> None:
        """Delete the recorded requests. The cache is kept.

        Examples
        --------
        >>> oracle = CountingOracle(FeatureOracle([[0.0, 1.0], [1.0, 0.0]]))
        >>> _ = oracle.similarity([0], [1])
        >>> oracle.reset()
        >>> oracle.queries
        0
        """
        self.log: Log = []
        self._counted = (0, 0)  # number of requests, and of distinct pairs in them
        if not hasattr(self, "_keys"):
            self._keys = np.full(1 << 10 if self.cache else 0, -1, np.int64)
            self._values = np.empty(len(self._keys))
            self._n_cached = 0

    def __getstate__(self) -> dict[str, Any]:
        locks = ("_cache_lock", "_oracle_lock")
        with self._cache_lock:  # a run in another thread may be changing the tables
            state = {name: value for name, value in self.__dict__.items() if name not in locks}
            return state | {"_keys": self._keys.copy(), "_values": self._values.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._create_locks()

    def __repr__(self) -> str:
        return f"CountingOracle({self.n_items} items, {len(self.log)} requests)"

    # ------------------------------------------------------------------ requests

    def similarity(self, rows: ArrayLike, cols: ArrayLike) -> Float:
        """Return the similarities of all ``rows`` with all ``cols``, and record the request.

        Parameters
        ----------
        rows, cols : int (r,), int (c,)
            Items; repeats are allowed.

        Returns
        -------
        float64 (r, c)
            Symmetric in the items; an item's similarity to itself has no meaning.

        Raises
        ------
        InvalidData
            An item does not exist, or the answer is not valid: see :class:`CountingOracle`.

        Notes
        -----
        The oracle is called for similarities that are not in the cache.

        Examples
        --------
        >>> oracle = CountingOracle(FunctionOracle(lambda a, b: -abs(a - b), items=[1.0, 2.0, 5.0]))
        >>> oracle.similarity([0], [1, 2]).tolist()
        [[-1.0, -4.0]]
        """
        r, c = self._items(rows), self._items(cols)
        self.log.append((r, c))
        with self._oracle_lock:
            return self._with_cache(r, c) if self.cache else self._ask(r, c, self.fickle)

    @property
    def is_expensive(self) -> bool:
        """True unless the oracle has ``cheap = True``: caching is faster than asking again."""
        inner = self.oracle
        if isinstance(inner, CountingOracle):
            return inner.is_expensive
        return not getattr(inner, "cheap", False)

    @property
    def batch_size(self) -> int | None:
        """Number of similarities in a request that takes about 0.1 s; None for a cheap oracle.

        Estimated from the times of earlier calls by :class:`BatchSizer`.
        """
        inner = self.oracle
        if isinstance(inner, CountingOracle):
            return inner.batch_size
        return self._batch_sizer.batch_size if self.is_expensive else None

    @property
    def n_cached(self) -> int:
        """Number of similarities in the cache."""
        return int(self._n_cached)

    def cached_block(self, rows: ArrayLike, cols: ArrayLike) -> Float:
        """Return cached similarities; the oracle is not called.

        Parameters
        ----------
        rows, cols : int (r,), int (c,)
            Items.

        Returns
        -------
        float64 (r, c)
            NaN where the cache has no value; 0 for an item with itself.

        Examples
        --------
        >>> oracle = CountingOracle(FunctionOracle(lambda a, b: -abs(a - b), items=[1.0, 2.0, 5.0]))
        >>> _ = oracle.similarity([0], [1])
        >>> oracle.cached_block([0], [1, 2]).tolist()
        [[-1.0, nan]]
        """
        r, c = self._items(rows), self._items(cols)
        out, known = np.empty((r.size, c.size)), np.empty((r.size, c.size), np.bool_)
        if not self.cache:
            return np.full(out.shape, np.nan)
        with self._cache_lock:
            kernels.read_cache(self._keys, self._values, self.n_items, r, c, out, known)
        out[~known] = np.nan
        return out

    def cached_sample(self, most: int) -> Float:
        """Return some of the cached similarities.

        Parameters
        ----------
        most : int
            Number of similarities, at most.

        Returns
        -------
        float64 (k,)
            Evenly spaced in the cache.

        Examples
        --------
        >>> oracle = CountingOracle(FunctionOracle(lambda a, b: -abs(a - b), items=[1.0, 2.0, 5.0]))
        >>> _ = oracle.similarity([0], [1, 2])
        >>> oracle.cached_sample(1).size
        1
        """
        with self._cache_lock:
            values = self._values[self._keys >= 0]
        return values[:: max(1, -(-values.size // max(1, most)))]

    def add_requests(self, log: Log) -> None:
        """Record requests that another process sent to the same oracle.

        Parameters
        ----------
        log : list of (int32, int32)
            The requests, in the form of :attr:`log`.

        Examples
        --------
        >>> oracle = CountingOracle(FeatureOracle([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
        >>> oracle.add_requests([(np.array([0], np.int32), np.array([1, 2], np.int32))])
        >>> oracle.queries
        2
        """
        self.log.extend(log)
        if isinstance(self.oracle, CountingOracle):  # the inner oracle counts as well
            self.oracle.add_requests(log)

    def _items(self, items: ArrayLike) -> Int:
        numbers = check_integers(items, "The items of a request", InvalidData).ravel()
        if numbers.size and (numbers.min() < 0 or numbers.max() >= self.n_items):
            raise InvalidData(
                f"Similarities were asked for an item outside 0..{self.n_items - 1}.",
                "Items are numbered from 0.",
            )
        return np.array(numbers, dtype=np.int32)

    def _with_cache(self, rows: Int, cols: Int) -> Float:
        """Answer a request from the cache, and ask the oracle for what is missing."""
        out, n = np.empty((rows.size, cols.size)), self.n_items
        known = np.empty(out.shape, np.bool_)
        with self._cache_lock:
            missing = int(kernels.read_cache(self._keys, self._values, n, rows, cols, out, known))
        if not missing:
            return out
        slots = 1 << (2 * missing).bit_length()
        source = kernels.first_requests(n, rows, cols, known, slots)
        self._fill(rows, cols, out, source == np.arange(out.size).reshape(out.shape))
        out[~known] = out.ravel()[source[~known]]
        with self._cache_lock:
            needed = min(self._n_cached + missing, self.cache)
            if 2 * needed > self._keys.size:
                slots = 1 << int(2 * needed - 1).bit_length()
                self._keys, self._values = kernels.resize_cache(self._keys, self._values, slots)
            self._n_cached = kernels.write_cache(
                self._keys, self._values, n, rows, cols, out, known, self._n_cached, self.cache
            )
        return out

    def _fill(self, rows: Int, cols: Int, out: Float, wanted: NDArray[np.bool_]) -> None:
        """Ask for the cells in the mask ``wanted``.

        One call if the oracle answers pairs or the cells form one block. Otherwise one call for
        each set of rows that need the same columns.
        """
        patterns = np.packbits(wanted, axis=1)
        first, group = np.unique(patterns, axis=0, return_index=True, return_inverse=True)[1:]
        first = np.sort(first[wanted[first].any(axis=1)])
        if first.size > 1 and callable(getattr(self.oracle, "paired_similarity", None)):
            i, j = np.nonzero(wanted)
            began = time.perf_counter()
            out[i, j] = ask_pairs(self.oracle, rows[i], cols[j])
            self._batch_sizer.record(i.size, time.perf_counter() - began)
            self._check_symmetry(rows[i], cols[j], out[i, j])
            return
        for row in first:
            across = np.flatnonzero(group.ravel() == group.ravel()[row])
            down = np.flatnonzero(wanted[row])
            block = self._ask(rows[across], cols[down], self.fickle)
            out[np.ix_(across, down)] = block
            self._check_symmetry(np.repeat(rows[row], down.size), cols[down], block[0])

    def _ask(self, rows: Int, cols: Int, fickle: bool) -> Float:
        began = time.perf_counter()
        block = ask_block(self.oracle, rows, cols, fickle)
        self._batch_sizer.record(block.size, time.perf_counter() - began)
        return block

    def _check_symmetry(self, first: Int, second: Int, values: Float) -> None:
        """Ask for the first pairs in the other order, and compare the answers."""
        count = min(SYMMETRY_CHECKS - self._symmetry_checks, first.size)
        if count <= 0 or self.fickle or getattr(self.oracle, "symmetric", False):
            return
        self._symmetry_checks += count
        first, second = first[:count], second[:count]
        if first.min() == first.max():
            reverse = ask_block(self.oracle, second, first[:1])[:, 0]
        else:
            reverse = ask_pairs(self.oracle, second, first)
        require_symmetric(self.oracle, first, second, values[:count], reverse)

    # ------------------------------------------------------------------ counts

    def requests(self, upto: int | None = None) -> Mask:
        """Return the requests so far as a query mask.

        Parameters
        ----------
        upto : int or None
            The number of requests, the first ones; None: all.

        Returns
        -------
        Mask
            The lists of items of each request.

        Examples
        --------
        >>> oracle = CountingOracle(FeatureOracle([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
        >>> _ = oracle.similarity([0], [1, 2])
        >>> oracle.requests().cols.tolist()
        [1, 2]
        """
        return Mask.of(self.log[:upto])

    @property
    def queries(self) -> int:
        """Number of distinct pairs asked for so far, without pairs of an item with itself.

        Computed on access and cached until the next request. About 3 ns for each similarity in the
        requests; O(n) memory.
        """
        if self._counted[0] != len(self.log):
            upto = len(self.log)
            self._counted = (upto, count_pairs(self.requests(upto), self.n_items))
        return self._counted[1]

    @property
    def share(self) -> float:
        """:attr:`queries` as a share of all pairs; 0 for a single item."""
        pairs = self.n_items * (self.n_items - 1) // 2
        return self.queries / pairs if pairs else 0.0

    def mask(self, order: ArrayLike | None = None, size: int = 512) -> Float:
        """Return a picture of the requests: the share of pairs asked for, in blocks of items.

        Parameters
        ----------
        order : int (n,) or None
            A permutation of the items, such as a tree's ``leaf_order``; None: by number.
        size : int
            Number of rows and columns, at most; k = min(size, n).

        Returns
        -------
        float64 (k, k)
            Symmetric. Row a stands for the items at positions ``a n / k .. (a + 1) n / k`` of
            ``order``. 0 where no pair was asked for, and for a single item with itself.

        Raises
        ------
        InvalidParameter
            The order does not name every item once, or the size is below 1.

        Notes
        -----
        Exact. Time as for :attr:`queries`.

        Examples
        --------
        >>> oracle = CountingOracle(FeatureOracle([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
        >>> _ = oracle.similarity([0], [1])
        >>> oracle.mask().tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        """
        n = self.n_items
        k = min(check_integer(size, "The size of a mask", InvalidParameter, 1), n)
        position = np.arange(n)
        if order is not None:
            ordered = self._items(order)
            if ordered.size != n or np.bincount(ordered, minlength=n).max() > 1:
                raise InvalidParameter("The order of a mask must name every item once.")
            position[ordered] = np.arange(n)
        group = position * k // n
        asked = pairs_between_groups(self.requests(), group.astype(np.int32), k)
        sizes = np.bincount(group, minlength=k).astype(np.float64)
        pairs = np.outer(sizes, sizes)
        np.fill_diagonal(pairs, sizes * (sizes - 1) / 2)
        shares = asked / np.maximum(pairs, 1)
        upper = np.triu(shares)
        return np.asarray(upper + np.triu(shares, 1).T)


def ask_block(oracle: Any, rows: Int, cols: Int, fickle: bool = False) -> Float:
    """Call the oracle for all ``rows`` with all ``cols``, and check the answer.

    ``fickle``: the two orders of a pair may have different answers.
    """
    block = _ask_checked(oracle, "similarity", rows, cols, (rows.size, cols.size))
    if not fickle and rows.size == cols.size > 1 and np.array_equal(rows, cols):
        require_symmetric(oracle, rows[:, None], cols, block, block.T)
    return block


def ask_pairs(oracle: Any, first: Int, second: Int) -> Float:
    """Call the oracle for the pairs ``first[i]``, ``second[i]``, and check the answer."""
    return _ask_checked(oracle, "paired_similarity", first, second, (first.size,))


def _ask_checked(oracle: Any, method: str, rows: Int, cols: Int, shape: tuple[int, ...]) -> Float:
    """Call a method of the oracle; the answer must have this shape and contain numbers only."""
    name = type(oracle).__name__
    what = " x ".join(map(str, shape)) + (" similarities" if len(shape) == 2 else " pairs")
    try:
        answer = getattr(oracle, method)(rows, cols)
    except (HcvizError, MemoryError):
        raise
    except Exception as error:
        raise InvalidData(
            f"The oracle {name} failed when asked for {what} ({type(error).__name__}: {error})."
        ) from error
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
    wrong = int(kernels.first_invalid(np.atleast_2d(block), MAX_NUMBER))
    if wrong >= 0:
        i, j = divmod(wrong, cols.size) if len(shape) == 2 else (wrong, wrong)
        raise InvalidData(
            f"The oracle {name} says that the similarity of items {rows[i]} and {cols[j]} is "
            f"{block.flat[wrong]}.",
            f"Similarities must be numbers up to {MAX_NUMBER:g}.",
        )
    return block


def require_symmetric(oracle: Any, first: Int, second: Int, values: Float, reverse: Float) -> None:
    """Raise :class:`InvalidData` if the answers for two orders of the same pairs differ."""
    gap = np.abs(values - reverse)
    if gap.max() > 1e-9 * max(1.0, float(np.abs(values).max())):
        worst = int(gap.argmax())
        i, j = (each.flat[worst] for each in np.broadcast_arrays(first, second))
        raise InvalidData(
            f"The oracle {type(oracle).__name__} is not symmetric: items {i} and {j} "
            f"have similarity {values.flat[worst]:g}, the other way round "
            f"{reverse.flat[worst]:g}.",
            "If its answers are random, use CountingOracle(oracle, fickle=True).",
        )


def warm() -> None:
    """Compile the kernels, or load them from the cache."""
    from hcviz.core.similarity_oracles import FeatureOracle, MatrixOracle

    items = np.arange(3, dtype=np.int32)
    counted = CountingOracle(MatrixOracle(np.ones((3, 3))), cache=4)
    counted.similarity(items, items)
    counted.mask()
    for kind in ("cosine-z", "gaussian"):
        FeatureOracle(np.eye(3), kind).similarity(items, items)


__all__ = ["CountingOracle", "ask_block"]
