"""What the page says of the sampler's certainty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hcviz.core.contraction import without_clades
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.features.inspector import model as inspector_model
from hcviz.ui.features.supports import model as supports_model
from hcviz.ui.features.top_bar import model as top_bar_model
from hcviz.ui.features.tree_tools import model as tree_tools_model
from hcviz.ui.state.store import Store
from tests.stores import add_draws, over_zoo, samples_of


@pytest.fixture
def store(loop):
    with over_zoo(loop, "ddt") as made:
        made.drawn = made.session.snapshot
        yield made


def test_branches_carry_the_share_of_trees_with_their_clade(store):
    found = supports_model.clade_supports(store)
    tree = store.session.snapshot.tree
    assert found.shape == (tree.n_internal,)
    with store.samples.open() as posterior:
        for node in (tree.root, tree.n_leaves + 7, tree.n_leaves + 60):
            share = posterior.clade_support(tree.leaves(node))
            assert found[node - tree.n_leaves] == pytest.approx(share)
    store.change_view(support="hidden")
    assert supports_model.clade_supports(store) is None


def test_no_numbers_flicker_while_trees_stream_in(store, loop):
    store.dispatch(act.SetParams({"steps": 10**9}))
    assert store.session.status == "sampling"
    assert supports_model.clade_supports(store) is None
    store.dispatch(act.Cancel())
    store.drawn = store.session.snapshot
    assert supports_model.clade_supports(store) is not None


def test_uncertain_clades_are_merged_where_a_person_chose_that(store):
    """Those below the threshold, before, during and after a run; none where they are lighter."""
    assert supports_model.merged_clades(store) is None
    store.change_view(unsure="merged", below=70)
    expected = supports_model.clade_supports(store) < 0.7
    assert 0 < expected.sum() < expected.size
    assert np.array_equal(supports_model.merged_clades(store), expected)
    store.change_view(below=0)
    assert not supports_model.merged_clades(store).any()
    store.change_view(below=70, support="hidden")
    assert supports_model.merged_clades(store) is None
    store.change_view(support="shown")
    store.dispatch(act.SetParams({"steps": 10**9, "sigma": 1.0}))  # other samples, still empty
    store.runner.cancel()
    assert supports_model.clade_supports(store) is None
    assert np.array_equal(supports_model.merged_clades(store), expected)
    run, snapshot = store.session.run, replace(store.session.snapshot, step=0, total=10)
    store.dispatch(act.Arrived(run, snapshot))
    store.drawn = store.session.snapshot
    assert np.array_equal(supports_model.merged_clades(store), expected)
    tools = tree_tools_model.state(store)
    assert (tools["unsure"], tools["below"]) == ("merged", 70)


def test_saved_trees_lack_the_clades_that_are_merged(store):
    """Against the definition; clades of named groups stay."""
    tree = store.session.snapshot.tree
    assert supports_model.tree_to_save(store) is tree
    store.change_view(unsure="merged", below=70)
    merged = supports_model.merged_clades(store)
    named = int(np.flatnonzero(merged)[0]) + tree.n_leaves

    def clades(of):
        heights = (float(height) for height in of.height[of.n_leaves :])
        inner = range(of.n_leaves, of.n_nodes)
        return {frozenset(of.leaves(v).tolist()): h for v, h in zip(inner, heights, strict=True)}

    kept = [v for v in range(tree.n_leaves, tree.n_nodes) if not merged[v - tree.n_leaves]]
    for more in ((), (named,)):
        nodes = {*kept, *more, tree.root}
        expected = {frozenset(tree.leaves(v).tolist()): float(tree.height[v]) for v in nodes}
        assert clades(supports_model.tree_to_save(store, more)) == expected
    assert clades(without_clades(tree, np.ones(tree.n_internal, bool))).keys() == {
        frozenset(range(tree.n_leaves))
    }


def test_a_group_is_described_by_its_share_of_trees(store):
    tree = store.session.snapshot.tree
    whole = tuple(int(x) for x in tree.leaves(tree.n_leaves + 60))
    share = supports_model.group_sentence(store, whole)
    with store.samples.open() as posterior:
        expected = supports_model.percent(posterior.clade_support(whole))
    with store.samples.open() as posterior:
        trees = len(posterior)
    assert 100 <= trees <= 176  # of the 201 at least an eighth is burn-in, at most half
    word = supports_model.accuracy_state(store)["word"]
    assert share == f"{expected} of the last {trees} trees have exactly this group, {word}."
    assert supports_model.group_sentence(store, (0,)) is None
    store.change_view(selection=whole)
    shown = inspector_model.state(store)["selection"]
    assert shown["support"] == share
    assert shown["words"].endswith(share)


@pytest.fixture
def accuracy_of(store):
    """The page's words on samples of a kind, in the place of those that the run made."""

    def of(make):
        tree = store.session.snapshot.tree
        drawn = (make(k, tree) for k in range(4000))
        samples = samples_of(
            tree.n_leaves,
            (Snapshot(each, k, 4000, {"log_joint": x}) for k, (each, x) in enumerate(drawn, 1)),
            store.session.labels,
        )
        store.posteriors.put(store.session.shown, samples)
        return supports_model.accuracy_state(store)

    return of


