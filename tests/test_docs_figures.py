"""The figures of the paper pages show what the pages say, and are safe to put into one document."""

from __future__ import annotations

import importlib
import re
from itertools import chain, combinations

import pytest

import hcviz
from tests.conftest import ROOT

NAMES = sorted(path.stem for path in (ROOT / "docs" / "papers").glob("*.md"))


@pytest.fixture
def figure_module(monkeypatch):
    """Import a module of ``docs/figures``."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    return lambda name: importlib.import_module(f"figures.{name}")


@pytest.fixture
def chatziafratis(figure_module):
    return figure_module("chatziafratis2018")


def test_each_paper_has_a_figure(figure_module):
    assert len(NAMES) == 5
    for name in NAMES:
        page = (ROOT / "docs" / "papers" / f"{name}.md").read_text(encoding="utf-8")
        assert f"```{{frames}} {name}\n" in page
        assert callable(figure_module(name).frames)


@pytest.mark.parametrize("told", [False, True])
def test_the_cut_of_the_figure_is_the_sparsest(chatziafratis, told):
    problem = hcviz.Problem(similarity=chatziafratis.SIMILARITY, labels=chatziafratis.ANIMALS)
    nodes = [[0], [1], [2], [3], [4], [5]]
    if told:
        problem = problem.with_triplets([chatziafratis.ANSWER])
        nodes = [[0], [1], [2], [3], [4, 5]]  # eagle and fox are one supernode

    def ratio(items):
        return chatziafratis.sparsity(items, [1] * 6, chatziafratis.SIMILARITY)[1]

    found = chatziafratis.first_cut(hcviz.fit("crsc", problem, oracle="exact"))
    sides = [[*chain(*side)] for k in range(1, len(nodes)) for side in combinations(nodes, k)]
    assert ratio(found) == min(map(ratio, sides))


def test_the_blue_branches_are_those_of_the_rule(figure_module):
    """a in the subtree: at or below the child of the LCA of b and c that is on b's side."""
    figure = figure_module("vikram2016")
    rest = hcviz.Tree.from_newick(
        "((bear,lion),((carp,tuna),(frog,(penguin,(gull,duck)))));",
        [name for name in figure.ANIMALS if name != "dolphin"],
    ).with_labels([name for name in figure.ANIMALS if name != "dolphin"])
    name = list(rest.labels).index
    fork = rest.lca(name("bear"), name("carp"))
    (side,) = [v for v in rest.children(fork) if name("bear") in rest.leaves(int(v))]
    triplets = figure.problem().with_triplets([figure.ANSWER]).triplets
    for node in range(rest.n_nodes):
        is_legal = bool(figure.regraft(rest, node, "dolphin").satisfies(triplets).all())
        assert is_legal == (set(rest.leaves(node)) <= set(rest.leaves(int(side)))), node


def test_ids_of_two_frames_differ(figure_module):
    drawing = figure_module("drawing")
    frames = figure_module("chatziafratis2018").frames()[:2]
    texts = [drawing.svg(frame, f"f{k}-") for k, frame in enumerate(frames)]
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in texts]
    assert ids[0]
    assert not ids[0] & ids[1]
    for text, own in zip(texts, ids, strict=True):
        used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)
        assert {one or other for one, other in used} <= own
