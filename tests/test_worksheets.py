"""Worksheets: their pages, fonts and questions, and the command that writes them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import hcviz
from hcviz import cli
from hcviz.core.errors import HcvizError, InvalidData, InvalidParameter
from hcviz.core.tree import Tree
from hcviz.worksheets.pages import Pages
from hcviz.worksheets.worksheet import choose_questions

ZOO = hcviz.datasets.load("zoo")


def pages(pdf):
    return len(re.findall(rb"/Type /Page\b", pdf))


def test_a_worksheet_is_four_pages_on_a4_with_its_fonts():
    pdf = hcviz.worksheet(ZOO)
    assert pages(pdf) == 4
    assert set(re.findall(rb"/MediaBox \[ *0 0 ([\d.]+) ([\d.]+)", pdf)) == {
        (b"595.2755905512", b"841.8897637795")
    }
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert pdf == hcviz.worksheet("zoo")
    assert pdf != hcviz.worksheet("zoo", seed=1)
    assert pages(hcviz.worksheet(ZOO, n_questions=0)) == 2
    assert pages(hcviz.worksheet(ZOO, n_questions=41)) == 1 + 5 + 1 + 2


def texts(made):
    return [[each.get_text() for each in figure.axes[0].texts] for figure in made.figures]


def test_the_sheets_list_every_item_and_the_answers_name_the_pair():
    tree = Tree([5, 5, 6, 7, 7, 6, 8, 8, -1], [0, 0, 0, 0, 0, 1, 2, 1, 3], 5)
    made = Pages("$Five$", tree, ["ant", "bee", "$c_1$", "dog", "elk"])
    made.blank_tree()
    made.questions([["elk", "ant", "bee"]])
    made.answers([(["elk", "ant", "bee"], ["ant", "bee"])], "average")
    blank, asked, drawn, answered = texts(made)
    for page in (blank, drawn):
        assert {"ant", "bee", "$c_1$", "dog", "elk"} <= set(page)
    assert [each for each in asked if each in ("elk", "ant", "bee")] == ["elk", "ant", "bee"]
    assert "ant + bee together, apart from elk" in answered
    assert len(made.figures[0].axes[0].lines) == 5 + 1 + 2 * 5 + 5 + 2
    made.pdf()  # no name is read as a formula


def test_questions_are_answered_by_the_tree_and_ask_about_all_items():
    tree = hcviz.fit("average", ZOO).restrict(np.arange(12))
    found = choose_questions(tree, 20, np.random.default_rng(0))
    assert len({frozenset(each.items) for each in found}) == 20
    for each in found:
        (third,) = set(each.items) - set(each.pair)
        assert tree.satisfies(np.array([[*each.pair, third]], np.int32))[0]
    counts = np.bincount([item for each in found for item in each.items], minlength=12)
    assert counts.min() >= 3
    assert choose_questions(Tree.star(5), 20, np.random.default_rng(0)) == []


def test_any_data_can_be_used_and_faults_are_one_sentence():
    assert pages(hcviz.worksheet(np.random.default_rng(0).random((4, 2)), title="Four")) == 4
    assert pages(hcviz.worksheet("flowers", n_items=6)) == 4  # comparisons only
    assert pages(hcviz.worksheet(np.zeros((4, 2)), method="ward")) >= 3
    with pytest.raises(InvalidData, match="three items; there are 2"):
        hcviz.worksheet([[0.0], [1.0]])
    with pytest.raises(InvalidParameter, match="n_items is from 3 to 24, not 2"):
        hcviz.worksheet("zoo", n_items=2)
    with pytest.raises(InvalidParameter, match="n_items must be whole numbers"):
        hcviz.worksheet("zoo", n_items="4")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="n_questions must be whole numbers, not"):
        hcviz.worksheet("zoo", n_questions=2.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="The seed must be whole numbers"):
        hcviz.worksheet("zoo", seed="1")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="title must be a text"):
        hcviz.worksheet("zoo", title=7)  # type: ignore[arg-type]
    with pytest.raises(HcvizError, match="nope"):
        hcviz.worksheet("zoo", method="nope")


def test_the_command_writes_a_worksheet(tmp_path, capsys):
    table = tmp_path / "points.csv"
    table.write_text("name,x,y\na,0,0\nb,1,0\nc,3,1\nd,20,9\ne,22,9\n")
    out = tmp_path / "sheet.pdf"
    words = ["worksheet", str(table), "-o", str(out)]
    assert cli.main([*words, "--n-questions", "3", "--method", "ward"]) == 0
    assert pages(out.read_bytes()) == 4
    assert "sheet.pdf" in capsys.readouterr().err
    assert cli.main([*words, "--n-items", "99"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_long_names_stay_in_their_room():
    names = [f"a product of a shop with a long name, {k}" for k in range(3)] + ["M" * 60] * 2
    made = Pages("Shop", hcviz.fit("average", np.arange(5.0)[:, None] ** 2), names)
    made.blank_tree()
    made.questions([names[:3], names[2:]])
    made.answers([(names[:3], names[:2])], "five items")
    for figure in made.figures:
        FigureCanvasAgg(figure).draw()
        boxes = [each.get_window_extent() for each in figure.axes[0].texts if each.get_text()]
        assert all(box.x1 <= figure.bbox.x1 for box in boxes)
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[k + 1 :])
