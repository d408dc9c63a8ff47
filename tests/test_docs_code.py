"""The code of the documentation runs: Python blocks, and the commands of the guides."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest

from hcviz.algorithms import get
from hcviz.cli import main, make_parser
from tests.conftest import ROOT

mpl.use("agg")
DOCS = ROOT / "docs"
#: Pages whose code other tests run.
ELSEWHERE = {
    "api.md": "test_docs_examples.py",
    "ecosystem.md": "test_ecosystem.py",
    "in-python.md": "test_repository.py",
}
BLOCKS = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Commands that do not end by themselves, or need other machines: only their options are read.
ENDLESS = {"serve", "warm"}


def pages_with_code() -> list[Path]:
    pages = [path for path in sorted(DOCS.rglob("*.md")) if "_made" not in path.parts]
    return [
        path
        for path in pages
        if path.name not in ELSEWHERE and "```python\n" in path.read_text(encoding="utf-8")
    ]


PAGES = pages_with_code()
#: Pages with commands that are not guides: these are for your own files.
COMMAND_PAGES = [
    path
    for path in (ROOT / "README.md", *sorted(DOCS.glob("*.md")))
    if path.name != "commands.md" and "\nhcviz " in path.read_text(encoding="utf-8")
]


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each ``hcviz`` command of a block; other commands are left out."""
    for line in text.replace("\\\n", " ").splitlines():
        found = shlex.split(line, comments=True)
        if found and found[0] == "hcviz":
            yield found[1:]


def run_commands(text: str) -> None:
    """Run each ``hcviz`` command of a block that ends by itself, on this machine."""
    for arguments in commands_in(text):
        options = make_parser(arguments).parse_args(arguments)
        if arguments[0] not in ENDLESS and not getattr(options, "scheduler", None):
            assert main(arguments) == 0, arguments


@pytest.mark.parametrize("page", PAGES, ids=[str(path.relative_to(DOCS)) for path in PAGES])
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    """The blocks of a page share their names and an empty folder, from top to bottom."""
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "page"}
    for language, text in BLOCKS.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            exec(re.sub(r"\bseconds=\d+", "seconds=1", text), scope)
        elif page.parent != DOCS:
            run_commands(text)


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=lambda path: path.name)
def test_the_commands_of_a_page_are_those_of_the_parser(page):
    """These pages' files do not exist, so only the options are read."""
    for language, text in BLOCKS.findall(page.read_text(encoding="utf-8")):
        if language == "sh":
            for arguments in commands_in(text):
                make_parser(arguments).parse_args(arguments)


def test_the_commands_by_example_are_those_of_the_parser(monkeypatch):
    """Their files do not exist, so only the options are read."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"name,x\nowl,1\nbee,2\n")))
    blocks = BLOCKS.findall((DOCS / "commands.md").read_text(encoding="utf-8"))
    lines = [line for _, block in blocks for line in block.splitlines()]
    assert max(map(len, lines)) <= 88  # a page shows so many without a scroll bar
    commands = [shlex.split(line.split(" < ")[0], comments=True) for line in lines]
    assert len(commands) > 20
    for name, *arguments in commands:
        assert name == "hcviz"
        if "--help" in arguments:
            assert get(arguments[1]).name == arguments[1]
        else:
            make_parser(arguments).parse_args(arguments)


def test_all_pages_are_found():
    names = {path.name for path in PAGES}
    assert {"reading-the-tree.md", "vikram2016.md", "perrot2020.md"} <= names
    assert all((ROOT / "tests" / test).exists() for test in ELSEWHERE.values())
    assert {"README.md", "start.md", "teaching.md"} <= {path.name for path in COMMAND_PAGES}
