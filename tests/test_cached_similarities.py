"""The cache of an oracle, pictures of cached similarities, and the size of calls."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import CountingOracle, FeatureOracle, FunctionOracle, Problem, StringOracle, Tree
from hcviz.core.batch_sizer import FIRST_BATCH, TARGET_SECONDS, BatchSizer
from hcviz.core.cached_similarities import CachedSimilarities
from hcviz.core.errors import InvalidData
from hcviz.datasets import Dataset
from hcviz.session import actions as act
from hcviz.session.model import DataSpec, Session
from hcviz.ui.parts.method_runs import default_methods
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
def test_cached_values_are_those_of_earlier_requests(requests, rows, cols):
    plain = Noted(symmetric(9))
    counted = CountingOracle(plain)
    for first, second in requests:
        counted.similarity(first, second)
    asked, calls, queries = {frozenset(p) for p in plain.pairs}, plain.asked, counted.queries
    block = counted.cached.similarity(rows, cols)
    assert block.shape == (len(rows), len(cols))
    for i, x in enumerate(rows):
        others = [plain.matrix[x, y] for y in cols if frozenset((x, y)) in asked]
        for j, y in enumerate(cols):
            known = frozenset((x, y)) in asked
            expected = max(others, default=np.nan) if x == y else plain.matrix[x, y]
            assert (
                block[i, j] == expected if known or (x == y and others) else np.isnan(block[i, j])
            )
    assert counted.n_cached == counted.cached.n_cached == len(asked)
    assert sorted(counted.cached.sample(10**6)) == sorted(plain.matrix[tuple(p)] for p in asked)
    assert (plain.asked, counted.queries) == (calls, queries)


def test_a_sample_of_the_cache_has_at_most_the_given_size():
    counted = CountingOracle(FunctionOracle(lambda i, j: float(i + j), n_items=60))
    assert counted.cached.sample(10).size == 0
    counted.similarity(range(60), range(60))
    some = counted.cached.sample(100)
    assert 60 <= some.size <= 100
    assert set(some) <= {float(x) for x in range(1, 118)}
    with pytest.raises(InvalidData, match="outside"):
        counted.cached.similarity([60], [0])


def test_without_a_cache_all_values_are_unknown():
    counted = CountingOracle(FeatureOracle(np.eye(4)))
    counted.similarity([0, 1], [2])
    assert np.isnan(counted.cached.similarity([0, 1], [2])).all()
    assert counted.cached.n_cached == 0


def test_a_pickled_state_does_not_change_with_later_requests():
    counted = CountingOracle(FunctionOracle(symmetric(9).item, n_items=9))
    counted.similarity(range(4), range(4))
    state = counted.__getstate__()
    counted.similarity(range(9), range(9))
    assert np.count_nonzero(state["_keys"] >= 0) == state["_n_cached"] == 6


# ---------------------------------------------------------------------- how long calls take


def paced(own, each, first=FIRST_BATCH, calls=40):
    """Batch sizes for an oracle whose call takes ``own + each * pairs`` seconds."""
    sizer, sizes = BatchSizer(), []
    for _ in range(calls):
        size = min(sizer.batch_size, 500_000)
        sizes.append(size)
        sizer.record(size, own + each * size)
    return sizes


def test_batch_sizes_approach_the_target_time():
    for each in (1e-6, 1e-4, 1e-2):
        sizes = paced(0.0, each)
        assert sizes[0] == FIRST_BATCH
        near = [size * each for size in sizes[5:]]
        assert TARGET_SECONDS / 2 < np.median(near) < 1.5 * TARGET_SECONDS
        assert max(near) < 3 * TARGET_SECONDS  # now and then a larger one, to learn what that takes
    assert set(paced(0.0, 1.0)[5:]) <= {1, 2}  # seconds for a pair: one at a time


def test_batches_are_large_if_the_fixed_cost_is_high():
    assert min(paced(0.5, 0.0)[5:]) == 500_000  # whatever is asked takes half a second
    for own, each in ((0.2, 1e-3), (0.05, 1e-5)):
        sizes = paced(own, each)[5:]
        assert (
            np.median(sizes) * each > min(TARGET_SECONDS - own, 2 * own) > 0 or own > TARGET_SECONDS
        )
        assert np.median(sizes) * each >= 3 * own or own < TARGET_SECONDS


def test_the_innermost_oracle_determines_the_batch_size():
    cheap = CountingOracle(FeatureOracle(np.eye(4)))
    assert cheap.batch_size is None
    assert not cheap.is_expensive
    inner = CountingOracle(FunctionOracle(lambda i, j: 0.0, n_items=30))
    outer = CountingOracle(inner)
    assert outer.is_expensive
    assert outer.batch_size == inner.batch_size == FIRST_BATCH
    outer.similarity(range(20), range(20))
    assert outer.batch_size == inner.batch_size != FIRST_BATCH


# ---------------------------------------------------------------------- on the page


class Called:
    """A similarity function that counts its calls: 1 within halves, 0 across, and noise."""

    def __init__(self, n):
        self.n, self.calls = n, 0
        self.noise = symmetric(n)

    def __call__(self, i, j):
        self.calls += 1
        return float((i < self.n // 2) == (j < self.n // 2)) + 0.1 * self.noise[i, j]


@pytest.fixture
def opened(loop):
    """``opened(oracle)``: a store of the page with this oracle, after its first run."""
    made, kept = [], []

    def open_(oracle, wait=True):
        name = f"known {len(made)}"
        sources.GIVEN[name] = data = Dataset.from_problem(Problem(oracle=oracle), name)
        kept.append(data)
        store = Store(Session(method="active-spectral", constraint_mode="hard"), loop.schedule)
        made.append(store)
        assert store.open_data(DataSpec(kind="given", name=name))
        loop.until(lambda: not wait or store.session.status == "settled")
        return store

    yield open_
    for store in made:
        store.close()


def picture_source(store):
    return sources.similarity_to_show(store.problem, store.session.snapshot)[1]


def test_a_heatmap_of_a_function_only_reads_the_cache_that_runs_share(opened, loop):
    function = Called(60)
    store = opened(FunctionOracle(function, n_items=60))
    queries = store.session.snapshot.metrics["queries"]
    assert 0 < queries < 60 * 59 / 2
    assert function.calls == queries + FunctionOracle.SYMMETRY_CHECKS
    picture = picture_source(store)
    assert isinstance(picture, CachedSimilarities)
    assert np.isfinite(np.triu(picture.similarity(range(60), range(60)), 1)).sum() == (
        queries + 60 * 61 / 2
    )
    store.dispatch(act.Rerun())
    loop.until(lambda: store.session.status == "settled")
    again = store.session.snapshot.metrics["queries"]
    known = np.triu(np.isfinite(picture.similarity(range(60), range(60))), 1).sum()
    assert function.calls == known + FunctionOracle.SYMMETRY_CHECKS < queries + again
    store.dispatch(act.SetParams({"s": 60}))  # all of them: what is lacking is asked for
    loop.until(lambda: store.session.status == "settled")
    assert store.session.snapshot.metrics["queries"] == 60 * 59 / 2
    assert function.calls == 60 * 59 / 2 + FunctionOracle.SYMMETRY_CHECKS
    assert picture_source(store) is picture


def test_a_stopped_run_makes_no_more_calls_and_the_next_run_uses_its_cache(opened, loop):
    """The run is stopped while the 101st call of the function waits; then the function continues.

    The calls after that are the rest of one request. A request takes a tenth of a second: some
    dozens of calls at the speed of the first 100, and not all of the 4,000 that are missing.
    """
    function, going = Called(120), threading.Event()

    def slow(i, j):
        if function.calls == 100:
            assert going.wait(120)
        if not going.is_set():
            time.sleep(0.002)  # the speed from which the size of a request is computed
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
    known = picture_source(store).n_cached
    assert known == function.calls - FunctionOracle.SYMMETRY_CHECKS
    assert known > 2000


def test_heatmaps_do_not_change_the_count_of_a_users_oracle(opened):
    for inner in (FunctionOracle(Called(50), n_items=50), FeatureOracle(symmetric(50))):
        mine = CountingOracle(inner)
        store = opened(mine)
        asked = mine.queries
        assert asked == store.session.snapshot.metrics["queries"]
        picture_source(store).similarity(range(50), range(50))
        assert mine.queries == asked


def test_heatmaps_of_texts_and_features_ask_the_oracle(opened):
    texts = StringOracle(["ACGT" * 3, "ACGA" * 3, "TTTT", "TTTA"] * 8)
    for oracle in (texts, FeatureOracle(symmetric(32))):
        assert picture_source(opened(oracle)) is oracle
    both = type(
        "Both", (FunctionOracle,), {"compare": lambda self, a, b: np.zeros(len(a), np.int8)}
    )
    oracle = both(Called(30), n_items=30)
    assert picture_source(opened(oracle)) is oracle  # it is asked to compare, too


def test_agreement_uses_methods_with_few_queries(opened):
    """Other usual methods have the similarities already, or ask for all of them."""
    few = ("active-spectral", "active-kmeans", "heurspec")
    function = Called(40)
    assert default_methods(opened(FunctionOracle(function, n_items=40)).problem) == few
    assert default_methods(Problem(oracle=FunctionOracle(function, n_items=40))) == few
    long = StringOracle(["ACGT" * 40_000, "TTTT" * 40_000])
    assert default_methods(Problem(oracle=long)) == few
    for problem in (
        Problem(oracle=FeatureOracle(symmetric(40))),
        Problem(oracle=StringOracle(["ACGT", "TTTT"])),
        Problem(oracle=FunctionOracle(function, n_items=40), similarity=symmetric(40)),
    ):
        assert "spectral" in default_methods(problem)
        assert not set(few) & set(default_methods(problem))


def test_unknown_cells_are_empty_and_the_colour_scale_follows_the_known_ones():
    n = 40
    counted = CountingOracle(FunctionOracle(Called(n), n_items=n))
    centre = Centre(on_pick=lambda pick: None)
    centre.set_items(Items([str(k) for k in range(n)], similarity=counted.cached))
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
    centre.set_similarity(counted.cached)
    assert "not known here" in describe_cell(layout, items, centre.source.cells, "a", 3.0, 9)[1]
    assert counted.queries == 0
