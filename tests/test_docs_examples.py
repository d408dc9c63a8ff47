"""The documents of the API: every public name is on its page, and every example runs."""

from __future__ import annotations

import doctest
import inspect
import re
from functools import cached_property

import pytest

from tests.conftest import ROOT
from tools import docstrings, public_api

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
#: The imports that the page of the API names.
IMPORTS = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]


def examples() -> list[doctest.DocTest]:
    found, seen = [], set()
    for path, thing in public_api.objects():
        inner = getattr(thing, "func", None) if isinstance(thing, cached_property) else thing
        inner = getattr(inner, "__func__", inner)
        if id(inner) not in seen:
            seen.add(id(inner))
            text = inspect.getdoc(inner) or ""
            found.append(doctest.DocTestParser().get_doctest(text, {}, path, None, 0))
    return [each for each in found if each.examples]


EXAMPLES = examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_runs_after_the_imports_of_the_page(example):
    exec(IMPORTS, example.globs)
    output: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=output.append)
    assert result.failed == 0, "".join(output)


def test_all_examples_are_found():
    """Most public classes, functions and methods are counted by hand here."""
    assert len(EXAMPLES) >= 170
    names = {example.name for example in EXAMPLES}
    assert {"hcviz.Tree", "hcviz.Tree.lca", "hcviz.metrics.aari", "hcviz.explore"} <= names


def listed() -> set[str]:
    """The names in the tables of the page, with their modules."""
    found = set()
    for module, table in re.findall(r"currentmodule:: (\S+)\n(.*?)```", PAGE, re.DOTALL):
        found |= {f"{module}.{name}" for name in re.findall(r"^   (\w+)$", table, re.MULTILINE)}
    return found


def test_the_page_lists_every_public_name():
    names = {f"{module}.{name}" for module, name in public_api.names()}
    for path in names - listed():  # listed under hcviz
        assert f"hcviz.{path.rsplit('.', 1)[1]}" in listed()
    assert listed() <= names


def incomplete(rows):
    """Return the rows."""
    return rows


def test_the_validator_names_what_a_docstring_lacks():
    found = [line.split(" ")[1] for line in docstrings.faults([f"{__name__}.incomplete"])]
    assert sorted(found) == ["EX01", "PR01", "RT01"]


def test_the_validator_reads_all_members():
    paths = [path for path, _ in public_api.objects()]
    assert len(paths) == len(set(paths)) > 240
    assert {"hcviz.Tree.size", "hcviz.Tree.from_newick", "hcviz.posterior.Posterior.add"} <= {
        *paths
    }
