"""CPU milliseconds of choosing a question, and of a round of the loop.

    python benchmarks/questions.py

There are 150 items, 200 sampled trees, questions of 10 items, and 20 or 100 candidates. Times are
medians of twenty after compilation. A round has 15,000 proposals, the tree to show, the question,
and the simulated user. Learning curves are in `hcviz reproduce vikram2016`.
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
    print(f"n = {n}, {len(posterior.thinned_trees)} sampled trees")
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
