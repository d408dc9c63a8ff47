"""Cost and time of the search on sparse neighbour graphs, against the agglomeration Paris.

    python -m benchmarks.sparse_search              # some minutes
    python -m benchmarks.sparse_search --quick      # 5,000 items

Dasgupta's cost and CPU time are ratios to Paris in the same run: that of scikit-network if it is
installed, else ours. hcviz does not need scikit-network. Each graph has the 10 nearest neighbours
of points in a square, or of twenty clusters in 8 dimensions. The search is also stopped after its
first complete pass, when no regraft of a subtree helps.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from importlib import import_module, util
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import hcviz
from benchmarks.structural import neighbours
from hcviz import Problem, Tree, metrics
from hcviz.algorithms.structural import search, starts
from hcviz.algorithms.structural.sparseregraft import EVALUATED, RECORDS


def finish(steps: Any) -> Tree:
    """Return what a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def descent(problem: Problem) -> Tree:
    """Return the search's tree when no regraft helps, without perturbations."""
    n, graph = problem.n_items, problem.similarity
    first = finish(search._first(problem, problem.triplets, 1.0, 0.0, False))
    s = search.allocate_sparse(n, problem.triplets, search.Nesting(problem.groups, n))
    search.put_sparse_tree(s, first, graph)
    arrays, rng = (graph.indptr, graph.indices, graph.data), np.random.default_rng(0)
    while not s.state[RECORDS]:
        search.sparseregraft.advance(s, *arrays, rng, 1e-9, 2_000_000, 10**12)
    search.sparseregraft.keep(s, *arrays)
    print(f"    places evaluated: {s.state[EVALUATED]:,}")
    return search.sparse_tree(s, n)


def paris(problem: Problem) -> Tree:
    """Return the tree of Paris: scikit-network's, or ours."""
    if util.find_spec("sknetwork"):
        given = problem.similarity
        indices = given.indices.astype(np.int32), given.indptr.astype(np.int32)
        graph = csr_matrix((given.data, *indices), shape=given.shape)
        made = import_module("sknetwork.hierarchy").Paris(reorder=False).fit_predict(graph)
        made = np.array(made, np.float64)
        made[:, 2] = np.arange(len(made))  # the heights of pieces are infinite
        return Tree.from_linkage(made)
    return our_paris(problem)


def our_paris(problem: Problem) -> Tree:
    graph = problem.similarity
    return finish(starts.agglomerate_sparse(graph, starts.masses(graph)[1]))


def methods() -> Iterator[tuple[str, Callable[[Problem], Tree]]]:
    """Yield a name, and a function that makes a tree of a problem."""
    yield "Paris", paris
    yield "Paris, ours", our_paris
    yield "crsc", lambda problem: hcviz.fit("crsc", problem)
    yield "search, first descent", descent
    yield "search", lambda problem: hcviz.fit("dasgupta-search", problem)


def main() -> None:
    """Print a row for each method and graph."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    sizes = (5_000,) if parser.parse_args().quick else (20_000, 100_000)
    hcviz.fit("dasgupta-search", Problem(similarity=neighbours(2_500, False)), proposals=1_000)
    descent(Problem(similarity=neighbours(2_500, False)))
    source = "scikit-network" if util.find_spec("sknetwork") else "ours"
    print(f"graph              method                  cost    CPU time   (Paris: {source})")
    for n in sizes:
        for name in ("square", "clusters"):
            problem, first = Problem(similarity=neighbours(n, name == "clusters")), None
            for title, make in methods():
                began = time.process_time()
                tree = make(problem)
                seconds = time.process_time() - began
                cost = metrics.dasgupta_cost(tree, problem.similarity)
                first = first or (cost, seconds)
                ratios = f"{cost / first[0]:.4f}  {seconds / first[1]:8.2f}  ({seconds:.2f} s)"
                print(f"{name + f', {n:,}':<17}  {title:<22}  {ratios}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"peak memory of the process: {peak:,} MB")


if __name__ == "__main__":
    main()
