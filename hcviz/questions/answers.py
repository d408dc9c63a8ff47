"""What an answer becomes: constraints, and how surprising it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree_triplets import triplets_of_tree
from hcviz.posterior import Posterior
from hcviz.questions.question import Question, Row, percent

Int = NDArray[np.int32]

#: An answer that holds in a smaller share of the sampled trees is asked back about.
SURPRISING = 0.05


def locked(question: Question) -> Int:
    """The triplets that say what the shown piece says, as items: int32 (s - 2, 3) if it is binary.

    By Proposition 1 of Chatziafratis et al. (2018). Accepting a piece adds nothing hard; this is
    what "lock these" adds, on request. (A three without a tree gives none.)
    """
    rows = triplets_of_tree(question.shown)
    return np.array(question.items, np.int32)[rows]


def surprise(posterior: Posterior | None, triplet: Row | Int) -> float:
    """The share of the sampled trees in which ab|c holds, 0 to 1; nan where there are none.

    A small share is surprising (``< SURPRISING``): a slip, or what the data do not show.
    """
    if posterior is None or not len(posterior.thinned_trees):
        return float("nan")
    return float(posterior.triplet_probability([tuple(int(x) for x in triplet)])[0])


def surprise_sentence(share: float, triplet: Row, labels: Sequence[str]) -> str:
    """ "lion and bear apart from bat: true in 2 % of the trees. Sure?"; empty if not surprising."""
    if not share < SURPRISING:
        return ""
    a, b, c = (labels[i] for i in triplet)
    return f"{a} and {b} apart from {c}: true in {percent(share)} of the trees. Sure?"


def bits(share: float, trees: int) -> float:
    """What ab|c tells whoever believes the sampled trees: log2(1 / share).

    A triplet that holds in none of ``trees`` counts as one in half a tree.
    """
    return float(-np.log2(max(share, 0.5 / max(trees, 1))))
