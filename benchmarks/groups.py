"""What groups (clade constraints) cost: the same call with and without them.

    python benchmarks/groups.py

Ratios of CPU time, each the least of three runs in turn. The sampler: proposals a CPU second of
`hcviz.run("ddt")` on 500 items in 4 dimensions with one group of 50, with ten sets of 2 to 100
items that are not groups, and with 50 items before 100 others. The others: 2,000 items with
100 nested groups; `hcviz.build`, `hcviz.fit("crsc")`, `hcviz.fit("average")` (without groups as
scipy computes it, and with one triplet as the constrained linkage does), and the first snapshot of
`hcviz.run("ddt")`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import hcviz
from hcviz import Problem
from hcviz.core.build import build

RUNS = 3


def cpu(call: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    began = time.process_time()
    call()
    return time.process_time() - began


def compare(name: str, without: Callable[[], object], with_: Callable[[], object]) -> None:
    """Print both times and their ratio."""
    without(), with_()  # compiles, and fills caches
    pairs = [(cpu(without), cpu(with_)) for _ in range(RUNS)]
    base, more = (min(each) for each in zip(*pairs, strict=True))
    print(f"{name:44} {base:8.3f} s {more:8.3f} s  ratio {more / base:5.2f}", flush=True)


def steps(problem: Problem, count: int) -> None:
    """Run the sampler for a number of proposals."""
    for _ in hcviz.run("ddt", problem, seed=1, steps=count, every=count):
        pass


def first(problem: Problem) -> None:
    """Make the sampler's first tree."""
    next(iter(hcviz.run("ddt", problem, seed=1, steps=1)))


def nested_groups(n: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return groups that are nested or disjoint: clades of a random tree."""
    order = rng.permutation(n)
    found: list[np.ndarray] = []
    waiting = [order]
    while len(found) < count:
        part = waiting.pop(0)
        cut = int(rng.integers(part.size // 3, 2 * part.size // 3))
        for half in (part[:cut], part[cut:]):
            found.append(np.sort(half))
            waiting.append(half)
    return found[:count]


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(20, 4)) * 3
    features = centres[rng.integers(20, size=500)] + rng.normal(size=(500, 4))
    plain = Problem(features=features)
    tree = hcviz.fit("average", plain)
    clade = min(map(tree.leaves, range(500, tree.n_nodes)), key=lambda c: abs(c.size - 50))
    grown = np.union1d(clade, rng.choice(500, 50, replace=False))[:50]
    print(f"{'':44} {'without':>10} {'with':>10}")
    compare(
        "ddt, 500 items, a group of 50, 200,000 steps",
        lambda: steps(plain, 200_000),
        lambda: steps(plain.with_group(grown), 200_000),
    )
    clades = [each for v in range(500, tree.n_nodes) if (each := tree.leaves(v)).size <= 100]
    denied = plain.with_not_groups([clades[k] for k in rng.choice(len(clades), 10, replace=False)])
    compare(
        "ddt, 500 items, 10 not groups, 200,000 steps",
        lambda: steps(plain, 200_000),
        lambda: steps(denied, 200_000),
    )
    outside = np.setdiff1d(np.arange(500), clade)[:100]
    apart = plain.with_group(clade, apart=outside)
    compare(
        "ddt, 500 items, 50 before 100, 200,000 steps",
        lambda: steps(plain, 200_000),
        lambda: steps(apart, 200_000),
    )
    n = 2000
    features = rng.normal(size=(n, 4))
    plain = Problem(features=features)
    plain = Problem(features=features, similarity=plain.similarity_or_default)
    groups = nested_groups(n, 100, rng)
    grouped = plain.with_groups(groups)
    triplet = plain.with_triplets([[0, 1, 2]])
    compare(
        "build, 100 nested groups", lambda: build(n, [[0, 1, 2]]), lambda: build(n, None, groups)
    )
    for method in ("crsc", "average"):
        compare(
            f"{method}, 100 nested groups",
            lambda method=method: hcviz.fit(method, plain),
            lambda method=method: hcviz.fit(method, grouped),
        )
    compare(
        "average with one triplet, 100 nested groups",
        lambda: hcviz.fit("average", triplet),
        lambda: hcviz.fit("average", grouped),
    )
    compare("ddt, the first tree", lambda: first(plain), lambda: first(grouped))


if __name__ == "__main__":
    main()
