"""What the sheets over the tree show, as data."""

from __future__ import annotations

import base64
import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Group, Snapshot, Tree
from hcviz.core.layout import leaf_order
from hcviz.jobs import Samples
from hcviz.session.model import Session
from hcviz.ui.app.main_pane import Middle
from hcviz.ui.app.sheets import SHEETS
from hcviz.ui.features.cloud import sheet as cloud_sheet
from hcviz.ui.features.consensus import sheet as consensus_sheet
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.tanglegram import sheet as tanglegram_sheet
from hcviz.ui.parts import sampled_trees
from hcviz.ui.parts.packing import row_ranges
from hcviz.ui.state.store import Store
from tests.stores import add_draws, samples_of
from tests.trees import random_tree

NAMES = "abcdefgh"


@given(st.permutations(range(8)))
def test_the_lines_out_of_line_are_the_fewest_that_untangle_the_rest(places):
    out = tanglegram_sheet.moved_items(np.array(places))
    kept = [place for place, gone in zip(places, out, strict=True) if not gone]
    assert kept == sorted(kept)
    most = max(
        size
        for size in range(1, 9)
        for each in itertools.combinations(places, size)
        if list(each) == sorted(each)
    )
    assert len(kept) == most


@pytest.fixture
def store():
    """h goes from the far side to a and b."""
    names = list(NAMES)
    texts = ("((((a,b),c),d),((e,f),(g,h)));", "(((((a,b),h),c),d),((e,f),g));")
    old, new = (Tree.from_newick(text, names) for text in texts)
    made = Store(Session(labels=tuple(NAMES)), lambda call: call())
    made.session = Session(labels=tuple(NAMES), snapshot=Snapshot(new, 1, 1), status="settled")
    made.baseline, made.drawn = old, made.session.snapshot
    yield made
    made.close()


def test_before_and_after_traces_what_moved(store):
    shown = tanglegram_sheet.state(store)
    moved = {shown["names"][k] for k in shown["moved"]}
    assert moved == {"h"}
    assert shown["sentence"].startswith("4 branches are new, 4 are gone. 1 item moved; ")
    after = "".join(name for _, name in sorted(zip(shown["to"], shown["names"], strict=True)))
    assert any(clade in after for clade in ("abh", "bah", "hab", "hba"))
    for side in ("left", "right"):
        assert len(shown[side]["changed"]) == 4
    assert shown["choices"] == [["last", "before the last run"]]


def test_a_sheet_without_content_is_replaced_by_the_tree(store):
    store.change_view(sheet="before")
    assert Middle.now(store) == "before"
    store.baseline = store.drawn.tree  # nothing but the same tree to compare with
    assert Middle.now(store) == "tree"
    tabs = {tab["name"]: tab for tab in Middle.tabs_state(store)["tabs"]}
    assert tabs["before"]["lacks"] == "There is no earlier tree of these items yet."
    assert tabs["tree"]["lacks"] == ""


def test_every_sheet_explains_what_is_missing_before_a_tree():
    empty = Store(Session(), lambda call: call())
    for sheet in SHEETS.values():
        assert sheet.unavailable_because(empty).endswith(".")
        assert sheet.title
        assert sheet.summary
    empty.close()


# ---------------------------------------------------------------------- of the sampled trees


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


TEXTS = (
    "((((a,b),c),d),((e,f),(g,h)));",
    "((((a,b),c),d),((e,g),(f,h)));",
    "((((a,c),b),d),((e,f),(g,h)));",
    "(((a,b),(c,d)),((e,h),(f,g)));",
)


@pytest.fixture
def sampled_store(store):
    """Three trees that differ in ab, in abc and in what lies between e, f, g and h."""
    trees = [Tree.from_newick(text, list(NAMES)) for text in TEXTS]
    trees = 3 * trees[:1] + trees[1:]  # the log joint rises, so the first half is burn-in
    samples = samples_of(
        8,
        (Snapshot(tree, k, 9, {"log_joint": float(k)}) for k, tree in enumerate(trees, 1)),
    )
    store.posteriors.put(store.session.shown, samples)
    with samples.open() as posterior:
        assert posterior is not None
        assert len(posterior) == 3
    return store


def groups(tree):
    return {frozenset(tree.leaves(v).tolist()) for v in range(tree.n_leaves, tree.root)}


