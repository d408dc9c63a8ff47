"""``Line``: the jobs of all sessions of a server, of which a few run at a time.

A job takes a :class:`Ticket`. Its thread calls ``enter``, which returns when the job has a place.
Between two items of its generator it asks ``due``. If its time is over and other jobs wait, it
calls ``leave`` and ``enter`` again. Meanwhile its generator rests in memory and takes no CPU time.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from enum import IntEnum

from hcviz.core.cores import share_cores

#: Seconds that a job may run while others wait: its first time, later, and later while a job that
#: has no tree yet waits.
FIRST_TURN, TURN, SHORT_TURN = 0.1, 1.0, 0.05
#: Of so many places that become free, one goes to the job that has waited the longest.
OLDEST_EACH = 4
#: Seconds between two reports of the positions, and that a job waits before its first report.
REPORT_SECONDS = 1.0

log = logging.getLogger(__name__)


class Priority(IntEnum):
    """The order of waiting jobs."""

    NEW = 0  # a run of a page without a tree yet
    CONTINUED = 1  # a run of a page that gave up its place
    BACKGROUND = 2  # a run for which no person waits


class Ticket:
    """The place of one job in a :class:`Line`. Its methods may be called from any thread."""

    def __init__(
        self, line: Line, priority: Priority, since: int, on_position: Callable[[int | None], None]
    ) -> None:
        self.line = line
        self.priority = priority
        #: The number of its arrival. It is kept during the first turn.
        self.since = since
        self.on_position = on_position
        self.is_new = priority is Priority.NEW
        self.running = self.closed = self.interrupted = False
        self.began = self.waits_from = 0.0
        #: Set when the job gets a place, or its ticket is closed.
        self.called = threading.Event()
        self.reported: int | None = None

    def enter(self) -> bool:
        """Wait for a place; return False if the ticket was closed."""
        return self.line._enter(self)

    @property
    def due(self) -> bool:
        """True if the job must give up its place, because its turn is over and others wait."""
        return self.line._is_due(self)

    def leave(self) -> None:
        """Give up the place. Does nothing without a place."""
        self.line._leave(self)

    def close(self) -> None:
        """Leave the line for good, before the end of the job. May be called twice."""
        self.line._close(self)


class Line:
    """The places for running jobs of a server, and the jobs that wait for one.

    Parameters
    ----------
    places : int
        Number of jobs that run at a time.
    clock : callable
        Returns seconds.

    Notes
    -----
    New jobs come first, then continued ones, then those in the background; in each class the
    earliest comes first. Every fourth place goes to the job that has waited the longest, so each
    job runs some time. All operations take time in proportion to the number of waiting jobs.
    """

    def __init__(self, places: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.places = places
        self._clock = clock
        self._lock = threading.Lock()
        self._running: set[Ticket] = set()
        self._waiting: list[Ticket] = []
        self._arrivals = self._granted = 0
        self._reporter: threading.Thread | None = None

    @property
    def running(self) -> int:
        """Number of jobs that have a place."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Number of jobs that wait for a place."""
        return len(self._waiting)

    def ticket(
        self,
        background: bool = False,
        before: Ticket | None = None,
        on_position: Callable[[int | None], None] = lambda ahead: None,
    ) -> Ticket:
        """Return the ticket of a new job.

        Parameters
        ----------
        background : bool
            True if no person waits for the job.
        before : Ticket, optional
            The ticket of the session's earlier job. If that one was closed while it waited, the new
            one inherits its arrival. So a person who answers quickly does not begin at the end of
            the line each time.
        on_position : callable
            Receives the number of jobs before this one, about once a second while it waits, and
            None when it runs again. It is called on a thread of the line.
        """
        with self._lock:
            self._arrivals += 1
            since = self._arrivals
            if before is not None and before.interrupted:
                since = before.since
            priority = Priority.BACKGROUND if background else Priority.NEW
            return Ticket(self, priority, since, on_position)

    def positions(self) -> dict[Ticket, int]:
        """Return the number of jobs before each waiting job."""
        with self._lock:
            return {each: k for k, each in enumerate(sorted(self._waiting, key=_order))}

    def report(self) -> None:
        """Tell the waiting jobs their positions, if these have changed."""
        now = self._clock()
        for ticket, ahead in self.positions().items():
            if ticket.reported != ahead and now - ticket.waits_from >= REPORT_SECONDS:
                ticket.reported = ahead
                self._tell(ticket, ahead)

    # ------------------------------------------------------------------ called by tickets

    def _enter(self, ticket: Ticket) -> bool:
        with self._lock:
            if ticket.closed or ticket.running:
                return ticket.running
            ticket.waits_from = self._clock()
            ticket.called.clear()
            self._waiting.append(ticket)
            self._grant()
            if not ticket.running:
                self._start_reporter()
        ticket.called.wait()  # of this ticket alone: a hundred threads that wake slow the page
        with self._lock:
            waiting_was_reported = ticket.running and ticket.reported is not None
            ticket.reported = None
        if waiting_was_reported:
            self._tell(ticket, None)
        return ticket.running

    def _leave(self, ticket: Ticket) -> None:
        with self._lock:
            if not ticket.running:
                return
            self._remove(ticket)
            if ticket.is_new:
                ticket.priority, ticket.is_new = Priority.CONTINUED, False
            else:
                self._arrivals += 1
                ticket.since = self._arrivals
            self._grant()

    def _close(self, ticket: Ticket) -> None:
        with self._lock:
            if not ticket.closed:
                ticket.closed = True
                ticket.called.set()
                ticket.interrupted = ticket in self._waiting or (ticket.running and ticket.is_new)
                self._remove(ticket)
                self._grant()

    def _is_due(self, ticket: Ticket) -> bool:
        if not self._waiting:  # without the lock, since this is asked thousands of times a second
            return False
        with self._lock:
            waiting = self._waiting
            if not waiting or not ticket.running:
                return bool(waiting)
            turn = FIRST_TURN if ticket.is_new else TURN
            if any(each.is_new for each in waiting):
                turn = min(turn, SHORT_TURN)
            return self._clock() - ticket.began >= turn

    # ------------------------------------------------------------------ with the lock

    def _remove(self, ticket: Ticket) -> None:
        ticket.running = False
        self._running.discard(ticket)
        if ticket in self._waiting:
            self._waiting.remove(ticket)

    def _grant(self) -> None:
        """Give the free places to waiting jobs."""
        while self._waiting and len(self._running) < self.places:
            self._granted += 1
            oldest = self._granted % OLDEST_EACH == 0
            found = min(self._waiting, key=(lambda each: each.since) if oldest else _order)
            self._waiting.remove(found)
            self._running.add(found)
            found.running, found.began = True, self._clock()
            found.called.set()
        share_cores(len(self._running) + len(self._waiting))

    def _start_reporter(self) -> None:
        if self._reporter is None:
            self._reporter = threading.Thread(target=self._work, name="hcviz-line", daemon=True)
            self._reporter.start()

    def _work(self) -> None:
        """Report positions while jobs wait."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._reporter = None
                    return
            time.sleep(REPORT_SECONDS)
            self.report()

    def _tell(self, ticket: Ticket, ahead: int | None) -> None:
        try:
            ticket.on_position(ahead)
        except Exception:
            log.debug("The page closed before it received its position.", exc_info=True)


def _order(ticket: Ticket) -> tuple[int, int]:
    return int(ticket.priority), ticket.since


def core_count() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


#: The line of this server. A job of threads holds the interpreter now and then, so more jobs than
#: cores would make the pages wait. With two places, one long job does not stop all others.
LINE = Line(max(2, core_count()))

__all__ = ["LINE", "Line", "Priority", "Ticket"]
