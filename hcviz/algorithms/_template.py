"""Copy this file to add a method. Change ``name`` below, and add the line ``name: module`` to
``MODULES`` in ``__init__.py``. Another package declares an entry point instead (``plugins.py``).
Nothing else is needed; ``make lint`` writes the name into ``names.py``.

``Algorithm`` declares what the method can do; its docstring lists all fields. The page and the
command line make forms of ``Parameters``. The page draws the views of a snapshot by their types. If
the module has compiled kernels, a function ``warm()`` compiles them.

``hcviz conformance package.module:ALGORITHMS`` checks a method (``hcviz/conformance.py``). The
suite runs the same checks over the registry and this file. They check that a tree is valid and has
every item once, and that hard triplets are satisfied. The same seed must give the same tree, the
progress must increase to its total, and a cancelled run must end soon. Every view must be declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import param

from hcviz.algorithms.base import Algorithm
from hcviz.core.heights import SIZE
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Series, Snapshot
from hcviz.core.tree import Tree


class Parameters(param.Parameterized):
    """Every parameter has bounds and a ``doc``, for the forms of the page and command line."""

    rounds = param.Integer(10, bounds=(1, 1000), doc="How many random trees to draw.")


def run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Random binary trees by uniform merging. Cite paper and equation here. O(n) a round."""
    n = problem.n_items
    depths: list[float] = []
    for step in range(1, params.rounds + 1):
        parent = np.full(2 * n - 1, -1, np.int32)
        alive = list(range(n))
        for node in range(n, 2 * n - 1):
            for _ in range(2):
                parent[alive.pop(int(rng.integers(len(alive))))] = node
            alive.append(node)
        tree = Tree.with_size_heights(parent, n)
        depths.append(float(tree.depth[:n].mean()))
        rounds = np.arange(1.0, step + 1)
        views = {"mean depth": Series(rounds, np.array(depths), "round", "mean depth of items")}
        yield Snapshot(tree, step, params.rounds, views=views)


ALGORITHMS = (
    Algorithm(
        name="template",
        title="Random merges",
        paper="",
        summary="Merges items at random. Best for comparing other methods with chance.",
        how_it_works="Each item begins as a cluster of its own. Two clusters, drawn at random, "
        "merge, until one is left. The method draws as many trees as asked for, and keeps the "
        "last one.",
        run=run,
        needs=("items",),
        triplets="ignored",
        runs="thread",
        params=Parameters,
        views={"mean depth": Series},
        heights=SIZE,
    ),
)
