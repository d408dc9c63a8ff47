"""``ActiveCluster(A, s, k)``: hierarchies from few similarities (Krishnamurthy et al. 2012,
algorithm 1)."""

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

from hcviz.algorithms.active.crew import Crew
from hcviz.algorithms.active.flat import Flat, flat_method
from hcviz.algorithms.active.growth import Growth
from hcviz.algorithms.active.plan import Plan, Waiting, halving, work
from hcviz.algorithms.active.threads import Threads
from hcviz.core.build import build
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import InvalidParameter, TooLarge
from hcviz.core.problem import check_oracle
from hcviz.core.snapshot import Snapshot, View
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.core.validation import check_integer

#: Sets of up to so many items are divided to the end inside one task.
TASK = 20_000
#: All similarities of more items are refused: the matrix alone takes 800 MB.
MOST_WHOLE = 10_000
#: A snapshot on the way for every fortieth of the work at most; not before so many seconds after
#: the last, since no eye sees more, and so many times as long as that one took.
SHARE, PACE, REST = 40, 0.04, 30.0
#: Where similarities are dear, one after so many seconds whatever was done.
LONG = 1.0
#: What was asked for is shown of up to so many items: some 10 MB.
MANY = 100_000
#: The view that shows it.
ASKED = "similarities asked for"
NO_ROWS: NDArray[np.int32] = np.empty((0, 3), np.int32)
#: The paper's own way, as parameters of :class:`ActiveCluster`: everything of ours is off.
PAPER: dict[str, Any] = {"below_s": "stop", "repair": 0.0, "sharpen": False, "apart": False}


