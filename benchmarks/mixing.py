"""How fast the diffusion tree sampler mixes, with and without local regrafts and slides.

    python -m benchmarks.mixing            # all of it, about 20 minutes
    python -m benchmarks.mixing --quick    # Iris, Zoo and kitchen for a second each
    --only iris,zoo                        # these tables alone
    --slides 0,4,16                        # other numbers of slides between two regrafts
    --local 0,1                            # without local regrafts, and with them (as by default)
    HCVIZ_TABLES=... names the folder with kitchen.csv

    HCVIZ_DATA=... names the folder with ddt/iris.dat and ddt/zoo.dat

Each line is about two chains of the compiled moves and sweeps. One starts from average linkage, the
other from a random tree. They learn c, sigma and, if columns have ties, the leaf noise. The "fixed"
tables are prepared files that other programs can read, with c = 1 and a given sigma. Draws are
recorded at equal distances, and recording is not part of the time. CPU seconds are those of each
chain, on one core.

"Effective draws a CPU second" are those of both chains without their first quarter: of the log
joint, and of each clade with support between .1 and .9 (minimum, lower tenth, median). Chains that
disagree have few. "Difference" is the 95 % quantile of the difference of the chains' supports, over
clades with support above .05, after 1/8, 1/4, 1/2 and all of the time.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris

import hcviz
from benchmarks.ddt import draw as planted
from hcviz import Problem
from hcviz.algorithms import ddt, get
from hcviz.algorithms.ddt import sampler, work
from hcviz.algorithms.ddt.density import integrated, postorder
from hcviz.algorithms.ddt.running import Chain
from hcviz.algorithms.ddt.work import ACCEPTED, LEFT, PROPOSALS, RIGHT, ROOT, SCALES, SLIDES
from hcviz.core.jit import njit
from hcviz.io.tables import read_table
from hcviz.posterior import ess_bulk
from hcviz.posterior.convergence import ess_mean

#: Number of recorded draws of each chain.
DRAWS = 4000
#: Shares of the time after which the two chains are compared.
PARTS = (1 / 8, 1 / 4, 1 / 2, 1)


#: Parameters of the prepared files by name. Other programs get the same.
FIXED: dict[str, dict[str, Any]] = {
    "iris fixed": {"sigma": 1 / 3, "c": 1.0, "learn": False, "mu": "zero", "leaf_noise": 0.0},
    "zoo fixed": {"sigma": 1.0, "c": 1.0, "learn": False, "mu": "zero", "leaf_noise": 0.0},
}


def tables(seconds: float | None) -> Iterator[tuple[str, Problem, float]]:
    """Yield the name, the problem and the CPU seconds of each chain."""
    yield "iris", Problem(features=load_iris().data), seconds or 10.0
    yield "zoo", hcviz.datasets.load("zoo").problem(), seconds or 10.0
    data = os.environ.get("HCVIZ_DATA") or Path(__file__).parents[2] / "shared" / "data"
    for name in FIXED:
        path = Path(data) / "ddt" / f"{name.split()[0]}.dat"
        if path.is_file():
            yield name, Problem(features=np.loadtxt(path)), seconds or 10.0
        else:
            print(f"{name}: left out, {path} is missing (HCVIZ_DATA names its folder)")
    folder = os.environ.get("HCVIZ_TABLES")
    path = Path(folder or Path(__file__).parents[2] / "shared" / "tables") / "kitchen.csv"
    if path.is_file():
        yield "kitchen", read_table(path).problem(), seconds or 10.0
    else:
        print(f"kitchen: left out, {path} is missing (HCVIZ_TABLES names its folder)")
    for n, default in ((600, 20.0), (2000, 60.0)):
        yield f"planted {n}", Problem(features=planted(n, 0)[0].data), seconds or default


def started(name: str, problem: Problem, first: bool, seed: int, slides: int, local: bool) -> Chain:
    """Return a chain with the defaults of the public function, apart from :data:`FIXED`."""
    params = get("ddt").parameters(**FIXED.get(name, {}))
    data, _ = sampler.used_columns(problem, params.mu, params.sigma is not None)
    c, sigma, scale, noise, floor = sampler._scale(data, params, None)
    none = np.empty((0, 3), np.int32)
    w = work.allocate(len(data), data, none, np.empty(0), noise, None, floor)
    w.tally[SLIDES] = slides
    if not local:
        w.tally[SCALES] = 0
    sampler.put_scale(w, c, sigma)
    chain = Chain(w, np.random.default_rng(seed), None, params.learn, scale, False)
    sampler._begin(chain, problem, params, None, first)
    return chain


@njit
def clade_keys(node, spare, root, keys, out):
    """Compute a hash of each clade but the root's: the exclusive or of random numbers. O(n)."""
    number = postorder(node, spare, root)
    for x in range(number):
        v = spare[1, x]
        keys[v] = keys[node[v, LEFT]] ^ keys[node[v, RIGHT]]
        if x < number - 1:
            out[x] = keys[v]


