"""The diffusion tree sampler on one core: proposals a second, time to the posterior, mixing.

    python -m benchmarks.ddt            # all of it, about two minutes
    python -m benchmarks.ddt --quick    # smaller sizes, a few seconds
    HCVIZ_DATA=... names the folder with ddt/iris.dat and ddt/zoo.dat

CPU seconds; compile time is reported apart. "Plain Python" is the same code with the compiler off.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np

from hcviz import Tree
from hcviz.algorithms import ddt
from hcviz.algorithms.ddt.chain import advance, sweep
from hcviz.algorithms.ddt.density import log_joint, put_scale, put_tree, refresh
from hcviz.algorithms.ddt.seeds import simulate
from hcviz.algorithms.ddt.start import put_first, tree_of
from hcviz.algorithms.ddt.work import ACCEPTED, LEFT, PARENT, RIGHT, H, U, Work, allocate

NEVER = 10**12
DIMS = 10
ONES = np.ones(DIMS)


def draw(n: int, triplets: int, seed: int = 0) -> tuple[Work, np.random.Generator]:
    """A chain in its stationary state: tree, times and data from the model, c = sigma = 1."""
    rng = np.random.default_rng(seed)
    none = np.empty((0, 3), np.int32)
    w = allocate(n, np.zeros((n, DIMS)), none, np.empty(0), 0.0, None)
    put_scale(w, 1.0, np.ones(DIMS))
    simulate(w, rng)
    refresh(w)
    parent, h = w.node[:, PARENT], w.time[:, H]
    place = np.zeros((2 * n - 1, DIMS))
    for v in [*(n + np.argsort(w.time[n:, U])), *range(n)]:  # from the root down
        above = parent[v]
        begin, origin = (h[above], place[above]) if above >= 0 else (1.0, np.zeros(DIMS))
        place[v] = origin + rng.normal(size=DIMS) * np.sqrt(begin - h[v])
    rows = satisfied(tree_of(w), triplets, rng)
    full = allocate(n, place[:n], rows, np.ones(len(rows)), 0.0, None)
    put_scale(full, 1.0, np.ones(DIMS))
    put_tree(full, parent.copy(), w.node[:, LEFT : RIGHT + 1].copy(), w.time[:, U].copy())
    return full, rng


def satisfied(tree: Tree, count: int, rng: np.random.Generator) -> np.ndarray:
    """``count`` random triplets of a binary tree, int32 (count, 3)."""
    rows = []
    while len(rows) < count:
        three = rng.choice(tree.n_leaves, 3, replace=False)
        rows += [row for row in permutations(three) if row[0] < row[1] and held(tree, row)]
    return np.array(rows, np.int32).reshape(-1, 3)


def held(tree: Tree, row: tuple[int, ...]) -> bool:
    return bool(tree.satisfies([row])[0])


def cpu(call: Callable[..., object], *arguments: object) -> float:
    began = time.process_time()
    call(*arguments)
    return time.process_time() - began


def rates(sizes: list[int], proposals: int) -> None:
    print(f"\nSPR proposals a second, D = {DIMS}, stationary start (best of 5); one sweep of times")
    print("     n   no triplets  100 triplets  accepted  mean depth  sweep, ms  steps as run")
    for n in sizes:
        found, extra = [], []
        for triplets in (0, 100):
            w, rng = draw(n, triplets)
            advance(w, rng, proposals // 10, NEVER, False, np.ones(DIMS), False)
            before = w.tally[ACCEPTED]
            args = (w, rng, proposals, NEVER, False, ONES, False)
            took = min(cpu(advance, *args) for _ in range(5))
            found.append(proposals / took)
            if triplets == 0:
                accepted = (w.tally[ACCEPTED] - before) / (5 * proposals)
                sweep(w, rng, True, ONES, False)
                swept = min(cpu(sweep, w, rng, True, ONES, False) for _ in range(5))
                run = cpu(advance, w, rng, 5 * n, n, True, ONES, False)
                depth = float(tree_of(w).depth[:n].mean())
                extra = [100 * accepted, depth, 1000 * swept, 5 * n / run]
        print(
            f"{n:>6} {found[0]:>13,.0f} {found[1]:>13,.0f} {extra[0]:>8.2f}% {extra[1]:>11.1f} "
            f"{extra[2]:>10.3f} {extra[3]:>13,.0f}"
        )


def effective(values: list[float]) -> float:
    """Effective number of draws by the initial positive sequence (Geyer 1992)."""
    x = np.asarray(values) - np.mean(values)
    n = x.size
    if n < 4 or not x.any():
        return 0.0
    spectrum = np.fft.rfft(x, 2 * n)
    rho = np.fft.irfft(spectrum * np.conj(spectrum))[:n]
    rho /= rho[0]
    total = 1.0
    for k in range(1, n - 1, 2):
        pair = rho[k] + rho[k + 1]
        if pair < 0:
            break
        total += 2 * pair
    return n / total


def to_posterior(folder: Path, seconds: float) -> None:
    print("\nFrom a start to the posterior mean less two standard deviations, CPU ms (4 seeds);")
    print("then effective draws of log joint and of the least certain clade per CPU second")
    for name, sigma, level in (("iris", 1 / 3, -479 - 2 * 17.5), ("zoo", 1.0, -1274 - 2 * 8.5)):
        data = np.loadtxt(folder / f"{name}.dat")
        n, dims = data.shape
        for init in ("average", "random"):
            reached, joint, clade = [], [], []
            for seed in range(4):
                rng = np.random.default_rng(seed)
                none = np.empty((0, 3), np.int32)
                w = allocate(n, data, none, np.empty(0), 0.0, None)
                put_scale(w, 1.0, np.full(dims, sigma))
                spent = cpu(put_first, w, rng, init)
                while log_joint(w) < level and spent < 10 * seconds:
                    spent += cpu(advance, w, rng, 100, n, False, ONES, False)
                reached.append(1000 * spent)
                values, sizes, spent = [], [], 0.0
                while spent < seconds:
                    spent += cpu(advance, w, rng, n, n, False, ONES, False)
                    values.append(log_joint(w))
                    sizes.append(clades(w))
                half = len(values) // 4
                joint.append(effective(values[half:]) / (0.75 * spent))
                clade.append(least_certain(sizes[half:]) / (0.75 * spent))
            shown = " ".join(f"{value:7.1f}" for value in reached)
            print(
                f"{name:>5} {init:>8}: {shown} | log joint {np.mean(joint):7.0f} /s"
                f" | clade {np.mean(clade):6.0f} /s"
            )


def clades(w: Work) -> set[int]:
    """A hash of the leaves of each clade: the exclusive or of random numbers, one an item."""
    code = _codes(w.node.shape[0])
    tree = tree_of(w)
    n = tree.n_leaves
    found = np.zeros(tree.n_nodes, np.uint64)
    found[:n] = code[:n]
    for v in range(tree.n_nodes - 1):
        found[tree.parent[v]] ^= found[v]
    return set(found[n:-1].tolist())


def _codes(m: int) -> np.ndarray:
    return np.random.default_rng(12345).integers(0, 2**63, m, dtype=np.uint64)


def least_certain(samples: list[set[int]]) -> float:
    """Effective draws of the indicator of the clade whose frequency is nearest to a half."""
    counts: dict[int, int] = {}
    for sample in samples:
        for clade in sample:
            counts[clade] = counts.get(clade, 0) + 1
    target = min(counts, key=lambda clade: abs(counts[clade] / len(samples) - 0.5))
    return effective([float(target in sample) for sample in samples])


def plain_python() -> None:
    """The same moves without the compiler, in a process of its own."""
    code = (
        "import time\nfrom benchmarks.ddt import draw, advance, NEVER, ONES\n"
        "w, rng = draw(150, 0)\nt = time.process_time()\n"
        "advance(w, rng, 2000, NEVER, False, ONES, False)\n"
        "print(round(2000 / (time.process_time() - t)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"\nPlain Python, n = 150: {int(found.stdout):,} proposals a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"Compile (or load from cache): {cpu(ddt.warm):.2f} CPU s")
    rates([50, 150, 600] if quick else [50, 150, 600, 2000, 10_000], 20_000 if quick else 100_000)
    if not quick:
        plain_python()
    shared = os.environ.get("HCVIZ_DATA") or Path(__file__).parents[2] / "shared" / "data"
    folder = Path(shared) / "ddt"
    if folder.is_dir():
        to_posterior(folder, 0.2 if quick else 2.0)
    else:
        print(f"\nNo iris.dat and zoo.dat at {folder}: set HCVIZ_DATA for the posterior's part.")


if __name__ == "__main__":
    main()
