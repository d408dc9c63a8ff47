"""``LatestSnapshotChannel``: delivers a run's newest snapshot to one receiver, one at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from hcviz.core.interpreter_exit import log_fault
from hcviz.core.snapshot import Snapshot
from hcviz.session.actions import Arrived, Failed, Finished, Stopped

Message = Arrived | Finished | Failed | Stopped

#: Minimal number of seconds between two snapshots; people do not see more than 25 a second.
INTERVAL = 0.04

log = logging.getLogger(__name__)


class LatestSnapshotChannel:
    """Delivers the messages of a run to ``post``, on its own thread.

    A snapshot waits until the receiver has acknowledged the one before and the interval has
    passed. A newer snapshot replaces it meanwhile. So a slow receiver does not slow the run. The
    last snapshot is always delivered, without an acknowledgement, before the message that ends the
    run.

    Parameters
    ----------
    run : int
        The number of the run.
    post : callable
        Receives the messages. If it raises, the channel closes.
    on_receiver_gone : callable
        Is called when ``post`` has raised.
    interval : callable
        Returns the minimal number of seconds between two snapshots.
    """

    def __init__(
        self,
        run: int,
        post: Callable[[Message], None],
        on_receiver_gone: Callable[[], None] = lambda: None,
        interval: Callable[[], float] = lambda: INTERVAL,
    ) -> None:
        self._run = run
        self._post = post
        self._on_receiver_gone = on_receiver_gone
        self._interval = interval
        self._changed = threading.Condition()
        self._waiting: Snapshot | None = None
        self._acknowledged = True
        self._paused = False
        self._last: Message | None = None
        self._over = False  # no more messages are accepted
        self._carrier = threading.Thread(
            target=self._carry, name=f"hcviz-courier-{run}", daemon=True
        )
        self._carrier.start()

    @property
    def over(self) -> bool:
        """True if no more messages are accepted; the last one may not be delivered yet."""
        return self._over

    def offer(self, snapshot: Snapshot) -> None:
        """Deliver this snapshot next. It replaces one that still waits."""
        with self._changed:
            if not self._over:
                first, self._waiting = self._waiting is None, snapshot
                if first:  # otherwise the thread was notified before
                    self._changed.notify()

    def acknowledge(self) -> None:
        """Record that the receiver has processed the last snapshot."""
        with self._changed:
            self._acknowledged = True
            self._changed.notify()

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the delivery."""
        with self._changed:
            self._paused = paused
            self._changed.notify()

    def end(self, message: Message) -> None:
        """Deliver the waiting snapshot and ``message``, then close; only once."""
        with self._changed:
            if not self._over:
                self._over = True
                self._last = message
                self._changed.notify()

    def discard(self, message: Message | None = None) -> None:
        """Drop the waiting snapshot, deliver ``message`` if there is one, then close."""
        with self._changed:
            self._over = True
            self._waiting = None
            self._last = message
            self._paused = False
            self._changed.notify()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the last message is delivered."""
        self._carrier.join(timeout)

    def _carry(self) -> None:
        not_before = 0.0
        while True:
            with self._changed:
                while not self.is_due(not_before):
                    # A snapshot that waits only for the interval needs a timeout.
                    timed = self._waiting is not None and self._acknowledged and not self._paused
                    due = max(0.0, not_before - time.monotonic())
                    self._changed.wait(due if timed else None)
                snapshot, self._waiting = self._waiting, None
                over = self._over
                self._acknowledged = snapshot is None
            try:
                if snapshot is not None:
                    self._post(Arrived(self._run, snapshot))
                    not_before = time.monotonic() + self._interval()
                if over:
                    with self._changed:
                        last = self._last  # `discard` may have changed it meanwhile
                    if last is not None:
                        self._post(last)
                    return
            except Exception as fault:
                log_fault(log, fault, "The receiver of run %d is gone.", self._run)
                self.discard()
                self._on_receiver_gone()
                return

    def is_due(self, not_before: float) -> bool:
        """Return True if there is something to deliver now. The lock must be held."""
        if self._paused:
            return False
        if self._over:
            return True
        return self._waiting is not None and self._acknowledged and time.monotonic() >= not_before
