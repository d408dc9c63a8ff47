"""``Task``: one run of a method, as data that can be sent to a worker; ``run_task`` runs it."""

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
from hcviz.core.errors import HcvizError, InvalidData
from hcviz.core.interpreter_exit import log_fault
from hcviz.core.not_groups import avoid
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.jobs.budget import Budget
from hcviz.jobs.recorded_stream import recorded_stream
from hcviz.jobs.samples import Samples
from hcviz.jobs.snapshot_channel import Message
from hcviz.session.actions import Failed, Finished

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Task:
    """One run of a method.

    Attributes
    ----------
    run : int
        The number of the run.
    method, module : str
        The method, and the module that defines it; a new worker imports the module.
    problem, params, seed, start
        What to run, and where it starts.
    rng : numpy.random.Generator or None
        Replaces the generator of ``seed`` and ``run``.
    seconds : float
        If not 0, a run of an ``endless`` method ends when it has settled, or after this time.
    """

    run: int
    method: str
    module: str
    problem: Problem
    params: Mapping[str, Any]
    seed: int
    start: Snapshot | Tree | None
    rng: np.random.Generator | None = None
    seconds: float = 0.0

    def algorithm(self) -> Algorithm:
        """Return the method.

        Raises
        ------
        InvalidParameter
            If there is no method of that name.
        """
        if self.module:
            MODULES.setdefault(self.method, self.module)
        return get(self.method)

    def generator(self) -> np.random.Generator:
        """Return a new copy of the run's random generator."""
        return generator(self.seed, self.run) if self.rng is None else deepcopy(self.rng)


@dataclass
class PauseControl:
    """Pauses or stops a run between two items of its generator."""

    stopped: threading.Event = field(default_factory=threading.Event)
    open: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.open.set()

    def stop(self) -> None:
        """Stop the run."""
        self.stopped.set()
        self.open.set()

    def pause(self, paused: bool) -> None:
        """Pause the run, or let it continue."""
        if paused and not self.stopped.is_set():
            self.open.clear()
        else:
            self.open.set()

    def must_wait(self) -> bool:
        """Return True if the run must not continue now."""
        return not self.open.is_set()

    def wait(self) -> None:
        """Wait until the run may continue, or is stopped."""
        self.open.wait()


class Receiver(Protocol):
    """Receives the messages of a run: a channel, or the outbox of a cluster worker."""

    def offer(self, snapshot: Snapshot) -> None: ...

    def end(self, message: Message) -> None: ...


def start_stream(task: Task) -> Iterator[Snapshot | None]:
    """Return the method's generator. Like :func:`hcviz.run`, it raises before anything runs."""
    method = task.algorithm()
    params = method.parameters(**{**task.params, **endless_params(task)})
    return method.start_run(task.problem, params, task.generator(), task.start)


def can_record(task: Task) -> bool:
    """Return True if the chains of the run can add their draws to samples themselves."""
    return task.algorithm().recorded_run is not None


def start_recorded_stream(
    task: Task, samples: Samples, control: PauseControl, budget: Budget | None
) -> Iterator[Snapshot | None]:
    """Return the snapshots of a run whose chains add their draws to ``samples``.

    Like :func:`hcviz.run`, it raises before anything runs.
    """
    method = task.algorithm()
    params = method.parameters(**{**task.params, **endless_params(task)})
    run = method.start_recorded_run(task.problem, params, task.generator(), task.start)
    return recorded_stream(
        run,
        samples,
        lambda: control.must_wait() or control.stopped.is_set(),
        lambda: budget is not None and budget.end_in_time(),
    )


def summarised(task: Task, snapshot: Snapshot, samples: Samples, budget: Budget | None) -> Snapshot:
    """Check the samples, and return a snapshot with their summary tree and the run's progress."""
    samples.check(task.problem.labels)
    if budget is not None:
        snapshot = budget.update(snapshot)
    if snapshot.step == snapshot.total:
        samples.check(task.problem.labels, is_last=True)
    first = initial_tree(task) if snapshot.step == 0 else None
    return samples.with_summary_tree(snapshot, first, _shows_summary(task.start))


def endless_params(task: Task) -> Mapping[str, Any]:
    """Return parameters that let the run continue until its budget ends; empty for other runs."""
    method = task.algorithm()
    if not task.seconds or method.endless is None:
        return {}
    return method.endless(method.parameters(**task.params), task.problem)


