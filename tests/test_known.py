"""Answers that are kept: what pictures are of where to ask is dear; and how long calls take."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import CountingOracle, FeatureOracle, FunctionOracle, Problem, StringOracle, Tree
from hcviz.core.errors import InvalidData
from hcviz.core.known import Known
from hcviz.core.pace import FIRST, GOAL, Pace
from hcviz.datasets import Dataset
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.features.agreement.model import usual
from hcviz.ui.state import data_sources as sources
from hcviz.ui.state.store import Store
from hcviz.ui.tree import Centre, Items
from hcviz.ui.tree.geometry import MISSING
from hcviz.ui.tree.tooltip_text import describe_cell
from tests.test_oracle import Noted, symmetric

# ---------------------------------------------------------------------- what is kept


@given(
    st.lists(st.tuples(*[st.lists(st.integers(0, 8), max_size=5)] * 2), max_size=4),
    *[st.lists(st.integers(0, 8), max_size=9)] * 2,
)
def test_what_is_known_is_what_was_asked_for(requests, rows, cols):
    plain = Noted(symmetric(9))
    counted = CountingOracle(plain)
    for first, second in requests:
        counted.similarity(first, second)
    asked, calls, queries = {frozenset(p) for p in plain.pairs}, plain.asked, counted.queries
    block = counted.known.similarity(rows, cols)
    assert block.shape == (len(rows), len(cols))
    for i, x in enumerate(rows):
        others = [plain.matrix[x, y] for y in cols if frozenset((x, y)) in asked]
        for j, y in enumerate(cols):
            known = frozenset((x, y)) in asked
            expected = max(others, default=np.nan) if x == y else plain.matrix[x, y]
            assert (
                block[i, j] == expected if known or (x == y and others) else np.isnan(block[i, j])
            )
    assert counted.held == counted.known.held == len(asked)
    assert sorted(counted.known.some(10**6)) == sorted(plain.matrix[tuple(p)] for p in asked)
    assert (plain.asked, counted.queries) == (calls, queries)


def test_some_of_what_is_known_are_no_more_than_that():
    counted = CountingOracle(FunctionOracle(lambda i, j: float(i + j), n_items=60))
    assert counted.known.some(10).size == 0
    counted.similarity(range(60), range(60))
    some = counted.known.some(100)
    assert 60 <= some.size <= 100
    assert set(some) <= {float(x) for x in range(1, 118)}
    with pytest.raises(InvalidData, match="outside"):
        counted.known.similarity([60], [0])


def test_what_only_counts_knows_nothing():
    counted = CountingOracle(FeatureOracle(np.eye(4)))
    counted.similarity([0, 1], [2])
    assert np.isnan(counted.known.similarity([0, 1], [2])).all()
    assert counted.known.held == 0


def test_what_is_sent_elsewhere_is_of_one_moment_though_a_run_goes_on_asking():
    counted = CountingOracle(FunctionOracle(symmetric(9).item, n_items=9))
    counted.similarity(range(4), range(4))
    state = counted.__getstate__()
    counted.similarity(range(9), range(9))
    assert np.count_nonzero(state["_keys"] >= 0) == state["_held"] == 6


# ---------------------------------------------------------------------- how long calls take


def paced(own, each, first=FIRST, calls=40):
    """What is asked at once in the end of an oracle whose call takes ``own + each * pairs``."""
    pace, sizes = Pace(), []
    for _ in range(calls):
        size = min(pace.at_once, 500_000)
        sizes.append(size)
        pace.note(size, own + each * size)
    return sizes


def test_calls_come_to_take_as_long_as_they_may():
    for each in (1e-6, 1e-4, 1e-2):
        sizes = paced(0.0, each)
        assert sizes[0] == FIRST
        near = [size * each for size in sizes[5:]]
        assert GOAL / 2 < np.median(near) < 1.5 * GOAL
        assert max(near) < 3 * GOAL  # now and then a larger one, to learn what that takes
    assert set(paced(0.0, 1.0)[5:]) <= {1, 2}  # seconds for a pair: one at a time


def test_calls_whose_own_time_rules_are_not_cut_small():
    assert min(paced(0.5, 0.0)[5:]) == 500_000  # whatever is asked takes half a second
    for own, each in ((0.2, 1e-3), (0.05, 1e-5)):
        sizes = paced(own, each)[5:]
        assert np.median(sizes) * each > min(GOAL - own, 2 * own) > 0 or own > GOAL
        assert np.median(sizes) * each >= 3 * own or own < GOAL


def test_what_is_asked_at_once_is_said_by_who_asks():
    cheap = CountingOracle(FeatureOracle(np.eye(4)))
    assert cheap.at_once is None
    assert not cheap.dear
    inner = CountingOracle(FunctionOracle(lambda i, j: 0.0, n_items=30))
    outer = CountingOracle(inner)
    assert outer.dear
    assert outer.at_once == inner.at_once == FIRST
    outer.similarity(range(20), range(20))
    assert outer.at_once == inner.at_once != FIRST


# ---------------------------------------------------------------------- on the page


class Called:
    """A similarity of one's own that counts its calls: 1 within halves, 0 across, and noise."""

    def __init__(self, n):
        self.n, self.calls = n, 0
        self.noise = symmetric(n)

    def __call__(self, i, j):
        self.calls += 1
        return float((i < self.n // 2) == (j < self.n // 2)) + 0.1 * self.noise[i, j]


@pytest.fixture
def opened(loop):
    """``opened(oracle)``: the page's store over it, its first run over."""
    made, kept = [], []

    def open_(oracle, wait=True):
        name = f"known {len(made)}"
        sources.GIVEN[name] = data = Dataset.from_problem(Problem(oracle=oracle), name)
        kept.append(data)
        store = Store(Session(method="active-spectral", treats="hard"), loop.schedule)
        made.append(store)
        assert store.open_data(DataSpec(kind="given", name=name))
        loop.until(lambda: not wait or store.session.status == "settled")
        return store

    yield open_
    for store in made:
        store.close()


def looked_at(store):
    return sources.similarity_to_show(store.problem, store.session.snapshot)[1]


def test_a_picture_of_a_function_asks_it_for_nothing_and_runs_share_its_answers(opened, loop):
    function = Called(60)
    store = opened(FunctionOracle(function, n_items=60))
    queries = store.session.snapshot.metrics["queries"]
    assert 0 < queries < 60 * 59 / 2
    assert function.calls == queries + FunctionOracle.TRIED
    picture = looked_at(store)
    assert isinstance(picture, Known)
    assert np.isfinite(np.triu(picture.similarity(range(60), range(60)), 1)).sum() == (
        queries + 60 * 61 / 2
    )
    store.dispatch(act.Rerun())
    loop.until(lambda: store.session.status == "settled")
    again = store.session.snapshot.metrics["queries"]
    known = np.triu(np.isfinite(picture.similarity(range(60), range(60))), 1).sum()
    assert function.calls == known + FunctionOracle.TRIED < queries + again
    store.dispatch(act.SetParams({"s": 60}))  # all of them: what is lacking is asked for
    loop.until(lambda: store.session.status == "settled")
    assert store.session.snapshot.metrics["queries"] == 60 * 59 / 2
    assert function.calls == 60 * 59 / 2 + FunctionOracle.TRIED
    assert looked_at(store) is picture


def test_who_stops_a_run_is_soon_asked_for_nothing_and_the_next_goes_on_from_there(opened, loop):
    """The function waits once it was called 100 times; a run is stopped, and it may go on. What it
    is asked after that is what is left of one request: a tenth of a second's, so by what it took
    before, some dozens of the 4,000 that are lacking. (It took hold of all of them before.)"""
    function, going = Called(120), threading.Event()

    def slow(i, j):
        if function.calls == 100:
            assert going.wait(120)
        time.sleep(0.002)
        return function(i, j)

    before = threading.enumerate()
    store = opened(FunctionOracle(slow, n_items=120), wait=False)
    loop.until(lambda: function.calls == 100)
    others = [each for each in threading.enumerate() if each not in before]
    (run,) = [each for each in others if each.name == "hcviz-run-0"]
    store.dispatch(act.Cancel())
    assert store.session.status == "cancelled"
    going.set()
    run.join(120)
    assert not run.is_alive()
    stopped = function.calls
    assert stopped < 600
    store.dispatch(act.Rerun())
    loop.until(lambda: store.session.status == "settled")
    known = looked_at(store).held
    assert known == function.calls - FunctionOracle.TRIED
    assert known > 2000


def test_who_counts_for_oneself_counts_no_picture(opened):
    for inner in (FunctionOracle(Called(50), n_items=50), FeatureOracle(symmetric(50))):
        mine = CountingOracle(inner)
        store = opened(mine)
        asked = mine.queries
        assert asked == store.session.snapshot.metrics["queries"]
        looked_at(store).similarity(range(50), range(50))
        assert mine.queries == asked


def test_texts_and_features_are_looked_at_themselves(opened):
    texts = StringOracle(["ACGT" * 3, "ACGA" * 3, "TTTT", "TTTA"] * 8)
    for oracle in (texts, FeatureOracle(symmetric(32))):
        assert looked_at(opened(oracle)) is oracle
    both = type(
        "Both", (FunctionOracle,), {"compare": lambda self, a, b: np.zeros(len(a), np.int8)}
    )
    oracle = both(Called(30), n_items=30)
    assert looked_at(opened(oracle)) is oracle  # it is asked to compare, too


def test_agreement_is_sought_with_methods_that_ask_for_few(opened):
    """The usual ones besides have the similarities at hand, or ask for all of them."""
    few = ("active-spectral", "active-kmeans", "heurspec")
    function = Called(40)
    assert usual(opened(FunctionOracle(function, n_items=40)).problem) == few
    assert usual(Problem(oracle=FunctionOracle(function, n_items=40))) == few
    long = StringOracle(["ACGT" * 40_000, "TTTT" * 40_000])
    assert usual(Problem(oracle=long)) == few
    for problem in (
        Problem(oracle=FeatureOracle(symmetric(40))),
        Problem(oracle=StringOracle(["ACGT", "TTTT"])),
        Problem(oracle=FunctionOracle(function, n_items=40), similarity=symmetric(40)),
    ):
        assert "spectral" in usual(problem)
        assert not set(few) & set(usual(problem))


def test_cells_are_empty_until_they_are_known_and_the_colours_follow():
    n = 40
    counted = CountingOracle(FunctionOracle(Called(n), n_items=n))
    centre = Centre(on_pick=lambda pick: None)
    centre.set_items(Items([str(k) for k in range(n)], similarity=counted.known))
    centre.set_tree(Tree.star(n))
    image = centre.figures.heat.whole.data["image"][0]
    assert (image == MISSING).all()
    rows = np.arange(8, dtype=np.int32)
    counted.similarity(rows, rows)
    centre.set_tree(Tree.star(n))
    image = centre.figures.heat.whole.data["image"][0]
    known = np.zeros((n, n), bool)
    known[:8, :8] = True
    assert np.array_equal(image != MISSING, known)
    low, high = centre.source.cells.low, centre.source.cells.high
    assert 0.9 < low < high < 1.2
    counted.similarity(np.arange(n), np.arange(n))
    centre.set_tree(Tree.star(n))
    assert (centre.figures.heat.whole.data["image"][0] != MISSING).all()
    assert centre.source.cells.low < 0.2
    layout, items = centre.state.layout, centre.state.items
    assert "known here" not in describe_cell(layout, items, centre.source.cells, "a", 3.0, 9)[1]
    counted = CountingOracle(FunctionOracle(Called(n), n_items=n))
    centre.set_similarity(counted.known)
    assert "not known here" in describe_cell(layout, items, centre.source.cells, "a", 3.0, 9)[1]
    assert counted.queries == 0
