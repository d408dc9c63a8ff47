"""Copy this file to add a method, change ``name`` below, and add the line ``name: module`` to
``MODULES`` in ``__init__.py``.

The conformance tests run over the registry: a valid tree with every item once, the triplets
satisfied if it says ``hard``, the same seed the same tree, honest progress, a prompt cancel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import param

from hcviz.algorithms.base import Algorithm
from hcviz.core.heights import SIZE
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree


class Parameters(param.Parameterized):
    """Every parameter has bounds and a ``doc``: the page and command line make forms of them."""

    rounds = param.Integer(10, bounds=(1, 1000), doc="How many random trees to draw.")


def run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Random binary trees by uniform merging. Cite paper and equation here. O(n) a round."""
    n = problem.n_items
    for step in range(1, params.rounds + 1):
        parent = np.full(2 * n - 1, -1, np.int32)
        alive = list(range(n))
        for node in range(n, 2 * n - 1):
            for _ in range(2):
                parent[alive.pop(int(rng.integers(len(alive))))] = node
            alive.append(node)
        yield Snapshot(Tree.with_size_heights(parent, n), step, params.rounds)


ALGORITHMS = (
    Algorithm(
        name="template",
        title="Random merges",
        paper="",
        run=run,
        needs=("items",),
        triplets="ignored",
        runs="thread",
        params=Parameters,
        heights=SIZE,
    ),
)
