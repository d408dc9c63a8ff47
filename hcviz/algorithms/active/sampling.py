"""Which sampled items speak for a set, and for whom: supernodes, and HeurSpec's heuristics."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active.placekernels import nearest

Int = NDArray[np.int32]
Float = NDArray[np.float64]


def numbered(names: Int) -> Int:
    """Each name replaced by its number among those that occur, 0 the least: int32, as long."""
    return np.unique(names, return_inverse=True)[1].astype(np.int32)


def supernodes(key: Int | None, places: Int) -> Int:
    """Of the items at ``places`` the supernodes, numbered from 0 among themselves; without a
    ``key``, which binds items, each is one by itself, in their order."""
    return np.arange(len(places), dtype=np.int32) if key is None else numbered(key[places])


def with_two(sample: Int, key: Int, rng: np.random.Generator) -> Int:
    """The sample, with items of other supernodes added where it has only one."""
    if np.unique(key[sample]).size > 1:
        return sample
    others = np.flatnonzero(key != key[sample[0]]).astype(np.int32)
    more = rng.choice(others, min(len(others), len(sample)), replace=False)
    return np.sort(np.concatenate([sample, more])).astype(np.int32)


def low_limits(mean: Float, clusters: Int, count: int) -> Float:
    """Below which best average an item belongs to no sampled cluster: float64 (k,), by the cluster
    it is most similar to.

    ``mean`` (s, k): the members' averages with each cluster; ``clusters`` (s,): their own. Below
    both of two limits: what is outlyingly low among ``count`` members, 1 + sqrt(2 ln count) robust
    standard deviations below their median, as the lowest of so many normal ones hardly ever is
    (more, the fewer there are to judge by); and halfway from the members' median to their averages
    with the nearest other cluster. Who is further than that is as far from its cluster as that is
    from others. The second alone would take noise for clusters where clusters are near; the first
    alone would cut off what is below the median where there is no noise, since the few levels that
    averages then have leave no spread.
    """
    k = mean.shape[1]
    out = np.full(k, -np.inf)
    for c in range(k):
        here = mean[clusters == c]
        values = here[:, c]
        middle = float(np.median(values))
        spread = 1.4826 * float(np.median(np.abs(values - middle))) * (1.0 + 4.0 / len(values))
        low = middle - (1.0 + math.sqrt(2.0 * math.log(max(count, 2)))) * spread
        if k > 1:
            others = float(np.median(np.delete(here, c, axis=1).max(axis=1)))
            low = min(low, (middle + others) / 2)
        out[c] = low
    return out


def well_linked(block: Float, sample: Int, key: Int | None) -> Int:
    """HeurSpec: the sampled items (as columns) whose degree, counted from the lowest similarity in
    the sample, is at least a quarter of the median one: half of it would set a whole cluster aside
    that a sample happens to hold little of. Bound items stay, and all do where one would."""
    plain = block[~np.eye(len(sample), dtype=bool)].reshape(len(sample), -1)
    degree = plain.mean(axis=1) - plain.min()
    keep = degree >= np.median(degree) / 4
    if key is not None:
        keep |= np.bincount(key)[key[sample]] > 1
    kept = np.flatnonzero(keep)
    names = kept if key is None else np.unique(key[sample[kept]])
    return (kept if len(names) > 1 else np.arange(len(sample))).astype(np.int32)


def joined(mean: Float, counts: Int, key: Int, seed: int) -> tuple[Int, Float]:
    """``(labels, best average)`` where items of one supernode must have one: ``mean`` and
    ``counts`` (m, k); equals as :func:`placekernels.nearest` has them."""
    names = int(key.max()) + 1
    together, seen = np.zeros((names, mean.shape[1])), np.zeros((names, mean.shape[1]), np.int32)
    np.add.at(together, key, mean)
    np.add.at(seen, key, counts)
    together /= np.bincount(key)[:, None]
    everyone, labels = np.arange(names, dtype=np.int32), np.zeros(names, np.int32)
    nearest(together * seen, seen, everyone, labels, np.uint64(seed))
    return labels[key], together[everyone, labels][key]
