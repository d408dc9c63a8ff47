"""Any sequence of actions: what none of them can break, and the log played again.

The variable HCVIZ_CHAOS sets the number of sequences of a longer search, of 60 actions each
(``make chaos``).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from hcviz import Group, HcvizError, Taxonomy
from hcviz.algorithms import get
from hcviz.io.triplet_csv import read_triplet_csv, write_triplet_csv
from hcviz.session import actions as act
from hcviz.session.added_rows import AddedRows
from hcviz.session.assessment import constraint_states
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP, Constraint
from hcviz.session.model import DataSpec
from hcviz.session.replay import replay
from tests.chaos import LABELS, Chaos
from tests.sessions import ANIMALS, run_fake
from tests.unconstrained import NAME

pytestmark = pytest.mark.usefixtures("unconstrained")

MOST_ITEMS = 6  # all binary trees of so many items are enumerated
ITEMS = st.integers(0, 4)
AUTHORS = st.sampled_from(["you", "Ann"])
NAMES = st.sampled_from(["A", "B", '"</script>\n'])
METHODS = st.sampled_from(["ddt", "average", "build", "crsc", NAME])
#: Parameters of methods; each may be given others that it does not have.
PARAMS = {
    "ddt": [{"c": 0.5}, {"c": 2.0}, {"beta": 1.0}, {"beta": None}],
    "average": [{"constraints": "repair"}, {"constraints": "merge"}],
}
WRONG = [{"nonsense": 1}]


@st.composite
def statements(draw):
    """A group and what is apart: one item, several, everything else, or not a group."""
    items = draw(st.permutations(range(5)))
    size = draw(st.integers(2, 4))
    apart = st.sampled_from([items[size], EVERYTHING_ELSE, NOT_A_GROUP, tuple(items[size:])])
    return tuple(items[:size]), draw(apart)


class AnySequence(RuleBasedStateMachine):
    """Random work; after each step the invariants, at the end files and replay."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="hcviz-chaos-"))
        self.chaos = Chaos(self.folder)
        self.n_groups = 0

    @property
    def session(self):
        return self.chaos.session

    @property
    def any_id(self):
        """Ids of constraints, mostly of those in the list."""
        return st.sampled_from([*(each.id for each in self.session.constraints), 99])

    @initialize()
    def begin(self):
        self.chaos(act.LoadedData(DataSpec(), LABELS["zoo"]))

    # ------------------------------------------------------------------ constraints

    @rule(statement=statements(), author=AUTHORS)
    def add(self, statement, author):
        before = self.session
        self.chaos(act.SetAuthor(author))
        assert self.chaos(act.AddConstraint(*statement, author=author))
        assert len(self.session.constraints) >= len(before.constraints)

    @precondition(lambda self: self.session.groups)
    @rule(data=st.data(), items=st.sets(ITEMS, min_size=2, max_size=4))
    def add_into(self, data, items):
        into = data.draw(st.sampled_from(self.session.groups)).id
        self.chaos(act.AddConstraint(tuple(items), EVERYTHING_ELSE, into=into))

    @precondition(lambda self: self.session.constraints)
    @rule(data=st.data(), kind=st.sampled_from([act.EnableConstraint, act.DisableConstraint]))
    def switch(self, data, kind):
        self.chaos(kind(data.draw(self.any_id)))

    @precondition(lambda self: self.session.constraints)
    @rule(data=st.data())
    def delete(self, data):
        self.chaos(act.DeleteConstraint(data.draw(self.any_id)))

    @precondition(lambda self: self.session.constraints)
    @rule(data=st.data(), note=st.text(max_size=3), weight=st.sampled_from([None, 0.0, 2.0]))
    def edit(self, data, note, weight):
        self.chaos(act.EditConstraint(data.draw(self.any_id), note=note, weight=weight))

    @rule(author=AUTHORS, on=st.booleans())
    def switch_author(self, author, on):
        self.chaos(act.EnableAuthor(author, on))
        assert on or not any(each.author == author for each in self.session.enabled)

    @rule(author=AUTHORS, weight=st.floats(0.1, 10.0))
    def weigh(self, author, weight):
        self.chaos(act.SetAuthorWeight(author, weight))

    @precondition(lambda self: self.session.conflict)
    @rule(all_of_them=st.booleans())
    def resolve(self, all_of_them):
        conflict = self.session.conflict
        chosen = conflict.with_ids if all_of_them else conflict.repairs[:1]
        self.chaos(act.ResolveConflict(conflict.constraint_id, chosen))
        if conflict.repairs and chosen:
            assert self.session.find(conflict.constraint_id).enabled

    @precondition(lambda self: self.session.conflict)
    @rule(all_of_them=st.booleans())
    def dismiss(self, all_of_them):
        self.chaos(act.DismissConflict(all=all_of_them))

    @rule(stated=st.lists(statements(), min_size=2, max_size=4), on=st.booleans())
    def import_some(self, stated, on):
        some = [Constraint(0, *each, enabled=on or not k) for k, each in enumerate(stated)]
        self.chaos(act.ImportConstraints(tuple(some)))

    @rule()
    def export_and_import(self):
        constraints, labels = self.session.constraints, self.session.labels
        text = write_triplet_csv(constraints, labels)
        again = read_triplet_csv(text, labels)
        assert len(again) == len(constraints)
        for one, other in zip(again, constraints, strict=True):
            assert one.states_same(*other.statement)
            for name in ("author", "weight", "note", "enabled", "time"):
                assert getattr(one, name) == getattr(other, name), name
        self.chaos(act.ImportConstraints(again))
        assert self.session.constraints == constraints

    # ------------------------------------------------------------------ groups

    @rule(items=st.sets(ITEMS, min_size=1), name=NAMES)
    def name_group(self, items, name):
        self.n_groups += 1
        made = Group(name, items, id=f"g{self.n_groups}")
        names = {**self.chaos.names, made.id: made.name}
        self.chaos(act.NameGroup(made.members, made.name, id=made.id), names)

    @precondition(lambda self: self.session.groups)
    @rule(data=st.data(), items=st.sets(ITEMS, min_size=1), name=NAMES)
    def change_group(self, data, items, name):
        group = data.draw(st.sampled_from(self.session.groups))
        names = self.chaos.names
        left = {id: name for id, name in names.items() if id != group.id}
        first = self.session.groups[0].id
        actions = [
            (act.EditGroup(group.id, name=name, note=name), {**names, group.id: name.strip()}),
            (act.SetGroupMembers(group.id, tuple(items)), names),
            (act.RemoveGroup(group.id), left),
            (
                act.ReplaceGroups(self.session.groups[1:]),
                {id: name for id, name in names.items() if id != first},
            ),
        ]
        self.chaos(*data.draw(st.sampled_from(actions)))

    @precondition(lambda self: self.session.groups)
    @rule(items=st.sets(ITEMS, min_size=1), rows=st.sets(st.integers(0, 3), min_size=1))
    def review(self, items, rows):
        theirs = (*self.session.groups[1:], Group("D", items, id=f"d{len(self.session.log)}"))
        everything = tuple(range(self.session.n_items))
        if self.chaos(act.OpenSecondVersion("second.md", theirs, everything)):
            self.chaos(act.KeepMine((0,)))
            self.chaos.take_over(tuple(rows))

    @rule()
    def close_review(self):
        self.chaos(act.CloseSecondVersion())

    @precondition(lambda self: self.session.n_items < MOST_ITEMS)
    @rule(data=st.data())
    def accept_new_item(self, data):
        ids = st.sampled_from([*(group.id for group in self.session.groups), ""])
        name = f'"new"\n{self.session.n_items}'
        rows = AddedRows("new.csv", ("legs",), (name,), (("4",),))
        assert self.chaos(act.OpenNewItems(rows, (name,)))
        assert self.chaos(act.DecideNewItems((), ((0, "no such group"),)))
        assert self.chaos(act.AcceptItems(rows, (data.draw(ids),)))

    @rule(row=st.integers(0, 1))
    def decide_about_new_items(self, row):
        """There is one new item, so a decision about a second one is refused."""
        offered = self.session.offered_items
        assert self.chaos(act.DecideNewItems((row,), ())) == (offered is None or row == 0)
        assert self.session.offered_items == (
            offered if offered is None or row else replace(offered, dismissed=(0,), chosen=())
        )

    @rule()
    def close_new_items(self):
        self.chaos(act.CloseNewItems())
        assert self.session.offered_items is None

    # ------------------------------------------------------------------ data, method, runs

    @rule(name=st.sampled_from(sorted(LABELS)))
    def load(self, name):
        labels = LABELS[name]
        names = self.chaos.names if labels == self.session.labels else {}
        self.chaos(act.LoadedData(DataSpec(name=name), labels), names)

    @rule(kind=st.sampled_from(["cosine", "cosine-z"]))
    def similarity(self, kind):
        self.chaos(act.SetSimilarity(kind))

    @rule(name=METHODS)
    def method(self, name):
        self.chaos(act.SetMethod(name))

    @rule(data=st.data(), is_dragging=st.booleans())
    def params(self, data, is_dragging):
        values = data.draw(st.sampled_from(PARAMS.get(self.session.method, []) + WRONG))
        self.chaos(act.SetParams(values, is_dragging=is_dragging))

    @rule(data=st.data())
    def soften(self, data):
        ids = data.draw(st.lists(self.any_id, max_size=2))
        self.chaos(act.Soften("ddt", {"beta": 1.0}, tuple(ids)))

    @rule(seed=st.integers(0, 3))
    def seed(self, seed):
        self.chaos(act.SetSeed(seed))

    @rule(action=st.sampled_from([act.Cancel(), act.Rerun(), act.Rerun(fresh=True)]))
    def run(self, action):
        self.chaos(action)

    @precondition(lambda self: self.session.status == "sampling")
    @rule(count=st.integers(1, 6))
    def deliver(self, count):
        run = self.session.run
        for _ in range(count):
            if self.session.status == "sampling" and self.session.run == run:
                self.chaos.deliver(run)
                self.chaos.check()

    @precondition(lambda self: self.chaos.runs)
    @rule(data=st.data())
    def late(self, data):
        self.chaos.deliver(data.draw(st.sampled_from(sorted(self.chaos.runs))))

    @rule(back=st.integers(0, 2), kind=st.sampled_from([act.Failed, act.Stopped, act.Finished]))
    def end(self, back, kind):
        run = self.session.run - back
        if kind is act.Finished and run != self.session.shown:
            run = self.session.run - 1  # a run in progress delivers a tree before it finishes
        self.chaos.report(kind(run, "The worker has died.") if kind is act.Failed else kind(run))

    # ------------------------------------------------------------------ undo, files

    @rule(count=st.integers(1, 4), action=st.sampled_from([act.Undo(), act.Redo()]))
    def go_back(self, count, action):
        for _ in range(count):
            self.chaos(action)

    @precondition(lambda self: self.session.past)
    @rule()
    def undo_then_redo(self):
        self.chaos(act.Undo())
        self.chaos.check()
        self.chaos(act.Redo())

    @rule()
    def save_and_load(self):
        self.chaos.save_and_load()

    @rule()
    def write_base(self):
        self.chaos.write_base()

    @rule()
    def reconnect(self):
        self.chaos.reconnect()

    # ------------------------------------------------------------------ invariants

    @precondition(lambda self: self.session.labels)
    @invariant()
    def holds(self):
        self.chaos.check()
        session = self.session
        assert all(each.id < session.next_id for each in session.constraints)
        assert set(constraint_states(session)) == {each.id for each in session.constraints}
        if session.tree is not None:  # each name is in the tree or in the tray, once
            taxonomy = Taxonomy(session.labels, session.tree, session.groups)
            ids = [each.id for each in (*taxonomy.placed, *taxonomy.unplaced)]
            assert sorted(ids) == sorted(each.id for each in session.groups)
            nodes = [node for node in taxonomy.nodes if node >= 0]
            assert len(set(nodes)) == len(nodes)

    def teardown(self):
        try:
            if self.session.labels:
                self.chaos.check_replay()
                self.chaos.save_and_load()
        finally:
            self.chaos.close()
            shutil.rmtree(self.folder)


def test_no_sequence_of_actions_breaks_a_session():
    long = int(os.environ.get("HCVIZ_CHAOS", "0"))
    run_state_machine_as_test(
        AnySequence,
        settings=settings(
            max_examples=long or 60,
            stateful_step_count=60 if long else 25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_replay_refuses_a_log_that_its_method_does_not_follow(settled):
    settled(act.Rerun())
    settled.go(3)

    def shorter(spec, effect):
        return run_fake(spec, effect, len(ANIMALS), steps=2)

    with pytest.raises(HcvizError, match="does not reach step"):
        replay(settled.session, shorter, get)
