"""Methods that behave badly, or very well, for the tests of the runner. Workers import this too."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import param

from hcviz.algorithms.base import Algorithm
from hcviz.core.errors import HcvizError, InconsistentTriplets, InvalidData
from hcviz.core.snapshot import Snapshot
from tests.trees import caterpillar


class Parameters(param.Parameterized):
    steps = param.Integer(10, bounds=(1, None), doc="How many snapshots.")
    rest = param.Number(0.0, bounds=(0, None), doc="Seconds to sleep before each.")
    tally = param.String("", doc="A file that grows by a byte with each, wherever it is made.")
    halt = param.Integer(0, bounds=(0, None), doc="After so many it is stuck (0: never) ...")
    go = param.String("", doc="... until this file is there.")


def snapshot(problem: Any, step: int, total: int, rng: Any) -> Snapshot:
    metrics = {"pid": os.getpid(), "draw": float(rng.random())}
    return Snapshot(caterpillar(problem.n_items), step, total, metrics)


def counting(problem: Any, params: Any, rng: Any, start: Any) -> Iterator[Snapshot | None]:
    """Snapshots as fast as they can be made, then the end."""
    for step in range(1, params.steps + 1):
        time.sleep(params.rest)
        if params.tally:
            with open(params.tally, "ab") as file:
                file.write(b".")
        yield snapshot(problem, step, params.steps, rng)
        while step == params.halt and not os.path.exists(params.go):
            time.sleep(0.005)


def spinning(problem: Any, params: Any, rng: Any, start: Any) -> Iterator[Snapshot | None]:
    """One snapshot, then work without an end, in pieces of a few milliseconds."""
    yield snapshot(problem, 0, 1, rng)
    a = np.ones(200_000)
    while True:
        np.sort(a)
        yield None


def stubborn(problem: Any, params: Any, rng: Any, start: Any) -> Iterator[Snapshot | None]:
    """One snapshot, then one call without an end."""
    yield snapshot(problem, 0, 1, rng)
    while True:
        sum(range(1_000_000))


def refusing(problem: Any, params: Any, rng: Any, start: Any) -> Iterator[Snapshot | None]:
    yield snapshot(problem, 1, 2, rng)
    raise InvalidData("Item 3 is odd.", "Leave it out.")


class Particular(HcvizError):
    """A refusal that cannot be made again from its sentence: no unpickling."""

    def __init__(self, item: int, *, why: str) -> None:
        super().__init__(f"Item {item} is {why}.", "Leave it out.")


def contradicting(problem: Any, params: Any, rng: Any, start: Any) -> Iterator[Snapshot | None]:
    yield snapshot(problem, 1, 2, rng)
    raise InconsistentTriplets("No tree has these.", "Drop one.", [1, 4, 6])


def particular(problem: Any, params: Any, rng: Any, start: Any) -> Iterator[Snapshot | None]:
    yield snapshot(problem, 1, 2, rng)
    raise Particular(3, why="odd")


def breaking(problem: Any, params: Any, rng: Any, start: Any) -> Iterator[Snapshot | None]:
    yield snapshot(problem, 1, 2, rng)
    raise ZeroDivisionError("a fault of ours")


def printing(problem: Any, params: Any, rng: Any, start: Any) -> Iterator[Snapshot | None]:
    """What a library prints must not reach the pipe, whichever way it is printed."""
    print("noise")
    os.write(1, b"more noise\n")
    yield snapshot(problem, 1, 1, rng)


class Awaited:
    """Becomes ``what`` where it is unpickled, as soon as the file ``go`` is there."""

    def __init__(self, what: Any, go: str) -> None:
        self.what, self.go = what, go

    def __reduce__(self) -> Any:
        return arrived, (self.what, self.go)


def arrived(what: Any, go: str) -> Any:
    while not os.path.exists(go):
        time.sleep(0.01)
    return what


class Slow:
    """A similarity that takes its time, so that something is under way when it is looked for."""

    n_items = 2000

    def similarity(self, rows: Any, cols: Any) -> Any:
        time.sleep(0.05)
        return np.cos(np.subtract.outer(rows, cols).astype(float))


RUNS = {
    "counting": counting,
    "spinning": spinning,
    "stubborn": stubborn,
    "refusing": refusing,
    "breaking": breaking,
    "contradicting": contradicting,
    "particular": particular,
    "printing": printing,
}

ALGORITHMS = tuple(
    Algorithm(f"{name}-{where}", name, "", run, ("items",), "ignored", where, Parameters)
    for name, run in RUNS.items()
    for where in ("thread", "process")
) + tuple(
    # Samplers run in the server's shared workers.
    Algorithm(
        f"{name}-shared", name, "", run, ("items",), "ignored", "thread", Parameters, samples=True
    )
    for name, run in RUNS.items()
)
