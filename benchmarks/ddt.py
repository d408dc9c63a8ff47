"""Speed and mixing of the diffusion tree sampler on one core, and its time to the posterior.

    python -m benchmarks.ddt            # all of it, about three minutes
    python -m benchmarks.ddt --quick    # smaller sizes, a few seconds
    HCVIZ_DATA=... names the folder with ddt/iris.dat and ddt/zoo.dat
    --rival "NAME=COMMAND"              # once or more: another program to time on both files

COMMAND runs without a shell, on iris.dat and on zoo.dat. In it, {data} is replaced by the file, {n}
and {d} by its numbers of rows and columns, {sigma} by the parameter of the diffusion, and {level}
by the log joint that the sampler must reach. The benchmark prints the command's CPU seconds and its
last line of output.

All times are CPU seconds. Compile time is reported separately. "Plain Python" is the same code
without the compiler.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from itertools import permutations
from pathlib import Path
from statistics import mean

import numpy as np
from sklearn.datasets import load_iris

import hcviz
from hcviz import Problem, Tree
from hcviz.algorithms import ddt
from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import integrated, log_joint, put_scale, put_tree, refresh
from hcviz.algorithms.ddt.start import put_first, tree_of
from hcviz.algorithms.ddt.starttrees import draw_prior_tree
from hcviz.algorithms.ddt.sweep import sweep
from hcviz.algorithms.ddt.times import draw_locations
from hcviz.algorithms.ddt.work import ACCEPTED, GIVEN, LEFT, PARENT, RIGHT, H, U, Work, allocate
from hcviz.posterior import Posterior, ess_bulk, summary
from hcviz.posterior.kernels import clade_codes

NEVER = 10**12
DIMS = 10
ONES = np.ones(DIMS)


def draw(n: int, triplets: int, seed: int = 0) -> tuple[Work, np.random.Generator]:
    """Return a stationary chain: tree, times and data from the model with c = sigma = 1."""
    rng = np.random.default_rng(seed)
    none = np.empty((0, 3), np.int32)
    w = allocate(n, np.zeros((n, DIMS)), none, np.empty(0), 0.0, None)
    put_scale(w, 1.0, np.ones(DIMS))
    draw_prior_tree(w, rng)
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
    """Return ``count`` random triplets of a binary tree, int32 (count, 3)."""
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
    print(
        f"\nProposals (slides and regrafts) a second, D = {DIMS}, stationary start (best of 5); "
        "one sweep of times"
    )
    print(
        "     n   no triplets  100 triplets  share  accepted  mean depth  sweep, ms  steps as run"
    )
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
            f"{n:>6} {found[0]:>13,.0f} {found[1]:>13,.0f} {found[1] / found[0]:>6.0%} "
            f"{extra[0]:>8.2f}% {extra[1]:>11.1f} {extra[2]:>10.3f} {extra[3]:>13,.0f}"
        )


def several_chains(steps: int) -> None:
    """Time the method in threads, as on the page: Iris, with learned c and sigma."""
    problem = Problem(features=load_iris().data)
    print(f"\nSeveral chains (threads) of {steps:,} steps each on Iris, a tree every 150: seconds")
    print("chains    wall     CPU   steps a wall second, all chains")
    for chains in (1, 2, 4, 8):
        began, spent = time.perf_counter(), time.process_time()
        for _ in hcviz.run("ddt", problem, steps=steps, every=150, chains=chains):
            pass
        took, spent = time.perf_counter() - began, time.process_time() - spent
        print(f"{chains:>6} {took:>7.2f} {spent:>7.2f} {chains * steps / took:>14,.0f}")


#: Data set, sigma, and posterior mean of the log joint less two standard deviations.
LEVELS = (("iris", 1 / 3, -479 - 2 * 17.5), ("zoo", 1.0, -1274 - 2 * 8.5))


def rivals(folder: Path, given: list[str]) -> None:
    """Time other programs on the same files, in CPU seconds of their processes."""
    for each in given:
        name, _, command = each.partition("=")
        for data, sigma, level in LEVELS:
            path = folder / f"{data}.dat"
            n, d = np.loadtxt(path).shape
            filled = {"data": path, "n": n, "d": d, "sigma": sigma, "level": level}
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            found = subprocess.run(
                [part.format(**filled) for part in shlex.split(command)],
                capture_output=True,
                text=True,
                check=False,
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            output = (found.stdout.strip().splitlines() or [""])[-1][:80]
            failure = "" if found.returncode == 0 else f" (exit code {found.returncode})"
            print(f"{name}, {data}: {spent:.3f} CPU s{failure}  {output}")


def to_posterior(folder: Path, seconds: float) -> None:
    print("\nFrom a start to the posterior mean less two standard deviations, CPU ms (5 seeds),")
    print("with or without locations given in turn (gibbs); then effective draws (bulk) of the log")
    print("joint and of the least certain clade per CPU second")
    for name, sigma, level in LEVELS:
        data = np.loadtxt(folder / f"{name}.dat")
        for latents in ("integrated", "gibbs"):
            for init in ("average", "random"):
                reached, joint, clade = [], [], []
                for seed in range(5):
                    rng = np.random.default_rng(seed)
                    w, spent = started(data, sigma, init, latents, rng)
                    spent += until(w, rng, level, 10 * seconds)
                    reached.append(1000 * spent)
                    a, b = mixing(w, rng, seconds)
                    joint.append(a)
                    clade.append(b)
                shown = " ".join(f"{value:7.1f}" for value in sorted(reached))
                print(
                    f"{name:>5} {latents:>10} {init:>8}: {shown} | log joint {mean(joint):6.0f} /s"
                    f" | clade {mean(clade):6.1f} /s"
                )


def started(
    data: np.ndarray, sigma: float, init: str, latents: str, rng: np.random.Generator
) -> tuple[Work, float]:
    """Return a chain at its start with c = 1, and the CPU seconds for this."""
    none = np.empty((0, 3), np.int32)
    w = allocate(len(data), data, none, np.empty(0), 0.0, None)
    put_scale(w, 1.0, np.full(data.shape[1], sigma))
    spent = cpu(put_first, w, rng, init)
    if latents == "gibbs":
        w.tally[GIVEN] = 1
        spent += cpu(draw_locations, w, rng)
    return w, spent


def until(w: Work, rng: np.random.Generator, level: float, limit: float) -> float:
    """Return the CPU seconds until the log joint reaches ``level``, or ``limit``."""
    spent = 0.0
    while integrated(w) < level and spent < limit:
        spent += cpu(advance, w, rng, 100, len(w.data), False, np.empty(0), False)
    return spent


def mixing(w: Work, rng: np.random.Generator, seconds: float) -> tuple[float, float]:
    """Return effective draws per CPU second of the log joint and of the least certain clade.

    There is a draw after every n proposals and a sweep of the times. The first quarter is left out.
    """
    n = len(w.data)
    joints, sizes, spent = [], [], 0.0
    while spent < seconds or len(joints) < 40:
        spent += cpu(advance, w, rng, n, n, False, np.empty(0), False)
        joints.append(integrated(w))
        sizes.append(clades(w))
    late = len(joints) // 4
    return (
        ess_bulk(joints[late:]) / (0.75 * spent),
        ess_bulk(least_certain(sizes[late:])) / (0.75 * spent),
    )


def growth(sizes: list[int], seconds: float) -> None:
    print(f"\nEffective draws a CPU second, D = {DIMS}, stationary start, data of the model")
    print("     n   log joint   least certain clade   log joint, gibbs   clade, gibbs")
    for n in sizes:
        found = []
        for latents in ("integrated", "gibbs"):
            w, rng = draw(n, 0)
            if latents == "gibbs":
                w.tally[GIVEN] = 1
                draw_locations(w, rng)
            found += mixing(w, rng, seconds)
        print(f"{n:>6} {found[0]:>11.1f} {found[1]:>21.2f} {found[2]:>18.1f} {found[3]:>14.2f}")


def repairs() -> None:
    """Print the log density after 0, 100 and 1,000 proposals for both repairs on Iris."""
    problem = Problem(features=load_iris().data)
    noise = 0.01  # fixed, since two flowers are equal
    settled = list(hcviz.run("ddt", problem, steps=30_000, every=30_000, leaf_noise=noise))[-1]
    print(
        f"\nRepair of Iris (log joint {settled.metrics['log_joint']:.0f}) under one new triplet: "
        "mean log joint"
    )
    print("              0 proposals      100    1,000")
    for repair in ("guided", "rebuild"):
        rng = np.random.default_rng(0)
        found = np.zeros(3)
        for _ in range(20):
            row = rng.choice(150, (1, 3), replace=False)
            while settled.tree.satisfies(row)[0]:
                row = rng.choice(150, (1, 3), replace=False)
            run = hcviz.run(
                "ddt", problem.with_triplets(row), start=settled, repair=repair, steps=1000,
                every=100, leaf_noise=noise,
            )  # fmt: skip
            joints = [snapshot.metrics["log_joint"] for snapshot in run]
            found += [joints[0], joints[1], joints[10]]
        print(f"{repair:>10} {found[0] / 20:>14.0f} {found[1] / 20:>8.0f} {found[2] / 20:>8.0f}")


def summaries(sizes: list[int]) -> None:
    """Time the summaries of 200 trees (wall ms, best of 5)."""
    summary.warm()
    print("\nSummaries of 200 trees, ms: one tree added; 5,000 triplets; distance variance of 100")
    print("subsets of 10, induced and whole; consensus; most credible tree; verdict; depth moments")
    for n in sizes:
        w, rng = draw(n, 0)
        made = Posterior(n, max_trees=200)
        added = []
        for _ in range(200):
            advance(w, rng, n, n, False, ONES, False)
            tree = tree_of(w)
            added.append(wall(made.add, tree, log_joint(w), times=1))
        rows = np.array([rng.choice(n, 3, replace=False) for _ in range(5000)])
        subsets = np.array([rng.choice(n, 10, replace=False) for _ in range(100)])
        depths = f"{wall(made.depth_moments, times=1):.0f}" if n <= 2000 else "-"
        print(
            f"{n:>6}: {np.median(added):.3f}; {wall(made.triplet_shares, rows):.1f}; "
            f"{wall(made.distance_variance, subsets):.1f}, "
            f"{wall(made.distance_variance, subsets, False):.1f}; {wall(made.consensus):.1f}; "
            f"{wall(made.max_credibility):.1f}; {wall(made.verdict):.1f}; {depths}"
        )


def wall(call: Callable[..., object], *arguments: object, times: int = 5) -> float:
    found = []
    for _ in range(times):
        began = time.perf_counter()
        call(*arguments)
        found.append(1000 * (time.perf_counter() - began))
    return min(found)


def clades(w: Work) -> set[int]:
    """Return a hash of each clade: the exclusive or of its items' random numbers."""
    tree = tree_of(w)
    codes = clade_codes(tree.parent.copy(), tree.n_leaves, _keys(tree.n_leaves))
    return set(codes[tree.n_leaves : -1, 0].tolist())


