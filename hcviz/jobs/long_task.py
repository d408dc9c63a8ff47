"""A run as one long task on a Dask worker: the worker's side and the client's side.

Numbered snapshots return through a distributed queue. A distributed variable tells the worker to
continue, pause or stop. Another variable stores the newest checkpoint. If the worker dies, Dask
starts the task on another worker. It continues from the checkpoint, or repeats the run. The client
ignores snapshots that it has already.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any
from uuid import uuid4

from hcviz.core.errors import HcvizError
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.snapshot_channel import Message
from hcviz.jobs.task import PauseControl, Task, resume_stream, run_task, start_stream
from hcviz.session.actions import Failed

#: Seconds between two reads of the command, and between two checkpoints.
POLL_SECONDS, CHECKPOINT_SECONDS = 0.1, 2.0
#: Maximal numbers of snapshots that wait at the worker and of messages in the queue.
MAX_WAITING, MAX_MESSAGES = 64, 4
#: Seconds within which a scheduler must answer.
SCHEDULER_TIMEOUT = 20.0

log = logging.getLogger(__name__)

#: In the queue: the snapshot's number, True for the last one, and the pickled snapshot.
Entry = tuple[int, bool, bytes]


@dataclass(frozen=True)
class TaskResult:
    """How a long task ended.

    Attributes
    ----------
    began : int
        The number of the snapshot from which its last attempt started.
    fault : (str, str) or None
        Message and hint of an error.
    trace : str
        The traceback of a bug.
    refusal : bytes
        The pickled error, if it can be pickled.
    """

    began: int
    fault: tuple[str, str] | None
    trace: str
    refusal: bytes = b""

    def error(self) -> HcvizError | None:
        """Return the error that the task raised, with its class if possible."""
        if self.fault is None:
            return None
        try:
            itself = pickle.loads(self.refusal)
        except Exception:  # its class cannot be imported or created here
            itself = None
        return itself if isinstance(itself, HcvizError) else HcvizError(*self.fault)


def open_channels(client: Any, name: str) -> tuple[Any, Any, Any]:
    """Return the queue of snapshots, the command variable and the checkpoint variable of a task."""
    distributed: Any = import_module("distributed")
    return (
        distributed.Queue(name, client=client),
        distributed.Variable(name, client=client),
        distributed.Variable(f"{name}-reached", client=client),
    )


def callable_by_name(function: Callable[..., Any]) -> Callable[[Any, bytes], Any]:
    """Return a function that imports ``function`` by name and calls it, for Dask to send.

    It takes the first argument, and the others pickled. The scheduler unpickles what it forwards.
    With this function the scheduler needs no hcviz, which takes seconds to import and may be
    missing there.
    """
    module, name = function.__module__, function.__qualname__

    def call(first: Any, others: bytes) -> Any:
        from importlib import import_module
        from pickle import loads

        return getattr(import_module(module), name)(first, *loads(others))

    return call


# ---------------------------------------------------------------------- worker side


def run_long_task(problem: Problem, task: Task, name: str, each: bool, pace: float) -> TaskResult:
    """Run the task on a worker; its problem is sent separately.

    With ``each``, every snapshot is sent, else only the newest. ``pace`` is the number of seconds
    between two checkpoints.
    """
    distributed: Any = import_module("distributed")
    client, worker = distributed.get_client(), distributed.get_worker()
    key = worker.get_current_task()
    distributed.secede()  # free the worker's slot, because all chains must run at the same time

    def wanted() -> bool:
        state = worker.state.tasks.get(key)
        return state is not None and state.state in ("executing", "long-running")

    task = replace(task, problem=problem)
    resumes = task.algorithm().remaining is not None
    outbox = SnapshotOutbox(client, name, wanted, each, pace if resumes else None)
    try:
        found = outbox.checkpoint()
    except BaseException:  # the client is gone, so the thread must end
        outbox.close()
        raise
    stream = start_stream
    if found is not None:
        stream = partial(resume_stream, reached=found)
    run_task(task, outbox, outbox.control, outbox.report, stream=stream, refused=outbox.refused)
    return outbox.close()


class SnapshotOutbox:
    """Takes snapshots on the run's thread and sends them on its own thread.

    Its thread also reads the commands, and pauses or stops ``control``.
    """

    def __init__(
        self, client: Any, name: str, wanted: Callable[[], bool], each: bool, pace: float | None
    ) -> None:
        self.control = PauseControl()
        self._queue, self._word, self._reached = open_channels(client, name)
        self._wanted, self._each, self._pace = wanted, each, pace
        self._changed = threading.Condition()
        self._waiting: list[tuple[int, Snapshot]] = []
        self._number = self._began = 0
        self._over = False
        self._fault: tuple[str, str] | None = None
        self._trace = ""
        self._refusal = b""
        self._carrier = threading.Thread(target=self._carry, name=f"outbox-{name}", daemon=True)
        self._carrier.start()

    def checkpoint(self) -> Snapshot | None:
        """Return the snapshot to continue from; None at the beginning of the run."""
        kept = self._reached.get(timeout=f"{SCHEDULER_TIMEOUT} s")
        if kept is None:
            return None
        self._number = self._began = kept[0] + 1
        found: Snapshot = pickle.loads(kept[1])
        return found

    def offer(self, snapshot: Snapshot) -> None:
        """Send this snapshot. The call blocks if every snapshot counts and too many wait."""
        with self._changed:
            if not self._each:
                self._waiting.clear()
            self._waiting.append((self._number, snapshot))
            self._number += 1
            self._changed.notify_all()
            while len(self._waiting) >= MAX_WAITING and not self.control.stopped.is_set():
                self._changed.wait(POLL_SECONDS)

    def end(self, message: Message) -> None:
        """Store the error of a failed run."""
        if isinstance(message, Failed):
            self._fault = (message.message, message.hint)

    def refused(self, fault: HcvizError) -> None:
        """Store the pickled error."""
        with contextlib.suppress(Exception):  # then its sentence has to do
            self._refusal = pickle.dumps(fault)

    def report(self, method: str, fault: BaseException) -> None:
        """Store the traceback of a bug."""
        self._trace = "".join(traceback.format_exception(fault))

    def close(self) -> TaskResult:
        """Send the waiting snapshots, and return how the task ended."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        self._carrier.join()
        self._queue.close()
        return TaskResult(self._began, self._fault, self._trace, self._refusal)

    def _carry(self) -> None:
        checked = saved = time.monotonic()
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._waiting or self._over, POLL_SECONDS)
                    batch, self._waiting = self._waiting, []
                    over = self._over
                    self._changed.notify_all()
                if batch:
                    entries = [
                        (number, shown.step == shown.total, pickle.dumps(shown))
                        for number, shown in batch
                    ]
                    sent = self._put(entries)
                    # Only after the queue has it, because a restart skips all before a checkpoint.
                    if sent and self._pace is not None and time.monotonic() - saved >= self._pace:
                        self._reached.set([entries[-1][0], entries[-1][2]])
                        saved = time.monotonic()
                if over:
                    return
                if time.monotonic() - checked >= POLL_SECONDS:
                    self._look()
                    checked = time.monotonic()
        except Exception as fault:
            log.warning("The run stops because its snapshots cannot be sent.", exc_info=True)
            self._fault = ("A worker of the cluster could not send its snapshots.", "")
            self._refusal = b""
            self._trace = "".join(traceback.format_exception(fault))
            self.control.stop()

    def _put(self, entries: list[Entry]) -> bool:
        # The size is read instead of using a timeout, which the scheduler logs as a traceback.
        while self._queue.qsize() >= MAX_MESSAGES:
            self._look()
            if self.control.stopped.wait(POLL_SECONDS / 2):
                return False
        self._queue.put(entries)
        return True

    def _look(self) -> None:
        word = self._word.get(timeout=f"{SCHEDULER_TIMEOUT} s") if self._wanted() else "stop"
        if word == "stop":
            self.control.stop()
        else:
            self.control.pause(word == "pause")


