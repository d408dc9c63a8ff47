"""The section What the tree costs: Dasgupta's cost, and the nodes that cost most."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.core.cost import penalty
from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.metrics import dasgupta_cost
from hcviz.ui.features.node_costs import model as node_costs_model
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.foldable import foldable_section, minimises_cost
from hcviz.ui.parts.messages import Acts
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Items for which the cost is computed during a run, at most; this takes 35 ms.
MAX_ITEMS_LIVE = 2_500
#: Nodes that are listed, at most.
MAX_LISTED = 5
_COST_OF_SIMILARITIES = (
    "Dasgupta's cost: the similarity of each pair, times the items of the smallest branch that "
    "holds both. Less is better."
)
_COST_OF_DISSIMILARITIES = (
    "The same sum as Dasgupta's cost, of numbers that this method reads as dissimilarities: each "
    "pair's, times the items of the smallest branch that holds both. More is better."
)


def state(store: Store) -> dict[str, Any]:
    """Return the state of the section, as plain JSON."""
    problem, snapshot = node_costs_model.problem_with_costs(store), store.drawn
    if problem is None or snapshot is None or snapshot.tree.n_leaves != problem.n_items:
        return {"cost": None, "sentence": "No tree yet."}
    costs = node_costs_model.drawn_tree_costs(store)
    if costs is None and snapshot.tree.n_leaves > MAX_ITEMS_LIVE:
        return {"cost": None, "sentence": "Computed when the run has finished."}
    problem, tree = node_costs_model.problem_as_read(store, problem), snapshot.tree
    cost = dasgupta_cost(tree, problem.similarity_or_default) if costs is None else costs.sum()
    return {
        "cost": format_cost(float(cost)),
        "sentence": "",
        "what": _COST_OF_DISSIMILARITIES
        if node_costs_model.reads_dissimilarities(store)
        else _COST_OF_SIMILARITIES,
        "regularised": _regularised(store, tree, float(cost)),
        "mostExpensive": [] if costs is None else _most_expensive(store, tree, costs),
        "coloured": store.view.colour == "cost",
    }


def _regularised(store: Store, tree: Tree, cost: float) -> dict[str, Any] | None:
    triplets = node_costs_model.constrained_problem(store, store.problem).triplets
    if not len(triplets):
        return None
    lam = node_costs_model.violation_price(store)
    broken = ~tree.satisfies(triplets)
    sign = (
        -1.0 if node_costs_model.reads_dissimilarities(store) else 1.0
    )  # a violated constraint is always worse
    of_all = f"{int(broken.sum()):,} of {len(triplets):,}"
    if broken.any():
        of_all += f", weight {triplets.weights[broken].sum():.3g} of {triplets.weights.sum():.3g}"
    return {
        "lam": "" if lam is None else f"{lam:g}",
        "cost": "" if lam is None else format_cost(cost + sign * penalty(tree, triplets, lam)),
        "violated": of_all,
    }


def _most_expensive(store: Store, tree: Tree, costs: Any) -> list[dict[str, Any]]:
    """Return the nodes that cost most, with their children and their share."""
    whole = float(costs.sum())
    if whole <= 0:
        return []
    return [
        {
            "node": int(node),
            "text": split_text(store, tree, int(node)),
            "share": f"{100 * costs[node] / whole:.1f} %",
        }
        for node in np.argsort(-costs, kind="stable")[:MAX_LISTED]
        if costs[node] > 0
    ]


def split_text(store: Store, tree: Tree, node: int) -> str:
    """Return the sizes of a node's children, as ``41 | 60 items``, or ``bat | 60 others``."""
    sides = sorted((tree.leaves(int(child)) for child in tree.children(node)), key=len)
    labels = store.session.labels
    if len(sides[0]) == 1:
        rest = sum(len(side) for side in sides[1:])
        return f"{labels[int(sides[0][0])]} | {count_noun(rest, 'other')}"
    return " | ".join(f"{len(side):,}" for side in reversed(sides)) + " items"


@ACTS.on("clade")
def _select_clade(actions: Actions, node: int) -> None:
    drawn = actions.store.drawn
    if drawn is not None and drawn.tree.n_leaves <= node < drawn.tree.n_nodes:
        actions.select_items(tuple(int(leaf) for leaf in drawn.tree.leaves(node)))


@ACTS.on("colour")
def _toggle_colour(actions: Actions) -> None:
    store = actions.store
    store.change_view(colour="clusters" if store.view.colour == "cost" else "cost")


def _depends_on(store: Store) -> Any:
    session = store.session
    parts = (session.constraints, session.method, session.params, session.labels)
    return (*parts, node_costs_model.depends_on(store), store.dataset, session.data)


def format_cost(value: float) -> str:
    """Return a cost with about six digits, enough to distinguish two trees."""
    size = abs(value)
    digits = 1 if size >= 1e5 else 2 if size >= 1e3 else 4
    return f"{value:,.{digits}f}"


SECTION = foldable_section(
    name="costs",
    title="What the tree costs",
    is_shown=lambda store: node_costs_model.problem_with_costs(store) is not None,
    is_open_at_first=minimises_cost,
    state=state,
    depends_on=_depends_on,
    acts=ACTS,
)
