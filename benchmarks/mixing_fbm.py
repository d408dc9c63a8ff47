"""Effective draws per CPU second of hcviz and of fbm, Neal's sampler, from the same posterior.

    FBM=.../bin-fbm python -m benchmarks.mixing_fbm            # about three minutes
    FBM=.../bin-fbm python -m benchmarks.mixing_fbm --seconds 3
    HCVIZ_DATA=... names the folder with ddt/iris.dat and ddt/zoo.dat

``FBM`` is the folder with the compiled programs of github.com/radfordneal/fbm. Both samplers have
the same data, c = 1, a fixed sigma, no leaf noise, and two chains. The chains of hcviz start from
average linkage and from a random tree. Those of fbm start from random trees and use the moves that
Neal recommends, ``slice-positions met-terminals``.

Effective draws are those of both chains without their first quarter (see
:mod:`benchmarks.mixing`), for clades with support between .1 and .9: minimum, lower tenth, median.
"Apart" is the 95 % quantile of differences between supports of the two programs, over clades with
support above .05. It is small if both draw from the same posterior.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.mixing import FIXED, Record, difference, effective
from hcviz import Problem
from hcviz.algorithms import ddt

#: Rounds of fbm's two moves between two draws, and the number of draws that measure its speed.
ROUNDS, FIRST = 2, 50


class Fbm:
    """One chain of fbm, in its own folder, with the attributes of a :class:`Record`."""

    def __init__(self, data: Path, sigma: float, seed: int, folder: str) -> None:
        self.folder = folder
        self.n, width = np.loadtxt(data).shape
        self.keys = np.random.default_rng(12345).integers(0, 2**63, 2 * self.n - 1)
        self._call("dft-spec", "0", str(width), "/", str(sigma), "-", "1")
        self._call("data-spec", "0", str(width), "/", str(data), ".")
        self._call("rand-seed", str(seed))
        self._call("mc-spec", "repeat", str(ROUNDS), "slice-positions", "met-terminals")
        self.clades: list[NDArray[np.int64]] = []
        self.joints: list[float] = []
        self.spent: list[float] = []

    def _call(self, program: str, *words: str) -> str:
        command = [str(Path(os.environ["FBM"]) / program), *words]
        command.insert(-1 if program == "dft-display" else 1, "log")
        done = subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout

    def advance(self, seconds: float) -> None:
        """Run for about this many CPU seconds, and read all draws."""
        began = _children()
        self._call("dft-mc", str(FIRST))
        draws = max(FIRST + 1, int(FIRST * seconds / (_children() - began)))
        self._call("dft-mc", str(draws))
        took = _children() - began
        for index in range(1, draws + 1):
            shown = self._call("dft-display", "-b", "-t", str(index))
            self.clades.append(self._clades(np.array(shown.split(), float).reshape(-1, 4)))
            self.joints.append(0.0)
            self.spent.append(took * index / draws)

    def _clades(self, rows: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the keys of all clades but the root's.

        The columns are tree, node (items are numbered from 1), parent and time.
        """
        key = {k + 1: int(value) for k, value in enumerate(self.keys[: self.n])}
        inner = rows[rows[:, 1] < 0]
        key.update((int(node), 0) for node in inner[:, 1])
        below = rows[np.argsort(-rows[:, 3], kind="stable")]  # children before their parents
        for _, node, parent, _ in below.tolist():
            if parent != 0:
                key[int(parent)] ^= key[int(node)]
        return np.array([key[int(node)] for _, node, parent, _ in inner.tolist() if parent != 0])

    until = Record.until


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def quantiles(records: list) -> tuple[NDArray[np.float64], int]:
    """Return minimum, lower tenth and median of effective draws per CPU second, and the clades."""
    spent = 0.75 * sum(record.spent[-1] for record in records)
    rates = effective(records)[1] / spent
    return np.quantile(rates, [0.0, 0.1, 0.5]), rates.size


class Both:
    """The draws of both chains as one record, for :func:`difference`."""

    def __init__(self, records: list) -> None:
        self.clades = [row for record in records for row in record.clades[record.until(1.0)]]

    def until(self, share: float) -> slice:
        return slice(0, len(self.clades))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU seconds of each chain")
    given = parser.parse_args()
    folder = Path(os.environ.get("HCVIZ_DATA") or Path(__file__).parents[2] / "shared" / "data")
    ddt.warm()
    print("table       program  least  tenth  median  clades   apart")
    for name, params in FIXED.items():
        path = folder / "ddt" / f"{name.split()[0]}.dat"
        problem = Problem(features=np.loadtxt(path))
        ours = [Record(name, problem, first, int(first)) for first in (True, False)]
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            theirs = [Fbm(path, params["sigma"], 1 + k, each) for k, each in enumerate((one, two))]
            for each in (*ours, *theirs):
                each.advance(given.seconds)
        found = {}
        apart = difference([Both(ours), Both(theirs)], 1.0)
        for program, records in (("hcviz", ours), ("fbm", theirs)):
            found[program], clades = quantiles(records)
            least, tenth, median = found[program]
            print(
                f"{name:11s} {program:7s} {least:6.1f} {tenth:6.1f} {median:7.1f} {clades:7d}"
                f"   {apart:.3f}"
            )
        ratio = found["hcviz"] / found["fbm"]
        print(f"{name:11s} ratio   {ratio[0]:6.2f} {ratio[1]:6.2f} {ratio[2]:7.2f}", flush=True)


if __name__ == "__main__":
    main()
