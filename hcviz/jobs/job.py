"""``Job``: one task of a session, on a thread, in a process, or on a cluster."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hcviz.algorithms import get
from hcviz.core.errors import ClusterError, HcvizError
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs.compiling import COMPILING
from hcviz.jobs.fair_share import Ticket
from hcviz.jobs.first_tree import first_tree
from hcviz.jobs.pool import Pool, Worker, WorkerEnded, send
from hcviz.jobs.priority import lower_priority
from hcviz.jobs.samples import Samples
from hcviz.jobs.shared_pool import SHARED, HostedRun, SharedWorkers
from hcviz.jobs.snapshot_channel import INTERVAL, LatestSnapshotChannel, Message
from hcviz.jobs.task import PauseControl, Task, log_unexpected, run_task, unexpected_failure
from hcviz.session.actions import Arrived, Failed

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

#: Times that a run is started again after its shared worker has ended, and seconds that it waits
#: for another worker.
RESTARTS, RESTART_SECONDS = 1, 60.0
#: Seconds that a page waits for a scheduler before the run starts on this machine.
CONNECT_TIMEOUT = 2.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunLocation:
    """Where a run is computed.

    Attributes
    ----------
    address : str
        The address of the cluster.
    fault : ClusterError or None
        Why the run is computed on this machine instead.
    waiting : str
        A sentence that explains why no worker starts tasks at the moment, or empty.
    """

    address: str
    fault: ClusterError | None = None
    waiting: str = ""


class SharedControl(PauseControl):
    """Pauses a run also when its turn on this machine is over."""

    def __init__(self, ticket: Ticket) -> None:
        super().__init__()
        self._ticket = ticket

    def stop(self) -> None:
        """Stop the run, and free its place at once."""
        super().stop()
        self._ticket.close()

    def must_wait(self) -> bool:
        """Return True if the run is paused, or must give up its place."""
        return not self.open.is_set() or self._ticket.due

    def wait(self) -> None:
        """Give up the place, and wait until the run is not paused and has a place again."""
        self._ticket.leave()
        self.open.wait()
        self._ticket.enter()


class Job:
    """One task, which runs from :meth:`begin` on."""

    def __init__(
        self,
        task: Task,
        post: Callable[[Message], None],
        pool: Pool,
        ticket: Ticket,
        samples: Samples | None = None,
        cluster: Cluster | None = None,
        on_location: Callable[[RunLocation], None] = lambda place: None,
        shared: SharedWorkers = SHARED,
    ) -> None:
        self.run = task.run
        self._cluster = cluster
        self._on_location = on_location
        self._task = task
        self._samples = samples
        self.pool = pool
        self.ticket = ticket
        self._control = SharedControl(ticket)
        self._shared = shared
        self._reached: Snapshot | None = None  # the last one that came with its samples
        self._tree: Tree | None = None  # the last one
        self._worker: Worker | HostedRun | None = None
        self._has_task = False  # the worker has its task and accepts orders
        #: When the computation began, as ``time.perf_counter()``: without waiting in the line, or
        #: for a worker process that starts.
        self.began = time.perf_counter()
        self._is_waiting = False  # the worker waits until the job has a place again
        self._lock = threading.Lock()
        self.channel = LatestSnapshotChannel(
            task.run,
            post,
            on_receiver_gone=lambda: self.stop(None),
            interval=lambda: INTERVAL * max(1, ticket.line.running),
        )

    def begin(self) -> None:
        """Start the task on its own thread."""
        name = f"hcviz-run-{self.run}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    @property
    def worker_pid(self) -> int | None:
        """The process of the worker, while the task is in one."""
        worker = self._worker
        return None if worker is None else worker.pid

    def stop(self, message: Message | None) -> None:
        """Stop the task, and post ``message`` if there is one."""
        self.channel.discard(message)
        with self._lock:
            self._control.stop()
            if isinstance(self._worker, HostedRun):
                # The draws of a cancelled run stay on the page; those of a replaced one do not.
                self._worker.stop(keep=message is not None and self._samples is not None)
            elif self._worker is not None:
                self._worker.end()

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the task and the delivery of snapshots."""
        self.channel.set_paused(paused)
        with self._lock:
            self._control.pause(paused)
            if self._worker is not None and self._has_task and (paused or not self._is_waiting):
                self._worker.order("pause" if paused else "resume")

    def _work(self) -> None:
        task = self._task
        try:
            away = self._cluster_stream()
            if away is not None:
                # Without its own pauses: the cluster's stream reads `_control` and pauses itself.
                control = PauseControl(stopped=self._control.stopped)
                run_task(task, self.channel, control, samples=self._samples, stream=lambda _: away)
                return
            lower_priority()
            if not self.ticket.enter():
                return
            self.began = time.perf_counter()
            method = get(task.method)
            if method.run_location(task.params) == "process":
                self._run_in_worker(task)
            elif method.samples:
                self._sample(task)
            else:
                run_task(task, self.channel, self._control, samples=self._samples)
        except HcvizError as fault:
            self.channel.end(Failed(task.run, fault.message, fault.hint))
        except Exception as fault:
            log_unexpected(task.method, fault)
            self.channel.end(unexpected_failure(task.run, task.method, fault))
        finally:
            self.ticket.leave()

    def _cluster_stream(self) -> Iterator[Snapshot | None] | None:
        """Return the snapshots of the task on the cluster, or None to run it here."""
        if self._cluster is None:
            return None
        place = RunLocation(self._cluster.address)
        try:
            stream = self._cluster.start(
                self._task, self._control, CONNECT_TIMEOUT, self._report_waiting
            )
        except ClusterError as fault:
            stream, place = None, RunLocation(self._cluster.address, fault)
        self._report_location(place)
        return stream

    def _report_waiting(self, waiting: str) -> None:
        assert self._cluster is not None
        self._report_location(RunLocation(self._cluster.address, waiting=waiting))

    def _report_location(self, place: RunLocation) -> None:
        if not self._control.stopped.is_set():
            self._on_location(place)

    def _sample(self, task: Task) -> None:
        """Run a sampler in a shared worker, or on this thread if none is ready.

        While the first worker compiles the sampler, the run shows its first tree and waits.
        """
        if COMPILING.is_running and not self._shared.is_ready and not self._wait_for_worker(task):
            return
        hosted = self._shared.host()
        if hosted is None:
            run_task(task, self.channel, self._control, samples=self._samples)
            return
        for restarts in range(RESTARTS + 1):
            try:
                self._run_hosted(task, hosted)
                return
            except WorkerEnded:
                self.ticket.leave()
                # Not on a thread: what has ended the worker could end the server.
                again = None if restarts == RESTARTS else self._shared.host(RESTART_SECONDS)
                if again is None:
                    raise
                log.warning("A shared worker has ended; its runs start again in another one.")
                hosted = again
                if not self.ticket.enter():
                    hosted.drop()
                    return
                task = task if self._reached is None else replace(task, start=self._reached)

    def _wait_for_worker(self, task: Task) -> bool:
        """Show the first tree, and wait for a worker; return False if the run was stopped."""
        first = first_tree(task)
        if first is not None:
            self.channel.offer(first)
        self.ticket.leave()
        self._shared.wait_until_ready(self._control.stopped.is_set)
        entered = self.ticket.enter()
        self.began = time.perf_counter()
        return entered

    def _run_hosted(self, task: Task, hosted: HostedRun) -> None:
        samples = self._samples
        if samples is not None:
            samples.writer = self
        with self._lock:
            if self._control.stopped.is_set():
                hosted.drop()
                return
            self._worker, self._is_waiting = hosted, False
        try:
            hosted.start(task, samples)
            with self._lock:
                self._has_task = True
                if not self._control.open.is_set():
                    hosted.order("pause")
            for report in hosted.reports():
                self._take_report(report, hosted)
        finally:
            with self._lock:
                self._worker, self._has_task = None, False

    def _take_report(self, report: Any, hosted: HostedRun) -> None:
        samples = self._samples
        line = self.ticket.line
        hosted.share_cores(line.running + line.waiting)
        kind = None if report is None else report[0]
        if kind == "paused":
            hosted.active = False
            self._wait_for_place(hosted)
            hosted.active = True
        elif kind == "samples":
            if samples is not None and samples.writer is self:
                samples.adopt(report[1])
        elif kind == "log":
            log.error("The method %s failed unexpectedly.\n%s", *report[1:])
        elif kind == "message":
            _, message, packed = report
            if isinstance(message, Arrived):
                self._take_tree(message.snapshot, packed)
            else:
                self.channel.end(message)
        if self.ticket.due:
            hosted.order("pause")

    def _take_tree(self, snapshot: Snapshot, packed: bytes | None) -> None:
        """Deliver a tree, after the samples that it summarises."""
        samples = self._samples
        if samples is not None and samples.writer is self:
            if packed is not None:
                samples.adopt(packed)
                self._reached = snapshot
            samples.remember(snapshot)
        if snapshot.tree == self._tree:  # the same object, so that the page does not draw it again
            snapshot = replace(snapshot, tree=self._tree)
        self._tree = snapshot.tree
        self.channel.offer(snapshot)

    def _wait_for_place(self, worker: Worker | HostedRun) -> None:
        """Wait for a place, while the worker is paused."""
        with self._lock:
            self._is_waiting = True
        while True:
            self._control.wait()
            with self._lock:
                if self._control.open.is_set():  # else it was paused meanwhile
                    self._is_waiting = False
                    worker.order("resume")
                    return

    def _run_in_worker(self, task: Task) -> None:
        worker = self.pool.take()
        finished = False
        try:
            with self._lock:
                self._worker = worker
                if self._control.stopped.is_set():
                    return
            send(worker, task)  # blocks while the worker starts
            with self._lock:
                self._has_task = True
                if not self._control.open.is_set():
                    worker.order("pause")
            for reply in worker.replies():
                if reply == "paused":
                    self._wait_for_place(worker)
                elif isinstance(reply, Arrived):
                    self.channel.offer(reply.snapshot)
                    if self.ticket.due and self.pool.has_room:
                        worker.order("pause")
                elif isinstance(reply, tuple):
                    log.error("The method %s failed unexpectedly.\n%s", *reply[1:])
                else:
                    self.began = max(self.began, worker.ready_at)
                    self.channel.end(reply)
                    finished = True
                    return
        finally:
            with self._lock:
                self._worker, self._has_task = None, False
            if not finished:
                worker.end()
            self.pool.give_back(worker)


__all__ = ["Job", "RunLocation"]
