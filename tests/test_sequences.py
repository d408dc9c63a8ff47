"""Sequences from files, compared by edit distance: what is read, what is refused, what runs."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hcviz
from hcviz.algorithms import algorithms, get
from hcviz.core.errors import HcvizError, InvalidData
from hcviz.core.problem import MAX_DENSE
from hcviz.io.tables import read_table
from hcviz.session.model import DataSpec
from hcviz.ui.state.data_sources import resolve

FASTA = b">s1 a bear\nACGT\nAC\n\n>s2 a boar\nACGTAA\n>s3\nTTTTTT\n"


def read(content, filename, kind="sequences"):
    return read_table(content.encode() if isinstance(content, str) else content, filename, kind)


def refused(content, filename, message):
    with pytest.raises(HcvizError, match=message) as fault:
        read(content, filename)
    assert fault.value.hint


def distance(a, b):
    """Levenshtein's, by the definition."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        before, row = row, [i]
        for j, y in enumerate(b, start=1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
    return row[-1]


# ---------------------------------------------------------------------- what is read


def test_fasta():
    data = read(FASTA, "three.fasta")
    assert data.labels == ("s1", "s2", "s3")
    assert data.oracle.strings == ["ACGTAC", "ACGTAA", "TTTTTT"]
    assert data.features is data.similarity is None
    assert (data.name, data.title, data.notes) == ("three", "three.fasta", ())
    # Its name says what it is; so does its beginning, where the person says it.
    assert read(FASTA, "three.fa", "features").labels == data.labels
    assert read(b"; a remark\n" + FASTA, "three.txt").labels == data.labels
    crlf = FASTA.replace(b"\n", b"\r\n") + b"\r\n"
    assert read(crlf, "x.fna").oracle.strings == data.oracle.strings


def test_fasta_s_names_are_its_first_words_unless_these_are_alike():
    text = b">frog the tree\nAA\n>frog of the reeds\nAC\n"
    assert read(text, "x.fa").labels == ("frog the tree", "frog of the reeds")


def test_small_letters_of_fasta_become_capitals_with_a_note():
    data = read(b">a\nacGT\n>b\nACGA\n", "x.fa")
    assert data.oracle.strings == ["ACGT", "ACGA"]
    assert "capital" in data.notes[0]


def test_a_text_a_line():
    data = read("bear\n  brown bear \nboar\n\n\n", "animals.txt")
    assert data.labels == ("bear", "brown bear", "boar")  # spaces divide nothing
    assert tuple(data.oracle.strings) == data.labels
    alike = read("ACGT\nACGT\nTTTT\n", "x.txt")
    assert alike.labels == ("line 1", "line 2", "line 3")
    assert alike.oracle.strings == ["ACGT", "ACGT", "TTTT"]
    long = read("A" * 100 + "\n" + "C" * 100, "x.txt")
    assert long.labels == ("line 1", "line 2")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_of_names_and_texts(separator):
    rows = [["name", "seq"], ["a", "ACGT"], ["b", "ACGA"], ["c", "TTTT"]]
    text = "\n".join(separator.join(row) for row in rows)
    data = read(text, "x.csv")
    assert data.labels == ("a", "b", "c")
    assert data.oracle.strings == ["ACGT", "ACGA", "TTTT"]
    assert data.notes == ()


def test_classes_are_shown_and_other_columns_left_out_with_a_note():
    text = "name,species,length,dna,place\na,x,4,ACGT,here\nb,x,4,ACGA,there\nc,y,4,TTTT,here\n"
    data = read(text, "x.csv")
    assert data.classes == ("x", "x", "y")
    assert data.oracle.strings == ["ACGT", "ACGA", "TTTT"]
    assert data.notes == ("Only texts are compared: 'length', 'place' were left out.",)
    assert read("id,len,letters\na,4,ACGT\nb,4,TTTT\n", "x.csv").oracle.strings == ["ACGT", "TTTT"]


def test_a_first_row_that_is_an_item_is_kept():
    data = read("a,ACGT\nb,ACGA\nc,TTTT\nd,TTCC\n", "x.csv")
    assert data.labels == ("a", "b", "c", "d")
    assert "first row" in data.notes[0]
    assert read("animal,genome\na,ACGT\nb,ACGA\nc,TTTT\n", "x.csv").labels == ("a", "b", "c")


def test_na_is_a_text():
    assert read("name,seq\na,NA\nb,ACGA\n", "x.csv").oracle.strings == ["NA", "ACGA"]


def test_parquet():
    frame = pd.DataFrame({"name": ["a", "b"], "sequence": ["ACGT", "TTTT"]})
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    data = read(buffer.getvalue(), "x.parquet")
    assert (data.labels, data.oracle.strings) == (("a", "b"), ["ACGT", "TTTT"])


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("content", "filename", "message"),
    [
        ("", "x.txt", "is empty"),
        ("\n \n", "x.fa", "is empty"),
        ("ACGT\n\nACGA\n", "x.txt", "Line 2 of the file 'x.txt' is empty"),
        ("\nACGT\nACGA\n", "x.txt", "Line 1"),
        ("ACGT\n", "x.txt", "only one sequence"),
        (">a\nACGT\n", "x.fa", "only one sequence"),
        (">a\nACGT\n>\nACGA\n", "x.fa", "without a name in line 3"),
        (">a\n>b\nACGA\n", "x.fa", "'a', line 1 .* has no letters"),
        (">a\nACGT\n>b\nAC\n>a\nTT\n", "x.fa", "'a' occurs twice, in lines 1 and 5"),
        (b"\x89PNG\r\n\x1a\n", "x.txt", "a PNG image, not text"),
        (b"AC\0GT\n", "x.txt", "binary data"),
        ("name,seq\na,ACGT\nb,\n", "x.csv", r"Row 3 \('b'\) has no text in the column 'seq'"),
        ("name,x\na,1\nb,2\n", "x.csv", "No column holds texts"),
        ("name,x,y\na,AC,AG\nb,AA,GG\n", "x.csv", "Several columns hold texts: 'x', 'y'"),
        ("name,seq\na,ACGT\na,AC\n", "x.csv", "'a' occurs twice, in rows 2 and 3"),
        ("name,seq\na,ACGT\n", "x.csv", "only one sequence"),
    ],
)
def test_what_is_refused(content, filename, message):
    refused(content, filename, message)


