"""``Runner``: runs one job at a time for a session, on a thread, in a process, or on a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hcviz.algorithms import MODULES
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs.fair_share import LINE, Line
from hcviz.jobs.job import Job, RunLocation
from hcviz.jobs.pool import POOL, Pool
from hcviz.jobs.samples import Samples
from hcviz.jobs.shared_pool import SHARED, SharedWorkers
from hcviz.jobs.snapshot_channel import Message
from hcviz.jobs.task import Task
from hcviz.session.actions import Stopped

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster


class Runner:
    """Runs methods outside the page's thread. A new job replaces the one in progress.

    All methods return at once and may be called from any thread.

    Parameters
    ----------
    post : callable
        Is called on a thread of the runner, with any number of ``Arrived(run, snapshot)``, then
        exactly one of ``Finished(run)``, ``Failed(run, message, hint)`` or ``Stopped(run)``. A
        replaced job sends no more messages. After an ``Arrived``, the receiver calls
        :meth:`acknowledge`. Until then only the last snapshot of a run is sent (see
        :class:`LatestSnapshotChannel`).
    pool : Pool
        The worker processes.
    cluster : Cluster, optional
        Jobs run on it if possible, and otherwise on this machine.
    on_location : callable
        Receives the :class:`RunLocation` before each job, and when a job waits for a worker.
    on_position : callable
        Receives the number of jobs before this one while it waits in the server's line, and None
        when it runs again.
    line : Line
        The places for jobs on this machine.
    background : bool
        True if no person waits for the jobs.
    shared : SharedWorkers
        The processes that run samplers. If none is ready, they run on a thread.
    """

    def __init__(
        self,
        post: Callable[[Message], None],
        pool: Pool = POOL,
        cluster: Cluster | None = None,
        on_location: Callable[[RunLocation], None] = lambda place: None,
        on_position: Callable[[int | None], None] = lambda ahead: None,
        line: Line = LINE,
        background: bool = False,
        shared: SharedWorkers = SHARED,
    ) -> None:
        self.post = post
        self.pool = pool
        self._cluster = cluster
        self._on_location = on_location
        self._on_position = on_position
        self._line = line
        self._background = background
        self._shared = shared
        self._lock = threading.RLock()
        self._job: Job | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """True if a job runs or is paused."""
        job = self._job
        return job is not None and not job.channel.over

    @property
    def worker_pid(self) -> int | None:
        """The process in which the job runs, if it has a worker."""
        return None if self._job is None else self._job.worker_pid

    @property
    def seconds(self) -> float:
        """Seconds since the computation of the job began; 0 without a job."""
        return 0.0 if self._job is None else time.perf_counter() - self._job.began

    def start(
        self,
        run: int,
        method: str,
        problem: Problem,
        params: Mapping[str, Any],
        seed: int,
        start: Snapshot | Tree | None = None,
        samples: Samples | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Start a job, and stop the one in progress. All errors are posted as ``Failed``.

        Parameters
        ----------
        run, seed : int
            They give the random generator, unless ``start`` has one.
        method, problem, params
            What to run.
        start : Snapshot or Tree, optional
            Where the run starts.
        samples : Samples, optional
            Receives every snapshot before it is posted. The posted snapshot has the summary tree.
        seconds : float
            See :class:`Task`.
        """
        task = Task(
            run, method, MODULES.get(method, ""), problem, dict(params), seed, start,
            seconds=seconds,
        )  # fmt: skip
        with self._lock:
            if self._closed:
                return
            before = None
            if self._job is not None:
                self._job.stop(None)
                before = self._job.ticket
            ticket = self._line.ticket(self._background, before, self._on_position)
            self._job = Job(
                task, self.post, self.pool, ticket, samples, self._cluster, self._on_location,
                self._shared,
            )  # fmt: skip
            self._job.begin()  # after `_job` is set, because acknowledgements look it up

    def acknowledge(self, run: int) -> None:
        """Record that the last ``Arrived`` of this run was processed, so that the next may come."""
        job = self._job
        if job is not None and job.run == run:
            job.channel.acknowledge()

    def cancel(self) -> None:
        """Stop the job and post ``Stopped``. The last tree stays on the page."""
        with self._lock:
            if self._job is not None and not self._job.channel.over:
                self._job.stop(Stopped(self._job.run))

    def pause(self) -> None:
        """Pause the job at its next stopping point, until :meth:`resume`."""
        self._set_paused(True)

    def resume(self) -> None:
        """Continue a paused job."""
        self._set_paused(False)

    def _set_paused(self, paused: bool) -> None:
        with self._lock:
            if self._job is not None:
                self._job.set_paused(paused)

    def close(self) -> None:
        """Stop the job without messages, for good. May be called twice."""
        with self._lock:
            self._closed = True
            if self._job is not None:
                self._job.stop(None)
                self._job = None
