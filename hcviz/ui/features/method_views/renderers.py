"""Renderers of views: one for each type of view, which any method may use.

A renderer returns plain JSON, which ``VIEWS.<kind>`` of ``parts/plots.js`` draws. The heatmap
beside the tree draws matrices of items and masks.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from hcviz.core.snapshot import Graph, Mask, Matrix, Points, Series, View
from hcviz.ui.features.similarity_queries import model as similarity_queries_model
from hcviz.ui.state.store import Store

#: Points of a series or of a scatter plot that are drawn, at most: every k-th one.
MAX_POINTS = 1_000
#: Cells along each side of a drawn matrix, at most.
MAX_CELLS = 128
#: Nodes of a graph with a spring layout, which takes O(k^2) a step, and of any graph, at most.
#: Larger graphs than the first are drawn on a circle.
MAX_SPRING_NODES, MAX_NODES = 120, 1_000
#: Edges of a graph that are drawn, at most.
MAX_EDGES = 4_000

ViewJson = dict[str, Any]


def render_series(store: Store, view: View) -> ViewJson | None:
    """Return a line: points ``[x, y]``, None for a missing value, and the names of the axes."""
    if not isinstance(view, Series) or view.x.shape != view.y.shape or view.x.ndim != 1:
        return None
    step = max(1, -(-view.x.size // MAX_POINTS))
    pairs = zip(view.x[::step].tolist(), view.y[::step].tolist(), strict=True)
    points = [[x, y] if np.isfinite([x, y]).all() else None for x, y in pairs]
    if not any(points):
        return None
    return {"kind": "series", "points": points, "x": view.x_label, "y": view.y_label}


def render_matrix(store: Store, view: View) -> ViewJson | None:
    """Return a grey image that is dark where values are high.

    Each pixel shows the highest value of a block of cells.
    """
    if not isinstance(view, Matrix) or view.values.ndim != 2 or not view.values.size:
        return None
    values = np.asarray(view.values, np.float64)
    known = np.isfinite(values)
    if not known.any():
        return {"kind": "sentence", "sentence": "This matrix has no values."}
    low, high = float(values[known].min()), float(values[known].max())
    rows, cols = (np.arange(0, size, max(1, -(-size // MAX_CELLS))) for size in values.shape)
    values = np.where(known, values, -np.inf)
    blocks = np.maximum.reduceat(np.maximum.reduceat(values, rows, axis=0), cols, axis=1)
    share = np.where(np.isfinite(blocks), (blocks - low) / (high - low or 1.0), 0.0)
    seen = np.where(np.isfinite(blocks), 255, 0)  # a block without a known value is transparent
    packed = io.BytesIO()
    pixels = np.stack([np.rint(255 * (1 - share)), seen], axis=-1).astype(np.uint8)
    Image.fromarray(pixels, "LA").save(packed, "PNG")
    image = "data:image/png;base64," + base64.b64encode(packed.getvalue()).decode()
    return {
        "kind": "matrix",
        "image": image,
        "rows": int(view.values.shape[0]),
        "cols": int(view.values.shape[1]),
        "low": f"{low:.4g}",
        "high": f"{high:.4g}",
    }


def render_graph(store: Store, view: View) -> ViewJson | None:
    """Return nodes at places in the unit square, and edges between them."""
    if not isinstance(view, Graph) or view.edges.ndim != 2 or view.edges.shape[1:] != (2,):
        return None
    k = len(view.names)
    if not k or (view.edges.size and not 0 <= view.edges.min() <= view.edges.max() < k):
        return None
    if k > MAX_NODES:
        return {"kind": "sentence", "sentence": f"{k:,} nodes: up to {MAX_NODES:,} are drawn."}
    edges = tuple(map(tuple, view.edges[:MAX_EDGES].tolist()))
    many = len(view.edges)
    return {
        "kind": "graph",
        "names": [str(name) for name in view.names],
        "at": [list(at) for at in _places(k, edges)],
        "edges": [list(edge) for edge in edges],
        "directed": view.directed,
        "sentence": f"{many:,} edges: {MAX_EDGES:,} are drawn." if many > MAX_EDGES else "",
    }


@lru_cache(maxsize=16)
def _places(k: int, edges: tuple[tuple[int, ...], ...]) -> tuple[tuple[float, float], ...]:
    """Return places of k nodes in the unit square; the same graph always gets the same places."""
    made = nx.Graph()
    made.add_nodes_from(range(k))
    made.add_edges_from(edges)
    found = nx.spring_layout(made, seed=0) if k <= MAX_SPRING_NODES else nx.circular_layout(made)
    places = _into_unit_square(np.array([found[node] for node in range(k)], np.float64))
    return tuple((round(float(x), 4), round(float(y), 4)) for x, y in places)


def _into_unit_square(at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return places (k, 2), moved and scaled into the unit square."""
    span = float(np.ptp(at, axis=0).max()) or 1.0
    middle = (at.max(0) + at.min(0)) / 2
    moved: NDArray[np.float64] = (at - middle) / span + 0.5
    return moved


def render_points(store: Store, view: View) -> ViewJson | None:
    """Return items as points of the plane."""
    labels, chosen = store.session.labels, set(store.view.selection)
    if not isinstance(view, Points) or view.xy.shape != (len(labels), 2):
        return None
    whole = np.isfinite(view.xy).all(axis=1)
    shown = np.flatnonzero(whole)[:: max(1, -(-len(labels) // MAX_POINTS))]
    if not shown.size:
        return None
    at = np.round(_into_unit_square(np.asarray(view.xy[shown], np.float64)), 4).tolist()
    return {
        "kind": "points",
        "points": [
            {"id": item, "at": place, "name": labels[item], "chosen": item in chosen}
            for item, place in zip(shown.tolist(), at, strict=True)
        ],
        "sentence": f"{shown.size:,} of {len(labels):,} items are drawn."
        if shown.size < len(labels)
        else "",
    }


def render_mask(store: Store, view: View) -> ViewJson | None:
    """Return the state of the switch that darkens the heatmap."""
    if not isinstance(view, Mask):
        return None
    return {"kind": "mask", "on": store.view.query_mask}


def _covers_all_pairs(view: Mask, n: int) -> bool:
    """Return True if one request has all items on both sides."""
    sizes = np.diff(view.row_offsets), np.diff(view.col_offsets)
    return bool(((sizes[0] >= n) & (sizes[1] >= n)).any())


def is_drawn_elsewhere(store: Store, view: View) -> bool:
    """Return True if the heatmap or another section draws this view, or if it is empty."""
    if isinstance(view, Matrix):
        return view.items
    if isinstance(view, Series):
        return not view.x.size  # nothing to draw
    if isinstance(view, Mask):  # the section on queried similarities has the switch
        return similarity_queries_model.queries_similarities(store) or _covers_all_pairs(
            view, store.session.n_items
        )
    return False


#: The renderer of each type of view.
RENDERERS: Mapping[type[View], Callable[[Store, View], ViewJson | None]] = {
    Series: render_series,
    Matrix: render_matrix,
    Graph: render_graph,
    Points: render_points,
    Mask: render_mask,
}
