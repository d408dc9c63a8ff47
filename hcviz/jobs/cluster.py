"""Runs on the workers of a Dask scheduler, for the command line (``--scheduler``) and the page.

Only this module and ``long_task.py`` use Dask (the extra ``hcviz[distributed]``). They are imported
only if an address is given.

The active methods divide large sets in this process, and the workers compute parts: placements, and
whole sets of up to 20,000 items. Features are split into shards. All other runs are long tasks: one
for each chain of a sampler, or one for the run. Seeds follow from paths, and checkpoints contain
the generator's state. So the result does not change when a worker dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import Any
from uuid import uuid4

import numpy as np

from hcviz.algorithms import MODULES
from hcviz.algorithms.active import framework
from hcviz.algorithms.active.queries import strides, tallied
from hcviz.algorithms.active.recursion import build_subtree
from hcviz.algorithms.declared_parts import SampledDivision
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import ClusterError, HcvizError, InvalidData
from hcviz.core.problem import Problem, as_problem
from hcviz.core.similarity_oracles import FeatureOracle, oracle_of
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.long_task import SCHEDULER_TIMEOUT, LongTask, callable_by_name
from hcviz.jobs.task import PauseControl, Task, unpicklable_error
from hcviz.jobs.worker_watchdog import Stream, watch_workers

#: Seconds before a scheduler that did not answer is contacted again.
RETRY_SECONDS = 30.0
#: Bytes of features in a shard.
SHARD_BYTES = 4 * 2**20
#: Maximal number of bytes in one request; Dask warns above 10 MB.
BATCH_BYTES = 2 * SHARD_BYTES + SHARD_BYTES // 4
#: Seconds within which a scheduler must accept a connection and list its workers.
CONNECT_TIMEOUT = 5.0
#: Minimal and maximal number of seconds between two polls for snapshots.
MIN_POLL_SECONDS, MAX_POLL_SECONDS = 0.005, 0.1
#: A chain with this many snapshots that wait for the other chains is not polled.
MAX_QUEUED = 256
#: Seconds that a stopped run has to end.
STOP_TIMEOUT = 5.0

log = logging.getLogger(__name__)


class Cluster:
    """The address of a Dask scheduler, and the client that this process shares."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._lock = threading.Lock()  # never held while the scheduler is waited for
        self._client: Any = None
        self._refused: tuple[float, ClusterError] | None = None
        self._look: tuple[float, Future[Any]] | None = None  # start and result of the present check
        self._closed = 0  # the number of calls of `close`

    def client(self, timeout: float | None = None) -> Any:
        """Return a client whose scheduler has workers.

        The scheduler is contacted on its own thread, once for all callers. Each caller waits at
        most ``timeout`` seconds (None: :data:`CONNECT_TIMEOUT`) from the start of this check.

        Raises
        ------
        ClusterError
            If the scheduler does not answer or has no workers. The failure is cached for a while.
        """
        timeout = CONNECT_TIMEOUT if timeout is None else timeout
        with self._lock:
            if self._look is None:
                self._look = (time.monotonic(), Future())
                threading.Thread(
                    target=self._ask, args=(self._look[1], self._closed),
                    name="hcviz-scheduler", daemon=True,
                ).start()  # fmt: skip
            began, found = self._look
        try:
            return found.result(max(0.0, began + timeout - time.monotonic()))
        except TimeoutError:
            raise _no_answer(self.address) from None

    @property
    def is_checking(self) -> bool:
        """True while the scheduler is being contacted."""
        return self._look is not None

    def _ask(self, found: Future[Any], closed: int) -> None:
        """Check the scheduler once; runs on its own thread."""
        client: Any = None
        fault: BaseException | None = None
        try:
            client, workers = self._client_and_workers()
            if not workers:
                fault = ClusterError(
                    f"The Dask scheduler at {self.address} has no workers.",
                    f"Start some: dask worker {self.address}.",
                )
        except BaseException as raised:
            fault = raised
        with self._lock:
            self._look = None
            if closed == self._closed:
                self._client = client or self._client
            elif client is not None:  # `close` was called meanwhile
                threading.Thread(target=_close, args=(client,), daemon=True).start()
                fault = _no_answer(self.address)
        if fault is None:
            found.set_result(client)
        else:
            found.set_exception(fault)

    def _client_and_workers(self) -> tuple[Any, list[str]]:
        """Return a client and the workers. The present client is used if it is still connected."""
        client = self._client
        if client is not None and client.status != "running":
            # On a thread, because `close` waits until the client stops to reconnect.
            threading.Thread(target=_close, args=(client,), daemon=True).start()
            self._client = client = None
        if self._refused is not None and time.monotonic() - self._refused[0] < RETRY_SECONDS:
            raise self._refused[1]
        made = None
        try:
            if client is None:
                client = made = connect(self.address, CONNECT_TIMEOUT)
            workers = worker_addresses(client, self.address, CONNECT_TIMEOUT)
        except ClusterError as fault:
            self._refused = (time.monotonic(), fault)
            if made is not None:
                _close(made)
            raise
        self._refused = None
        return client, workers

    def start(
        self,
        task: Task,
        control: PauseControl | None = None,
        timeout: float | None = None,
        on_waiting: Callable[[str], None] = lambda waiting: None,
    ) -> Stream:
        """Return a generator of the task's snapshots, computed on the cluster; it also yields None.

        Parameters
        ----------
        task : Task
        control : PauseControl, optional
            Pauses the workers.
        timeout : float, optional
            Seconds to wait for the scheduler.
        on_waiting : callable
            Receives a sentence when no worker starts tasks, and an empty text when one does again.

        Raises
        ------
        ClusterError
            If the task cannot start on the cluster.
        HcvizError
            If the task is invalid; and, from the generator, if the cluster is lost later.
        """
        client = self.client(timeout)
        method = task.algorithm()
        given = method.parameters(**task.params)
        problem = task.problem
        fault = method.missing_data(problem)
        if fault:
            raise InvalidData(fault)
        if method.sampled_division is not None and problem.n_items > framework.TASK:
            seed = int(task.generator().integers(2**63))  # the first number that a method draws
            made = method.sampled_division(given)
            oracle = oracle_of(problem)
            grown = partial(
                grow_on_client, client, made, oracle, seed, problem.triplets, problem.groups
            )
            held = pausable(grown, PauseControl() if control is None else control)
            return self._with_clear_errors(
                watch_workers(held, partial(_count_workers, client), on_waiting)
            )
        try:
            data = pickle.dumps(problem)
        except Exception as reason:
            error = unpicklable_error(reason)
            raise ClusterError(error.message, error.hint) from None
        control = PauseControl() if control is None else control
        long = _long(client, self.address, task, data, control)
        return self._with_clear_errors(
            watch_workers(long, partial(_count_workers, client), on_waiting)
        )

    def _with_clear_errors(self, stream: Iterator[Snapshot | None]) -> Stream:
        """Yield from the stream, and replace the cluster's exceptions with clear errors."""
        try:
            yield from stream
        except HcvizError:
            raise
        except (Exception, asyncio.CancelledError) as fault:
            raise self._describe_failure(fault) from fault

    def _describe_failure(self, fault: BaseException) -> BaseException:
        """Return the error to raise for an exception of the cluster."""
        kept = "The last tree is kept. Run it again."
        name = type(fault).__name__
        gone = self._client is None or self._client.status != "running"
        if isinstance(fault, CancelledError) and not gone:
            return HcvizError("The workers that held the data ended, so the run stopped.", kept)
        if gone or isinstance(fault, OSError | TimeoutError | asyncio.CancelledError):
            return HcvizError(
                f"The Dask scheduler at {self.address} went away, and the run stopped ({name}).",
                kept,
            )
        if name == "KilledWorker":
            return HcvizError(
                "Several workers of the cluster ended during this run, perhaps out of memory.",
                "Use fewer items, or workers with more memory.",
            )
        if isinstance(fault, pickle.PicklingError | TypeError) and "serialize" in str(fault):
            return unpicklable_error(fault)
        if isinstance(fault, ImportError | AttributeError | pickle.UnpicklingError):
            return HcvizError(
                f"The workers of the cluster cannot run this task ({name}: {fault}).",
                "They need the same hcviz, and the modules of the problem's oracle.",
            )
        return fault

    def close(self) -> None:
        """Close the client. May be called twice."""
        with self._lock:
            self._closed += 1
            client, self._client = self._client, None
        if client is not None:
            _close(client)


