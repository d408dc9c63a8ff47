"""CPU seconds of methods for comparisons, at the sizes of two papers, and of their definitions.

    python benchmarks/comparisons.py            # some minutes, 2 GB
    python benchmarks/comparisons.py --quick    # small sizes, a minute

The papers are Ghoshdastidar et al. (2019) and Perrot et al. (2020). All code runs once, in one
thread, after compilation. Plain Python definitions (``literal.py``) and semidefinite programs in
cvxpy are timed at small sizes, and their results are compared with ours. Times of definitions at
larger sizes are extrapolated by the number of terms.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from unittest.mock import patch

import literal
import numpy as np
from threadpoolctl import threadpool_limits

import hcviz
from hcviz import Comparisons, Problem, Tree, metrics
from hcviz.algorithms.comparison import foural, partition, sdp, similarities, stated
from hcviz.datasets import (
    SignOracle,
    count_comparisons,
    planted_hierarchy,
    planted_partition,
    sample_comparisons,
    sample_signs,
)
from hcviz.io import comparison_csv


def timed(name: str, call: Callable[[], object]) -> object:
    began = time.process_time()
    made = call()
    print(f"  {name:<58s} {time.process_time() - began:9.3f} s", flush=True)
    return made


def extrapolated(name: str, call: Callable[[], object], n: int, power: int, *to: int) -> object:
    """Time a definition at n, and print extrapolated times for larger sizes."""
    began = time.process_time()
    made = call()
    took = time.process_time() - began
    larger = "".join(f"; n = {m}: {took * (m / n) ** power:,.0f} s by n^{power}" for m in to)
    print(f"  {f'the definition: {name}, n = {n}':<58s} {took:9.3f} s{larger}", flush=True)
    return made


def merges(tree: Tree) -> list[frozenset[int]]:
    """Return clusters in the order of merges."""
    nodes = np.argsort(tree.height[tree.n_leaves :], kind="stable") + tree.n_leaves
    return [frozenset(tree.leaves(int(v)).tolist()) for v in nodes]


def definitions(quick: bool) -> None:
    """Time the definitions and our methods at small sizes, and check that the results are equal."""
    print("the definitions in plain Python, and ours at the same size")
    small = planted_hierarchy(levels=2, pure_size=3)
    rows = sample_comparisons(small.similarity, 0.1)
    made = extrapolated("equation (3)", lambda: literal.kernel(12, rows.rows), 12, 5, 120, 240)
    assert np.array_equal(made, timed("ours", lambda: similarities.mulk4(12, rows)))
    n = 12 if quick else 16
    rows = sample_comparisons(planted_hierarchy(levels=2, pure_size=n // 4).similarity, 0.5)
    made = extrapolated("4-AL", lambda: literal.four_al(n, rows.rows), n, 5, 120, 240, 1000)
    assert made == merges(timed("ours", lambda: foural.four_al(n, rows)))
    n = 40 if quick else 100
    rows3 = planted_partition(n=n, k=4, kind="triplets").comparisons
    made = extrapolated("AddS-3", lambda: literal.adds3(n, rows3.rows), n, 3, 1000)
    assert np.array_equal(made, timed("ours", lambda: similarities.adds(n, rows3)))
    n = 24 if quick else 40
    rows4 = planted_partition(n=n, k=4, p=0.1).comparisons
    made = extrapolated("AddS-4", lambda: literal.adds4(n, rows4.rows), n, 4, 1000)
    assert np.array_equal(made, timed("ours", lambda: similarities.adds(n, rows4)))
    n = 40 if quick else 120
    hidden = planted_hierarchy(pure_size=n // 8).similarity
    for name in ("sl", "cl"):
        ask = literal.CountedQuestions(hidden)
        made = extrapolated(
            name, lambda a=ask, s=name == "sl": literal.linkage(n, a, s), n, 3, 240, 1000
        )
        problem = Problem(oracle=SignOracle(hidden))
        own = timed("ours", lambda m=name, p=problem: list(hcviz.run(m, p))[-1])
        assert merges(own.tree) == made
        print(f"    questions: {ask.questions:,} and {own.metrics['queries']:,.0f}")


def programs(quick: bool) -> None:
    """Time SDP-k in cvxpy with open solvers, and our method."""
    print("SDP-k in cvxpy: SCS, and Clarabel at the smallest size; then ours")
    for n in (60,) if quick else (60, 100, 200):
        s = similarities.adds(n, planted_partition(n=n, k=4, kind="triplets").comparisons)
        for solver in ("scs", "clarabel") if n == 60 else ("scs",):
            stated.solve_stated(s[:8, :8], k=2, solver=solver)  # imports cvxpy before timing
            made = timed(
                f"{solver}, n = {n}", lambda s=s, w=solver: stated.solve_stated(s, k=4, solver=w)
            )
            own = timed("ours", lambda s=s: sdp.solve(s, k=4))
            print(f"    gaps {made.gap:.1e} and {own.gap:.1e}")
            assert made.value <= own.bound * (1 + 1e-6)
            assert own.value <= made.bound * (1 + 1e-6)


def warm() -> None:
    few = Comparisons([[0, 1, 2, 3], [0, 2, 1, 3]])
    similarities.mulk4(4, few)
    similarities.mulk4(4, np.zeros((6, 6), np.int8))
    foural.four_al(4, few)
    foural.four_al(4, np.zeros((6, 6), np.int8))
    for name in ("sl", "cl"):
        hcviz.fit(name, Problem(oracle=SignOracle(np.eye(4))))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with threadpool_limits(1):
        warm()
        definitions(quick)
        programs(quick)
        ours(quick)
        reading(quick)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GiB")


def ours(quick: bool) -> None:
    """Time our methods at the sizes of the papers."""
    print("4K-AL's kernel and 4-AL, planted hierarchy, delta = .1, p = .1")
    for size in (15,) if quick else (15, 30):
        data = planted_hierarchy(pure_size=size)
        n = 8 * size
        table = sample_signs(data.similarity, 0.1)
        tree = timed(f"4-AL, n = {n}, from signs", lambda n=n, t=table: foural.four_al(n, t))
        timed(f"kernel, n = {n}, from signs", lambda n=n, t=table: similarities.mulk4(n, t))
        print(f"    AARI of 4-AL: {metrics.aari(data.target, tree, 3):.3f}")
        del table
        rows = sample_comparisons(data.similarity, 0.1)
        timed(f"4-AL, n = {n}, from {len(rows):,} rows", lambda n=n, r=rows: foural.four_al(n, r))
        timed(f"kernel, n = {n}, from the rows", lambda n=n, r=rows: similarities.mulk4(n, r))
        del rows

    n = 300 if quick else 1000
    rate = 2e6 / count_comparisons(1000)
    many = planted_partition(n=n, k=4, p=rate * (1000 / n) ** 3).comparisons
    timed(f"4-AL, n = {n}, from {len(many):,} rows", lambda: foural.four_al(n, many))

    print("SDP-k and SPUR, planted partition, k = 4, n (ln n)^4 triplets, gap 1e-3")
    for n in (60, 100, 200, 400) if quick else (60, 100, 200, 400, 1000):
        answers = planted_partition(n=n, k=4, kind="triplets").comparisons
        s = similarities.adds(n, answers)
        made = timed(f"SDP-k, n = {n}, {len(answers):,} answers", lambda s=s: sdp.solve(s, k=4))
        print(f"    {made.steps} steps, gap {made.gap:.1e}")
        if n >= 400:
            options = {"tolerance": 1e-3, "max_steps": 2000}
            k, *_ = timed(
                f"SPUR, n = {n}",
                lambda s=s, a=answers, o=options: similarities.finish(
                    partition._spur(s, len(a), o)
                ),
            )
            print(f"    k = {k}")


def reading(quick: bool) -> None:
    """Time both readers of files of answers."""
    m = 100_000 if quick else 1_000_000
    print(f"a file of {m:,} answers about 1,000 items")
    rng = np.random.default_rng(0)
    rows = np.argpartition(rng.random((m, 12)), 3)[:, :3] + 12 * rng.integers(0, 83, (m, 1))
    lines = "\n".join(f"item {i},item {j},item {k}" for i, j, k in rows.tolist())
    text = f"anchor,near,far\n{lines}\n"
    at_once = timed("read all at once", lambda: comparison_csv.read_comparison_csv(text))
    with patch.object(comparison_csv, "read_uniform_rows", lambda *_: None):
        by_line = timed("read line by line", lambda: comparison_csv.read_comparison_csv(text))
    assert np.array_equal(at_once.comparisons.rows, by_line.comparisons.rows)


if __name__ == "__main__":
    main()
