"""Compiled random numbers from seeds: SplitMix64 (Steele, Lea and Flood 2014)."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit


@njit
def mix64(word):
    """SplitMix64's finaliser: a bijection of uint64 in which each bit affects all bits."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit
def child_seed(seed, index):
    """Return the seed of child ``index`` (0, 1, ...) of a node with this seed: uint64.

    The random numbers of a node depend on its path from the root, not on the order of visits.
    """
    return mix64(np.uint64(seed) + np.uint64(index + 1) * np.uint64(0x9E3779B97F4A7C15))


@njit
def uniform(word):
    """Convert the upper 53 bits of a mixed word to a number between 0 and 1, ends excluded."""
    return (np.float64(word >> np.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)
