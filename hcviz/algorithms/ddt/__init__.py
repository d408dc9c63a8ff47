"""The Dirichlet diffusion tree: its exact posterior, and a sampler under constraints.

The model and the slide move are those of Neal (2003). The constraints and the regraft move are
those of Vikram & Dasgupta (2016).
"""

from __future__ import annotations

import numpy as np

from hcviz.algorithms.base import Algorithm
from hcviz.algorithms.ddt.locations import sample_locations
from hcviz.algorithms.ddt.parameters import Parameters
from hcviz.algorithms.ddt.sampler import endless, recorded_run, remaining, run, split_run
from hcviz.algorithms.ddt.starttrees import bisected
from hcviz.algorithms.ddt.state import DdtState
from hcviz.core.heights import TIME
from hcviz.core.problem import Problem
from hcviz.core.tree import Tree


def warm() -> None:
    """Compile or load every kernel with a tiny problem, so that the first run does not wait for
    this."""
    features = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 2.0]])
    rng = np.random.default_rng(0)
    ddt = ALGORITHMS[0]
    bisected(features)
    for options in ({}, {"init": "random"}, {"beta": 1.0}, {"latents": "gibbs"}):
        problem = Problem(features=features, triplets=[[0, 2, 1], [0, 1, 3]], groups=[[0, 2]])
        params = ddt.parameters(steps=8, every=4, **options)
        for start in (None, Tree.star(4)):
            list(ddt.start_run(problem, params, rng, start))


def _price(problem: Problem) -> float:
    """Return the log density that the data must weigh against an answer to violate it: 10."""
    return 10.0


ALGORITHMS = (
    Algorithm(
        name="ddt",
        title="Dirichlet diffusion tree",
        paper="Vikram and Dasgupta 2016; Neal 2003",
        run=run,
        needs=("features",),
        triplets="hard",
        avoids_groups=True,
        reads_groups=True,
        softened_by="beta",
        soft_price=_price,
        runs="thread",
        params=Parameters,
        samples=True,
        heights=TIME,
        split_run=split_run,
        endless=endless,
        recorded_run=recorded_run,
        remaining=remaining,
        baseline="sampler without answers",
        compare_order=6,
        summary="Samples trees from a Bayesian posterior by constrained subtree moves. Best for "
        "knowing how certain each group is: no other method gives supports.",
        how_it_works="The model says how probable each tree is, given the data. The sampler "
        "starts with a tree, takes out a subtree, and puts it in elsewhere. Places that make the "
        "tree more probable are drawn more often, and places that violate a constraint never. "
        "After many such moves, the trees are draws from the posterior. The tree shown summarises "
        "them, with the share of draws that have each group.",
    ),
)

__all__ = ["ALGORITHMS", "DdtState", "sample_locations", "warm"]