class Record:
    """The draws of one chain, and its CPU seconds at each draw."""

    def __init__(
        self,
        name: str,
        problem: Problem,
        first: bool,
        seed: int,
        slides: int = work.SLIDES_EACH,
        local: bool = True,
    ) -> None:
        chain = started(name, problem, first, seed, slides, local)
        self.chain, self.n = chain, problem.n_items
        self.keys = np.random.default_rng(12345).integers(0, 2**63, 2 * self.n - 1)
        self.clades: list[NDArray[np.int64]] = []
        self.joints: list[float] = []
        self.spent: list[float] = []

    def advance(self, seconds: float) -> None:
        every, used = self.n, 0.0
        while used < seconds:
            self.chain.due = every
            began = time.process_time()
            while self.chain.busy:
                self.chain.go()
            took = time.process_time() - began
            used += took
            w = self.chain.w
            found = np.empty(self.n - 2, np.int64)
            clade_keys(w.node, w.spare, w.tally[ROOT], self.keys, found)
            self.clades.append(found)
            self.joints.append(integrated(w))
            self.spent.append(used)
            if len(self.spent) == 20:  # from now on evenly; these few are set aside
                every = max(1, round(seconds / DRAWS / used * 20)) * self.n

    def until(self, share: float) -> slice:
        """The draws of so much of the time, their first quarter left out (in CPU seconds)."""
        end = share * self.spent[-1]
        return slice(*np.searchsorted(self.spent, [end / 4, end + 1e-9]).tolist())


def supports(record: Record, share: float) -> dict[int, float]:
    """Return the support of each clade in the draws."""
    rows = record.clades[record.until(share)]
    if not rows:
        return {}
    codes, counts = np.unique(np.concatenate(rows), return_counts=True)
    return dict(zip(codes.tolist(), (counts / len(rows)).tolist(), strict=True))


def difference(records: list[Record], share: float) -> float:
    """Return the 95 % quantile of differences of supports, for mean supports above .05."""
    one, other = (supports(record, share) for record in records)
    pairs = [(one.get(key, 0.0), other.get(key, 0.0)) for key in one.keys() | other.keys()]
    gaps = [abs(a - b) for a, b in pairs if a + b > 0.1]
    return float(np.quantile(gaps, 0.95)) if gaps else 0.0


def effective(records: list[Record]) -> tuple[float, NDArray[np.float64]]:
    """Return effective draws of the log joint, and of clades with support between .1 and .9."""
    slices = [record.until(1.0) for record in records]
    length = min(len(record.spent[kept]) for record, kept in zip(records, slices, strict=True))
    joints, rows = [], []
    for record, kept in zip(records, slices, strict=True):
        # The chains have different numbers of draws. Take equally many, evenly spaced in time.
        end = len(record.spent[: kept.stop])
        chosen = np.linspace(kept.start, end - 1, length).astype(int)
        joints.append([record.joints[place] for place in chosen])
        rows.append(np.array([record.clades[place] for place in chosen]))
    codes, counts = np.unique(np.concatenate(rows), return_counts=True)
    share = counts / (2 * length)
    codes = codes[(share >= 0.1) & (share <= 0.9)]
    held = np.zeros((2, length, codes.size), bool)
    for number, row in enumerate(rows):
        place = np.searchsorted(codes, row)
        place[place == codes.size] = 0
        known = codes[place] == row if codes.size else np.zeros(row.shape, bool)
        held[number, np.nonzero(known)[0], place[known]] = True
    each = [ess_mean(held[:, :, k].astype(float)) for k in range(codes.size)]
    return ess_bulk(joints), np.array(each)


def line(name: str, problem: Problem, seconds: float, slides: int, local: bool, seed: int) -> str:
    records = []
    for first in (True, False):
        record = Record(name, problem, first, 2 * seed + first, slides, local)
        record.advance(seconds)
        records.append(record)
    spent = 0.75 * sum(record.spent[-1] for record in records)
    joint, clades = effective(records)
    rates = clades / spent
    least, tenth, median = np.quantile(rates, [0.0, 0.1, 0.5]) if rates.size else [np.nan] * 3
    made = sum(int(record.chain.w.tally[PROPOSALS]) for record in records)
    accepted = sum(int(record.chain.w.tally[ACCEPTED]) for record in records)
    rate = made / sum(record.spent[-1] for record in records)
    gaps = " ".join(f"{difference(records, part):.3f}" for part in PARTS)
    return (
        f"{name:>12} {slides:>6} {local:>5} {seconds:>7.1f} {rate:>11,.0f} {accepted / made:>8.1%} "
        f"{joint / spent:>9.1f} {least:>8.2f} {tenth:>8.2f} {median:>8.1f} {rates.size:>6}   {gaps}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--slides", default=str(work.SLIDES_EACH))
    parser.add_argument("--local", default="0,1")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    wanted = [name for name in chosen.only.split(",") if name]
    if chosen.quick and not wanted:
        wanted = ["iris", "zoo", "kitchen"]
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    ddt.warm()
    print("Load:", " ".join(f"{x:.1f}" for x in os.getloadavg()))
    print("             slides local  CPU s,              accept-  effective draws a CPU second of")
    print(
        "       table   each        a chain proposals/s   ed    log joint  "
        "clades: least, tenth, median"
    )
    for name, problem, seconds in tables(chosen.seconds or (1.0 if chosen.quick else None)):
        if wanted and name not in wanted:
            continue
        for slides in map(int, chosen.slides.split(",")):
            for local in map(int, chosen.local.split(",")):
                print(line(name, problem, seconds, slides, bool(local), chosen.seed), flush=True)


if __name__ == "__main__":
    main()
