"""The command line in pipes: standard input and output, formats, lists, notes and completion."""

from __future__ import annotations

import ast
import io
import json
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import hcviz
from hcviz import cli
from hcviz.algorithms import MODULES
from hcviz.commands import conformance as command
from hcviz.commands.advice import PHRASES, advice
from hcviz.commands.citing import REFERENCES, references
from hcviz.commands.notes import say_ignored
from hcviz.commands.standard_input import suffix_of
from hcviz.conformance import CHECKS, Finding
from tests.conftest import ROOT

TABLE = "name,x,y\na,0,0\nb,1,0\nc,3,1\nd,20,9\ne,22,9\n"


@pytest.fixture
def call(capsysbinary, monkeypatch):
    """Run a command with a standard input; its exit code, stdout as bytes, and stderr."""

    def run(*words: object, given: bytes | str = b"") -> tuple[int, bytes, str]:
        content = given.encode() if isinstance(given, str) else given
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        code = cli.main([str(word) for word in words])
        captured = capsysbinary.readouterr()
        return code, captured.out, captured.err.decode()

    return run


def names(node: dict) -> frozenset[str]:
    if "name" in node:
        return frozenset([node["name"]])
    return frozenset().union(*map(names, node["children"]))


def test_a_table_and_constraints_are_read_from_standard_input(call, tmp_path):
    code, newick, _ = call("run", "average", "-", given=TABLE)
    file = tmp_path / "points.csv"
    file.write_text(TABLE)
    assert (code, newick) == (0, call("run", "average", file)[1])
    triplets = "together_1,together_2,apart\na,e,b\n"
    code, out, _ = call("run", "crsc", file, "--triplets", "-", "--json", given=triplets)
    assert (code, json.loads(out)["triplets"]) == (0, 1)
    code, out, err = call("run", "crsc", "-", "--triplets", "-", given=TABLE)
    assert (code, out) == (2, b"")
    assert "Only one input" in err


