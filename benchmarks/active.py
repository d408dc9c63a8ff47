"""Time, queries and memory of the methods of Krishnamurthy et al. (2012) by number of items.

    python benchmarks/active.py            # 10^3 to 10^6 items: some minutes, 2 GB
    python benchmarks/active.py --quick    # to 10^4: half a minute

Each measurement runs in its own process, after compilation, to get its peak memory. Exponents are
slopes of log-log plots over n.

- features: 2^7 Gaussian clusters in a hierarchy, 32 features, z-scored cosine, and
  ``active-spectral`` with default parameters.
- blocks: a noisy hierarchical block matrix with sigma = 0.3 and about 100 items per block. The
  agreement is that at the deepest level, for 20,000 random triples.
- bisecting: scikit-learn's BisectingKMeans on the same features, with n / 100 clusters (at most
  2,000).
- fastcluster: its average linkage, if the package is installed. hcviz does not need it.
- levels: agreement at each level of the target, from the root, for blocks of 100 at n = 102,400
  (quick: 6,400), with different cuts and repairs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from importlib import import_module, util
from typing import Any

import numpy as np

import hcviz
from hcviz import metrics
from hcviz.algorithms.active import ActiveCluster
from hcviz.algorithms.active import methods as active
from hcviz.datasets import noisy_blocks

#: Measurements by level: sigma and method.
BY_LEVEL = {
    "laplacian, no repair": (0.3, ActiveCluster("laplacian", repair=0.0)),
    "centred, no repair, unsharpened": (0.3, ActiveCluster(repair=0.0, sharpen=False)),
    "centred, repair 0.5, unsharpened": (0.3, ActiveCluster(sharpen=False)),
    "centred, no repair": (0.3, ActiveCluster(repair=0.0)),
    "centred, repair 0.5": (0.3, ActiveCluster()),
    "centred, c 4": (0.3, ActiveCluster(c=4.0)),
    "centred, c 4, unsharpened": (0.3, ActiveCluster(c=4.0, sharpen=False)),
    "laplacian, sigma 0.1, c 4, no repair": (0.1, ActiveCluster("laplacian", c=4.0, repair=0.0)),
}
RIVALS = {"bisecting": "sklearn.cluster", "fastcluster": "fastcluster"}


def blobs(n: int, seed: int = 0) -> np.ndarray:
    """Gaussian clusters at the leaves of a binary hierarchy of seven levels, float64 (n, 32)."""
    rng = np.random.default_rng(seed)
    centres = np.zeros((1, 32))
    for level in range(7):
        centres = np.repeat(centres, 2, axis=0)
        centres += rng.normal(size=centres.shape) * 2 * 0.8**level
    return centres[rng.integers(0, len(centres), n)] + rng.normal(size=(n, 32))


def deepest(data: Any, tree: hcviz.Tree, count: int = 20_000) -> float:
    """Return the share of random triplets ab|c that hold: a, b of a block, c of its sibling."""
    rng = np.random.default_rng(0)
    block = data.oracle.block
    order = np.argsort(block, kind="stable").astype(np.int32)
    start = np.searchsorted(block[order], np.arange(block.max() + 2))
    a = rng.integers(0, len(block), count)
    draw = [
        order[start[own] + (rng.random(count) * (start[own + 1] - start[own])).astype(int)]
        for own in (block[a], block[a] ^ 1)
    ]
    rows = np.stack([a, draw[0], draw[1]], axis=1)
    return float(tree.satisfies(rows[rows[:, 0] != rows[:, 1]]).mean())


def by_level(name: str, n: int) -> dict[str, Any]:
    """Measure one method of :data:`BY_LEVEL` on blocks of 100 items, in this process."""
    active.warm()
    sigma, method = BY_LEVEL[name]
    levels = max(1, round(math.log2(n / 100)))
    data = noisy_blocks(n, levels, sigma)
    assert data.target is not None
    began = time.process_time()
    last = None
    for shown in method.grow(data.oracle):
        last = shown or last  # the last one is never None
    spent = time.process_time() - began
    found = metrics.triplet_agreement_by_level(data.target, last.tree)[:levels]
    return {"share": last.metrics["share"], "cpu": spent, "levels": found.tolist()}


def one(what: str, n: int) -> dict[str, Any]:
    """Make one measurement in this process."""
    if what in BY_LEVEL:
        return by_level(what, n)
    active.warm()
    if what in RIVALS:
        import_module(RIVALS[what])
    out: dict[str, Any] = {"what": what, "n": n}
    if what == "blocks":
        data = noisy_blocks(n, max(1, round(math.log2(n / 100))), 0.3)
        oracle = data.oracle
    else:
        features = blobs(n)
    began, cpu = time.perf_counter(), time.process_time()
    if what in ("features", "blocks"):
        if what == "features":
            oracle = hcviz.FeatureOracle(features)
        last = None
        for shown in ActiveCluster().grow(oracle):
            last = shown or last  # the last one is never None
        out |= {"queries": last.metrics["queries"], "share": last.metrics["share"]}
    elif what == "bisecting":
        parts = max(2, min(2000, n // 100))
        import_module("sklearn.cluster").BisectingKMeans(parts, random_state=0).fit(features)
    else:
        import_module("fastcluster").linkage(features, "average")
    out |= {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if what == "blocks":
        out["deepest"] = deepest(data, last.tree)
    return out


def measure_in_process(what: str, n: int) -> dict[str, Any]:
    """Make one measurement in a new process."""
    words = [sys.executable, __file__, "--one", what, str(n)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(what: str, n: int) -> dict[str, Any]:
    """Make one measurement in a new process, and print it."""
    found = measure_in_process(what, n)
    print(
        f"{what:>10} {n:>9,} {found['seconds']:>8.2f} {found['cpu']:>8.2f} {found['peak']:>8.0f}"
        + (f" {found['queries']:>14,.0f} {found['share']:>9.5f}" if "queries" in found else "")
        + (f" {found['deepest']:>8.3f}" if "deepest" in found else ""),
        flush=True,
    )
    return found


def exponent(rows: list[dict[str, Any]], name: str) -> float:
    """Return the exponent of n."""
    return float(np.polyfit(*np.log([[r["n"], r[name]] for r in rows]).T, 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--one", nargs=2, metavar=("WHAT", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one[0], int(options.one[1]))))
        return
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    print("      what         n        s    CPU s       MB   similarities     share  deepest")
    top = 4 if options.quick else 6
    sizes = [int(10 ** (k / 2)) for k in range(6, 2 * top + 1)]
    for what in ("features", "blocks"):
        rows = [measure(what, n) for n in sizes]
        names = ("cpu", "queries", "peak")
        rows = rows[2:] if len(rows) > 4 else rows  # larger sizes have less overhead
        exponents = ", ".join(f"{name} {exponent(rows, name):.2f}" for name in names)
        print(f"{what}: exponents of n from {rows[0]['n']:,}: {exponents}")
    n = 6_400 if options.quick else 102_400
    print(f"levels: n = {n:,}, agreement by level from the root")
    for name in BY_LEVEL:
        found = measure_in_process(name, n)
        levels = ", ".join(f"{level:.3f}" for level in found["levels"])
        print(f"{name:>40} {found['share']:>8.2%} {found['cpu']:>7.1f} CPU s: {levels}", flush=True)
    for n in (n for n in sizes if n <= 100_000):
        measure("bisecting", n)
    if util.find_spec("fastcluster") is not None:
        for n in (n for n in sizes if n <= 10_000):
            measure("fastcluster", n)


if __name__ == "__main__":
    main()