@dataclass(frozen=True)
class ActiveCluster:
    """The framework of Krishnamurthy et al. (2012): any flat method, made hierarchical and sparing.

    On a set of m items: draw ``s`` of them, cluster these by the flat method ``A`` into ``k``, put
    every other item into the cluster to whose sampled members it is most similar on average, and do
    the same inside each cluster. A similarity is asked for only where it is needed: O(n s log n) of
    them, in O(n s^2 + n s log n) time.

    Parameters
    ----------
    A : str or :class:`hcviz.algorithms.active.flat.Flat`
        ``centred`` (default), ``laplacian`` (the paper's), ``kmeans``, or a registered one.
    s : int, optional
        Items sampled; default ceil(``c`` ln n). At least k + 1 (the paper: k).
    c : float
        8 by default.
    k : int or None
        Clusters of each division; None: by the eigengap, 2 to ``most``. At most, with ``apart``:
        where a sample without noise has fewer groups at its root, these are the clusters.
    below_s : {"full", "stop"}
        What becomes of s items or fewer: divided by all their similarities, or left as one star
        (the paper's).
    repair : float
        Ours (0: the paper's): how many more similarities may be spent on getting placements right,
        as a share of what a recursion that always halves would use without. Items whose average
        similarities to two clusters differ by less than 2.5 standard errors are compared with s
        more items, and again, up to four times, the most doubtful first; and sets of up to some
        12 s items (at 0.5) are divided by all their similarities, since sampling them level by
        level would cost nearly as much. Nothing of it applies where s items or fewer are left.
    sharpen : bool
        Ours (False: the paper's): the sample is divided by how alike its items look to 16 s of the
        others (:func:`hcviz.algorithms.active.sharpkernels.alike`) rather than by their own
        similarities, where the flat method can do that (:attr:`Flat.of_products`). The others are
        compared with the sample anyway, to be placed: not one similarity more is asked for, and
        what s^2 similarities hide in noise, 17 s^2 show.
    apart : bool
        Ours (False: the paper's): where the sample is without noise, an ultrametric, and what
        others show of it is, too, then what its lowest similarity tells apart
        (:func:`hcviz.algorithms.active.floorkernels.apart`) is divided no further by the flat
        method. A spectral cut and k-means else prefer a large division further down to a root that
        parts few from many. And items that are less like the sample than any two of it are to each
        other are of a branch that it has nobody of: they are parted first
        (:func:`hcviz.algorithms.active.strata.strata`). So without noise every cluster is found
        (of s items, with ``below_s="stop"``), whatever the sample, but in a set of so many equally
        unlike branches that those sampled hold less than an eighth of it. Nor does a sample of
        which most are alone (sparse similarities) part single items: it is halved. With noise, and
        where nobody is alone, it does nothing.
    drop, fresh : bool
        HeurSpec's heuristics (section 3.4): sampled items of low degree are set aside and placed
        like all others; items outlyingly dissimilar to every sampled cluster form a new one. (The
        paper says neither how low is low, nor whether two such items share a cluster. Here: less
        than a quarter of the median degree, counted from the sample's lowest similarity; below
        :func:`sampling.low_limits` of the members sampled; and they do.)

    :meth:`grow` runs it. Same seed, same tree, whatever the number of threads: each node's seed
    follows from its parent's.
    """

    A: str | Flat = "centred"
    s: int | None = None
    k: int | None = 2
    c: float = 8.0
    below_s: str = "full"
    repair: float = 0.5
    sharpen: bool = True
    apart: bool = True
    most: int = 8
    drop: bool = False
    fresh: bool = False

    def plan(self, n: int) -> Plan:
        """What this means for n items."""
        k = None if self.k is None else _whole(self.k, "k", 2)
        least = 3 if k is None else k + 1
        c, repair = _share(self.c, "c"), _share(self.repair, "repair")
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
        return Plan(
            flat=flat, k=k, s=s, whole=whole_from(s, n, repair),
            stop=self.below_s == "stop", repair=repair,
            sharpen=self.sharpen and flat.of_products, apart=self.apart,
            most=_whole(self.most, "most", 2), drop=self.drop, fresh=self.fresh,
        )  # fmt: skip

    def foreseen(self, n: int) -> float:
        """About the share of all pairs of n items that a run asks for, in [0, 1].

        That of a recursion that always halves, what a set's own ancestors asked of its pairs not
        counted again, without second looks. O(log n).
        """
        plan = self.plan(n)
        asked, fresh, sets, size = 0.0, 1.0, 1, float(n)
        while size > 1:
            pairs = size * (size - 1) / 2
            if size <= plan.whole:
                if not (plan.stop and size <= plan.s):
                    asked += sets * pairs * fresh
                break
            own = plan.s * (size - plan.s) + plan.s * (plan.s - 1) / 2
            asked += sets * own * fresh
            fresh *= 1 - own / pairs
            sets, size = 2 * sets, size / 2
        return min(1.0, asked / (n * (n - 1) / 2)) if n > 1 else 0.0

    def divide(self, oracle: Any, seed: int = 0) -> NDArray[np.int32]:
        """The first division alone: the cluster of each of two items or more, numbered by their
        first items, int32 (n,). It is that of :meth:`grow` with the same seed."""
        n = check_oracle(oracle)
        seed = _seed(seed)
        items = np.arange(n, dtype=np.int32)
        steps = Growth(oracle, self.plan(n), items, seed, NO_ROWS).first_division()
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
        crew: Crew | None = None,
    ) -> Iterator[Snapshot | None]:
        """The tree's snapshots, the last with ``step == total``; None where there is none yet.

        ``oracle``: anything with ``n_items`` and ``similarity(rows, cols)``; unless it is ``cheap``
        each pair is asked for once, by one thread at a time (:class:`CountingOracle`, which says
        where that ends: beyond four million pairs, on Dask). ``triplets`` ab|c hold
        in every tree: items bound by them stay together until c is parted from them. Above 20,000
        items the work is shared by ``threads`` (default: one a core), or by another crew
        (:class:`hcviz.algorithms.active.crew.Crew`), which is closed at the end. Metrics:
        ``repair``, how many similarities were asked for by second looks, and in the last snapshot
        ``queries``, the distinct pairs asked for, and their ``share`` of all pairs: to count them
        takes as long as to ask some. View, up to 100,000 items: ``similarities asked for``, a
        :class:`Mask`. Raises :class:`InconsistentTriplets` and :class:`TooLarge` (for all
        similarities of more than 10,000 items) before anything runs.
        """
        counted = CountingOracle(oracle)
        n = counted.n_items
        plan, seed = self.plan(n), _seed(seed)
        if threads is not None:
            threads = _whole(threads, "threads", 1)
        rows = Triplets.of(triplets, n)
        build(n, rows)
        if plan.whole >= n > MOST_WHOLE:
            raise TooLarge(
                f"All similarities of {n:,} items are more than fit; the limit is {MOST_WHOLE:,}.",
                "Take a smaller s.",
            )
        if crew is None and n > TASK and (threads or os.cpu_count() or 1) > 1:
            crew = Threads(threads or os.cpu_count() or 1)
        return _grown(counted, plan, seed, rows.rows, crew)


