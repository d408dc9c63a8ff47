"""Cost and time of the methods for similarities, on the data of ``docs/choosing-a-method.md``.

    python -m benchmarks.choosing          # a minute or two
    HCVIZ_TABLES=... names the folder with kitchen.csv

Each method is called by ``hcviz.fit``. Dasgupta's cost and CPU time are ratios to recursive
sparsest cut in the same run. Linkages of features use the same similarities as the cuts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import hcviz
from benchmarks.structural import neighbours
from hcviz import Problem, metrics

DENSE = ("crsc", "crbc", "average", "complete", "single", "active-spectral", "dasgupta-search")
SPARSE = ("crsc", "crbc", "active-spectral")


def cases() -> Iterator[tuple[str, Problem, tuple[str, ...]]]:
    """Yield a name, a problem with similarities only, and the methods that run on it."""
    planted = hcviz.datasets.planted_hierarchy(4, 125, sigma=0.1, seed=0)
    matrix = planted.problem().similarity_or_default
    yield "planted, 2,000", Problem(similarity=matrix - matrix.min()), DENSE
    for name in ("zoo", "iris"):
        problem = hcviz.datasets.load(name).problem()
        yield name, Problem(similarity=problem.similarity_or_default), DENSE
    folder = os.environ.get("HCVIZ_TABLES") or Path(__file__).parents[2] / "shared" / "tables"
    path = Path(folder) / "kitchen.csv"
    if path.exists():
        kitchen = hcviz.read_table(path).problem()
        yield "kitchen", Problem(similarity=kitchen.similarity_or_default), DENSE
    yield "square, 20,000", Problem(similarity=neighbours(20_000, grouped=False)), SPARSE


def main() -> None:
    """Print a row for each method and problem."""
    warm = Problem(similarity=hcviz.datasets.load("iris").problem().similarity_or_default)
    for method in DENSE:
        hcviz.fit(method, warm)  # compiles
    hcviz.fit("crsc", Problem(similarity=neighbours(500, grouped=False)))
    print("data             method            cost    CPU time")
    for name, problem, methods in cases():
        first = None
        for method in methods:
            began = time.process_time()
            tree = hcviz.fit(method, problem)
            seconds = time.process_time() - began
            cost = metrics.dasgupta_cost(tree, problem.similarity)
            first = first or (cost, seconds)
            ratios = f"{cost / first[0]:6.4f}  {seconds / first[1]:8.2f}"
            print(f"{name:<15}  {method:<16}  {ratios}  ({seconds:.2f} s)", flush=True)


if __name__ == "__main__":
    main()
