"""Parts of a division by a sample: supernodes, and the heuristics of HeurSpec."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active.placekernels import nearest

Int = NDArray[np.int32]
Float = NDArray[np.float64]


def renumbered(names: Int) -> Int:
    """Return int32 numbers 0, 1, ... in place of the names that occur, in their order."""
    return np.unique(names, return_inverse=True)[1].astype(np.int32)


def supernodes(key: Int | None, places: Int) -> Int:
    """Return the supernodes of the items at ``places``, numbered from 0.

    ``key`` gives the supernode of every item. If it is None, each item is a supernode.
    """
    return np.arange(len(places), dtype=np.int32) if key is None else renumbered(key[places])


def with_two_supernodes(sample: Int, key: Int, rng: np.random.Generator) -> Int:
    """Return the sample; add items of other supernodes if it has only one."""
    if np.unique(key[sample]).size > 1:
        return sample
    others = np.flatnonzero(key != key[sample[0]]).astype(np.int32)
    more = rng.choice(others, min(len(others), len(sample)), replace=False)
    return np.sort(np.concatenate([sample, more])).astype(np.int32)


def low_limits(mean: Float, clusters: Int, count: int) -> Float:
    """HeurSpec: return the average similarity below which an item is dissimilar to a cluster.

    An item whose best average is below the limit of that cluster belongs to no sampled cluster. The
    limit is the lower of two values:

    1. 1 + sqrt(2 ln count) robust standard deviations below the median of the members' averages.
       The lowest of ``count`` normal values is rarely lower. The deviation is larger for clusters
       with few members.
    2. Halfway from the median of the members' averages with their own cluster to that with the
       nearest other cluster.

    The second alone would take noise for clusters if clusters are near each other. The first alone
    would cut off everything below the median if there is no noise, since the spread is then 0.

    Parameters
    ----------
    mean : float64 (s, k)
        The members' average similarities with each cluster.
    clusters : int32 (s,)
        The members' own clusters.
    count : int
        Number of items to place.

    Returns
    -------
    float64 (k,)
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
    """HeurSpec: return the columns of sampled items whose degree is not low.

    Degrees are counted from the lowest similarity in the sample. A degree is low if it is below a
    quarter of the median. At half of the median, a whole cluster with few sampled items would be
    set aside. Items that triplets bind stay. All stay if only one supernode would.
    """
    plain = block[~np.eye(len(sample), dtype=bool)].reshape(len(sample), -1)
    degree = plain.mean(axis=1) - plain.min()
    keep = degree >= np.median(degree) / 4
    if key is not None:
        keep |= np.bincount(key)[key[sample]] > 1
    kept = np.flatnonzero(keep)
    names = kept if key is None else np.unique(key[sample[kept]])
    return (kept if len(names) > 1 else np.arange(len(sample))).astype(np.int32)


def labels_by_supernode(mean: Float, counts: Int, key: Int, seed: int) -> tuple[Int, Float]:
    """Return ``(labels, best averages)`` such that items of one supernode have one label.

    ``mean`` and ``counts`` have shape (m, k). Ties are broken as in :func:`placekernels.nearest`.
    """
    count, k = int(key.max()) + 1, mean.shape[1]
    means, seen = np.zeros((count, k)), np.zeros((count, k), np.int32)
    np.add.at(means, key, mean)
    np.add.at(seen, key, counts)
    means /= np.bincount(key)[:, None]
    everything, labels = np.arange(count, dtype=np.int32), np.zeros(count, np.int32)
    nearest(means * seen, seen, everything, labels, np.uint64(seed))
    return labels[key], means[everything, labels][key]
