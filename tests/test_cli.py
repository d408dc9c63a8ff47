"""The command line: what it prints, what it writes, and that every refusal is one sentence."""

from __future__ import annotations

import csv
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import param
import pytest

import hcviz
from hcviz import cli
from hcviz.algorithms import get
from hcviz.commands.listing import as_table
from hcviz.commands.options import parameter_values, parse_value
from hcviz.commands.serve import read_start
from hcviz.io.session_file import save_session
from hcviz.session.model import Constraint, DataSpec, Session
from hcviz.ui.state import data_sources as sources
from tests.conftest import ROOT
from tests.ports import free_port


@pytest.fixture
def call(capsys):
    """Run a command; its exit code, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        code = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def refused(call):
    """Run a command that must be refused: exit code 2, nothing on stdout, one line on stderr."""

    def run(*words: object) -> str:
        code, out, err = call(*words)
        assert (code, out) == (2, "")
        assert err.startswith("hcviz: ")
        assert len(err.splitlines()) == 1
        return err

    return run


@pytest.fixture
def table(tmp_path):
    """Five items in two groups, a b c and d e."""
    path = tmp_path / "points.csv"
    path.write_text("name,x,y\na,0,0\nb,1,0\nc,3,1\nd,20,9\ne,22,9\n")
    return path


def clades(newick: str, labels: str = "abcde") -> set[frozenset[str]]:
    tree = hcviz.Tree.from_newick(newick, list(labels))
    return {frozenset(labels[leaf] for leaf in clade) for clade in tree.clades()}


# ---------------------------------------------------------------------- run


def test_run_prints_newick_with_the_items_names(call, table):
    code, out, err = call("run", "average", table)
    assert code == 0
    assert {frozenset("abc"), frozenset("de")} <= clades(out)
    assert "100%" in err


def test_run_keeps_the_triplets_it_is_given(call, table, tmp_path):
    answers = tmp_path / "answers.csv"
    answers.write_text("together_1,together_2,apart\na,e,b\n")
    code, out, _ = call("run", "crsc", table, "--triplets", answers)
    assert code == 0
    assert any({"a", "e"} <= clade and "b" not in clade for clade in clades(out))


def test_triplets_without_a_header_need_their_order_named(call, table, tmp_path):
    answers = tmp_path / "answers.csv"
    answers.write_text("a,e,b\n")
    code, _, err = call("run", "crsc", table, "--triplets", answers)
    assert code != 0
    assert "anchor-near-far" in err
    code, out, _ = call("run", "crsc", table, "--triplets", answers, "--order", "anchor-near-far")
    assert code == 0
    assert any({"a", "e"} <= clade and "b" not in clade for clade in clades(out))


def test_a_disabled_answer_has_no_say(call, table, tmp_path):
    answers = tmp_path / "answers.csv"
    answers.write_text("together_1,together_2,apart,enabled\na,e,b,false\n")
    code, out, _ = call("run", "average", table, "--triplets", answers, "--json")
    assert code == 0
    assert json.loads(out)["triplets"] == 0


def test_json_names_the_clusters_that_a_method_makes(call, tmp_path):
    """Two groups, in each of which every answer says that the other is further."""
    groups = [["Zoë", "a, b", "1"], ["x", "nan", "y"]]
    rows = [
        {"anchor": i, "near": j, "far": k}
        for mine, others in (groups, groups[::-1])
        for i in mine for j in mine for k in others if i != j
    ]  # fmt: skip
    answers = tmp_path / "said.csv"
    with answers.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["anchor", "near", "far"])
        writer.writeheader()
        writer.writerows(rows)
    code, out, _ = call("run", "adds-sdp", answers, "--json")
    assert code == 0
    assert json.loads(out)["clusters"] == groups
    code, out, _ = call("run", "4-al", answers, "--json")
    assert "clusters" not in json.loads(out)


def test_json_describes_the_run(call, table, tmp_path):
    target = tmp_path / "tree.npy"
    code, out, _ = call("run", "average", table, "--json", "--out", target, "--seed", 3)
    result = json.loads(out)
    assert code == 0
    assert (result["method"], result["seed"], result["items"]) == ("average", 3, 5)
    assert result["out"] == str(target)
    assert np.load(target).shape == (4, 4)
    code, out, _ = call("run", "average", table, "--json")
    assert clades(json.loads(out)["newick"]) >= {frozenset("de")}


@pytest.mark.parametrize("method", hcviz.algorithms())
def test_every_parameter_of_every_method_is_an_option(method, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", method, "--help"])
    assert ended.value.code == 0
    output = " ".join(capsys.readouterr().out.split())
    for name in get(method).parameter_names():
        what = get(method).params.param[name]
        assert f"--{name.replace('_', '-')} VALUE" in output
        assert " ".join((what.doc or "").split()[:3]) in output.replace("- ", "-")


def test_options_and_set_agree():
    method = next(m for m in map(get, hcviz.algorithms()) if m.parameter_names())
    name = method.parameter_names()[0]
    value = method.params.param[name].default
    for words in (
        [f"--{name.replace('_', '-')}", str(value)],
        ["--set", f"{name}={value}"],
    ):
        words = ["run", method.name, "data", *words]
        options = cli.make_parser(words).parse_args(words)
        assert parameter_values(method, options) == {name: value}


class Every(param.Parameterized):
    count = param.Integer(3, bounds=(1, 9))
    share = param.Number(0.5)
    exact = param.Boolean(False)
    kind = param.Selector(default=2, objects=[1, 2, None])
    maybe = param.Number(None, allow_None=True)
    word = param.String("x")
    some = param.Parameter(None)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "7", 7),
        ("share", "1e-3", 0.001),
        ("exact", "yes", True),
        ("exact", "False", False),
        ("kind", "1", 1),
        ("kind", "None", None),
        ("maybe", "none", None),
        ("maybe", "2", 2.0),
        ("word", "7", "7"),
        ("some", "0.5", 0.5),
        ("some", "[1, 2]", [1, 2]),
        ("some", "auto", "auto"),
    ],
)
def test_values_get_the_type_of_their_parameter(name, text, value):
    parsed = parse_value(Every.param[name], text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(("name", "text"), [("count", "2.5"), ("share", "half"), ("exact", "so")])
def test_values_of_the_wrong_type_are_refused(name, text):
    with pytest.raises(hcviz.HcvizError, match=name):
        parse_value(Every.param[name], text)


def test_what_run_refuses(refused, table, tmp_path):
    assert "no method 'magic'" in refused("run", "magic", table)
    assert "neither a built-in data set nor a file" in refused("run", "average", "nowhere.csv")
    assert "no parameter 'size'" in refused("run", "average", table, "--set", "size=3")
    assert "has no '='" in refused("run", "average", table, "--set", "size")
    assert ".nwk" in refused("run", "average", table, "--out", tmp_path / "tree.jpg")
    assert "no folder" in refused(
        "run", "average", table, "--out", tmp_path / "nowhere" / "tree.nwk"
    )
    answers = tmp_path / "answers.csv"
    answers.write_text("together_1,together_2,apart\na,zebra,b\n")
    assert "zebra" in refused("run", "crsc", table, "--triplets", answers)
    answers.write_text("together_1,together_2,apart\nd,e,a\na,b,c\na,c,b\n")
    for method in ("crsc", "active-spectral"):
        message = refused("run", method, table, "--triplets", answers)
        assert "a, b | c; a, c | b." in message
    assert "a, b | c; a, c | b." in refused("check", answers)


# ---------------------------------------------------------------------- convert

NESTED = "((bat,whale),(trout,'New (old) carp'));"


def test_newick_to_linkage_and_back(call, tmp_path):
    (tmp_path / "tree.nwk").write_text(NESTED)
    code, _, err = call("convert", tmp_path / "tree.nwk", tmp_path / "tree.npy")
    assert code == 0
    assert "tree.labels.txt" in err
    names = tmp_path / "tree.labels.txt"
    assert names.read_text().splitlines() == ["bat", "whale", "trout", "New (old) carp"]
    back = tmp_path / "back.nwk"
    assert call("convert", tmp_path / "tree.npy", back, "--labels", names)[0] == 0
    labels = names.read_text().splitlines()
    both = [hcviz.Tree.from_newick(text, labels) for text in (NESTED, back.read_text())]
    assert len({frozenset(frozenset(c.tolist()) for c in tree.clades()) for tree in both}) == 1


def test_integer_names_are_the_items_themselves(call, tmp_path):
    (tmp_path / "tree.nwk").write_text("((2,0),1);")
    code, _, err = call("convert", tmp_path / "tree.nwk", tmp_path / "tree.npy")
    assert (code, err) == (0, "")
    assert np.load(tmp_path / "tree.npy")[0, :2].tolist() == [0, 2]


def test_what_convert_refuses(refused, tmp_path):
    target = tmp_path / "out.nwk"
    assert "no file" in refused("convert", tmp_path / "no.npy", target)
    assert "no file" in refused("convert", tmp_path / "no.nwk", target)
    (tmp_path / "junk.npy").write_bytes(b"junk")
    assert "not a numpy array" in refused("convert", tmp_path / "junk.npy", target)
    np.save(tmp_path / "loop.npy", np.array([[0, 0, 1.0, 2]]))
    refused("convert", tmp_path / "loop.npy", target)
    (tmp_path / "cut.nwk").write_text("((a,b),c")
    refused("convert", tmp_path / "cut.nwk", tmp_path / "out.npy")
    (tmp_path / "latin.nwk").write_bytes(b"(a,\xe9);")
    assert "UTF-8" in refused("convert", tmp_path / "latin.nwk", tmp_path / "out.npy")
    assert "read from" in refused("convert", tmp_path / "tree.png", target)
    assert not target.exists()


# ---------------------------------------------------------------------- check


def test_check_describes_a_file(call, table, tmp_path):
    from hcviz.io.session_file import save_session

    def report(name: str, *words: str) -> str:
        code, out, err = call("check", tmp_path / name, *words)
        assert (code, err) == (0, "")
        return out

    assert "5 items with 2 features. Columns: 2 numbers." in report(table.name)
    (tmp_path / "gaps.csv").write_text("name,x,y\na,0,\nb,1,0\nc,3,1\n")
    assert "1 number, 1 yes/no; 1 missing cell.\n" in report("gaps.csv")
    pd.read_csv(table).to_parquet(tmp_path / "points.parquet")
    assert "5 items with 2 feature" in report("points.parquet")
    (tmp_path / "near.csv").write_text("name,a,b\na,0,2\nb,2,0\n")
    assert "distance matrix over 2 items" in report("near.csv", "--kind", "distance")
    (tmp_path / "tree.nwk").write_text(NESTED)
    assert "4 items, 3 inner nodes, binary" in report("tree.nwk")
    (tmp_path / "answers.csv").write_text("together_1,together_2,apart\nbat,whale,trout\n")
    assert "1 constraint on 3 items" in report("answers.csv")
    session = Session(labels=("a", "b", "c"), constraints=(Constraint(1, (0, 1), 2),), next_id=2)
    (tmp_path / "work.hcviz").write_bytes(save_session(session))
    assert "3 items and 1 constraint" in report("work.hcviz")


def test_check_lists_the_columns_of_a_table_and_the_notes_of_the_reader(call, tmp_path):
    table = tmp_path / "shop.csv"
    table.write_text("product,kind,kind,sku\na,soft,1,901\nb,,2,902\nc,hard,5,903\nd,soft,1,904\n")
    code, out, _ = call("check", table)
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert "1 missing cell." in out.splitlines()[0]
    assert lines[1] == ["column", "read", "as", "values", "missing", "examples"]
    assert lines[2][:4] == ["kind", "category", "2", "1"]
    assert "note: Several columns are named 'kind'; later ones get their number." in out
    columns = json.loads(call("check", table, "--json")[1])["columns"]
    assert columns[0] == {
        "name": "kind", "read_as": "category", "used": True, "missing": 1, "values": 2,
    }  # fmt: skip
    code, _, err = call("run", "average", table)
    assert code == 0
    assert "hcviz: Several columns are named 'kind'" in err


def test_names_of_columns_cannot_move_the_cursor(call, tmp_path):
    table = tmp_path / "odd.csv"
    table.write_text('name,"a\x9bJ\nb",y\nx,1,2\nz,3,4\n', encoding="utf-8")
    _, out, _ = call("check", table)
    assert [line.split("  ")[0] for line in out.splitlines()[2:]] == ["a J b", "y"]
    assert "\x9b" not in out


def test_hcviz_alone_shows_its_help_and_list_its_methods(call):
    code, out, err = call()
    assert (code, err) == (0, "")
    assert "List the methods" in out
    assert call("list") == call("list", "methods")


def test_a_misspelt_method_gets_the_nearest_name(refused):
    assert "Did you mean 'average'?" in refused("run", "averge", "zoo")


def test_a_list_is_as_wide_as_the_terminal():
    rows = [{"name": "zoo", "title": "Zoo (101 animals)"}]
    assert as_table(rows, 12).splitlines() == ["name  title", "zoo   Zoo (…"]
    assert as_table(rows).splitlines()[1] == "zoo   Zoo (101 animals)"


def test_check_describes_answers(call, tmp_path):
    answers, items = tmp_path / "said.csv", tmp_path / "items.txt"
    answers.write_text("odd,other_1,other_2,count\na,b,c,3\nb,a,c,1\nd,a,b,2\n")
    items.write_text("a\nb\nc\nd\nzebra\n")
    code, out, err = call("check", answers)
    assert (code, err) == (0, "")
    assert "answers about 4 items: 6 (odd one out); 12 comparisons." in out
    assert "Least often seen: d (4), c (8), a (12); most often: 12 times." in out
    # (b; c, a) thrice, (c; b, a) thrice and once the other way, (a; c, b), (a; b, d) and (b; a, d).
    assert "Of 5 different questions 4 were answered more than once, 1 of them with" in out
    code, out, _ = call("check", answers, "--items", items)
    assert "about 5 items" in out
    assert "1 of the items is in none" in out
    answers.write_text("anchor;near;far\na;b;c\na;c;b\n")
    assert (
        "Of 1 different question 1 was answered more than once, 1 of them with"
        in call("check", answers)[1]
    )


def test_answers_join_the_items_of_a_table_a_list_or_what_is_built_in(
    call, refused, table, tmp_path
):
    answers, items = tmp_path / "said.tsv", tmp_path / "items.csv"
    answers.write_text("anchor\tnear\tfar\na\te\tb\nb\te\tc\n")
    items.write_text("name,colour\na,red\nb,\n\nc,\ne,\nnew,\n")
    code, out, _ = call("run", "4-al", table, "--answers", answers, "--answers", answers, "--json")
    result = json.loads(out)
    assert (code, result["items"], result["metrics"]["answers"]) == (0, 5, 4)
    code, out, _ = call("run", "4-al", answers, "--items", items, "--json")
    result = json.loads(out)
    assert (code, result["items"], result["metrics"]["never compared"]) == (0, 5, 1)
    assert "new" in result["newick"]
    answers.write_text("anchor,near,far\na,e,bb\n")
    assert "Line 2, column far: there is no item 'bb'" in refused(
        "run", "4-al", answers, "--items", items
    )
    assert "'bb'" in refused("run", "4-al", table, "--answers", answers)
    assert "zoo is a built-in data set" in refused("run", "4-al", "zoo", "--items", items)
    items.write_text("a\nb\na\n")
    result = refused("run", "4-al", answers, "--items", items)
    assert "'a' twice, in lines 1 and 3" in result
    assert "needs answers" not in result  # it is not they that are at fault
    items.write_text("name\na\n")
    assert "fewer than two" in refused("run", "4-al", answers, "--items", items)


def test_answers_that_cancel_are_refused_in_a_line(refused, tmp_path):
    answers = tmp_path / "said.csv"
    answers.write_text("anchor,near,far,count\na,b,c,2\na,c,b,1\n")
    assert "read as a set" in refused("run", "t-ste", answers, "--repeats", "once")
    answers.write_text("anchor,near,far,count\na,b,c,2\na,c,b,2\n")
    assert "The answers cancel" in refused("run", "forte", answers)


def test_answers_without_a_header_are_refused_with_a_hint(refused, tmp_path):
    answers = tmp_path / "said.csv"
    answers.write_text("a,b,c\na,c,b\n")
    for words in (("check", answers), ("run", "4-al", answers)):
        assert "their header is missing. Its first row must be one of: anchor,near,far;" in refused(
            *words
        )
    assert "first row must be one of" in refused("check", answers, "--kind", "comparisons")
    answers.write_text("2,1,16\n25,1,2\n31,1,2\n")  # could be a table of numbers
    assert "a file of answers whose first row names the columns" in refused("run", "4-al", answers)
    answers.write_text("name,kind,colour\na,x,y\n")  # and this is no such file
    assert "header" not in refused("check", answers)
    message = refused("run", "4-al", answers)  # ... but it should have been
    assert "only one item" in message
    assert "needs a file of answers. Its first row must be one of: anchor,near,far" in message
    assert "anchor" not in refused("run", "average", answers)
    assert "anchor" not in refused("run", "4-al", tmp_path / "none.csv")
    assert "anchor" not in refused("run", "4-al", answers, "--answers", answers)


def test_foods_own_file_needs_no_header(call, tmp_path):
    answers = tmp_path / "all-triplets.csv"
    answers.write_text("images/a.jpg; images/b.jpg; images/c.jpg\n" * 2)
    code, out, _ = call("run", "4-al", answers, "--json")
    result = json.loads(out)
    assert (code, result["items"], result["metrics"]["answers"]) == (0, 3, 2)
    assert "a" in result["newick"]
    code, out, _ = call("check", answers)
    assert (code, "answers about 3 items: 2 (near or far)" in out) == (0, True)


def test_what_check_refuses(refused, tmp_path):
    assert "no file" in refused("check", tmp_path / "no.csv")
    (tmp_path / "answers.csv").write_text("together_1,together_2,apart\na,b,c\na,c,b\n")
    refused("check", tmp_path / "answers.csv")
    (tmp_path / "twice.csv").write_text("name,x\na,1\na,2\n")
    assert "'a'" in refused("check", tmp_path / "twice.csv")
    (tmp_path / "work.hcviz").write_bytes(b"PK\x03\x04 cut short")
    assert "session file" in refused("check", tmp_path / "work.hcviz")


# ---------------------------------------------------------------------- reproduce, serve, python -m


def test_every_paper_has_its_reproduction():
    assert set(cli.PAPERS) == set(cli.REPRODUCTIONS)
    for module in cli.REPRODUCTIONS.values():
        assert callable(import_module(module).reproduce)


def test_python_m_hcviz_is_the_same(table):
    done = subprocess.run(
        [sys.executable, "-m", "hcviz", "check", str(table)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0
    assert "5 items" in done.stdout


def test_a_pipe_that_closes_early_is_no_fault(table):
    done = subprocess.run(
        f"{sys.executable} -m hcviz check {table} | true",
        shell=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.stderr == ""


def test_serve_answers_until_it_is_interrupted(refused):
    assert "nowhere" in refused("serve", "nowhere")
    port = free_port()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        probe.listen()
        assert str(port) in refused("serve", "--port", port)
    server = subprocess.Popen(
        [sys.executable, "-m", "hcviz", "serve", "iris", "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        until = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) as answer:
                    assert b"<title>hcviz</title>" in answer.read()
                break
            except OSError:  # not yet, or not in time
                assert time.monotonic() < until
                assert server.poll() is None
                time.sleep(0.05)
    finally:
        server.terminate()
        err = server.communicate(timeout=120)[1]
    assert f"http://127.0.0.1:{port}" in err
    assert "Traceback" not in err, err


def test_serve_reads_its_file_before_there_is_a_server(refused, table, tmp_path):
    bad, other = tmp_path / "bad.csv", tmp_path / "answers.csv"
    bad.write_text("name,x\na,1\na,2\n")
    other.write_text("anchor,near,far\na,b,nobody\n")
    items, session = tmp_path / "items.txt", tmp_path / "x.hcviz"
    items.write_text("a\nb\nc\n")
    with socket.socket() as taken:  # what is not refused would find the port taken, and say so
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        def refusal(*words):
            message = refused("serve", *words, "--port", taken.getsockname()[1])
            assert "Port" not in message
            return message

        assert "neither a built-in data set nor a file" in refusal(tmp_path / "nowhere.csv")
        assert "cannot be read" in refusal(tmp_path)
        assert "'a'" in refusal(bad)
        assert "nobody" in refusal(table, "--answers", other)
        assert "nobody" in refusal(other, "--items", items)
        assert "is a built-in data set" in refusal("zoo", "--items", items)
        assert "sequences" in refusal(table, "--kind", "sequences")
        session.write_bytes(b"PK\x03\x04 torn")
        assert "session" in refusal(session)
        session.write_bytes(save_session(Session(data=DataSpec(), labels=("a", "b"))))
        assert "other items" in refusal(session)
        assert "Leave out --answers and --items" in refusal(session, "--answers", other)
        assert "Port" in refused("serve", table, "--port", taken.getsockname()[1])


@pytest.fixture
def opened(tmp_path):
    """What ``hcviz serve`` would begin its pages with."""

    def read(*words):
        options = cli.make_parser().parse_args(["serve", *map(str, words)])
        sources.offer(read_start(options))
        return sources.offered()

    yield read
    sources.offer(None)


def test_serve_opens_what_the_page_opens(opened, table, tmp_path):
    begun = opened(table)
    assert begun.data.labels == ("a", "b", "c", "d", "e")
    assert sources.resolve(replace(begun.spec, scaling="rank")) is begun.data  # not read again
    answers, items = tmp_path / "answers.csv", tmp_path / "items.txt"
    answers.write_text("odd,other_1,other_2\nd,a,b\ne,a,c\n")
    items.write_text("e\nd\nz\na\nb\nc\n")
    begun = opened(table, "--answers", answers)
    assert (len(begun.data.comparisons), begun.title) == (4, "points.csv + answers.csv")
    begun = opened(answers, "--items", items)
    assert begun.data.labels == ("e", "d", "z", "a", "b", "c")  # z, never compared, too
    assert len(begun.data.comparisons) == 4
    array = tmp_path / "x.npy"
    np.save(array, np.eye(4))
    assert opened(array).data.features.shape == (4, 4)
    matrix = tmp_path / "m.csv"
    matrix.write_text("0,1,2\n1,0,3\n2,3,0\n")
    assert opened(matrix, "--kind", "distance").data.similarity.shape == (3, 3)
    texts = tmp_path / "x.txt"
    texts.write_text("ACGT\nACGA\nTTTT\n")
    assert opened(texts, "--kind", "sequences").data.n_items == 3
    assert opened("iris").title == "Iris (150 flowers)"
    zoo = hcviz.datasets.load("zoo")
    constraints = (Constraint(1, (3, 7), 20),)
    saved = tmp_path / "x.hcviz"
    session = Session(data=DataSpec(), labels=zoo.labels, constraints=constraints, next_id=2)
    saved.write_bytes(save_session(session))
    assert opened(saved).session.constraints == constraints


# ---------------------------------------------------------------------- sequences


def test_sequences_run_and_are_described(call, refused, tmp_path):
    fasta_text = ">a\nACGTACGT\n>b\nACGTACGA\n>c\nACGTTCGA\n>d\nTTCCTTCC\n>e\nTTCCTTCA\n"
    fasta = tmp_path / "x.fasta"
    fasta.write_text(fasta_text)
    plain = tmp_path / "x.txt"
    plain.write_text("ACGTACGT\nACGTACGA\nACGTTCGA\nTTCCTTCC\nTTCCTTCA\n")
    table = tmp_path / "x.csv"
    rows = zip("abcde", plain.read_text().split(), strict=True)
    table.write_text("name,seq\n" + "".join(f"{name},{text}\n" for name, text in rows))
    for words in ([fasta], [table, "--kind", "sequences"]):
        for method in ("active-spectral", "average"):
            code, out, _ = call("run", method, *words)
            assert code == 0
            assert frozenset("de") in clades(out)
    code, out, _ = call("run", "average", plain, "--kind", "sequences")
    assert code == 0
    assert "TTCCTTCC" in out
    assert "5 sequences of 8 to 8 letters" in call("check", fasta)[1]
    assert "--kind sequences" in refused("run", "average", table)
    plain.write_text("ACGT\n\nACGA\n")
    assert "Line 2" in refused("run", "average", plain, "--kind", "sequences")


def test_what_is_drawn_runs_by_name(call):
    code, out, _ = call("run", "active-spectral", "phylogeny")
    assert code == 0
    assert out.count(",") == 399
    assert call("run", "active-kmeans", "noisy-blocks")[0] == 0
