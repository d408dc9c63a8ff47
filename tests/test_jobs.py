"""Runner: order and number of messages, backpressure, cancelling, faults, and what is left over.

A message counts as shown when ``post`` has been called with it; the CPU a job takes is that of
this process (thread methods) or is zero because the worker is gone (process methods). Any thread
may pause for seconds at any place: nothing here depends on which thread is faster. A run that has
to be at work goes on until a file or a cancel ends it.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hcviz import Problem
from hcviz.algorithms import MODULES, algorithms, get
from hcviz.datasets import Pile
from hcviz.jobs import Runner
from hcviz.jobs.pool import POOL, Pool
from hcviz.jobs.runner import Job
from hcviz.jobs.shared_pool import SharedWorkers
from hcviz.jobs.snapshot_channel import INTERVAL, LatestSnapshotChannel
from hcviz.jobs.warming import warm_modules
from hcviz.session.actions import Arrived, Failed, Finished, Stopped
from tests import jobmethods
from tests.conftest import ROOT

EVERYWHERE = pytest.mark.parametrize("where", ["thread", "process", "shared"])

#: What a wait may take at most before a test fails; nothing is expected to take nearly as long.
LONG = 120.0
#: Steps of a run that is never over by itself.
FOREVER = 10**8


class Inbox:
    """Collects what is posted, with the time; acknowledges if ``acknowledging``."""

    def __init__(self, acknowledging: bool = True) -> None:
        self.messages: list[Any] = []
        self.times: list[float] = []
        self.acknowledging = acknowledging
        self.runner: Runner | None = None
        self._changed = threading.Condition()

    def __call__(self, message: Any) -> None:
        with self._changed:
            self.messages.append(message)
            self.times.append(time.monotonic())
            self._changed.notify_all()
        if self.acknowledging and isinstance(message, Arrived):
            assert self.runner is not None
            self.runner.acknowledge(message.run)

    def until(self, condition: Callable[[list[Any]], bool], timeout: float = LONG) -> None:
        with self._changed:
            done = self._changed.wait_for(lambda: condition(self.messages), timeout)
            assert done, f"after {timeout} s there were only {self.messages}"

    def until_over(self) -> Any:
        self.until(lambda messages: any(not isinstance(m, Arrived) for m in messages))
        return self.messages[-1]

    @property
    def steps(self) -> list[int]:
        return [m.snapshot.step for m in self.messages if isinstance(m, Arrived)]


@pytest.fixture(autouse=True)
def job_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    for method in jobmethods.ALGORITHMS:
        monkeypatch.setitem(MODULES, method.name, jobmethods.__name__)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """A pool of one spare that compiles nothing: a worker costs a second."""
    made = Pool(spares=1, warm=False)
    made.fill(wait=True)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedWorkers]:
    """One process for the samplers."""
    made = SharedWorkers(1, warm=False)
    made.start(wait=True)
    yield made
    made.close()


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def runner(inbox: Inbox, pool: Pool, shared: SharedWorkers) -> Iterator[Runner]:
    made = Runner(inbox, pool, shared=shared)
    inbox.runner = made
    yield made
    made.close()


def items(n: int = 6) -> Problem:
    return Problem(labels=[f"item {i}" for i in range(n)])


def gone(pid: int) -> bool:
    """No such process: not even a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_for(condition: Callable[[], Any], timeout: float = LONG) -> None:
    """Until the condition holds."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < timeout, f"not within {timeout} s"
        time.sleep(0.002)


def wait_until_still(tally: Path) -> None:
    """Until ``tally``, which a run makes grow a thousand times a second, stops growing.

    A run that pauses for another reason counts as held; a run that works never does.
    """
    sizes = [-1, tally.stat().st_size]

    def still() -> bool:
        time.sleep(0.3)
        sizes.append(tally.stat().st_size)
        return sizes[-1] == sizes[-2]

    wait_for(still)


def working(run: int) -> bool:
    """Whether the thread of that run, which begins and ends all that its method does, is there."""
    return any(t.name == f"hcviz-run-{run}" for t in threading.enumerate())


@EVERYWHERE
def test_a_run_arrives_in_order_and_finishes_once(where, runner, inbox):
    runner.start(7, f"counting-{where}", items(), {"steps": 5, "rest": 0.05}, 0)
    assert inbox.until_over() == Finished(7)
    assert inbox.steps == sorted(set(inbox.steps))
    assert inbox.steps[-1] == 5
    assert not runner.busy
    pids = {m.snapshot.metrics["pid"] for m in inbox.messages[:-1]}
    assert (pids == {os.getpid()}) == (where == "thread")


def test_all_places_give_the_same_run(runner, inbox):
    draws = []
    for where in ("thread", "process", "shared"):
        inbox.messages.clear()
        runner.start(3, f"counting-{where}", items(), {"steps": 4}, 11)
        inbox.until_over()
        draws.append(inbox.messages[-2].snapshot.metrics["draw"])
    assert draws[0] == draws[1] == draws[2]


@EVERYWHERE
def test_a_receiver_that_does_not_acknowledge_gets_the_first_and_the_last(
    where, runner, inbox, tmp_path
):
    inbox.acknowledging, go = False, tmp_path / "go"
    params = {"steps": 200, "rest": 0.001, "halt": 1, "go": str(go)}
    runner.start(1, f"counting-{where}", items(), params, 0)
    inbox.until(lambda messages: len(messages) == 1)
    go.touch()
    inbox.until_over()
    assert inbox.steps == [1, 200]


@EVERYWHERE
def test_never_more_than_25_a_second(where, runner, inbox):
    runner.start(1, f"counting-{where}", items(), {"steps": FOREVER, "rest": 0.001}, 0)
    inbox.until(lambda messages: len(messages) >= 6)
    gaps = np.diff(inbox.times)
    assert gaps.min() >= INTERVAL - 0.001


def test_an_acknowledgement_right_after_the_start_counts(runner, inbox, monkeypatch):
    def slowly(*args: Any) -> Job:
        made = Job(*args)
        time.sleep(1.0)  # the first tree arrives before the runner has stored the job
        return made

    get("counting-thread")  # imported: the first tree comes at once
    monkeypatch.setattr("hcviz.jobs.runner.Job", slowly)
    runner.start(1, "counting-thread", items(), {"steps": FOREVER, "rest": 0.001}, 0)
    inbox.until(lambda messages: len(messages) >= 3, timeout=20.0)


def test_what_comes_due_between_two_looks_at_the_clock_is_delivered():
    class Held(LatestSnapshotChannel):
        """A channel whose thread pauses right after it found that it is too early."""

        def is_due(self, not_before: float) -> bool:
            found = super().is_due(not_before)
            time.sleep(max(0.0, not_before - time.monotonic()))
            return found

    posted: list[Any] = []

    def post(message: Any) -> None:
        posted.append(message)
        if len(posted) < 3:
            channel.offer(jobmethods.snapshot(items(), len(posted) + 1, 9, rng))
        channel.acknowledge()

    rng = np.random.default_rng(0)
    channel = Held(1, post)
    channel.offer(jobmethods.snapshot(items(), 1, 9, rng))
    wait_for(lambda: len(posted) == 3)
    assert [message.snapshot.step for message in posted] == [1, 2, 3]
    channel.discard()
    channel.join(LONG)


def test_acknowledging_another_run_is_no_acknowledgement(runner, inbox):
    inbox.acknowledging = False
    runner.start(5, "spinning-thread", items(), {}, 0)
    inbox.until(lambda messages: len(messages) == 1)
    runner.acknowledge(4)
    runner.start(6, "counting-thread", items(), {"steps": FOREVER, "rest": 0.001}, 0)
    inbox.until(lambda messages: len(messages) == 2)
    runner.acknowledge(5)
    time.sleep(3 * INTERVAL)
    assert len(inbox.messages) == 2
    runner.acknowledge(6)
    inbox.until(lambda messages: len(messages) == 3)


@EVERYWHERE
def test_the_newest_job_wins_and_the_older_posts_nothing_more(where, runner, inbox):
    runner.start(1, f"spinning-{where}", items(), {}, 0)
    inbox.until(lambda messages: len(messages) == 1)
    assert runner.busy
    runner.start(2, f"counting-{where}", items(), {"steps": 3, "rest": 0.05}, 0)
    inbox.until_over()
    assert inbox.messages[-1] == Finished(2)
    assert {m.run for m in inbox.messages[1:]} == {2}


@pytest.mark.parametrize("method", ["spinning-thread", "spinning-process", "stubborn-process"])
def test_a_cancel_shows_at_once_and_stops_the_work(method, runner, inbox, pool):
    runner.start(1, method, items(), {}, 0)
    inbox.until(lambda messages: len(messages) == 1)
    worker = int(inbox.messages[0].snapshot.metrics["pid"])
    assert check_cancel(1, runner, inbox, None if worker == os.getpid() else worker) == Stopped(1)
    runner.cancel()  # nothing is at work: nothing to say
    time.sleep(0.05)
    assert len(inbox.messages) == 2


def check_cancel(run: int, runner: Runner, inbox: Inbox, worker: int | None) -> Any:
    """The run's last message, ``Stopped`` unless it was over already; then its worker is gone, or
    its thread is, after a second of CPU at most. (The longest piece of a method took 0.3 of it. CPU
    since a busy machine stretches seconds, and of that thread: BLAS has others, which spin.)"""
    tasks = [t.native_id for t in threading.enumerate() if t.name == f"hcviz-run-{run}"]
    before = {task: thread_seconds(task) for task in tasks}
    runner.cancel()
    end = inbox.until_over()
    assert not runner.busy

    def over() -> bool:
        assert all(thread_seconds(task) - before[task] < 1.0 for task in tasks), "it goes on"
        return not working(run)

    wait_for(over if worker is None else lambda: gone(worker))
    return end


def thread_seconds(task: int | None) -> float:
    """CPU that a thread of this process has used; less than any when it has ended."""
    return ticks(f"/proc/self/task/{task}/stat", -float("inf"))


def test_a_cancel_shows_at_once_and_makes_room_though_the_method_is_stuck(runner, inbox, tmp_path):
    """Nothing waits for the method: it goes on only when all that has been seen."""
    go = tmp_path / "go"
    runner.start(1, "counting-thread", items(), {"halt": 1, "go": str(go)}, 0)
    inbox.until(lambda messages: len(messages) == 1)
    runner.cancel()
    assert inbox.until_over() == Stopped(1)
    assert not runner.busy
    runner.start(2, "counting-thread", items(), {"steps": 2}, 0)
    inbox.until(lambda messages: messages[-1] == Finished(2))
    assert working(1)
    before = len(inbox.messages)
    go.touch()
    wait_for(lambda: not working(1))
    assert len(inbox.messages) == before


@EVERYWHERE
def test_a_refusal_is_passed_on_after_what_there_was(where, runner, inbox):
    runner.start(4, f"refusing-{where}", items(), {}, 0)
    inbox.until_over()
    assert inbox.steps == [1]
    assert inbox.messages[-1] == Failed(4, "Item 3 is odd.", "Leave it out.")
    assert not runner.busy


@EVERYWHERE
def test_a_fault_of_ours_is_logged_and_called_unexpected(where, runner, inbox, caplog):
    runner.start(4, f"breaking-{where}", items(), {}, 0)
    end = inbox.until_over()
    assert isinstance(end, Failed)
    assert "because of a bug" in end.message
    assert "a fault of ours" not in end.message
    assert "Traceback" in caplog.text
    assert "a fault of ours" in caplog.text


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("no-such-method", {}, "no method 'no-such-method'"),
        ("counting-thread", {"size": 1}, "no parameter 'size'"),
        ("counting-process", {"steps": 0}, "steps"),
        ("average", {}, "needs similarity"),
    ],
)
def test_what_is_wrong_beforehand_is_posted_too(method, params, message, runner, inbox):
    runner.start(2, method, items(), params, 0)
    end = inbox.until_over()
    assert isinstance(end, Failed)
    assert message in end.message


@EVERYWHERE
def test_nothing_arrives_during_a_pause(where, runner, inbox, tmp_path):
    # No other message is under way when the pause begins: the first is not acknowledged yet.
    inbox.acknowledging, tally = False, tmp_path / "tally"
    params = {"steps": FOREVER, "rest": 0.001, "tally": str(tally)}
    runner.start(1, f"counting-{where}", items(), params, 0)
    inbox.until(lambda messages: len(messages) == 1)
    wait_for(lambda: tally.stat().st_size > 3)  # the next waits
    runner.pause()
    runner.acknowledge(1)
    wait_until_still(tally)  # the work is held, in a thread or a process
    assert len(inbox.messages) == 1
    assert runner.busy
    made = tally.stat().st_size
    runner.resume()
    inbox.until(lambda messages: len(messages) == 2)
    wait_for(lambda: tally.stat().st_size > made + 3)


@EVERYWHERE
def test_a_paused_job_can_be_cancelled_or_replaced(where, runner, inbox):
    runner.start(1, f"counting-{where}", items(), {"steps": FOREVER, "rest": 0.001}, 0)
    inbox.until(lambda messages: len(messages) >= 1)
    runner.pause()
    runner.cancel()
    assert inbox.until_over() == Stopped(1)
    inbox.messages.clear()
    runner.start(2, f"counting-{where}", items(), {"steps": 2}, 0)
    assert inbox.until_over() == Finished(2)


class Deaf:
    """A worker that starts up: what is sent to it waits in the pipe, which is full."""

    alive = True

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.sending, self.listens, self.has_task, self.ended = (
            threading.Event() for _ in range(4)
        )
        self._lock = threading.Lock()

    def order(self, what: Any) -> None:
        with self._lock:
            self.sending.set()
            self.listens.wait(5)
            self.sent.append(what if isinstance(what, str) else "task")

    def replies(self) -> Iterator[Any]:
        self.has_task.set()
        self.ended.wait(LONG)
        raise EOFError
        yield

    def end(self) -> None:
        self.listens.set()
        self.ended.set()


@pytest.mark.parametrize("paused", [True, False])
def test_a_pause_while_the_task_is_being_sent_takes_effect_after_it(paused, inbox):
    deaf, pool = Deaf(), Pool(spares=0)
    pool.take, pool.give_back = lambda: deaf, lambda used: None
    runner = inbox.runner = Runner(inbox, pool)
    runner.start(1, "counting-process", items(), {}, 0)
    assert deaf.sending.wait(LONG)
    runner.pause()
    if not paused:
        runner.resume()
    assert deaf.sent == []  # it is being sent still
    deaf.listens.set()
    assert deaf.has_task.wait(LONG)
    runner.resume()
    assert deaf.sent == (["task", "pause", "resume"] if paused else ["task", "resume"])
    runner.close()
    assert deaf.ended.is_set()


@EVERYWHERE
def test_close_is_silent_and_final(where, runner, inbox):
    runner.start(1, f"spinning-{where}", items(), {}, 0)
    inbox.until(lambda messages: len(messages) == 1)
    runner.close()
    runner.close()
    runner.start(2, f"counting-{where}", items(), {}, 0)
    time.sleep(0.2)
    assert len(inbox.messages) == 1
    assert not runner.busy


def test_a_receiver_that_has_gone_stops_the_work(pool, caplog):
    def gone_page(message: Any) -> None:
        raise RuntimeError("the document is closed")

    runner = Runner(gone_page, pool)
    runner.start(1, "spinning-thread", items(), {}, 0)
    wait_for(lambda: not runner.busy)
    wait_for(lambda: not working(1))
    assert "is gone" in caplog.text


def test_a_worker_that_is_killed_is_a_sentence(runner, inbox):
    runner.start(1, "stubborn-process", items(), {}, 0)
    inbox.until(lambda messages: len(messages) == 1)
    os.kill(int(inbox.messages[0].snapshot.metrics["pid"]), signal.SIGKILL)
    end = inbox.until_over()
    assert isinstance(end, Failed)
    assert "SIGKILL" in end.message
    runner.start(2, "counting-process", items(), {}, 0)
    inbox.until(lambda messages: messages[-1] == Finished(2))


def test_prints_do_not_disturb_the_pipe(runner, inbox):
    for where in ("process", "shared"):
        inbox.messages.clear()
        runner.start(1, f"printing-{where}", items(), {}, 0)
        assert inbox.until_over() == Finished(1)


class Local:
    """An oracle no worker can import: the class is not at its module's top."""

    n_items = 6

    def compare(self, first: Any, second: Any) -> Any:
        return np.zeros(len(first), np.int8)

    def __reduce__(self) -> Any:
        raise TypeError("cannot travel")