def test_a_table_of_texts_alone_is_refused_with_a_hint():
    with pytest.raises(InvalidData, match="no column of numbers") as fault:
        read("name,seq\na,ACGT\nb,ACGA\nc,TTTT\n", "x.csv", "features")
    assert "--kind sequences" in fault.value.hint


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.binary(max_size=60), st.text(">AC \n;,\t", max_size=60).map(str.encode)),
    st.sampled_from(["x.fa", "x.txt", "x.csv", ""]),
)
def test_no_bytes_give_a_traceback(content, filename):
    try:
        data = read(content, filename)
    except HcvizError:
        return
    assert data.n_items == len(data.oracle.strings) >= 2


# ---------------------------------------------------------------------- what runs


texts = st.lists(st.text("ACG", max_size=6), min_size=2, max_size=7)


@settings(max_examples=60, deadline=None)
@given(texts)
def test_all_at_once_is_the_definition(strings):
    oracle = hcviz.StringOracle(strings)
    problem = hcviz.Problem(oracle=oracle)
    whole = problem.similarity_or_default
    for i, j in itertools.product(range(len(strings)), repeat=2):
        a, b = strings[i], strings[j]
        longer = max(len(a), len(b))
        assert whole[i, j] == pytest.approx(1.0 - distance(a, b) / longer if longer else 1.0)
        assert oracle.similarity([i], [j])[0, 0] == whole[i, j]


def test_methods_that_need_all_similarities_get_them():
    data = read(FASTA, "x.fa")
    problem = data.problem()
    for name in ("average", "single", "crsc", "dasgupta-search", "spectral", "active-spectral"):
        tree = hcviz.fit(name, problem)
        assert tree.satisfies([[0, 1, 2]]).all(), name
    # The same trees as of the matrix itself, and as of any other oracle that may be asked for all.
    rng = np.random.default_rng(0)
    problem = hcviz.Problem(oracle=hcviz.FeatureOracle(rng.standard_normal((12, 3)), "cosine"))
    matrix = hcviz.Problem(similarity=problem.similarity_or_default)
    for name in ("average", "complete", "ward", "spectral"):
        assert hcviz.fit(name, problem).to_newick() == hcviz.fit(name, matrix).to_newick(), name
    with pytest.raises(InvalidData, match="similarities of 0 or more"):
        hcviz.fit("crsc", problem)


def test_beyond_a_sensible_size_methods_refuse():
    half = hcviz.StringOracle.MAX_LETTERS // 2
    fits = hcviz.Problem(oracle=hcviz.StringOracle(["A" * half, "C" * half]))
    assert get("average").missing_data(fits) is None
    large = hcviz.Problem(oracle=hcviz.StringOracle(["A" * half, "C" * half, "G"]))
    message = get("average").missing_data(large)
    assert "too expensive to compute all" in message
    assert "active-spectral" in message
    with pytest.raises(InvalidData, match="too expensive"):
        hcviz.fit("average", large)
    for name in ("active-spectral", "active-kmeans", "heurspec"):
        assert get(name).missing_data(large) is None
    many = hcviz.Problem(oracle=hcviz.datasets.noisy_blocks(MAX_DENSE + 1, 2).oracle)
    assert get("average").missing_data(many) is not None

    class Own:
        n_items = 3

        def similarity(self, rows, cols):
            raise AssertionError("never asked for all")

    own = hcviz.Problem(oracle=Own())
    able = {name for name in algorithms() if get(name).missing_data(own) is None}
    assert "active-spectral" in able
    assert "average" not in able


def test_a_session_keeps_sequences():
    spec = DataSpec(kind="table", filename="x.txt", content=FASTA, table_kind="sequences")
    assert resolve(spec).labels == ("s1", "s2", "s3")