def test_only_independent_draws_count_as_settled(store, accuracy_of):
    rng = np.random.default_rng(0)
    verdict = accuracy_of(lambda k, tree: (tree, rng.normal()))
    assert verdict["word"] == "settled"
    assert verdict["why"] == "Supports are accurate to about 1 point."
    assert verdict["details"].startswith("Both halves of the one chain agree")
    assert supports_model.is_settled(store)
    assert top_bar_model.live(store)["text"] == "Done"
    whole = tuple(store.session.snapshot.tree.leaves(store.session.snapshot.tree.n_leaves + 60))
    assert supports_model.group_sentence(store, whole) == (
        "100 % of the last 3,500 trees have exactly this group."
    )
    live = inspector_model.live(store)
    assert live["accuracy"] == verdict
    assert [name for name, _ in live["facts"][:2]] == ["Items", "Branches"]
    assert "Log joint" not in dict(live["facts"])  # the details have it
    assert "Log joint" in dict(live["details"])
    store.change_view(selection=whole)
    assert "not years" in inspector_model.state(store)["selection"]["factNotes"]["Height"]


def test_a_drift_of_the_log_joint_alone_is_in_the_details(store, accuracy_of):
    rng = np.random.default_rng(0)
    verdict = accuracy_of(lambda k, tree: (tree, rng.normal() + k / 500))
    assert verdict["word"] == "settled"
    assert "still differ in the log joint" in verdict["details"]


def test_supports_that_drift_are_settling_and_a_run_continues_from_there(store, accuracy_of):
    """Clades that are in every tree of the first half, and in none of the other."""
    tree = store.session.snapshot.tree
    verdict = accuracy_of(drifting())
    assert verdict["word"] == "not settled"
    assert top_bar_model.live(store)["text"] == "Tree done · not settled"
    # Of the trees from number 500 on the two halves have no clade of several items in common.
    assert verdict["why"] == ("The supports are not accurate yet. Press Run to go on from here.")
    assert not supports_model.is_settled(store)
    whole = tuple(tree.leaves(tree.n_leaves + 60))
    assert supports_model.group_sentence(store, whole) == (
        "50 % of the last 3,500 trees have exactly this group, not settled."
    )


def drifting():
    """Trees whose clades are others from number 2,250 on: the items are exchanged at random."""
    rng = np.random.default_rng(0)
    order = rng.permutation(101)

    def make(k, tree):
        parent = tree.parent.copy()
        if k >= 2250:
            parent[: tree.n_leaves] = parent[order]
        return Tree(parent, tree.height, tree.n_leaves), rng.normal()

    return make


def _with_another_clade(tree):
    """``tree`` with two items of a clade of three exchanged."""
    three = next(v for v in range(tree.n_leaves, tree.n_nodes) if tree.size[v] == 3)
    a, _, c = sorted(tree.leaves(three).tolist(), key=lambda x: tree.parent[x] == three)
    parent = tree.parent.copy()
    parent[[a, c]] = parent[[c, a]]
    return Tree(parent, tree.height, tree.n_leaves)


def test_a_clade_in_doubt_is_called_by_its_labels(store, accuracy_of):
    """One tree, then another: where they differ is what the sentence is about."""
    tree, labels = store.session.snapshot.tree, store.session.labels
    three = next(v for v in range(tree.n_leaves, tree.n_nodes) if tree.size[v] == 3)
    a, b, c = sorted(tree.leaves(three).tolist(), key=lambda x: tree.parent[x] == three)
    other = _with_another_clade(tree)
    rng = np.random.default_rng(0)
    verdict = accuracy_of(lambda k, _: (tree if k < 2250 else other, rng.normal()))
    pairs = [" and ".join(labels[x] for x in sorted(pair)) for pair in ((a, b), (c, b))]
    found = store.samples.verdict().numbers
    shares = ["50 %", "50 %"]  # the halves of the 3,500 trees from number 500 on
    names = {f"the clade of {x} ({y} of the trees)" for x, y in zip(pairs, shares, strict=True)}
    assert found.keys() == {"the log joint", "the root's height", *names}
    assert any(f"still differ in {name}: R-hat is infinite" in verdict["details"] for name in names)


