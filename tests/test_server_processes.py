"""``serve_processes``: servers that end are started again, and none outlives its parent."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hcviz.cli import main
from tests.conftest import ROOT
from tests.ports import free_port

SECONDS = 60


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


class Parent:
    """A process with two small servers."""

    def __init__(self, log: Path, kind: str = "serve", port: int = 0) -> None:
        self.port, self.log = port or free_port(), log
        command = [sys.executable, "-m", "tests.small_servers", str(self.port), kind]
        environment = {**os.environ, "HCVIZ_PASSWORD": ""}
        del environment["HCVIZ_PASSWORD"]
        with log.open("wb") as file:
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=file)

    def logged(self) -> str:
        return self.log.read_text()

    def ask(self, path: str = "/", server: int | None = None) -> int:
        """Return the process id of the server that answers."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}")
        if server is not None:
            request.add_header("Cookie", f"hcviz-process={server}")
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return int(answer.read())

    def pids(self) -> list[int]:
        return [self.ask(server=0), self.ask(server=1)]


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[Parent]:
    started = Parent(tmp_path / "log")
    until(lambda: "Ctrl-C" in started.logged())
    until(lambda: len(set(started.pids())) == 2)
    yield started
    started.process.kill()
    started.process.wait()


def runs(pid: int) -> bool:
    """Return True if a process runs that is no child of this one."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_server_that_ends_is_started_again_and_none_is_left_at_the_end(parent: Parent) -> None:
    assert parent.logged() == f"hcviz: http://127.0.0.1:{parent.port} (Ctrl-C ends it)\n"
    first, second = parent.pids()
    with pytest.raises((urllib.error.URLError, ConnectionError)):  # the server ends in its answer
        parent.ask("/end", server=0)
    until(lambda: "server 1 ended (exit code -9) and is started again." in parent.logged())
    assert parent.ask(server=0) in (second, *parent.pids())
    until(lambda: parent.ask(server=0) != second)
    assert parent.ask(server=0) != first
    assert parent.ask(server=1) == second

    pids = parent.pids()
    parent.process.send_signal(signal.SIGINT)
    assert parent.process.wait(SECONDS) == 0
    until(lambda: not any(map(runs, pids)))
    assert "Traceback" not in parent.logged()


def test_no_server_outlives_a_parent_that_is_killed(parent: Parent) -> None:
    pids = parent.pids()
    parent.process.kill()
    parent.process.wait(SECONDS)
    until(lambda: not any(map(runs, pids)))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("refuse", "The data cannot be read. Choose other data.\n"),
        ("end", "The server ended before it answered.\n"),
    ],
)
def test_servers_that_do_not_start_say_why(tmp_path: Path, kind: str, sentence: str) -> None:
    parent = Parent(tmp_path / "log", kind)
    assert parent.process.wait(SECONDS) == 1
    assert parent.logged() == sentence


def test_a_port_in_use_is_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        parent = Parent(tmp_path / "log", port=port)
        assert parent.process.wait(SECONDS) == 1
    assert parent.logged().startswith(f"Port {port} of 127.0.0.1 cannot be used (")
    assert "Choose another one with --port." in parent.logged()


@pytest.mark.parametrize("number", ["0", "-1", "33"])
def test_the_number_of_processes_has_bounds(number: str, capsys) -> None:
    assert main(["serve", "--processes", number]) == 2
    assert f"--processes {number} is not between 1 and 32." in capsys.readouterr().err
