"""``neighbour-ward``: Ward's linkage of many items, on a graph of their nearest neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
import param

from hcviz.algorithms.base import Algorithm
from hcviz.algorithms.neighbours.merging import merge_neighbours
from hcviz.core.build import build, build_guided
from hcviz.core.heights import WARD
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree


class Parameters(param.Parameterized):
    """Parameters of the graph of neighbours."""

    neighbours = param.Integer(
        default=10,
        bounds=(2, 100),
        doc="Neighbours of each cluster in the graph. More cost time, and find nearer pairs.",
    )
    trees = param.Integer(
        default=4,
        bounds=(1, 50),
        doc="Random trees that search for neighbours. More find more of the true neighbours.",
    )


def run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Ward's linkage in which only neighbours merge; heights are the linkage values.

    Random projection trees (Dasgupta and Freund 2008) find near items. Rounds of merges of mutual
    nearest neighbours follow (reciprocal agglomerative clustering, Sumengen et al. 2021). The graph
    is made again of the centroids whenever a quarter of the clusters is left. With 1,024 clusters
    or fewer, all are neighbours of each other, so a run of so few items is Ward's linkage up to
    ties. Triplets and groups are hard: the finished tree is repaired
    (:func:`hcviz.core.build.build_guided`). Raises :class:`InconsistentTriplets` before it yields.

    O(n (trees log n + k^2) d) time and O(n (k + d)) memory for n items of d features, if a round
    merges a fixed share of the clusters.
    """
    build(problem.n_items, problem.triplets, problem.groups)  # raises InconsistentTriplets
    return _snapshots(problem, params, rng)


def _snapshots(
    problem: Problem, params: Parameters, rng: np.random.Generator
) -> Iterator[Snapshot | None]:
    n = problem.n_items
    points = np.ascontiguousarray(problem.coordinates, np.float64)
    work = merge_neighbours(points, params.neighbours, params.trees, rng)
    while True:
        try:
            next(work)
        except StopIteration as end:
            parent, height = end.value
            break
        yield None
    tree = Tree(parent, height, n)
    yield Snapshot(build_guided(tree, problem.triplets, problem.groups), 1, 1)


ALGORITHMS = (
    Algorithm(
        name="neighbour-ward",
        title="Ward's linkage of neighbours",
        paper="Sumengen et al. 2021; Ward 1963",
        run=run,
        needs=("features",),
        triplets="hard",
        reads_groups=True,
        runs="process",
        params=Parameters,
        summary="Nearly Ward's linkage. Best for 2,000 to millions of items with features, "
        "where it is the quickest method.",
        how_it_works="Random trees find the nearest neighbours of each item. Clusters merge as "
        "in Ward's linkage, but only with their neighbours. Two clusters merge when each is the "
        "nearest of the other, so many merge in one round. When few clusters are left, their "
        "neighbours are searched again. At the end, all clusters are neighbours of each other.",
        subquadratic=True,
        needs_no_matrix=lambda problem: True,
        compares=attrgetter("euclidean_text"),
        heights=WARD,
    ),
)


def warm() -> None:
    """Compile the kernels."""
    points = np.random.default_rng(0).normal(size=(1_100, 2))
    for _ in merge_neighbours(points, 2, 1, np.random.default_rng(0)):
        pass