# ---------------------------------------------------------------------- client side


class LongTask:
    """A long task on the client's side: its snapshots in order, each once.

    ``problem`` is a future of the task's problem. Dask runs the task on a worker that has it. All
    methods may raise Dask's exceptions.
    """

    def __init__(self, client: Any, task: Task, problem: Any, each: bool) -> None:
        self.name = f"hcviz-{task.method}-{uuid4().hex}"
        self._queue, self._word, self._reached = open_channels(client, self.name)
        self._word.set("run", callback_timeout=SCHEDULER_TIMEOUT)
        self._reached.set(None, callback_timeout=SCHEDULER_TIMEOUT)
        self._next = 0
        self._last = self.over = False
        bare = replace(task, problem=Problem(labels=["-"]))
        self._future = client.submit(
            callable_by_name(run_long_task), problem,
            pickle.dumps((bare, self.name, each, CHECKPOINT_SECONDS)),
            key=self.name, pure=False,
        )  # fmt: skip

    @property
    def has_snapshots(self) -> bool:
        """True if a snapshot has arrived."""
        return self._next > 0

    def poll(self) -> list[Snapshot]:
        """Return the new snapshots. Sets ``over`` at the end; raises the task's error."""
        done = self._future.done()  # read first: then all earlier snapshots are in the queue
        news = []
        for entries in self._queue.get(batch=True, callback_timeout=SCHEDULER_TIMEOUT):
            for number, last, data in entries:
                if number >= self._next or (last and not self._last):
                    self._next, self._last = max(self._next, number + 1), self._last or last
                    news.append(pickle.loads(data))
        if done and not news:
            self._settle()
        return news

    def _settle(self) -> None:
        ended: TaskResult = self._future.result(timeout=SCHEDULER_TIMEOUT)
        self.over = True
        if ended.began:
            log.info("%s continues from snapshot %d.", self.name, ended.began)
        if ended.trace:
            log.error("On a worker of the cluster:\n%s", ended.trace)
        fault = ended.error()
        if fault is not None:
            raise fault
        if not self._last:
            raise HcvizError("A worker of the cluster stopped before the run's end.", "Run again.")

    def send_command(self, word: str) -> None:
        """Send ``run``, ``pause`` or ``stop``."""
        self._word.set(word, callback_timeout=SCHEDULER_TIMEOUT)

    def ended(self) -> bool:
        """Return True if the worker has finished; empties its queue."""
        self._queue.get(batch=True, callback_timeout=SCHEDULER_TIMEOUT)
        return bool(self._future.done())

    def clear(self) -> None:
        """Remove the task from the scheduler. A task that still runs notices it and stops."""
        self._future.cancel()
        self._word.delete()
        self._reached.delete()
        self._queue.close()


__all__ = ["LongTask"]
