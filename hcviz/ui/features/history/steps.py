"""The history strip: the steps of undo and redo, each with its tree in small and its cost."""

from __future__ import annotations

import heapq
import math
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from scipy.sparse import issparse

from hcviz.core.errors import HcvizError
from hcviz.core.layout import leaf_order
from hcviz.core.tree import Tree
from hcviz.metrics import dasgupta_cost
from hcviz.session.history import answers_in_use
from hcviz.session.model import Checkpoint, Session
from hcviz.ui.features.node_costs import model as nodecosts
from hcviz.ui.state.data_sources import answers_in
from hcviz.ui.state.store import Store

#: Steps shown back and forth, at most.
BACK, FORTH = 12, 6
#: A thumbnail's box, its tips (larger clades end as wedges this wide), and children that one node
#: may have there; the number of coordinates is bounded by these.
WIDE, HIGH, TIPS, WEDGE = 96, 60, 16, 12
#: Dasgupta's cost is told of so many pairs at most: some 2 ms.
PAIRS = 1_000_000

_thumbnails: WeakKeyDictionary[Tree, str] = WeakKeyDictionary()
_costs: WeakKeyDictionary[Tree, tuple[Any, float | None]] = WeakKeyDictionary()


def picture(store: Store) -> dict[str, Any]:
    """One entry a step, the newest last: ``by`` how many steps away, what led there, the tree."""
    session = store.session
    told = store.view.lesson is None  # what a lesson has yet to tell is not told by its steps
    past, future = session.past[-BACK:], session.future[-FORTH:][::-1] if told else ()
    earlier = session.past[-BACK - 1].label if len(session.past) > BACK else "Start"
    labels = [earlier, *(point.label for point in (*past, *future))]
    points: list[Session | Checkpoint] = [*past, session, *future]
    running = not store.still
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
                "answers": f"{answers:,} answer{'s' * (answers != 1)}",
                "thumb": "" if tree is None else thumbnail(tree),
                "cost": "" if tree is None else _cost(store, point, tree),
            }
        )
    return {"steps": steps}


def sees(store: Store) -> Any:
    """What the strip depends on; not on the trees of a run that goes on."""
    session = store.session
    running = not store.still
    now = None if running else session.snapshot
    told = store.view.lesson is None
    return (session.past, session.future, now, running, session.data, session.constraints, told)


# ---------------------------------------------------------------------- the tree in small


def thumbnail(tree: Tree) -> str:
    """The tree's upper part as an SVG path within ``WIDE`` x ``HIGH``; computed once for a tree.

    The largest clades are opened, one by one, until there are ``TIPS``; what stays closed is a
    wedge over as many rows as it has items. Even heights. O(m) at first.
    """
    known = _thumbnails.get(tree)
    if known is None:
        _thumbnails[tree] = known = _path(tree)
    return known


def _path(tree: Tree) -> str:
    opened, tips = _opened(tree)
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
    if not opened:  # one item, or so many children at the root that they are a wedge
        parts.append(f"M0 {HIGH // 2}L{WIDE} 0V{HIGH}Z")
    return "".join(parts)


def _opened(tree: Tree) -> tuple[set[int], list[int]]:
    """The nodes that are opened, the largest first, and the tips that they leave."""
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
    """Dasgupta's cost under the numbers that the present method reads, where these are of the
    items and cheap; else the log joint, where the tree is a draw; else nothing."""
    cost = dasgupta(store, tree) if point.data == store.session.data else None
    if cost is not None:
        return f"cost {short(cost)}"
    joint = point.snapshot.metrics.get("log_joint") if point.snapshot is not None else None
    return "" if joint is None or not math.isfinite(joint) else f"log joint {short(joint)}"


def dasgupta(store: Store, tree: Tree) -> float | None:
    """Dasgupta's cost of ``tree``, once for a tree and a matrix; None: no matrix, or a large one.

    The matrix is the similarity or, for a method for dissimilarities, the distances, as in the
    section on costs.
    """
    if store.dataset is None:
        return None
    similarity = nodecosts.as_read(store, store.problem).similarity
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


def short(value: float) -> str:
    """``41,230``, ``1.23 M``: four figures or so."""
    size = abs(value)
    for unit, name in ((1e9, " G"), (1e6, " M")):
        if size >= unit:
            return f"{value / unit:.3g}{name}".replace("-", "−")
    text = f"{value:,.0f}" if size >= 100 or float(value).is_integer() else f"{value:.3g}"
    return text.replace("-", "−")
