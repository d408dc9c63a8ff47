"""A method as a stranger writes it: soft by a parameter of its own, under its own name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import param

from hcviz.algorithms.base import Algorithm
from hcviz.core.build import build
from hcviz.core.snapshot import Snapshot


class Parameters(param.Parameterized):
    patience = param.Number(
        None,
        label="Patience",
        allow_None=True,
        bounds=(0, 0.5),
        inclusive_bounds=(True, False),
        doc="None: constraints are hard. A number: how far a broken one is tolerated.",
    )


def run(problem: Any, params: Any, rng: Any, start: Any) -> Iterator[Snapshot | None]:
    """The Aho tree of the constraints, or a star where they are soft."""
    triplets = problem.triplets if params.patience is None else problem.triplets[:0]
    yield Snapshot(build(problem.n_items, triplets), 1, 1)


ALGORITHMS = (
    Algorithm(
        name="toy",
        title="Toy method",
        paper="",
        run=run,
        needs=("similarity",),
        triplets="hard",
        softened_by="patience",
        runs="thread",
        params=Parameters,
    ),
)
