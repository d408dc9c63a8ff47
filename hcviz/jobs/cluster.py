"""Runs on the workers of a Dask scheduler: ``hcviz run METHOD DATA --scheduler tcp://...``, and the
page's, which is given the same address. This and ``longtask.py`` are all that knows Dask (the extra
``hcviz[distributed]``).

The active methods divide large sets here, and their workers do what that asks for: placements and
features are sharded, sets of up to 20,000 items are divided to their leaves by one of them.
Everything else is long tasks: a sampler's chains one each, any other run as a whole. Seeds follow
from paths and checkpoints carry the generator's state, so a worker's death changes no bit of the
result.
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
from hcviz.algorithms.base import SampledDivision
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import ClusterError, HcvizError, InvalidData
from hcviz.core.problem import Problem, as_problem
from hcviz.core.similarity_oracles import FeatureOracle, oracle_of
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.longtask import PATIENCE, LongTask, by_name
from hcviz.jobs.standstill import Stream, watched
from hcviz.jobs.task import Gate, Task, untransportable

#: Seconds until a scheduler that did not answer is asked again.
AGAIN = 30.0
#: Bytes of features that are one shard.
SHARD = 4 * 2**20
#: Bytes that are sent in one go; Dask warns of 10 MB.
PARCEL = 2 * SHARD + SHARD // 4
#: Seconds within which a scheduler must let itself be reached, and say which workers it has.
REACH = 5.0
#: Seconds between two looks at what came, at least and at most.
SOON, LATE = 0.005, 0.1
#: Snapshots of one chain that wait for the others': then it has to wait itself.
AHEAD = 256
#: Seconds that a stopped run is given to leave off.
LEAVE = 5.0

log = logging.getLogger(__name__)


class Cluster:
    """A Dask scheduler's address, and the client that everybody in this process shares."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._lock = threading.Lock()  # never held while the scheduler is waited for
        self._client: Any = None
        self._refused: tuple[float, ClusterError] | None = None
        self._look: tuple[float, Future[Any]] | None = None  # under way, and since when
        self._closed = 0  # how often

    def client(self, timeout: float | None = None) -> Any:
        """A client whose scheduler has workers; :class:`ClusterError`, which is remembered a while.

        The scheduler is asked on a thread of its own, for all who want to know at once: each waits
        ``timeout`` seconds at most (None: :data:`REACH`), less what the answer is overdue already.
        """
        timeout = REACH if timeout is None else timeout
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
            raise _silent(self.address) from None

    def _ask(self, found: Future[Any], closed: int) -> None:
        """One look at the scheduler, on a thread of its own."""
        client: Any = None
        fault: BaseException | None = None
        try:
            client, workers = self._running()
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
            elif client is not None:  # let go of meanwhile
                threading.Thread(target=_close, args=(client,), daemon=True).start()
                fault = _silent(self.address)
        if fault is None:
            found.set_result(client)
        else:
            found.set_exception(fault)

    def _running(self) -> tuple[Any, list[str]]:
        """A client, the one there is if it still has its scheduler, and the workers."""
        client = self._client
        if client is not None and client.status != "running":
            # Which waits until it has given up to reach its scheduler again.
            threading.Thread(target=_close, args=(client,), daemon=True).start()
            self._client = client = None
        if self._refused is not None and time.monotonic() - self._refused[0] < AGAIN:
            raise self._refused[1]
        made = None
        try:
            if client is None:
                client = made = connected(self.address, REACH)
            workers = addresses(client, self.address, REACH)
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
        gate: Gate | None = None,
        timeout: float | None = None,
        tell: Callable[[str], None] = lambda waiting: None,
    ) -> Stream:
        """What the task yields, done over there; None now and then, as a place to stop.

        A closed ``gate`` makes the workers wait. ``tell(sentence)`` when no worker takes on work,
        and with an empty one when one does again. Raises what is wrong beforehand, and
        :class:`ClusterError` where it cannot begin; a cluster that is lost later, with whatever it
        has been given to do, is a :class:`HcvizError`.
        """
        client = self.client(timeout)
        method = task.known()
        given = method.parameters(**task.params)
        problem = task.problem
        fault = method.missing_data(problem)
        if fault:
            raise InvalidData(fault)
        if method.sampled_division is not None and problem.n_items > framework.TASK:
            seed = int(task.generator().integers(2**63))  # what the methods draw first
            made = method.sampled_division(given)
            oracle = oracle_of(problem)
            grown = partial(grow_on, client, made, oracle, seed, problem.triplets)
            held = _held(grown, Gate() if gate is None else gate)
            return self._guarded(watched(held, partial(_ready, client), tell))
        try:
            data = pickle.dumps(problem)
        except Exception as reason:
            told = untransportable(reason)
            raise ClusterError(told.message, told.hint) from None
        gate = Gate() if gate is None else gate
        long = _long(client, self.address, task, data, gate)
        return self._guarded(watched(long, partial(_ready, client), tell))

    def _guarded(self, stream: Iterator[Snapshot | None]) -> Stream:
        """The stream, whose faults are said in a sentence where they are the cluster's."""
        try:
            yield from stream
        except HcvizError:
            raise
        except (Exception, asyncio.CancelledError) as fault:
            raise self._lost(fault) from fault

    def _lost(self, fault: BaseException) -> BaseException:
        kept = "What was shown is kept; run it again."
        name = type(fault).__name__
        gone = self._client is None or self._client.status != "running"
        if isinstance(fault, CancelledError) and not gone:
            return HcvizError("The workers that held the data ended, and the run with them.", kept)
        if gone or isinstance(fault, OSError | TimeoutError | asyncio.CancelledError):
            return HcvizError(
                f"The Dask scheduler at {self.address} went away, and the run with it ({name}).",
                kept,
            )
        if name == "KilledWorker":
            return HcvizError(
                "Several workers of the cluster ended while they did this, perhaps out of memory.",
                "Take fewer items, or workers with more memory.",
            )
        if isinstance(fault, pickle.PicklingError | TypeError) and "serialize" in str(fault):
            return untransportable(fault)
        if isinstance(fault, ImportError | AttributeError | pickle.UnpicklingError):
            return HcvizError(
                f"The workers of the cluster cannot do this ({name}: {fault}).",
                "They need this machine's hcviz, and the modules of the problem's oracle.",
            )
        return fault

    def close(self) -> None:
        """Let go of the scheduler. May be called twice."""
        with self._lock:
            self._closed += 1
            client, self._client = self._client, None
        if client is not None:
            _close(client)


