"""``sample_until_settled``: run independent chains and stop at fixed numbers of proposals."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TextIO

from hcviz.core.snapshot import Snapshot
from hcviz.posterior.clades import CladeTable
from hcviz.posterior.draws import Draws, Sampler
from hcviz.posterior.settling import Settling, compare_chains
from hcviz.posterior.summary import Posterior

#: The first check comes after this many draws of each chain; the next after GROWTH times as many.
FIRST, GROWTH = 128, 2.0**0.5


def sample_until_settled(
    samplers: Sequence[Sampler],
    n_items: int,
    *,
    seconds: float,
    proposals: int | None = None,
    until_settled: bool = True,
    thin: int | None = None,
    progress: TextIO | None = None,
) -> Posterior:
    """Run chains side by side until their clade supports agree.

    Parameters
    ----------
    samplers : sequence of Sampler
        Independent chains at their first trees.
    n_items : int
        Number of items.
    seconds : float
        Budget of wall time.
    proposals : int or None
        Most proposals of each chain.
    until_settled : bool
        False: make exactly ``proposals``.
    thin : int or None
        Proposals between two draws at first; see :class:`Draws`.
    progress : text stream or None
        Where one line is rewritten.

    Returns
    -------
    Posterior
        Of the later half of every chain's draws.

    Notes
    -----
    Whether the chains have settled is computed after 128 draws, and again each time their number
    has grown by the factor 1.4. So the clock and the threads have no effect on the result, unless
    ``seconds`` end the run.
    """
    began = time.perf_counter()
    draws = [Draws(n_items, thin) for _ in samplers]
    for sampler, each in zip(samplers, draws, strict=True):
        sampler.record(each)
    keys = CladeTable(n_items).keys
    stopped = False

    def stop() -> bool:
        return stopped or time.perf_counter() - began >= seconds

    due = float(FIRST * draws[0].thin)
    found: Settling | None = None
    line = _Line(progress, began)
    threads = ThreadPoolExecutor(max(1, min(len(samplers), _cores())), "hcviz-sample")
    try:
        while True:
            target = min(round(due), proposals or round(due)) if until_settled else proposals or 0
            _advance(threads, samplers, draws, target, stop, line)
            last = stop() or target == proposals
            if until_settled and not last:
                found = compare_chains([each.codes(keys) for each in draws])
                line.write(found)
            if last or (found is not None and found.settled):
                break
            due *= GROWTH
    finally:
        stopped = True  # also where the user interrupts: the threads must come to an end
        threads.shutdown()
        line.close()
    coarsest = max(each.thin for each in draws)
    for each in draws:
        while each.thin < coarsest:
            each.thin_out()
    begun = [each for each in draws if each.made] or draws  # without mere start trees
    return Posterior.of_draws(begun, compare_chains([each.codes(keys) for each in begun]))


def _advance(
    threads: ThreadPoolExecutor,
    samplers: Sequence[Sampler],
    draws: Sequence[Draws],
    target: int,
    stop: Callable[[], bool],
    line: _Line,
) -> None:
    waiting = [
        threads.submit(sampler.advance, each, target, stop)
        for sampler, each in zip(samplers, draws, strict=True)
    ]
    while wait(waiting, timeout=0.5 if line.is_open else None).not_done:
        line.write()
    for each in waiting:
        each.result()


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class SnapshotSampler:
    """A :class:`Sampler` of a method that has only snapshots: each one counts as a proposal.

    ``run(start)`` starts a run, at the snapshot where the last one ended, or None.
    """

    def __init__(self, run: Callable[[Snapshot | None], Iterator[Snapshot | None]]) -> None:
        self._run = run
        self._stream = run(None)
        self._last = self._next()

    def _next(self) -> Snapshot:
        """The next snapshot; a run that has ended goes on from its last one."""
        for snapshot in self._stream:
            if snapshot is not None:
                return snapshot
        self._stream = self._run(self._last)
        first = next(each for each in self._stream if each is not None)  # the last one again
        return next((each for each in self._stream if each is not None), first)

    def advance(self, draws: Draws, proposals: int, stop: Callable[[], bool]) -> None:
        """Take snapshots until ``draws.made`` is ``proposals``."""
        while draws.made < proposals and not stop():
            if draws.full:
                draws.thin_out()
            self._last = self._next()
            draws.made += 1
            if draws.made % draws.thin == 0:
                self.record(draws)

    def record(self, draws: Draws) -> None:
        """Copy the tree of the last snapshot."""
        draws.put(self._last.tree, self._last.metrics.get("log_joint", float("nan")))


class _Line:
    """The line of progress, rewritten in place."""

    def __init__(self, stream: TextIO | None, began: float) -> None:
        self._stream, self._began = stream, began
        self._found: Settling | None = None

    @property
    def is_open(self) -> bool:
        return self._stream is not None

    def write(self, found: Settling | None = None) -> None:
        self._found = found or self._found
        if self._stream is None:
            return
        seconds = time.perf_counter() - self._began
        self._stream.write(f"\r{accuracy_text(self._found)}, {seconds:.0f} s\x1b[K")
        self._stream.flush()

    def close(self) -> None:
        if self._stream is not None:
            self._stream.write("\n")


def accuracy_text(found: Settling | None) -> str:
    """ "supports accurate to about 8 points", or that there are too few draws to say."""
    if found is None or not found.accuracy >= 0.0:
        return "too few trees yet"
    points = max(round(100.0 * found.accuracy), 1)
    return f"supports accurate to about {points} point{'s' if points > 1 else ''}"
