"""How sets are divided (``DivisionSettings``), and a set that is not yet divided
(``PendingSet``)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active.flat import Flat

Int = NDArray[np.int32]
Float = NDArray[np.float64]


@dataclass(frozen=True)
class DivisionSettings:
    """How sets are divided: the parameters of ``ActiveCluster``, resolved for n items.

    Parameters
    ----------
    flat : Flat
        The flat method A.
    k : int or None
        Clusters of a division; None: chosen by the eigengap, at most ``max_k``.
    s : int
        Items sampled.
    full_size : int
        Sets of up to this many items are divided by all their similarities.
    stop : bool
        True: sets of ``s`` items or fewer are not divided.
    repair : float
        Rechecks of doubtful items may use this share of a division's own queries.
    sharpen : bool
        True: the sample is divided by products of its columns, over all witnesses.
    exact_split : bool
        True: if a sample is free of noise, its lowest similarity decides what may be separated.
    max_k : int
        The most clusters that the eigengap may choose.
    drop_low_degree, new_clusters : bool
        The heuristics of HeurSpec.
    """

    flat: Flat
    k: int | None
    s: int
    full_size: int
    stop: bool = False
    repair: float = 0.0
    sharpen: bool = False
    exact_split: bool = False
    max_k: int = 8
    drop_low_degree: bool = False
    new_clusters: bool = False

    @property
    def compiled(self) -> bool:
        """True if one kernel can divide a set down to its leaves."""
        return self.flat.kernel is not None

    def repair_budget(self, n: int) -> int:
        """Return the similarities that repair may query in all, for n items."""
        return int(self.repair * halving_queries(n, self.s))

    def full_query_excess(self, size: int) -> float:
        """Return how many more similarities a full matrix has than a halving recursion queries."""
        return size * (size - 1) / 2 - halving_queries(size, self.s)

    def shared_budget(self, budget: int, sizes: list[int]) -> list[int]:
        """Share ``budget`` among parts by their expected queries; parts of up to s get none."""
        wants = [halving_queries(size, self.s) if size > self.s else 0.0 for size in sizes]
        total = sum(wants)
        return [int(budget * want / total) if total else 0 for want in wants]


@dataclass(frozen=True, eq=False)
class PendingSet:
    """A set of items that is not yet divided.

    Parameters
    ----------
    places : int32 (m,)
        The places of its items among the items of the recursion, increasing.
    parent : int
        The node above it; -1 for the root.
    seed : int
        The seed of its random numbers.
    rows : int32 (t, 3)
        Its triplets, in places.
    matrix : float64 (p, p) or None
        All similarities of a set that contains this one, if they have been queried.
    matrix_rows : int32 (m,) or None
        The rows of ``matrix`` that are this set's items.
    budget : int
        How many similarities repair may still query inside it.
    """

    places: Int
    parent: int
    seed: int
    rows: Int
    matrix: Float | None = None
    matrix_rows: Int | None = None
    budget: int = 0

    @property
    def full_matrix(self) -> Float:
        """All similarities of the set, float64 (m, m)."""
        assert self.matrix is not None
        assert self.matrix_rows is not None
        if len(self.matrix_rows) == len(self.matrix):
            return self.matrix
        return np.ascontiguousarray(self.matrix[np.ix_(self.matrix_rows, self.matrix_rows)])


def halving_queries(size: int, s: int) -> float:
    """Estimate the queries of a recursion that always halves a set of ``size`` items.

    It divides by samples of ``s`` items, and queries all similarities of sets of s items.
    """
    return size * s * (math.log2(max(size, s) / s) + 0.5)


def work(size: int) -> int:
    """Return the work to divide ``size`` items down to leaves: m log2(m), rounded down."""
    return int(size * math.log2(size)) if size > 1 else 0