@cache
def cluster_at(address: str) -> Cluster:
    """The one of that address in this process."""
    return Cluster(address)


def connected(address: str, timeout: float | None = None) -> Any:
    """A Dask client of the scheduler at ``address``; :class:`ClusterError` where nobody answers
    within ``timeout`` seconds (None: :data:`REACH`)."""
    timeout = REACH if timeout is None else timeout
    try:
        from distributed import Client

        make: Any = Client  # without types
    except ImportError:
        raise ClusterError(
            "A cluster needs the package distributed, which is not installed.",
            "pip install hcviz[distributed]",
        ) from None
    try:
        # First a greeting: a client made for what is no scheduler goes on trying behind our back,
        # and complains when it is thrown away.
        with ThreadPoolExecutor(1) as aside:  # the caller's thread may have a loop of its own
            aside.submit(asyncio.run, _greet(address, timeout)).result()
        return make(address, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, TypeError, ValueError):  # a TypeError: tls without keys
        raise _silent(address) from None


def _silent(address: str) -> ClusterError:
    return ClusterError(
        f"No Dask scheduler answers at {address or 'an empty address'}.",
        "Give its address, as in tcp://127.0.0.1:8786.",
    )


async def _greet(address: str, timeout: float) -> None:
    """Shake hands with whatever listens there; OSError, ValueError, TypeError where that fails."""
    from distributed.comm.core import connect
    from distributed.security import Security

    untyped: Any = (connect, Security)
    reach, secured = untyped
    given = secured().get_connection_args("client")
    comm = await asyncio.wait_for(reach(address, timeout=timeout, **given), timeout + 1)
    comm.abort()


def addresses(client: Any, address: str, timeout: float = PATIENCE) -> list[str]:
    """The workers that there are; :class:`ClusterError` where that is not answered in time."""
    try:
        found = client.sync(client.scheduler.ncores, callback_timeout=timeout)
    except Exception:
        raise _silent(address) from None
    return sorted(found)


def _ready(client: Any) -> tuple[int, int]:
    """How many workers there are, and how many of them take on work."""
    asked = client.scheduler.ncores, client.scheduler.ncores_running
    there, ready = (len(client.sync(each, callback_timeout=PATIENCE)) for each in asked)
    return there, ready


def run_on(
    address: str,
    name: str,
    problem: Problem,
    *,
    seed: int = 0,
    start: Any = None,
    tell: Callable[[str], None] = lambda waiting: None,
    **params: Any,
) -> Iterator[Snapshot]:
    """:func:`hcviz.run` on the workers of the Dask scheduler at ``address``: the same snapshots of
    a sampler, the same last one of any method; ``tell`` as :meth:`Cluster.start` has it.

    Raises :class:`ClusterError` where nobody answers at the address.
    """
    task = Task(0, name, MODULES.get(name, ""), as_problem(problem), params, seed, start)
    cluster = Cluster(address)
    try:
        stream = cluster.start(task, tell=tell)
    except BaseException:
        cluster.close()
        raise
    return _shown(cluster, stream)


