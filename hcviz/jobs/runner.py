"""``Runner``: one job at a time for one session, in a thread, a worker process or on a cluster."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hcviz.algorithms import MODULES, get
from hcviz.core.errors import ClusterError, HcvizError
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs.courier import Courier, Message
from hcviz.jobs.pool import POOL, Pool, Worker, send
from hcviz.jobs.samples import Samples
from hcviz.jobs.task import Gate, Task, log_unexpected, perform, unexpected
from hcviz.session.actions import Arrived, Failed, Stopped

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

#: Seconds that a page waits for a scheduler before it does without.
SOON = 2.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """Where a run is done: on the cluster at ``address``, or here, for the ``fault`` there is;
    ``waiting``: why nobody there takes on work at the moment, a sentence."""

    address: str
    fault: ClusterError | None = None
    waiting: str = ""


class Runner:
    """Runs methods off the page's thread and reports to ``post``; the newest job wins.

    ``post(message)`` is called on a thread of the runner's, with ``Arrived(run, snapshot)`` any
    number of times, then exactly one of ``Finished(run)``, ``Failed(run, message, hint)`` or
    ``Stopped(run)``. A job that a newer one replaces says nothing more. After an ``Arrived`` the
    receiver calls :meth:`acknowledge`; until then no further one is sent, but for the last of a
    run (see :class:`Courier`). All methods return at once and may be called from any thread.

    With a ``cluster`` jobs are done there, and where that cannot be, here; ``tell(place)`` says
    which before each, and later when a job waits for a worker, on a thread of the runner's.
    """

    def __init__(
        self,
        post: Callable[[Message], None],
        pool: Pool = POOL,
        cluster: Cluster | None = None,
        tell: Callable[[Place], None] = lambda place: None,
    ) -> None:
        self._post = post
        self._pool = pool
        self._cluster = cluster
        self._tell = tell
        self._lock = threading.RLock()
        self._job: Job | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """A job is at work, or paused."""
        job = self._job
        return job is not None and not job.courier.over

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
        """Replace whatever is at work by this. Everything that is wrong is posted as ``Failed``.

        The random generator is that of run ``run`` of seed ``seed``, unless ``start`` carries one.
        ``samples`` takes every snapshot of a method that has them, before it is posted; the
        posted snapshot has their summary tree. ``seconds``: see :class:`Task`.
        """
        task = Task(
            run, method, MODULES.get(method, ""), problem, dict(params), seed, start,
            seconds=seconds,
        )  # fmt: skip
        with self._lock:
            if self._closed:
                return
            if self._job is not None:
                self._job.stop(None)
            self._job = Job(task, self._post, self._pool, samples, self._cluster, self._tell)
            self._job.begin()  # not before it is ``_job``: an acknowledgement would find none

    def acknowledge(self, run: int) -> None:
        """The last ``Arrived`` of this run has been dealt with: the next may come."""
        job = self._job
        if job is not None and job.run == run:
            job.courier.acknowledge()

    def cancel(self) -> None:
        """Stop the job, if there is one, and post ``Stopped``; what was shown last stays."""
        with self._lock:
            if self._job is not None and not self._job.courier.over:
                self._job.stop(Stopped(self._job.run))

    def pause(self) -> None:
        """Hold the job at its next place to stop; nothing arrives until :meth:`resume`."""
        self._hold(True)

    def resume(self) -> None:
        self._hold(False)

    def _hold(self, held: bool) -> None:
        with self._lock:
            if self._job is not None:
                self._job.hold(held)

    def close(self) -> None:
        """Stop whatever is at work and say nothing more, ever. May be called twice."""
        with self._lock:
            self._closed = True
            if self._job is not None:
                self._job.stop(None)
                self._job = None


class Job:
    """One task; at work from :meth:`begin` on."""

    def __init__(
        self,
        task: Task,
        post: Callable[[Message], None],
        pool: Pool,
        samples: Samples | None = None,
        cluster: Cluster | None = None,
        tell: Callable[[Place], None] = lambda place: None,
    ) -> None:
        self.run = task.run
        self._cluster = cluster
        self._tell = tell
        self._task = task
        self._samples = samples
        self._pool = pool
        self._gate = Gate()
        self._worker: Worker | None = None
        self._told = False  # the worker has its task, and takes orders
        self._lock = threading.Lock()
        self.courier = Courier(task.run, post, lost=lambda: self.stop(None))

    def begin(self) -> None:
        """Start the work, on a thread of its own."""
        name = f"hcviz-run-{self.run}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def stop(self, message: Message | None) -> None:
        self.courier.drop(message)
        with self._lock:
            self._gate.stop()
            if self._worker is not None:
                self._worker.end()

    def hold(self, held: bool) -> None:
        self.courier.hold(held)
        with self._lock:
            self._gate.pause(held)
            if self._worker is not None and self._told:
                self._worker.order("pause" if held else "resume")

    def _work(self) -> None:
        task = self._task
        try:
            away = self._away()
            if away is not None:
                # A pause is passed on: only who steers the cluster looks at the gate.
                gate = Gate(stopped=self._gate.stopped)
                perform(task, self.courier, gate, samples=self._samples, stream=lambda _: away)
            elif get(task.method).run_location(task.params) == "thread":
                perform(task, self.courier, self._gate, samples=self._samples)
            else:
                self._in_worker(task)
        except HcvizError as fault:
            self.courier.end(Failed(task.run, fault.message, fault.hint))
        except Exception as fault:
            log_unexpected(task.method, fault)
            self.courier.end(unexpected(task.run, task.method, fault))

    def _away(self) -> Iterator[Snapshot | None] | None:
        """What the task yields on the cluster; None where it is to be done here."""
        if self._cluster is None:
            return None
        place = Place(self._cluster.address)
        try:
            stream = self._cluster.start(self._task, self._gate, SOON, self._waits)
        except ClusterError as fault:
            stream, place = None, Place(self._cluster.address, fault)
        self._placed(place)
        return stream

    def _waits(self, waiting: str) -> None:
        assert self._cluster is not None
        self._placed(Place(self._cluster.address, waiting=waiting))

    def _placed(self, place: Place) -> None:
        if not self._gate.stopped.is_set():
            self._tell(place)

    def _in_worker(self, task: Task) -> None:
        worker = self._pool.take()
        finished = False
        try:
            with self._lock:
                self._worker = worker
                if self._gate.stopped.is_set():
                    return
            send(worker, task)  # a worker that still starts up lets this wait
            with self._lock:
                self._told = True
                if not self._gate.open.is_set():
                    worker.order("pause")
            for reply in worker.replies():
                if isinstance(reply, Arrived):
                    self.courier.offer(reply.snapshot)
                elif isinstance(reply, tuple):
                    log.error("The method %s failed unexpectedly.\n%s", *reply[1:])
                else:
                    self.courier.end(reply)
                    finished = True
                    return
        finally:
            with self._lock:
                self._worker, self._told = None, False
            if not finished:
                worker.end()
            self._pool.give_back(worker)
