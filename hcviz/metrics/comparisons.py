"""Consistency of comparisons with each other, and their agreement with a tree."""

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
    """How comparisons agree with each other.

    Parameters
    ----------
    questions : int
        Number of different questions.
    repeated : int
        Number of questions with more than one answer.
    agreeing : int
        Number of repeated questions with equal answers.
    contradictions : int32 (c, 3) or (c, 4)
        Questions with different answers, each with its more frequent answer; in a tie with the
        answer of :meth:`hcviz.Comparisons.tally`.
    counts : int64 (c, 2)
        For each contradiction, the number of these answers and of opposite answers. Contradictions
        are sorted by the second number, then by the first (both decreasing), then by items.

    Examples
    --------
    >>> found = consistency(Comparisons([[0, 1, 2], [0, 1, 2], [0, 2, 1], [1, 0, 2]]))
    >>> found.questions, found.repeated, found.counts.tolist()
    (2, 1, [[2, 1]])
    """

    questions: int
    repeated: int
    agreeing: int
    contradictions: NDArray[np.int32]
    counts: NDArray[np.int64]

    @property
    def share(self) -> float | None:
        """The share of repeated questions with equal answers; None if no question is repeated."""
        return self.agreeing / self.repeated if self.repeated else None


def consistency(comparisons: Comparisons) -> Consistency:
    """Count repeated questions and find contradictions.

    Parameters
    ----------
    comparisons : Comparisons
        The m answers. A question is {(anchor, x), (anchor, y)}, or a set of two unordered pairs.

    Returns
    -------
    Consistency
        The counts.

    Notes
    -----
    O(m log m).

    Examples
    --------
    >>> consistency(Comparisons([[0, 1, 2], [0, 1, 2], [0, 2, 1]])).contradictions.tolist()
    [[0, 1, 2]]
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
    """Compute the share of questions whose more frequent answer is part of a cycle.

    In a cycle, "more similar than" leads from a pair of items back to itself. So no similarity
    explains all answers of the cycle.

    Parameters
    ----------
    comparisons : Comparisons
        The m answers.

    Returns
    -------
    float
        Questions with equally many answers both ways are left out; 0 if there are no others.

    Notes
    -----
    O(m log m).

    Examples
    --------
    >>> cyclic_share(Comparisons([[0, 1, 2], [1, 2, 0], [2, 0, 1]]))
    1.0
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
    """Check each comparison against a tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    comparisons : Comparisons
        The m answers.

    Returns
    -------
    int8 (m,)
        1 if the tree agrees, -1 if it has the opposite, 0 if it leaves the comparison open. The
        tree agrees with (anchor, near, far) if LCA(anchor, near) is below LCA(anchor, far). It
        agrees with (i, j, k, l) if LCA(i, j) has a lower height than LCA(k, l).

    Raises
    ------
    InvalidData
        An item is not a leaf of the tree.

    Notes
    -----
    O(n log n + m).

    Examples
    --------
    >>> comparisons_held(Tree.from_newick("((0,1),2);"), Comparisons([[0, 1, 2]])).tolist()
    [1]
    """
    rows = comparisons.as_quadruplets().rows
    if len(rows) and rows.max() >= tree.n_leaves:
        raise InvalidData(
            f"The comparisons name item {rows.max()}, but the tree has {tree.n_leaves} leaves."
        )
    first, second = tree.lca(rows[:, 0], rows[:, 1]), tree.lca(rows[:, 2], rows[:, 3])
    if comparisons.is_quadruplets:
        gap = tree.height[second] - tree.height[first]
    else:  # both are ancestors of the anchor, so the higher one has the larger index
        gap = second.astype(np.int64) - first
    return np.asarray(np.sign(gap), np.int8)


__all__ = ["Consistency", "comparisons_held", "consistency", "cyclic_share"]