def test_what_200_trees_of_zoo_say(store):
    verdict = supports_model.accuracy_state(store)
    assert verdict["word"] != "settled"  # worth a handful of independent ones
    assert top_bar_model.live(store)["text"].startswith("Tree done · ±")
    assert verdict["why"].endswith(" Press Run to go on from here.")
    assert not supports_model.is_settled(store)
    assert inspector_model.live(store)["accuracy"] == verdict


def test_while_a_run_goes_on_its_word_is_that_of_the_last_check(store, accuracy_of):
    first = accuracy_of(drifting())
    assert first["why"].endswith("Press Run to go on from here.")
    store.session = replace(store.session, status="sampling")
    during = supports_model.accuracy_state(store)
    assert during["word"] == "settling"
    assert not during["why"].endswith("Press Run to go on from here.")  # it does already
    store.samples.take_tree(Snapshot(store.drawn.tree, 1, 2, {"log_joint": 0.0}))
    assert supports_model.accuracy_state(store) == during
    add_draws(store.samples, [Snapshot(store.drawn.tree, k + 1, 9) for k in range(4000)])
    assert supports_model.accuracy_state(store) != during


@pytest.fixture
def brief(loop):
    """A store whose first run, of a few trees, is over."""
    params = act.read_only({"steps": 60, "every": 10})
    made = Store(Session(method="ddt", constraint_mode="hard", params=params), loop.schedule)
    assert made.open_data(DataSpec(name="zoo"))
    loop.until(lambda: made.session.status == "settled")
    made.drawn = made.session.snapshot
    yield made
    made.close()


def test_a_run_that_has_drawn_nothing_replaces_the_one_before(brief):
    """As it was found: "Running 0 of 20,200" beside the verdict on the finished run."""
    store = brief
    before = supports_model.accuracy_state(store)
    assert before["word"] not in ("running", "paused")
    clade = tuple(store.session.tree.leaves(store.session.tree.n_leaves + 60).tolist())
    store.dispatch(act.Rerun())
    run, snapshot = store.session.run, store.session.snapshot

    def live():
        return inspector_model.live(store)["accuracy"]["word"]

    store.runner.cancel()  # what it sends is sent by hand
    assert store.session.shown < run
    assert live() == "running"
    start = replace(snapshot, step=0, total=20_200)
    store.dispatch(act.Arrived(run, start))
    assert top_bar_model.live(store)["text"] == "Running · 0 of 20,200"
    assert live() == "running"
    assert "before this run" in supports_model.group_sentence(store, clade)
    store.change_view(paused=True)
    assert live() == "paused"
    store.change_view(paused=False)
    store.dispatch(act.Arrived(run, replace(start, step=101)))
    assert live() == "settling"  # the run goes on with the same draws
    store.dispatch(act.SetMethod("average"))
    assert inspector_model.live(store)["accuracy"] is None


def test_supports_are_shown_on_a_tree_of_any_method(store, loop):
    """Those of the sampler's run on the same data under the same constraints."""
    sampled = store.samples
    store.dispatch(act.SetMethod("average"))
    loop.until(lambda: store.session.status == "settled")
    store.drawn = store.session.snapshot
    assert store.samples is None
    tree = store.session.tree
    with sampled.open() as posterior:
        expected = [
            posterior.clade_support(tree.leaves(v)) for v in range(tree.n_leaves, tree.n_nodes)
        ]
    assert supports_model.clade_supports(store) == pytest.approx(expected)
    assert not tree_tools_model.state(store)["noSupport"]
    assert (
        supports_model.accuracy_state(store) is None
    )  # that is of the sampler's run, not of this tree
    a, b, c = next(
        (int(x), int(y), int(z))
        for x, y, z in np.random.default_rng(0).integers(0, 101, (1000, 3))
        if len({x, y, z}) == 3 and tree.satisfies([[x, y, z]]).all()
    )
    store.dispatch(act.AddConstraint((a, b), c))  # the trees were not sampled under it
    store.drawn = store.session.snapshot
    assert supports_model.clade_supports(store) is None
    assert "Run the Dirichlet diffusion tree" in tree_tools_model.state(store)["noSupport"]


def test_a_session_without_samples_has_no_accuracy(loop):
    with over_zoo(loop, "average") as store:
        store.drawn = store.session.snapshot
        assert supports_model.clade_supports(store) is None
        assert supports_model.accuracy_state(store) is None
        assert tree_tools_model.state(store)["noSupport"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (0.001, "< 1 %"), (0.72, "72 %"), (0.9951, "> 99 %"), (1.0, "100 %")],
)
def test_what_is_not_certain_is_never_rounded_to_certain(share, text):
    assert supports_model.percent(np.float64(share)) == text
