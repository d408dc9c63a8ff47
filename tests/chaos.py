"""A session with real runs, disconnections and an undo stack of its own, for random actions.

``Chaos`` performs actions as the store, the runner and the autosave do, without threads. After each
action it holds the session against definitions that do not use the code of ``hcviz/session``.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from hcviz import HcvizError, Problem, Snapshot
from hcviz.algorithms import generator, get
from hcviz.core.tree import Tree
from hcviz.io.journal import RUN_REPORTS, Journal, SessionSummary, read_journal
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP, Constraint, DataSpec
from hcviz.session.effects import CancelRun, StartRun
from hcviz.session.model import Checkpoint, Session, equal_values
from hcviz.session.replay import replay
from hcviz.session.restore import Restore
from hcviz.session.update import update
from tests.trees import all_trees

#: The items of each data set. One name is also the sign for a clade in files of constraints.
LABELS = {
    "zoo": ("bat", "whale", '"</script>', "trout\n", "=1+1"),
    "five": ("*", "b", "c", "d", "e"),
}

#: What undo and redo restore exactly, and what the log on the disk restores.
WORK = (
    "data", "labels", "constraints", "method", "constraint_mode", "params", "other_params", "seed",
    "author_weights", "disabled_by_author", "choices", "groups", "chosen_clusters",
    "second_version", "pile_names",
)  # fmt: skip
#: What undo restores only if the undone step began a run.
RUN = ("snapshot", "progress", "shown", "warm_start", "cause", "error", "reference")

ABOUT = SessionSummary("Chaos")


def run_real(spec: DataSpec, effect: StartRun) -> Iterator[Snapshot]:
    """Run the registry's method on the data of ``spec``, a few steps of it."""
    labels = LABELS[spec.name] + tuple(name for rows in spec.added for name in rows.labels)
    features = [
        np.random.default_rng(zlib.crc32(label.encode())).normal(size=3) for label in labels
    ]
    method = get(effect.method)
    problem = Problem(features=np.array(features), labels=labels).with_comparisons(
        effect.comparisons
    )
    problem = problem.with_triplets(effect.triplets).with_groups(effect.groups)
    if method.avoids_groups:
        problem = problem.with_not_groups(effect.not_groups)
    few = {"steps": 24, "every": 6} if effect.method == "ddt" else {}
    params = method.parameters(**few, **effect.params)
    rng = generator(effect.seed, effect.run)
    made = method.start_run(problem, params, rng, effect.start)
    return (snapshot for snapshot in made if snapshot is not None)


def replay_real(spec: DataSpec, effect: StartRun) -> Iterator[Snapshot]:
    """Return the snapshots of a run; none if it cannot start."""
    try:
        return run_real(spec, effect)
    except HcvizError:
        return iter(())


@lru_cache
def clades_of_all_trees(n: int) -> np.ndarray:
    """Return the clades of all binary trees of n items, as bits of their items, (trees, n - 1)."""
    trees = all_trees(n, binary=True)
    return np.array([[_bits(clade.tolist()) for clade in tree.clades()] for tree in trees])


def _bits(items) -> int:
    return sum(1 << item for item in items)


def trees_of(n: int, constraints) -> int:
    """Return how many binary trees of n items satisfy all the constraints, by enumeration."""
    clades = clades_of_all_trees(n)
    fits = np.ones(len(clades), bool)
    for each in constraints:
        group = _bits(each.group)
        if each.apart in (EVERYTHING_ELSE, NOT_A_GROUP):
            fits &= (clades == group).any(axis=1) == (each.apart == EVERYTHING_ELSE)
        else:
            apart = _bits(each.outsiders)
            fits &= ((clades & group == group) & (clades & apart == 0)).any(axis=1)
    return int(fits.sum())


def is_satisfied(each: Constraint, tree: Tree) -> bool:
    """Return True if the tree satisfies the constraint, from the sets of leaves of its clades."""
    clades = [set(clade.tolist()) for clade in tree.clades()]
    group = set(each.group)
    if each.apart in (EVERYTHING_ELSE, NOT_A_GROUP):
        return (group in clades) == (each.apart == EVERYTHING_ELSE)
    return any(group <= clade and not clade & set(each.outsiders) for clade in clades)


