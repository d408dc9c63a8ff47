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


def test_after_a_run_the_footer_lists_changes_and_lost_support(store, loop):
    assert (
        support_changes.changes_sentence(store) == ""
    )  # the first run has nothing to compare with
    group, apart = untrue(store)
    before = store.samples
    answer(store, loop, group, apart)
    changes = store.changes()
    n_lost = support_changes.lost_support(store)
    assert n_lost >= 1  # the clade that was in most trees is in none
    moving = "" if is_settled(store) else "; the supports are still settling"
    many = max(map(len, support_changes.clear_changes(store, changes)))
    assert many == max(changed_clades.changed_counts(store).values())  # as the list has them
    changed = "No clade" if many == 0 else f"{many} clade{'s' * (many != 1)}"
    expected = f"{changed} changed, {n_lost} lost support{moving}."
    assert support_changes.changes_sentence(store) == expected
    foot = history_model.state(store)
    assert foot["sentence"] == f"Done. The constraint holds. {expected}"
    assert foot["hint"] == support_changes.LOST_SUPPORT_RULE
    # by the rule, clade by clade
    tree, count = store.baseline, 0
    for node in range(tree.n_leaves, tree.root):
        supports = []
        for samples in (before, store.samples):
            with samples.open() as posterior:
                size = float(posterior.support_sizes(tree, [node])[0])
                supports.append((posterior.clade_support(tree.leaves(node)), size))
        (was, m), (now, n) = supports
        both = (m * was + n * now) / (m + n)
        count += was - now > 3 * np.sqrt(max(both * (1 - both), 0) * (1 / m + 1 / n))
    assert count == n_lost
    # the next message replaces the sentence
    store.change_view(message="Found bear.")
    assert history_model.state(store)["sentence"] == "Found bear."
    store.change_view(message="")
    store.dispatch(act.Undo())
    assert "changed" not in history_model.state(store)["sentence"]


def test_only_clades_whose_support_changed_are_listed(store, loop):
    """The others differ by chance: they are counted, not named."""
    before = store.samples
    answer(store, loop, *untrue(store))
    gained, lost = support_changes.significant_changes(store)
    assert lost.size == support_changes.lost_support(store)
    rose = []
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
    every, shown = store.changes(), changed_clades.state(store)
    sure = [set(every.gained) & set(gained), set(every.lost) & set(lost)]
    assert [each["count"] for each in shown["groups"]] == [len(each) for each in sure]
    named = [{clade["node"] for clade in each["clades"]} for each in shown["groups"]]
    assert named == sure
    assert shown["chance"] == len(every.gained) + len(every.lost) - sum(map(len, sure))
    assert shown["chance"] > 0


def test_a_continued_run_lists_no_lost_support(store, loop):
    store.dispatch(act.Rerun())
    loop.until(lambda: store.session.status == "settled")
    store.drawn = store.session.snapshot
    assert support_changes.lost_support(store) is None
    assert support_changes.changes_sentence(store).endswith(" changed.")


def test_few_trees_give_no_supports(store, loop):
    group, apart = untrue(store)
    answer(store, loop, group, apart)
    few = samples_of(
        len(store.session.labels),
        (Snapshot(store.drawn.tree, k, 9, {"log_joint": float(k)}) for k in range(1, 10)),
    )
    store.posteriors.put(store.session.shown, few)
    assert support_changes.lost_support(store) is None


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
    assert support_changes.changes_sentence(store) == f"{len(changes.gained)} clades changed."
