"""Why a clade is divided as it is, in words: for the inspector and for the graph."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hcviz.core.text import join_names
from hcviz.core.tree import Tree
from hcviz.session.constraint import Constraint
from hcviz.session.splits import AhoGraph, aho_graph
from hcviz.ui.state.store import Store

#: Pieces told one by one; those of a single item are counted.
TOLD = 8
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
#: Above so many items a clade's graph is not drawn up: a tap would wait for it.
MOST = 20_000
#: Items of a piece that are named.
NAMED = 4


def clade(store: Store) -> tuple[Tree, int] | None:
    """The tree drawn and the node looked at: the smallest clade of two items or more around what is
    selected, or the root; None without a tree of these items."""
    snapshot = store.drawn or store.session.snapshot
    if snapshot is None or snapshot.tree.n_leaves != store.session.n_items:
        return None
    tree, chosen = snapshot.tree, store.view.selection
    if tree.n_leaves < 2:
        return None
    if not chosen or max(chosen) >= tree.n_leaves:
        return tree, tree.root
    node = tree.smallest_clade(chosen)
    return tree, int(tree.parent[node]) if node < tree.n_leaves else node


def graph_at(store: Store) -> AhoGraph | None:
    """The graph of the enabled answers at that clade."""
    found = clade(store)
    if found is None:
        return None
    tree, node = found
    if tree.size[node] > MOST:
        return None
    return _graph(store.session.enabled, tuple(tree.leaves(node).tolist()))


@lru_cache(maxsize=8)
def _graph(constraints: tuple[Constraint, ...], items: tuple[int, ...]) -> AhoGraph:
    return aho_graph(constraints, items)


def sides(tree: Tree, node: int, graph: AhoGraph) -> list[int]:
    """For each piece the child of ``node`` that holds it, counted from 0; -1 where it is parted."""
    child_of = {
        int(leaf): k
        for k, child in enumerate(tree.children(node))
        for leaf in tree.leaves(int(child))
    }
    found = []
    for piece in graph.pieces:
        held = {child_of[item] for item in piece}
        found.append(held.pop() if len(held) == 1 else -1)
    return found


def split(store: Store) -> dict[str, Any] | None:
    """The sentence and the pieces, as plain JSON; None without a tree or without answers."""
    session = store.session
    if not session.enabled:
        return None
    found, graph = clade(store), graph_at(store)
    if found is None or graph is None:
        return None
    tree, node = found
    where = sides(tree, node, graph)
    held = [k for k, piece in enumerate(graph.pieces) if len(piece) > 1]
    held.sort(key=lambda k: -len(graph.pieces[k]))
    return {
        "size": len(graph.items),
        "forced": graph.forced,
        "said": _sentence(store, tree, node, graph, where),
        "pieces": [
            {
                "piece": k,
                "size": len(graph.pieces[k]),
                "names": _names(store, graph.pieces[k]),
                "answers": [_said(store, answer) for answer in graph.holding(k)[:3]],
                "more": max(0, len(graph.holding(k)) - 3),
                "parted": where[k] < 0,
            }
            for k in held[:TOLD]
        ],
        "further": len(held[TOLD:]),
        "unconstrained": len(graph.pieces) - len(held),
    }


def _sentence(store: Store, tree: Tree, node: int, graph: AhoGraph, where: list[int]) -> str:
    n, k = len(graph.items), len(graph.pieces)
    if not graph.edges:
        said = (
            f"No answer is about these {n:,} items alone: nothing but the data divides them here."
        )
        return said if n > 2 else "Two items: there is only one way to divide them."
    if k == 1:
        return (
            f"The answers hold all {n:,} items in one piece: no tree keeps all of them, and they "
            "are weighed against each other."
        )
    parted = sum(side < 0 for side in where)
    if graph.forced:
        said = f"Forced: the answers leave one way to divide these {n:,} items."
    else:
        said = f"Not forced: the answers leave {k:,} pieces, and so {_ways(graph)} ways to divide "
        said += f"these {n:,} items in two; of these the method chose."
        if len(tree.children(node)) > 2:
            said = f"Left open: the answers leave {k:,} pieces, and the tree does not say more."
            if len(tree.children(node)) < k:
                said = f"Not forced: the answers leave {k:,} pieces; the method chose."
    if parted:
        said += f" The tree parts {'one' if parted == 1 else parted} of them, against the answers."
    return said


def _ways(graph: AhoGraph) -> str:
    k = len(graph.pieces)
    return (
        f"{graph.ways:,}"
        if k <= 21
        else "about 10" + str(round((k - 1) * 0.30103)).translate(_RAISED)
    )


def _names(store: Store, items: tuple[int, ...]) -> str:
    labels = store.session.labels
    return join_names([labels[item] for item in items[:NAMED]], NAMED, len(items))


def _said(store: Store, answer: int) -> dict[str, Any]:
    found = store.session.find(answer)
    assert found is not None
    return {"id": answer, "sentence": found.sentence(store.session.labels)}
