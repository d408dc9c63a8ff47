"""``Task``: one run of one method, as data that can travel to a worker; ``perform`` does it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hcviz.algorithms import MODULES, generator, get
from hcviz.core.errors import HcvizError, InvalidData
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs.courier import Courier, Message
from hcviz.jobs.samples import Samples
from hcviz.session.actions import Failed, Finished

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Task:
    """What to run. ``module`` says where the method is written, for a worker that starts afresh."""

    run: int
    method: str
    module: str
    problem: Problem
    params: Mapping[str, Any]
    seed: int
    start: Snapshot | Tree | None


@dataclass
class Gate:
    """Where a run may be made to wait, or to end: between two items of its generator."""

    stopped: threading.Event = field(default_factory=threading.Event)
    open: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.open.set()

    def stop(self) -> None:
        self.stopped.set()
        self.open.set()

    def pause(self, paused: bool) -> None:
        if paused and not self.stopped.is_set():
            self.open.clear()
        else:
            self.open.set()


def perform(
    task: Task,
    courier: Courier,
    gate: Gate,
    report: Callable[[str, BaseException], None] | None = None,
    samples: Samples | None = None,
) -> None:
    """Run the task to its end or until the gate stops it; what happens goes to the courier.

    Never raises: a :class:`HcvizError` becomes ``Failed`` with its sentence; anything else is
    ``report``-ed (by default: logged with its traceback) and becomes ``Failed`` as unexpected.
    ``samples`` takes every snapshot, also those that the courier has no time for.
    """
    try:
        MODULES.setdefault(task.method, task.module)
        method = get(task.method)
        params = method.parameters(**task.params)
        rng = generator(task.seed, task.run)
        stream = method.start_run(task.problem, params, rng, task.start)
        try:
            for snapshot in stream:
                if snapshot is not None:
                    if samples is not None:
                        samples.take(snapshot)
                    courier.offer(snapshot)
                gate.open.wait()
                if gate.stopped.is_set():
                    return
        finally:
            close = getattr(stream, "close", None)
            if close is not None:
                close()
        courier.end(Finished(task.run))
    except HcvizError as fault:
        courier.end(Failed(task.run, fault.message, fault.hint))
    except Exception as fault:
        (report or log_unexpected)(task.method, fault)
        courier.end(unexpected(task.run, task.method, fault))


def untransportable(fault: BaseException) -> InvalidData:
    """A task that does not survive pickling, on either side."""
    return InvalidData(
        f"The problem could not be taken to a worker process ({fault}).",
        "Put the classes it uses (its oracle's, say) into a module that can be imported.",
    )


def log_unexpected(method: str, fault: BaseException) -> None:
    log.error("The method %s failed unexpectedly.", method, exc_info=fault)


def unexpected(run: int, method: str, fault: BaseException) -> Message:
    """How a fault of ours is shown."""
    if isinstance(fault, MemoryError):
        return Failed(
            run,
            f"The method {method} ran out of memory.",
            "Take fewer items, or a method that asks for less.",
        )
    return Failed(
        run,
        f"Something unexpected happened in the method {method} ({type(fault).__name__}).",
        "Nothing is lost; the server's log has the details.",
    )
