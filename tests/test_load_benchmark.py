"""The benchmark of many sessions, in its smallest form: a real server and one client."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from benchmarks.load import CLASS, LoadServer, Person, Row, goals, gone, load, table
from benchmarks.load_client import Client


def test_one_client_clicks_answers_and_leaves_nothing(tmp_path: Path) -> None:
    server = LoadServer(tmp_path, "zoo", ["--seconds", "5"])

    async def visit() -> Row:
        await server.wait()
        async with Client(server.port, {"method": "ddt"}) as client:
            person = Person(client, random.Random(0))
            assert len(client.rows()) == 101
            run = client.run
            await person.answer()
            assert client.run == run + 1
            assert client.constraints == 1
            assert len(person.taps) == 3
            assert person.unanswered == 0
        row = await load(server, 1, 1.0)
        assert not (await gone(server))["alive"]
        return row

    try:
        row = asyncio.run(visit())
        assert row.jobs <= 2
        assert row.memory < row.server
        assert table([row]).count("\n") == 2
        assert "Traceback" not in server.log.read_text()
    finally:
        server.stop()


def test_a_student_answers_and_the_teacher_gets_it(tmp_path: Path) -> None:
    server = LoadServer(tmp_path, "zoo", ["--seconds", "5", *CLASS])

    async def visit() -> Row:
        await server.wait()
        return await load(server, 1, 4.0)

    try:
        row = asyncio.run(visit())
        assert row.teacher >= 0
        assert row.cpu > 0
        assert "late answers: 0" in goals(row)
        assert "Traceback" not in server.log.read_text()
    finally:
        server.stop()
