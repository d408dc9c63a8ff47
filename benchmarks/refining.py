"""CRSC with plain and with refined cuts on many data sets.

    python benchmarks/refining.py            # some minutes
    python benchmarks/refining.py --quick    # a few seconds

The data are real tables with each similarity of the page, planted hierarchies, wide clusters, and
graphs of nearest neighbours. Each problem is solved without triplets and with 20 random triplets of
the target, or else of average linkage. The columns for each kind of data are:

- number of problems for which refined cuts decrease or increase the cost by more than 1e-9 of it,
- change of the cost in per cent: minimum, mean and maximum,
- CPU time as a multiple of that with plain cuts: median and maximum,
- if there is a target: number of problems for which the triplet distance falls or rises, and its
  mean change.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from sklearn import datasets as tables

import hcviz
from benchmarks.structural import blobs, neighbours
from hcviz import Problem, Tree, metrics
from hcviz.core.similarity import SIMILARITIES, similarity_from_features
from hcviz.reproduce.structural_cases import random_triplets

TRIPLETS = 20
#: Smaller relative changes of the cost are effects of rounding.
ROUNDING = 1e-9

Case = tuple[str, Problem, Tree | None]


def real(most: int) -> Iterator[Case]:
    """Yield tables with at most ``most`` rows under each similarity."""
    rows: dict[str, tuple[np.ndarray, Tree | None]] = {}
    for name in ("zoo", "iris", "glass", "yeast", "digits"):
        found = hcviz.datasets.load(name)
        features = np.nan_to_num(np.asarray(found.features, float))
        target = found.target if len(features) <= most else None
        rows[name] = features[:most], target
    for name in ("wine", "breast_cancer", "diabetes", "linnerud"):
        rows[name] = getattr(tables, f"load_{name}")().data[:most], None
    for name, (features, target) in rows.items():
        for kind in SIMILARITIES:
            matrix = similarity_from_features(features, kind)
            if matrix.min() < 0:
                matrix = matrix - matrix.min()
            yield f"{name} {kind}", Problem(similarity=matrix), target


def planted(seeds: int) -> Iterator[Case]:
    """Yield planted hierarchies of Ghoshdastidar et al. (2019) with increasing noise.

    Similarities are shifted so that none is negative.
    """
    for seed in range(seeds):
        for noise in (0.05, 0.1, 0.2, 0.4):
            found = hcviz.datasets.planted_hierarchy(pure_size=12, sigma=noise, seed=seed)
            matrix = np.array(found.similarity)
            matrix -= min(0.0, matrix.min())
            yield f"planted {noise} {seed}", Problem(similarity=matrix), found.target


def groups(seeds: int, n: int) -> Iterator[Case]:
    for seed in range(seeds):
        yield f"groups {seed}", Problem(similarity=blobs(n, seed)), None


def graphs(seeds: int, n: int) -> Iterator[Case]:
    for seed in range(seeds):
        for grouped in (False, True):
            yield f"neighbours {seed}", Problem(similarity=neighbours(n, grouped, seed)), None


def compared(problem: Problem, target: Tree | None) -> tuple[float, float, float]:
    """Refined against plain: the cost's change as a share, seconds' ratio, distance's change."""
    costs, spent, distance = [], [], []
    for refine in (False, True):
        best = np.inf
        for _ in range(3):
            began = time.process_time()
            tree = hcviz.fit("crsc", problem, refine=refine)
            best = min(best, time.process_time() - began)
        costs.append(metrics.dasgupta_cost(tree, problem.similarity))
        spent.append(best)
        distance.append(np.nan if target is None else metrics.triplet_distance(target, tree))
    return costs[1] / costs[0] - 1.0, spent[1] / spent[0], distance[1] - distance[0]


def report(kind: str, cases: Iterator[Case]) -> None:
    free, constrained = [], []
    for name, problem, target in cases:
        n = problem.n_items
        free.append((name, *compared(problem, target)))
        true = target
        if true is None or not true.is_binary:
            dense = Problem(similarity=problem.similarity_or_default)
            true = hcviz.fit("average", dense)
        rows = random_triplets(true, TRIPLETS, np.random.default_rng(n))
        constrained.append((name, *compared(problem.with_triplets(rows), target)))
    for what, found in (("free", free), (f"{TRIPLETS} triplets", constrained)):
        change = np.array([each[1] for each in found])
        times = np.array([each[2] for each in found])
        gone = np.array([each[3] for each in found])
        known = gone[~np.isnan(gone)]
        print(
            f"{kind:>22} {what:>12} {len(found):>4} {(change < -ROUNDING).sum():>8} "
            f"{(change > ROUNDING).sum():>7} {100 * change.min():>8.2f} "
            f"{100 * change.mean():>7.2f} {100 * change.max():>7.2f} {np.median(times):>6.2f} "
            f"{times.max():>6.2f}"
            + (
                f"   {(known < -1e-12).sum()} nearer, {(known > 1e-12).sum()} farther, "
                f"{known.mean():+.4f}"
                if known.size
                else ""
            )
        )
        worst = int(change.argmax())
        if change[worst] > ROUNDING:
            print(f"{'':>22} largest increase: {found[worst][0]}, {100 * change[worst]:+.3f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print("                  data         what   of    lower  higher  minimum    mean maximum "
          "median maximum   triplet distance")  # fmt: skip
    report("tables", real(120 if quick else 600))
    report("planted hierarchies", planted(1 if quick else 8))
    report("loose groups", groups(2 if quick else 12, 200 if quick else 500))
    report("neighbour graphs", graphs(1 if quick else 6, 300 if quick else 1000))


if __name__ == "__main__":
    main()
