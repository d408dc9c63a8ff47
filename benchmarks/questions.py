"""Choosing a question, and what a round of the loop costs, in CPU milliseconds.

    python benchmarks/questions.py

n = 150 with 200 sampled trees, pieces of 10, 20 candidates (and 100); compiled first, median of
twenty. A round is everything between two answers: 15,000 proposals, the tree to show, the question,
the simulated user. What the loop learns is `hcviz reproduce vikram2016`'s business.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import hcviz
from hcviz.datasets import SimulatedUser, load
from hcviz.posterior import Posterior
from hcviz.questions import Memory, ask, central_tree, strategies, teach, triplet_support, warm

TREES = 200


def milliseconds(work: Callable[[int], Any], rounds: int = 20) -> float:
    found = []
    for k in range(rounds):
        began = time.thread_time()
        work(k)
        found.append(time.thread_time() - began)
    return 1e3 * median(found)


def main() -> None:
    warm()
    data = load("iris")
    problem = data.problem(similarity=None, scaling="none")
    n = problem.n_items
    posterior = Posterior(n)
    for snapshot in hcviz.run("ddt", problem, steps=2 * TREES * n, every=n):
        if snapshot.step > TREES * n:
            posterior.add_snapshot(snapshot)
    tree = snapshot.tree
    print(f"n = {n}, {len(posterior.ring)} sampled trees")
    for candidates in (20, 100):
        print(f"a question from {candidates} candidates")
        for kind in strategies():

            def choose(k: int, kind: str = kind, candidates: int = candidates) -> Any:
                rng, memory = np.random.default_rng(k), Memory(turn=1)
                return ask(
                    kind, tree, posterior, size=10, candidates=candidates, memory=memory, rng=rng
                )

            took = milliseconds(choose)
            print(f"  {kind:>12} {took:6.1f} ms")
    took = milliseconds(lambda k: central_tree(posterior, np.random.default_rng(k)))
    print(f"the tree to show  {took:6.1f} ms")
    took = milliseconds(lambda k: triplet_support(posterior, (k, k + 1, k + 2)))
    print(f"triplet support   {took:6.1f} ms")
    began = time.process_time()
    assert data.target is not None
    steps = list(teach(problem, SimulatedUser(data.target), answers=20))
    each = 1e3 * (time.process_time() - began) / len(steps)
    print(f"a round of the loop {each:6.1f} ms")


if __name__ == "__main__":
    main()
