"""Time of the methods of Chatziafratis et al. (2018) by size, and progress of the search.

    python benchmarks/structural.py            # about a minute
    python benchmarks/structural.py --quick    # smaller sizes, some seconds

Times are CPU seconds after compilation, the best of three below 2 s. "numpy" is the same spectral
recursion with scipy's eigsh and a sweep in numpy. "Paris" is that of scikit-network, if it is
installed; hcviz does not need it. Exponents are slopes of log time over log n.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import tracemalloc
from collections.abc import Callable
from importlib import import_module, util

import numpy as np
from scipy.sparse import coo_array, csr_array, csr_matrix
from scipy.sparse.linalg import eigsh
from scipy.spatial import KDTree

import hcviz
from hcviz import Problem, Tree, metrics
from hcviz.algorithms.structural import crsc, search
from hcviz.core.similarity import cosine, cosine_zscored

#: Best costs known from other programs. Their Glass data differ, so its value is the best of ten
#: seeds of our search.
KNOWN = {"zoo-100": 170989.294, "zoo": 140037.512, "iris": 393139.239, "glass": 1441419.081}


def blobs(n: int, seed: int = 0) -> np.ndarray:
    """Return similarities of twenty wide clusters in eight dimensions, float64 (n, n)."""
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(20, 8))
    matrix = cosine_zscored(centres[rng.integers(0, 20, n)] + rng.normal(size=(n, 8)))
    return (matrix + matrix.T) / 2


def neighbours(n: int, grouped: bool, seed: int = 0) -> csr_array:
    """Return the graph of 10 nearest neighbours, of twenty clusters in 8 dimensions or a square."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2))
    if grouped:
        centres = 3.0 * rng.normal(size=(20, 8))
        points = centres[rng.integers(0, 20, n)] + rng.normal(size=(n, 8))
    distance, near = KDTree(points).query(points, 11)
    weight = np.exp(-((distance[:, 1:] / np.median(distance[:, -1])) ** 2))
    rows = np.repeat(np.arange(n), 10)
    one = coo_array((weight.ravel(), (rows, near[:, 1:].ravel())), shape=(n, n)).tocsr()
    return one.maximum(one.T)


def cpu(call: Callable[[], object]) -> float:
    """Return CPU seconds, the best of three calls below 2 s."""
    best = np.inf
    for _ in range(3):
        began = time.process_time()
        call()
        best = min(best, time.process_time() - began)
        if best > 2:
            break
    return best


def exponent(sizes: list[int], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def numpy_recursion(weights: np.ndarray) -> None:
    """Make recursive spectral sweep cuts with a simple implementation."""
    waiting = [np.arange(len(weights))]
    while waiting:
        items = waiting.pop()
        if len(items) < 3:
            continue
        graph = weights[np.ix_(items, items)].copy()
        np.fill_diagonal(graph, 0.0)
        degree = graph.sum(axis=1)
        scale = 1 / np.sqrt(degree)
        normal = scale[:, None] * graph * scale[None]
        if len(items) < 20:
            vector = np.linalg.eigh(normal)[1][:, -2]
        else:
            vector = eigsh(normal.astype(np.float32), k=2, which="LA", tol=1e-4)[1][:, 0]
        order = np.argsort(vector)
        ordered = graph[np.ix_(order, order)]
        inside = np.arange(1, len(items))
        cut = np.cumsum(degree[order] - 2 * np.tril(ordered).sum(axis=1))[:-1]
        best = 1 + int(np.argmin(cut / (inside * (len(items) - inside))))
        waiting += [items[order[:best]], items[order[best:]]]


def triplets_of(tree: Tree, count: int) -> np.ndarray:
    """Return ``count`` triplets that a binary tree satisfies, int32 (count, 3)."""
    rng = np.random.default_rng(1)
    draws = np.array([rng.choice(tree.n_leaves, 3, replace=False) for _ in range(count)])
    rows = np.concatenate([draws, draws[:, [0, 2, 1]], draws[:, [1, 2, 0]]])
    return rows[tree.satisfies(rows)]


def recursions(sizes: list[int]) -> None:
    print("\nWhole recursions, dense, CPU s")
    print("     n     crsc  200 triplets  refined     crbc     hrsc    numpy    Paris")
    columns: dict[str, list[float]] = {}
    for n in sizes:
        matrix = blobs(n)
        free = Problem(similarity=matrix)
        constrained = free.with_triplets(triplets_of(hcviz.fit("random-cut", free), 200))
        row = {
            "crsc": cpu(lambda p=free: hcviz.fit("crsc", p)),
            "200 triplets": cpu(lambda p=constrained: hcviz.fit("crsc", p)),
            "refined": cpu(lambda p=free: hcviz.fit("crsc", p, refine=True)),
            "crbc": cpu(lambda p=free: hcviz.fit("crbc", p)),
            "hrsc": cpu(lambda p=constrained: hcviz.fit("hrsc", p)),
            "numpy": cpu(lambda m=matrix: numpy_recursion(m)) if n <= 2000 else np.nan,
            "Paris": paris(matrix) if n <= 1000 else np.nan,
        }
        for name, seconds in row.items():
            columns.setdefault(name, []).append(seconds)
        print(
            f"{n:>6} {row['crsc']:>8.3f} {row['200 triplets']:>13.3f} {row['refined']:>8.3f} "
            f"{row['crbc']:>8.3f} {row['hrsc']:>8.3f} {row['numpy']:>8.3f} {row['Paris']:>8.3f}"
        )
    slopes = {
        name: exponent(np.array(sizes)[ok].tolist(), np.array(times)[ok].tolist())
        for name, times in columns.items()
        if (ok := np.isfinite(times)).sum() > 1
    }
    print("Growth, exponent of n: " + ", ".join(f"{k} {v:.2f}" for k, v in slopes.items()))


def sparse_recursions(sizes: list[int]) -> None:
    print("\nWhole recursions, sparse, 10 nearest neighbours, CPU s (groups | a square)")
    print("     n            crsc    200 triplets         refined            crbc           Paris")
    columns: dict[str, list[float]] = {}
    for n in sizes:
        cells = []
        graphs = [neighbours(n, grouped) for grouped in (True, False)]
        for what in ("crsc", "200 triplets", "refined", "crbc", "Paris"):
            pair = []
            for graph in graphs:
                problem = hcviz.Problem(similarity=graph)
                if what == "200 triplets":
                    rows = triplets_of(hcviz.fit("random-cut", problem), 200)
                    problem = problem.with_triplets(rows)
                name = what if what == "crbc" else "crsc"
                refine = what == "refined"
                pair.append(
                    paris(graph)
                    if what == "Paris"
                    else cpu(lambda p=problem, m=name, r=refine: hcviz.fit(m, p, refine=r))
                )
            columns.setdefault(what, []).append(pair[1])
            cells.append(f"{pair[0]:.2f} | {pair[1]:.2f}")
        print(f"{n:>6} " + "".join(f"{cell:>16}" for cell in cells))
    if len(sizes) > 1:
        slopes = {name: exponent(sizes, seconds) for name, seconds in columns.items()}
        text = ", ".join(f"{name} {slope:.2f}" for name, slope in slopes.items())
        print(f"Growth on the square, exponent of n: {text}")


def paris(matrix: np.ndarray | csr_array) -> float:
    """Return the time of scikit-network's Paris on the same graph; NaN if it is not installed."""
    if util.find_spec("sknetwork") is None:
        return float("nan")
    graph = matrix.copy()
    if isinstance(graph, np.ndarray):
        np.fill_diagonal(graph, 0.0)
    else:
        indices = (graph.indices.astype(np.int32), graph.indptr.astype(np.int32))
        graph = csr_matrix((graph.data, *indices), shape=graph.shape)
    return cpu(lambda: import_module("sknetwork.hierarchy").Paris().fit(graph))


def memory(n: int) -> None:
    problem = Problem(similarity=blobs(n))
    tracemalloc.start()
    hcviz.fit("crsc", problem)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"\nMemory of crsc without the problem, n = {n}: {peak / (8 * n * n):.2f} matrices float64"
    )


