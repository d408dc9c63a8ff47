"""``Pace``: how many similarities an oracle answers in a time that a person notices."""

from __future__ import annotations

#: Seconds that a call may take, so that a run can be stopped, held and watched between two.
GOAL = 0.1
#: Pairs of the first call: nobody knows yet.
FIRST = 16
#: What an earlier call counts, beside the next.
FADE = 0.95
#: Calls of one size (variance over squared mean below this) do not tell what a larger one takes.
ALIKE = 0.01
#: A call is not cut so small that what each takes of itself is more than a quarter of the rest.
OWN = 4.0


class Pace:
    """The line ``seconds = own + each * pairs`` through the last calls (least squares).

    The clock has a say in how a request is cut, and in nothing else.
    """

    def __init__(self) -> None:
        self._calls = self._pairs = self._squares = self._seconds = self._products = 0.0

    def note(self, pairs: int, seconds: float) -> None:
        """A call took so long."""
        self._calls = FADE * self._calls + 1.0
        self._pairs = FADE * self._pairs + pairs
        self._squares = FADE * self._squares + pairs * pairs
        self._seconds = FADE * self._seconds + seconds
        self._products = FADE * self._products + pairs * seconds

    @property
    def at_once(self) -> int:
        """Pairs of a call that takes :data:`GOAL` seconds; more where shorter calls would be mostly
        what each takes of itself, or, while all were of one size, twice that."""
        if not self._pairs:
            return FIRST
        mean, spread = self._pairs / self._calls, self._squares / self._calls
        spread -= mean * mean
        if spread < ALIKE * mean * mean:
            return max(1, round(2 * mean))
        seconds = self._seconds / self._calls
        each = (self._products / self._calls - mean * seconds) / spread
        own = max(0.0, seconds - each * mean)
        least = 1e-9  # of a pair: calls that take the same whatever is asked may ask for all
        return max(1, int(max(GOAL - own, OWN * own, 0.0) / max(each, least)))


__all__ = ["Pace"]
