"""Comparison of five summary trees on four tables.

    python -m benchmarks.summaries            # some minutes
    python -m benchmarks.summaries --quick    # fewer runs, about a minute
    python -m benchmarks.summaries Zoo        # one table
    python -m benchmarks.summaries --methods  # compare methods as defaults of the page
    HCVIZ_DATA=... names the folder with zoo/, HCVIZ_TABLES=... that of kitchen.csv

Summaries: the most credible tree of sampled clades (CCD0-MAP, Berling et al. 2025), of sampled
splits (HIPSTR, Baele et al. 2025), the most credible sampled tree (MCC), the majority consensus,
and the medoid (the sampled tree with the least mean triplet distance to 64 others).

The criteria are the triplet distance to the target, the share of clades that another seed changes
(all clades, and those with support above .6), and the share that one answer changes. The answer
contradicts the tree within a clade of at most 12 items. Both runs have the same seed.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from statistics import mean, median

import numpy as np

import hcviz
from benchmarks.sampling import planted
from hcviz import Problem, Tree
from hcviz.algorithms import generator, get
from hcviz.io.tables import read_table
from hcviz.metrics import triplet_distance
from hcviz.posterior import Posterior
from hcviz.posterior.sampling import sample_until_settled

#: Proposals of each of two chains, about as many as `hcviz.fit` makes.
PROPOSALS = 400_000


def tables() -> dict[str, tuple[Problem, Tree | None]]:
    """Return problems and targets: classes, a phylogeny, the planted tree, or families."""
    iris = hcviz.datasets.load("iris")
    zoo = hcviz.datasets.load("zoo")
    path = Path(os.environ.get("HCVIZ_TABLES", "../shared/tables")) / "kitchen.csv"
    kitchen = read_table(path.read_bytes(), path.name).problem()
    families = [list(range(8 * k, 8 * k + 8)) for k in range(10)]
    balanced = [[2 * k, 2 * k + 1] for k in range(127)]
    return {
        "Iris": (iris.problem(), iris.target),
        "Zoo": (zoo.problem(), zoo.target),
        "planted, 128": (
            Problem(features=planted(128, seed=1)),
            Tree.from_children(balanced, 128),
        ),
        "kitchen": (kitchen, Tree.from_children([*families, list(range(80, 90))], 80)),
    }


def sampled(problem: Problem, seed: int) -> Posterior:
    """Return a posterior after a fixed number of proposals."""
    method = get("ddt")
    assert method.recorded_run is not None
    chains = method.recorded_run(problem, method.parameters(chains=2), generator(seed), None).chains
    return sample_until_settled(
        chains, problem.n_items, seconds=math.inf, proposals=PROPOSALS, until_settled=False
    )


def medoid(posterior: Posterior) -> Tree:
    """Return the tree with the least mean triplet distance to the others, of 64 thinned trees."""
    trees = posterior.trees(64)
    distance = np.zeros((len(trees), len(trees)))
    for i, j in combinations(range(len(trees)), 2):
        distance[i, j] = distance[j, i] = triplet_distance(trees[i], trees[j])
    return trees[int(distance.sum(axis=0).argmin())]


SUMMARIES: dict[str, Callable[[Posterior], Tree]] = {
    "CCD0-MAP": Posterior.summary_tree,
    "HIPSTR": lambda posterior: posterior.summary_tree(composed=False),
    "MCC": Posterior.max_credibility,
    "majority": lambda posterior: posterior.consensus()[0],
    "medoid": medoid,
}


def clades(tree: Tree, nodes: np.ndarray | None = None) -> set[frozenset[int]]:
    """Return the clades of ``nodes``, or of all inner nodes, without the root's."""
    chosen = range(tree.n_leaves, tree.root) if nodes is None else nodes.tolist()
    return {frozenset(tree.leaves(v).tolist()) for v in chosen if v != tree.root}


def changed(before: set[frozenset[int]], after: Tree) -> float:
    """Return the share of ``before`` that are not clades of ``after``."""
    return len(before - clades(after)) / len(before) if before else math.nan