class Chaos:
    """Performs actions, and checks after each one what no action can break.

    ``folder`` holds the log on the disk. ``before`` and ``undone`` are the sessions to which undo
    and redo must return. ``names`` has the ids and names that the groups must have.
    """

    def __init__(self, folder: Path) -> None:
        self.session = Session()
        self.folder = folder
        self.journals = 0
        self.journal: Journal | None = None
        self.runs: dict[int, Iterator[Snapshot]] = {}
        self.delivered: dict[tuple[int, int], Tree] = {}
        self.before: list[Session | Checkpoint] = []
        self.undone: list[Session | Checkpoint] = []
        self.names: dict[str, str] = {}
        self.names_before: list[dict[str, str]] = []
        self.names_undone: list[dict[str, str]] = []
        self._begin_journal()

    # ------------------------------------------------------------------ actions

    def __call__(self, action: act.Action, names: dict[str, str] | None = None) -> bool:
        """Perform an action; return False if it was refused. ``names``: those of groups after."""
        before = self.session
        try:
            self.session, effects = update(before, action, get)
        except HcvizError:
            return False
        self._write(before)
        self._follow(before, action, self.names if names is None else names)
        for effect in effects:
            if isinstance(effect, StartRun):
                undone = isinstance(action, act.Undo | act.Redo)
                assert not undone or self.session.snapshot is None
                self._start(effect)
            elif isinstance(effect, CancelRun):
                assert (before.status, before.run) == ("sampling", effect.run)
        return True

    def _start(self, effect: StartRun) -> None:
        assert effect.run == self.session.run
        assert effect.run not in self.runs
        try:
            self.runs[effect.run] = run_real(self.session.data, effect)
        except HcvizError as fault:
            if "nonsense" not in effect.params:
                raise
            self.runs[effect.run] = iter(())
            self(act.Failed(effect.run, fault.message, fault.hint))

    def deliver(self, run: int) -> None:
        """Deliver the next report of a run, which may have been cancelled long ago."""
        before, snapshot = self.session, next(self.runs[run], None)
        report = act.Finished(run) if snapshot is None else act.Arrived(run, snapshot)
        self.report(report)
        if self.session is not before and snapshot is not None:
            self.delivered[run, snapshot.step] = self.session.tree
            if not before.keeps_tree:
                assert self.session.tree is snapshot.tree

    def report(self, report: act.Action) -> None:
        """Dispatch a report of the runner. It has no effect unless its run is in progress."""
        before = self.session
        self(report)
        live = before.status == "sampling" and report.run == before.run
        assert live or self.session is before

    def take_over(self, rows: tuple[int, ...]) -> None:
        """Take over groups of the second version. Groups that it does not change keep their names.

        Other tests hold what is taken over.
        """
        before, kept = self.session, self.names
        version = before.second_version
        changed = {
            group.id
            for row in version.differences(before.labels).groups
            if not row.is_same
            for group in (row.first, row.second, *row.into, *row.sources)
            if group is not None
        }
        if not self(act.TakeOver(rows)):
            return
        self.names = {each.id: each.name for each in self.session.groups}
        for id in kept.keys() - changed:
            assert self.names[id] == kept[id]

    # ------------------------------------------------------------------ undo, and names of groups

    def _follow(self, before: Session, action: act.Action, names: dict[str, str]) -> None:
        """Hold undo and redo against the sessions that were there before."""
        now = self.session
        if isinstance(action, act.Undo) and before.past:
            self.undone.append(before)
            self.names_undone.append(self.names)
            self._check_restored(before, self.before.pop())
            self.names = self.names_before.pop()
        elif isinstance(action, act.Redo) and before.future:
            self.before.append(before)
            self.names_before.append(self.names)
            self._check_restored(before, self.undone.pop())
            self.names = self.names_undone.pop()
        else:
            if len(now.past) > len(before.past):
                self.before.append(before)
                self.names_before.append(self.names)
            if not now.future:
                self.undone, self.names_undone = [], []
            self.names = names
        assert len(now.past) == len(self.before)
        assert len(now.future) == len(self.undone)

    def _check_restored(self, left: Session, target: Session | Checkpoint) -> None:
        now = self.session
        for name in WORK:
            assert equal_values(getattr(now, name), getattr(target, name)), name
        source = left if left.lineage == target.lineage else target
        stopped = source is target and source.status == "sampling"
        if now.n_items and source.snapshot is None and (stopped or source.status == "idle"):
            assert (now.status, now.lineage) == ("sampling", now.run)  # no tree: it runs
            return
        assert now.lineage == target.lineage
        for name in RUN:
            assert equal_values(getattr(now, name), getattr(source, name)), name
        assert now.status == ("idle" if stopped else source.status)

    # ------------------------------------------------------------------ disconnections

    def save_and_load(self) -> None:
        """Continue with the session of a session file."""
        content = save_session(self.session)
        loaded = load_session(content)
        assert equal_values(loaded, self.session)
        assert save_session(loaded) == content
        self._restore(loaded)

    def reconnect(self) -> None:
        """Continue with the session of the log on the disk: the work is all there."""
        found = read_journal(self.journal.folder, get)
        assert not found.damaged
        loaded, lost = found.session, self.session
        for name in (*WORK, "conflict", "author", "next_id", "reviewed"):
            assert equal_values(getattr(loaded, name), getattr(lost, name)), name
        for mine, theirs in ((loaded.past, lost.past), (loaded.future, lost.future)):
            assert [each.label for each in mine] == [each.label for each in theirs]
            for one, other in zip(mine, theirs, strict=True):
                for name in WORK:
                    assert equal_values(getattr(one, name), getattr(other, name)), name
        self.before, self.undone = list(loaded.past), list(loaded.future)  # without lost trees
        self._restore(loaded)

    def _restore(self, loaded: Session) -> None:
        self.session, _ = update(self.session, Restore(loaded), get)
        assert self.session.status != "sampling"
        self.runs, self.delivered = {}, {}
        self.close()
        self._begin_journal()
        self.write_base()

    def write_base(self) -> None:
        """Write the session beside the log, as the autosave does from time to time."""
        if self.session.labels:
            self.journal.rotate(ABOUT)(self.session)

    def _begin_journal(self) -> None:
        self.journals += 1
        self.journal = Journal(self.folder / str(self.journals))

    def _write(self, before: Session) -> None:
        fresh = [each.action for each in self.session.log[len(before.log) :]]
        fresh = [each for each in fresh if not isinstance(each, RUN_REPORTS)]
        if fresh:
            self.journal.append(fresh, ABOUT)

    def close(self) -> None:
        self.journal.close()

    # ------------------------------------------------------------------ invariants

    def check(self) -> None:
        """Check the session as it is."""
        session = self.session
        names = [(each.id, each.name) for each in session.groups]
        assert sorted(names) == sorted(self.names.items())
        assert session.is_soft or trees_of(session.n_items, session.enabled)
        self._check_tree()
        if session.conflict is not None:
            contradicting = (session.conflict.constraint_id, *session.conflict.waiting)
            assert len(set(contradicting)) == len(contradicting)
            for each in map(session.find, contradicting):
                assert not each.enabled
                assert not trees_of(session.n_items, (each, *session.enabled))

    def _check_tree(self) -> None:
        """Check that the shown tree is not of another run, and satisfies the constraints."""
        session = self.session
        if session.snapshot is None:
            assert session.shown == -1
            return
        key = session.shown, session.snapshot.step
        assert self.delivered.get(key, session.tree) is session.tree
        assert session.tree.n_leaves == session.n_items
        from_newest = session.shown == session.run == session.lineage
        if session.constraint_mode == "hard" and (session.status == "settled" or from_newest):
            avoids = get(session.method).avoids_groups
            for each in session.enabled:
                if avoids or not each.is_not_group:
                    assert is_satisfied(each, session.tree), each

    def check_replay(self) -> None:
        """Check that the log gives the same session again."""
        assert equal_values(replay(self.session, replay_real, get), self.session)


__all__ = ["LABELS", "Chaos", "is_satisfied", "replay_real", "run_real", "trees_of"]
