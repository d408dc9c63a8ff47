"""The centre with many items: what it holds for the browser, what it asks of an oracle."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.layout import leaf_order
from hcviz.core.similarity_oracles import FeatureOracle
from hcviz.core.tree import Tree
from hcviz.ui.tree import Centre, Items, geometry
from hcviz.ui.tree.heatmap_cells import LAZY, LAZY_EXPENSIVE, similarity_cells
from tests.test_scene import combs
from tests.trees import random_tree

#: Numbers and letters that a picture may take, with its image of 600 x 600 bytes: what n = 1,000
#: takes times two, whatever n is.
MOST = 900_000


def held(centre: Centre) -> int:
    """Bytes in all sources of all figures."""
    total = 0
    for model in centre.figures.grid.grid.references():
        for column in getattr(model, "data", {}).values() if hasattr(model, "data") else ():
            for value in [column] if isinstance(column, np.ndarray) else column:
                total += value.nbytes if isinstance(value, np.ndarray) else len(str(value))
    return total


def shown(tree: Tree, oracle=None, on_pick=lambda pick: None) -> Centre:
    centre = Centre(on_pick=on_pick)
    n = tree.n_leaves
    centre.set_items(
        Items([f"item {k}" for k in range(n)], classes=[str(k % 5) for k in range(n)],
              similarity=oracle)
    )  # fmt: skip
    centre.set_tree(tree)
    return centre


@pytest.mark.parametrize("n", [3_000, 60_000])
def test_what_the_browser_holds_is_bounded_for_any_tree(n):
    features = np.random.default_rng(0).standard_normal((n, 4))
    for tree in combs(n):
        centre = shown(tree, FeatureOracle(features))
        centre.set_selection(np.arange(0, n, 2))
        centre.set_marks(np.arange(n // 2), np.arange(n // 2, n))
        centre.set_cut(float(tree.height[-1]) / 2)
        assert held(centre) < MOST
        centre.show_rows(n / 2, n / 2 + 60)
        assert held(centre) < 2 * MOST


def test_a_lazy_similarity_is_drawn_from_a_bounded_sample():
    n = 5_000
    features = np.random.default_rng(1).standard_normal((n, 3))
    tree = random_tree(np.random.default_rng(2), n)
    layout = geometry.lay_out(tree, leaf_order(tree))
    whole = (1 + _cosine(features)) / 2
    oracle = CountingOracle(FeatureOracle(features))
    cells = similarity_cells(Items([str(k) for k in range(n)], similarity=oracle))
    oracle.reset()
    texels = cells.pooled(layout, 0, n)
    assert texels.shape == (LAZY // 2, LAZY // 2)
    assert oracle.queries <= LAZY**2 / 2
    edges = geometry.bins(layout.row_start, 0, n, LAZY // 2)
    plain = geometry.quantise(_pooled(whole, edges, layout.order, 2), cells.low, cells.high)
    assert np.abs(texels.astype(int) - plain).max() <= 1  # the oracle agrees to 1e-14: rounding
    # Few rows: each item as it is.
    near = cells.pooled(layout, 100, 140)
    rows = layout.order[100:140]
    exact = geometry.quantise(whole[np.ix_(rows, rows)], cells.low, cells.high)
    assert np.abs(near.astype(int) - exact).max() <= 1
    assert np.allclose(cells.block(rows[:2], rows[:3]), whole[np.ix_(rows[:2], rows[:3])])


def _cosine(features):
    centred = (features - features.mean(0)) / features.std(0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    return unit @ unit.T


def _pooled(whole, edges, order, most):
    """Means over up to ``most`` evenly spaced items of each bin, item by item."""
    bins = []
    for first, last in itertools.pairwise(edges):
        taken = min(last - first, most)
        bins.append([order[first + (2 * k + 1) * (last - first) // (2 * taken)]
                     for k in range(taken)])  # fmt: skip
    return np.array([[whole[np.ix_(a, b)].mean() for b in bins] for a in bins])


class ExpensiveOracle:
    """An oracle that is not cheap."""

    def __init__(self, n: int) -> None:
        self.n_items, self.asked = n, 0

    def similarity(self, rows, cols):
        self.asked = max(self.asked, len(rows) * len(cols))
        return 1.0 / (1.0 + np.abs(np.subtract.outer(rows, cols)))


def test_a_slow_picture_is_computed_in_the_background():
    n = 2_000
    tree, oracle, waiting = random_tree(np.random.default_rng(3), n), ExpensiveOracle(n), []
    centre = Centre(on_pick=lambda pick: None)
    centre.set_worker(lambda work, done: waiting.append((work, done)))
    centre.set_items(Items([str(k) for k in range(n)], similarity=oracle))
    centre.set_tree(tree)
    assert not centre.figures.heat.whole.data["image"]
    assert len(waiting) == 1
    centre.show_rows(500, 560)
    centre.show_rows(600, 660)  # the newest request counts
    while waiting:
        work, done = waiting.pop()
        done(work())
    assert centre.figures.heat.whole.data["image"][0].shape == (LAZY_EXPENSIVE, LAZY_EXPENSIVE)
    assert centre.figures.heat.sharp.data["y"][0] == -594
    assert oracle.asked <= LAZY_EXPENSIVE**2
    centre.show_rows(700, 760)
    work, done = waiting.pop()
    centre.set_items(Items(["a", "b"]))  # other items meanwhile
    done(work())
    assert not centre.figures.heat.sharp.data["image"]
    assert not waiting


def test_a_double_click_on_a_triangle_looks_nearer_and_one_on_an_open_clade_collapses_it():
    class Click:
        def __init__(self, x, y):
            self.modifiers = {}
            self.x, self.y, self.sx, self.sy = x, y, 0.0, 0.0

    n, picks = 20_000, []
    tree = random_tree(np.random.default_rng(5), n)
    centre = shown(tree, on_pick=picks.append)
    scene = centre.renderer.scene
    slot = int(scene.triangles[scene.count[scene.triangles].argmax()])
    click = Click(-1.0, -float(scene.top[slot] + scene.bottom[slot]) / 2)
    centre.pointer.tap("labels", click)
    assert set(picks[-1].leaves) == set(scene.leaves(slot).tolist())
    centre.pointer.double_tap("labels", click)
    top, bottom = centre.window.rows
    assert top <= scene.top[slot] <= scene.bottom[slot] <= bottom
    assert bottom - top < 4 * max(16, scene.count[slot])
    assert not centre.state.collapsed
    # Nearer by, its branches are seen.
    inside = centre.renderer.scene.slot_of(int(scene.node[slot])) if scene.node[slot] >= 0 else -1
    assert inside < 0 or centre.renderer.scene.is_open[inside]
    centre.reset_zoom()
    big = next(v for v in range(tree.root - 1, 0, -1) if n / 8 < tree.size[v] < n / 2)
    assert centre.toggle_collapse(tree.leaves(big))
    assert centre.state.layout.n_rows == n - tree.size[big] + n // geometry.WEDGE_SHARE
    assert len(centre.figures.dendrogram.wedges.data["x"]) == 3


def test_marked_items_within_a_triangle_are_named_and_clades_by_their_counts():
    n = 5_000
    tree = random_tree(np.random.default_rng(6), n)
    centre = shown(tree)
    texts = centre.figures.labels.text.data["text"]
    assert texts
    assert all(text.split(":")[0].replace(",", "").isdigit() for text in texts)
    centre.set_selection([17])
    centre.set_marks([42], [4_321])
    written = centre.figures.labels.text.data
    styles = dict(zip(written["text"], written["style"], strict=True))
    assert [styles[f"item {k}"] for k in (17, 42, 4_321)] == ["bold"] * 3
    assert len(centre.figures.labels.marks.data["x"]) == 2


def test_a_picture_that_came_too_late_is_not_shown():
    """The window of an expensive similarity is computed on a thread, while the person zooms out."""
    n = 2_000
    oracle = FeatureOracle(np.random.default_rng(3).standard_normal((n, 3)))
    expensive = CountingOracle(oracle, cache=0)
    expensive.cheap = False
    centre = shown(random_tree(np.random.default_rng(4), n), expensive)
    heat, waiting = centre.figures.heat, []
    heat.worker = lambda work, done: waiting.append((work, done))
    centre.show_rows(100, 160)
    centre.show_rows(0, n)
    while waiting:
        work, done = waiting.pop(0)
        done(work())
    assert len(heat.sharp.data["x"]) == 0
    centre.show_rows(100, 160)
    centre.set_tree(None)
    while waiting:
        work, done = waiting.pop(0)
        done(work())
    assert len(heat.sharp.data["x"]) == len(heat.whole.data["x"]) == 0


def test_the_scale_of_an_expensive_similarity_is_computed_once_in_the_background():
    oracle, other, waiting = ExpensiveOracle(40), ExpensiveOracle(40), []
    items = Items([str(k) for k in range(40)], similarity=oracle)
    centre = Centre(on_pick=lambda pick: None)
    centre.set_worker(lambda work, done: waiting.append((work, done)))
    centre.set_items(items)
    centre.set_matrix("none")
    centre.set_matrix("similarity")
    assert len(waiting) == 1
    assert oracle.asked == 0
    centre.set_similarity(other)  # another one, before the first has answered
    assert len(waiting) == 2
    late, now = (lambda pair=pair: pair[1](pair[0]()) for pair in waiting)
    now()
    late()
    centre.set_matrix("none")
    centre.set_matrix("similarity")
    assert len(waiting) == 2
    cells, plain = centre.source.cells, similarity_cells(replace(items, similarity=other))
    assert cells.raw is other
    assert cells.scaled
    assert (cells.low, cells.high) == (plain.low, plain.high)
    # One that fails is drawn on some scale; the background computation reports the fault.
    centre.set_similarity(oracle)
    waiting[-1][1](None)
    assert centre.source.cells.scaled
    assert (centre.source.cells.low, centre.source.cells.high) == (0.0, 1.0)