def _whole(value: Any, what: str, low: int = 0) -> int:
    return check_integer(value, what, InvalidParameter, low)


def _share(value: Any, what: str) -> float:
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


def whole_from(s: int, n: int, repair: float) -> int:
    """The largest set whose m (m - 1) / 2 similarities are at most 1 + ``repair`` times those of a
    recursion that halves it (:func:`plan.halving`), but no more than a quarter of the items; s
    without repair."""
    if repair <= 0:
        return s
    size = s
    while size < n // 4 and size * (size - 1) / 2 <= (1 + repair) * halving(size, s):
        size += max(1, s // 16)
    return max(s, min(size, n // 4, 16 * s))


def _grown(
    oracle: CountingOracle, plan: Plan, seed: int, rows: NDArray[np.int32], crew: Crew | None
) -> Iterator[Snapshot | None]:
    n = oracle.n_items
    total = max(1, work(n))
    if n == 1:
        if crew is not None:
            crew.close()
        yield Snapshot(Tree.star(1), total, total, {"queries": 0.0, "share": 0.0, "repair": 0.0})
        return
    growth = Growth(oracle, plan, np.arange(n, dtype=np.int32), seed, rows)
    dear = oracle.is_expensive  # then there is something to see while a set is divided
    running: dict[Future[Any], Waiting] = {}
    shown, began = 0, time.monotonic()
    due = began + PACE

    def next_shown(step: int, later: float = math.inf) -> Snapshot | None:
        """The tree so far, if much was done since the last, or it is so many seconds later."""
        nonlocal shown, began, due
        now = time.monotonic()
        much = (step - shown) * SHARE >= total
        if step >= total or now < due or not (much or now - began >= later):
            return None
        shown = max(shown, step)
        snapshot = _shown(growth, oracle, shown, total)
        began = time.monotonic()
        due = began + max(PACE, REST * (began - now))
        return snapshot

    try:
        while growth.largest() or running:
            if growth.largest() > TASK or (growth.largest() and crew is None):
                for _ in growth.step(crew):
                    step = total - growth.left - growth.under_way
                    yield next_shown(step, LONG) if dear else None
            elif growth.largest():
                one = growth.send()
                assert crew is not None
                who, rows = growth.items[one.own], growth.local(one)
                running[crew.finish(oracle, plan, who, one.seed, rows, one.room)] = one
                continue
            else:
                wait(running, timeout=0.02, return_when=FIRST_COMPLETED)
            for future in [f for f in running if f.done()]:
                assert crew is not None
                growth.fetch(running.pop(future), crew.collect(future, oracle))
            yield next_shown(total - growth.left)
        yield _shown(growth, oracle, total, total)
    finally:
        if crew is not None:
            crew.close()


def _shown(growth: Growth, oracle: CountingOracle, step: int, total: int) -> Snapshot:
    n = oracle.n_items
    metrics = {"repair": float(growth.second)}
    tree = Tree.with_size_heights(growth.parents(n), n)
    views: dict[str, View] = {}
    if step == total:
        metrics |= {"queries": float(oracle.queries), "share": oracle.share}
    if n <= MANY:
        views[ASKED] = oracle.requests()
    return Snapshot(tree, step, total, metrics, views=views)


__all__ = ["PAPER", "ActiveCluster", "whole_from"]
