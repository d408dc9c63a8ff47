"""The log of long calls on the event loop: from which length, and whose they are."""

from __future__ import annotations

import asyncio
import functools
import logging
from asyncio.events import Handle
from collections.abc import Iterator

import pytest

from hcviz.ui.compat.loop_watchdog import LoopWatchdog
from tests.clock import Clock


@pytest.fixture
def watchdog(clock: Clock) -> Iterator[LoopWatchdog]:
    made = LoopWatchdog(clock)
    made.install()
    yield made
    made.remove()


def test_calls_are_logged_by_their_length_with_the_name_of_their_function(watchdog, clock, caplog):
    def draw_everything(seconds: float) -> None:
        clock.now += seconds

    async def read_a_file() -> None:
        clock.now += 0.3

    def wrapped() -> None:
        watchdog.note(functools.partial(draw_everything, 0.0))
        clock.now += 0.2

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for seconds in (0.019, 0.05, 0.11):
            loop.call_soon(functools.partial(draw_everything, seconds))
        loop.call_soon(wrapped)
        await asyncio.create_task(read_a_file())
        await asyncio.sleep(0)

    with caplog.at_level(logging.DEBUG, "hcviz.loop"):
        asyncio.run(main())
    found = [
        (each.levelname, each.getMessage().split(": ", 1))
        for each in caplog.records
        if each.name == "hcviz.loop"
    ]
    assert [(level, text[0].split("took ")[1]) for level, text in found] == [
        ("DEBUG", "50 ms"), ("WARNING", "110 ms"), ("WARNING", "200 ms"), ("WARNING", "300 ms"),
    ]  # fmt: skip
    names = [text[1] for _, text in found]
    assert all("draw_everything" in name and __file__ in name for name in names[:3])
    assert "read_a_file" in names[3]


def test_it_is_installed_once_and_removed(clock):
    plain = Handle._run
    made = LoopWatchdog(clock)
    made.install()
    inside = Handle._run
    made.install()
    assert Handle._run is inside is not plain
    made.remove()
    made.remove()
    assert Handle._run is plain
