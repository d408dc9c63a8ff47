"""The sheet Cloud: many sampled trees drawn over each other in one leaf order.

The idea is that of DensiTree (Bouckaert 2010). Where the trees agree, their lines coincide and are
dark; where they differ, the lines fan out. The consensus is drawn on top.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.layout import leaf_order, outer_children, places, with_even_heights
from hcviz.core.tree import Tree
from hcviz.posterior import Posterior
from hcviz.ui.parts import sampled_trees
from hcviz.ui.parts.packing import pack
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store
from hcviz.ui.tree.shown_axis import drawn_heights

Int = NDArray[np.int32]

#: Trees, and items, that are drawn at most.
MAX_TREES, MAX_ITEMS = 128, 500
#: Rounds in which the order is improved; two or three are usual.
MAX_ROUNDS = 8
#: Coordinates are whole numbers of 16 bits, from 0 to this.
COORDINATE_STEPS = 60_000


def common_order(trees: list[Tree], base: Tree, near: Any = None) -> Int:
    """Return a leaf order of ``base`` in which the trees overlap well.

    Parameters
    ----------
    trees : list of Tree
    base : Tree
        A tree of the same n items, which has the returned order.
    near : array_like of float, shape (n,), optional
        Preferred places of the items at first.

    Returns
    -------
    ndarray of int32, shape (n,)

    Notes
    -----
    Each tree is ordered as near to the common order as it allows. The mean places of the items are
    then the preferred places of the next round. This ends when the displacement does not decrease.
    O(rounds * trees * n).
    """
    order = leaf_order(base, near)
    least, targets = displacement(trees, order)
    for _ in range(MAX_ROUNDS):
        other = leaf_order(base, targets)
        off, next_targets = displacement(trees, other)
        if off >= least:
            break
        order, least, targets = other, off, next_targets
    return order


def displacement(trees: list[Tree], order: Int) -> tuple[float, NDArray[np.float64]]:
    """Return the displacement of the trees' leaves from ``order``, and their mean places.

    Parameters
    ----------
    trees : list of Tree
        Each is ordered as near to ``order`` as it allows.
    order : ndarray of int32, shape (n,)

    Returns
    -------
    total : float
        Sum over trees and items of the difference of the places.
    mean : ndarray of float64, shape (n,)
    """
    here = places(order).astype(np.float64)
    total, mean = 0.0, np.zeros(order.size)
    for tree in trees:
        place = places(leaf_order(tree, here))
        total += float(np.abs(place - here).sum())
        mean += place
    return total, mean / len(trees)


def state(store: Store) -> dict[str, Any]:
    """Return the state of the sheet, as plain JSON."""
    found = _clouds.get(store, drawn_heights(store))
    if found is None:
        return {"sentence": sampled_trees.NO_SAMPLED_TREE}
    labels = store.session.labels
    return {
        **found["drawn"],
        "names": [labels[item] for item in found["drawn"]["items"]],
        "heights": drawn_heights(store),
        "theme": store.view.theme,  # a canvas must be drawn again for another theme
    }


def _draw(posterior: Posterior, how: tuple[Any, ...], before: Any) -> dict[str, Any]:
    """Return the trees as numbers to draw, in an order near to the last one."""
    (heights,) = how
    trees, (consensus, _) = posterior.trees(MAX_TREES), posterior.consensus()
    n = posterior.n_items
    near = places(before["order"] if before else trees[-1].leaf_order)
    order = common_order(trees, consensus, near)
    items, rows = order, order
    if n > MAX_ITEMS:
        items = order[np.linspace(0, n - 1, MAX_ITEMS).round().astype(int)]
        trees, consensus = [each.restrict(items) for each in trees], consensus.restrict(items)
        rows = np.arange(MAX_ITEMS, dtype=np.int32)
    if heights == "even":
        trees, consensus = [with_even_heights(each) for each in trees], with_even_heights(consensus)
    top = max(float(consensus.height[-1]), *(float(each.height[-1]) for each in trees)) or 1.0
    return {
        "order": order,
        "drawn": {
            "items": items.tolist(),
            "top": top,
            "fine": COORDINATE_STEPS,
            # The consensus is the last tree.
            **_overlaid([*trees, consensus], rows, top),
            "sentence": _summary(len(trees), len(posterior), n),
        },
    }


def _overlaid(trees: list[Tree], order: NDArray[Any], top: float) -> dict[str, Any]:
    """Return the trees as packed numbers, one tree after the other.

    ``nodes`` has the number of nodes of each tree, ``parents`` the parent of each node (uint16; a
    root is its own parent). ``across`` and ``down`` have the height and the row of each inner node
    (uint16, in ``COORDINATE_STEPS``). ``rows`` has the rows of the leaves, the same in all trees.
    """
    n = order.size
    leaf_y = places(order) + 0.5
    parents, across, down = [], [], []
    for tree in trees:
        place = outer_children(tree.parent, leaf_y)[2]
        parents.append(np.append(tree.parent[:-1], tree.root))
        across.append(tree.height[n:] * (COORDINATE_STEPS / top))
        down.append(place[n:] * (COORDINATE_STEPS / n))
    return {
        "nodes": [tree.n_nodes for tree in trees],
        "rows": pack(places(order), np.uint16),
        "parents": pack(np.concatenate(parents), np.uint16),
        "across": pack(np.rint(np.concatenate(across)), np.uint16),
        "down": pack(np.rint(np.concatenate(down)), np.uint16),
    }


def _summary(drawn: int, trees: int, n: int) -> str:
    which = f"{drawn} of" if drawn < trees else ("Both of" if drawn == 2 else "All of")
    if drawn == 1:
        sentence = "Only one tree was sampled so far."
    else:
        sentence = f"{which} the last {trees:,} trees over each other"
        sentence += ", evenly spaced" if drawn < trees else ""
        sentence += ". The dark line is their consensus."
    if n > MAX_ITEMS:
        sentence += f" Of the {n:,} items {MAX_ITEMS} are drawn, evenly spaced."
    return sentence


_clouds = sampled_trees.SampledTreesCache(_draw)


def _depends_on(store: Store) -> Any:
    return (*sampled_trees.depends_on(store), drawn_heights(store), store.view.selection)


SHEET = Sheet(
    name="cloud",
    title="Cloud",
    summary="The sampled trees over each other",
    make=sheet_part(__file__),
    state=state,
    depends_on=_depends_on,
    unavailable_because=sampled_trees.unavailable_because,
    acts=sampled_trees.ACTS,
    live=sampled_trees.live,
)
