"""CPU seconds of metrics, BUILD and CRSC by number of items.

    python benchmarks/metrics.py [--large]

Times are the best of three after compilation. If it is installed, tqdist (C++, from PyPI) is
measured, too. It is the usual program for triplet distances; hcviz does not need it.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from importlib import import_module, util
from typing import Any

import numpy as np

import hcviz
from hcviz import Problem, Tree, metrics
from hcviz.algorithms.structural import crsc
from hcviz.core import build as building


def random_tree(rng: np.random.Generator, n: int) -> Tree:
    """Return a tree from uniform random merges."""
    parent = np.full(2 * n - 1, -1, np.int32)
    alive = list(range(n))
    for node in range(n, 2 * n - 1):
        for _ in range(2):
            k = int(rng.integers(len(alive)))
            alive[k], alive[-1] = alive[-1], alive[k]
            parent[alive.pop()] = node
        alive.append(node)
    return Tree.with_size_heights(parent, n)


def triplets_of(tree: Tree, rng: np.random.Generator, count: int) -> np.ndarray:
    """Return ``count`` triplets that a binary tree satisfies."""
    draws = np.array([rng.choice(tree.n_leaves, 3, replace=False) for _ in range(count)])
    rows = np.concatenate([draws, draws[:, [0, 2, 1]], draws[:, [1, 2, 0]]])
    return rows[tree.satisfies(rows)]


def seconds(work: Callable[[], Any], rounds: int = 3) -> float:
    best = np.inf
    for _ in range(rounds):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return float(best)


def newick(tree: Tree) -> str:
    """Return Newick for tqdist: names that are not numbers, and no branch lengths."""
    text = tree.to_newick([f"x{i}" for i in range(tree.n_leaves)])
    return re.sub(r"\[[^\]]*\]\s*|:[0-9.eE+-]+", "", text).strip()


def show(name: str, n: int, ours: float, note: str = "") -> None:
    print(f"{name:<34}{n:>8}{ours:>12.5f}  {note}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also measure large sizes")
    large = parser.parse_args().large
    rng = np.random.default_rng(0)
    metrics.warm()
    building.warm()
    crsc.warm()
    rival = import_module("tqdist") if util.find_spec("tqdist") else None
    print(f"{'':<34}{'n':>8}{'CPU s':>12}")

    for n in (1000, 5000, 20_000, *((100_000,) if large else ())):
        a, b = random_tree(rng, n), random_tree(rng, n)
        ours = seconds(lambda a=a, b=b: metrics.triplet_distance(a, b))
        note = ""
        if rival is not None:
            texts = newick(a), newick(b)
            theirs = seconds(lambda texts=texts: rival.triplet_distance(*texts), 1)
            note = f"tqdist {theirs:.3f} ({theirs / ours:.0f} times)"
            assert abs(rival.triplet_distance(*texts) - metrics.triplet_distance(a, b)) < 1e-9
        show("triplet distance", n, ours, note)

    for n in (1000, 5000, *((10_000,) if large else ())):
        tree, matrix = random_tree(rng, n), rng.random((n, n))
        show("Dasgupta's cost", n, seconds(lambda t=tree, m=matrix: metrics.dasgupta_cost(t, m)))

    for n, count in ((150, 300), (500, 2000), (20_000, 20_000)):
        rows = triplets_of(random_tree(rng, n), rng, count)
        show(f"BUILD, {count} triplets", n, seconds(lambda n=n, r=rows: hcviz.build(n, r)))
        old = random_tree(rng, n)
        show(
            "  repair of a random tree",
            n,
            seconds(lambda o=old, r=rows: building.build_guided(o, r)),
        )
    rows = np.array([rng.choice(150, 3, replace=False) for _ in range(300)])
    show(
        "minimal conflict, 300 triplets", 150, seconds(lambda: building.minimal_conflict(150, rows))
    )

    for n in (100, 1000, 2000, *((5000,) if large else ())):
        centres = 2 * rng.normal(size=(12, 10))
        features = centres[rng.integers(12, size=n)] + rng.normal(size=(n, 10))
        problem = Problem(features=features, triplets=[[0, 1, 2]])
        before = hcviz.fit("crsc", problem)  # computes the similarity, which the problem caches
        begun = time.perf_counter()
        next(iter(hcviz.run("crsc", problem, start=before)))
        first = time.perf_counter() - begun
        whole = seconds(lambda p=problem: hcviz.fit("crsc", p), 1)
        show("CRSC", n, whole, f"first satisfying tree after {first:.4f} s")


if __name__ == "__main__":
    main()
