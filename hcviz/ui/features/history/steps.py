"""State of the history strip: the steps of undo and redo, each with a small tree and its cost."""

from __future__ import annotations

import heapq
import math
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from scipy.sparse import issparse

from hcviz.core.errors import HcvizError
from hcviz.core.layout import leaf_order
from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.metrics import dasgupta_cost
from hcviz.session.history import answers_in_use
from hcviz.session.model import Checkpoint, Session
from hcviz.ui.features.node_costs import model as node_costs_model
from hcviz.ui.state.data_sources import answers_in
from hcviz.ui.state.store import Store

#: Steps of undo and of redo that are shown, at most.
BACK, FORTH = 12, 6
#: Width and height of a small tree, the number of its tips, and the width of a wedge, which is a
#: clade that is not drawn further.
WIDE, HIGH, TIPS, WEDGE = 96, 60, 16, 12
#: Pairs for which Dasgupta's cost is computed, at most: this takes about 2 ms.
PAIRS = 1_000_000

_thumbnails: WeakKeyDictionary[Tree, str] = WeakKeyDictionary()
_costs: WeakKeyDictionary[Tree, tuple[Any, float | None]] = WeakKeyDictionary()


def state(store: Store) -> dict[str, Any]:
    """Return the steps as plain JSON, the newest last.

    ``by`` is the number of steps from the present one, ``label`` the action that led to the step.
    """
    session = store.session
    if _is_hidden(store):
        return {"steps": []}
    shows_future = store.view.lesson is None  # a lesson does not show its next steps
    past = session.past[-BACK:]
    future = session.future[-FORTH:][::-1] if shows_future else ()
    earlier = session.past[-BACK - 1].label if len(session.past) > BACK else "Start"
    labels = [earlier, *(point.label for point in (*past, *future))]
    points: list[Session | Checkpoint] = [*past, session, *future]
    running = store.is_streaming
    steps = []
    for index, (point, label) in enumerate(zip(points, labels, strict=True)):
        by = index - len(past)
        tree = None if point.snapshot is None or (by == 0 and running) else point.snapshot.tree
        answers = answers_in_use(point)
        answers += sum(answers_in(content) for _, content in point.data.answers)
        steps.append(
            {
                "index": index,
                "by": by,
                "label": label.removesuffix("."),
                "now": by == 0,
                "answers": count_noun(answers, "answer"),
                "thumb": "" if tree is None else thumbnail(tree),
                "cost": "" if tree is None else _cost(store, point, tree),
            }
        )
    return {"steps": steps}


def _is_hidden(store: Store) -> bool:
    """Return True in a lesson script until the class has predicted what the strip would show."""
    playing = store.view.playing
    return playing is not None and playing.has_later_prediction


def depends_on(store: Store) -> Any:
    """Return what the strip depends on; the trees of a run in progress are left out."""
    session = store.session
    running = store.is_streaming
    now = None if running else session.snapshot
    in_lesson = store.view.lesson is not None
    parts = (session.past, session.future, now, running, session.data, session.constraints)
    return (*parts, in_lesson, _is_hidden(store))


# ---------------------------------------------------------------------- the small tree


def thumbnail(tree: Tree) -> str:
    """Return the upper part of a tree as an SVG path of ``WIDE`` x ``HIGH`` pixels.

    The largest clades are opened, one by one, until there are ``TIPS`` tips. A clade that is not
    opened is a wedge over as many rows as it has items. Levels are evenly spaced. The path is
    cached; O(m) the first time.
    """
    known = _thumbnails.get(tree)
    if known is None:
        _thumbnails[tree] = known = _path(tree)
    return known


