"""Dasgupta's cost of each node of the tree on the screen, for the colours and the inspector."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import get as get_algorithm
from hcviz.core.problem import MAX_DENSE, Problem
from hcviz.core.similarity import magnitude
from hcviz.core.tree import Tree
from hcviz.metrics import node_costs
from hcviz.ui.state.store import Store
from hcviz.ui.tree.shown_axis import drawn_heights

#: Shares of the whole cost. A node has the colour of the highest one that its share reaches.
LEVELS = (0.001, 0.01, 0.05, 0.2)
#: The shares as texts of the legend.
LEVEL_NAMES = ("0.1 %", "1 %", "5 %", "20 % of the cost or more")


def problem_with_costs(store: Store) -> Problem | None:
    """Return the problem if its trees have a cost that can be computed, else None."""
    if store.dataset is None or not store.session.labels:
        return None
    problem = store.problem
    if problem.similarity is None and problem.n_items > MAX_DENSE:
        return None  # the cost is a sum over all pairs
    known = problem.similarity is not None or problem.features is not None
    return problem if known else None


def violation_price(store: Store) -> float | None:
    """Return the price of a violated triplet of weight 1; None if the method has no price."""
    return get_algorithm(store.session.method).price(store.session.params)


def constrained_problem(store: Store, problem: Problem) -> Problem:
    """Return ``problem`` with the session's constraints in the form that the method reads.

    Where constraints are soft, priced triplets take the place of groups.
    """
    session = store.session
    method = get_algorithm(session.method)
    problem = problem.with_triplets(session.triplets).with_groups(session.required_clades)
    if session.constraint_mode == "ignored":
        return problem.without_constraints()
    return method.with_groups_as_read(problem, method.parameters(**dict(session.params)))


def similarity_scale(store: Store) -> float:
    """Return a power of ten near the size of the similarities."""
    return magnitude(store.problem.similarity_or_default)


def reads_dissimilarities(store: Store) -> bool:
    """Return True if the method maximises the cost, of numbers that it reads as dissimilarities."""
    return get_algorithm(store.session.method).maximises_cost(store.session.params)


def problem_as_read(store: Store, problem: Problem) -> Problem:
    """Return the problem with dissimilarities if the method reads these, else unchanged."""
    return problem.as_dissimilarities() if reads_dissimilarities(store) else problem


def drawn_tree_costs(store: Store) -> NDArray[np.float64] | None:
    """Return Dasgupta's cost of each node of the tree drawn, float64 (m,); None until computed.

    It is computed in the background, when no run is in progress. O(n^2).
    """
    problem, drawn = problem_with_costs(store), store.drawn
    if problem is None or drawn is None or store.is_streaming:
        return None
    tree = drawn.tree
    if tree.n_leaves != problem.n_items:
        return None
    problem, far = problem_as_read(store, problem), reads_dissimilarities(store)
    key = ("nodes", tree, far)
    found = store.compute_cache.ask("nodes", {key: lambda: _costs(tree, problem)}).get(key)
    return found if isinstance(found, np.ndarray) else None


def _costs(tree: Tree, problem: Problem) -> NDArray[np.float64]:
    return node_costs(tree, problem.similarity_or_default)


def drawn_tree_levels(store: Store) -> NDArray[np.int8] | None:
    """Return the colour of each node, int8 (m,), -1 for none; None with other colours."""
    if store.view.colour != "cost":
        return None
    costs = drawn_tree_costs(store)
    return None if costs is None else cost_levels(costs)


def cost_levels(costs: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return the index of the highest of ``LEVELS`` that each node's share reaches, -1 for none."""
    whole = float(costs.sum())
    share = costs / whole if whole > 0 else np.zeros(costs.size)
    return (np.searchsorted(np.array(LEVELS), share, side="right") - 1).astype(np.int8)


def depends_on(store: Store) -> Any:
    """Return what the colours depend on."""
    return (
        store.drawn,
        drawn_heights(store),
        store.view.colour,
        store.n_computed,
        store.is_streaming,
    )
