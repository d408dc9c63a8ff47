"""What files of trees keep on the way out and back, and what ``hcviz convert`` says it drops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hcviz
from hcviz import Tree
from hcviz.cli import main
from hcviz.commands.tree_formats import HOLDS, TREE_FORMATS
from hcviz.commands.tree_json import json_of_tree, tree_of_json
from hcviz.core.errors import InvalidTree
from hcviz.core.tree_info import TreeInfo
from tests.trees import random_tree

NAMES = ["owl", "New (old) carp", "elm; ash", "o'clock", "x_y"]


def full_tree():
    tree = Tree([5, 5, 6, 6, 7, 7, 7, -1], [0, 0, 0, 0, 0, 0.25, 0.5, 2.0], 5)
    info = TreeInfo("ddt", "A tree", "its columns", 5, 3, {"triplets": 2}, "hard", {"steps": 9})
    return tree.with_labels(NAMES).with_support([0.9, np.nan, 1.0]).with_info(info)


def converted(capsys, source, target, *more):
    code = main(["convert", str(source), str(target), *map(str, more)])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out, err


def same(one, other):
    assert metrics_of(one) == metrics_of(other)


def metrics_of(tree):
    frame = tree.frame()
    rows = zip(frame["members"], frame["height"], frame["support"].fillna(-1.0), strict=True)
    return {(frozenset(members), round(height, 9), share) for members, height, share in rows}


@st.composite
def trees(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    tree = random_tree(rng, draw(st.integers(2, 12)), polytomies=True)
    names = [f"item {k}" for k in rng.permutation(tree.n_leaves)]
    if draw(st.booleans()):
        tree = tree.with_support(rng.integers(1, 100, tree.n_internal) / 100)
    return tree.with_labels(names if draw(st.booleans()) else None)


@given(trees())
def test_newick_and_json_give_the_tree_back(tree):
    again, _ = tree_of_json(
        json_of_tree(tree, tree.labels or [str(item) for item in range(tree.n_leaves)])
    )
    assert (again.labels is None) == (tree.labels is None)
    same(tree, again)
    read = Tree.from_newick(tree.to_newick())
    if tree.support is not None:  # the support of the root is not written
        tree = tree.with_support(np.append(tree.support[:-1], np.nan))
        if tree.n_internal == 1:
            tree = tree.with_support(None)
    same(tree, read)


def test_supports_of_other_programs_are_read():
    for text in ("((a,b)0.9,(c,d)1);", "((a,b)90,(c,d)100);", "((a,b)[&support=0.9],(c,d)1.0);"):
        tree = Tree.from_newick(text)
        shares = dict(zip(tree.frame()["members"], tree.frame()["support"], strict=True))
        assert (shares["a", "b"], shares["c", "d"]) == (0.9, 1.0)
    for text in ("((a,b)birds,c);", "((a,b)2020,c);", "((a,b)[&support=x],c);", "((a,b),c);"):
        assert Tree.from_newick(text).support is None


def test_json_keeps_all_and_every_format_says_what_it_drops(tmp_path, capsys):
    first = tmp_path / "tree.json"
    first.write_text(json_of_tree(full_tree(), NAMES, {5: "birds"}), encoding="utf-8")
    again, group_names = tree_of_json(first.read_text(encoding="utf-8"))
    same(full_tree(), again)
    assert again.info == full_tree().info
    ((node, name),) = group_names.items()
    assert (name, set(again.frame().loc[node, "members"])) == ("birds", set(NAMES[:2]))
    endings = {format: format for format in TREE_FORMATS} | {"newick": "nwk", "linkage": "npy"}
    assert set(TREE_FORMATS) == set(HOLDS)
    for format, ending in endings.items():
        _, err = converted(capsys, first, tmp_path / f"out.{ending}")
        lost = {"supports", "names of groups", "polytomies", "how the tree was made"}
        for what in lost:
            assert (what in err) == (what not in HOLDS[format]), (format, what)
        assert err.count("cannot hold") == (0 if format == "json" else 1)
    same(full_tree(), tree_of_json((tmp_path / "out.json").read_text(encoding="utf-8"))[0])
    text = (tmp_path / "out.nwk").read_text()
    assert "birds" in text
    assert "[&support=0.9]" in text
    _, err = converted(capsys, tmp_path / "out.nwk", tmp_path / "back.json", "--format", "json")
    assert err == ""
    back, group_names = tree_of_json((tmp_path / "back.json").read_text())
    same(full_tree().with_support([0.9, np.nan, np.nan]), back)
    assert list(group_names.values()) == ["birds"]


def test_uneven_branches_are_named(tmp_path, capsys):
    (tmp_path / "a.nwk").write_text("((a:1,b:2):1,c:1);")
    _, err = converted(capsys, tmp_path / "a.nwk", tmp_path / "a.csv", "--format", "csv")
    assert err == "hcviz: The leaves' different distances from the root were dropped.\n"


def test_a_taxonomy_says_that_it_has_no_heights(tmp_path, capsys):
    (tmp_path / "a.nwk").write_text("((a:1,b:1)birds:1[&support=0.5],c:2);")
    _, err = converted(capsys, tmp_path / "a.nwk", tmp_path / "a.md")
    assert err == "hcviz: a taxonomy cannot hold heights and supports.\n"
    (tmp_path / "b.nwk").write_text("((a,b)birds,c);")
    assert converted(capsys, tmp_path / "b.nwk", tmp_path / "b.md")[1] == ""


def test_a_run_writes_how_its_tree_was_made(tmp_path, capsys):
    target = tmp_path / "zoo.json"
    assert main(["run", "average", "zoo", "--seed", "4", "--out", str(target)]) == 0
    tree, _ = tree_of_json(target.read_text(encoding="utf-8"))
    assert tree.info == hcviz.fit("average", "zoo", seed=4).info
    assert main(["check", str(target)]) == 0
    assert "a tree over 101 items" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "not an object"),
        ("{}", "neither a name nor children"),
        ('{"children": 3}', "must be a list"),
        ('{"children": [{"name": "a"}, {"name": "b"}]}', "height in the JSON is None"),
        ('{"height": "1", "children": [{"name": "a"}, {"name": "b"}]}', "not a number"),
        ('{"height": 1, "children": [{"name": "a"}]}', "inner nodes branch|cannot have"),
        ('{"height": 1, ', "cannot be read as JSON"),
    ],
)
def test_what_is_no_tree_is_one_sentence(text, message):
    with pytest.raises(InvalidTree, match=message):
        tree_of_json(text)
