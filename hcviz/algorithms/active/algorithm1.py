"""Algorithm 1 of Krishnamurthy et al. (2012), ActiveCluster(A, s, items, k), and refinements.

1. If there are s items or fewer, stop.
2. Draw s of the items at random.
3. Cluster these by the flat method A into k clusters.
4. Put every other item into the cluster to whose sampled members it is most similar on average.
5. Repeat this for the items of each cluster.

:meth:`Division.labels` does steps 2 to 4 for one set. :class:`recursion.Recursion` does steps 1
and 5. Each refinement is a method of :class:`Division`, and does nothing under the settings of
``framework.PAPER``. The exception are triplets, which the paper does not have.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active import (
    flatkernels,
    noisefreekernels,
    placekernels,
    productkernels,
    queries,
)
from hcviz.algorithms.active.executor import TaskExecutor
from hcviz.algorithms.active.flat import eigengap
from hcviz.algorithms.active.sampling import (
    labels_by_supernode,
    low_limits,
    renumbered,
    supernodes,
    well_linked,
    with_two_supernodes,
)
from hcviz.algorithms.active.settings import DivisionSettings
from hcviz.algorithms.active.unsampled import unsampled_branches
from hcviz.core.buildkernels import components

Int = NDArray[np.int32]
Float = NDArray[np.float64]
#: Yields, at places to stop, the number of queries since the last, or None.
Steps = Generator[int | None, None, Any]

#: Rechecks of one division, each with ``s`` more items.
ROUNDS = 4
#: Times ``s`` items whose similarities with the sample help to divide it.
WITNESSES = 16
#: The most similarities of witnesses (32 MB): above s = 500 there are fewer witnesses.
MAX_WITNESS_QUERIES = 4_000_000
#: Items fewer standard errors than this from another cluster are rechecked. Of items whose true
#: margin is three errors, 30 % are rechecked. Of their wrong placements (1 in 700), all but one in
#: 70,000 are: to escape, a placement must be wrong by 2.5 errors.
DOUBT = 2.5


class Division:
    """The division of one set by a sample.

    Parameters
    ----------
    oracle : SimilarityOracle
        Where similarities are queried.
    settings : DivisionSettings
        How sets are divided.
    items : int32 (m,)
        The set's items, as the oracle numbers them.
    rows : int32 (t, 3)
        Its triplets, in places among ``items``.
    seed : int
        The seed of its random numbers.
    budget : int
        How many similarities rechecks may query.
    executor : TaskExecutor or None
        What shares the queries.

    Attributes
    ----------
    rechecks : int
        How many similarities rechecks have queried so far.
    """

    def __init__(
        self,
        oracle: Any,
        settings: DivisionSettings,
        items: Int,
        rows: Int,
        seed: int,
        budget: int,
        executor: TaskExecutor | None,
    ) -> None:
        self.oracle, self.settings, self.executor = oracle, settings, executor
        self.items, self.rows, self.seed, self.budget = items, rows, seed, budget
        self.rechecks = 0

    def labels(self) -> Steps:
        """Return the cluster of each item, int32 (m,), 0 and up; below 0 is an unsampled branch."""
        self._draw_sample()  # step 2
        yield from self._query_sample()  # step 2
        yield from self._query_witnesses()  # refinement
        yield from self._cluster_sample()  # step 3
        yield from self._query_averages()  # step 4: the similarities
        branches = self._find_unsampled_branches()  # refinement
        if branches is not None:
            return branches
        labels, average = self._highest_averages()  # step 4: the clusters
        labels = self._form_new_cluster(labels, average)  # refinement
        labels = self._restore_sampled(labels)  # step 3 decides for the sample
        yield from self._recheck_doubtful(labels)  # refinement
        if flatkernels.one_sided(labels):
            labels[self.members] = self.clusters
        return labels

    # ------------------------------------------------------------------ step 2: the sample

    def _draw_sample(self) -> None:
        """Draw ``sample``, and ``later``: items for witnesses and rechecks."""
        settings, m = self.settings, len(self.items)
        s = settings.s
        rng = np.random.default_rng(self.seed)
        more = min(WITNESSES * s, MAX_WITNESS_QUERIES // s) if settings.sharpen else 0
        drawn = rng.choice(m, min(m, s + max(more, ROUNDS * s)), replace=False).astype(np.int32)
        self.sample, self.later = np.sort(drawn[:s]), drawn[s:]
        self.key: Int | None = None
        if len(self.rows):
            self.key = components(m, self.rows)
            self.sample = with_two_supernodes(self.sample, self.key, rng)
            self.later = self.later[~np.isin(self.later, self.sample)]

    def _query_sample(self) -> Steps:
        """Query ``block``, the similarities of the sample, float64 (s, s)."""
        self.block = yield from queries.query(self.oracle, self.items[self.sample])

    # ------------------------------------------------------------------ step 3: its clusters

    def _cluster_sample(self) -> Steps:
        """Cluster the ``members``, which are the sample without items set aside."""
        self.members = self.sample[self.kept]
        key = supernodes(self.key, self.members)
        core = np.ascontiguousarray(self.block[np.ix_(self.kept, self.kept)])
        found = yield from self._clusters_of(core, key)
        self.clusters = renumbered(found[key])

    def _clusters_of(self, core: Float, key: Int) -> Steps:
        """Return the clusters of the sample's supernodes, int32 (count,); ``core``: (s, s)."""
        settings, count = self.settings, int(key.max()) + 1
        if settings.exact_split:
            exact = yield from self._split_exactly(core, key, count)
            if exact is not None:
                return exact
        if settings.sharpen and len(self.seen):
            sharpened = yield from self._cluster_products(core, key, count)
            if sharpened is not None:
                return sharpened
        return (yield from cluster_supernodes(settings, core, key, count, self.seed))

    # ------------------------------------------------------------------ step 4: the other items

    def _query_averages(self) -> Steps:
        """Query all other items with the members; tally similarities by cluster (m, k)."""
        m, k = len(self.items), int(self.clusters.max()) + 1
        sums, squares = np.zeros((m, k)), np.zeros((m, k))
        counts = np.zeros((m, k), np.int32)
        self.tallies = sums, squares, counts
        column = np.full(len(self.sample), -1, np.int32)
        column[self.kept] = np.arange(len(self.kept), dtype=np.int32)
        block = np.ascontiguousarray(self.block[:, self.kept])
        placekernels.tally(block, self.sample, self.clusters, column, sums, squares, counts)
        not_sampled = np.full(len(self.witnesses), -1, np.int32)
        placekernels.tally(
            self.seen, self.witnesses, self.clusters, not_sampled, sums, squares, counts
        )
        rest = np.ones(m, bool)
        rest[self.sample] = rest[self.witnesses] = False
        others = np.flatnonzero(rest).astype(np.int32)
        yield from queries.add_averages(
            self.oracle, self.items, others, self.members, self.clusters, self.tallies,
            self.executor,
        )  # fmt: skip

    def _highest_averages(self) -> tuple[Int, Float]:
        """Return each item's cluster of the highest average similarity, and this average."""
        sums, _, counts = self.tallies
        self.mean = sums / np.maximum(counts, 1)
        if self.key is not None:
            return labels_by_supernode(self.mean, counts, self.key, self.seed)
        m = len(self.items)
        labels, everything = np.zeros(m, np.int32), np.arange(m, dtype=np.int32)
        placekernels.nearest(sums, counts, everything, labels, np.uint64(self.seed))
        return labels, self.mean[everything, labels]

    def _restore_sampled(self, labels: Int) -> Int:
        """Give members the clusters of step 3, and items that triplets bind to them as well."""
        labels[self.members] = self.clusters
        if self.key is None:
            return labels
        bound = np.full(int(self.key.max()) + 1, -1, np.int32)
        bound[self.key[self.members]] = self.clusters
        return np.where(bound[self.key] >= 0, bound[self.key], labels).astype(np.int32)

    # ------------------------------------------------------------------ refinements

    def _query_witnesses(self) -> Steps:
        """Sharpening, noise-free splits: query other items with the sample before it is clustered.

        They are queried in step 4 in any case. ``seen`` float64 (R, s) are their similarities with
        the sample, without what HeurSpec sets aside (``kept``). ``noise_free`` is True if nothing
        in the sample or ``seen`` shows noise.
        """
        settings = self.settings
        s = settings.s
        self.kept = np.arange(len(self.sample), dtype=np.int32)
        free = settings.exact_split and noisefreekernels.noise_free(self.block, self.block[:0])
        if settings.drop_low_degree and not free:
            self.kept = well_linked(self.block, self.sample, self.key)
        count = (WITNESSES if settings.sharpen else ROUNDS * free) * s
        self.witnesses = np.sort(self.later[: min(count, MAX_WITNESS_QUERIES // s)])
        self.seen = yield from queries.query_block(
            self.oracle, self.items[self.witnesses], self.items[self.sample[self.kept]],
            self.executor,
        )  # fmt: skip
        self.noise_free = free and noisefreekernels.noise_free(self.block, self.seen)
        if free and not self.noise_free and settings.drop_low_degree:
            self.kept = well_linked(self.block, self.sample, self.key)
            self.seen = np.ascontiguousarray(self.seen[:, self.kept])

    def _split_exactly(self, core: Float, key: Int, count: int) -> Steps:
        """Noise-free splits: divide no group that similarities above the lowest link.

        Returns None if this decides nothing. A sample that is mostly single items is halved, since
        they would be split off one by one.
        """
        seen = self.seen[:0] if self.noise_free else self.seen
        group, groups = noisefreekernels.linked_groups(core, seen, key, count)
        held = np.bincount(group[key])
        if 2 * np.count_nonzero(held == 1) > len(core):
            return flatkernels.halves(held.astype(np.float64))[group]
        if self.noise_free and 1 < groups < count:
            found = yield from cluster_supernodes(
                self.settings, core, group[key], groups, self.seed
            )
            return found[group]
        return None

    def _cluster_products(self, core: Float, key: Int, count: int) -> Steps:
        """Sharpening: cluster the sample by products of its columns over all witnesses.

        Returns None if the clusters join what is dissimilar: products have no sign.
        """
        products = yield from productkernels.column_products(core, self.seen)
        k = self.settings.k
        if k is None:
            k = yield from eigengap(products, key, count, False, self.settings.max_k, roots=True)
        found = yield from cluster_supernodes(self.settings, products, key, count, self.seed, k)
        return found if productkernels.contrast(core, found[key]) >= 0 else None

    def _find_unsampled_branches(self) -> Int | None:
        """Noise-free splits: label the branches that have no item in the sample."""
        if not self.noise_free:
            return None
        limits = noisefreekernels.lowest_and_largest(self.block)
        return unsampled_branches(self.tallies, self.sample, limits, self.key)

    def _form_new_cluster(self, labels: Int, average: Float) -> Int:
        """HeurSpec: put items that are dissimilar to every sampled cluster into a new one.

        Not without noise: there they are small branches.
        """
        if not self.settings.new_clusters or self.noise_free:
            return labels
        limits = low_limits(self.mean[self.members], self.clusters, len(self.items))
        new = np.int32(self.mean.shape[1])
        return np.where(average < limits[labels], new, labels)

    def _recheck_doubtful(self, labels: Int) -> Iterator[int | None]:
        """Repair: compare items in doubt with ``s`` more items, up to four times.

        The most doubtful items are first, until the budget is spent. They are compared with items
        of ``later`` that are not in doubt.
        """
        if self.settings.repair <= 0 or self.noise_free:
            return
        s, m = self.settings.s, len(labels)
        loose = np.ones(m, bool) if self.key is None else np.bincount(self.key)[self.key] == 1
        sums, _, counts = self.tallies
        limit = int(self.settings.repair * (s * (m - s) + s * (s - 1) // 2))
        budget = min(self.budget, limit)
        for turn in range(ROUNDS):
            clear = placekernels.doubts(*self.tallies, labels)
            clear[~loose] = np.inf
            doubted = clear < DOUBT
            more = self.later[s * turn : s * (turn + 1)]
            more = np.sort(more[~doubted[more] & (labels[more] < sums.shape[1])])
            again = np.flatnonzero(doubted).astype(np.int32)
            most = budget // max(1, len(more))
            if len(again) > most:
                again = np.sort(again[np.argsort(clear[again], kind="stable")[:most]])
            if not len(again) or not len(more):
                return
            budget -= len(again) * len(more)
            self.rechecks += len(again) * len(more)
            yield from queries.add_averages(
                self.oracle, self.items, again, more, labels[more], self.tallies, self.executor
            )
            placekernels.nearest(sums, counts, again, labels, np.uint64(self.seed))


def divide_matrix(settings: DivisionSettings, matrix: Float, rows: Int, seed: int) -> Steps:
    """Divide a small set by all its similarities, float64 (m, m): labels int32 (m,)."""
    yield None
    m = len(matrix)
    key, count = np.arange(m, dtype=np.int32), m
    if len(rows):
        key = components(m, rows)
        count = int(key.max()) + 1
    if settings.exact_split:
        group, count = noisefreekernels.lowest_similarity_groups(matrix, key, count)
        key = group[key]
    labels = yield from cluster_supernodes(settings, matrix, key, count, seed)
    return labels[key]


def cluster_supernodes(
    settings: DivisionSettings, matrix: Float, key: Int, count: int, seed: int, k: int | None = None
) -> Steps:
    """Return the flat method's clusters of the supernodes: ``k``, or as the settings give; two at
    least."""
    k = settings.k if k is None else k
    labels = yield from settings.flat.clusters(matrix, key, count, k, settings.max_k, seed)
    if count > 1 and flatkernels.one_sided(labels):
        labels = flatkernels.halves(np.bincount(key, minlength=count).astype(np.float64))
    return labels


__all__ = ["Division", "Steps", "cluster_supernodes", "divide_matrix"]