def initial_tree(task: Task) -> Tree | None:
    """Return the tree that the task starts from, repaired if it violates a hard constraint.

    A sampler's state holds a draw, while the shown tree is the summary of many draws. The summary
    stays on the page where the constraints allow it.
    """
    start, problem = task.start, task.problem
    tree = start.tree if isinstance(start, Snapshot) else start
    if tree is None or tree.n_leaves != problem.n_items:
        return None
    if task.algorithm().constraint_mode(task.params) == "hard":
        return avoid(tree, problem.not_groups, problem.triplets, problem.groups)
    return avoid(tree, problem.not_groups)


def _shows_summary(start: Snapshot | Tree | None) -> bool:
    """Return True if a sampler's snapshot has made draws, so that its tree is a summary."""
    if not isinstance(start, Snapshot) or start.step == 0:
        return False
    return bool(getattr(start.state, "chains", ()))


def resume_stream(task: Task, reached: Snapshot) -> Iterator[Snapshot | None]:
    """Yield what the run yields after the snapshot ``reached``, for a method with ``remaining``."""
    method = task.algorithm()
    if method.remaining is None:
        raise ValueError(f"The method {task.method} cannot continue from a checkpoint.")
    if reached.step == reached.total:
        return
    left = method.remaining(method.parameters(**task.params), reached)
    for snapshot in start_stream(replace(task, params={**task.params, **left}, start=reached)):
        if snapshot is None:
            yield None
        elif snapshot.step > 0:  # step 0 repeats `reached`
            yield replace(snapshot, step=snapshot.step + reached.step, total=reached.total)


def run_task(
    task: Task,
    receiver: Receiver,
    control: PauseControl,
    report: Callable[[str, BaseException], None] | None = None,
    samples: Samples | None = None,
    stream: Callable[[Task], Iterator[Snapshot | None]] = start_stream,
    refused: Callable[[HcvizError], None] = lambda fault: None,
) -> None:
    """Run the task to its end, or until ``control`` stops it, and send messages to ``receiver``.

    The function does not raise. An :class:`HcvizError` becomes ``Failed`` with its text. Any other
    exception is reported as a bug and becomes ``Failed``.

    Parameters
    ----------
    task : Task
    receiver : Receiver
    control : PauseControl
    report : callable, optional
        Receives the method's name and the unexpected exception. By default it is logged.
    samples : Samples, optional
        Receives every snapshot, also those that are not delivered.
    stream : callable
        Returns the snapshots of the task, if they are not computed here.
    refused : callable
        Receives an :class:`HcvizError` before it becomes a text.
    """
    try:
        budget = (
            Budget(samples, task.seconds) if samples is not None and endless_params(task) else None
        )
        records = samples is not None and stream is start_stream and can_record(task)
        if samples is not None and records:
            made = start_recorded_stream(task, samples, control, budget)
        else:
            made = stream(task)
        try:
            for snapshot in made:
                if snapshot is not None:
                    if samples is not None:
                        if not records:
                            ends = budget is not None and budget.end_in_time()
                            samples.take_tree(snapshot, ends or snapshot.step == snapshot.total)
                        snapshot = summarised(task, snapshot, samples, budget)
                    receiver.offer(snapshot)
                    if budget is not None and budget.over:
                        break
                if control.must_wait():
                    paused = time.monotonic()
                    control.wait()
                    if budget is not None:
                        budget.extend(time.monotonic() - paused)
                if control.stopped.is_set():
                    return
        finally:
            close = getattr(made, "close", None)
            if close is not None:
                close()
        receiver.end(Finished(task.run))
    except HcvizError as fault:
        refused(fault)
        receiver.end(Failed(task.run, fault.message, fault.hint))
    except Exception as fault:
        (report or log_unexpected)(task.method, fault)
        receiver.end(unexpected_failure(task.run, task.method, fault))


def unpicklable_error(fault: BaseException) -> InvalidData:
    """Return the error for a task that cannot be pickled or unpickled."""
    return InvalidData(
        f"The problem could not be sent to a worker process ({fault}).",
        "Put the classes that it uses, such as its oracle's, into a module that can be imported.",
    )


def log_unexpected(method: str, fault: BaseException) -> None:
    """Log a bug in a method."""
    log_fault(log, fault, "The method %s failed unexpectedly.", method)


def unexpected_failure(run: int, method: str, fault: BaseException) -> Message:
    """Return the message for an unexpected exception."""
    if isinstance(fault, MemoryError):
        return Failed(
            run,
            f"The method {method} ran out of memory.",
            "Use fewer items, or a method that needs less memory.",
        )
    return Failed(
        run,
        f"The method {method} failed because of a bug ({type(fault).__name__}).",
        "Your work is kept. The server's log has the details.",
    )
