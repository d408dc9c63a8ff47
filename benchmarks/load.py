"""Load of a server by many sessions: clicks, openings, memory, jobs, and the event loop.

    python benchmarks/load.py [--sessions 1 8 30] [--seconds 30] [--soak 200] [--data zoo]
    --processes 2                          # hcviz serve --processes 2: two servers and a proxy
    --class                                # hcviz serve --class: students, and one teacher's page

A real server process, and clients that speak the browser's protocol (:mod:`load_client`) from this
process. Each session runs the sampler. Every three seconds its person does something: twice a click
on an item, which selects it, and then a correction of the tree, which is three clicks on names and
four keys. Two of the three items belong together. The corrections follow a hidden tree, so they
never contradict each other.

tap: seconds from a click that is sent to the message that answers it.
answer: seconds from Enter to the first tree of the new run.
open: seconds from the request of a page to its first tree, with N - 1 other sessions at work.
cpu: CPU seconds of the server and its workers each second.
teacher: seconds until the teacher's page has all answers, after the students have ended.
memory: MB of the server process for each session, over the server without sessions; then of the
    server and all its workers. With several processes, the servers and the proxy together.
jobs: the largest number of jobs that were running at once.
loop: the longest call on the event loop in ms, the calls above 20 ms each second, and the CPU
    seconds of the loop each second. Times include what other programs take of the cores. Several
    processes report neither these nor the jobs.
soak: sessions opened and closed. The slope of the memory is fitted to its second half.

The goals are printed below the table: :data:`GOALS`, and no late answer.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from tornado.httpclient import AsyncHTTPClient  # noqa: E402

from benchmarks.load_client import Client  # noqa: E402
from tests.ports import free_port  # noqa: E402

#: Seconds between two acts of a person, after which an answer is late, and until a closed session
#: must be gone.
PACE, LATE, GONE = 3.0, 30.0, 60.0
#: Seconds that several processes have to load their kernels.
SETTLED = 30.0
#: Options of a server with a class, for this machine only.
CLASS = ["--class", "--address", "127.0.0.1"]
#: Column of the table -> its title, and the most seconds on a server with two free cores.
GOALS = {
    "tap": ("tap, median", 0.1), "tap95": ("tap, 95th percentile", 0.3),
    "open": ("open, median", 1.5), "open_last": ("open, last", 1.5),
}  # fmt: skip


class LoadServer:
    """A server, and what it reports; several processes behind one address report nothing."""

    def __init__(self, folder: Path, data: str, options: list[str], processes: int = 1) -> None:
        self.port = free_port()
        self._reports = processes == 1
        self._report = folder / f"report-{self.port}.json"
        self._census = folder / f"census-{self.port}.json"
        self.log = folder / f"server-{self.port}.log"
        environment = os.environ | {
            "HCVIZ_CENSUS": str(self._census), "HCVIZ_STATE": str(folder / "state"),
            "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        command = [sys.executable, str(ROOT / "benchmarks" / "load_server.py"), str(self._report)]
        if not self._reports:
            command = [sys.executable, "-m", "hcviz", "serve", "--processes", str(processes)]
        self.process = subprocess.Popen(
            [*command, data, "--port", str(self.port), *options],
            env=environment, stdout=self.log.open("wb"), stderr=subprocess.STDOUT,
        )  # fmt: skip

    def code(self, who: str) -> str:
        """Return the code of a ``class`` or a ``teacher``; "" if the server has no class."""
        found = re.search(rf"{who} code (\w+)", self.log.read_text(encoding="utf-8"))
        return "" if found is None else found[1]

    async def wait(self) -> None:
        """Wait until a page shows a tree, so that all is loaded and compiled."""
        until = time.monotonic() + 300
        while True:
            try:
                async with Client(self.port, code=self.code("teacher")):
                    return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise SystemExit(self.log.read_text(encoding="utf-8")) from None
            await asyncio.sleep(0.2)

    def measure(self) -> None:
        """Begin to measure the event loop again."""
        if self._reports:
            self.process.send_signal(signal.SIGUSR2)

    def report(self) -> dict[str, float]:
        """Return the figures of the event loop and the jobs."""
        if not self._reports:
            return dict.fromkeys(("jobs", "longest", "long", "busy"), float("nan"))
        found: dict[str, float] = json.loads(self._report.read_text(encoding="utf-8"))
        return found

    async def census(self) -> dict[str, Any]:
        """Return the live objects and the memory after a garbage collection."""
        self._census.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        while not self._census.exists():
            await asyncio.sleep(0.05)
        found: dict[str, Any] = json.loads(self._census.read_text(encoding="utf-8"))
        return found

    def memory(self, workers: bool = False) -> float:
        """Return the resident memory in MB, with that of its worker processes or without."""
        pids = servers = [self.process.pid]
        if not self._reports:
            pids = servers = [*servers, *_children(self.process.pid)]
        if workers:
            pids = [*{*servers, *(each for pid in servers for each in _children(pid))}]
        return sum(_resident(pid) for pid in pids) / 1e6

    def cpu(self) -> float:
        """Return the CPU seconds of the server and its workers so far."""
        pids = {self.process.pid, *_children(self.process.pid)}
        pids |= {each for pid in pids for each in _children(pid)}
        return sum(_cpu_seconds(pid) for pid in pids)

    def stop(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait(60)


def _children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [
                int(child) for child in (task / "children").read_text(encoding="utf-8").split()
            ]
    return found


def _resident(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf(
            "SC_PAGESIZE"
        )
    except OSError:
        return 0.0


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Person:
    """Answers questions about the items that a client shows, by a hidden binary tree."""

    client: Client
    rng: random.Random
    taps: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    unanswered: int = 0

    def triple(self) -> tuple[str, str, str]:
        """Return three items of which the first two are together in the hidden tree."""
        names = sorted(self.client.rows())
        while True:
            chosen = self.rng.sample(range(len(names)), 3)
            for a, b, c in (chosen, chosen[1:] + chosen[:1], chosen[2:] + chosen[:2]):
                if (a ^ b).bit_length() < (a ^ c).bit_length():
                    return names[a], names[b], names[c]

    async def click(self, name: str) -> None:
        """Click on the name of an item."""
        self.taps.append(await self.client.click(name))

    async def answer(self) -> None:
        """State one triple, and wait for the first tree of the new run."""
        client = self.client
        a, b, c = self.triple()
        await client.press("Escape")
        await client.press("t")
        await self.click(a)
        await self.click(b)
        await client.press("o")
        await self.click(c)
        run, began = client.run, time.perf_counter()
        await client.press("Enter")
        try:
            async with asyncio.timeout(LATE):
                await client.until(lambda: client.run > run and client.run_of_tree > run)
        except TimeoutError:
            self.unanswered += 1  # the answer followed from earlier ones, or the server is late
        else:
            self.answers.append(time.perf_counter() - began)

    async def work(self, seconds: float) -> None:
        """Do something every :data:`PACE` seconds, until ``seconds`` are over."""
        until = time.monotonic() + seconds
        turn = self.rng.randrange(3)
        await asyncio.sleep(self.rng.random() * PACE)
        while (began := time.monotonic()) < until:
            turn += 1
            await (
                self.click(self.rng.choice([*self.client.rows()])) if turn % 3 else self.answer()
            )
            await asyncio.sleep(max(0.0, began + PACE - time.monotonic()))


@dataclass
class Row:
    """One line of the table; times in seconds."""

    sessions: int
    tap: float
    tap95: float
    answer: float
    answer95: float
    answered: int
    unanswered: int
    open: float
    open_last: float
    memory: float
    server: float
    with_workers: float
    jobs: float
    longest: float
    long: float
    busy: float
    cpu: float
    teacher: float


async def load(server: LoadServer, sessions: int, seconds: float) -> Row:
    """Open sessions one after the other, and let their persons answer."""
    before = server.memory()
    persons: list[Person] = []
    code, teacher = server.code("class"), None
    async with AsyncExitStack() as stack:
        if code:
            theirs = Client(server.port, {"method": "ddt"}, server.code("teacher"))
            teacher = await stack.enter_async_context(theirs)
        working: list[asyncio.Future[None]] = []
        for number in range(sessions):
            opened_page = Client(server.port, {"method": "ddt"}, code)
            client = await stack.enter_async_context(opened_page)
            persons.append(Person(client, random.Random(number)))
            # They work from the start, so that each session opens beside the others.
            working.append(asyncio.ensure_future(persons[-1].work(1e9)))
        server.measure()
        for person in persons:
            person.taps.clear()
            person.answers.clear()
            person.unanswered = 0
        began, cpu = time.monotonic(), server.cpu()
        await asyncio.sleep(seconds)
        took = time.monotonic() - began
        cpu = (server.cpu() - cpu) / took
        for each in working:
            each.cancel()
        for found in await asyncio.gather(*working, return_exceptions=True):
            if isinstance(found, Exception):
                raise found
        began, lag = time.monotonic(), float("nan")
        if teacher is not None:
            await teacher.until(
                lambda: teacher.class_answers == sum(p.client.constraints for p in persons)
            )
            lag = time.monotonic() - began
        report = server.report()
        memory, everything = server.memory(), server.memory(workers=True)
        taps = sorted(tap for person in persons for tap in person.taps)
        answers = sorted(each for person in persons for each in person.answers)
        opened = [person.client.opened for person in persons]
    return Row(
        sessions, _quantile(taps, 0.5), _quantile(taps, 0.95), _quantile(answers, 0.5),
        _quantile(answers, 0.95), len(answers), sum(person.unanswered for person in persons),
        statistics.median(opened), opened[-1], (memory - before) / sessions, memory, everything,
        report["jobs"], 1e3 * report["longest"], report["long"] / took, report["busy"] / took,
        cpu, lag,
    )  # fmt: skip


def _quantile(values: list[float], share: float) -> float:
    return float(np.quantile(values, share)) if values else float("nan")


async def gone(server: LoadServer) -> dict[str, Any]:
    """Wait until closed sessions are gone, and return what is alive."""
    until = time.monotonic() + GONE
    while (found := await server.census())["alive"] and time.monotonic() < until:
        await asyncio.sleep(1)
    return found


async def soak(server: LoadServer, sessions: int) -> None:
    """Open and close sessions, some at a time, and print what stays."""
    at_once, memory, counts = 4, [], []
    for first in range(0, sessions, at_once):

        async def visit(number: int) -> None:
            method = "ddt" if number % 2 else "average"
            async with Client(server.port, {"method": method}) as client:
                await Person(client, random.Random(number)).answer()

        await asyncio.gather(*(visit(first + k) for k in range(min(at_once, sessions - first))))
        if (first // at_once) % 5 == 4:
            alive = await gone(server)
            memory.append(alive["memory"] / 1e6)
            counts.append(first + at_once)
            print(f"  {first + at_once} sessions: {memory[-1]:.0f} MB, alive {alive['alive']}")
    half = len(memory) // 2
    if len(memory) - half > 1:
        slope = np.polyfit(counts[half:], memory[half:], 1)[0]
        print(f"soak of {sessions} sessions: {1e3 * slope:.0f} kB a session in the second half")


COLUMNS = (
    ("sessions", "sessions", "d"), ("tap s", "tap", ".2f"), ("p95", "tap95", ".2f"),
    ("answer s", "answer", ".2f"), ("p95", "answer95", ".2f"), ("answers", "answered", "d"),
    ("late", "unanswered", "d"), ("open s", "open", ".2f"), ("last", "open_last", ".2f"),
    ("MB/session", "memory", ".1f"), ("server MB", "server", ".0f"),
    ("with workers", "with_workers", ".0f"), ("jobs", "jobs", ".0f"),
    ("longest call ms", "longest", ".0f"), (">20 ms a s", "long", ".1f"),
    ("loop CPU", "busy", ".2f"), ("CPU s a s", "cpu", ".2f"), ("teacher s", "teacher", ".1f"),
)  # fmt: skip


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [" | ".join(title for title, *_ in COLUMNS), " | ".join("---" for _ in COLUMNS)]
    lines += [
        " | ".join(format(getattr(row, name), form) for _, name, form in COLUMNS) for row in rows
    ]
    return "\n".join(f"| {line} |" for line in lines)


def goals(row: Row) -> str:
    """Return the goals and what was measured, a line for each."""
    lines = [
        f"{title}: {getattr(row, name):.2f} s, goal {goal:g} s, "
        f"ratio {getattr(row, name) / goal:.2f}"
        for name, (title, goal) in GOALS.items()
    ]
    return "\n".join([*lines, f"late answers: {row.unanswered}, goal 0"])


@contextlib.contextmanager
def serving(data: str, options: list[str], processes: int) -> Iterator[LoadServer]:
    """Start a server with a state folder of its own, and end it."""
    with tempfile.TemporaryDirectory() as folder:
        server = LoadServer(Path(folder), data, options, processes)
        try:
            yield server
            log = server.log.read_text(encoding="utf-8")
            if "Traceback" in log:
                print(f"The server logged {log.count('Traceback')} tracebacks.\n", log)
        finally:
            server.stop()


async def run(options: argparse.Namespace) -> list[Row]:
    """Measure each number of sessions with a server of its own, then soak."""
    rows = []
    AsyncHTTPClient.configure(None, max_clients=1000)
    for sessions in options.sessions:
        with serving(options.data, options.server, options.processes) as server:
            await server.wait()
            if options.processes == 1:
                await gone(server)
            else:
                await asyncio.sleep(SETTLED)
            rows.append(await load(server, sessions, options.seconds))
            print(f"{sessions} sessions measured", file=sys.stderr)
    if options.soak:
        with serving(options.data, options.server, 1) as server:
            await server.wait()
            await soak(server, options.soak)
    return rows


def main(arguments: list[str] | None = None) -> list[Row]:
    """Read the options, measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--sessions", type=int, nargs="*", default=[1, 8, 30])
    parser.add_argument("--seconds", type=float, default=30, help="of each measurement")
    parser.add_argument("--soak", type=int, default=200, help="sessions opened and closed")
    parser.add_argument("--data", default="zoo")
    parser.add_argument("--processes", type=int, default=1, help="see hcviz serve")
    parser.add_argument("--class", action="store_true", dest="for_class", help="see hcviz serve")
    parser.add_argument("--server", nargs="*", default=[], help="more options of hcviz serve")
    options = parser.parse_args(arguments)
    if options.for_class:
        options.server += CLASS
        options.soak = 0
    rows = asyncio.run(run(options))
    print(table(rows))
    for row in rows:
        print(f"\n{row.sessions} sessions:\n{goals(row)}")
    load_now = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"\n{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load at the end {load_now:.1f}")
    return rows


if __name__ == "__main__":
    main()
