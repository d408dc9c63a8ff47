"""What the tree costs: Dasgupta's cost, what violated answers add, and where it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.core.cost import penalty
from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.metrics import dasgupta_cost
from hcviz.ui.features.node_costs import model as nodecosts
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.folding import folding, structural
from hcviz.ui.state.store import Store

#: Above this the cost of each tree that streams in would hold the page up: 2,500 items take 35 ms.
LIVE = 2_500
#: Nodes named.
NAMED = 5
_NEAR = (
    "Dasgupta's cost: the similarity of each pair, times the items of the smallest clade that "
    "holds both. Less is better."
)
_FAR = (
    "The same sum as Dasgupta's cost, of numbers that this method reads as dissimilarities: each "
    "pair's, times the items of the smallest clade that holds both. More is better."
)


def picture(store: Store) -> dict[str, Any]:
    problem, snapshot = nodecosts.weighed(store), store.drawn
    if problem is None or snapshot is None or snapshot.tree.n_leaves != problem.n_items:
        return {"cost": None, "said": "No tree yet."}
    costs = nodecosts.of_drawn(store)
    if costs is None and snapshot.tree.n_leaves > LIVE:
        return {"cost": None, "said": "It is worked out when the tree stands still."}
    problem, tree = nodecosts.as_read(store, problem), snapshot.tree
    cost = dasgupta_cost(tree, problem.similarity_or_default) if costs is None else costs.sum()
    return {
        "cost": number(float(cost)),
        "said": "",
        "what": _FAR if nodecosts.wants_far(store) else _NEAR,
        "regularised": _regularised(store, tree, float(cost)),
        "dearest": [] if costs is None else _dearest(store, tree, costs),
        "coloured": store.view.colour == "cost",
    }


def _regularised(store: Store, tree: Tree, cost: float) -> dict[str, Any] | None:
    triplets = store.session.triplets
    if not len(triplets):
        return None
    lam = nodecosts.asked_price(store)
    broken = ~tree.satisfies(triplets)
    sign = -1.0 if nodecosts.wants_far(store) else 1.0  # violated answers never help
    of_all = f"{int(broken.sum()):,} of {len(triplets):,}"
    if broken.any():
        of_all += f", weight {triplets.weights[broken].sum():.3g} of {triplets.weights.sum():.3g}"
    return {
        "lam": "" if lam is None else f"{lam:g}",
        "cost": "" if lam is None else number(cost + sign * penalty(tree, triplets, lam)),
        "violated": of_all,
    }


def _dearest(store: Store, tree: Tree, costs: Any) -> list[dict[str, Any]]:
    """The nodes that cost most: what they part, and their share."""
    whole = float(costs.sum())
    if whole <= 0:
        return []
    return [
        {
            "node": int(node),
            "text": _parted(store, tree, int(node)),
            "share": f"{100 * costs[node] / whole:.1f} %",
        }
        for node in np.argsort(-costs, kind="stable")[:NAMED]
        if costs[node] > 0
    ]


def _parted(store: Store, tree: Tree, node: int) -> str:
    """``41 | 60 items``, and what the smaller side holds where that can be said shortly."""
    sides = sorted((tree.leaves(int(child)) for child in tree.children(node)), key=len)
    labels = store.session.labels
    if len(sides[0]) == 1:
        rest = sum(len(side) for side in sides[1:])
        return f"{labels[int(sides[0][0])]} | {count_noun(rest, 'other')}"
    return " | ".join(f"{len(side):,}" for side in reversed(sides)) + " items"


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    store = actions.store
    if name == "clade" and store.drawn is not None:
        tree, node = store.drawn.tree, int(more["node"])
        if tree.n_leaves <= node < tree.n_nodes:
            actions.take(tuple(int(leaf) for leaf in tree.leaves(node)))
    elif name == "colour":
        store.look(colour="clusters" if store.view.colour == "cost" else "cost")


def _sees(store: Store) -> Any:
    session = store.session
    parts = (session.constraints, session.method, session.params, session.labels)
    return (*parts, nodecosts.sees(store), store.dataset, session.data)


def number(value: float) -> str:
    """Six digits or so: enough to tell two trees apart."""
    size = abs(value)
    digits = 1 if size >= 1e5 else 2 if size >= 1e3 else 4
    return f"{value:,.{digits}f}"


SECTION = folding(
    name="costs",
    title="What the tree costs",
    there=lambda store: nodecosts.weighed(store) is not None,
    opens=structural,
    picture=picture,
    sees=_sees,
    act=_act,
)
