"""Agglomerative linkages under triplets; without triplets they are scipy's up to ties."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import attrgetter
from typing import Any

import fastcluster
import numpy as np
import param
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from hcviz.algorithms.base import Algorithm
from hcviz.core.build import build, build_guided
from hcviz.core.constrained import Method, constrained_linkage
from hcviz.core.heights import WARD, linkage_heights
from hcviz.core.merge_steps import MergeStep, merge_steps
from hcviz.core.problem import MAX_DENSE, Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree

#: Ward's linkage of more items in up to this many dimensions is faster without pairwise distances.
#: For fewer items, the pairwise distances cost little.
MIN_DIRECT, MAX_DIRECT = 1_000, 20


def distances(problem: Problem) -> NDArray[np.float64]:
    """Return condensed distances, float64 (n (n - 1) / 2,).

    They are the measured dissimilarities if the problem has any. For features without another
    similarity, they are Euclidean distances (docs/distances.md). Otherwise they are the highest
    similarity minus each similarity.
    """
    if problem.dissimilarity is not None:
        return np.asarray(squareform(problem.dissimilarity, checks=False))
    if problem.compares_features:
        return np.asarray(pdist(problem.coordinates))
    condensed = squareform(problem.similarity_or_default, checks=False)
    return np.asarray(condensed.max(initial=-np.inf) - condensed)


class Parameters(param.Parameterized):
    """Parameters of the linkages."""

    constraints: Any = param.Selector(
        default="merge",
        label="Constraints",
        objects={"allow or forbid merges": "merge", "repair the finished tree": "repair"},
        doc="Merge: clusters merge only where the constraints allow it. Repair: the tree without "
        "constraints changes in as few groups as possible. After many answers, merging also "
        "places more of the other items correctly.",
    )


def run(
    method: Method,
    problem: Problem,
    params: Parameters,
    rng: np.random.Generator,
    start: Any,
) -> Iterator[Snapshot | None]:
    """One linkage, one snapshot; heights are the linkage values.

    Average (UPGMA), single and complete linkage use :func:`distances`. Ward's linkage uses the
    Euclidean distances of the features. If the problem has no features, it uses :func:`distances`
    as if they were Euclidean.

    Triplets and groups are hard. With ``constraints="merge"`` each step merges the nearest pair
    that the triplets allow (:func:`hcviz.core.constrained.constrained_linkage`). A node is as high
    as its linkage value, or as its highest child if that is higher. With ``"repair"`` the linkage
    without triplets is repaired (:func:`hcviz.core.build.build_guided`). Clades that hold no item
    of a violated triplet do not change.

    Without triplets, the linkage is scipy's. Ward's linkage of many items in few dimensions is
    fastcluster's vector form (Muellner 2013): scipy's tree, but for ties.

    Ties: without triplets, the pair that the search meets first is merged. Under triplets,
    the pair with the lowest first items is merged. So ties depend on the numbering of the items,
    and nothing is random. Usually O(n^2) time; O(n^2) memory. Without triplets, Ward's linkage of d
    features takes O(n d) memory, if d is small or the items are many. Raises
    :class:`InconsistentTriplets` before it yields anything.
    """
    build(problem.n_items, problem.triplets, problem.groups)  # raises InconsistentTriplets
    return _snapshots(method, problem, params.constraints)


def _snapshots(method: Method, problem: Problem, constraints: str) -> Iterator[Snapshot | None]:
    """Compute the linkage and yield its tree."""
    triplets, groups = problem.triplets, problem.groups
    if problem.n_items == 1:
        tree = Tree.star(1)
    elif problem.n_constraints and constraints == "merge":
        distance = _condensed(method, problem)
        tree = Tree.from_linkage(constrained_linkage(distance, method, triplets, groups))
    else:
        tree = Tree.from_linkage(_unconstrained(method, problem))
        tree = build_guided(tree, triplets, groups)
    yield Snapshot(tree, 1, 1)


def _unconstrained(method: Method, problem: Problem) -> NDArray[np.float64]:
    """Return the linkage matrix without constraints."""
    if method == "ward" and problem.features is not None:
        n, d = problem.features.shape
        if (n > MIN_DIRECT and 0 < d <= MAX_DIRECT) or n > MAX_DENSE:
            return np.asarray(fastcluster.linkage_vector(problem.coordinates, "ward"))
    return np.asarray(linkage(_condensed(method, problem), method))


def _needs_no_matrix(problem: Problem) -> bool:
    """Return True if Ward's linkage needs no pairwise distances of the problem."""
    has_features = problem.features is not None and problem.features.shape[1] > 0
    return has_features and not problem.n_constraints


