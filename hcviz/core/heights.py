"""The meaning of the heights of a method's trees: the title of the axis, and a name for facts."""

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
        Title of the axis, with its unit. ``{similarity}`` is replaced by the name of the data's
        similarity: "similarity", or "share of participants" for a card sort.
    word : str
        Name of the height of one clade, in a list of facts.
    is_share : bool
        True if a height is 1 minus a share. The page then shows the share, in per cent.
    note : str
        What the height of one clade is, for a tooltip; "" if the word says it.
    crowded : bool
        True if most clades are close to the items, so that one cannot tell them apart. Unless a
        person chooses otherwise, the page draws such a tree with even heights.
    """

    title: str
    word: str
    is_share: bool = False
    note: str = ""
    crowded: bool = False


UNNAMED = Heights("height", "Height")
SIZE = Heights("group size − 1", "Group size − 1")
RANK = Heights("merge rank (1 = first merge)", "Merge rank")
DISTANCE = Heights("distance", "Distance")
FROM_SIMILARITY = Heights("distance (maximum − {similarity})", "Distance")
WARD = Heights("Ward distance", "Ward distance")
TIME = Heights(
    "height (time in the model, not years)",
    "Height",
    note="How early the branch splits, in the model's own time from 0 to 1. These are not years.",
    crowded=True,
)
KERNEL = Heights("distance (maximum − computed similarity)", "Distance")


def linkage_heights(problem: Problem, tree: Tree) -> Heights:
    """Return the meaning of a linkage's heights: distances, or maximum minus similarity."""
    if problem.dissimilarity is not None or problem.compares_features:
        return DISTANCE
    return FROM_SIMILARITY


def kernel_heights(problem: Problem, tree: Tree) -> Heights:
    """Return the meaning of the heights of :func:`hcviz.core.agglomerate.tree_of_merges`.

    They are ranks if the similarities of the merges do not decrease.
    """
    inner = tree.height[tree.n_leaves :]
    ranks = inner.size > 1 and np.array_equal(inner, np.arange(1.0, inner.size + 1))
    return RANK if ranks else KERNEL


__all__ = [
    "DISTANCE", "FROM_SIMILARITY", "KERNEL", "RANK", "SIZE", "TIME", "UNNAMED", "WARD", "Heights",
    "kernel_heights", "linkage_heights",
]  # fmt: skip
