"""Methods beside each other, and SPUR's curve: what the page shows, as data."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from hcviz import Snapshot, Tree, run
from hcviz.algorithms import algorithms, get
from hcviz.core.snapshot import Series
from hcviz.metrics import cut
from hcviz.session import actions as act
from hcviz.session.choice import Choice
from hcviz.session.model import DataSpec, Session
from hcviz.ui.features.agreement import model as agreement_model
from hcviz.ui.features.agreement import sheet as agreement_sheet
from hcviz.ui.features.agreement.model import AgreementRuns
from hcviz.ui.features.cluster_count import section as cluster_count_section
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.parts import method_runs
from hcviz.ui.state.store import Store
from tests.stores import over_zoo


def slow_ari(a, b):
    """By pairs of items: (agreement - expected) / (most - expected)."""
    pairs = [(i, j) for i in range(len(a)) for j in range(i)]
    one = [a[i] == a[j] for i, j in pairs]
    two = [b[i] == b[j] for i, j in pairs]
    both = sum(x and y for x, y in zip(one, two, strict=True))
    expected = sum(one) * sum(two) / len(pairs)
    most = (sum(one) + sum(two)) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def test_the_matrix_is_the_index_of_each_two_over_what_both_label():
    rng = np.random.default_rng(0)
    parts = [rng.integers(0, 3, 12).astype(np.int32) for _ in range(3)]
    parts[2][[0, 5]] = -1
    found = agreement_sheet.agreement_matrix(parts)
    for a in range(3):
        for b in range(3):
            known = (parts[a] >= 0) & (parts[b] >= 0)
            wanted = 1.0 if a == b else slow_ari(parts[a][known], parts[b][known])
            assert found[a, b] == pytest.approx(wanted, abs=1e-12)
    nothing = np.full(12, -1, np.int32)
    assert np.isnan(agreement_sheet.agreement_matrix([parts[0], nothing])[0, 1])


def test_words_name_the_nearest_and_the_farthest():
    values = np.array(
        [[1, 0.9, 0.2, 0.6], [0.9, 1, 0.1, 0.7], [0.2, 0.1, 1, 0.3], [0.6, 0.7, 0.3, 1]]
    )
    assert agreement_sheet.agreement_sentence(["A", "B", "C", agreement_sheet.CLASSES], values) == (
        "Most alike: “A” and “B” (0.90). Least: “B” and “C” (0.10). "
        "Nearest to the known classes: “B” (0.70)."
    )
    assert (
        agreement_sheet.agreement_sentence(["A", "B"], values[:2, :2])
        == "Most alike: “A” and “B” (0.90)."
    )
    assert agreement_sheet.agreement_sentence(["A", agreement_sheet.CLASSES], values[:2, :2]) == ""


@pytest.fixture
def zoo(loop):
    with over_zoo(loop, "average") as made:
        made.change_view(agree_with=("average", "ward", "complete"))
        yield made


def test_the_chosen_methods_run_once_in_the_background(zoo, loop):
    driver = AgreementRuns(zoo, loop.schedule)
    zoo.change_view(agree_with=("average", "ward", "complete"))
    sheet = agreement_sheet.state(zoo)
    json.dumps(sheet)
    assert sheet["left"] == 2  # the session's own is there
    assert sheet["k"] == 7  # as there are classes
    run, tree = zoo.session.run, zoo.session.tree
    agreement_sheet.SHEET.acts(Gestures(zoo), "run", {})
    loop.until(lambda: not zoo.view.agree_wanted)
    sheet = agreement_sheet.state(zoo)
    json.dumps(sheet)
    assert [row["name"] for row in sheet["rows"]] == ["average", "ward", "complete", ""]
    assert sheet["failed"] == []
    assert zoo.session.run == run
    assert zoo.session.tree is tree
    assert [row["how"] for row in sheet["rows"]] == ["its tree, cut into 7"] * 3 + [""]
    trees = {name: made.tree for name, made in zoo.view.agreed}
    a, b = (cut(trees[name], 7) for name in ("average", "ward"))
    assert sheet["values"][0][1] == pytest.approx(slow_ari(a, b), abs=5e-5)
    classes = np.unique(zoo.dataset.classes, return_inverse=True)[1]
    assert sheet["values"][0][3] == pytest.approx(slow_ari(a, classes), abs=5e-5)
    # Another number of clusters runs nothing; another seed is another question.
    agreement_sheet.SHEET.acts(Gestures(zoo), "clusters", {"value": "3"})
    assert agreement_sheet.state(zoo)["counts"][:3] == [3, 3, 3]
    assert agreement_sheet.state(zoo)["left"] == 0
    agreement_sheet.SHEET.acts(Gestures(zoo), "method", {"value": "ward"})
    loop.until(lambda: zoo.session.status == "settled")
    assert zoo.session.method == "ward"
    assert agreement_sheet.state(zoo)["left"] == 0
    zoo.dispatch(act.SetSeed(5))
    assert agreement_sheet.state(zoo)["left"] == 3
    driver.close()


def test_it_waits_for_the_own_run_and_can_be_stopped(zoo, loop):
    driver = AgreementRuns(zoo, loop.schedule)
    zoo.dispatch(act.Rerun())
    zoo.change_view(agree_with=("average", "ddt"), agree_wanted=True)
    assert zoo.view.agreeing == ""
    assert agreement_sheet.state(zoo)["waiting"]
    loop.until(lambda: zoo.view.agreeing == "ddt")
    agreement_sheet.SHEET.acts(Gestures(zoo), "cancel", {})
    assert zoo.view.agreeing == ""
    assert not driver.busy
    assert [name for name, _ in zoo.view.agreed] == ["average"]


def test_impossible_or_slow_targets_are_reported(zoo, loop, monkeypatch):
    driver = AgreementRuns(zoo, loop.schedule)
    monkeypatch.setattr(method_runs, "TIMEOUT", 0.3)
    zoo.dispatch(act.AddConstraint((0, 1), 2))
    loop.until(lambda: zoo.session.status == "settled")
    zoo.dispatch(act.SetMethod("ddt"), act.SetParams({"steps": 10**8}))
    zoo.dispatch(act.SetMethod("average"))
    loop.until(lambda: zoo.session.status == "settled")
    zoo.change_view(agree_with=("average", "ddt"), agree_wanted=True)
    loop.until(lambda: not zoo.view.agree_wanted)
    assert dict(zoo.view.agreed)["ddt"].sentence == "Stopped after 0 seconds."
    driver.close()


def test_other_items_end_it(zoo, loop):
    driver = AgreementRuns(zoo, loop.schedule)
    zoo.change_view(agree_with=("average", "ddt"), agree_wanted=True)
    assert zoo.open_data(DataSpec(name="iris"))
    assert not zoo.view.agree_wanted
    assert zoo.view.agree_with is None
    assert not driver.busy
    loop.until(lambda: zoo.session.status == "settled")
    assert {name for name, _ in zoo.view.agreed} <= {"average"}


@pytest.mark.parametrize("value", ["0", "102", "two", ""])
def test_a_number_of_clusters_that_is_none_is_a_sentence(zoo, value):
    agreement_sheet.SHEET.acts(Gestures(zoo), "clusters", {"value": value})
    assert "whole number from 1 to 101" in zoo.view.error[0]
    assert zoo.view.agree_k == 0


def test_methods_are_picked_one_by_one(zoo):
    do = agreement_sheet.SHEET.acts
    do(Gestures(zoo), "with", {"value": "ward"})
    do(Gestures(zoo), "with", {"value": "crsc"})
    do(Gestures(zoo), "with", {"value": "4-al"})  # cannot run on these
    assert agreement_model.chosen_methods(zoo) == ("average", "complete", "crsc")
    zoo.change_view(agree_with=None)
    assert set(agreement_model.chosen_methods(zoo)) <= set(
        method_runs.runnable_methods(zoo.problem)
    )
    assert len(agreement_model.chosen_methods(zoo)) >= 4


# ---------------------------------------------------------------------- partitions of their own


@pytest.fixture
def flowers(loop):
    """The session's own run is SPUR's, which finds another k than the classes' six."""
    with over_zoo(loop, "adds-sdp", "flowers", seed=2) as made:
        driver = AgreementRuns(made, loop.schedule)
        made.change_view(agree_with=("adds-sdp", "4-al"))
        yield made
        driver.close()