@cache
def cluster_at(address: str) -> Cluster:
    """Return the cluster of an address, one in this process."""
    return Cluster(address)


def connect(address: str, timeout: float | None = None) -> Any:
    """Return a Dask client of the scheduler at ``address``.

    Raises
    ------
    ClusterError
        If there is no answer within ``timeout`` seconds (None: :data:`CONNECT_TIMEOUT`).
    """
    timeout = CONNECT_TIMEOUT if timeout is None else timeout
    try:
        from distributed import Client

        make: Any = Client  # without types
    except ImportError:
        raise ClusterError(
            "A cluster needs the package distributed, which is not installed.",
            "pip install hcviz[distributed]",
        ) from None
    try:
        # The handshake comes first: a Dask client for an address without a scheduler keeps trying
        # in the background, and logs errors when it is deleted.
        with ThreadPoolExecutor(1) as thread:  # the caller's thread may have its own event loop
            thread.submit(asyncio.run, _handshake(address, timeout)).result()
        return make(address, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, TypeError, ValueError):  # a TypeError: tls without keys
        raise _no_answer(address) from None


def _no_answer(address: str) -> ClusterError:
    return ClusterError(
        f"No Dask scheduler answers at {address or 'an empty address'}.",
        "Give its address, as in tcp://127.0.0.1:8786.",
    )