def test_a_problem_that_cannot_travel_is_a_sentence(runner, inbox):
    for where in ("process", "shared"):
        inbox.messages.clear()
        runner.start(1, f"counting-{where}", Problem(oracle=Local()), {}, 0)
        end = inbox.until_over()
        assert isinstance(end, Failed)
        assert "could not be sent to a worker" in end.message
        assert "module" in end.hint


def test_a_worker_is_used_again(inbox, monkeypatch):
    pool = Pool(spares=1, warm=False)
    pool.fill(wait=True)
    monkeypatch.setattr(pool, "fill", lambda: None)  # else another may be in its place first
    runner = inbox.runner = Runner(inbox, pool)
    pids = set()
    for run in range(3):
        inbox.messages.clear()
        runner.start(run, "counting-process", items(), {"steps": 1}, 0)
        inbox.until_over()
        pids.add(inbox.messages[0].snapshot.metrics["pid"])
        wait_for(lambda: pool.reserve)
    pool.close()
    assert len(pids) == 1


def test_an_empty_reserve_is_filled(pool, runner, inbox):
    runner.start(1, "spinning-process", items(), {}, 0)
    inbox.until(lambda messages: len(messages) == 1)
    wait_for(lambda: any(spare.ready.is_set() and spare.alive for spare in pool.reserve))
    assert inbox.messages[0].snapshot.metrics["pid"] not in [spare.pid for spare in pool.reserve]


