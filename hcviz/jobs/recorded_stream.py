"""``recorded_stream``: a sampler's run whose chains add their draws to ``Samples`` themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from hcviz.core.cores import has_cores_alone
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.samples import Samples
from hcviz.posterior.draws import Draws, Sampler, SamplerRun

#: Proposals of each chain between two snapshots, at least: about 50 ms. The chains wait
#: for each other after each block, so shorter ones cost time when the cores are shared.
BLOCK = 48_000


def recorded_stream(
    run: SamplerRun, samples: Samples, must_wait: Callable[[], bool], is_over: Callable[[], bool]
) -> Iterator[Snapshot | None]:
    """Advance the chains of a run in blocks of proposals, and yield a snapshot after each block.

    The chains make the next block while the caller works on the last snapshot. So that work takes
    none of their time if a core is free.

    Parameters
    ----------
    run : SamplerRun
        The chains at their first trees.
    samples : Samples
        Receives the draws; its ``take`` was called for each snapshot.
    must_wait : callable
        Returns True while the run must rest. Its chains then stop within about 15 ms, and None is
        yielded, again and again until it returns False.
    is_over : callable
        Is called after each block. If it returns True, this block's snapshot is the last.

    Notes
    -----
    The draws and the snapshots do not depend on the threads or the clock.
    """
    start = run.snapshot(0, run.total)
    draws = samples.record(start, len(run.chains), run.thin)
    for chain, each in zip(run.chains, draws, strict=True):
        if each.n_draws == 0:
            chain.record(each)
    before = draws[0].n_proposals
    yield start
    block = -(-BLOCK // draws[0].thin) * draws[0].thin
    done = 0
    with _Workers(run.chains, draws, must_wait) as workers:
        workers.begin(before + min(block, run.total))
        while done < run.total:
            while not workers.have_finished():
                yield None
            done = min(done + block, run.total)
            snapshot = run.snapshot(done, run.total)
            is_last = is_over() or done == run.total
            samples.take(snapshot, draws, is_last)
            if not is_last:
                workers.begin(before + min(done + block, run.total))
            yield snapshot


class _Workers:
    """Advances chains on threads, or one after the other where other runs share the cores."""

    def __init__(
        self, chains: Sequence[Sampler], draws: Sequence[Draws], must_wait: Callable[[], bool]
    ) -> None:
        self._pairs = list(zip(chains, draws, strict=True))
        self._must_wait, self._closed = must_wait, False
        self._target = 0
        self._threads = ThreadPoolExecutor(len(self._pairs), "hcviz-chain")
        self._futures: list[Future[None]] = []

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        self._threads.shutdown()

    def begin(self, target: int) -> None:
        """Begin to advance all chains to this number of proposals."""
        self._target = target
        busy = [pair for pair in self._pairs if pair[1].n_proposals < target]
        parts = [[pair] for pair in busy] if has_cores_alone() else [busy]
        self._futures = [self._threads.submit(self._advance, part) for part in parts]

    def have_finished(self) -> bool:
        """Wait for the chains. If they had to stop early, begin again and return False."""
        wait(self._futures)
        for each in self._futures:
            each.result()
        if all(draws.n_proposals >= self._target for _, draws in self._pairs):
            return True
        if self._must_wait():
            return False
        self.begin(self._target)
        return self.have_finished()

    def _advance(self, pairs: Sequence[tuple[Sampler, Draws]]) -> None:
        for chain, draws in pairs:
            chain.advance(draws, self._target, self._stop)

    def _stop(self) -> bool:
        return self._closed or self._must_wait()


__all__ = ["recorded_stream"]
