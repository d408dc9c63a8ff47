"""``BatchSizer``: estimate how many pairs to ask an oracle for in one call."""

from __future__ import annotations

#: Target duration of one call, in seconds. A run can be stopped, paused and drawn between calls.
TARGET_SECONDS = 0.1
#: Number of pairs in the first call, before any call has been timed.
FIRST_BATCH = 16
#: Weight of an earlier call, relative to the next one.
DECAY = 0.95
#: Calls are of equal size if the variance over the squared mean of their sizes is below this.
MIN_VARIATION = 0.01
#: The time for the pairs of a call is at least this many times the fixed cost of the call.
MIN_WORK_RATIO = 4.0


class BatchSizer:
    """Fit the line ``seconds = fixed + per_pair * pairs`` to recent calls.

    Notes
    -----
    Weighted least squares, O(1) time and memory. Measured times affect only how a request is
    divided into calls, not its result.
    """

    def __init__(self) -> None:
        self._calls = self._pairs = self._squares = self._seconds = self._products = 0.0

    def record(self, pairs: int, seconds: float) -> None:
        """Add the size and the duration of one call."""
        self._calls = DECAY * self._calls + 1.0
        self._pairs = DECAY * self._pairs + pairs
        self._squares = DECAY * self._squares + pairs * pairs
        self._seconds = DECAY * self._seconds + seconds
        self._products = DECAY * self._products + pairs * seconds

    @property
    def batch_size(self) -> int:
        """Number of pairs for the next call, so that it takes about ``TARGET_SECONDS``.

        The number is larger if most of that time would be the fixed cost of a call. While all
        calls had the same size, the line cannot be fitted, and the size doubles.
        """
        if not self._pairs:
            return FIRST_BATCH
        mean, variance = self._pairs / self._calls, self._squares / self._calls
        variance -= mean * mean
        if variance < MIN_VARIATION * mean * mean:
            return max(1, round(2 * mean))
        seconds = self._seconds / self._calls
        per_pair = (self._products / self._calls - mean * seconds) / variance
        fixed = max(0.0, seconds - per_pair * mean)
        min_per_pair = 1e-9  # where all calls take the same time, one call may ask for all pairs
        available = max(TARGET_SECONDS - fixed, MIN_WORK_RATIO * fixed, 0.0)
        return max(1, int(available / max(per_pair, min_per_pair)))


__all__ = ["BatchSizer"]
