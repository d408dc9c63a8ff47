"""What the page says and shows of what an answer did."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.session import actions as act
from hcviz.session.model import Constraint
from hcviz.ui.features.history import model as history_model
from hcviz.ui.features.inspector import changed_clades
from hcviz.ui.features.supports import support_changes
from hcviz.ui.features.supports.model import is_settled
from hcviz.ui.features.tanglegram import sheet as tanglegram_sheet
from tests.stores import over_zoo, samples_of


@pytest.fixture
def store(loop):
    with over_zoo(loop, "ddt") as made:
        made.drawn = made.session.snapshot
        yield made


def answer(store, loop, group, apart):
    """State it, and draw what comes."""
    store.dispatch(act.AddConstraint(group, apart))
    run = store.session.run
    loop.until(lambda: store.session.status == "settled" and store.session.run == run)
    store.drawn = store.session.snapshot


def untrue(store):
    """Two items and a third that is nearer to the first in the tree and in most sampled trees."""
    tree = store.session.tree
    pairs = [tree.leaves(node) for node in range(tree.n_leaves, tree.root) if tree.size[node] == 2]
    with store.samples.open() as posterior:
        shares = [posterior.clade_support(pair) for pair in pairs]
    assert max(shares) > 0.5
    first, second = (int(item) for item in pairs[int(np.argmax(shares))])
    other = next(item for item in range(tree.n_leaves) if item not in (first, second))
    return (first, other), second


def test_after_a_run_footer_and_inspector_have_the_same_counts(store, loop):
    assert (
        support_changes.changes_sentence(store) == ""
    )  # the first run has nothing to compare with
    group, apart = untrue(store)
    answer(store, loop, group, apart)
    nodes = support_changes.changed_nodes(store)
    assert nodes.lost.size >= 1  # the clade that was in most trees is in none
    assert nodes.n_chance > 0
    shown = changed_clades.state(store)
    assert shown["title"] == "Because of your answer"
    assert shown["sentence"] == nodes.sentence
    assert shown["hint"] == support_changes.CHANCE_RULE
    beside = tanglegram_sheet.state(store)
    assert beside["sentence"].startswith(f"{nodes.sentence} ")
    assert [len(beside[side]["changed"]) for side in ("left", "right")] == [
        nodes.lost.size,
        nodes.gained.size,
    ]
    assert [each["count"] for each in shown["groups"]] == [nodes.gained.size, nodes.lost.size]
    moving = "" if is_settled(store) else " The supports are not settled yet."
    foot = history_model.state(store)
    assert foot["sentence"] == f"Done. The constraint holds. {nodes.sentence}{moving}"
    assert foot["hint"] == support_changes.CHANCE_RULE
    # the next message replaces the sentence
    store.change_view(message="Found bear.")
    assert history_model.state(store)["sentence"] == "Found bear."
    store.change_view(message="")
    store.dispatch(act.Undo())
    store.drawn = store.session.snapshot
    assert nodes.sentence not in history_model.state(store)["sentence"]
    assert changed_clades.state(store) is None  # nothing here is because of an answer
    store.dispatch(act.Redo())
    store.drawn = store.session.snapshot
    assert changed_clades.state(store)["sentence"] == nodes.sentence


@pytest.mark.parametrize(
    ("new", "gone", "chance", "text"),
    [
        (0, 0, 0, "The branches are the same as before."),
        (0, 0, 1, "No branch clearly changed; 1 differs, perhaps by chance."),
        (1, 1, 0, "1 branch is new, 1 is gone."),
        (3, 0, 2, "3 branches are new; 2 more differ, perhaps by chance."),
        (0, 2, 1, "2 branches are gone; 1 more differs, perhaps by chance."),
    ],
)
def test_the_counts_in_words(new, gone, chance, text):
    nodes = support_changes.ChangedNodes(np.arange(new), np.arange(gone), chance)
    assert nodes.sentence == text


def test_only_clades_whose_support_changed_are_listed(store, loop):
    """The others differ by chance: they are counted, not named."""
    before = store.samples
    answer(store, loop, *untrue(store))
    gained, lost = support_changes.significant_changes(store)
    rose, fell = [], []
    tree = store.drawn.tree
    for node in range(tree.n_leaves, tree.root):
        with before.open() as old, store.samples.open() as new:
            items = tree.leaves(node)
            was, now = old.clade_support(items), new.clade_support(items)
            m, n = (float(each.support_sizes(tree, [node])[0]) for each in (old, new))
        both = (m * was + n * now) / (m + n)
        if now - was > 3 * np.sqrt(max(both * (1 - both), 0) * (1 / m + 1 / n)):
            rose.append(node)
    assert gained.tolist() == rose
    for node in range(tree.n_leaves, store.baseline.root):
        with before.open() as old, store.samples.open() as new:
            items = store.baseline.leaves(node)
            was, now = old.clade_support(items), new.clade_support(items)
            m, n = (float(each.support_sizes(store.baseline, [node])[0]) for each in (old, new))
        both = (m * was + n * now) / (m + n)
        if was - now > 3 * np.sqrt(max(both * (1 - both), 0) * (1 / m + 1 / n)):
            fell.append(node)
    assert lost.tolist() == fell
    every, shown = store.changes(), changed_clades.state(store)
    sure = [set(every.gained) & set(gained), set(every.lost) & set(lost)]
    assert [each["count"] for each in shown["groups"]] == [len(each) for each in sure]
    named = [{clade["node"] for clade in each["clades"]} for each in shown["groups"]]
    assert named == sure
    n_chance = support_changes.changed_nodes(store).n_chance
    assert n_chance == len(every.gained) + len(every.lost) - sum(map(len, sure))
    assert n_chance > 0


def test_a_continued_run_counts_all_changes(store, loop):
    store.dispatch(act.Rerun())
    loop.until(lambda: store.session.status == "settled")
    store.drawn = store.session.snapshot
    assert support_changes.significant_changes(store) is None
    assert support_changes.changed_nodes(store).n_chance == 0


def test_few_trees_give_no_supports(store, loop):
    group, apart = untrue(store)
    answer(store, loop, group, apart)
    few = samples_of(
        len(store.session.labels),
        (Snapshot(store.drawn.tree, k, 9, {"log_joint": float(k)}) for k in range(1, 10)),
    )
    store.posteriors.put(store.session.shown, few)
    assert support_changes.significant_changes(store) is None


def test_of_equal_shares_hardly_any_falls_by_chance():
    """Two samples of 60 draws each of one share, 20,000 times: the normal's tail at 3 is 1 in 740,
    27 expected. With 60 draws the tail is not quite the normal's: twice as many are allowed, which
    is 5 standard deviations of their number away."""
    rng = np.random.default_rng(0)
    for share in (0.3, 0.5, 0.8):
        one, two = (rng.binomial(60, share, 20_000) / 60 for _ in range(2))
        assert support_changes.fell_significantly(one, two, 60, 60).sum() <= 54
    assert not support_changes.fell_significantly([1.0, 0.0], [1.0, 0.0], 5, 5).any()
    assert support_changes.fell_significantly([1.0, 0.4], [0.0, 0.4], 20, 20).tolist() == [
        True,
        False,
    ]


def test_new_answers_are_those_first_used_by_the_newest_run(store, loop):
    assert support_changes.new_statements(store.session) == []
    group, apart = untrue(store)
    answer(store, loop, group, apart)
    assert support_changes.new_statements(store.session) == [(group, apart)]
    store.dispatch(act.EditConstraint(1, note="seen"))  # no run, no other answers
    assert support_changes.new_statements(store.session) == [(group, apart)]
    store.dispatch(act.Rerun())
    loop.until(lambda: store.session.status == "settled")
    assert support_changes.new_statements(store.session) == []
    tree = store.session.tree
    others = [i for i in range(tree.n_leaves) if i not in (*group, apart)][:3]
    store.dispatch(act.ImportConstraints((Constraint(0, (others[0], others[1]), others[2]),)))
    loop.until(lambda: store.session.status == "settled")
    assert [set(g) for g, _ in support_changes.new_statements(store.session)] == [set(others[:2])]


def test_a_tree_that_is_another_only_by_a_refinement_counts_the_new_clades(store):
    star = Tree.star(len(store.session.labels))
    store.baseline = star
    changes = store.changes()
    assert len(changes.lost) == 0
    store.previous_samples = None
    assert support_changes.changes_sentence(store).startswith(
        f"{len(changes.gained)} branches are new."
    )
