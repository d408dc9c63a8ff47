"""Random words that a seed decides, inside kernels: SplitMix64 (Steele, Lea and Flood 2014)."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit


@njit
def mixed(word):
    """SplitMix64's finaliser: a bijection of uint64 that spreads every bit."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit
def branched(seed, index):
    """The seed of child ``index`` (0, 1, ...) of a node with this seed: uint64.

    What a node draws depends on the way down to it, not on when it is looked at.
    """
    return mixed(np.uint64(seed) + np.uint64(index + 1) * np.uint64(0x9E3779B97F4A7C15))


@njit
def uniform(word):
    """A number strictly between 0 and 1 from the upper 53 bits of a mixed word."""
    return (np.float64(word >> np.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)
