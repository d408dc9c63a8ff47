"""``Courier``: hands a run's snapshots to one receiver, never two at a time, the newest only."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from hcviz.core.snapshot import Snapshot
from hcviz.session.actions import Arrived, Failed, Finished, Stopped

Message = Arrived | Finished | Failed | Stopped

#: Seconds between two snapshots of a run, at least: no eye asks for more than 25 a second.
INTERVAL = 0.04

log = logging.getLogger(__name__)


class Courier:
    """Carries what a run has to say to ``post``, on a thread of its own.

    A snapshot waits until the one before it was acknowledged and :data:`INTERVAL` has passed; a
    newer one takes its place meanwhile. So a slow receiver is never flooded and a slow carrier
    never holds the run up. The last snapshot is always delivered, without waiting for an
    acknowledgement, right before the message that ends the run. ``post`` that raises closes the
    courier: whom nobody hears need not speak (``lost`` is then called).
    """

    def __init__(
        self,
        run: int,
        post: Callable[[Message], None],
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._run = run
        self._post = post
        self._lost = lost
        self._changed = threading.Condition()
        self._waiting: Snapshot | None = None
        self._acknowledged = True
        self._held = False
        self._last: Message | None = None
        self._over = False  # nothing more is taken on: ended, stopped or dropped
        self._carrier = threading.Thread(
            target=self._carry, name=f"hcviz-courier-{run}", daemon=True
        )
        self._carrier.start()

    @property
    def over(self) -> bool:
        """Nothing more is taken on (though the last message may still be on its way)."""
        return self._over

    def offer(self, snapshot: Snapshot) -> None:
        """Deliver this one next, instead of any that still waits."""
        with self._changed:
            if not self._over:
                first, self._waiting = self._waiting is None, snapshot
                if first:  # else the carrier knows that something waits
                    self._changed.notify()

    def acknowledge(self) -> None:
        """The receiver has done with the last snapshot."""
        with self._changed:
            self._acknowledged = True
            self._changed.notify()

    def hold(self, held: bool) -> None:
        """Deliver nothing until let go again; what comes meanwhile waits."""
        with self._changed:
            self._held = held
            self._changed.notify()

    def end(self, message: Message) -> None:
        """Deliver what waits, then ``message``, then nothing. Only the first end counts."""
        with self._changed:
            if not self._over:
                self._over = True
                self._last = message
                self._changed.notify()

    def drop(self, message: Message | None = None) -> None:
        """Forget what waits, say ``message`` if there is one, then nothing."""
        with self._changed:
            self._over = True
            self._waiting = None
            self._last = message
            self._held = False
            self._changed.notify()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the last message has been handed over."""
        self._carrier.join(timeout)

    def _carry(self) -> None:
        not_before = 0.0
        while True:
            with self._changed:
                while not self._ready(not_before):
                    # What may go but for the time may be due by now: nobody else would say so.
                    timed = self._waiting is not None and self._acknowledged and not self._held
                    due = max(0.0, not_before - time.monotonic())
                    self._changed.wait(due if timed else None)
                snapshot, self._waiting = self._waiting, None
                over = self._over
                self._acknowledged = snapshot is None
            try:
                if snapshot is not None:
                    self._post(Arrived(self._run, snapshot))
                    not_before = time.monotonic() + INTERVAL
                if over:
                    with self._changed:
                        last = self._last  # read again: it may have been dropped meanwhile
                    if last is not None:
                        self._post(last)
                    return
            except Exception:
                log.exception("Run %d has nobody to report to any more.", self._run)
                self.drop()
                self._lost()
                return

    def _ready(self, not_before: float) -> bool:
        if self._held:
            return False
        if self._over:
            return True
        return self._waiting is not None and self._acknowledged and time.monotonic() >= not_before