def _condensed(method: Method, problem: Problem) -> NDArray[np.float64]:
    """Return the condensed distances for a linkage."""
    if method == "ward" and problem.features is not None:
        return np.asarray(pdist(problem.coordinates))
    return distances(problem)


def _merge_steps(method: Method, problem: Problem, tree: Tree) -> tuple[MergeStep, ...]:
    """Return the merges that made a tree of the linkage."""
    return merge_steps(tree, _condensed(method, problem), method)


def _ward_comparison(problem: Problem) -> str:
    """Return what Ward's linkage compares, for people."""
    return problem.distance_text if problem.features is None else problem.euclidean_text


#: The order of the linkages in the agreement sheet's default.
_COMPARED = {"average": 1, "complete": 2, "ward": 3}


#: What all linkages do at the beginning and the end of a run.
_BEGIN = "Each item begins as a cluster of its own. "
_END = " This repeats until one cluster is left. The height of a node is the distance at its merge."


def _algorithm(method: Method, title: str, summary: str, rule: str) -> Algorithm:
    """Declare one linkage. ``rule`` says in which order clusters merge."""
    return Algorithm(
        name=method,
        title=title,
        paper="",
        run=partial(run, method),
        needs=("similarity",),
        triplets="hard",
        reads_groups=True,
        runs="process",
        params=Parameters,
        summary=summary,
        how_it_works=_BEGIN + rule + _END,
        baseline="average linkage" if method == "average" else "",
        compare_order=_COMPARED.get(method),
        needs_no_matrix=_needs_no_matrix if method == "ward" else None,
        compares=_ward_comparison if method == "ward" else attrgetter("distance_text"),
        merge_steps=partial(_merge_steps, method),
        heights=WARD if method == "ward" else linkage_heights,
    )


ALGORITHMS = (
    _algorithm(
        "average",
        "Average linkage",
        "Merges the two clusters nearest on average. Best for dense similarities: 2 to 5 times as "
        "fast as sparsest cuts, at a cost within 2 per cent of theirs.",
        "The distance of two clusters is the mean distance of their items, and the nearest two "
        "merge.",
    ),
    _algorithm(
        "single",
        "Single linkage",
        "Merges the two clusters with the nearest items. Best for speed on dense similarities: "
        "3 to 10 times as fast as sparsest cuts, at a cost up to 4 per cent more.",
        "The distance of two clusters is that of their two nearest items, and the nearest two "
        "merge. So clusters can become long chains.",
    ),
    _algorithm(
        "complete",
        "Complete linkage",
        "Merges the two clusters of least diameter. Best for groups without very different items; "
        "it costs up to 4 per cent more than sparsest cuts.",
        "The distance of two clusters is that of their two farthest items, and the nearest two "
        "merge. So clusters stay compact.",
    ),
    _algorithm(
        "ward",
        "Ward's linkage",
        "Merges where the spread within clusters grows least. Best for compact groups of features "
        "of up to 2,000 items; with more, Ward's linkage of neighbours is faster.",
        "The spread of a cluster is the sum of squared distances of its items to their mean. The "
        "two clusters merge whose union adds least spread.",
    ),
)