def known_costs() -> None:
    print("\nThe search on data with known costs: cost, and CPU s to the best known and in all")
    for name, known in KNOWN.items():
        found = hcviz.datasets.load("zoo" if name == "zoo-100" else name)
        matrix = cosine_zscored(found.features)
        if name == "zoo-100":  # without the first of the two frogs
            frog = next(i for i, label in enumerate(found.labels) if label.startswith("frog"))
            matrix = cosine(np.delete(found.features, frog, axis=0))
        problem = Problem(similarity=(matrix + matrix.T) / 2)
        began, reached = time.process_time(), np.nan
        for shown in hcviz.run("dasgupta-search", problem):
            if shown.metrics["cost"] <= known + 0.0005 and np.isnan(reached):
                reached = time.process_time() - began
        spent = time.process_time() - began
        start = metrics.dasgupta_cost(hcviz.fit("crsc", problem), problem.similarity)
        print(
            f"{name:>8}: crsc {start:.3f}, search {shown.metrics['cost']:.3f}, best known "
            f"{known:.3f}; {reached:.3f} and {spent:.2f} s"
        )


def progress(sizes: list[int]) -> None:
    print("\nThe search by size: proposals a second, and how the cost falls (share of CRSC's)")
    for n in sizes:
        problem = Problem(similarity=blobs(n))
        constrained = problem.with_triplets(triplets_of(hcviz.fit("random-cut", problem), 100))
        for what, given in (("", problem), (", 100 triplets", constrained)):
            shown = next(iter(hcviz.run("dasgupta-search", given)))
            first = shown.metrics["cost"]
            began, line = time.process_time(), []
            for later in hcviz.run("dasgupta-search", given, start=shown.tree):
                spent = time.process_time() - began
                line.append((spent, 100 * (1 - later.metrics["cost"] / first)))
            rate = later.total / spent / 1e6
            picks = line[1 :: max(1, len(line) // 5)]
            curve = ", ".join(f"{s:.2f} s -{gain:.3f} %" for s, gain in [*picks, line[-1]])
            print(f"n = {n}{what}: {rate:.0f} M proposals/s; {curve}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"Compile (or load from cache): {cpu(lambda: (crsc.warm(), search.warm())):.2f} CPU s")
    recursions([200, 500] if quick else [500, 1000, 2000, 5000])
    sparse_recursions([1000] if quick else [2000, 5000, 10_000, 20_000])
    memory(500 if quick else 2000)
    known_costs()
    progress([100] if quick else [100, 1000, 5000])


if __name__ == "__main__":
    main()
