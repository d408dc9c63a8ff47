"""What a list of comparisons is like: how it agrees with itself, and with a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hcviz.core.errors import InvalidData
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons


@dataclass(frozen=True, eq=False)
class Consistency:
    """How comparisons agree among themselves.

    ``questions``: different ones, of which ``repeated`` were answered more than once, and
    ``agreeing`` of those always alike. ``contradictions`` int32 (c, 3) or (c, 4) are the others,
    each as it was answered more often (as the tally has it where both ways are equally many), and
    ``counts`` int64 (c, 2) how often so and how often the other way round; those with most answers
    on the losing side first, then by the winning side, then in the order of the items.
    """

    questions: int
    repeated: int
    agreeing: int
    contradictions: NDArray[np.int32]
    counts: NDArray[np.int64]

    @property
    def share(self) -> float | None:
        """The share of repeated questions that were always answered alike; None without any."""
        return self.agreeing / self.repeated if self.repeated else None


def consistency(comparisons: Comparisons) -> Consistency:
    """Repeats and contradictions. O(m log m) for m comparisons.

    A question is {(anchor, x), (anchor, y)}, or a set of two unordered pairs: see
    :meth:`hcviz.Comparisons.tally`.
    """
    questions, yes, no = comparisons.tally()
    repeated = yes + no > 1
    both = (yes > 0) & (no > 0)
    turned = questions[:, [2, 3, 0, 1] if comparisons.is_quadruplets else [0, 2, 1]]
    rows = np.where((no > yes)[:, None], turned, questions)[both]
    counts = np.stack([np.maximum(yes, no), np.minimum(yes, no)], axis=1)[both]
    order = np.lexsort((np.arange(len(rows)), -counts[:, 0], -counts[:, 1]))
    return Consistency(
        questions=len(questions),
        repeated=int(repeated.sum()),
        agreeing=int((repeated & ~both).sum()),
        contradictions=rows[order],
        counts=counts[order],
    )


def cyclic_share(comparisons: Comparisons) -> float:
    """The share of questions whose more frequent answer lies on a cycle: "more alike than" leads
    from a pair of items back to itself, so that no similarity explains all of them.

    Questions with as many answers either way are left out; 0 if there are no others. O(m log m).
    """
    questions, yes, no = comparisons.tally()
    lead = yes - no
    rows, lead = questions[lead != 0], lead[lead != 0]
    if not len(rows):
        return 0.0
    if rows.shape[1] == 3:
        rows = rows[:, [0, 1, 0, 2]]
    ends = np.sort(rows.reshape(-1, 2), axis=1).astype(np.int64)
    name = np.unique(ends[:, 0] * (ends.max() + 1) + ends[:, 1], return_inverse=True)[1]
    first, second = name.reshape(-1, 2).T
    start, stop = np.where(lead > 0, (first, second), (second, first))
    size = int(name.max()) + 1
    arcs = coo_array((np.ones(len(start), np.int8), (start, stop)), shape=(size, size))
    part = connected_components(arcs, directed=True, connection="strong")[1]
    return float(np.mean(part[start] == part[stop]))


def comparisons_held(tree: Tree, comparisons: Comparisons) -> NDArray[np.int8]:
    """What a tree says of each comparison: 1 it agrees, -1 the opposite, 0 it leaves it open.

    (anchor, near, far): it agrees if the LCA of anchor and near lies below that of anchor and far.
    (i, j, k, l): if the LCA of i and j is lower, by height, than that of k and l. int8 (m,).
    O(n log n + m). Raises :class:`InvalidData` where an item is no leaf of the tree.
    """
    rows = comparisons.as_quadruplets().rows
    if len(rows) and rows.max() >= tree.n_leaves:
        raise InvalidData(
            f"The comparisons name item {rows.max()}, and the tree has {tree.n_leaves} leaves."
        )
    first, second = tree.lca(rows[:, 0], rows[:, 1]), tree.lca(rows[:, 2], rows[:, 3])
    if comparisons.is_quadruplets:
        gap = tree.height[second] - tree.height[first]
    else:  # both lie on the way from the anchor to the root, where numbers grow
        gap = second.astype(np.int64) - first
    return np.asarray(np.sign(gap), np.int8)


__all__ = ["Consistency", "comparisons_held", "consistency", "cyclic_share"]
