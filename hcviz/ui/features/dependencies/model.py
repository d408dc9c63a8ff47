"""How the answers depend on each other, and what they are worth: asked for beside the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.jobs import BackgroundRun
from hcviz.metrics import Dependency, Usefulness, dependency, usefulness
from hcviz.ui.features.node_costs import model as nodecosts
from hcviz.ui.state import default_method as choosing
from hcviz.ui.state.store import Store

#: More triplets are not looked at one by one: their BUILDs would take many seconds.
MOST = 1_500


def digraph(store: Store) -> Dependency | HcvizError | None:
    """The dependency digraph of the enabled answers; None while it is worked out."""
    triplets = store.session.triplets
    key = ("digraph", triplets.rows.tobytes())

    def work() -> Dependency:
        try:
            return dependency(triplets)
        except HcvizError as fault:  # which speaks of numbers
            raise HcvizError(
                "The answers contradict each other: they depend on each other in a circle."
            ) from fault

    found = store.aside.ask("digraph", {key: work}).get(key)
    return found if isinstance(found, (Dependency, HcvizError)) else None


def worth(store: Store) -> Usefulness | HcvizError | None:
    """Which enabled answers are useful, each as a whole; None while it is worked out."""
    session = store.session
    triplets, n = session.triplets, session.n_items
    without = tree_without(store)
    if without is None:
        return None
    tree = without if isinstance(without, Tree) else None
    said = np.repeat(np.arange(len(session.enabled)), [len(c.triplets) for c in session.enabled])
    key = ("worth", triplets.rows.tobytes(), said.tobytes(), tree)

    def work() -> Usefulness:
        try:
            return usefulness(n, Triplets(triplets.rows), tree, said)
        except HcvizError as fault:
            raise HcvizError(
                "The answers contradict each other: which are useful is told of those that agree."
            ) from fault

    found = store.aside.ask("worth", {key: work}).get(key)
    return found if isinstance(found, (Usefulness, HcvizError)) else None


def tree_without(store: Store) -> Tree | HcvizError | None:
    """The tree under no answers, of :func:`compared`; None while it is made."""
    problem = nodecosts.weighed(store)
    if problem is None:
        return HcvizError("Without similarities nothing says what would be true anyway.")
    session = store.session
    method = compared(store)
    params = dict(session.params) if method == session.method else {}
    key = ("without", method, repr(sorted(params.items())), session.seed)
    run = BackgroundRun(method, lambda: problem.with_triplets(()), _tree_of, params, session.seed)
    found = store.aside.ask("without", {key: run}).get(key)
    return found if isinstance(found, (Tree, HcvizError)) else None


def _tree_of(snapshot: Any) -> Tree:
    tree: Tree = snapshot.tree
    return tree


def compared(store: Store) -> str:
    """The method whose tree under no constraints is used: the one in use if it minimises
    Dasgupta's cost, else the registry's first method that does."""
    methods = [get_algorithm(store.session.method), *choosing.known()]
    return next(each.name for each in methods if each.objective == "minimise")


def compared_title(store: Store) -> str:
    return get_algorithm(compared(store)).title.lower()
