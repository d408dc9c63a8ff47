"""A loaded session is as it was saved: the same picture, and the same bytes when saved again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hcviz.algorithms import get
from hcviz.core.errors import SessionFileError
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.model import Constraint, DataSpec
from hcviz.session.update import interrupted_session
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from tests.sessions import Driver

TABLE = b"name,a,b,c\n" + b"".join(
    b"%c%d,%d,%d,%d\n" % (97 + k % 7, k, k * k % 11, k % 5, k * 7 % 13) for k in range(40)
)


@pytest.fixture
def begun(loop):
    made = []

    def begin(spec=None, **link):
        explorer = Explorer(loop.schedule, link=Link(**link), spec=spec)
        made.append(explorer)
        loop.until(lambda: explorer.store.session.status in ("settled", "failed"))
        return explorer

    yield begin
    for explorer in made:
        explorer.store.close()


def saved(explorer) -> bytes:
    found = []
    explorer.bar.download = lambda name, content, mime: found.append(content)
    explorer.files.act("save", {"what": "session"})
    return found[0]


def picture(explorer):
    """All that a person sees of the tree."""
    centre, store = explorer.centre, explorer.store
    return (
        centre.order.tolist(),
        sorted(each.tobytes() for each in centre.state.collapsed),
        None if centre.state.cluster_codes is None else centre.state.cluster_codes.tolist(),
        centre.state.cut,
        centre.window.rows,
        store.view.look,
        store.view.selection,
        centre.state.layout.row_start.tolist(),
    )


def worked_on(begun, loop, spec):
    """A session in which much was done: several experts, a question passed over, undo and redo."""
    explorer = begun(spec, method="average")
    store, centre = explorer.store, explorer.centre

    def do(*actions):
        store.dispatch(*actions)
        loop.until(lambda: store.session.status != "sampling")

    do(act.AddConstraint((0, 7), 3, note="first"))
    do(act.SetMethod("crsc"), act.SetAuthor("Ann"))
    answers = (
        Constraint(0, (1, 8), 4, author="Ann"), Constraint(0, (1, 4), 8, author="Bo", weight=2.0),
    )  # fmt: skip
    do(act.ImportConstraints(answers))
    do(
        act.SetAuthorWeight("Ann", 3.0),
        act.ReviewPiece((0, 1, 2, 3), ((0, 1),)),
        act.AddChoice("odd", (1, 2, 3)),
    )
    do(act.AddConstraint((2, 9), 5))
    do(act.SetSeed(3))
    do(act.Undo())
    store.change_view(matrix="features", heights="even")
    explorer.drawing.colour(6)
    explorer.drawing.colour(4)
    big = [leaves for leaves in store.session.tree.clades() if 3 <= leaves.size <= 9]
    centre.toggle_collapse(big[0])
    centre.toggle_collapse(big[-1])
    centre.focus(np.arange(4))
    store.change_view(selection=(1, 2, 5))
    return explorer


@pytest.mark.parametrize(
    "spec", [None, DataSpec(kind="table", name="t.csv", filename="t.csv", content=TABLE)]
)
def test_loading_and_saving_gives_the_same_bytes_and_the_same_picture(begun, loop, spec):
    first = worked_on(begun, loop, spec)
    before = saved(first)
    assert load_session(before).look["collapsed"]
    other = begun(data="iris", method="ward")
    assert other.store.restore(load_session(before))
    assert picture(other) == picture(first)
    assert saved(other) == before
    for move in (act.Undo(), act.Undo(), act.Redo(), act.Redo(), act.Redo()):
        for explorer in (first, other):
            explorer.store.dispatch(move)
        assert other.centre.order.tolist() == first.centre.order.tolist()
        assert (
            other.centre.state.cluster_codes.tolist() == first.centre.state.cluster_codes.tolist()
        )
    runs = []
    for explorer in (first, other):  # and goes on as it would have done
        explorer.store.dispatch(act.SetMethod("crsc"), act.AddConstraint((3, 6), 2))
        loop.until(lambda at=explorer: at.store.session.status == "settled")
        runs.append((explorer.store.session.run, picture(explorer)))
    assert runs[0] == runs[1]


def test_a_session_saved_during_a_run_is_at_rest_in_the_file(begun, loop):
    explorer = begun(method="ddt", params={"steps": 2_000})
    explorer.store.dispatch(act.SetParams({"steps": 900_000_000}))
    loop.until(lambda: explorer.store.session.progress[0] > 0)
    before = saved(explorer)
    assert explorer.store.session.status == "sampling"  # it goes on
    explorer.store.dispatch(act.Cancel())
    other = begun(method="average")
    assert other.store.restore(load_session(before))
    assert other.store.session.status == "idle"
    assert saved(other) == before


def test_reports_of_runs_before_are_not_taken_for_those_of_the_loaded_session(begun, loop):
    explorer = begun(method="average")
    kept = load_session(saved(explorer))
    store = explorer.store
    store.dispatch(act.SetMethod("ddt"), act.SetParams({"steps": 900_000_000}))
    loop.until(lambda: store.session.progress[0] > 0)
    late = store.session.snapshot
    post, before = store.runner.post, store.session.run
    assert store.restore(kept)
    while store.session.run < before:
        store.dispatch(act.SetMethod("ddt" if store.session.method == "average" else "average"))
    tree = store.session.tree
    post(act.Arrived(before, late))
    post(act.Stopped(before))
    loop.until(loop.waiting.empty)
    assert store.session.snapshot is not late
    assert store.session.status != "cancelled"
    assert store.session.tree is not None is not tree


def test_what_is_at_rest_is_itself():
    driver = Driver()
    assert interrupted_session(driver.session, get, "").status == "idle"
    driver.settle()
    assert interrupted_session(driver.session, get, "") is driver.session


@pytest.mark.parametrize(
    "look",
    [
        {"collapsed": (np.array([0, 500], np.int32),), "rows": (3.0, float("nan"))},
        {"collapsed": (5, np.array([[0, 1]], np.int32), np.array([2], np.int32))},
        {"collapsed": 7, "colours": np.zeros(3, np.uint8), "rows": "all"},
        {"colours": np.zeros(101), "cut": float("inf"), "selection": (0, 101)},
        {"cut": "low", "selection": 5, "clusters": -1, "matrix": "nope"},
    ],
)
def test_a_look_that_does_not_fit_is_left_out(begun, look):
    explorer = begun(method="average")
    usual = picture(explorer)
    session = replace(explorer.store.session, look=act.read_only(look))
    assert explorer.store.restore(load_session(save_session(session)))
    assert picture(explorer) == usual


def test_a_leaf_order_that_is_none_is_refused():
    driver = Driver()
    for wrong in ([0, 0, 1, 2, 3, 4, 5, 6], [0, 1]):
        session = replace(driver.session, reference=np.array(wrong, np.int32))
        with pytest.raises(SessionFileError, match="leaf order"):
            load_session(save_session(session))