async def _handshake(address: str, timeout: float) -> None:
    """Connect to the address and close again; raise OSError, ValueError or TypeError on failure."""
    from distributed.comm.core import connect
    from distributed.security import Security

    untyped: Any = (connect, Security)
    reach, secured = untyped
    given = secured().get_connection_args("client")
    comm = await asyncio.wait_for(reach(address, timeout=timeout, **given), timeout + 1)
    comm.abort()


def worker_addresses(client: Any, address: str, timeout: float = SCHEDULER_TIMEOUT) -> list[str]:
    """Return the addresses of the workers.

    Raises
    ------
    ClusterError
        If the scheduler does not answer in time.
    """
    try:
        found = client.sync(client.scheduler.ncores, callback_timeout=timeout)
    except Exception:
        raise _no_answer(address) from None
    return sorted(found)


def _count_workers(client: Any) -> tuple[int, int]:
    """Return the number of workers, and how many of them start tasks."""
    asked = client.scheduler.ncores, client.scheduler.ncores_running
    there, ready = (len(client.sync(each, callback_timeout=SCHEDULER_TIMEOUT)) for each in asked)
    return there, ready


def run_on(
    address: str,
    name: str,
    problem: Problem,
    *,
    seed: int = 0,
    start: Any = None,
    on_waiting: Callable[[str], None] = lambda waiting: None,
    **params: Any,
) -> Iterator[Snapshot]:
    """Run a method on the workers of the Dask scheduler at ``address``; like :func:`hcviz.run`.

    A sampler gives the same snapshots as :func:`hcviz.run`, and any method the same last one. See
    :meth:`Cluster.start` for ``on_waiting``.

    Raises
    ------
    ClusterError
        If there is no scheduler at the address.
    """
    task = Task(0, name, MODULES.get(name, ""), as_problem(problem), params, seed, start)
    cluster = Cluster(address)
    try:
        stream = cluster.start(task, on_waiting=on_waiting)
    except BaseException:
        cluster.close()
        raise
    return _without_none(cluster, stream)


def _without_none(cluster: Cluster, stream: Stream) -> Iterator[Snapshot]:
    """Yield the snapshots of the stream; close the stream and the cluster at the end."""
    with contextlib.closing(cluster), contextlib.closing(stream):
        yield from (snapshot for snapshot in stream if snapshot is not None)


def _close(client: Any) -> None:
    with contextlib.suppress(Exception):
        client.close(timeout=2)


def pausable(begin: Callable[[], Iterator[Snapshot | None]], control: PauseControl) -> Stream:
    """Yield the snapshots of a run that this process drives; wait while it is paused."""
    for shown in begin():
        yield shown
        while not control.open.is_set():
            yield None
            control.stopped.wait(MAX_POLL_SECONDS)


# ---------------------------------------------------------------------- runs as long tasks