def test_a_consensus_has_the_clades_of_more_than_its_share_of_the_trees(sampled_store):
    with sampled_store.samples.open() as posterior:
        trees = posterior.trees()
    counts = Counter(group for tree in trees for group in groups(tree))
    for percent in (50, 75, 95):
        sampled_store.change_view(majority=percent)
        shown = consensus_sheet.state(sampled_store)
        expected = {g: c for g, c in counts.items() if c > percent / 100 * len(trees)}
        drawn = {}
        for clade in shown["clades"]:
            first, last = clade["rows"]
            drawn[frozenset(shown["items"][first : last + 1])] = clade["percent"]
        assert drawn == {g: round(100 * c / len(trees)) for g, c in expected.items()}
        share = "half" if percent == 50 else f"{percent} %"
        verb = "branches are" if len(expected) > 1 else "branch is"
        assert (
            shown["sentence"] == f"{len(expected)} {verb} in more than {share} of the last 3 trees."
        )
        assert shown["names"] == [NAMES[item] for item in shown["items"]]


def keys_of(value):
    """All keys of the mappings in a value."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from keys_of(each)


def test_fields_are_named_by_texts(sampled_store):
    """A mapping with other keys would reach the page as a Map, in which a script finds nothing."""
    groups = (Group("AB", (0, 1)), Group("All but h", tuple(range(7))))
    sampled_store.session = replace(sampled_store.session, groups=groups)
    shown = [sheet for sheet in SHEETS.values() if not sheet.unavailable_because(sampled_store)]
    assert {"before", "consensus", "cloud"} <= {sheet.name for sheet in shown}
    for sheet in shown:
        assert all(isinstance(key, str) for key in keys_of(sheet.state(sampled_store))), sheet.name
    assert "AB" in consensus_sheet.state(sampled_store)["groups"].values()


def test_the_credible_and_the_central_tree_are_sampled_ones(sampled_store):
    with sampled_store.samples.open() as posterior:
        trees = posterior.trees()
    for kind in ("credible", "central"):
        sampled_store.change_view(summary=kind)
        shown = consensus_sheet.state(sampled_store)
        drawn = {
            frozenset(shown["items"][a : b + 1]) for a, b in (c["rows"] for c in shown["clades"])
        }
        assert drawn in [groups(tree) for tree in trees]
        assert " of its 6 branches are in more than half of the last 3 trees." in shown["sentence"]


def test_rounding_never_gives_100_per_cent_for_less():
    assert consensus_sheet.whole_percents(np.array([1.0, 0.999, 0.5, 0.0])) == [100, 99, 50, 0]


def test_the_cloud_lays_every_tree_over_the_same_rows(sampled_store):
    shown = cloud_sheet.state(sampled_store)
    n = 8
    rows = unpacked(shown["rows"], "<u2")
    assert [shown["items"][row] for row in rows] == list(range(n))
    parents, across = unpacked(shown["parents"], "<u2"), unpacked(shown["across"], "<u2")
    down = unpacked(shown["down"], "<u2")
    with sampled_store.samples.open() as posterior:
        trees = [*posterior.trees(), posterior.consensus()[0]]
    assert shown["nodes"] == [tree.n_nodes for tree in trees]
    first = inner = 0
    for tree in trees:
        own = parents[first : first + tree.n_nodes]
        assert own[:-1].tolist() == tree.parent[:-1].tolist()
        y = list(rows + 0.5)
        for v in range(n, tree.n_nodes):
            below = [y[c] for c in tree.children(v)]
            y.append((min(below) + max(below)) / 2)
            at = inner + v - n
            assert down[at] / shown["fine"] * n == pytest.approx(y[v], abs=1e-3)
            assert across[at] / shown["fine"] * shown["top"] == pytest.approx(
                tree.height[v], abs=shown["top"] / shown["fine"]
            )
        first, inner = first + tree.n_nodes, inner + tree.n_internal
    assert (first, inner) == (parents.size, down.size)
    assert shown["sentence"].startswith("All of the last 3 trees over each other")


@given(st.integers(0, 2**32 - 1))
def test_the_common_order_is_the_bases_own_and_no_worse_than_where_it_began(seed):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, 9, polytomies=True) for _ in range(6)]
    order = cloud_sheet.common_order(trees, trees[0])
    assert sorted(order.tolist()) == list(range(9))
    first, last = row_ranges(trees[0], order)
    assert ((last - first + 1) == trees[0].size).all()  # no line of the base crosses another
    off, mean = cloud_sheet.displacement(trees, order)
    assert off <= cloud_sheet.displacement(trees, leaf_order(trees[0]))[0]
    # by the definition: the sum of the rows, and the mean
    place = {leaf: row for row, leaf in enumerate(order.tolist())}
    each = [leaf_order(tree, [float(place[leaf]) for leaf in range(9)]).tolist() for tree in trees]
    assert off == sum(abs(row - place[leaf]) for one in each for row, leaf in enumerate(one))
    assert mean == pytest.approx([np.mean([one.index(leaf) for one in each]) for leaf in range(9)])


def test_of_many_items_the_cloud_draws_some_with_a_note():
    n = cloud_sheet.MAX_ITEMS + 77
    rng = np.random.default_rng(3)
    made = Store(Session(), lambda call: call())
    trees = [random_tree(rng, n) for _ in range(4)]
    samples = samples_of(n, (Snapshot(tree, k, 4) for k, tree in enumerate(trees, 1)))
    made.session = Session(
        labels=tuple(f"x{k}" for k in range(n)), snapshot=Snapshot(trees[-1], 4, 4)
    )
    made.posteriors.put(made.session.shown, samples)
    shown = cloud_sheet.state(made)
    assert len(set(shown["items"])) == cloud_sheet.MAX_ITEMS == len(shown["names"])
    assert set(shown["nodes"][:-1]) == {2 * cloud_sheet.MAX_ITEMS - 1}
    assert f"Of the {n} items {cloud_sheet.MAX_ITEMS} are drawn" in shown["sentence"]
    made.close()


def test_pictures_of_the_samples_are_made_once_and_calmly(sampled_store, monkeypatch):
    made = []
    calm = sampled_trees.SampledTreesCache(
        lambda posterior, how, before: made.append(before) or len(made)
    )
    assert calm.get(sampled_store, "a") == calm.get(sampled_store, "a") == 1
    assert calm.get(sampled_store, "b") == 2
    assert made == [None, 1]
    add_draws(sampled_store.samples, [Snapshot(sampled_store.drawn.tree, 9, 9)])
    assert calm.get(sampled_store, "b") == 3
    sampled_store.session = replace(sampled_store.session, status="sampling")
    add_draws(sampled_store.samples, [Snapshot(sampled_store.drawn.tree, 10, 10)])
    assert calm.get(sampled_store, "b") == 3  # not yet
    monkeypatch.setattr(sampled_trees, "REDRAW_SECONDS", 0.0)
    assert calm.get(sampled_store, "b") == 4
    sampled_store.posteriors.put(
        sampled_store.session.shown, Samples(8)
    )  # another answer, no tree yet
    assert calm.get(sampled_store, "b") == 4
    sampled_store.session = replace(sampled_store.session, status="settled")
    assert calm.get(sampled_store, "b") is None


def test_clicks_on_the_samples_pictures_select_items_and_nothing_else(sampled_store):
    gestures = Gestures(sampled_store)
    for sheet in (consensus_sheet.SHEET, cloud_sheet.SHEET):
        sheet.acts(gestures, "take", {"items": [2, 5]})
        assert sampled_store.view.selection == (2, 5)
        assert sheet.live(sampled_store) == {"selection": [2, 5]}
        for wrong in ([], [8], [-1, 2]):
            sheet.acts(gestures, "take", {"items": wrong})
            assert sampled_store.view.selection == (2, 5)
        sheet.acts(gestures, "heights", {"value": "even"})
        assert sheet.state(sampled_store)["heights"] == "even"
    consensus_sheet.SHEET.acts(gestures, "majority", {"value": "300"})
    assert sampled_store.view.majority == 95
    consensus_sheet.SHEET.acts(gestures, "kind", {"value": "unheard of"})
    assert sampled_store.view.summary == "consensus"


def test_trees_that_are_not_sampled_have_no_cloud(store):
    assert store.samples is None
    for sheet in (consensus_sheet.SHEET, cloud_sheet.SHEET):
        assert sheet.unavailable_because(store) == "Only of trees that are sampled."
        assert sheet.state(store) == {"sentence": sampled_trees.NO_SAMPLED_TREE}