def _path(tree: Tree) -> str:
    opened, tips = opened_nodes(tree)
    place = np.empty(tree.n_leaves)
    place[leaf_order(tree)] = np.arange(tree.n_leaves)
    row = HIGH / tree.n_leaves
    level: dict[int, int] = dict.fromkeys(tips, 0)
    y: dict[int, float] = {}
    ends: dict[int, tuple[float, float]] = {}
    for node in tips:
        rows = place[tree.leaves(node)]
        ends[node] = (float(rows.min()) * row, (float(rows.max()) + 1) * row)
        y[node] = sum(ends[node]) / 2
    for node in sorted(opened):  # children before parents
        below = [int(child) for child in tree.children(node)]
        level[node] = 1 + max(level[child] for child in below)
        y[node] = (min(y[child] for child in below) + max(y[child] for child in below)) / 2
    top = max(level.values()) or 1
    parts = []
    for node in sorted(opened, reverse=True):
        x = _x(level[node], top)
        below = [int(child) for child in tree.children(node)]
        parts.append(f"M{x} {_r(min(y[c] for c in below))}V{_r(max(y[c] for c in below))}")
        for child in below:
            end = _x(level[child], top)
            if child in ends and tree.size[child] > 1:
                apex, (low, high) = max(end - WEDGE, x), ends[child]
                parts.append(
                    f"M{x} {_r(y[child])}H{apex}L{end} {_r(low)}V{_r(high)}L{apex} {_r(y[child])}"
                )
            else:
                parts.append(f"M{x} {_r(y[child])}H{end}")
    if not opened:  # one item, or more children of the root than tips
        parts.append(f"M0 {HIGH // 2}L{WIDE} 0V{HIGH}Z")
    return "".join(parts)


def opened_nodes(tree: Tree) -> tuple[set[int], list[int]]:
    """Return the nodes that are opened, the largest first, and the tips below them."""
    opened: set[int] = set()
    tips: list[int] = []
    waiting = [(-int(tree.size[tree.root]), tree.root)]
    while waiting:
        _, node = heapq.heappop(waiting)
        below = tree.children(node) if node >= tree.n_leaves else ()
        if 0 < len(below) <= TIPS - len(tips) - len(waiting):
            opened.add(node)
            for child in below:
                heapq.heappush(waiting, (-int(tree.size[child]), int(child)))
        else:
            tips.append(node)
    return opened, tips


def _x(level: int, top: int) -> int:
    return round(WIDE * (1 - level / top))


def _r(row: float) -> int:
    return round(row)


# ---------------------------------------------------------------------- the cost


def _cost(store: Store, point: Session | Checkpoint, tree: Tree) -> str:
    """Return Dasgupta's cost as text if it is cheap to compute, else the log joint of a draw."""
    cost = tree_cost(store, tree) if point.data == store.session.data else None
    if cost is not None:
        return f"cost {short_number(cost)}"
    joint = point.snapshot.metrics.get("log_joint") if point.snapshot is not None else None
    return "" if joint is None or not math.isfinite(joint) else f"log joint {short_number(joint)}"


def tree_cost(store: Store, tree: Tree) -> float | None:
    """Return Dasgupta's cost of a tree; None without a matrix, or if it is too large.

    The matrix holds similarities or, for a method for dissimilarities, distances. The cost is
    cached for each tree and matrix.
    """
    if store.dataset is None:
        return None
    similarity = node_costs_model.problem_as_read(store, store.problem).similarity
    if similarity is None or similarity.shape[0] != tree.n_leaves:
        return None
    if (similarity.nnz if issparse(similarity) else similarity.size) > PAIRS:
        return None
    known = _costs.get(tree)
    if known is None or known[0]() is not similarity:
        try:
            cost: float | None = dasgupta_cost(tree, similarity)
        except HcvizError:  # missing cells
            cost = None
        _costs[tree] = known = (ref(similarity), cost)
    return known[1]


def short_number(value: float) -> str:
    """Return a number with about four digits: ``41,230``, ``1.23 M``."""
    size = abs(value)
    for unit, name in ((1e9, " G"), (1e6, " M")):
        if size >= unit:
            return f"{value / unit:.3g}{name}".replace("-", "−")
    text = f"{value:,.0f}" if size >= 100 or float(value).is_integer() else f"{value:.3g}"
    return text.replace("-", "−")