def answer(tree: Tree, rng: np.random.Generator) -> list[int]:
    """Return a random ab|c that the tree contradicts, within a clade of 3 to 12 items."""
    small = np.flatnonzero((tree.size >= 3) & (tree.size <= 12))
    while True:
        items = tree.leaves(int(rng.choice(small)))
        a, b, c = (int(x) for x in rng.choice(items, 3, replace=False))
        if not tree.satisfies([[a, b, c]])[0] and tree.satisfies([[a, c, b], [b, c, a]]).any():
            return [a, b, c]


def compare(problem: Problem, target: Tree | None, seeds: int, answers: int) -> list[str]:
    """Return one line for each summary."""
    made = [sampled(problem, seed) for seed in range(seeds)]
    trees = [{name: make(each) for name, make in SUMMARIES.items()} for each in made]
    rng = np.random.default_rng(0)
    rows = [answer(trees[0]["CCD0-MAP"], rng) for _ in range(answers)]
    corrected = []
    for row in rows:
        posterior = sampled(problem.with_triplets([row]), 0)
        corrected.append({name: make(posterior) for name, make in SUMMARIES.items()})
    lines = []
    for name in SUMMARIES:
        each = [found[name] for found in trees]
        distance = math.nan
        if target is not None:
            distance = mean(triplet_distance(target, tree) for tree in each)
        pairs = [(i, j) for i in range(seeds) for j in range(seeds) if i != j]
        between = mean(changed(clades(each[i]), each[j]) for i, j in pairs)
        firm = []
        for i, j in pairs:
            support = made[i].support(each[i])
            nodes = each[i].n_leaves + np.flatnonzero(support > 0.6)
            firm.append(changed(clades(each[i], nodes), each[j]))
        answered = median(changed(clades(each[0]), after[name]) for after in corrected)
        lines.append(
            f"| {name} | {distance:.3f} | {each[0].n_internal - 1} | {between:.0%} | "
            f"{float(np.nanmean(firm)):.0%} | {answered:.0%} |"
        )
    lines.append(f"accuracy {median(each.accuracy for each in made):.3f}")
    return lines


def methods(problem: Problem, target: Tree | None, answers: int, seeds: int) -> list[str]:
    """One line for each method that a page may begin with, with its defaults.

    The distance is the median, and in brackets the range, of some seeds. The rest is for seed 0.
    Depth is the mean number of clades that an item is in: the fewer, the easier to read.
    """
    lines = []
    for name in ("ddt", "average", "dasgupta-search", "crsc"):
        tree = hcviz.fit(name, problem)
        distance = ""
        if target is not None:
            drawn = [hcviz.fit(name, problem, seed=seed) for seed in range(seeds)]
            each = sorted(triplet_distance(target, made) for made in drawn)
            distance = f"{median(each):.3f} ({each[0]:.3f} to {each[-1]:.3f})"
        rng = np.random.default_rng(0)
        shares = []
        for _ in range(answers):
            after = hcviz.fit(name, problem.with_triplets([answer(tree, rng)]))
            shares.append(changed(clades(tree), after))
        depth = tree.size[tree.n_leaves :].sum() / tree.n_leaves
        lines.append(
            f"| {name} | {distance} | {median(shares):.1%} | {max(shares):.1%} | {depth:.1f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--methods", action="store_true", help="compare methods, not summaries")
    parser.add_argument("tables", nargs="*", help="names of tables; all unless given")
    given = parser.parse_args()
    seeds, answers = (2, 2) if given.quick else (4, 8)
    corrections = 5 if given.quick else 20
    for name, (problem, target) in tables().items():
        if given.tables and name not in given.tables:
            continue
        if given.methods:
            print(f"\n{name}: one answer, median and most of {corrections}")
            print("| method | distance | one answer | most | depth |")
            print("| --- | --- | --- | --- | --- |")
            print("\n".join(methods(problem, target, corrections, 2 * seeds)), flush=True)
            continue
        print(f"\n{name}: {PROPOSALS:,} proposals of each chain, {seeds} seeds, {answers} answers")
        print("| summary | distance | clades | other seed | of support > .6 | one answer |")
        print("| --- | --- | --- | --- | --- | --- |")
        print("\n".join(compare(problem, target, seeds, answers)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
