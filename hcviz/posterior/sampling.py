"""``sample_until_settled``: run independent chains and stop at fixed numbers of proposals."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from hcviz.core.progress import ProgressBar
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree_info import TreeInfo
from hcviz.posterior.chain_comparison import (
    LIMIT,
    ChainComparison,
    accuracy_text,
    compare_chains,
)
from hcviz.posterior.clades import CladeTable
from hcviz.posterior.draws import Draws, Sampler
from hcviz.posterior.summary import Posterior

#: The first check is after this number of draws of each chain; the number grows by this factor.
FIRST_CHECK, CHECK_GROWTH = 128, 2.0**0.5


def sample_until_settled(
    samplers: Sequence[Sampler],
    n_items: int,
    *,
    seconds: float,
    proposals: int | None = None,
    until_settled: bool = True,
    thin: int | None = None,
    progress: ProgressBar | None = None,
    labels: Sequence[str] | None = None,
    info: TreeInfo | None = None,
) -> Posterior:
    """Run several chains in threads until their clade supports agree.

    Parameters
    ----------
    samplers : sequence of Sampler
        Independent chains, each at its first tree.
    n_items : int
        Number of items.
    seconds : float
        Budget of wall time.
    proposals : int or None
        Largest number of proposals of each chain.
    until_settled : bool
        False: make exactly ``proposals`` proposals.
    thin : int or None
        Proposals between two draws at the start; see :class:`Draws`.
    progress : ProgressBar or None
        It shows the proposals of a chain, and how many it takes until the supports have settled.
    labels : sequence of str or None
        The names of the items.
    info : TreeInfo or None
        How the trees are made.

    Returns
    -------
    Posterior
        The posterior of each chain's draws after its burn-in.

    Notes
    -----
    The chains are compared after 128 draws, and each time their number has grown by the factor
    1.4. So the result does not depend on the clock or the threads, unless ``seconds`` ends the run.
    """
    began = time.perf_counter()
    draws = [Draws(n_items, thin) for _ in samplers]
    for sampler, each in zip(samplers, draws, strict=True):
        sampler.record(each)
    keys = CladeTable(n_items).keys
    stopped = False

    def stop() -> bool:
        return stopped or time.perf_counter() - began >= seconds

    next_check = float(FIRST_CHECK * draws[0].thin)
    found: ChainComparison | None = None
    line = _Progress(progress, draws[0], proposals, until_settled)
    threads = ThreadPoolExecutor(max(1, min(len(samplers), _cores())), "hcviz-sample")
    try:
        while True:
            target = proposals or 0
            if until_settled:
                target = min(round(next_check), proposals or round(next_check))
            _advance(threads, samplers, draws, target, stop, line)
            last = stop() or target == proposals
            if until_settled and not last:
                found = compare_chains([each.clade_codes(keys) for each in draws])
                line.write(found)
            if last or (found is not None and found.settled):
                break
            next_check *= CHECK_GROWTH
    finally:
        stopped = True  # ends the threads, also after an interrupt by the user
        threads.shutdown()
        line.close()
    coarsest = max(each.thin for each in draws)
    for each in draws:
        while each.thin < coarsest:
            each.thin_out()
    counted = [
        each for each in draws if each.n_proposals
    ] or draws  # leave out chains with only a start tree
    comparison = compare_chains([each.clade_codes(keys) for each in counted])
    return Posterior.from_draws(counted, comparison, labels, info)


def _advance(
    threads: ThreadPoolExecutor,
    samplers: Sequence[Sampler],
    draws: Sequence[Draws],
    target: int,
    stop: Callable[[], bool],
    line: _Progress,
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
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class SnapshotSampler:
    """A :class:`Sampler` for a method that yields only snapshots; each counts as a proposal.

    ``run(start)`` starts a run from a snapshot, or from None.
    """

    def __init__(self, run: Callable[[Snapshot | None], Iterator[Snapshot | None]]) -> None:
        self._run = run
        self._stream = run(None)
        self._last = self._next()

    def _next(self) -> Snapshot:
        """Return the next snapshot; after the end of a run, start one from its last snapshot."""
        for snapshot in self._stream:
            if snapshot is not None:
                return snapshot
        self._stream = self._run(self._last)
        first = next(each for each in self._stream if each is not None)  # repeats the last one
        return next((each for each in self._stream if each is not None), first)

    def advance(self, draws: Draws, proposals: int, stop: Callable[[], bool]) -> None:
        """Read snapshots until ``draws.n_proposals`` is ``proposals``."""
        while draws.n_proposals < proposals and not stop():
            if draws.is_full:
                draws.thin_out()
            self._last = self._next()
            draws.n_proposals += 1
            if draws.n_proposals % draws.thin == 0:
                self.record(draws)

    def record(self, draws: Draws) -> None:
        """Copy the tree of the last snapshot into ``draws``."""
        draws.append(self._last.tree, self._last.metrics.get("log_joint", float("nan")))


class _Progress:
    """Proposals of a chain, and an estimate of all of them."""

    def __init__(
        self, bar: ProgressBar | None, draws: Draws, proposals: int | None, until_settled: bool
    ) -> None:
        self._bar, self._draws, self._limit = bar, draws, proposals
        self._total = 0 if until_settled or proposals is None else proposals
        self._found: ChainComparison | None = None

    @property
    def is_open(self) -> bool:
        return self._bar is not None

    def write(self, found: ChainComparison | None = None) -> None:
        if found is not None:
            self._found = found
            self._total = proposals_until_settled(self._draws.n_proposals, found, self._limit)
        if self._bar is not None:
            self._bar.update(self._draws.n_proposals, self._total, accuracy_text(self._found))

    def close(self) -> None:
        if self._bar is not None:
            self.write()
            self._bar.close()


def proposals_until_settled(done: int, found: ChainComparison, limit: int | None = None) -> int:
    """Estimate the proposals of a chain until supports have settled: errors shrink as 1/sqrt(n).

    0 if no accuracy is known yet; ``limit`` is the largest number of proposals.
    """
    if not found.accuracy >= 0.0:
        return 0
    total = round(done * max(found.accuracy / LIMIT, 1.0) ** 2)
    return total if limit is None else min(total, limit)