def _shown(cluster: Cluster, stream: Stream) -> Iterator[Snapshot]:
    with contextlib.closing(cluster), contextlib.closing(stream):
        yield from (snapshot for snapshot in stream if snapshot is not None)


def _close(client: Any) -> None:
    with contextlib.suppress(Exception):
        client.close(timeout=2)


def _held(begin: Callable[[], Iterator[Snapshot | None]], gate: Gate) -> Stream:
    """What is begun here, which waits while the gate is closed; the tasks under way run out."""
    for shown in begin():
        yield shown
        while not gate.open.is_set():
            yield None
            gate.stopped.wait(LATE)


# ---------------------------------------------------------------------- long tasks


def _long(client: Any, address: str, task: Task, data: bytes, gate: Gate) -> Stream:
    """The task as long tasks: one for each of its shares, or one."""
    method = task.known()
    split = None
    if method.split_run is not None:
        given = method.parameters(**task.params)
        split = method.split_run(task.problem, given, task.generator(), task.start)
    tasks: list[Task] = [task]
    combine: Callable[[Sequence[Snapshot]], Snapshot] = _only
    if split is not None:
        tasks = [
            replace(task, params=part.params, rng=part.rng, start=part.start)
            for part in split.parts
        ]
        combine = split.combine
    # A task is done where its problem is, so there is one for each worker, if there are as many
    # tasks; all before the first task begins.
    copies = min(len(tasks), len(addresses(client, address)) or 1)
    problems = dealt(client, "problem", [data] * copies)
    long: list[LongTask] = []
    try:
        for part, problem in zip(tasks, itertools.cycle(problems), strict=False):
            long.append(LongTask(client, part, problem, method.samples))
        yield from _merged(long, combine, gate)
    finally:
        _leave(client, long)


def _only(shown: Sequence[Snapshot]) -> Snapshot:
    return shown[0]


def _merged(
    long: list[LongTask],
    combine: Callable[[Sequence[Snapshot]], Snapshot],
    gate: Gate,
) -> Iterator[Snapshot | None]:
    """The next snapshots of all, as one, as soon as each has come; None while none have."""
    lines: list[deque[Snapshot]] = [deque() for _ in long]
    word, rest = "run", SOON
    while True:
        said = "run" if gate.open.is_set() else "pause"
        if said != word:
            word = said
            for each in long:
                each.say(word)
        news = False
        for each, line in zip(long, lines, strict=True):
            if not each.over and len(line) < AHEAD:
                found = each.poll()
                line.extend(found)
                news = news or bool(found)
        while all(lines):
            yield combine([line.popleft() for line in lines])
        if all(each.over for each in long):
            return
        yield None
        rest = SOON if news else rest
        gate.stopped.wait(rest)
        rest = min(1.5 * rest, LATE)


def _leave(client: Any, long: list[LongTask]) -> None:
    """Stop what is still at work, and leave nothing behind."""
    with contextlib.suppress(Exception):
        working = [each for each in long if not each.over]
        for each in working:
            each.say("stop")
        if not _ready(client)[1]:  # nobody is there to begin what has not begun
            working = [each for each in working if each.heard]
        until = time.monotonic() + LEAVE
        while any(not each.ended() for each in working) and time.monotonic() < until:
            time.sleep(SOON)
        for each in long:
            each.clear()


# ---------------------------------------------------------------------- tasks of the active methods


