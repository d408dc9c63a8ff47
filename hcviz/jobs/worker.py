"""The worker's side: a process that runs tasks sent through a pipe, one after the other.

A plain child of the server, started by :data:`hcviz.jobs.pool.BOOT` rather than by
``multiprocessing``: that would run the server's main script again in the child (``app.py``, a
notebook's kernel, anybody's unguarded script) and keep a tracker process beside it. The worker ends
when the pipe closes, however the server went, even in the middle of a long call.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO, Literal

from hcviz.jobs.courier import Courier, Message
from hcviz.jobs.task import Gate, Task, perform, untransportable
from hcviz.jobs.warming import warm_modules
from hcviz.session.actions import Failed

#: From the server: run and pickled task (as bytes: one that cannot be read fails alone), or a word.
Order = tuple[int, bytes] | Literal["pause", "resume"]
#: From the worker: "ready", a traceback for the log, or a message of the run.
Reply = Literal["ready"] | tuple[Literal["log"], str, str] | Message


def read(pipe: BinaryIO) -> Any:
    """The next frame; EOFError when the other side has gone."""
    return pickle.load(pipe)


def write(pipe: BinaryIO, frame: Any) -> None:
    pipe.write(pickle.dumps(frame, protocol=pickle.HIGHEST_PROTOCOL))
    pipe.flush()


def main(warm: bool = True) -> None:
    """Warm up (unless there is work already), say "ready", then run tasks until the pipe closes."""
    orders, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not end up among the replies
    lock = threading.Lock()

    def reply(frame: Reply) -> None:
        try:
            with lock:
                write(replies, frame)
        except OSError:
            os._exit(0)  # the server has gone

    tasks: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
    gate = Gate()

    def listen() -> None:
        try:
            while True:
                order = read(orders)
                gate.pause(order == "pause")  # a new task begins with the gate open
                if not isinstance(order, str):
                    tasks.put(order)
        except (EOFError, pickle.UnpicklingError):  # between two orders, or in the middle of one
            os._exit(0)  # the server has gone: end at once, whatever is being computed

    threading.Thread(target=listen, daemon=True).start()
    if warm:
        warm_modules(unless=lambda: not tasks.empty())
    reply("ready")
    while True:
        _work(*tasks.get(), gate, reply)


def _work(run: int, data: bytes, gate: Gate, reply: Callable[[Reply], None]) -> None:
    def report(method: str, fault: BaseException) -> None:
        reply(("log", method, "".join(traceback.format_exception(fault))))

    def post(message: Message) -> None:
        reply(message)
        courier.acknowledge()  # the pipe itself is the brake

    courier = Courier(run, post, lost=lambda: os._exit(0))
    try:
        task: Task = pickle.loads(data)
    except Exception as fault:
        refusal = untransportable(fault)
        courier.end(Failed(run, refusal.message, refusal.hint))
    else:
        perform(task, courier, gate, report)
    courier.join()
