"""A method as a newcomer writes it: a soft parameter of its own, a graph, and a partition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import param

from hcviz.algorithms.base import Algorithm
from hcviz.core.build import build
from hcviz.core.snapshot import Graph, Snapshot
from hcviz.core.tree import Tree


class Parameters(param.Parameterized):
    patience = param.Number(
        None,
        label="Patience",
        allow_None=True,
        bounds=(0, 0.5),
        inclusive_bounds=(True, False),
        doc="None: constraints are hard. A number: how far a broken one is tolerated.",
    )
    clusters = param.Integer(3, bounds=(1, None), doc="How many clusters to find.")


def run(problem: Any, params: Any, rng: Any, start: Any) -> Iterator[Snapshot | None]:
    """The Aho tree of the constraints, or a star where they are soft; clusters of equal size."""
    triplets = problem.triplets if params.patience is None else problem.triplets[:0]
    return _once(problem, build(problem.n_items, triplets), params)


def _once(problem: Any, tree: Tree, params: Any) -> Iterator[Snapshot | None]:
    n, names = problem.n_items, problem.labels
    k = min(params.clusters, n)
    together = Graph(
        tuple(map(str, range(n))) if names is None else tuple(names),
        np.ascontiguousarray(problem.triplets.rows[:, :2], np.int32),
    )
    labels = (np.arange(n) * k // n).astype(np.int32)
    yield Snapshot(tree, 1, 1, {"k": float(k)}, labels=labels, views={"said together": together})


ALGORITHMS = (
    Algorithm(
        name="toy",
        title="Toy method",
        paper="",
        run=run,
        needs=("similarity",),
        triplets="hard",
        softened_by="patience",
        at_k=lambda params, k: {**params, "clusters": k},
        views={"said together": Graph},
        runs="thread",
        params=Parameters,
    ),
)