def test_formats_of_a_tree_hold_the_same_clades(call):
    def made(format: str) -> bytes:
        code, out, _ = call("run", "average", "-", "--format", format, "--out", "-", given=TABLE)
        assert code == 0
        return out

    tree = hcviz.Tree.from_newick(made("newick").decode(), list("abcde"))
    document = json.loads(made("json"))
    assert names(document) == frozenset("abcde")
    assert {names(child) for child in document["children"]} == {frozenset("abc"), frozenset("de")}
    assert document["height"] == pytest.approx(tree.height[tree.root])
    rows = made("csv").decode().splitlines()
    assert rows[0] == "node,members,size,height,support"
    assert [row.split(",")[1] for row in rows[1:3]] == ["a; b; c; d; e", "a; b; c"]
    linkage = np.load(io.BytesIO(made("linkage")))
    assert hcviz.Tree.from_linkage(linkage).has_clade([3, 4])
    assert made("pdf").startswith(b"%PDF")
    assert made("png").startswith(b"\x89PNG")
    picture = ElementTree.fromstring(made("svg"))
    texts = {each.text for each in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert set("abcde") <= texts


def test_commands_join_in_a_pipe(call, tmp_path):
    _, newick, _ = call("run", "average", "-", given=TABLE)
    code, linkage, err = call("convert", "-", "-", "--format", "linkage", given=newick)
    assert code == 0
    assert "no names" in err
    code, out, _ = call("check", "-", "--json", given=linkage)
    found = json.loads(out)
    assert (found["content"], found["items"], found["names"]) == ("tree", 5, False)
    labels = tmp_path / "names.txt"
    in_order = [letter for letter in newick.decode() if letter in "abcde"]  # as the file names them
    labels.write_text("\n".join(in_order))
    code, out, _ = call(
        "convert", "-", "-", "--format", "newick", "--labels", labels, given=linkage
    )
    back = hcviz.Tree.from_newick(out.decode(), list("abcde"))
    assert code == 0
    assert back.has_clade([0, 1, 2])
    code, _, err = call("convert", "-", "-", given=newick)
    assert code == 2
    assert "--format newick" in err


@pytest.mark.parametrize(
    ("content", "suffix"),
    [
        (b"\x93NUMPY\x01", ".npy"),
        (b"PK\x03\x04 torn", ".hcviz"),
        (b"PAR1", ".parquet"),
        (b"\xef\xbb\xbf (a,b);", ".nwk"),
        (b'{"@context": 1}', ".jsonld"),
        (b'{"format": 1}', ".json"),
        (b"# Animals\n", ".md"),
        (b">a\nACGT", ".fasta"),
        (b"name,x\na,1", ".csv"),
    ],
)
def test_standard_input_gets_the_suffix_of_its_content(content, suffix):
    assert suffix_of(content) == suffix


# ---------------------------------------------------------------------- no silence


def test_a_method_that_needs_answers_names_their_header_for_standard_input(call, tmp_path):
    text = "b,c,d\nc,d,b\n\x00"
    file = tmp_path / "answers.csv"
    file.write_text(text)
    _, _, of_file = call("run", "4-al", file)
    code, _, err = call("run", "4-al", "-", given=text)
    assert (code, err.replace("stdin.csv", "answers.csv")) == (2, of_file)
    assert "needs a file of answers" in err


def test_labels_of_a_linkage_must_be_as_many_as_its_items(call, tmp_path):
    source, target, names = tmp_path / "a.npy", tmp_path / "b.npy", tmp_path / "names.txt"
    np.save(source, hcviz.fit("average", [[0.0], [1.0], [5.0]]).to_linkage())
    names.write_text("owl\nelm\n")
    code, _, err = call("convert", source, target, "--labels", names)
    assert (code, "2 labels" in err, target.exists()) == (2, True, False)
    names.write_text("owl\nelm\nant\n")
    assert call("convert", source, target, "--labels", names)[0] == 0


def test_filled_cells_are_named(call):
    err = call("run", "average", "-", given="name,x,y\na,0,\nb,1,0\nc,3,1\n")[2]
    assert "1 cell of 6 is missing; each gets the mean of its column." in err
    assert "missing" not in call("run", "average", "-", given=TABLE)[2]


def test_a_symmetric_table_read_as_features_is_named(call, tmp_path):
    square = tmp_path / "near.csv"
    square.write_text("name,a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n")
    assert "read as features" in call("run", "average", square)[2]
    assert "read as features" in call("run", "average", "-", given=square.read_bytes())[2]
    assert "read as features" not in call("run", "average", square, "--kind", "distance")[2]


def test_names_of_a_linkage_are_kept_beside_it(call, tmp_path):
    target = tmp_path / "tree.npy"
    err = call("run", "average", "-", "--out", target, given=TABLE)[2]
    assert f"are in {tmp_path / 'tree.labels.txt'}" in err
    assert (tmp_path / "tree.labels.txt").read_text().split() == list("abcde")


def test_ignored_answers_and_soft_constraints_are_named(call, tmp_path):
    answers, triplets = tmp_path / "answers.csv", tmp_path / "triplets.csv"
    answers.write_text("anchor,near,far\na,e,b\n")
    triplets.write_text("together_1,together_2,apart\na,e,b\n")
    err = call("run", "average", "-", "--answers", answers, given=TABLE)[2]
    assert "average ignores the answers of --answers." in err
    err = call("run", "hrsc", "-", "--triplets", triplets, given=TABLE)[2]
    assert "hrsc weighs the constraints of --triplets" in err
    assert "weighs" not in call("run", "crsc", "-", "--triplets", triplets, given=TABLE)[2]


def test_a_method_that_ignores_constraints_is_named(call, capsysbinary):
    one = cli.get("average")
    method = type(one)("deaf", "Deaf", "", one.run, needs=("items",), runs="thread",
                       triplets="ignored")  # fmt: skip
    say_ignored(method, {}, 2)
    assert capsysbinary.readouterr().err == (
        b"hcviz: deaf ignores the 2 constraints of --triplets.\n"
    )


def test_advice_is_in_the_words_of_the_command_line(call):
    err = call("run", "adds-sdp", "zoo")[2]
    assert "--answers FILE.csv" in err
    assert "Problem(" not in err
    fault = hcviz.HcvizError("Too many.", "Set k=0, or lam=None, but leave rank=2.")
    assert advice(fault, ["k", "lam"]) == "Too many. Set --k 0, or --lam None, but leave rank=2."


def test_each_replaced_phrase_is_in_a_message_of_the_library():
    """Otherwise a reworded message would keep Python's words without notice."""
    texts = [
        node.value
        for path in (ROOT / "hcviz").rglob("*.py")
        if path.name != "advice.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    missing = [phrase for phrase in PHRASES if not any(phrase in text for text in texts)]
    assert missing == []


# ---------------------------------------------------------------------- list, check, cite


def test_lists_name_methods_data_and_formats(call):
    methods = json.loads(call("list", "methods", "--json")[1])
    assert [each["name"] for each in methods] == hcviz.algorithms()
    assert all(each["summary"] for each in methods)
    lines = call("list", "data")[1].decode().splitlines()
    assert lines[0].split() == ["name", "title"]
    assert any(line.startswith("zoo ") for line in lines)
    formats = json.loads(call("list", "formats", "--json")[1])
    assert {"newick", "skos", "svg"} <= {each["name"] for each in formats}


def test_a_method_that_cannot_be_imported_is_named_and_the_others_are_listed(
    call, tmp_path, monkeypatch
):
    (tmp_path / "broken_plugin.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(MODULES, "broken", "broken_plugin")
    code, out, err = call("list", "methods", "--json")
    assert code == 0
    assert "average" in {each["name"] for each in json.loads(out)}
    assert "'broken' cannot be imported" in err


def test_a_folder_is_refused_before_the_run(call, tmp_path):
    code, out, err = call("run", "average", "-", "--format", "svg", "--out", tmp_path, given=TABLE)
    assert (code, out) == (2, b"")
    assert "is a folder" in err
    assert "%" not in err


def test_suffixes_in_capitals_name_formats(call, tmp_path):
    tree, outline = tmp_path / "TREE.NWK", tmp_path / "OUTLINE.MD"
    assert call("run", "average", "-", "--out", tree, given=TABLE)[0] == 0
    assert call("check", tree)[0] == 0
    assert call("convert", tree, outline)[0] == 0
    assert call("convert", tree, tmp_path / "LINKAGE.NPY")[0] == 0
    assert outline.read_text()


def test_check_as_json_has_the_numbers(call):
    def found(given: str) -> dict:
        return json.loads(call("check", "-", "--json", given=given)[1])

    table = found("name,x,y\na,0,\nb,1,0\nc,3,1\n")
    assert (table["content"], table["items"], table["features"], table["missing"]) == (
        "table", 3, 2, 1,
    )  # fmt: skip
    answers = found("anchor,near,far\na,b,c\na,c,b\n")
    assert (answers["content"], answers["contradictions"]) == ("answers", 1)
    triplets = found("together_1,together_2,apart\na,b,c\n")
    assert (triplets["content"], triplets["constraints"], triplets["items"]) == (
        "constraints",
        1,
        3,
    )


def test_every_cited_paper_has_a_reference(call):
    for method in hcviz.algorithms():
        for each in references(method):
            assert each in REFERENCES.values()
    out = call("cite", "ddt")[1].decode()
    assert "Interactive Bayesian Hierarchical Clustering" in out
    assert "Neal, R. M. (2003)" in out
    code, _, err = call("cite", "magic")
    assert code == 2
    assert "no method 'magic'" in err


def test_methods_of_another_package_are_checked(call):
    code, out, _ = call("conformance", "hcviz.algorithms.build:ALGORITHMS", "--json")
    found = json.loads(out)
    assert code == 0
    assert len(found) == len(CHECKS)
    assert {each["fault"] for each in found} == {""}
    code, _, err = call("conformance", "hcviz.nowhere")
    assert code == 2
    assert "cannot be imported" in err


def test_a_method_that_fails_a_check_is_named(call, monkeypatch):
    fault = Finding("average", "same seed, same trees", "the trees differ")
    monkeypatch.setattr(command, "conformance", lambda methods: [fault])
    code, out, _ = call("conformance", "hcviz.algorithms.build")
    assert code == 1
    assert b"the trees differ" in out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_options_and_methods(call, shell, tmp_path):
    script = call("completion", shell)[1].decode()
    for word in ("convert", "triplets", "active-spectral", "newick"):
        assert word in script
    if shutil.which(shell):
        file = tmp_path / "completion"
        file.write_text(script)
        checked = subprocess.run([shell, "-n", str(file)], capture_output=True, cwd=ROOT)
        assert checked.returncode == 0, checked.stderr


def test_bash_completes_a_method(call, tmp_path):
    file = tmp_path / "completion"
    file.write_bytes(call("completion", "bash")[1])
    asked = (
        f"source {file}; COMP_WORDS=(hcviz run aver); COMP_CWORD=2; "
        "_shtab_hcviz hcviz aver run; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
    assert done.stdout.split() == ["average"]
