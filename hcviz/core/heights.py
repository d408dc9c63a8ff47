"""What the heights of a method's trees mean: the title of the axis, and the word for one clade."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hcviz.core.problem import Problem
from hcviz.core.tree import Tree


@dataclass(frozen=True)
class Heights:
    """The meaning of a tree's heights.

    Parameters
    ----------
    title : str
        What the axis shows, with its unit. ``{similarity}`` stands for what the data's similarity
        is: "similarity", or "share of participants" of a card sort.
    word : str
        The name of one clade's height, as a fact about it.
    """

    title: str
    word: str


UNNAMED = Heights("height", "Height")
SIZE = Heights("group size − 1", "Group size − 1")
RANK = Heights("merge rank (1 = first merge)", "Merge rank")
DISTANCE = Heights("distance", "Distance")
FROM_SIMILARITY = Heights("distance (maximum − {similarity})", "Distance")
WARD = Heights("Ward distance", "Ward distance")
TIME = Heights("time since the split (1 − divergence time)", "Time since the split")
KERNEL = Heights("distance (maximum − computed similarity)", "Distance")


def of_linkage(problem: Problem, tree: Tree) -> Heights:
    """Of a linkage: measured distances are read as they are; similarities are turned round."""
    if problem.dissimilarity is not None:
        return DISTANCE
    return FROM_SIMILARITY if problem.similarity is not None or problem.all_at_once else DISTANCE


def of_kernel(problem: Problem, tree: Tree) -> Heights:
    """Of an agglomeration of similarities that a method computed: ranks where those ever fall
    (:func:`hcviz.core.agglomerate.tree_of_merges`)."""
    inner = tree.height[tree.n_leaves :]
    ranks = inner.size > 1 and np.array_equal(inner, np.arange(1.0, inner.size + 1))
    return RANK if ranks else KERNEL


__all__ = [
    "DISTANCE", "FROM_SIMILARITY", "KERNEL", "RANK", "SIZE", "TIME", "UNNAMED", "WARD", "Heights",
    "of_kernel", "of_linkage",
]  # fmt: skip