def _compared(store, loop):
    """The sheet after all have run."""
    store.change_view(agree_wanted=True)
    loop.until(lambda: not store.view.agree_wanted)
    return agreement_sheet.state(store)


def test_a_method_that_parts_the_items_is_held_by_its_own_partition_at_that_k(flowers, loop):
    flowers.change_view(agree_k=5)
    own = flowers.session.snapshot
    assert own.metrics["k"] != 5  # so SPUR's run is no answer to this
    assert agreement_sheet.state(flowers)["left"] == 2
    sheet = _compared(flowers, loop)
    problem = flowers.problem.with_triplets(flowers.session.triplets)
    wanted = list(run("adds-sdp", problem, seed=2, k=5))[-1]
    found = dict(flowers.view.agreed)
    assert found["adds-sdp"].labels.tolist() == wanted.labels.tolist()
    assert found["4-al"].labels is None
    # The test would hold nothing where the cut of SPUR's tree were the same partition.
    assert slow_ari(cut(own.tree, 5), wanted.labels) < 1
    other = cut(found["4-al"].tree, 5)
    assert sheet["values"][0][1] == pytest.approx(slow_ari(wanted.labels, other), abs=5e-5)
    assert [row["how"] for row in sheet["rows"][:2]] == [
        "its own 5 clusters", "its tree, cut into 5",
    ]  # fmt: skip
    assert flowers.session.snapshot is own
    # Another number: who had seen all sees all again, run once more where a cut will not do.
    agreement_sheet.SHEET.acts(Gestures(flowers), "clusters", {"value": "4"})
    loop.until(lambda: not flowers.view.agree_wanted)
    sheet = agreement_sheet.state(flowers)
    assert [row["how"] for row in sheet["rows"][:2]] == [
        "its own 4 clusters", "its tree, cut into 4",
    ]  # fmt: skip
    assert dict(flowers.view.agreed)["4-al"] is found["4-al"]


