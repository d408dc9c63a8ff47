"""The sheet Why: Aho's graph of a split or of a conflict.

Nodes are items. An edge joins two items that a constraint holds together. networkx computes the
layout, HoloViews draws the graph, and a part beside it has the texts and buttons.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any, ClassVar

import holoviews as hv
import holoviews.plotting.bokeh
import networkx as nx
import numpy as np
import panel as pn
import param
from bokeh.models import HoverTool

from hcviz.core.text import show_bidi
from hcviz.session.aho_graph import AhoGraph, BlockedSet, Edge, find_blocked_set
from hcviz.session.constraint import Constraint
from hcviz.ui.compat.python_parameters import python_only
from hcviz.ui.features.aho_graph import explanation
from hcviz.ui.features.conflicts import model as conflicts_model
from hcviz.ui.features.conflicts.controller import ACTS as CONFLICT_ACTS
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts, Fields
from hcviz.ui.parts.palette import THEMES
from hcviz.ui.parts.part import UI, OnAct
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store

ACTS = Acts(CONFLICT_ACTS)

# Instead of hv.extension, for the reason given in run_trace/view.py.
hv.Store.set_current_backend("bokeh")

#: Items that are drawn, at most.
MAX_DRAWN = 120
#: With more items than this, items without a constraint are not drawn, and only those of the new
#: constraint have names.
MAX_NAMED = 60
#: Width of the texts beside the graph, in pixels.
TEXT_WIDTH = 320
#: Larger pieces get a spring layout, since the layout of Kamada & Kawai (1989) is cubic.
MAX_KAMADA_KAWAI = 40

GRAPH_HELP = (
    "Lines are answers: what they join is on one side. Colours are the sides in the tree shown."
)

_Place = tuple[float, float]


# ---------------------------------------------------------------------- what is shown


def subject(store: Store) -> str:
    """Return what the sheet explains: ``conflict`` or ``split``."""
    if store.session.conflict is None:
        return "split"
    return store.view.why or "conflict"


def state(store: Store) -> dict[str, Any]:
    """Return the state of the sheet, as plain JSON."""
    shown = subject(store)
    explained = _conflict_state(store) if shown == "conflict" else _split_state(store)
    return explained | {
        "subject": shown,
        "both": store.session.conflict is not None,
        "theme": store.view.theme,
    }


def _conflict_state(store: Store) -> dict[str, Any]:
    session = store.session
    conflict = session.conflict
    assert conflict is not None
    new = session.find(conflict.constraint_id)
    others = [each for each in session.constraints if each.id in conflict.with_ids]
    found = None if new is None else _blocked(new, tuple(others))
    not_group = next((each for each in (*others, new) if each and each.is_not_group), None)
    if not_group is not None:
        return _empty_state(
            f"One answer: {session.sentence_of(not_group)}. The other answers make them a group."
        )
    if new is None or found is None:
        return _empty_state("There is no conflict any more.")
    labels = session.labels
    along = {frozenset(step) for step in pairwise(found.path)}
    marked = dict.fromkeys(new.outsiders, "apart") | dict.fromkeys(new.group, "together")
    kinds = {
        frozenset((e.a, e.b)): "closing" if e.id == new.id else "path"
        for e in sorted(found.graph.edges, key=lambda e: e.id == new.id)
        if e.id == new.id or frozenset((e.a, e.b)) in along
    }
    sentences = [
        f"At their root a tree divides these {len(found.graph.items):,} items. Each answer keeps "
        "its items on one side, and together they keep all items on one side: no tree is possible.",
        _path_sentence(found, new, labels),
    ]
    return {
        "title": "Why these answers cannot all be true",
        "sentences": sentences,
        "key": [["path", "earlier answers that lead there"], ["closing", "the new answer"]],
        "card": conflicts_model.state(store),
        **_graph_state(store, found.graph, marked, kinds, first=[*found.path, *new.group]),
    }


def _path_sentence(found: BlockedSet, new: Constraint, labels: Any) -> str:
    """Return a sentence about the path of constraints that excludes the new one."""
    names = [labels[item] for item in found.path]
    if not names:
        return "Together, the answers hold all of these items on one side."
    if new.is_clade:
        return (
            f"Earlier answers hold {' - '.join(names)} together. {names[0]} is outside the new "
            f"group, and {names[-1]} is in it."
        )
    odd = names[0]
    if len(names) > 6:
        names = [*names[:3], f"{len(names) - 5} more", *names[-2:]]
    rest = [labels[i] for i in new.group if i != found.path[-1]][:3]
    with_ = ", ".join(rest) + (" and others" if len(new.group) - 1 > len(rest) else "")
    return (
        f"Earlier answers hold {' - '.join(names)} together; the new one holds {with_} with "
        f"{names[-1]}, and so with {odd}, which must be apart."
    )


def _split_state(store: Store) -> dict[str, Any]:
    found, graph, explained = (
        explanation.shown_clade(store),
        explanation.graph_of_clade(store),
        explanation.split_state(store),
    )
    if found is None or graph is None or explained is None:
        return _empty_state("There are no answers in use.")
    where = explanation.piece_sides(*found, graph)
    side_of = {item: where[k] for k, piece in enumerate(graph.components) for item in piece}
    marked = {item: f"side{side % 8}" if side >= 0 else "apart" for item, side in side_of.items()}
    chosen = "The selected branch" if store.view.selection else "The whole tree"
    return {
        "title": f"{chosen}: why is it divided so?",
        "sentences": [explained["sentence"], GRAPH_HELP],
        "key": [],
        "card": None,
        **_graph_state(store, graph, marked, {}, first=_drawing_order(graph)),
    }  # fmt: skip


def _drawing_order(graph: AhoGraph) -> list[int]:
    """Return the items that constraints hold, one of each piece in turn.

    Items of a piece come in breadth-first order, so that a large piece is drawn without its rim.
    """
    joined = nx.Graph()
    joined.add_edges_from((edge.a, edge.b) for edge in graph.edges)
    walks = []
    for piece in graph.components:
        if len(piece) > 1:
            start = max(piece, key=joined.degree)
            walks.append([start, *(item for _, item in nx.bfs_edges(joined, start))])
    turns = zip_longest(*walks)
    return [item for turn in turns for item in turn if item is not None]


def _empty_state(sentence: str) -> dict[str, Any]:
    return {"title": "Why", "sentences": [sentence], "key": [], "card": None, "left": 0,
            "nodes": [], "edges": []}  # fmt: skip


def _graph_state(
    store: Store,
    graph: AhoGraph,
    marked: dict[int, str],
    kinds: dict[frozenset[int], str],
    first: list[int],
) -> dict[str, Any]:
    """Return the nodes with their places, the edges, and how many items are not drawn."""
    wanted = dict.fromkeys(item for item in first if item in graph.component_of)
    if len(graph.items) <= MAX_NAMED:
        wanted |= dict.fromkeys(graph.items)
    kept = tuple(sorted(list(wanted)[:MAX_DRAWN]))
    at = {item: k for k, item in enumerate(kept)}
    shown = tuple(e for e in graph.edges if e.a in at and e.b in at)
    places = graph_layout(kept, shown)
    labels = store.session.labels
    by_pair: dict[frozenset[int], list[Edge]] = {}
    for edge in shown:
        by_pair.setdefault(frozenset((edge.a, edge.b)), []).append(edge)
    sentences = {c.id: store.session.sentence_of(c) for c in store.session.constraints}
    return {
        "left": len(graph.items) - len(kept),
        "nodes": [
            {"id": item, "name": labels[item], "x": x, "y": y, "kind": marked.get(item, "")}
            for item, (x, y) in zip(kept, places, strict=True)
        ],
        "edges": [
            {
                "from": at[min(pair)],
                "to": at[max(pair)],
                "kind": kinds.get(pair, ""),
                "sentence": "; ".join(dict.fromkeys(sentences.get(e.id, "") for e in edges)),
            }
            for pair, edges in by_pair.items()
        ],
    }


@lru_cache(maxsize=8)
def _blocked(new: Constraint, others: tuple[Constraint, ...]) -> BlockedSet | None:
    return find_blocked_set(new, others)


@lru_cache(maxsize=8)
def graph_layout(items: tuple[int, ...], edges: tuple[Edge, ...]) -> tuple[_Place, ...]:
    """Return a place for each item.

    Each piece has its own layout; the pieces are put into rows, the largest first.
    """
    graph = nx.Graph()
    graph.add_nodes_from(items)
    graph.add_edges_from((edge.a, edge.b) for edge in edges)
    pieces = sorted(map(sorted, nx.connected_components(graph)), key=lambda p: (-len(p), p[0]))
    sizes = [max(1.0, 1.25 * np.sqrt(len(piece))) for piece in pieces]
    width = max([*sizes, 1.5 * float(np.sqrt(sum(size**2 for size in sizes)))])
    places: dict[int, _Place] = {}
    left = top = tall = 0.0
    for piece, size in zip(pieces, sizes, strict=True):
        if left + size > width and left:
            left, top, tall = 0.0, top + tall, 0.0
        for item, (x, y) in _piece_layout(graph.subgraph(piece)).items():
            places[item] = (left + size * (0.5 + 0.38 * x), -top - size * (0.5 + 0.38 * y))
        left, tall = left + size, max(tall, size)
    return tuple(places[item] for item in items)


def _piece_layout(graph: Any) -> dict[int, _Place]:
    """Return places in the square from -1 to 1; the same piece always gets the same places."""
    n = graph.number_of_nodes()
    if n == 1:
        return dict.fromkeys(graph, (0.0, 0.0))
    ordered = nx.Graph()  # the order of a subgraph is that of a set, which varies
    ordered.add_nodes_from(sorted(graph))
    ordered.add_edges_from(sorted(map(sorted, graph.edges)))
    if n <= MAX_KAMADA_KAWAI:
        found = nx.kamada_kawai_layout(ordered)
    else:
        found = nx.spring_layout(ordered, seed=0, iterations=80)
    at = np.array([found[item] for item in ordered])
    at = at - (at.min(axis=0) + at.max(axis=0)) / 2
    at = at / max(float(np.abs(at).max()), 1e-9)
    return {item: (float(x), float(y)) for item, (x, y) in zip(ordered, at, strict=True)}


# ---------------------------------------------------------------------- how it is drawn


def drawing(state: dict[str, Any]) -> Any:
    """Return the HoloViews graph, in the colours of the theme."""
    theme = THEMES[state.get("theme", "light")]
    inks = {"together": theme.together, "apart": theme.apart, "": theme.soft}
    inks |= {f"side{k}": theme.clusters[k - 1] for k in range(len(theme.clusters))}
    lines = {"path": (theme.accent, 3.5), "closing": (theme.apart, 3.5), "": (theme.branch, 1.4)}
    nodes, edges = state.get("nodes", []), state.get("edges", [])
    points = hv.Nodes(
        (
            [n["x"] for n in nodes], [n["y"] for n in nodes], np.arange(len(nodes)),
            [inks[n["kind"]] for n in nodes],
        ),
        vdims=["ink"],
    )  # fmt: skip
    graph = hv.Graph(
        (
            (
                [e["from"] for e in edges], [e["to"] for e in edges],
                [lines[e["kind"]][0] for e in edges], [lines[e["kind"]][1] for e in edges],
                [e["sentence"] for e in edges],
            ),
            points,
        ),
        vdims=["colour", "thick", "sentence"],
    ).opts(
        node_color="ink", node_size=11, node_line_color=theme.paper, edge_color="colour",
        edge_line_width="thick", edge_hover_line_color=theme.accent, inspection_policy="edges",
        node_hover_fill_color=theme.accent, tools=[HoverTool(tooltips="@sentence")],
    )  # fmt: skip
    named = [n for n in nodes if len(nodes) <= MAX_NAMED or n["kind"] in ("together", "apart")]
    words = hv.Labels(
        ([n["x"] for n in named], [n["y"] for n in named], [show_bidi(n["name"]) for n in named])
    ).opts(text_color=theme.ink, text_font_size="11px", text_align="center", yoffset=0)

    def paint(plot: Any, _element: Any) -> None:
        figure = plot.state
        figure.background_fill_color = figure.border_fill_color = None
        figure.outline_line_color = None
        figure.toolbar.logo = None
        for renderer in figure.renderers:
            if hasattr(renderer.glyph, "text_baseline") if hasattr(renderer, "glyph") else False:
                renderer.glyph.update(text_baseline="bottom", y_offset=-8)

    return (graph * words).opts(
        hv.opts.Overlay(
            responsive=True, xaxis=None, yaxis=None, show_frame=False, toolbar=None,
            padding=0.12, hooks=[paint], active_tools=[],
        )
    )  # fmt: skip


_Words = sheet_part(__file__, UI / "features/conflicts/card")


class GraphSheet(pn.Row):
    """Texts and buttons, with the graph beside them; both are drawn from ``state``."""

    state = param.Dict(default={})
    live = param.Dict(default={})  # every sheet has it; here it stays empty

    _rename: ClassVar = python_only(pn.Row, "state", "live")

    def __init__(self, on_act: OnAct, acts: dict[str, Fields], **params: Any) -> None:
        self.words: Any = _Words(
            on_act, acts=acts, sizing_mode="stretch_height", width=TEXT_WIDTH, margin=0
        )
        self.pane: Any = pn.pane.HoloViews(
            drawing({}), sizing_mode="stretch_both", margin=0, linked_axes=False
        )
        self._drawn: Any = None
        super().__init__(self.words, self.pane, styles={"background": "var(--paper)"}, **params)
        self.param.watch(lambda _: self._show(), "state")

    def _show(self) -> None:
        state = self.state
        graph = ("nodes", "edges", "theme")
        self.words.state = {k: v for k, v in state.items() if k not in graph} | {
            "drawn": len(state["nodes"])
        }
        now = {name: state[name] for name in graph}
        if now != self._drawn:
            self._drawn = now
            self.pane.object = drawing(now)


# ---------------------------------------------------------------------- the sheet


def _unavailable_because(store: Store) -> str:
    session = store.session
    if session.snapshot is None:
        return "No tree yet."
    return "" if session.enabled or session.conflict is not None else "No answers yet."


def _depends_on(store: Store) -> Any:
    session, view = store.session, store.view
    tree = store.drawn if subject(store) == "split" else None
    return (session.constraints, session.conflict, view.selection, view.why, tree)


@ACTS.on("subject")
def _set_subject(actions: Actions, value: str) -> None:
    actions.store.change_view(why=value)


SHEET = Sheet(
    name="why",
    title="Why",
    summary="The graph of answers that explains a split or a conflict",
    make=GraphSheet,
    state=state,
    depends_on=_depends_on,
    unavailable_because=_unavailable_because,
    acts=ACTS,
)