class Workers:
    """A :class:`hcviz.algorithms.active.executor.TaskExecutor` of the workers of a Dask client.

    Features are dealt out in shards of rows, one worker each: a placement is asked of the shard
    that has its rows, and brings the sample's rows along; a set that is divided to its leaves
    brings its own. So no worker needs all of them. Any other oracle goes to every worker, once.
    """

    def __init__(self, client: Any, oracle: Any) -> None:
        self._executor = client.get_executor(pure=False)
        self._names: dict[Future[Any], Any] = {}  # the items that a task calls 0, 1, ...
        plain = oracle
        while isinstance(plain, CountingOracle):  # the caller's own, which is told by the one here
            plain = plain.oracle
        self._features = plain if isinstance(plain, FeatureOracle) else None
        if self._features is not None:
            self._stride = max(1, SHARD // max(1, self._features.rows[:1].nbytes))
            self._shards = sharded(client, self._features, self._stride)
            return
        try:
            data = import_module("cloudpickle").dumps(oracle)  # as Dask does: `__main__`'s, too
        except Exception as reason:
            raise untransportable(reason) from None
        # To a worker once, rather than with every task. And a task rather than scattered: Dask
        # keeps one copy of what it was given, however widely, and that dies with its worker.
        self._oracle = client.submit(pickle.loads, data, pure=False)

    def parts(self, items: Any, stride: int) -> list[slice]:
        if self._features is None:
            return strides(len(items), stride)
        edges = np.searchsorted(items, np.arange(len(self._shards) + 1) * self._stride)
        return [
            slice(begin, min(begin + stride, last))
            for first, last in itertools.pairwise(edges.tolist())
            for begin in range(first, last, stride)
        ]

    def tally(self, oracle: Any, rows: Any, columns: Any, *given: Any) -> Future[Any]:
        if self._features is None:
            return self._submit(elsewhere, self._oracle, tallied, rows, columns, *given)
        shard = int(rows[0]) // self._stride
        sample = self._features.part(columns)
        made = self._submit(
            placed, self._shards[shard], rows - shard * self._stride, sample, *given
        )
        self._names[made] = np.concatenate([rows, columns])
        return made

    def build_subtree(self, oracle: Any, settings: Any, who: Any, *given: Any) -> Future[Any]:
        if self._features is None:
            return self._submit(elsewhere, self._oracle, build_subtree, settings, who, *given)
        made = self._submit(divided, None, self._features.part(who), settings, *given)
        self._names[made] = who
        return made

    def _submit(self, task: Callable[..., Any], first: Any, *given: Any) -> Future[Any]:
        packed = pickle.dumps(given)
        found: Future[Any] = self._executor.submit(by_name(task), first, packed)
        return found

    def collect(self, future: Future[Any], oracle: Any) -> Any:
        result, log = future.result()
        names = self._names.pop(future, None)
        if names is not None:
            log = [(names[rows], names[cols]) for rows, cols in log]
        oracle.add_requests(log)
        return result

    def close(self) -> None:
        self._executor.shutdown(wait=False)


def sharded(client: Any, features: FeatureOracle, stride: int) -> list[Any]:
    """Futures of the features' rows, ``stride`` each, spread over the workers."""
    edges = range(0, features.n_items, stride)
    rows = (np.arange(begin, min(begin + stride, features.n_items)) for begin in edges)
    return dealt(client, "shard", [pickle.dumps(features.part(each)) for each in rows])


def dealt(client: Any, name: str, data: Sequence[bytes]) -> list[Any]:
    """Futures of what was pickled, spread over the workers.

    As tasks rather than scattered: the scheduler has them made anew, from bytes that it keeps, when
    all who have them die. They are bound to no worker, not even loosely: one that is waits for that
    worker's address, for good, if there was nobody else for a moment. But each has a first name of
    its own, since tasks of one name go where others of it went, and those of several names to
    whoever has least to do. Many are sent at once: what is done already would not count as that.
    """
    keys = [f"{name}{number}-{uuid4().hex}" for number in range(len(data))]
    stride = max(1, PARCEL // max(map(len, data), default=1))
    made = []
    for part in strides(len(data), stride):
        made += client.map(pickle.loads, data[part], key=keys[part], pure=False)
    return made


def placed(shard: FeatureOracle, at: Any, sample: FeatureOracle, *given: Any) -> tuple[Any, Any]:
    """What a worker does with a shard: its rows ``at`` against a sample that came along."""
    here = shard.part(at)
    rows = np.arange(here.n_items, dtype=np.int32)
    columns = here.n_items + np.arange(sample.n_items, dtype=np.int32)
    return elsewhere(here.joined_with(sample), tallied, rows, columns, *given)


def divided(_: None, own: FeatureOracle, settings: Any, *given: Any) -> tuple[Any, Any]:
    """What a worker does with a set whose features came along: divide it to its leaves."""
    return elsewhere(own, build_subtree, settings, np.arange(own.n_items, dtype=np.int32), *given)


def elsewhere(oracle: Any, task: Callable[..., Any], *given: Any) -> tuple[Any, Any]:
    """What a worker does: the task, and what it asked the oracle."""
    counted = CountingOracle(oracle)
    return task(counted, *given), counted.log


def grow_on(
    client: Any, made: SampledDivision, oracle: Any, seed: int = 0, triplets: Any = None
) -> Iterator[Snapshot | None]:
    """:meth:`SampledDivision.grow` with the workers of a Dask client; the same tree."""
    return made.grow(oracle, seed, triplets, executor=Workers(client, oracle))


__all__ = ["Cluster", "Workers", "cluster_at", "connected", "grow_on", "run_on"]
