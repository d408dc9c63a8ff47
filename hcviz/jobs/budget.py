"""``Budget``: ends a sampler's run when its supports have settled or its time is over."""

from __future__ import annotations

import time
from dataclasses import replace

from hcviz.core.snapshot import Snapshot
from hcviz.jobs.samples import Samples
from hcviz.posterior.chain_comparison import LIMIT

#: The progress that is shown for a run that continues is at most this.
MAX_PROGRESS = 0.99


class Budget:
    """Decides when a run without a fixed number of steps ends.

    Parameters
    ----------
    samples : Samples
        The draws of the run, and of the runs that it continues.
    seconds : float
        Wall time of the run from its first tree (step 0), without pauses. So the compilation of
        the method, which may take minutes once, does not count.

    Notes
    -----
    A run that continues from settled supports uses all of its time to make them more accurate.

    Attributes
    ----------
    over : bool
        True if the run is to end.
    """

    def __init__(self, samples: Samples, seconds: float) -> None:
        self._samples, self._seconds = samples, seconds
        self._until = time.monotonic() + seconds
        self._progress = 0.0
        self._before = samples.seconds
        self.over = False
        found = samples.settling()
        self._improves = found is not None and found.settled

    def end_in_time(self) -> bool:
        """Update and return :attr:`over`: True from when the time is over."""
        self.over = self.over or time.monotonic() >= self._until
        return self.over

    def update(self, snapshot: Snapshot) -> Snapshot:
        """Return ``snapshot`` with an estimate of the run's total steps, and update :attr:`over`.

        The difference between the chains' supports falls with the square root of the draws. So the
        share of finished work is (0.05 / difference)^2, or the share of the time if that is larger.
        The last snapshot of a run has ``total == step``.
        """
        if snapshot.step == 0:
            self._until = time.monotonic() + self._seconds
            self.over = False
            return snapshot
        found = self._samples.settling()
        share = 1.0 - (self._until - time.monotonic()) / self._seconds
        self._samples.seconds = self._before + share * self._seconds
        if self._improves:
            found = None  # time alone counts
        self.over = self.over or (found is not None and found.settled)
        if self.over:
            return replace(snapshot, total=snapshot.step)
        if found is not None and found.accuracy > LIMIT:  # False where it is NaN
            share = max(share, (LIMIT / found.accuracy) ** 2)
        self._progress = min(max(self._progress, share, 1e-6), MAX_PROGRESS)
        return replace(snapshot, total=int(snapshot.step / self._progress) + 1)

    def extend(self, seconds: float) -> None:
        """Add the seconds of a pause."""
        self._until += seconds


__all__ = ["Budget"]
