"""What each node of the tree on the screen costs: for the branches' colours and the inspector."""

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

#: A node's colour says which of these shares of the whole cost it reaches; below the first: none.
LEVELS = (0.001, 0.01, 0.05, 0.2)
#: The same for the legend.
LEVEL_NAMES = ("0.1 %", "1 %", "5 %", "20 % of the cost or more")


def weighed(store: Store) -> Problem | None:
    """The problem, if trees over it have a cost: some similarity, and not of sparse giants."""
    if store.dataset is None or not store.session.labels:
        return None
    problem = store.problem
    if problem.similarity is None and problem.n_items > MAX_DENSE:
        return None  # a sum over all pairs
    known = problem.similarity is not None or problem.features is not None
    return problem if known else None


def asked_price(store: Store) -> float | None:
    """What the method takes for a violated triplet of weight 1; None where it has no such thing."""
    return get_algorithm(store.session.method).price(store.session.params)


def scale(store: Store) -> float:
    """A power of ten about as large as the similarities."""
    return magnitude(store.problem.similarity_or_default)


def wants_far(store: Store) -> bool:
    """The method reads the numbers as dissimilarities: the sum over pairs is to be high."""
    return get_algorithm(store.session.method).maximises_cost(store.session.params)


def as_read(store: Store, problem: Problem) -> Problem:
    """The problem with the numbers that the method reads: distances, if it wants such."""
    return problem.as_dissimilarities() if wants_far(store) else problem


def of_drawn(store: Store) -> NDArray[np.float64] | None:
    """Dasgupta's cost by node of the tree drawn, float64 (m,); None until it is known.

    It is asked for once the tree stands still, and worked out beside the page: O(n^2).
    """
    problem, drawn = weighed(store), store.drawn
    if problem is None or drawn is None or not store.still:
        return None
    tree = drawn.tree
    if tree.n_leaves != problem.n_items:
        return None
    problem, far = as_read(store, problem), wants_far(store)
    key = ("nodes", tree, far)
    found = store.aside.ask("nodes", {key: lambda: _costs(tree, problem)}).get(key)
    return found if isinstance(found, np.ndarray) else None


def _costs(tree: Tree, problem: Problem) -> NDArray[np.float64]:
    return node_costs(tree, problem.similarity_or_default)


def levels(store: Store) -> NDArray[np.int8] | None:
    """The colour of each node, int8 (m,), -1 for none; None where branches are not so coloured."""
    if store.view.colour != "cost":
        return None
    costs = of_drawn(store)
    return None if costs is None else levels_of(costs)


def levels_of(costs: NDArray[np.float64]) -> NDArray[np.int8]:
    """The highest of ``LEVELS`` that each share reaches. Where costs add up to nothing: none."""
    whole = float(costs.sum())
    share = costs / whole if whole > 0 else np.zeros(costs.size)
    return (np.searchsorted(np.array(LEVELS), share, side="right") - 1).astype(np.int8)


def sees(store: Store) -> Any:
    """What the colours depend on."""
    return (store.drawn, store.view.heights, store.view.colour, store.answers, store.still)
