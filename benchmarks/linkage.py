"""Constrained linkages: time compared with scipy, stability, and learning from answers.

    python benchmarks/linkage.py            # about two minutes
    python benchmarks/linkage.py --quick    # 2,000 items only, few answers, some seconds

Times are CPU seconds of ``hcviz.fit`` on features and of scipy's ``linkage`` on the same features,
after compilation, the best of three below 2 s. Answers "near" hold in a tree of the points with
noise, so the linkage satisfies most of them. Answers "contradicting" hold in a random tree.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

import hcviz
from hcviz import Problem, Tree
from hcviz.core.constrained import warm
from hcviz.datasets import SimulatedUser
from hcviz.io.tables import read_table
from hcviz.metrics import triplet_distance

METHODS = ("average", "complete", "single", "ward")
MODES = ("merge", "repair")
#: A table outside of the repository.
KITCHEN = Path(__file__).resolve().parents[2] / "shared" / "tables" / "kitchen.csv"


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


def points(n: int) -> np.ndarray:
    """Return points of twenty wide clusters in eight dimensions, float64 (n, 8)."""
    rng = np.random.default_rng(0)
    return 3 * rng.normal(size=(20, 8))[rng.integers(0, 20, n)] + rng.normal(size=(n, 8))


def answers(tree: Tree, count: int) -> np.ndarray:
    """Return ``count`` triplets that a binary tree satisfies, int32 (count, 3)."""
    rng = np.random.default_rng(1)
    draws = np.array([rng.choice(tree.n_leaves, 3, replace=False) for _ in range(count)])
    rows = np.concatenate([draws, draws[:, [0, 2, 1]], draws[:, [1, 2, 0]]])
    return rows[tree.satisfies(rows)].astype(np.int32)


def times(sizes: list[int], counts: list[int]) -> None:
    print("CPU s, and as a multiple of scipy's")
    columns = [f"{kind} {count}" for kind in ("near", "contradicting") for count in counts]
    print(f"{'':>17} {'scipy':>7}" + "".join(f"{name:>18}" for name in [*columns, "repair, near"]))
    for n in sizes:
        x = points(n)
        noise = np.random.default_rng(2).normal(size=x.shape)
        sources = [
            Tree.from_linkage(linkage(pdist(x + 0.7 * noise), "average")),
            hcviz.fit("random-cut", Problem(features=noise)),
        ]
        for method in METHODS:
            base = cpu(lambda m=method, x=x: linkage(x, m))
            cells = []
            for tree in sources:
                for count in counts:
                    problem = Problem(features=x).with_triplets(answers(tree, count))
                    cells.append(cpu(lambda m=method, p=problem: hcviz.fit(m, p)))
            problem = Problem(features=x).with_triplets(answers(sources[0], counts[-1]))
            cells.append(cpu(lambda m=method, p=problem: hcviz.fit(m, p, constraints="repair")))
            shown = "".join(f"{cell:>9.3f} ({cell / base:5.2f})" for cell in cells)
            print(f"{n:>6} {method:>10} {base:>7.3f}  {shown}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"Peak memory {peak:.2f} GiB")


def clades(tree: Tree) -> set[frozenset[int]]:
    return {frozenset(clade.tolist()) for clade in tree.clades()} - {
        frozenset(range(tree.n_leaves))
    }


def corrections(tree: Tree, count: int) -> list[np.ndarray]:
    """Return random ab|c that the tree contradicts, each within a clade of at most 12 items."""
    rng = np.random.default_rng(0)
    small = [v for v in range(tree.n_leaves, tree.n_nodes) if 3 <= tree.size[v] <= 12]
    found: list[np.ndarray] = []
    while len(found) < count:
        row = rng.choice(tree.leaves(int(rng.choice(small))), 3, replace=False)
        if not tree.satisfies([row])[0]:
            found.append(row)
    return found


def stability() -> None:
    print("\nClades that one correction changes: median and maximum of 20, share of all clades")
    data = {name: hcviz.datasets.load(name).problem() for name in ("zoo", "iris")}
    if KITCHEN.is_file():
        data["kitchen"] = read_table(KITCHEN).problem()
    for name, problem in data.items():
        for method in METHODS:
            free = hcviz.fit(method, problem)
            before = clades(free)
            cells = []
            for mode in MODES:
                changed = [
                    len(before - clades(hcviz.fit(method, corrected, constraints=mode)))
                    for row in corrections(free, 20)
                    for corrected in [problem.with_triplets([row])]
                ]
                share = 100 * float(np.median(changed)) / len(before)
                cells.append(f"{mode} {np.median(changed):4g} {max(changed):3d} {share:5.1f} %")
            print(f"{name:>8} {method:>10}   " + "   ".join(cells))


def learning(counts: list[int], seeds: int) -> None:
    print(f"\nTriplet distance to the target after {counts} true answers, mean of {seeds} users")
    for name in ("zoo", "iris", "glass"):
        data = hcviz.datasets.load(name)
        problem = data.problem()
        for method in METHODS:
            free = hcviz.fit(method, problem)
            cells = [f"without {triplet_distance(data.target, free):.3f}"]
            for mode in MODES:
                curves = []
                for seed in range(seeds):
                    user = SimulatedUser(data.target, seed=seed)
                    tree, triplets, curve = free, [], []
                    for count in range(1, max(counts) + 1):
                        triplets.append(user.answer(tree))
                        constrained = problem.with_triplets(triplets)
                        tree = hcviz.fit(method, constrained, constraints=mode)
                        if count in counts:
                            curve.append(triplet_distance(data.target, tree))
                    curves.append(curve)
                cells.append(f"{mode} " + " ".join(f"{x:.3f}" for x in np.mean(curves, axis=0)))
            print(f"{name:>8} {method:>10}   " + "   ".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    warm()
    times([2000] if quick else [2000, 5000], [50, 500])
    stability()
    learning([1, 5] if quick else [1, 5, 20, 60], 2 if quick else 5)


if __name__ == "__main__":
    main()
