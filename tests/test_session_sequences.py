"""Any sequence of actions: what none of them can break, and the log played again."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hcviz import Group, HcvizError, Snapshot, Taxonomy
from hcviz.algorithms import get
from hcviz.core.build import is_consistent
from hcviz.core.errors import InvalidTaxonomy
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.added_rows import AddedRows
from hcviz.session.assessment import constraint_states, contradicts
from hcviz.session.effects import StartRun
from hcviz.session.group_rules import check_groups
from hcviz.session.model import Constraint, DataSpec, equal_values
from hcviz.session.replay import replay
from hcviz.session.update import update
from tests.sessions import ANIMALS, Driver, run_fake
from tests.unconstrained import NAME

ITEMS = st.integers(0, len(ANIMALS) - 1)

pytestmark = pytest.mark.usefixtures("unconstrained")


class AnySequence(RuleBasedStateMachine):
    """Random work; after each step the invariants, at the end undo, files and replay."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver(seed=3)
        self.highest = 0

    @rule(items=st.lists(ITEMS, min_size=3, max_size=5, unique=True))
    def add(self, items):
        before = self.driver.session
        self.driver(act.AddConstraint(tuple(items[:-1]), items[-1]))
        assert len(self.driver.session.constraints) >= len(before.constraints)

    @rule(name=st.sampled_from(["you", "Ann"]), items=st.permutations(range(4)))
    def add_as(self, name, items):
        self.driver(act.SetAuthor(name))
        self.driver(act.AddConstraint(tuple(items[:2]), items[2], author=name))

    @rule(name=st.sampled_from(["you", "Ann"]), on=st.booleans())
    def switch_author(self, name, on):
        before = self.driver.session
        session = self.driver(act.EnableAuthor(name, on))
        assert len(session.past) in (len(before.past), len(before.past) + 1)
        if not on:
            assert not any(each.author == name for each in session.enabled)

    @rule(name=st.sampled_from(["you", "Ann"]), weight=st.floats(0.1, 10.0))
    def weigh(self, name, weight):
        self.driver(act.SetAuthorWeight(name, weight))

    @rule(id=st.integers(1, 6), kind=st.sampled_from([act.EnableConstraint, act.DisableConstraint]))
    def switch(self, id, kind):
        self.driver(kind(id))

    @rule(id=st.integers(1, 6))
    def delete(self, id):
        self.driver(act.DeleteConstraint(id))

    @rule(id=st.integers(1, 6), note=st.text(max_size=3))
    def note(self, id, note):
        self.driver(act.EditConstraint(id, note=note))

    @rule(all_of_them=st.booleans())
    def resolve(self, all_of_them):
        conflict = self.driver.session.conflict
        if conflict is not None:
            chosen = conflict.with_ids if all_of_them else conflict.repairs[:1]
            self.driver(act.ResolveConflict(conflict.constraint_id, chosen))
            if conflict.repairs and chosen:
                assert self.driver.session.find(conflict.constraint_id).enabled

    @rule(stated=st.lists(st.permutations(range(len(ANIMALS))), min_size=2, max_size=4))
    def import_some(self, stated):
        some = [Constraint(0, tuple(items[:2]), items[2]) for items in stated]
        self.driver(act.ImportConstraints(tuple(some)))

    @rule(all_of_them=st.booleans())
    def dismiss(self, all_of_them):
        self.driver(act.DismissConflict(all=all_of_them))

    @rule(items=st.sets(ITEMS, min_size=1), name=st.sampled_from(["A", "B", '"</script>\n']))
    def name_group(self, items, name):
        with suppress(InvalidTaxonomy):
            self.driver(act.NameGroup(tuple(items), name))

    @precondition(lambda self: self.driver.session.groups)
    @rule(data=st.data(), items=st.sets(ITEMS, min_size=1), name=st.sampled_from(["A", "C"]))
    def change_group(self, data, items, name):
        group = data.draw(st.sampled_from(self.driver.session.groups))
        actions = [
            act.EditGroup(group.id, name=name, note=name),
            act.SetGroupMembers(group.id, tuple(items)),
            act.RemoveGroup(group.id),
            act.ReplaceGroups(self.driver.session.groups[1:]),
        ]
        with suppress(InvalidTaxonomy):
            self.driver(data.draw(st.sampled_from(actions)))

    @precondition(lambda self: self.driver.session.groups)
    @rule(items=st.sets(ITEMS, min_size=1), rows=st.sets(st.integers(0, 3), min_size=1))
    def review(self, items, rows):
        theirs = (*self.driver.session.groups[1:], Group("D", items))
        with suppress(InvalidTaxonomy):
            self.driver(act.OpenSecondVersion("second.md", theirs, tuple(range(len(ANIMALS)))))
            self.driver(act.KeepMine((0,)))
            self.driver(act.TakeOver(tuple(rows)))

    @precondition(lambda self: self.driver.session.n_items < len(ANIMALS) + 3)
    @rule(data=st.data())
    def accept_new_items(self, data):
        session = self.driver.session
        ids = st.sampled_from(["", *(group.id for group in session.groups)])
        groups = data.draw(st.lists(ids, min_size=1, max_size=2))
        names = tuple(f'"new"\n{session.n_items + k}' for k in range(len(groups)))
        rows = AddedRows("new.csv", ("legs",), names, (("4",),) * len(names))
        self.driver(act.AcceptItems(rows, tuple(groups)))

    @rule()
    def close_review(self):
        self.driver(act.CloseSecondVersion())

    @rule(name=st.sampled_from(["ddt", "crsc", NAME]))
    def method(self, name):
        self.driver(act.SetMethod(name))

    @rule(value=st.floats(0.1, 2))
    def params(self, value):
        self.driver(act.SetParams({"c": value}))

    @rule(seed=st.integers(0, 3))
    def seed(self, seed):
        self.driver(act.SetSeed(seed))

    @rule(name=st.sampled_from(["zoo", "other"]))
    def data(self, name):
        labels = ANIMALS if name == "zoo" else ANIMALS[::-1]
        self.driver(act.LoadedData(DataSpec(name=name, content=name.encode()), labels))

    @rule(count=st.integers(1, 5))
    def runs(self, count):
        self.driver.go(count)

    @rule(action=st.sampled_from([act.Undo(), act.Redo(), act.Cancel(), act.Rerun()]))
    def simple(self, action):
        self.driver(action)

    @precondition(lambda self: self.driver.session.past)
    @rule()
    def undo_then_redo_comes_back(self):
        here = self.driver.session
        back, _ = update(here, act.Undo(), get)
        again, effects = update(back, act.Redo(), get)
        assert not any(isinstance(effect, StartRun) for effect in effects)
        for name in (
            "constraints",
            "groups",
            "second_version",
            "data",
            "labels",
            "method",
            "params",
            "seed",
            "constraint_mode",
        ):
            assert getattr(again, name) == getattr(here, name), name
        assert again.tree is here.tree
        assert len(again.past) == len(here.past)
        assert len(again.future) == len(here.future)

    @invariant()
    def enabled_constraints_have_a_tree(self):
        session = self.driver.session
        assert is_consistent(session.n_items, session.triplets)
        if session.status == "settled" and session.constraint_mode == "hard":
            # a settled tree obeys every enabled answer, those that started no run included
            assert session.tree.satisfies(session.triplets).all()
        assert all(c.id < session.next_id for c in session.constraints)
        assert session.run >= self.highest
        self.highest = session.run
        assert set(constraint_states(session)) == {c.id for c in session.constraints}
        check_groups(session.groups, session.n_items)
        if session.tree is not None:  # each name is in the tree or in the tray, once
            taxonomy = Taxonomy(session.labels, session.tree, session.groups)
            ids = [each.id for each in (*taxonomy.placed, *taxonomy.unplaced)]
            assert sorted(ids) == sorted(each.id for each in session.groups)
            nodes = [node for node in taxonomy.nodes if node >= 0]
            assert len(set(nodes)) == len(nodes)
        if session.conflict is not None:
            at_odds = (session.conflict.constraint_id, *session.conflict.waiting)
            assert len(set(at_odds)) == len(at_odds)
            for each in map(session.find, at_odds):
                assert not each.enabled
                assert contradicts(each, session.enabled)

    def teardown(self):
        session = self.driver.session
        content = save_session(session)
        loaded = load_session(content)
        assert equal_values(loaded, session)
        assert save_session(loaded) == content
        assert isinstance(loaded.snapshot, Snapshot | None)

        def run_method(spec, effect):
            return run_fake(spec, effect, len(ANIMALS) + spec.n_added)

        again = replay(loaded, run_method, get)
        assert equal_values(again, session)


AnySequence.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestAnySequence = AnySequence.TestCase


def test_replay_refuses_a_log_that_its_method_does_not_follow(settled):
    settled(act.Rerun())
    settled.go(3)

    def shorter(spec, effect):
        return run_fake(spec, effect, len(ANIMALS), steps=2)

    with pytest.raises(HcvizError, match="does not reach step"):
        replay(settled.session, shorter, get)
