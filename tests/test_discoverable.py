"""What a person at a prompt can find: methods, their parameters, and their documents."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pytest

import hcviz
from hcviz import cli, methods
from hcviz.algorithms import get
from hcviz.algorithms._template import ALGORITHMS as TEMPLATE
from hcviz.algorithms.names import MethodName
from hcviz.core.errors import InvalidParameter
from tools.method_pages import methods_page

POINTS = np.array([[0.0], [1.0], [5.0], [6.5]])


def test_the_type_of_names_has_every_method():
    """Editors complete the first argument of fit from this type."""
    assert list(get_args(MethodName)) == hcviz.algorithms()
    annotation = inspect.signature(hcviz.fit).parameters["name"].annotation
    assert "MethodName" in annotation


def test_the_package_says_that_it_has_types():
    assert (Path(hcviz.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("name", hcviz.algorithms())
def test_each_method_has_a_function_with_its_parameters(name):
    function = getattr(methods, methods.function_name(name))
    assert function.__name__ in dir(methods)
    assert function.__name__.isidentifier()
    found = inspect.signature(function).parameters
    declared = get(name).params.param
    assert list(found)[:4] == ["problem", "seed", "start", "progress"]
    for parameter in get(name).parameter_names():
        assert found[parameter].default == declared[parameter].default
        head = f"\n{parameter} : "
        assert head in function.__doc__
    assert get(name).title in function.__doc__


def test_a_function_gives_the_tree_of_its_method():
    assert methods.crsc(POINTS, seed=2, refine=True) == hcviz.fit(
        "crsc", POINTS, seed=2, refine=True
    )
    assert (
        inspect.signature(methods.average).parameters["constraints"].annotation
        == Literal["merge", "repair"]
    )
    with pytest.raises(InvalidParameter, match="no parameter 'refined'"):
        methods.crsc(POINTS, refined=True)
    with pytest.raises(AttributeError, match=r"no method 'crsk'.*crsc"):
        methods.crsk  # noqa: B018


@pytest.mark.parametrize("name", hcviz.algorithms())
def test_describe_has_every_parameter(name):
    found = hcviz.describe(name)
    frame = found.frame()
    assert list(frame.index) == get(name).parameter_names()
    assert all(frame["doc"])
    for parameter in frame.index:
        assert f"\n  {parameter} = " in str(found)
        assert f"<code>{parameter}</code>" in found._repr_html_()
    assert found.summary
    assert max(map(len, str(found).splitlines())) <= 110
    assert repr(found) == str(found)


@pytest.mark.parametrize("method", [*map(get, hcviz.algorithms()), *TEMPLATE], ids=lambda m: m.name)
def test_each_method_explains_how_it_works(method):
    sentences = re.findall(r"[^.]+\.(?: |$)", method.how_it_works)
    assert "".join(sentences) == method.how_it_works
    assert 3 <= len(sentences) <= 5
    assert max(len(each.split()) for each in sentences) < 25


def test_each_place_shows_how_a_method_works(capsys):
    how = get("ward").how_it_works
    assert hcviz.describe("ward").how_it_works == how
    assert how in " ".join(str(hcviz.describe("ward")).split())
    assert how in methods.ward.__doc__
    with pytest.raises(SystemExit):
        cli.main(["run", "ward", "--help"])
    assert how in " ".join(capsys.readouterr().out.split())


def test_the_documentation_has_the_paragraph_and_the_picture_of_each_method():
    page = methods_page()
    for name in hcviz.algorithms():
        method = get(name)
        part = page.split(f"## {method.title} (`{name}`)")[1].split("\n## ")[0]
        assert method.how_it_works in part
        assert part.count("<svg") == 1


def test_describe_escapes_and_refuses():
    assert "<script" not in hcviz.describe("ddt")._repr_html_()
    with pytest.raises(InvalidParameter, match="no method 'dtt'"):
        hcviz.describe("dtt")


@pytest.mark.parametrize("wrong", [[], ["ddt"], {}, 3, None])
def test_a_name_that_is_no_text_is_one_sentence(wrong):
    for call in (lambda: hcviz.fit(wrong, [[0.0], [1.0]]), lambda: hcviz.describe(wrong)):
        with pytest.raises(InvalidParameter, match="There is no method"):
            call()


def test_each_method_says_when_it_is_best():
    for name in hcviz.algorithms():
        text = get(name).summary
        assert text.count("Best ") == 1, name
        assert "Best for " in text or "Best as " in text, name
        assert len(text) < 280, name


def test_the_clauses_agree_with_the_measured_table():
    """The ratios to ``crsc`` in docs/choosing-a-method.md: cost, then time."""
    page = (Path(__file__).parents[1] / "docs" / "choosing-a-method.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \|((?: [\d.]+, [\d.]+ \|){4})$", page, re.MULTILINE)
    cells = {
        name: np.array([cell.split(",") for cell in row.strip(" |").split("|")], float)
        for name, row in rows
    }
    cost, seconds = ({name: each[:, k] for name, each in cells.items()} for k in (0, 1))
    assert "2 to 5 times as fast" in get("average").summary
    assert 2 <= (1 / seconds["average"]).min() <= (1 / seconds["average"]).max() <= 5
    assert np.abs(cost["average"] - 1).max() < 0.02
    assert 3 < (1 / seconds["single"]).min() < (1 / seconds["single"]).max() <= 10
    assert "up to 4 per cent more" in get("single").summary
    assert max(cost["single"].max(), cost["complete"].max()) <= 1.04
    assert "up to 6 per cent" in get("crbc").summary
    assert cost["crbc"].max() <= 1.06
    assert "10 to 130 times" in get("dasgupta-search").summary
    assert 10 <= seconds["dasgupta-search"].min() <= seconds["dasgupta-search"].max() <= 130
    assert (1 / cost["dasgupta-search"]).max() <= 1.02
