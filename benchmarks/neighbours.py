"""Ward's linkage of neighbours beside other linkages of many items: time, memory and quality.

    python benchmarks/neighbours.py            # 5,000 to 10^6 items: some minutes, 2 GB
    python benchmarks/neighbours.py --quick    # to 20,000

Features are Gaussian clusters at the leaves of a binary hierarchy of seven levels, in 10 and 32
dimensions. Each measurement runs in its own process, after compilation.

- CPU s: of ``hcviz.fit`` or the other library's call.
- of the hierarchy: share of 20,000 random triples of different clusters that the tree resolves as
  the hierarchy does. By chance it is a third.
- heights: sum of the squared heights, as a ratio to Ward's linkage of the same points, where that
  was made. It is the sum of squares that the merges add, so less is better and 1 is least.

Rivals: Ward's linkage of fastcluster (vector form), of scikit-learn with the graph of 10 true
neighbours, and genieclust where it is installed (another objective); ``active-spectral`` of hcviz.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import util
from typing import Any

import fastcluster
import numpy as np

import hcviz
from hcviz import Problem, Tree
from hcviz.algorithms.active import warm as warm_active
from hcviz.algorithms.neighbours import warm

LEVELS = 7


def points(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points, float64 (n, d), and the leaf of the hierarchy of each, int64 (n,)."""
    rng = np.random.default_rng(1)
    centre = np.zeros((1, d))
    for level in range(LEVELS):
        steps = rng.normal(size=(2 * len(centre), d)) * 2.0 ** (1 - level / 2)
        centre = np.repeat(centre, 2, axis=0) + steps
    leaf = rng.integers(len(centre), size=n)
    return centre[leaf] + 0.5 * rng.normal(size=(n, d)), leaf


def agreement(tree: Tree, leaf: np.ndarray) -> float:
    """Return the share of random triples that the tree resolves as the hierarchy does."""
    rng = np.random.default_rng(2)
    triples = rng.integers(len(leaf), size=(60_000, 3))
    a, b, c = leaf[triples].T
    # The place of the highest bit that differs: frexp's exponent; 0 for the same leaf.
    apart = np.frexp(np.stack([a ^ b, a ^ c, b ^ c], 1).astype(float))[1]
    order = np.argsort(apart, axis=1)
    lowest = np.take_along_axis(apart, order, 1)
    decided = (lowest[:, 0] < lowest[:, 1]) & (lowest[:, 0] > 0)
    pairs = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0]])[order[:, 0]]
    rows = np.take_along_axis(triples, pairs, 1)[decided][:20_000].astype(np.int32)
    return float(tree.satisfies(rows).mean())


def sklearn_ward(x: np.ndarray) -> Tree:
    """Return Ward's linkage of scikit-learn on the graph of ten neighbours."""
    from sklearn.cluster import ward_tree
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(x, 10, include_self=False)
    children, _, n, _ = ward_tree(x, connectivity=graph + graph.T)[:4]
    parent = np.full(2 * n - 1, -1, np.int32)
    parent[children.ravel()] = np.repeat(np.arange(n, 2 * n - 1, dtype=np.int32), 2)
    return Tree.with_size_heights(parent, n)


def genie(x: np.ndarray) -> Tree:
    """Return genieclust's linkage."""
    from genieclust import Genie

    made = Genie(n_clusters=2).fit(x)
    counts = np.column_stack([made.children_, np.arange(len(made.children_)), made.counts_])
    return Tree.from_linkage(counts.astype(float))


METHODS: dict[str, Callable[[np.ndarray], Tree]] = {
    "neighbour-ward": lambda x: hcviz.fit("neighbour-ward", Problem(features=x)),
    "active-spectral": lambda x: hcviz.fit("active-spectral", Problem(features=x)),
    "fastcluster ward": lambda x: Tree.from_linkage(fastcluster.linkage_vector(x, "ward")),
    "sklearn ward": sklearn_ward,
    "genieclust": genie,
}
#: Most items of a method.
MOST = {"fastcluster ward": 20_000, "sklearn ward": 100_000}


def one(method: str, n: int, d: int) -> dict[str, Any]:
    """Measure in this process."""
    x, leaf = points(n, d)
    {"neighbour-ward": warm, "active-spectral": warm_active}.get(method, lambda: None)()
    began, clock = time.process_time(), time.perf_counter()
    tree = METHODS[method](x)
    cpu, wall = time.process_time() - began, time.perf_counter() - clock
    return {
        "cpu": cpu, "wall": wall, "agreement": agreement(tree, leaf),
        "squares": float((tree.height[n:] ** 2).sum()) if method.endswith("ward") else None,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--one", nargs=3, metavar=("METHOD", "N", "D"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one[0], int(options.one[1]), int(options.one[2]))))
        return
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    print("| n | d | method | CPU s | wall s | MB | of the hierarchy | heights |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    sizes = (5_000, 20_000) if options.quick else (5_000, 20_000, 100_000, 1_000_000)
    for d in (10, 32):
        for n in sizes:
            found = {}
            for method in METHODS:
                if n > MOST.get(method, n) or (
                    method == "genieclust" and not util.find_spec(method)
                ):
                    continue
                command = [sys.executable, __file__, "--one", method, str(n), str(d)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    print(f"| {n:,} | {d} | {method} | {done.stderr.strip().splitlines()[-1]} |")
                    continue
                found[method] = json.loads(done.stdout)
            wards = found.get("fastcluster ward", {}).get("squares")
            for method, row in found.items():
                squares = row["squares"]
                has_heights = wards and squares and method != "sklearn ward"
                heights = f"{squares / wards:.5f}" if has_heights else ""
                print(
                    f"| {n:,} | {d} | {method} | {row['cpu']:.2f} | {row['wall']:.2f} | "
                    f"{row['peak']:.0f} | {row['agreement']:.3f} | {heights} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
