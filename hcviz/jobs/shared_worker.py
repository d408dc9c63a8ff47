"""A worker process that runs samplers of several sessions, each on a thread of its own.

:class:`hcviz.jobs.shared_pool.SharedWorker` is the server's end. The server's line decides which
of these runs compute at a time; the others rest in the worker's memory. Draws are summarised here.
So the server's interpreter is free for the pages.
"""

from __future__ import annotations

import os
import pickle
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, Literal

from hcviz.core.cores import share_cores
from hcviz.jobs.priority import lower_priority
from hcviz.jobs.samples import Samples
from hcviz.jobs.snapshot_channel import LatestSnapshotChannel, Message
from hcviz.jobs.task import Task, run_task, unexpected_failure, unpicklable_error
from hcviz.jobs.warming import warm_first_picture, warm_modules
from hcviz.jobs.worker import ReportedPauses, open_pipes, read
from hcviz.session.actions import Arrived, Failed

#: From the server: the number of a job, and an order. "start" has the number of the session's run.
#: "finish" is a "stop" after which the draws are sent.
#: "cores" has the number of runs that share this machine's cores.
Order = (
    tuple[int, Literal["start"], tuple[int, bytes]]
    | tuple[int, Literal["pause", "resume", "stop", "finish"], None]
    | tuple[int, Literal["cores"], int]
)
#: To the server: the number of a job, and a report. A message has packed samples or None. "log" has
#: a method and a traceback.
Report = (
    tuple[Literal["message"], Message, bytes | None]
    | tuple[Literal["samples"], bytes]
    | tuple[Literal["paused", "ended"]]
    | tuple[Literal["log"], str, str]
)

#: Posteriors are packed in at most this share of the time.
POSTERIOR_SHARE = 0.2


class SampleSender:
    """Packs the samples that belong to a message.

    Parameters
    ----------
    samples : Samples or None
        The draws of the run; None if nothing is to be sent.
    """

    def __init__(self, samples: Samples | None) -> None:
        self.samples = samples
        self._tree: object = None
        self._not_before = 0.0  # monotonic seconds

    def packed_for(self, message: Message) -> bytes | None:
        """Return the samples for a message with a tree; None for other messages.

        The posterior comes with a new tree and with the last one, the draws only with the last.
        """
        samples = self.samples
        if samples is None or not isinstance(message, Arrived):
            return None
        snapshot, now = message.snapshot, time.monotonic()
        is_last = snapshot.step == snapshot.total
        is_new = snapshot.tree is not self._tree and now >= self._not_before
        if not (is_last or is_new):
            return samples.packed(with_posterior=False, with_draws=False)
        self._tree = snapshot.tree
        packed = samples.packed(with_draws=is_last)
        done = time.monotonic()
        self._not_before = done + (done - now) / POSTERIOR_SHARE
        return packed


class HostedJob:
    """One run, on its own thread."""

    def __init__(self, number: int, reply: Callable[[Any], None]) -> None:
        self._number, self._send = number, reply
        self.control = ReportedPauses(lambda: self._reply("paused"))
        self._sends_samples = False

    def start(self, run: int, data: bytes) -> None:
        """Run a pickled task with its packed samples."""
        threading.Thread(target=self._work, args=[run, data], name="hcviz-run", daemon=True).start()

    def _reply(self, *report: Any) -> None:
        self._send((self._number, report))

    def stop(self, sends_samples: bool) -> None:
        """Stop the run at its next item."""
        self._sends_samples = sends_samples
        self.control.stop()

    def _work(self, run: int, data: bytes) -> None:
        try:
            task, packed = pickle.loads(data)
        except Exception as fault:
            refusal = unpicklable_error(fault)
            self._reply("message", Failed(run, refusal.message, refusal.hint), None)
        else:
            try:
                self._run(task, packed)
            except Exception as fault:  # else the page would wait for ever
                self._log(task.method, fault)
                self._reply("message", unexpected_failure(run, task.method, fault), None)
        self._reply("ended")

    def _log(self, method: str, fault: BaseException) -> None:
        self._reply("log", method, "".join(traceback.format_exception(fault)))

    def _run(self, task: Task, packed: bytes | None) -> None:
        samples = None
        if packed is not None:
            samples = Samples(task.problem.n_items)
            samples.adopt(packed)
        sender = SampleSender(samples)

        def post(message: Message) -> None:
            self._reply("message", message, sender.packed_for(message))
            channel.acknowledge()  # a full pipe slows the sender

        channel = LatestSnapshotChannel(task.run, post, on_receiver_gone=lambda: os._exit(0))
        run_task(task, channel, self.control, self._log, samples=samples)
        if self.control.stopped.is_set():
            channel.discard()
        channel.join()
        if samples is not None and self._sends_samples:
            self._reply("samples", samples.packed())


def main(warm: bool = True) -> None:
    """Run what the server orders until the pipe closes.

    "ready" is sent as soon as the first picture's kernels are compiled. The others follow.
    """
    lower_priority()
    orders, reply = open_pipes()
    jobs: dict[int, HostedJob] = {}

    def work() -> None:
        if warm:
            warm_first_picture()
        reply("ready")
        if warm:
            warm_modules()

    threading.Thread(target=work, name="hcviz-warm", daemon=True).start()
    try:
        while True:
            number, what, data = read(orders)
            if what == "cores":
                share_cores(data)
            elif what == "start":
                jobs[number] = HostedJob(number, lambda frame: _reply(frame, jobs, reply))
                jobs[number].start(*data)
            elif number in jobs:
                if what in ("stop", "finish"):
                    jobs[number].stop(what == "finish")
                else:
                    jobs[number].control.pause(what == "pause")
    except (EOFError, pickle.UnpicklingError):
        os._exit(0)  # the server has gone: end at once, even during a computation


def _reply(frame: Any, jobs: dict[int, HostedJob], reply: Callable[[Any], None]) -> None:
    """Send a report of a run, and forget the run after its last."""
    number, report = frame
    if report == ("ended",):
        jobs.pop(number, None)
    reply(frame)
