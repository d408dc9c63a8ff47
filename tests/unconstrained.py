"""A method that ignores constraints: every method of the registry keeps or weighs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import linkage

from hcviz.algorithms.base import Algorithm, NoParameters
from hcviz.algorithms.linkage import distances
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree

#: Its name in the registry, where the fixture ``unconstrained`` adds it.
NAME = "unconstrained"


def run(
    problem: Any, params: NoParameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Average linkage by scipy, whatever the triplets say."""
    yield Snapshot(Tree.from_linkage(linkage(distances(problem), "average")), 1, 1)


ALGORITHMS = (
    Algorithm(
        name=NAME,
        title="Unconstrained linkage",
        paper="",
        run=run,
        needs=("similarity",),
        triplets="ignored",
        runs="thread",
    ),
)
