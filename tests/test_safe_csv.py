"""CSV files for people: no cell is a formula, and every reader returns what was written."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz.commands.place import as_csv
from hcviz.core.csv_cells import escape_cell, unescape_cell, write_csv
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons
from hcviz.io.answers import drop_repeated, read_signed_answers
from hcviz.io.clusters_csv import write_clusters_csv
from hcviz.io.comparison_csv import read_comparison_csv, write_answers_csv, write_comparison_csv
from hcviz.io.tables import read_table
from hcviz.io.triplet_csv import read_triplet_csv, write_triplet_csv
from hcviz.reproduce.record import csv_text
from hcviz.session.model import Constraint
from hcviz.taxonomy import Taxonomy
from hcviz.taxonomy.entry import Entry
from hcviz.taxonomy.group import Group
from hcviz.taxonomy.levels import read_levels, write_levels
from hcviz.taxonomy.new_items import PlacedItem, PlacedItems
from hcviz.taxonomy.path_table import read_paths, write_paths

#: What a spreadsheet computes; plain numbers are no formulas.
FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
NUMBER = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?")
BEGINNINGS = ["=", "+", "-", "@", "\t", "\r", "\n", "'", "''", "＝", "－", ""]
NASTY = ["=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "+1-1", "-2+3", "'=1", "''=1", "'owl", "-5"]

cells = st.builds("{}{}".format, st.sampled_from(BEGINNINGS), st.text(max_size=6))
#: Readers remove spaces around names, and compare names in Unicode's composed form.
words = st.builds(
    "{}{}".format,
    st.sampled_from([each for each in BEGINNINGS if not each.isspace()]),
    st.text("ab=+-@'1,;\"", max_size=5),
)
names = st.lists(words.filter(bool), min_size=6, max_size=6, unique=True)
TRIPLES = [(0, 1, 2), (3, 4, 5), (1, 4, 0)]


def formulas(text):
    """The cells that a spreadsheet would compute."""
    rows = csv.reader(io.StringIO(text, newline=""))
    return [
        cell for row in rows for cell in row if FORMULA.match(cell) and not NUMBER.fullmatch(cell)
    ]


@given(cells)
def test_a_cell_is_read_as_it_was(text):
    assert unescape_cell(escape_cell(text)) == text
    rows = list(csv.reader(io.StringIO(write_csv([[text, 1, None]]), newline="")))
    assert rows == [[escape_cell(text), "1", ""]]
    assert not formulas(write_csv([["x", text]]))


@pytest.mark.parametrize("number", ["-5", "+5", "-0.5", "-.5", "-1e-9", "5", "-5."])
def test_numbers_stay_numbers(number):
    assert escape_cell(number) == number


@pytest.mark.parametrize("text", ["-", "-5-", "--5", "-x", "-1e", "-.", "- 5", "-5 "])
def test_what_only_begins_like_a_number_is_escaped(text):
    assert escape_cell(text) == f"'{text}"


@given(names)
@settings(max_examples=60, deadline=None)
def test_constraints(labels):
    written = (
        Constraint(1, (0, 1, 2), (3,), author=labels[0], note=labels[1]),
        Constraint(2, (3, 4), (5, 0)),
    )
    text = write_triplet_csv(written, labels)
    assert not formulas(text)
    assert read_triplet_csv(text, labels) == written


@given(names)
@settings(max_examples=60, deadline=None)
def test_comparisons(labels):
    text = write_comparison_csv(Comparisons(np.array(TRIPLES)), labels)
    assert not formulas(text)
    found = read_comparison_csv(text)
    assert {*found.labels} == {*labels}
    assert read_comparison_csv(text, labels).comparisons.rows.tolist() == [*map(list, TRIPLES)]


@given(names)
@settings(max_examples=60, deadline=None)
def test_signed_answers(labels):
    written = [("odd", each, labels[0], f"2026-11-2{k}") for k, each in enumerate(TRIPLES)]
    text = write_answers_csv(written, labels)
    assert not formulas(text)
    expected = [(q, tuple(labels[k] for k in each), who, at) for q, each, who, at in written]
    assert read_signed_answers(text.encode()) == expected
    rest, removed = drop_repeated(text.encode(), [hash(expected[0])])
    assert removed == 1
    assert not formulas(rest.decode())
    assert read_signed_answers(rest) == expected[1:]


@given(names)
@settings(max_examples=60, deadline=None)
def test_clusters(labels):
    text = write_clusters_csv(labels, [0, 0, 1, 1, 2, 2], {0: labels[3], 1: labels[4]})
    assert not formulas(text)
    assert read_table(text.encode(), "clusters.csv").labels == tuple(labels)


@given(names)
@settings(max_examples=60, deadline=None)
def test_taxonomies(labels):
    top = Entry(contents=[Entry(labels[0], [labels[1], Entry(labels[2], [labels[3]])]), labels[4]])
    for write, read in ((write_levels, read_levels), (write_paths, read_paths)):
        text = write(top)
        assert not formulas(text)
        assert write(read(text)) == text
        assert read(text).contents[1] == labels[4]
        assert read(text).contents[0].contents[0] == labels[1]


@pytest.mark.parametrize("style", ["levels", "paths"])
def test_named_groups(style):
    tree = Tree.from_newick("((0,1,2,3),4,5,6,7,8);", [str(k) for k in range(9)])
    taxonomy = Taxonomy(tuple(NASTY), tree, [Group("=HYPERLINK(1)", range(4))])
    text = taxonomy.to_csv(style)
    assert not formulas(text)
    found = Taxonomy.from_csv(text)
    assert {*found.labels} == {*NASTY}
    assert [each.name for each in found.groups] == ["=HYPERLINK(1)"]


def test_placed_items():
    item = PlacedItem("=1+1", (Group("-x", [0, 1]),), (0.5,), is_unplaced=False)
    text = as_csv(PlacedItems((item,), ()))
    assert not formulas(text)
    assert "'=1+1,'-x,'-x,0.500" in text


def test_figures_of_papers():
    assert csv_text(["@x", "y"], [["=1", -0.5], [None, 2]]) == "'@x,y\n'=1,-0.5\n,2\n"


def test_a_table_of_another_program_keeps_its_names():
    """A file that hcviz did not escape: its names stay, with and without an apostrophe."""
    found = read_comparison_csv("anchor,near,far\n=a,'t Hooft,'b\n", ["=a", "'t Hooft", "'b"])
    assert found.labels == ("=a", "'t Hooft", "'b")
    found = read_comparison_csv("anchor,near,far\n'=a,b,c\n", ["'=a", "b", "c"])
    assert found.comparisons.rows.tolist() == [[0, 1, 2]]
    (read,) = read_triplet_csv("together_1,together_2,apart\n'=a,b,c\n", ["'=a", "b", "c"])
    assert read.group == (0, 1)
