"""The dependency digraph of the constraints, and which are useful; computed in the background."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.jobs import BackgroundRun
from hcviz.metrics import Dependency, Usefulness, dependency, usefulness
from hcviz.ui.features.node_costs import model as node_costs_model
from hcviz.ui.state import default_method
from hcviz.ui.state.store import Store

#: Triplets that are checked one by one, at most. For more, BUILD would take many seconds.
MAX_TRIPLETS = 1_500


def dependency_digraph(store: Store) -> Dependency | HcvizError | None:
    """Return the dependency digraph of the enabled constraints; None while it is computed."""
    triplets = store.session.triplets
    key = ("digraph", triplets.rows.tobytes())

    def work() -> Dependency:
        try:
            return dependency(triplets)
        except HcvizError as fault:  # its message has numbers instead of names
            raise HcvizError(
                "The answers contradict each other: they depend on each other in a cycle."
            ) from fault

    found = store.compute_cache.ask("digraph", {key: work}).get(key)
    return found if isinstance(found, (Dependency, HcvizError)) else None


def useful_answers(store: Store) -> Usefulness | HcvizError | None:
    """Return which enabled constraints are useful; None while it is computed."""
    session = store.session
    triplets, n = session.triplets, session.n_items
    without = tree_without_constraints(store)
    if without is None:
        return None
    tree = without if isinstance(without, Tree) else None
    owners = np.repeat(np.arange(len(session.enabled)), [len(c.triplets) for c in session.enabled])
    key = ("worth", triplets.rows.tobytes(), owners.tobytes(), tree)

    def work() -> Usefulness:
        try:
            return usefulness(n, Triplets(triplets.rows), tree, owners)
        except HcvizError as fault:
            raise HcvizError(
                "The answers contradict each other, so which of them are useful is not defined."
            ) from fault

    found = store.compute_cache.ask("worth", {key: work}).get(key)
    return found if isinstance(found, (Usefulness, HcvizError)) else None


def tree_without_constraints(store: Store) -> Tree | HcvizError | None:
    """Return the tree that :func:`comparison_method` finds without constraints.

    None while it is computed.
    """
    problem = node_costs_model.problem_with_costs(store)
    if problem is None:
        return HcvizError("There are no similarities to compute a tree without answers.")
    session = store.session
    method = comparison_method(store)
    params = dict(session.params) if method == session.method else {}
    key = ("without", method, repr(sorted(params.items())), session.seed)
    run = BackgroundRun(method, lambda: problem.with_triplets(()), _tree_of, params, session.seed)
    found = store.compute_cache.ask("without", {key: run}).get(key)
    return found if isinstance(found, (Tree, HcvizError)) else None


def _tree_of(snapshot: Any) -> Tree:
    tree: Tree = snapshot.tree
    return tree


def comparison_method(store: Store) -> str:
    """Return the method that computes the tree without constraints.

    This is the method in use if it minimises Dasgupta's cost, else the first method that does.
    """
    methods = [get_algorithm(store.session.method), *default_method.known()]
    return next(each.name for each in methods if each.objective == "minimise")


def comparison_method_title(store: Store) -> str:
    return get_algorithm(comparison_method(store)).title.lower()
