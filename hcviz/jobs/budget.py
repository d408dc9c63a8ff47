"""``Budget``: a sampler's run ends when its supports have settled, or when its time is over."""

from __future__ import annotations

import time
from dataclasses import replace

from hcviz.core.snapshot import Snapshot
from hcviz.jobs.samples import Samples
from hcviz.posterior.chain_comparison import LIMIT

#: Seconds between two looks at the supports, at least.
PACE = 0.5
#: The progress of a run that goes on, at most.
NEARLY = 0.99


class Budget:
    """Decides when a run without a fixed number of steps ends.

    Parameters
    ----------
    samples : Samples
        The draws of the run, and of those that it goes on from.
    seconds : float
        Wall time of the run; time in which the run is paused does not count.

    A run that goes on from supports that have settled makes them more accurate. It takes all of its
    time.
    """

    def __init__(self, samples: Samples, seconds: float) -> None:
        self._samples, self._seconds = samples, seconds
        self._until = time.monotonic() + seconds
        self._progress = 0.0
        self._before = samples.seconds
        self.over = False
        found = samples.settling()
        self._improves = found is not None and found.settled

    def mark(self, snapshot: Snapshot) -> Snapshot:
        """``snapshot`` with an estimate of the run's total steps; sets :attr:`over`.

        The difference between the chains' supports falls with the square root of the draws. So the
        share of the work done is (0.05 / difference)^2, or the share of the time, whichever is
        more. The last snapshot of a run has ``total == step``.
        """
        if snapshot.step == 0:
            return snapshot
        found = self._samples.settling(PACE)
        share = 1.0 - (self._until - time.monotonic()) / self._seconds
        self._samples.seconds = self._before + share * self._seconds
        if self._improves:
            found = None  # time alone counts
        self.over = share >= 1.0 or (found is not None and found.settled)
        if self.over:
            return replace(snapshot, total=snapshot.step)
        if found is not None and found.accuracy > LIMIT:  # False where it is NaN
            share = max(share, (LIMIT / found.accuracy) ** 2)
        self._progress = min(max(self._progress, share, 1e-6), NEARLY)
        return replace(snapshot, total=int(snapshot.step / self._progress) + 1)

    def wait(self, seconds: float) -> None:
        """The run was paused for so long."""
        self._until += seconds


__all__ = ["Budget"]
