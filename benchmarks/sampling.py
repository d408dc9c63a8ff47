"""Proposals per CPU second of the public functions, compared with the kernel of the sampler.

    python -m benchmarks.sampling            # about two minutes
    python -m benchmarks.sampling --quick    # Zoo and Iris only, some 20 seconds
    HCVIZ_DATA=... names the folder with ddt/iris.dat and ddt/zoo.dat

`hcviz.sample` is compared with its kernel alone (proposals and sweeps without recording) in as many
threads. `hcviz.run` with its default `every` is compared with `every=20000`. Both sides of a pair
are measured in turn, and the result is the median ratio, since other load slows both sides.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np

import hcviz
from hcviz import Problem
from hcviz.algorithms import generator, get
from hcviz.algorithms.ddt.chain import advance

CHAINS = 2


def problems(quick: bool) -> dict[str, Problem]:
    """Return the two data sets, and planted trees with random walks down a balanced tree."""
    folder = Path(os.environ.get("HCVIZ_DATA", "../shared/data"))
    found = {
        name: Problem(features=np.loadtxt(folder / "ddt" / f"{name}.dat"))
        for name in ("zoo", "iris")
    }
    for n in () if quick else (600, 2000):
        found[f"n = {n}"] = Problem(features=planted(n))
    return found


def planted(n: int, dims: int = 10, seed: int = 0) -> np.ndarray:
    """Return features that diffuse down a balanced tree, float64 (n, dims)."""
    rng = np.random.default_rng(seed)
    place = np.zeros((1, dims))
    while len(place) < n:
        place = np.repeat(place, 2, axis=0)
        place += rng.normal(size=place.shape) / np.sqrt(len(place))
    return place[:n]


def bare_rate(problem: Problem, seconds: float) -> float:
    """Return proposals per CPU second of the kernel with sweeps, in as many threads."""
    method = get("ddt")
    assert method.recorded_run is not None
    params = method.parameters(chains=CHAINS)
    chains = [
        each.chain for each in method.recorded_run(problem, params, generator(0), None).chains
    ]
    n = problem.n_items
    count = 4 * n

    def go(chain) -> int:  # type: ignore[no-untyped-def]
        made, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            advance(chain.w, chain.rng, count, n, chain.learn, chain.scale, chain.common)
            made += count
        return made

    began = time.process_time()
    with ThreadPoolExecutor(CHAINS) as threads:
        made = sum(threads.map(go, chains))
    return made / (time.process_time() - began)


def sample_rate(problem: Problem, seconds: float) -> float:
    """Return proposals per CPU second of `hcviz.sample`, with its start and its posterior."""
    began = time.process_time()
    posterior = hcviz.sample(problem, seconds=seconds, chains=CHAINS)
    return posterior.proposals / (time.process_time() - began)


def run_rate(problem: Problem, steps: int, every: int) -> float:
    """Return proposals per CPU second of `hcviz.run`."""
    began = time.process_time()
    for _ in hcviz.run("ddt", problem, steps=steps, every=every):
        pass
    return steps / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    found = problems(quick)
    for problem in found.values():  # compile first
        sample_rate(problem, 0.1)
        bare_rate(problem, 0.1)
    repeats, seconds = (3, 1.5) if quick else (5, 3.0)
    print(f"load {os.getloadavg()[0]:.1f}; proposals a CPU second, {CHAINS} chains in threads")
    print("problem       bare kernel   hcviz.sample  median ratio")
    for name, problem in found.items():
        pairs = [
            (bare_rate(problem, seconds), sample_rate(problem, seconds)) for _ in range(repeats)
        ]
        bare, whole = (median(side) for side in zip(*pairs, strict=True))
        ratio = median(b / a for a, b in pairs)
        print(f"{name:12} {bare:>12,.0f} {whole:>14,.0f} {ratio:>13.0%}")
    pairs = [
        (run_rate(found["zoo"], 100_000, 20_000), run_rate(found["zoo"], 100_000, 0))
        for _ in range(2 * repeats)
    ]
    slow, fast = (median(side) for side in zip(*pairs, strict=True))
    print("\nhcviz.run on Zoo: every=20000, default every, median ratio")
    print(f"{slow:>12,.0f} {fast:>12,.0f} {median(b / a for a, b in pairs):>8.0%}")


if __name__ == "__main__":
    main()