def test_a_run_of_as_many_clusters_counts_itself(flowers, loop):
    own = flowers.session.snapshot
    flowers.change_view(agree_k=int(own.metrics["k"]))
    assert agreement_sheet.state(flowers)["left"] == 1
    assert dict(flowers.view.agreed)["adds-sdp"].labels is own.labels


def test_partitions_of_their_own_are_made_under_the_constraints(flowers, loop):
    free = flowers.session.snapshot.labels
    # Two of one cluster and one of another, with the answer reversed.
    a, b = np.flatnonzero(free == 0)[:2]
    c = np.flatnonzero(free == 1)[0]
    flowers.dispatch(act.AddConstraint((int(a), int(c)), int(b)))
    loop.until(lambda: flowers.session.status == "settled")
    flowers.change_view(agree_k=5)
    _compared(flowers, loop)
    problem = flowers.problem.with_triplets(flowers.session.triplets)
    assert len(problem.triplets) == 1
    wanted = list(run("adds-sdp", problem, seed=2, k=5))[-1]
    assert dict(flowers.view.agreed)["adds-sdp"].labels.tolist() == wanted.labels.tolist()


def test_the_compared_k_replaces_lambda(flowers, loop):
    flowers.dispatch(act.SetParams({"lam": 1e6}))  # so large that there is one cluster
    loop.until(lambda: flowers.session.status == "settled")
    flowers.change_view(agree_k=3)
    _compared(flowers, loop)
    result = dict(flowers.view.agreed)["adds-sdp"]
    assert result.sentence == ""
    assert len(set(result.labels)) == 3


def test_every_partition_with_free_k_is_declared():
    """A method's ``at_k`` gives parameters that it takes; without one it has no labels."""
    for name in algorithms():
        method = get(name)
        if method.at_k is not None:
            assert method.parameters(**method.at_k({}, 3))
    assert get("adds-sdp").at_k({"lam": 2.0, "similarity": "mulk-4"}, 3) == {
        "k": 3, "lam": None, "similarity": "mulk-4",
    }  # fmt: skip


# ---------------------------------------------------------------------- SPUR's curve


@pytest.fixture
def spurred():
    made = Store(Session(method="adds-sdp"), lambda call: call())
    series = Series(np.array([2.0, 3, 4]), np.array([0.7, 0.9, 0.8]))
    shown = Snapshot(Tree.star(4), 1, 1, {"k": 3.0}, views={"theta by k": series})
    made.session = replace(made.session, labels=("a", "b", "c", "d"), snapshot=shown)
    yield made
    made.close()


def test_the_curve_has_its_best_and_the_shown_k(spurred):
    found = cluster_count_section.state(spurred)
    json.dumps(found)
    assert found["points"] == [[2, 0.7], [3, 0.9], [4, 0.8]]
    assert (found["best"], found["shown"], found["own"]) == (3, 3, False)
    assert found["sentence"] == "From 2 to 4 clusters, 3 are the clearest."


def test_a_click_takes_another_k_and_the_curve_stays(spurred):
    started = []
    spurred.start_job = started.append
    gestures = Gestures(spurred)
    cluster_count_section.SECTION.acts(gestures, "k", {"value": 9})  # is not on the curve
    assert started == []
    cluster_count_section.SECTION.acts(gestures, "k", {"value": 4})
    assert dict(started[-1].params) == {"k": 4}
    fixed = Snapshot(Tree.star(4), 1, 1, {"k": 4.0})
    spurred.dispatch(act.Arrived(spurred.session.run, fixed), act.Finished(spurred.session.run))
    found = cluster_count_section.state(spurred)
    assert (found["best"], found["shown"], found["own"]) == (3, 4, True)
    assert found["sentence"].endswith("You chose 4.")
    cluster_count_section.SECTION.acts(gestures, "estimate", {})
    assert dict(started[-1].params) == {"k": 0}


def test_a_curve_of_other_answers_or_another_method_is_not_shown(spurred):
    gestures = Gestures(spurred)
    spurred.start_job = lambda effect: None
    cluster_count_section.SECTION.acts(gestures, "k", {"value": 4})
    bare = Snapshot(Tree.star(4), 1, 1, {"k": 4.0})
    spurred.dispatch(act.Arrived(spurred.session.run, bare), act.Finished(spurred.session.run))
    assert cluster_count_section.state(spurred) is not None
    before = spurred.session
    spurred.session = replace(before, choices=(Choice("odd", (0, 1, 2)),))
    assert cluster_count_section.state(spurred) is None
    spurred.session = replace(before, method="4-al")
    assert cluster_count_section.state(spurred) is None
