"""``ActiveCluster(A, s, k)``: hierarchies from few similarities (Krishnamurthy et al. 2012,
Algorithm 1).

:mod:`hcviz.algorithms.active.algorithm1` divides one set, :mod:`hcviz.algorithms.active.recursion`
repeats this, and this module schedules the recursion.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active.executor import TaskExecutor
from hcviz.algorithms.active.flat import Flat, flat_method
from hcviz.algorithms.active.recursion import Recursion
from hcviz.algorithms.active.settings import DivisionSettings, PendingSet, halving_queries, work
from hcviz.algorithms.active.thread_executor import ThreadExecutor
from hcviz.core.build import build, constraint_rows
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import InvalidParameter, TooLarge
from hcviz.core.oracle_protocols import check_oracle
from hcviz.core.snapshot import Snapshot, View
from hcviz.core.tree import Tree
from hcviz.core.validation import check_integer

#: Sets of up to this many items are divided down to their leaves inside one task.
TASK = 20_000
#: The most items for which all similarities are queried: the matrix takes 800 MB.
MAX_FULL = 10_000
#: An intermediate snapshot follows each fortieth of the work at most.
SNAPSHOT_PARTS = 40
#: Seconds between two snapshots, at least.
MIN_INTERVAL = 0.04
#: The interval after a snapshot, in multiples of the time that making it took, at least.
INTERVAL_FACTOR = 30.0
#: With expensive similarities, a snapshot follows after this many seconds in any case.
MAX_INTERVAL = 1.0
#: The most items for which snapshots show the queried similarities (about 10 MB).
MAX_MASK_ITEMS = 100_000
#: The name of the view that shows them.
QUERIED_VIEW = "similarities asked for"
NO_ROWS: NDArray[np.int32] = np.empty((0, 3), np.int32)
#: Parameters of :class:`ActiveCluster` that turn all refinements off, as in the paper.
PAPER: dict[str, Any] = {"below_s": "stop", "repair": 0.0, "sharpen": False, "exact_split": False}


@dataclass(frozen=True)
class ActiveCluster:
    """Algorithm 1 of Krishnamurthy et al. (2012): any flat method becomes hierarchical.

    In a set of m items: draw ``s`` of them, and cluster these by the flat method ``A`` into ``k``.
    Put every other item into the cluster to whose sampled members it is most similar on average.
    Repeat this inside each cluster. :meth:`grow` runs it.

    Parameters
    ----------
    A : str or :class:`hcviz.algorithms.active.flat.Flat`
        ``centred`` (default), ``laplacian`` (the paper's), ``kmeans``, or a registered one.
    s : int, optional
        Items sampled; default ceil(``c`` ln n). At least k + 1 (the paper: k).
    k : int or None
        Clusters of each division; None: chosen by the eigengap, 2 to ``max_k``. With
        ``exact_split`` there may be fewer: the groups at the root of a noise-free sample.
    c : float
        Factor of the default sample size.
    below_s : {"full", "stop"}
        ``full``: sets of s items or fewer are divided by all their similarities. ``stop``: they are
        stars, as in the paper.
    repair : float
        The additional queries that correct placements may cost, as a share of the queries of a
        recursion that always halves. 0 in the paper. See Notes.
    sharpen : bool
        True: divide the sample by products of its columns over up to 16 s other items, if the flat
        method allows it (:attr:`Flat.of_products`). False in the paper. See Notes.
    exact_split : bool
        True: if a sample is free of noise, only groups that its lowest similarity separates are
        divided. False in the paper. See Notes.
    max_k : int
        The most clusters that the eigengap may choose.
    drop_low_degree, new_clusters : bool
        HeurSpec's heuristics (section 3.4). Sampled items of low degree are set aside and placed
        like all others. Items that are dissimilar to every sampled cluster form a new one.

    Notes
    -----
    O(n s log n) similarities, O(n s^2 + n s log n) time. The tree depends on the seed alone, not on
    the number of threads: the seed of a node follows from its parent's.

    *Repair.* An item is in doubt if its average similarities to two clusters differ by less than
    2.5 standard errors. It is compared with s more items, up to four times. The most doubtful items
    are first. Sets of up to about 12 s items (at 0.5) are divided by all their similarities, since
    sampling them would cost nearly as much. Sets of s items or fewer are not repaired.

    *Sharpening.* The other items are compared with the sample in any case, to be placed, so
    sharpening queries nothing more. It finds clusters that the s^2 similarities of the sample alone
    hide in noise (:func:`hcviz.algorithms.active.productkernels.column_products`).

    *Noise-free splits.* They apply if the sample's similarities, and those of other items with it,
    form an ultrametric. Without them a spectral cut or k-means may prefer a large division further
    down to a root that separates few items from many. Items that are less similar to the sample
    than any two sampled items are to each other belong to branches without a sampled item. These
    are split off first (:func:`hcviz.algorithms.active.unsampled.unsampled_branches`). So without
    noise every cluster of s items or more is found, whatever the sample. The exception is a set of
    so many equally dissimilar branches that the sampled ones hold less than an eighth of it. A
    sample of mostly single items, as of sparse similarities, is halved.

    *HeurSpec.* The paper gives no thresholds. Here a degree is low if it is below a quarter of the
    median, counted from the sample's lowest similarity. An item is dissimilar to a cluster if it is
    below :func:`sampling.low_limits`. Dissimilar items share one new cluster.

    References
    ----------
    Krishnamurthy, Balakrishnan, Xu and Singh (2012), Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hcviz import FeatureOracle
    >>> from hcviz.algorithms.active import ActiveCluster
    >>> oracle = FeatureOracle(np.arange(40.0)[:, None])
    >>> *_, last = ActiveCluster(s=12).grow(oracle, seed=1)
    >>> last.tree
    Tree(40 leaves, 39 inner nodes)
    """

    A: str | Flat = "centred"
    s: int | None = None
    k: int | None = 2
    c: float = 8.0
    below_s: str = "full"
    repair: float = 0.5
    sharpen: bool = True
    exact_split: bool = True
    max_k: int = 8
    drop_low_degree: bool = False
    new_clusters: bool = False

    def settings(self, n: int) -> DivisionSettings:
        """Return the settings for n items; :class:`InvalidParameter` if a parameter is wrong."""
        k = None if self.k is None else _whole(self.k, "k", 2)
        least = 3 if k is None else k + 1
        c, repair = _nonnegative(self.c, "c"), _nonnegative(self.repair, "repair")
        if not c > 0:
            raise InvalidParameter("c, of s = c ln n, must be more than 0.")
        s = math.ceil(c * math.log(max(n, 2))) if self.s is None else _whole(self.s, "s")
        if self.s is not None and s < least:
            raise InvalidParameter(
                f"s = {s} items cannot show {least - 1} clusters.", f"Take s of {least} or more."
            )
        if self.below_s not in ("full", "stop"):
            raise InvalidParameter(f"below_s is 'full' or 'stop', not {self.below_s!r}.")
        s = max(s, least)
        flat = flat_method(self.A)
        return DivisionSettings(
            flat=flat, k=k, s=s, full_size=full_query_size(s, n, repair),
            stop=self.below_s == "stop", repair=repair,
            sharpen=self.sharpen and flat.of_products, exact_split=self.exact_split,
            max_k=_whole(self.max_k, "max_k", 2), drop_low_degree=self.drop_low_degree,
            new_clusters=self.new_clusters,
        )  # fmt: skip

    def expected_share(self, n: int) -> float:
        """Estimate the share of all pairs of n items that a run queries, in [0, 1].

        The estimate is for a recursion that always halves, without rechecks. Pairs that an ancestor
        of a set has queried count once. O(log n).
        """
        settings = self.settings(n)
        queried, new, sets, size = 0.0, 1.0, 1, float(n)
        while size > 1:
            pairs = size * (size - 1) / 2
            if size <= settings.full_size:
                if not (settings.stop and size <= settings.s):
                    queried += sets * pairs * new
                break
            own = settings.s * (size - settings.s) + settings.s * (settings.s - 1) / 2
            queried += sets * own * new
            new *= 1 - own / pairs
            sets, size = 2 * sets, size / 2
        return min(1.0, queried / (n * (n - 1) / 2)) if n > 1 else 0.0

    def divide(self, oracle: Any, seed: int = 0) -> NDArray[np.int32]:
        """Return the first division of two items or more: int32 (n,), clusters numbered by their
        first items.

        It is the first division of :meth:`grow` with the same seed.
        """
        n = check_oracle(oracle)
        seed = _seed(seed)
        items = np.arange(n, dtype=np.int32)
        steps = Recursion(oracle, self.settings(n), items, seed, NO_ROWS).first_division()
        while True:
            try:
                next(steps)
            except StopIteration as end:
                labels: NDArray[np.int32] = end.value
                return labels

    def grow(
        self,
        oracle: Any,
        seed: int = 0,
        triplets: Any = None,
        threads: int | None = None,
        executor: TaskExecutor | None = None,
        groups: Any = None,
    ) -> Iterator[Snapshot | None]:
        """Yield snapshots of the tree, the last with ``step == total``; None if there is none yet.

        Parameters
        ----------
        oracle : SimilarityOracle
            Anything with ``n_items`` and ``similarity(rows, cols)``. Unless it is ``cheap``, each
            pair is queried once, by one thread at a time. The limits are in
            :class:`CountingOracle`: four million pairs, and Dask.
        seed : int
            Below 2^64.
        triplets : Triplets or rows, optional
            Every tree satisfies them: items that a triplet ab|c binds stay together until c is
            separated from them.
        threads : int, optional
            Threads that share the work above 20,000 items; default: one for each core.
        executor : TaskExecutor, optional
            What does the tasks instead of threads. It is closed at the end.
        groups : Groups or sets of items, optional
            Every tree has them as clades.

        Yields
        ------
        Snapshot or None
            Metrics: ``repair``, the queries of rechecks. The last snapshot also has ``queries``,
            the distinct pairs queried, and ``share``, their share of all pairs. Counting these
            takes as long as some queries. View, up to 100,000 items: ``similarities asked for``, a
            :class:`Mask`.

        Raises
        ------
        InconsistentTriplets
            No tree satisfies the triplets and groups.
        TooLarge
            All similarities of more than 10,000 items would be queried.
        """
        counted = CountingOracle(oracle)
        n = counted.n_items
        settings, seed = self.settings(n), _seed(seed)
        if threads is not None:
            threads = _whole(threads, "threads", 1)
        build(n, triplets, groups)
        rows = constraint_rows(triplets, groups)
        if settings.full_size >= n > MAX_FULL:
            raise TooLarge(
                f"All similarities of {n:,} items are too many; the limit is {MAX_FULL:,} items.",
                "Take a smaller s.",
            )
        if executor is None and n > TASK and (threads or os.cpu_count() or 1) > 1:
            executor = ThreadExecutor(threads or os.cpu_count() or 1)
        return _snapshots(counted, settings, seed, rows, executor)


def _whole(value: Any, what: str, low: int = 0) -> int:
    return check_integer(value, what, InvalidParameter, low)


def _nonnegative(value: Any, what: str) -> float:
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise InvalidParameter(f"{what} must be a number of 0 or more, not {value!r}.")
    return number


def _seed(value: Any) -> int:
    seed = _whole(value, "A seed")
    if seed >= 2**64:
        raise InvalidParameter(f"A seed must be below 2^64, not {seed}.")
    return seed


def full_query_size(s: int, n: int, repair: float) -> int:
    """Return the largest size of a set that is divided by all its similarities.

    These are at most 1 + ``repair`` times the queries of a recursion that halves the set
    (:func:`settings.halving_queries`). The size is at most a quarter of the n items; without repair
    it is s.
    """
    if repair <= 0:
        return s
    size = s
    while size < n // 4 and size * (size - 1) / 2 <= (1 + repair) * halving_queries(size, s):
        size += max(1, s // 16)
    return max(s, min(size, n // 4, 16 * s))


def _snapshots(
    oracle: CountingOracle,
    settings: DivisionSettings,
    seed: int,
    rows: NDArray[np.int32],
    executor: TaskExecutor | None,
) -> Iterator[Snapshot | None]:
    """Run the recursion. Large sets are divided here; an executor gets those of up to TASK
    items."""
    n = oracle.n_items
    total = max(1, work(n))
    if n == 1:
        if executor is not None:
            executor.close()
        yield Snapshot(Tree.star(1), total, total, {"queries": 0.0, "share": 0.0, "repair": 0.0})
        return
    recursion = Recursion(oracle, settings, np.arange(n, dtype=np.int32), seed, rows)
    expensive = oracle.is_expensive  # then snapshots are also made while a set is divided
    running: dict[Future[Any], PendingSet] = {}
    shown, began = 0, time.monotonic()
    due = began + MIN_INTERVAL

    def next_snapshot(step: int, longest: float = math.inf) -> Snapshot | None:
        """Return a snapshot if enough work or ``longest`` seconds have passed since the last."""
        nonlocal shown, began, due
        now = time.monotonic()
        enough = (step - shown) * SNAPSHOT_PARTS >= total
        if step >= total or now < due or not (enough or now - began >= longest):
            return None
        shown = max(shown, step)
        snapshot = _snapshot(recursion, oracle, shown, total)
        began = time.monotonic()
        due = began + max(MIN_INTERVAL, INTERVAL_FACTOR * (began - now))
        return snapshot

    try:
        while recursion.largest() or running:
            if recursion.largest() > TASK or (recursion.largest() and executor is None):
                for _ in recursion.step(executor):
                    step = total - recursion.left - recursion.current_work
                    yield next_snapshot(step, MAX_INTERVAL) if expensive else None
            elif recursion.largest():
                pending = recursion.send()
                assert executor is not None
                items, rows = recursion.items[pending.places], recursion.local_rows(pending)
                future = executor.build_subtree(
                    oracle, settings, items, pending.seed, rows, pending.budget
                )
                running[future] = pending
                continue
            else:
                wait(running, timeout=0.02, return_when=FIRST_COMPLETED)
            for future in [each for each in running if each.done()]:
                assert executor is not None
                recursion.receive(running.pop(future), executor.collect(future, oracle))
            yield next_snapshot(total - recursion.left)
        yield _snapshot(recursion, oracle, total, total)
    finally:
        if executor is not None:
            executor.close()


def _snapshot(recursion: Recursion, oracle: CountingOracle, step: int, total: int) -> Snapshot:
    """Return the tree so far, with its metrics and the mask of queried similarities."""
    n = oracle.n_items
    metrics = {"repair": float(recursion.rechecks)}
    tree = Tree.with_size_heights(recursion.parents(n), n)
    views: dict[str, View] = {}
    if step == total:
        metrics |= {"queries": float(oracle.queries), "share": oracle.share}
    if n <= MAX_MASK_ITEMS:
        views[QUERIED_VIEW] = oracle.requests()
    return Snapshot(tree, step, total, metrics, views=views)


__all__ = ["PAPER", "ActiveCluster", "full_query_size"]
