"""``SharedWorkers``: a few worker processes that run the samplers of all sessions of a server."""

from __future__ import annotations

import atexit
import itertools
import logging
import os
import pickle
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from hcviz.jobs.fair_share import LINE
from hcviz.jobs.pool import Worker, WorkerEnded
from hcviz.jobs.samples import Samples
from hcviz.jobs.task import Task, unpicklable_error

#: Seconds without a report after which :meth:`HostedRun.reports` yields None.
TICK = 0.025
#: Number of shared workers: one for each place of the line, at most this number. The environment
#: variable ``HCVIZ_WORKERS`` overrides it; with 0, samplers run on threads of the server.
MAX_SHARED = 4

log = logging.getLogger(__name__)


def worker_number() -> int:
    """Return the number of shared workers of a server."""
    given = os.environ.get("HCVIZ_WORKERS", "")
    return int(given) if given.isdecimal() else min(LINE.places, MAX_SHARED)


class HostedRun:
    """The server's end of one run in a shared worker."""

    def __init__(self, worker: SharedWorker, number: int) -> None:
        self._worker = worker
        self._number = number
        self._reports: queue.SimpleQueue[Any] = queue.SimpleQueue()
        #: False while the run waits for a place or is paused.
        self.active = True

    @property
    def pid(self) -> int:
        """The process id of the worker."""
        return self._worker.pid

    def start(self, task: Task, samples: Samples | None) -> None:
        """Send the task.

        Raises
        ------
        InvalidData
            If it cannot be pickled.
        """
        packed = None if samples is None else samples.packed()
        try:
            data = pickle.dumps((task, packed), protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as fault:
            self.drop()
            raise unpicklable_error(fault) from fault
        self._worker.order((self._number, "start", (task.run, data)))

    def order(self, what: str) -> None:
        """Send "pause" or "resume"."""
        self._worker.order((self._number, what, None))

    def stop(self, keep: bool) -> None:
        """Stop the run. With ``keep``, its last reports are its samples and its end."""
        self._worker.order((self._number, "finish" if keep else "stop", None))
        if not keep:
            self.put(("ended",))

    def drop(self) -> None:
        """Forget a run that was not sent."""
        self._worker.forget(self._number)

    def put(self, report: Any) -> None:
        """Add a report for :meth:`reports`."""
        self._reports.put(report)

    def reports(self) -> Iterator[Any]:
        """Yield the worker's reports until the end of the run; None now and then.

        Raises
        ------
        WorkerEnded
            When the process ends.
        """
        while True:
            try:
                report = self._reports.get(timeout=TICK)
            except queue.Empty:
                yield None
                continue
            if isinstance(report, WorkerEnded):
                raise report
            if report == ("ended",):
                return
            yield report

    def share_cores(self, runs: int) -> None:
        """Tell the worker how many runs share the machine's cores."""
        self._worker.share_cores(runs)


class SharedWorker:
    """One process and the runs in it."""

    def __init__(self, group: SharedWorkers, warm: bool) -> None:
        self._group = group
        self._process = Worker(warm, "shared_worker")
        self._lock = threading.Lock()
        self._runs: dict[int, HostedRun] = {}
        self._numbers = itertools.count(1)
        self._cores = 0
        self._ended: WorkerEnded | None = None
        self._orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="hcviz-orders", daemon=True).start()
        threading.Thread(target=self._read, name="hcviz-reports", daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def has_started(self) -> bool:
        """True if the process has loaded all kernels, also after its end."""
        return self._process.has_started

    @property
    def is_ready(self) -> bool:
        """True if the process runs and has loaded all kernels."""
        return self._process.has_started and self._ended is None

    @property
    def load(self) -> tuple[int, int]:
        """Number of runs that compute, and of all runs."""
        with self._lock:
            return sum(run.active for run in self._runs.values()), len(self._runs)

    def wait_ready(self) -> bool:
        """Wait until the process is ready; return False if it ended instead."""
        self._process.ready.wait()
        return self._ended is None

    def host(self) -> HostedRun:
        """Return a new run."""
        with self._lock:
            number = next(self._numbers)
            run = self._runs[number] = HostedRun(self, number)
            if self._ended is not None:
                run.put(self._ended)
        return run

    def forget(self, number: int) -> None:
        """Remove a run."""
        with self._lock:
            self._runs.pop(number, None)

    def order(self, what: Any) -> None:
        """Send an order to the process, on a thread, since a large one takes time."""
        self._orders.put(what)

    def share_cores(self, runs: int) -> None:
        """Send the number of runs that share the cores, if it has changed."""
        if runs != self._cores:
            self._cores = runs
            self.order((0, "cores", runs))

    def end(self) -> None:
        """Kill the process."""
        self._process.end()

    def _write(self) -> None:
        while (what := self._orders.get()) is not None:
            self._process.order(what)

    def _read(self) -> None:
        try:
            for number, report in self._process.replies():
                with self._lock:
                    run = self._runs.get(number)
                    if report == ("ended",):
                        self._runs.pop(number, None)
                if run is not None:
                    run.put(report)
        except WorkerEnded as fault:
            with self._lock:
                self._ended = fault
                lost, self._runs = list(self._runs.values()), {}
            self._orders.put(None)
            self._group.replace(self)
            for run in lost:
                run.put(fault)


class SharedWorkers:
    """The shared workers of a server. There are none before :meth:`start`.

    Parameters
    ----------
    number : int, optional
        Number of processes; None: see :data:`MAX_SHARED`.
    warm : bool
        True: they load all kernels first.
    """

    def __init__(self, number: int | None = None, warm: bool = True) -> None:
        self._number, self._warm = number, warm
        self._lock = threading.Lock()
        self._workers: list[SharedWorker] = []
        self._closed = False

    def start_first(self) -> None:
        """Start one process, once, and return at once."""
        number = worker_number() if self._number is None else self._number
        self._start(1, number)

    def start(self, wait: bool = False) -> None:
        """Start the processes, once.

        With ``wait``, the others start when the first is ready. So they load what it has compiled.
        """
        number = worker_number() if self._number is None else self._number
        self._start(1 if wait else number, number)
        if wait:
            for each in list(self._workers):
                each.wait_ready()
            self._start(number, number)
            for each in list(self._workers):
                each.wait_ready()

    def _start(self, wanted: int, number: int) -> None:
        """Start processes until there are as many as wanted; none if the number is 0."""
        with self._lock:
            if self._closed or not number:
                return
            if not self._workers:
                atexit.register(self.close)
            while len(self._workers) < wanted:
                self._workers.append(SharedWorker(self, self._warm))

    def host(self, seconds: float = 0.0) -> HostedRun | None:
        """Return a run in the worker with the fewest others; None if no worker is ready.

        Wait at most ``seconds`` for one.
        """
        until = time.monotonic() + seconds
        while True:
            ready = [each for each in self._workers if each.is_ready]
            if ready:
                return min(ready, key=lambda each: each.load).host()
            if not self._workers or time.monotonic() >= until:
                return None
            time.sleep(TICK)

    @property
    def is_ready(self) -> bool:
        """True if a worker is ready."""
        return any(each.is_ready for each in self._workers)

    def wait_until_ready(self, stop: Callable[[], bool]) -> None:
        """Wait until a worker is ready, or ``stop()`` is true, or there is no worker."""
        while self._workers and not self.is_ready and not stop():
            time.sleep(TICK)

    def workers(self) -> list[SharedWorker]:
        """Return the present workers."""
        return list(self._workers)

    def pids(self) -> list[int]:
        """Return the process ids."""
        return [each.pid for each in self._workers]

    def replace(self, ended: SharedWorker) -> None:
        """Start a process in place of one that has ended, unless it never became ready."""
        with self._lock:
            if self._closed or ended not in self._workers:
                return
            self._workers.remove(ended)
            if ended.has_started:
                self._workers.append(SharedWorker(self, self._warm))
            else:
                log.error("A shared worker could not start; the server runs its samplers.")

    def close(self) -> None:
        """End all processes, for good."""
        with self._lock:
            self._closed = True
            workers, self._workers = self._workers, []
        for each in workers:
            each.end()


#: The shared workers of this server; without processes until :func:`hcviz.jobs.start_server.warm`.
SHARED = SharedWorkers()

__all__ = ["SHARED", "HostedRun", "SharedWorker", "SharedWorkers"]
