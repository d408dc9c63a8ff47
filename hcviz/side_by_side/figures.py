"""The figures of a method's tree: cost, distance, violated constraints, queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

from hcviz.algorithms.base import Algorithm
from hcviz.core.problem import MAX_DENSE, Problem
from hcviz.core.tree import Tree
from hcviz.metrics import dasgupta_cost, triplet_distance


@dataclass(frozen=True)
class TreeFigures:
    """What is measured about one tree.

    Parameters
    ----------
    cost : float
        Dasgupta's cost; NaN without similarities, or if they are too many.
    distance : float
        Triplet distance to the first tree.
    violated : int
        Number of constraints that the tree violates.

    Examples
    --------
    >>> TreeFigures(cost=9.0, distance=0.0, violated=0).cost
    9.0
    """

    cost: float
    distance: float
    violated: int


def measure(problem: Problem, tree: Tree, first: Tree) -> TreeFigures:
    """Measure a tree.

    Parameters
    ----------
    problem : Problem
        The data, and the constraints to count.
    tree : Tree
        The tree.
    first : Tree
        The tree that it is compared with, over the same items.

    Returns
    -------
    TreeFigures
        Cost, distance and violated constraints.

    Notes
    -----
    O(n^2) for the cost, O(n log^2 n) for the distance.

    Examples
    --------
    >>> problem = Problem(features=[[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]], triplets=[[0, 2, 1]])
    >>> tree = Tree.from_newick("((0,1),2);")
    >>> measure(problem, tree, tree).violated
    1
    """
    similarity = _similarity_of(problem)
    broken = int((~tree.satisfies(problem.triplets, problem.groups)).sum())
    broken += sum(tree.has_clade(items) for items in problem.not_groups)
    return TreeFigures(
        nan if similarity is None else dasgupta_cost(tree, similarity),
        triplet_distance(first, tree),
        broken,
    )


def _similarity_of(problem: Problem) -> Any:
    """Return the matrix for the cost; None if there is none, or it would be too large."""
    if problem.similarity is not None:
        return problem.similarity
    known = problem.features is not None and problem.features.shape[1] > 0
    return problem.similarity_or_default if known and problem.n_items <= MAX_DENSE else None


def queries_of(method: Algorithm, problem: Problem, metrics: Mapping[str, float]) -> float:
    """Return how many similarities or comparisons a run asked for.

    Parameters
    ----------
    method : Algorithm
        The method.
    problem : Problem
        What it ran on.
    metrics : mapping of str to float
        Those of its last snapshot.

    Returns
    -------
    float
        All pairs of items for a method that needs a full similarity matrix. NaN for one that asks
        for nothing: it reads features, piles, or comparisons that are given.

    Examples
    --------
    >>> problem = Problem(features=[[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]])
    >>> queries_of(get("crsc"), problem, {}), queries_of(get("ddt"), problem, {})
    (3.0, nan)
    """
    if "queries" in metrics:
        return float(metrics["queries"])
    if "similarity" not in method.needs:
        return nan
    if method.needs_no_matrix is not None and method.needs_no_matrix(problem):
        return nan
    n = problem.n_items
    return float(n * (n - 1) // 2)


__all__ = ["TreeFigures", "measure", "queries_of"]
