"""``Task``: one run of one method, as data that can travel to a worker; ``perform`` does it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from hcviz.algorithms import MODULES, generator, get
from hcviz.algorithms.base import Algorithm
from hcviz.core.build import build_guided
from hcviz.core.errors import HcvizError, InvalidData
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs.budget import Budget
from hcviz.jobs.courier import Message
from hcviz.jobs.samples import Samples
from hcviz.session.actions import Failed, Finished

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Task:
    """What to run. ``module`` says where the method is written, for a worker that starts afresh;
    ``rng`` takes the place of the generator of run ``run`` of ``seed``. ``seconds``: where it is
    not 0, a run of a method that is ``endless`` ends when it has settled, or after this time."""

    run: int
    method: str
    module: str
    problem: Problem
    params: Mapping[str, Any]
    seed: int
    start: Snapshot | Tree | None
    rng: np.random.Generator | None = None
    seconds: float = 0.0

    def known(self) -> Algorithm:
        """The method; :class:`InvalidParameter` if there is none of that name."""
        if self.module:
            MODULES.setdefault(self.method, self.module)
        return get(self.method)

    def generator(self) -> np.random.Generator:
        """The run's random numbers, from their beginning."""
        return generator(self.seed, self.run) if self.rng is None else deepcopy(self.rng)


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


class Receiver(Protocol):
    """Who is told: a :class:`hcviz.jobs.courier.Courier`, or a worker's outbox."""

    def offer(self, snapshot: Snapshot) -> None: ...

    def end(self, message: Message) -> None: ...


def begun(task: Task) -> Iterator[Snapshot | None]:
    """The method's own generator. Raises before anything runs, as :func:`hcviz.run` does."""
    method = task.known()
    params = method.parameters(**{**task.params, **endless(task)})
    return method.start_run(task.problem, params, task.generator(), task.start)


def endless(task: Task) -> Mapping[str, Any]:
    """Parameters with which the run goes on until its budget is spent; none for other runs."""
    method = task.known()
    if not task.seconds or method.endless is None:
        return {}
    return method.endless(method.parameters(**task.params), task.problem)


def first_tree(task: Task) -> Tree | None:
    """The tree that the task starts from, repaired where it violates a hard triplet.

    A sampler's state holds a draw, and the tree shown with it is the summary of many draws. The
    summary stays on the screen where the constraints allow it.
    """
    start, problem = task.start, task.problem
    tree = start.tree if isinstance(start, Snapshot) else start
    if tree is None or tree.n_leaves != problem.n_items:
        return None
    if task.known().constraint_mode(task.params) == "hard":
        return build_guided(tree, problem.triplets)
    return tree


def _shows_summary(start: Snapshot | Tree | None) -> bool:
    """Whether a snapshot of a sampler has made draws, so that its tree is a summary of them."""
    if not isinstance(start, Snapshot) or start.step == 0:
        return False
    return bool(getattr(start.state, "chains", ()))


def taken_up(task: Task, reached: Snapshot) -> Iterator[Snapshot | None]:
    """What the run yields after ``reached``, a snapshot of it, for a method that has ``rest``."""
    method = task.known()
    if method.remaining is None:
        raise ValueError(f"{task.method} cannot be taken up in the middle")
    if reached.step == reached.total:
        return
    left = method.remaining(method.parameters(**task.params), reached)
    for snapshot in begun(replace(task, params={**task.params, **left}, start=reached)):
        if snapshot is None:
            yield None
        elif snapshot.step > 0:  # at 0 it is ``reached`` itself
            yield replace(snapshot, step=snapshot.step + reached.step, total=reached.total)


def perform(
    task: Task,
    courier: Receiver,
    gate: Gate,
    report: Callable[[str, BaseException], None] | None = None,
    samples: Samples | None = None,
    stream: Callable[[Task], Iterator[Snapshot | None]] = begun,
    refused: Callable[[HcvizError], None] = lambda fault: None,
) -> None:
    """Run the task to its end or until the gate stops it; what happens goes to the courier.

    Never raises: a :class:`HcvizError` becomes ``Failed`` with its sentence; anything else is
    ``report``-ed (by default: logged with its traceback) and becomes ``Failed`` as unexpected.
    ``samples`` takes every snapshot, also those that the courier has no time for. ``stream`` is
    what the task yields, where that is not made here. ``refused`` is told of a refusal as it is,
    before it becomes a sentence.
    """
    try:
        made = stream(task)
        budget = Budget(samples, task.seconds) if samples is not None and endless(task) else None
        try:
            for snapshot in made:
                if snapshot is not None:
                    if samples is not None:
                        samples.take(snapshot)
                        if budget is not None:
                            snapshot = budget.mark(snapshot)
                        first = first_tree(task) if snapshot.step == 0 else None
                        snapshot = samples.summarised(snapshot, first, _shows_summary(task.start))
                    courier.offer(snapshot)
                    if budget is not None and budget.over:
                        break
                if not gate.open.is_set():
                    paused = time.monotonic()
                    gate.open.wait()
                    if budget is not None:
                        budget.wait(time.monotonic() - paused)
                if gate.stopped.is_set():
                    return
        finally:
            close = getattr(made, "close", None)
            if close is not None:
                close()
        courier.end(Finished(task.run))
    except HcvizError as fault:
        refused(fault)
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