@cache
def _keys(n: int) -> np.ndarray:
    return np.random.default_rng(12345).integers(0, 2**64, (n, 2), dtype=np.uint64)


def least_certain(samples: list[set[int]]) -> list[float]:
    """Return the indicator of the clade whose frequency is nearest to 1/2."""
    counts: dict[int, int] = {}
    for sample in samples:
        for clade in sample:
            counts[clade] = counts.get(clade, 0) + 1
    target = min(counts, key=lambda clade: abs(counts[clade] / len(samples) - 0.5))
    return [float(target in sample) for sample in samples]


def plain_python() -> None:
    """Time the same moves without the compiler, in a new process."""
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
    parser.add_argument("--rival", action="append", default=[], metavar="NAME=COMMAND")
    chosen = parser.parse_args()
    quick = chosen.quick
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"Compile (or load from cache): {cpu(ddt.warm):.2f} CPU s")
    rates([50, 150, 600] if quick else [50, 150, 600, 2000, 10_000], 20_000 if quick else 100_000)
    if not quick:
        plain_python()
    shared = os.environ.get("HCVIZ_DATA") or Path(__file__).parents[2] / "shared" / "data"
    folder = Path(shared) / "ddt"
    if folder.is_dir():
        to_posterior(folder, 0.2 if quick else 2.0)
        rivals(folder, chosen.rival)
    else:
        print(f"\n{folder} has no iris.dat and zoo.dat: set HCVIZ_DATA to time the posterior.")
    several_chains(20_000 if quick else 200_000)
    growth([50, 150] if quick else [50, 150, 600, 2000], 0.3 if quick else 5.0)
    repairs()
    summaries([150] if quick else [150, 2000, 10_000])


if __name__ == "__main__":
    main()
