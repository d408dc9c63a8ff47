"""What the page says of similarities asked for, as data: counts, agreement, s, the runs so far."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from hcviz.algorithms.active import ActiveCluster
from hcviz.algorithms.active.framework import QUERIED_VIEW
from hcviz.core import query_counts
from hcviz.core.snapshot import Mask
from hcviz.datasets import load, noisy_blocks
from hcviz.metrics import triplet_agreement_by_level, triplet_distance
from hcviz.session import actions as act
from hcviz.session.history import checkpoint
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.inspector import model as inspector_model
from hcviz.ui.features.lessons.lesson import Lesson
from hcviz.ui.features.similarity_queries import model as similarity_queries_model
from hcviz.ui.features.similarity_queries import section as similarity_queries_section
from tests.stores import over_zoo

PAIRS = 101 * 100 // 2


@pytest.fixture
def store(loop):
    with over_zoo(loop, "active-spectral") as made:
        made.drawn = made.session.snapshot
        yield made


def settled(store, loop):
    loop.until(lambda: store.session.status == "settled")
    store.drawn = store.session.snapshot


def computed_state(store, loop):
    """The state of the section when its background computations have finished."""
    while True:
        found, count = similarity_queries_section.SECTION.state(store), store.n_computed
        if store.compute_cache.idle:
            return found
        loop.until(lambda count=count: store.n_computed > count)


def slid(store, loop, s):
    similarity_queries_section.SECTION.acts(Gestures(store), "s", {"value": s})
    settled(store, loop)


# ---------------------------------------------------------------------- counts


def test_counts_on_the_way_are_those_of_the_mask(store):
    last = store.session.snapshot
    found = similarity_queries_model.query_count(last)
    assert found.last
    assert found.share == found.pairs / PAIRS
    on_the_way = replace(last, metrics={"repair": 3.0})
    counted = similarity_queries_model.query_count(on_the_way)
    assert (counted.pairs, counted.second, counted.last) == (found.pairs, 3, False)
    assert similarity_queries_model.query_count(replace(on_the_way, views={})) is None
    assert (
        similarity_queries_model.query_count(replace(last, metrics={})) is None
    )  # another method's tree
    assert similarity_queries_model.query_count(None) is None


def test_a_mask_of_other_items_is_none(store):
    last = store.session.snapshot
    far = Mask.of([(np.array([101], np.int32), np.array([0], np.int32))])
    assert similarity_queries_model.snapshot_mask(last) is not None
    assert similarity_queries_model.snapshot_mask(replace(last, views={QUERIED_VIEW: far})) is None


def test_the_section_lists_the_queries_of_the_run(store, loop):
    shown = computed_state(store, loop)
    facts = {name: value for name, value, _ in shown["facts"]}
    snapshot, target = store.session.snapshot, store.dataset.target
    pairs = query_counts.count_pairs(similarity_queries_model.snapshot_mask(snapshot), 101)
    assert facts["Pairs asked for"] == f"{pairs:,}"
    assert facts["Share of all pairs"] == f"{100 * pairs / PAIRS:.3g} %"
    agrees = 1 - triplet_distance(target, snapshot.tree)
    assert facts["Agreement with the known tree"] == f"{agrees:.4f}"
    shares = triplet_agreement_by_level(target, snapshot.tree)
    assert shown["levels"] == [[k + 1, x] for k, x in enumerate(shares) if x == x]
    named = [name for name, _ in inspector_model.live(store)["facts"]]
    assert not {"Queries", "Share", "Similarities asked for"} & set(named)  # listed once


def test_of_many_items_agreement_is_computed_in_the_background_at_the_end(store, loop, monkeypatch):
    usual = computed_state(store, loop)
    store.compute_cache.forget()
    monkeypatch.setattr(similarity_queries_section, "MAX_ITEMS_LIVE", 100)
    agrees = "Agreement with the known tree"

    def agreement():
        return {
            name: value
            for name, value, _ in similarity_queries_section.SECTION.state(store)["facts"]
        }[agrees]

    settled_one, store.session = store.session, replace(store.session, status="sampling")
    assert agreement() == "computed at the end"
    assert store.compute_cache.idle
    store.session = settled_one
    assert agreement() == "computed at the end"  # asked for now
    assert computed_state(store, loop) == usual
    monkeypatch.setattr(similarity_queries_section, "MAX_ITEMS", 100)
    assert agrees not in [
        name for name, *_ in similarity_queries_section.SECTION.state(store)["facts"]
    ]


def test_a_lesson_hides_what_is_known(store, loop):
    shown = similarity_queries_section.state(store)
    assert shown["known"]
    store.change_view(lesson=Lesson())
    hidden = computed_state(store, loop)
    assert not hidden["known"]
    assert hidden["trials"] == hidden["levels"] == []
    assert "Agreement with the known tree" not in [name for name, *_ in hidden["facts"]]


# ---------------------------------------------------------------------- s


@pytest.mark.parametrize(("most", "reason"), [(100, "for up to 100 items"), (101, "Run again")])
def test_the_reason_for_no_mask_mentions_if_a_run_gives_one(most, reason, store, monkeypatch):
    monkeypatch.setattr(similarity_queries_section, "MAX_MASK_ITEMS", most)
    bare = replace(store.session.snapshot, views={})
    assert store.session.snapshot.tree.n_leaves == 101
    monkeypatch.setattr(store, "session", replace(store.session, snapshot=bare))
    assert reason in similarity_queries_section.state(store)["noQueryMask"]


@pytest.mark.parametrize("n", [3, 5, 9, 12, 60, 101, 512, 10_000, 1_000_000])
@pytest.mark.parametrize("k", [2, 5, None])
def test_the_slider_goes_from_2_ln_n_to_all(n, k):
    values, usual = similarity_queries_section.slider_steps(ActiveCluster(k=k), n)
    if not values:
        assert max(2 * math.log(n), (k or 2) + 1, 3) > n - 1
        return
    assert values[0] == max(math.ceil(2 * math.log(n)), (k or 2) + 1)
    assert values[-1] == n
    assert len(values) <= similarity_queries_section.SLIDER_STEPS
    assert all(a < b for a, b in itertools.pairwise(values))
    assert usual >= n or usual in values
    for s in values[:1]:
        ActiveCluster(s=s, k=k).settings(n)  # no refusal


def test_a_smaller_s_asks_for_fewer_and_the_usual_one_is_no_parameter(store, loop):
    before = similarity_queries_model.query_count(store.session.snapshot).pairs
    slider = similarity_queries_section.state(store)["slider"]
    assert slider["steps"][slider["place"]] == math.ceil(8 * math.log(101))
    assert slider["default"] == [slider["place"], "8 ln n"]
    slid(store, loop, 10)
    assert store.session.params["s"] == 10
    assert similarity_queries_model.query_count(store.session.snapshot).pairs < before
    slid(store, loop, math.ceil(8 * math.log(101)))
    assert store.session.params.get("s") is None
    assert similarity_queries_model.query_count(store.session.snapshot).last


def test_about_the_share_that_is_foreseen():
    """sigma = 0 halves to the end: what is foreseen differs by the luck of the samples alone. Over
    twenty seeds the share's standard deviation was 2.6, 0.6 and 0.3 % of it, so that of the mean
    of ten is below 1 %; 4 % is four of them."""
    data = noisy_blocks(512, 5, 0.0)
    for s in (13, 50, 120):
        made = ActiveCluster(s=s, repair=0.0)
        shares = []
        for seed in range(10):
            *_, last = (each for each in made.grow(data.oracle, seed) if each is not None)
            shares.append(last.metrics["share"])
        assert np.mean(shares) == pytest.approx(made.expected_share(512), rel=0.04)


def test_all_or_nothing_is_foreseen():
    assert ActiveCluster(s=60).expected_share(60) == 1.0
    assert ActiveCluster(s=60, below_s="stop").expected_share(60) == 0.0
    assert ActiveCluster().expected_share(1) == 0.0
    shares = [ActiveCluster(s=s).expected_share(2_000) for s in (10, 30, 100, 400, 2_000)]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


# ---------------------------------------------------------------------- the runs so far


def test_each_run_is_a_point_undone_ones_too(store, loop):
    slid(store, loop, 10)
    slid(store, loop, 20)
    points = computed_state(store, loop)["trials"]
    assert [point["s"] for point in points] == [10, 20, 37]
    assert [point["x"] for point in points] == sorted(point["x"] for point in points)
    assert [point["now"] for point in points] == [False, True, False]
    assert [bool(point["does"]) for point in points] == [True, False, True]
    for trial in similarity_queries_model.finished_runs(store.session):
        levels = triplet_agreement_by_level(store.dataset.target, trial.tree)
        at = [p for p in points if p["x"] == trial.count.share]
        assert at[0]["y"] == pytest.approx(np.nanmean(levels))
    store.dispatch(act.Undo())
    store.dispatch(act.Undo())
    points = computed_state(store, loop)["trials"]
    assert [point["now"] for point in points] == [False, False, True]
    assert (
        similarity_queries_model.snapshot_mask(store.session.snapshot) is not None
    )  # and the mask is back
    store.dispatch(act.SetMethod("active-kmeans"))
    settled(store, loop)
    points = computed_state(store, loop)["trials"]
    others = [point for point in points if point["sentence"].startswith("Active spectral, ")]
    assert [point["does"] for point in others] == [""] * (len(points) - 1)


def test_the_note_lists_what_undo_does_not_keep(store):
    assert similarity_queries_section.state(store)["noQueryMask"] == ""
    kept = checkpoint(store.session, "x").snapshot
    assert similarity_queries_model.snapshot_mask(kept) is not None  # of small trees it does
    store.session = replace(store.session, snapshot=replace(kept, views={}))
    assert "Run again" in similarity_queries_section.state(store)["noQueryMask"]
    store.session = replace(store.session, snapshot=None)
    assert (
        similarity_queries_section.state(store)["noQueryMask"] == "No similarity was asked for yet."
    )
    store.change_view(matrix="features")
    assert "Choose Similarity" in similarity_queries_section.state(store)["noQueryMask"]


def test_the_mask_is_switched(store):
    assert similarity_queries_model.heatmap_mask(store) is similarity_queries_model.snapshot_mask(
        store.session.snapshot
    )
    similarity_queries_section.SECTION.acts(Gestures(store), "query-mask", {})
    assert similarity_queries_model.heatmap_mask(store) is None
    similarity_queries_section.SECTION.acts(Gestures(store), "query-mask", {})
    assert similarity_queries_model.heatmap_mask(store) is not None


def test_the_section_is_of_methods_that_ask(store, loop):
    assert similarity_queries_section.SECTION.state(store) is not None
    store.dispatch(act.SetMethod("average"))
    settled(store, loop)
    assert similarity_queries_section.SECTION.state(store) is None
    before = store.session
    similarity_queries_section.SECTION.acts(Gestures(store), "s", {"value": 12})
    assert store.session is before


def test_drawn_data_are_the_same_each_time():
    assert np.array_equal(load("noisy-blocks").similarity, load("noisy-blocks").similarity)
    blocks = load("noisy-blocks")
    assert blocks.target.n_internal == 2**6 - 1
    assert load("phylogeny").target.n_internal == 399
