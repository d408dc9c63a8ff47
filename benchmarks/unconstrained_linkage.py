"""CPU seconds of the linkages of features, beside scipy's."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

import hcviz

SIZES = (1_000, 4_000, 8_000)


def cpu_seconds(function: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    began = time.process_time()
    function()
    return time.process_time() - began


def main() -> None:
    """Print a row for each size and method."""
    print("items    method    hcviz   scipy   ratio")
    for n in SIZES:
        features = np.random.default_rng(0).normal(size=(n, 10))
        for method in ("ward", "average", "complete", "single"):
            ours = cpu_seconds(lambda m=method, x=features: hcviz.fit(m, x))
            theirs = cpu_seconds(lambda m=method, x=features: linkage(pdist(x), m))
            print(f"{n:>6,}  {method:>8}  {ours:6.2f}  {theirs:6.2f}  {ours / theirs:6.2f}")
    features = np.random.default_rng(0).normal(size=(20_000, 10))
    print(f"20,000      ward  {cpu_seconds(lambda: hcviz.fit('ward', features)):6.2f}")


if __name__ == "__main__":
    main()
