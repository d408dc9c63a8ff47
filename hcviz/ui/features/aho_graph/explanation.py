"""Why a clade is divided as it is: sentences for the inspector and for the graph."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hcviz.core.text import join_names
from hcviz.core.tree import Tree
from hcviz.session.aho_graph import AhoGraph, aho_graph
from hcviz.session.constraint import Constraint
from hcviz.ui.state.store import Store

#: Pieces that are listed, at most. Pieces of one item are only counted.
MAX_PIECES = 8
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
#: The graph of a clade with more items is not computed, since a click would take too long.
MAX_ITEMS = 20_000
#: Items of a piece that are named, at most.
MAX_NAMES = 4


def shown_clade(store: Store) -> tuple[Tree, int] | None:
    """Return the tree drawn and the node to explain; None without a tree of these items.

    The node is that of the smallest clade of two items or more around the selection, else the root.
    """
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


def graph_of_clade(store: Store) -> AhoGraph | None:
    """Return Aho's graph of the enabled constraints on the clade to explain."""
    found = shown_clade(store)
    if found is None:
        return None
    tree, node = found
    if tree.size[node] > MAX_ITEMS:
        return None
    return _graph(store.session.enabled, tuple(tree.leaves(node).tolist()))


@lru_cache(maxsize=8)
def _graph(constraints: tuple[Constraint, ...], items: tuple[int, ...]) -> AhoGraph:
    return aho_graph(constraints, items)


def piece_sides(tree: Tree, node: int, graph: AhoGraph) -> list[int]:
    """Return the child of ``node`` that contains each piece, from 0; -1 if the piece is divided."""
    child_of = {
        int(leaf): k
        for k, child in enumerate(tree.children(node))
        for leaf in tree.leaves(int(child))
    }
    found = []
    for piece in graph.components:
        children = {child_of[item] for item in piece}
        found.append(children.pop() if len(children) == 1 else -1)
    return found


def split_state(store: Store) -> dict[str, Any] | None:
    """Return the sentence and the pieces, as plain JSON; None without a tree or constraints."""
    session = store.session
    if not session.enabled:
        return None
    found, graph = shown_clade(store), graph_of_clade(store)
    if found is None or graph is None:
        return None
    tree, node = found
    sides = piece_sides(tree, node, graph)
    listed = [k for k, piece in enumerate(graph.components) if len(piece) > 1]
    listed.sort(key=lambda k: -len(graph.components[k]))
    return {
        "size": len(graph.items),
        "forced": graph.is_forced,
        "sentence": _sentence(store, tree, node, graph, sides),
        "pieces": [
            {
                "piece": k,
                "size": len(graph.components[k]),
                "names": _names(store, graph.components[k]),
                "answers": [_answer_state(store, answer) for answer in graph.constraint_ids(k)[:3]],
                "more": max(0, len(graph.constraint_ids(k)) - 3),
                "divided": sides[k] < 0,
            }
            for k in listed[:MAX_PIECES]
        ],
        "further": len(listed[MAX_PIECES:]),
        "unconstrained": len(graph.components) - len(listed),
    }


def _sentence(store: Store, tree: Tree, node: int, graph: AhoGraph, sides: list[int]) -> str:
    n, k = len(graph.items), len(graph.components)
    if not graph.edges:
        sentence = f"No answer is about these {n:,} items alone: only the data divide them here."
        return sentence if n > 2 else "Two items: there is only one way to divide them."
    if k == 1:
        return (
            f"The answers hold all {n:,} items in one piece: no tree satisfies all of them. The "
            "method treats them as soft."
        )
    divided = sum(side < 0 for side in sides)
    if graph.is_forced:
        sentence = f"Forced: the answers leave one way to divide these {n:,} items."
    else:
        sentence = (
            f"Not forced: the answers leave {k:,} pieces, and so {_ways(graph)} ways to divide "
        )
        sentence += f"these {n:,} items in two; the method chose one."
        if len(tree.children(node)) > 2:
            sentence = f"Left open: the answers leave {k:,} pieces, and so does the tree."
            if len(tree.children(node)) < k:
                sentence = f"Not forced: the answers leave {k:,} pieces; the method chose."
    if divided:
        count = "one" if divided == 1 else divided
        sentence += f" The tree divides {count} of them, against the answers."
    return sentence


def _ways(graph: AhoGraph) -> str:
    k = len(graph.components)
    return (
        f"{graph.n_splits:,}"
        if k <= 21
        else "about 10" + str(round((k - 1) * 0.30103)).translate(_SUPERSCRIPTS)
    )


def _names(store: Store, items: tuple[int, ...]) -> str:
    labels = store.session.labels
    return join_names([labels[item] for item in items[:MAX_NAMES]], MAX_NAMES, len(items))


def _answer_state(store: Store, answer: int) -> dict[str, Any]:
    found = store.session.find(answer)
    assert found is not None
    return {"id": answer, "sentence": store.session.sentence_of(found)}