def _long(client: Any, address: str, task: Task, data: bytes, control: PauseControl) -> Stream:
    """Run the task as long tasks: one for each of its parts, or one."""
    method = task.algorithm()
    split = None
    if method.split_run is not None:
        given = method.parameters(**task.params)
        problem = method.with_groups_as_read(task.problem, given)
        split = method.split_run(problem, given, task.generator(), task.start)
    tasks: list[Task] = [task]
    combine: Callable[[Sequence[Snapshot]], Snapshot] = _only
    if split is not None:
        tasks = [
            replace(task, params=part.params, rng=part.rng, start=part.start)
            for part in split.parts
        ]
        combine = split.combine
    # Dask runs a task where its problem is. So each worker gets a copy of the problem, as far as
    # there are enough tasks, and all copies exist before the first task starts.
    copies = min(len(tasks), len(worker_addresses(client, address)) or 1)
    problems = distribute(client, "problem", [data] * copies)
    long: list[LongTask] = []
    try:
        for part, problem in zip(tasks, itertools.cycle(problems), strict=False):
            long.append(LongTask(client, part, problem, method.samples))
        yield from _merge_chains(long, combine, control)
    finally:
        _stop_tasks(client, long)


def _only(shown: Sequence[Snapshot]) -> Snapshot:
    """Return the snapshot of a run with one task."""
    return shown[0]


def _merge_chains(
    long: list[LongTask],
    combine: Callable[[Sequence[Snapshot]], Snapshot],
    control: PauseControl,
) -> Iterator[Snapshot | None]:
    """Yield the next snapshots of all tasks, merged into one; None while some are missing."""
    lines: list[deque[Snapshot]] = [deque() for _ in long]
    word, rest = "run", MIN_POLL_SECONDS
    while True:
        wanted = "run" if control.open.is_set() else "pause"
        if wanted != word:
            word = wanted
            for each in long:
                each.send_command(word)
        news = False
        for each, line in zip(long, lines, strict=True):
            if not each.over and len(line) < MAX_QUEUED:
                found = each.poll()
                line.extend(found)
                news = news or bool(found)
        while all(lines):
            yield combine([line.popleft() for line in lines])
        if all(each.over for each in long):
            return
        yield None
        rest = MIN_POLL_SECONDS if news else rest
        control.stopped.wait(rest)
        rest = min(1.5 * rest, MAX_POLL_SECONDS)


def _stop_tasks(client: Any, long: list[LongTask]) -> None:
    """Stop the tasks and remove them from the scheduler."""
    with contextlib.suppress(Exception):
        working = [each for each in long if not each.over]
        for each in working:
            each.send_command("stop")
        if not _count_workers(client)[1]:  # tasks that wait for a worker never start
            working = [each for each in working if each.has_snapshots]
        until = time.monotonic() + STOP_TIMEOUT
        while any(not each.ended() for each in working) and time.monotonic() < until:
            time.sleep(MIN_POLL_SECONDS)
        for each in long:
            each.clear()


# ---------------------------------------------------------------------- executor of active methods


