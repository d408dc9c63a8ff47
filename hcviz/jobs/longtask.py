"""A run as one long task on a Dask worker: the worker's side, and the client's.

Its snapshots come back through a distributed queue, numbered; a distributed variable says whether
it is to go on, wait or stop; another keeps the newest snapshot from which it can be taken up. When
its worker dies, Dask begins it again on another: it goes on from there, or makes once more what it
had made, and what the client knows already does not count twice.
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
from hcviz.jobs.courier import Message
from hcviz.jobs.task import Gate, Task, begun, perform, taken_up
from hcviz.session.actions import Failed

#: Seconds between two looks at whether to go on, and between two snapshots to go on from.
LOOK, CHECKPOINT = 0.1, 2.0
#: Snapshots that wait at the worker, and messages in the queue, at most: then the run waits.
WAITING, MESSAGES = 64, 4
#: Seconds within which a scheduler must answer.
PATIENCE = 20.0

log = logging.getLogger(__name__)

#: In the queue: the snapshot's number in the run, whether it is the last one, and itself, pickled.
Entry = tuple[int, bool, bytes]


@dataclass(frozen=True)
class Ended:
    """How a long task ended: the sentence and hint of a refusal, the refusal itself, pickled, where
    it can travel, and a traceback where the fault is ours. ``began``: the number of the snapshot
    with which its last attempt began."""

    began: int
    fault: tuple[str, str] | None
    trace: str
    refusal: bytes = b""

    def error(self) -> HcvizError | None:
        """What the task raised, as itself: with its class, and whatever else it says."""
        if self.fault is None:
            return None
        try:
            itself = pickle.loads(self.refusal)
        except Exception:  # of a class that is not known here, or cannot be made again
            itself = None
        return itself if isinstance(itself, HcvizError) else HcvizError(*self.fault)


def channels(client: Any, name: str) -> tuple[Any, Any, Any]:
    """Of the long task of that name: the queue of what it says, the word that steers it, and where
    it can be taken up."""
    distributed: Any = import_module("distributed")
    return (
        distributed.Queue(name, client=client),
        distributed.Variable(name, client=client),
        distributed.Variable(f"{name}-reached", client=client),
    )


def by_name(function: Callable[..., Any]) -> Callable[[Any, bytes], Any]:
    """``function`` of its first argument and of the others, pickled, for Dask to carry.

    Its scheduler unpickles whatever it passes on. What it sees of this is neither ours nor needs
    hcviz, which takes seconds to import, and which it may not have.
    """
    module, name = function.__module__, function.__qualname__

    def call(first: Any, others: bytes) -> Any:
        from importlib import import_module
        from pickle import loads

        return getattr(import_module(module), name)(first, *loads(others))

    return call


# ---------------------------------------------------------------------- the worker's side


def work(problem: Problem, task: Task, name: str, each: bool, pace: float) -> Ended:
    """The task (whose problem travels apart). ``each``: every snapshot counts, not only the newest
    one; ``pace``: seconds between two to go on from."""
    distributed: Any = import_module("distributed")
    client, worker = distributed.get_client(), distributed.get_worker()
    key = worker.get_current_task()
    distributed.secede()  # make room for whoever waits: chains must run at the same time

    def wanted() -> bool:
        state = worker.state.tasks.get(key)
        return state is not None and state.state in ("executing", "long-running")

    task = replace(task, problem=problem)
    resumes = task.known().remaining is not None
    outbox = Outbox(client, name, wanted, each, pace if resumes else None)
    try:
        found = outbox.checkpoint()
    except BaseException:  # who asked for it is gone: so is the thread that reports
        outbox.close()
        raise
    stream = begun
    if found is not None:
        stream = partial(taken_up, reached=found)
    perform(task, outbox, outbox.gate, outbox.report, stream=stream, refused=outbox.refused)
    return outbox.close()


class Outbox:
    """Takes snapshots on the run's thread and sends them on one of its own, which also looks at
    whether the run is to wait (then ``gate`` is closed) or stop."""

    def __init__(
        self, client: Any, name: str, wanted: Callable[[], bool], each: bool, pace: float | None
    ) -> None:
        self.gate = Gate()
        self._queue, self._word, self._reached = channels(client, name)
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
        """The snapshot to go on from; None at the beginning of the run."""
        kept = self._reached.get(timeout=f"{PATIENCE} s")
        if kept is None:
            return None
        self._number = self._began = kept[0] + 1
        found: Snapshot = pickle.loads(kept[1])
        return found

    def offer(self, snapshot: Snapshot) -> None:
        """Send this one; waits where many are waiting to be sent and each one counts."""
        with self._changed:
            if not self._each:
                self._waiting.clear()
            self._waiting.append((self._number, snapshot))
            self._number += 1
            self._changed.notify_all()
            while len(self._waiting) >= WAITING and not self.gate.stopped.is_set():
                self._changed.wait(LOOK)

    def end(self, message: Message) -> None:
        if isinstance(message, Failed):
            self._fault = (message.message, message.hint)

    def refused(self, fault: HcvizError) -> None:
        with contextlib.suppress(Exception):  # then its sentence has to do
            self._refusal = pickle.dumps(fault)

    def report(self, method: str, fault: BaseException) -> None:
        self._trace = "".join(traceback.format_exception(fault))

    def close(self) -> Ended:
        """Send what still waits; how it ended."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        self._carrier.join()
        self._queue.close()
        return Ended(self._began, self._fault, self._trace, self._refusal)

    def _carry(self) -> None:
        looked = saved = time.monotonic()
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._waiting or self._over, LOOK)
                    batch, self._waiting = self._waiting, []
                    over = self._over
                    self._changed.notify_all()
                if batch:
                    entries = [
                        (number, shown.step == shown.total, pickle.dumps(shown))
                        for number, shown in batch
                    ]
                    sent = self._put(entries)
                    # Not before it is in the queue: what is skipped later must be known there.
                    if sent and self._pace is not None and time.monotonic() - saved >= self._pace:
                        self._reached.set([entries[-1][0], entries[-1][2]])
                        saved = time.monotonic()
                if over:
                    return
                if time.monotonic() - looked >= LOOK:
                    self._look()
                    looked = time.monotonic()
        except Exception as fault:
            log.warning("A run can no longer be reported, and stops.", exc_info=True)
            self._fault = ("A worker of the cluster could no longer report what it did.", "")
            self._refusal = b""
            self._trace = "".join(traceback.format_exception(fault))
            self.gate.stop()

    def _put(self, entries: list[Entry]) -> bool:
        # By its size rather than with a timeout, of which the scheduler would log a traceback.
        while self._queue.qsize() >= MESSAGES:
            self._look()
            if self.gate.stopped.wait(LOOK / 2):
                return False
        self._queue.put(entries)
        return True

    def _look(self) -> None:
        word = self._word.get(timeout=f"{PATIENCE} s") if self._wanted() else "stop"
        if word == "stop":
            self.gate.stop()
        else:
            self.gate.pause(word == "pause")


