"""The cloud: many sampled trees over each other, faint, in one leaf order; their consensus on top.

After DensiTree (Bouckaert 2010): where the trees agree the lines lie on each other and darken,
where they do not they fan out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.layout import leaf_order, outer_children, places, with_even_heights
from hcviz.core.tree import Tree
from hcviz.posterior import Posterior
from hcviz.ui.parts import sampled_trees as sampled
from hcviz.ui.parts.packing import packed
from hcviz.ui.parts.sheet import Sheet, drawn_by
from hcviz.ui.state.store import Store

Int = NDArray[np.int32]

#: Trees over each other, and items, at most.
TREES, ITEMS = 128, 500
#: Rounds in which the order is improved; two or three are usual.
ROUNDS = 8
#: What coordinates are multiples of: the paper's width and a row, in 16 bits.
FINE = 60_000


def common_order(trees: list[Tree], base: Tree, near: Any = None) -> Int:
    """A leaf order of ``base`` in which the trees overlap well, int32 (n,).

    Each tree's leaves are ordered as near as that tree allows to the common order; the mean of
    their places is the next wish, for as long as that brings the trees' places nearer to the common
    ones. ``near`` (n,) is where the items would like to stand, at first. O(rounds * trees * n).
    """
    order = leaf_order(base, near)
    least, wish = misplaced(trees, order)
    for _ in range(ROUNDS):
        other = leaf_order(base, wish)
        off, next_wish = misplaced(trees, other)
        if off >= least:
            break
        order, least, wish = other, off, next_wish
    return order


def misplaced(trees: list[Tree], order: Int) -> tuple[float, NDArray[np.float64]]:
    """Rows between an item's place and where the trees would have it, summed; and their mean places
    float64 (n,). Every tree's leaves are ordered as near to ``order`` as it allows."""
    here = places(order).astype(np.float64)
    total, mean = 0.0, np.zeros(order.size)
    for tree in trees:
        place = places(leaf_order(tree, here))
        total += float(np.abs(place - here).sum())
        mean += place
    return total, mean / len(trees)


def picture(store: Store) -> dict[str, Any]:
    found = _clouds.of(store, store.view.heights)
    if found is None:
        return {"said": sampled.NONE_YET}
    labels = store.session.labels
    return {
        **found["drawn"],
        "names": [labels[item] for item in found["drawn"]["items"]],
        "heights": store.view.heights,
        "theme": store.view.theme,  # a canvas does not change its colours by itself
    }


def _draw(posterior: Posterior, how: tuple[Any, ...], before: Any) -> dict[str, Any]:
    (heights,) = how
    trees, (consensus, _) = posterior.trees(TREES), posterior.consensus()
    n = posterior.n_items
    near = places(before["order"] if before else trees[-1].leaf_order)
    order = common_order(trees, consensus, near)
    items, rows = order, order
    if n > ITEMS:
        items = order[np.linspace(0, n - 1, ITEMS).round().astype(int)]
        trees, consensus = [each.restrict(items) for each in trees], consensus.restrict(items)
        rows = np.arange(ITEMS, dtype=np.int32)
    if heights == "even":
        trees, consensus = [with_even_heights(each) for each in trees], with_even_heights(consensus)
    top = max(float(consensus.height[-1]), *(float(each.height[-1]) for each in trees)) or 1.0
    return {
        "order": order,
        "drawn": {
            "items": items.tolist(),
            "top": top,
            "fine": FINE,
            # the consensus is the last of them
            **_overlaid([*trees, consensus], rows, top),
            "said": _said(len(trees), len(posterior), n),
        },
    }


def _overlaid(trees: list[Tree], order: NDArray[Any], top: float) -> dict[str, Any]:
    """The trees one after the other: of each its number of nodes; of all their nodes the parents
    (uint16; the root's is its own number); of the inner ones height and row (uint16, of ``FINE``).
    The leaves' rows are the same in all.
    """
    n = order.size
    leaf_y = places(order) + 0.5
    parents, across, down = [], [], []
    for tree in trees:
        place = outer_children(tree.parent, leaf_y)[2]
        parents.append(np.append(tree.parent[:-1], tree.root))
        across.append(tree.height[n:] * (FINE / top))
        down.append(place[n:] * (FINE / n))
    return {
        "nodes": [tree.n_nodes for tree in trees],
        "rows": packed(places(order), np.uint16),
        "parents": packed(np.concatenate(parents), np.uint16),
        "across": packed(np.rint(np.concatenate(across)), np.uint16),
        "down": packed(np.rint(np.concatenate(down)), np.uint16),
    }


def _said(drawn: int, trees: int, n: int) -> str:
    which = f"{drawn} of" if drawn < trees else ("Both of" if drawn == 2 else "All of")
    if drawn == 1:
        said = "The one tree that was sampled so far."
    else:
        said = f"{which} the last {trees:,} trees over each other"
        said += ", evenly taken; the line on top" if drawn < trees else "; the line on top"
        said += " is their consensus, where there is one."
    if n > ITEMS:
        said += f" Of the {n:,} items {ITEMS} are drawn, evenly taken, and the trees among them."
    return said


_clouds = sampled.Calm(_draw)


def _sees(store: Store) -> Any:
    return (*sampled.sees(store), store.view.heights, store.view.selection)


SHEET = Sheet(
    name="cloud",
    title="Cloud",
    summary="The sampled trees over each other",
    make=drawn_by(__file__),
    picture=picture,
    sees=_sees,
    lacks=sampled.lacks,
    act=sampled.act,
    live=sampled.live,
)
