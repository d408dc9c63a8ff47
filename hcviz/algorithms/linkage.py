"""Agglomerative linkages by scipy, as baselines. They know nothing of triplets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from hcviz.algorithms.base import Algorithm, NoParameters
from hcviz.core.heights import WARD, of_linkage
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree


def distances(problem: Problem) -> NDArray[np.float64]:
    """Condensed distances, float64 (n (n - 1) / 2,): those measured, where there are any; else the
    highest similarity less each one, where the problem has a similarity or an oracle that may be
    asked for all; else Euclidean between the rows of features."""
    if problem.dissimilarity is not None:
        return np.asarray(squareform(problem.dissimilarity, checks=False))
    if problem.similarity is None and not problem.all_at_once:
        return np.asarray(pdist(problem.features))
    condensed = squareform(problem.similarity_or_default, checks=False)
    return np.asarray(condensed.max(initial=-np.inf) - condensed)


def run(
    method: str,
    problem: Problem,
    params: NoParameters,
    rng: np.random.Generator,
    start: Any,
) -> Iterator[Snapshot | None]:
    """One linkage, one snapshot; heights are the linkage values.

    Average (UPGMA), single and complete linkage of :func:`distances`; Ward's of the features with
    Euclidean distance, or, where the problem has none, of :func:`distances` taken as
    if they were Euclidean. Ties: scipy merges the pair that its nearest-neighbour chain (its
    minimum spanning tree for single linkage) meets first, so that they are broken by the numbering
    of the items, always alike. O(n^2) time and memory.
    """
    n = problem.n_items
    if n == 1:
        tree = Tree.star(1)
    elif method == "ward" and problem.features is not None:
        tree = Tree.from_linkage(linkage(problem.features, "ward"))
    else:
        tree = Tree.from_linkage(linkage(distances(problem), method))
    yield Snapshot(tree, 1, 1)


def _algorithm(method: str, title: str, summary: str) -> Algorithm:
    return Algorithm(
        name=method,
        title=title,
        paper="",
        run=partial(run, method),
        needs=("similarity",),
        triplets="ignored",
        runs="process",
        summary=summary,
        heights=WARD if method == "ward" else of_linkage,
    )


ALGORITHMS = (
    _algorithm("average", "Average linkage", "Merges the two clusters nearest on average."),
    _algorithm("single", "Single linkage", "Merges the two clusters with the nearest items."),
    _algorithm("complete", "Complete linkage", "Merges the two clusters of least diameter."),
    _algorithm("ward", "Ward's linkage", "Merges where the spread within clusters grows least."),
)
