"""Turn an answer into constraints, and measure how surprising it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree_triplets import triplets_of_tree
from hcviz.posterior import Posterior
from hcviz.questions.question import Question, Row

Int = NDArray[np.int32]

#: If a triplet holds in a smaller share of the sampled trees, the page asks for confirmation.
SURPRISING_BELOW = 0.05


def shown_triplets(question: Question) -> Int:
    """Return the triplets that describe the shown tree of a question.

    Parameters
    ----------
    question : Question
        The question whose shown tree is read.

    Returns
    -------
    ndarray of int32, shape (m, 3)
        Rows (a, b, c) of item numbers, each meaning ab|c. A binary tree of s items gives s - 2
        rows. A star of three items gives none.

    Notes
    -----
    Accepting a question adds no hard constraint. The page adds these triplets only on request.

    References
    ----------
    Chatziafratis et al. (2018), Proposition 1.
    """
    rows = triplets_of_tree(question.shown)
    return np.array(question.items, np.int32)[rows]


def triplet_support(posterior: Posterior | None, triplet: Row | Int) -> float:
    """Return the share of the sampled trees that have a triplet.

    Parameters
    ----------
    posterior : Posterior or None
        The sampled trees.
    triplet : tuple of int, or ndarray of shape (3,)
        Items (a, b, c), meaning ab|c.

    Returns
    -------
    float
        A number from 0 to 1. NaN without sampled trees. A value below ``SURPRISING_BELOW`` suggests
        a mistake, or a fact that the data do not show.
    """
    if posterior is None or not len(posterior.thinned_trees):
        return float("nan")
    return float(posterior.triplet_probability([tuple(int(x) for x in triplet)])[0])


def bits(share: float, trees: int) -> float:
    """Return the information that ab|c adds, log2(1 / share).

    A triplet that none of the ``trees`` sampled trees has counts as if half a tree had it.
    """
    return float(-np.log2(max(share, 0.5 / max(trees, 1))))
