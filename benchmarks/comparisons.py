"""Methods for comparisons: seconds at the sizes of papers 000 and 004, beside the definitions.

    python benchmarks/comparisons.py            # some minutes, 2 GB
    python benchmarks/comparisons.py --quick    # small sizes, seconds

CPU seconds of one thread (set OPENBLAS_NUM_THREADS=1), compiled first, one run each. Equation (3)
as it stands is timed at n = 12 and extrapolated by its number of terms, which grows as n^5.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np

from hcviz import Comparisons, metrics
from hcviz.algorithms.comparison import foural, partition, sdp, similarities
from hcviz.datasets import (
    count_comparisons,
    planted_hierarchy,
    planted_partition,
    sample_comparisons,
    sample_signs,
)


def timed(name: str, call: Callable[[], object]) -> object:
    began = time.process_time()
    made = call()
    print(f"  {name:<58s} {time.process_time() - began:9.3f} s", flush=True)
    return made


def literal_kernel(n: int, rows: np.ndarray) -> np.ndarray:
    """Equation (3) as it stands, in Python."""
    said = {(tuple(sorted(r[:2])), tuple(sorted(r[2:]))) for r in rows.tolist()}
    pairs = list(combinations(range(n), 2))

    def s(i: int, r: int, pair: tuple[int, int]) -> int:
        own = (min(i, r), max(i, r))
        return ((own, pair) in said) - ((pair, own) in said)

    out = np.zeros((n, n))
    for i, j in pairs:
        for pair in pairs:
            for r in range(n):
                if r not in (i, j):
                    out[i, j] += s(i, r, pair) * s(j, r, pair)
    return out + out.T


def warm() -> None:
    few = Comparisons([[0, 1, 2, 3], [0, 2, 1, 3]])
    similarities.mulk4(4, few)
    similarities.mulk4(4, np.zeros((6, 6), np.int8))
    foural.four_al(4, few)
    foural.four_al(4, np.zeros((6, 6), np.int8))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    warm()

    print("4K-AL's kernel and 4-AL, planted hierarchy, delta = .1, p = .1")
    small = planted_hierarchy(levels=2, pure_size=3)
    found = sample_comparisons(small.similarity, 0.1)
    began = time.process_time()
    literal = literal_kernel(12, found.rows)
    took = time.process_time() - began
    assert np.array_equal(literal, similarities.mulk4(12, found))
    print(f"  the literal kernel, n = 12: {took:.3f} s; times n^5, n = 240: {took * 20**5:,.0f} s")
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
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GiB")


if __name__ == "__main__":
    main()