# ---------------------------------------------------------------------- the client's side


class LongTask:
    """A long task, as who asked for it sees it: its snapshots in order, each once.

    ``problem``: a future of the task's problem; it is done by a worker that has it. All calls may
    raise what Dask raises.
    """

    def __init__(self, client: Any, task: Task, problem: Any, each: bool) -> None:
        self.name = f"hcviz-{task.method}-{uuid4().hex}"
        self._queue, self._word, self._reached = channels(client, self.name)
        self._word.set("run", callback_timeout=PATIENCE)
        self._reached.set(None, callback_timeout=PATIENCE)
        self._next = 0
        self._last = self.over = False
        bare = replace(task, problem=Problem(labels=["-"]))
        self._future = client.submit(
            by_name(work), problem, pickle.dumps((bare, self.name, each, CHECKPOINT)),
            key=self.name, pure=False,
        )  # fmt: skip

    @property
    def heard(self) -> bool:
        """Whether anything has come."""
        return self._next > 0

    def poll(self) -> list[Snapshot]:
        """What has come since. Sets ``over`` at the end; raises the refusal it ended with."""
        done = self._future.done()  # asked first: what was sent before the end is in the queue
        news = []
        for entries in self._queue.get(batch=True, callback_timeout=PATIENCE):
            for number, last, data in entries:
                if number >= self._next or (last and not self._last):
                    self._next, self._last = max(self._next, number + 1), self._last or last
                    news.append(pickle.loads(data))
        if done and not news:
            self._settle()
        return news

    def _settle(self) -> None:
        ended: Ended = self._future.result(timeout=PATIENCE)  # or what became of it is raised
        self.over = True
        if ended.began:
            log.info("%s was taken up at snapshot %d.", self.name, ended.began)
        if ended.trace:
            log.error("On a worker of the cluster:\n%s", ended.trace)
        fault = ended.error()
        if fault is not None:
            raise fault
        if not self._last:
            raise HcvizError("A worker of the cluster left off before the run's end.", "Run again.")

    def say(self, word: str) -> None:
        """``run``, ``pause`` or ``stop``."""
        self._word.set(word, callback_timeout=PATIENCE)

    def ended(self) -> bool:
        """Whether its worker has done with it; makes room in the queue for what it still says."""
        self._queue.get(batch=True, callback_timeout=PATIENCE)
        return bool(self._future.done())

    def clear(self) -> None:
        """Leave nothing behind at the scheduler. A task that still runs finds out, and stops."""
        self._future.cancel()
        self._word.delete()
        self._reached.delete()
        self._queue.close()


__all__ = ["LongTask"]
