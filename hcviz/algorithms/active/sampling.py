"""Which sampled items speak for a set, and for whom: supernodes, and HeurSpec's heuristics."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int32]
Float = NDArray[np.float64]


def with_two(sample: Int, key: Int, rng: np.random.Generator) -> Int:
    """The sample, with items of other supernodes added where it has only one."""
    if np.unique(key[sample]).size > 1:
        return sample
    others = np.flatnonzero(key != key[sample[0]]).astype(np.int32)
    more = rng.choice(others, min(len(others), len(sample)), replace=False)
    return np.sort(np.concatenate([sample, more])).astype(np.int32)


def low_limit(values: Float, count: int) -> float:
    """What is outlyingly low among ``count`` values, judged by a few of them: 1 + sqrt(2 ln count)
    robust standard deviations below the median, as the lowest of so many normal ones hardly ever
    is; more, the fewer they are to judge by."""
    middle = float(np.median(values))
    spread = 1.4826 * float(np.median(np.abs(values - middle))) * (1.0 + 4.0 / len(values))
    return middle - (1.0 + math.sqrt(2.0 * math.log(max(count, 2)))) * spread


def well_linked(block: Float, sample: Int, key: Int | None) -> Int:
    """HeurSpec: the sampled items (as columns) whose degree, counted from the lowest similarity in
    the sample, is at least half the median one. Bound items stay, and all do where one would."""
    plain = block[~np.eye(len(sample), dtype=bool)].reshape(len(sample), -1)
    degree = plain.mean(axis=1) - plain.min()
    keep = degree >= np.median(degree) / 2
    if key is not None:
        keep |= np.bincount(key)[key[sample]] > 1
    kept = np.flatnonzero(keep)
    names = kept if key is None else np.unique(key[sample[kept]])
    return (kept if len(names) > 1 else np.arange(len(sample))).astype(np.int32)


def joined(mean: Float, key: Int) -> tuple[Int, Float]:
    """``(labels, best average)`` where items of one supernode must have one: float64 (m, k) in."""
    together = np.zeros((int(key.max()) + 1, mean.shape[1]))
    np.add.at(together, key, mean)
    together /= np.bincount(key)[:, None]
    return together.argmax(axis=1).astype(np.int32)[key], together.max(axis=1)[key]
