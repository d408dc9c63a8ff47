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

    def room(self, n: int) -> int:
        """Similarities that repair may cost in all, of n items."""
        return int(self.repair * halving(n, self.s))

    def beyond(self, size: int) -> float:
        """What it costs beyond a recursion that halves to look at a set whole."""
        return size * (size - 1) / 2 - halving(size, self.s)

    def shared(self, room: int, sizes: list[int]) -> list[int]:
        """Room for the parts of a set, as they would use it; none for those of s items or fewer."""
        wants = [halving(size, self.s) if size > self.s else 0.0 for size in sizes]
        whole = sum(wants)
        return [int(room * want / whole) if whole else 0 for want in wants]


@dataclass(frozen=True, eq=False)
class Waiting:
    """A set to divide: places among the growth's items (increasing), the node above (-1: none),
    its seed, triplets in places, and the similarities that are known of it, if they all are:
    a matrix and the set's rows in it; how many similarities repair may still cost in it."""

    own: Int
    over: int
    seed: int
    rows: Int
    matrix: Float | None = None
    inside: Int | None = None
    room: int = 0


def halving(size: int, s: int) -> float:
    """About how many similarities of ``size`` items are asked for by a recursion that halves them
    again and again, by samples of ``s``, and looks at the last s whole."""
    return size * s * (math.log2(max(size, s) / s) + 0.5)


def work(size: int) -> int:
    """How much there is to do in a set of ``size`` items: m log2(m), rounded down."""
    return int(size * math.log2(size)) if size > 1 else 0
