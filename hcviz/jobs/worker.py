"""A worker process that runs tasks from a pipe, one after the other.

:data:`hcviz.jobs.pool.BOOT` starts it as a plain child of the server. The ``multiprocessing``
package is not used: it would run the server's main script again in the child, and start a tracker
process. The worker ends when the pipe closes, even during a long call.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, Literal

from hcviz.jobs.priority import lower_priority
from hcviz.jobs.snapshot_channel import LatestSnapshotChannel, Message
from hcviz.jobs.task import PauseControl, Task, run_task, unpicklable_error
from hcviz.jobs.warming import warm_modules
from hcviz.session.actions import Failed

#: From the server: the run and the pickled task, or a word. A task that cannot be unpickled then
#: fails alone.
Order = tuple[int, bytes] | Literal["pause", "resume"]
#: From the worker: "ready", "paused", a traceback to log, or a message of the run.
Reply = Literal["ready", "paused"] | tuple[Literal["log"], str, str] | Message


def read(pipe: BinaryIO) -> Any:
    """Return the next frame; EOFError if the other end has closed."""
    return pickle.load(pipe)


def write(pipe: BinaryIO, frame: Any) -> None:
    """Send a frame."""
    pipe.write(pickle.dumps(frame, protocol=pickle.HIGHEST_PROTOCOL))
    pipe.flush()


class ReportedPauses(PauseControl):
    """Calls ``report`` when the run has paused."""

    def __init__(self, report: Callable[[], None]) -> None:
        super().__init__()
        self._report = report

    def wait(self) -> None:
        """Report the pause, then wait."""
        self._report()
        super().wait()


def open_pipes() -> tuple[BinaryIO, Callable[[Any], None]]:
    """Return the pipe of the server's orders, and a function that sends a reply."""
    orders, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with the replies
    lock = threading.Lock()

    def reply(frame: Any) -> None:
        try:
            with lock:
                write(replies, frame)
        except OSError:
            os._exit(0)  # the server has gone

    return orders, reply


def main(warm: bool = True, first: Sequence[str] = ()) -> None:
    """Warm up, the modules ``first`` before the others, unless a task waits.

    Then send "ready", and run tasks until the pipe closes.
    """
    lower_priority()
    orders, reply = open_pipes()
    tasks: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
    control = ReportedPauses(lambda: reply("paused"))

    def listen() -> None:
        try:
            while True:
                order = read(orders)
                control.pause(order == "pause")  # a new task starts without a pause
                if not isinstance(order, str):
                    tasks.put(order)
        except (EOFError, pickle.UnpicklingError):  # between two orders, or in the middle of one
            os._exit(0)  # the server has gone: end at once, even during a computation

    threading.Thread(target=listen, daemon=True).start()
    if warm:
        warm_modules(stop_early=lambda: not tasks.empty(), backwards=True, first=first)
    reply("ready")
    while True:
        _work(*tasks.get(), control, reply)


def _work(run: int, data: bytes, control: PauseControl, reply: Callable[[Reply], None]) -> None:
    def report(method: str, fault: BaseException) -> None:
        reply(("log", method, "".join(traceback.format_exception(fault))))

    def post(message: Message) -> None:
        reply(message)
        channel.acknowledge()  # a full pipe slows the sender

    channel = LatestSnapshotChannel(run, post, on_receiver_gone=lambda: os._exit(0))
    try:
        task: Task = pickle.loads(data)
    except Exception as fault:
        refusal = unpicklable_error(fault)
        channel.end(Failed(run, refusal.message, refusal.hint))
    else:
        run_task(task, channel, control, report)
    channel.join()
