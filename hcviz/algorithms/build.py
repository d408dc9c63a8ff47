"""BUILD as a method: a tree from the triplets alone (Aho et al. 1981; Chatziafratis et al. 2018,
section 2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hcviz.algorithms.base import Algorithm, NoParameters
from hcviz.core.build import build
from hcviz.core.heights import SIZE
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree


def run(
    problem: Problem, params: NoParameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Yield the Aho tree, which is a star if there are no triplets.

    Nodes that the triplets leave open are polytomies. Raises :class:`InconsistentTriplets` before
    it yields anything.
    """
    return _once(build(problem.n_items, problem.triplets, problem.groups))


def _once(tree: Tree) -> Iterator[Snapshot | None]:
    yield Snapshot(tree, 1, 1)


ALGORITHMS = (
    Algorithm(
        name="build",
        title="Constraints alone",
        paper="Aho, Sagiv, Szymanski and Ullman 1981",
        run=run,
        needs=("items",),
        triplets="hard",
        reads_groups=True,
        runs="thread",
        heights=SIZE,
        summary="The tree that the answers ask for, and nothing else. Best for seeing what the "
        "answers alone decide: what is open stays open.",
        how_it_works="The method looks at the constraints alone, and at no other data. Two items "
        "that some constraint keeps together against a third are joined by an edge. Items that "
        "are connected by edges form one branch. The same step divides each branch, with the "
        "constraints inside it. Items that no constraint divides remain together in a node with "
        "many branches.",
    ),
)
