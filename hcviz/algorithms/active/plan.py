"""How sets are divided (``Plan``), and what is known of one that waits for it (``Waiting``)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active.flat import Flat

Int = NDArray[np.int32]
Float = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """How sets are divided.

    ``flat``: the flat method A; ``k``: clusters of a division, None: by the eigengap, at most
    ``most``; ``s``: items sampled. Sets of up to ``whole`` items are divided by all their
    similarities; with ``stop``, those of up to ``s`` not at all. ``repair``: second looks may use
    this share of a division's own similarities. ``sharpen``: the sample is divided by what others
    say of it too. ``apart``: what the lowest similarity of a set without noise parts is not looked
    at further. ``drop``, ``fresh``: HeurSpec's heuristics.
    """

    flat: Flat
    k: int | None
    s: int
    whole: int
    stop: bool = False
    repair: float = 0.0
    sharpen: bool = False
    apart: bool = False
    most: int = 8
    drop: bool = False
    fresh: bool = False

    @property
    def compiled(self) -> bool:
        """Whether one kernel can divide a set down to its leaves, whatever k."""
        return self.flat.kernel is not None


@dataclass(frozen=True, eq=False)
class Waiting:
    """A set to divide: places among the growth's items (increasing), the node above (-1: none),
    its seed, triplets in places, and the similarities that are known of it, if they all are:
    a matrix and the set's rows in it."""

    own: Int
    over: int
    seed: int
    rows: Int
    matrix: Float | None = None
    inside: Int | None = None


def work(size: int) -> int:
    """How much there is to do in a set of ``size`` items: m log2(m), rounded down."""
    return int(size * math.log2(size)) if size > 1 else 0