class DaskExecutor:
    """Computes parts of an active method on the workers of a Dask client.

    It implements :class:`hcviz.algorithms.active.executor.TaskExecutor`. Features are split into
    shards of rows, one for each worker. A placement runs on the worker with the shard of its
    rows, and the features of the sample are sent along. A set that is divided to its leaves
    brings its own features. So no worker needs all features. Other oracles are sent to every
    worker once.
    """

    def __init__(self, client: Any, oracle: Any) -> None:
        self._executor = client.get_executor(pure=False)
        self._names: dict[Future[Any], Any] = {}  # the items that a task numbers 0, 1, ...
        plain = oracle
        while isinstance(plain, CountingOracle):  # the oracle passed to `collect` counts requests
            plain = plain.oracle
        self._features = plain if isinstance(plain, FeatureOracle) else None
        if self._features is not None:
            self._stride = max(1, SHARD_BYTES // max(1, self._features.rows[:1].nbytes))
            self._shards = distribute_features(client, self._features, self._stride)
            return
        try:
            data = import_module("cloudpickle").dumps(oracle)  # as Dask does, for `__main__` too
        except Exception as reason:
            raise unpicklable_error(reason) from None
        # The oracle is sent to a worker once, not with every task. It is the result of a task,
        # because Dask cannot restore scattered data when their worker dies.
        self.oracle = client.submit(pickle.loads, data, pure=False)

    def parts(self, items: Any, stride: int) -> list[slice]:
        """Return slices of the items, of at most ``stride`` items and one shard each."""
        if self._features is None:
            return strides(len(items), stride)
        edges = np.searchsorted(items, np.arange(len(self._shards) + 1) * self._stride)
        return [
            slice(begin, min(begin + stride, last))
            for first, last in itertools.pairwise(edges.tolist())
            for begin in range(first, last, stride)
        ]

    def tally(self, oracle: Any, rows: Any, columns: Any, *given: Any) -> Future[Any]:
        """Start a placement; ``rows`` are of one shard."""
        if self._features is None:
            return self._submit(run_counted, self.oracle, tallied, rows, columns, *given)
        shard = int(rows[0]) // self._stride
        sample = self._features.part(columns)
        made = self._submit(
            place_on_shard, self._shards[shard], rows - shard * self._stride, sample, *given
        )
        self._names[made] = np.concatenate([rows, columns])
        return made

    def build_subtree(self, oracle: Any, settings: Any, who: Any, *given: Any) -> Future[Any]:
        """Start to divide a set to its leaves."""
        if self._features is None:
            return self._submit(run_counted, self.oracle, build_subtree, settings, who, *given)
        made = self._submit(divide_set, None, self._features.part(who), settings, *given)
        self._names[made] = who
        return made

    def _submit(self, task: Callable[..., Any], first: Any, *given: Any) -> Future[Any]:
        packed = pickle.dumps(given)
        found: Future[Any] = self._executor.submit(callable_by_name(task), first, packed)
        return found

    def collect(self, future: Future[Any], oracle: Any) -> Any:
        """Return a result, and record its requests in ``oracle``."""
        result, log = future.result()
        names = self._names.pop(future, None)
        if names is not None:
            log = [(names[rows], names[cols]) for rows, cols in log]
        oracle.add_requests(log)
        return result

    def close(self) -> None:
        """Shut the executor down."""
        self._executor.shutdown(wait=False)


def distribute_features(client: Any, features: FeatureOracle, stride: int) -> list[Any]:
    """Return futures of the features' rows, ``stride`` each, spread over the workers."""
    edges = range(0, features.n_items, stride)
    rows = (np.arange(begin, min(begin + stride, features.n_items)) for begin in edges)
    return distribute(client, "shard", [pickle.dumps(features.part(each)) for each in rows])


def distribute(client: Any, name: str, data: Sequence[bytes]) -> list[Any]:
    """Return futures of the unpickled data, spread over the workers.

    The data are results of tasks, so the scheduler computes them again if their workers die. The
    tasks are not bound to a worker: Dask waits forever for a bound worker that has gone. Each task
    name has a different prefix, because Dask places tasks with the same prefix on the same worker.
    Many tasks are submitted at once, because finished ones do not count when the scheduler chooses
    a worker.
    """
    keys = [f"{name}{number}-{uuid4().hex}" for number in range(len(data))]
    stride = max(1, BATCH_BYTES // max(map(len, data), default=1))
    made = []
    for part in strides(len(data), stride):
        made += client.map(pickle.loads, data[part], key=keys[part], pure=False)
    return made


def place_on_shard(
    shard: FeatureOracle, at: Any, sample: FeatureOracle, *given: Any
) -> tuple[Any, Any]:
    """Run a placement on a worker: rows ``at`` of its shard against the features of a sample."""
    here = shard.part(at)
    rows = np.arange(here.n_items, dtype=np.int32)
    columns = here.n_items + np.arange(sample.n_items, dtype=np.int32)
    return run_counted(here.joined_with(sample), tallied, rows, columns, *given)


def divide_set(_: None, own: FeatureOracle, settings: Any, *given: Any) -> tuple[Any, Any]:
    """Divide a set to its leaves on a worker; its features were sent along."""
    return run_counted(own, build_subtree, settings, np.arange(own.n_items, dtype=np.int32), *given)


def run_counted(oracle: Any, task: Callable[..., Any], *given: Any) -> tuple[Any, Any]:
    """Run a task on a worker; return the result and the requests to the oracle."""
    counted = CountingOracle(oracle)
    return task(counted, *given), counted.log


def grow_on_client(
    client: Any,
    made: SampledDivision,
    oracle: Any,
    seed: int = 0,
    triplets: Any = None,
    groups: Any = None,
) -> Iterator[Snapshot | None]:
    """Run :meth:`SampledDivision.grow` with the workers of a Dask client; the tree is the same."""
    executor = DaskExecutor(client, oracle)
    return made.grow(oracle, seed, triplets, executor=executor, groups=groups)


__all__ = ["Cluster", "DaskExecutor", "cluster_at", "connect", "grow_on_client", "run_on"]