def test_a_closed_pool_leaves_no_process_behind():
    pool = Pool(spares=1, warm=False)
    pool.fill(wait=True)
    inbox = Inbox()
    runner = inbox.runner = Runner(inbox, pool)
    runner.start(1, "stubborn-process", items(), {}, 0)
    inbox.until(lambda messages: len(messages) == 1)
    pids = pool.pids()
    assert pids
    pool.close()
    assert all(gone(pid) for pid in pids)
    inbox.until_over()
    runner.start(2, "counting-process", items(), {}, 0)
    inbox.until(lambda messages: isinstance(messages[-1], Failed) and messages[-1].run == 2)


SCRIPT = """
import os, sys, time
from hcviz import Problem
from hcviz.algorithms import MODULES
from hcviz.jobs import Runner, POOL

print("main runs", flush=True)  # a script without a guard: a worker must not run it again
MODULES["stubborn-process"] = "tests.jobmethods"
started = []
runner = Runner(started.append)
runner.start(0, "stubborn-process", Problem(labels=list("abc")), {}, 0)
while not started:
    time.sleep(0.01)
print(*POOL.pids(), flush=True)
if sys.argv[1] == "wait":
    time.sleep(600)
"""


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_no_worker_outlives_its_server(how, tmp_path):
    script = tmp_path / "server.py"
    script.write_text(textwrap.dedent(SCRIPT))
    server = subprocess.Popen(
        [sys.executable, str(script), "wait" if how == "kill" else "exit"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert server.stdout is not None
    lines = [server.stdout.readline(), server.stdout.readline()]
    if how == "kill":
        server.kill()
    rest = server.communicate(timeout=LONG)[0]
    assert lines[0] == "main runs\n"
    assert "main runs" not in rest
    pids = [int(pid) for pid in lines[1].split()]
    assert pids
    for pid in pids:
        wait_for(lambda pid=pid: gone(pid))


def anything(n: int) -> Problem:
    """A problem of every kind at once, so that every method finds what it needs.

    300 triplets, more than a person gives in a day: those of a caterpillar (i j | k for i < j < k)
    over a shuffled order, the deepest tree there is. And 40 n comparisons of random features.
    """
    rng = np.random.default_rng(0)
    rank = rng.permutation(n)
    rows = np.array([np.sort(rng.choice(n, 3, replace=False)) for _ in range(300)])
    features = rng.normal(size=(n, 8))
    drawn = rng.integers(0, n, (40 * n, 3))
    drawn = drawn[(np.diff(np.sort(drawn, axis=1), axis=1) > 0).all(axis=1)]
    near, far = (((features[drawn[:, 0]] - features[drawn[:, k]]) ** 2).sum(1) for k in (1, 2))
    answers = np.where((near < far)[:, None], drawn, drawn[:, [0, 2, 1]])
    sorts = [
        Pile(f"participant {k}", f"pile {p}", tuple(items.tolist()))
        for k in range(20)
        for p, items in enumerate(np.array_split(rng.permutation(n), 40))
    ]
    return Problem(features=features, triplets=rank[rows], comparisons=answers, piles=sorts)


@pytest.mark.parametrize("method", algorithms())
def test_every_method_stops_on_request(method, runner, inbox, pool):
    """On the first size at which it is still at work 100 ms (CPU) after it began.

    A method that is done by then at every size needs no cancelling.
    """
    warm_modules()  # as a server does: a compiler cannot be cancelled
    in_worker = get(method).runs == "process"
    for n in (2000, 5000):
        pool.fill(wait=True)
        before = set(pool.pids())
        inbox.messages.clear()
        runner.start(0, method, anything(n), {}, 0)
        worker = None
        if in_worker:
            wait_for(lambda: bool(runner_worker(runner)) or not runner.busy)
            worker = runner_worker(runner)
            assert worker is None or worker in before, "a warmed worker should have been taken"
        if still_at_work(runner, worker) and check_cancel(0, runner, inbox, worker) == Stopped(0):
            return
        assert inbox.until_over() == Finished(0)


def still_at_work(runner: Runner, worker: int | None) -> bool:
    """Whether the job outlasts another 100 ms of CPU."""
    before = cpu_seconds(worker)
    wait_for(lambda: cpu_seconds(worker) - before > 0.1 or not runner.busy)
    return runner.busy


def runner_worker(runner: Runner) -> int | None:
    return runner.worker_pid


def cpu_seconds(pid: int | None) -> float:
    """CPU this process has used, or that process (infinite when it has gone)."""
    if pid is None:
        return time.process_time()
    return ticks(f"/proc/{pid}/stat", float("inf"))


def ticks(path: str, gone: float) -> float:
    """The seconds of CPU that a file of Linux' ``/proc`` tells."""
    try:
        fields = Path(path).read_text().rpartition(")")[2].split()
    except OSError:
        return gone
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_warmed_worker_reports_that_it_is_ready():
    pool = Pool(spares=1)
    pool.fill(wait=True)
    try:
        assert len(pool.pids()) == 1
    finally:
        pool.close()


def test_the_server_has_one_pool():
    assert Runner(lambda message: None).pool is POOL


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_worker_ends_in_silence_when_the_server_is_killed_while_it_sends(share):
    order = pickle.dumps((1, bytes(100_000)), protocol=pickle.HIGHEST_PROTOCOL)
    ended = subprocess.run(
        [sys.executable, "-c", "from hcviz.jobs.worker import main; main(warm=False)"],
        input=order[: int(share * len(order))],
        capture_output=True,
        timeout=120,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
