"""The mask over the heatmap: what was asked for as texels, against pairs counted one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz.core import query_counts
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import InvalidData
from hcviz.core.snapshot import Mask
from hcviz.datasets import noisy_blocks
from hcviz.ui.parts.palette import THEMES
from hcviz.ui.tree import Centre, Items, geometry
from hcviz.ui.tree.mask_levels import MAX_SAMPLED, known_shares, mask_levels
from hcviz.ui.tree.query_mask import mask_colours, queried_text
from tests.test_oracle import requests, symmetric
from tests.trees import random_tree

N = 11


def mask_of(log):
    return Mask.of([(np.array(r, np.int32), np.array(c, np.int32)) for r, c in log])


def pairs_of(log):
    return {frozenset((x, y)) for rows, cols in log for x in rows for y in cols if x != y}


def share_between(some, others, pairs):
    """The definition: of all (x, y), those asked for or of an item with itself."""
    known = [x == y or frozenset((x, y)) in pairs for x in some for y in others]
    return sum(known) / len(known)


@settings(max_examples=150, deadline=None)
@given(
    log=requests(N),
    seed=st.integers(0, 99),
    limit=st.integers(1, N + 2),
    window=st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)),
    folded=st.booleans(),
)
def test_texels_are_those_of_the_definition(log, seed, limit, window, folded):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, N, polytomies=True)
    inner = [v for v in range(N, tree.n_nodes - 1) if tree.size[v] > 3]
    layout = geometry.lay_out(tree, tree.leaf_order, inner[:1] if folded else ())
    first = min(window[0], layout.n_rows - 1)
    last = max(first + 1, min(window[1], layout.n_rows))
    edges = geometry.bins(layout.row_start, first, last, limit)
    found = known_shares(mask_of(log), layout, edges)
    bins = [layout.order[a:b].tolist() for a, b in itertools.pairwise(edges)]
    assert max(map(len, bins)) <= MAX_SAMPLED or found.shape == (len(bins), len(bins))
    pairs = pairs_of(log)
    for a, b in itertools.product(range(len(bins)), repeat=2):
        if max(len(bins[a]), len(bins[b])) <= MAX_SAMPLED:
            assert found[a, b] == pytest.approx(share_between(bins[a], bins[b], pairs), abs=1e-12)
        assert 0 <= found[a, b] <= 1


@settings(max_examples=100, deadline=None)
@given(log=requests(N), groups=st.lists(st.integers(-1, 3), min_size=N, max_size=N))
def test_groups_of_some_items_are_counted_alone(log, groups):
    place, pairs = np.array(groups, np.int32), pairs_of(log)
    found = query_counts.pairs_between_groups(mask_of(log), place, 4)
    for a, b in itertools.combinations_with_replacement(range(4), 2):
        between = {frozenset(p) for p in itertools.permutations(range(N), 2)
                   if sorted((groups[p[0]], groups[p[1]])) == [a, b]}  # fmt: skip
        assert found[a, b] == len(between & pairs)
    assert query_counts.count_pairs(mask_of(log), N) == len(pairs)


def test_the_sampled_rows_represent_the_rest():
    """Of 2,000 items in 20 bins; half of all rows asked for in full."""
    n, rng = 2_000, np.random.default_rng(1)
    tree = random_tree(rng, n)
    layout = geometry.lay_out(tree, tree.leaf_order)
    some = layout.order[::2].copy()  # every other row, whatever is looked at
    edges = geometry.bins(layout.row_start, 0, n, 20)
    found = known_shares(Mask.of([(some, np.arange(n, dtype=np.int32))]), layout, edges)
    off = ~np.eye(20, dtype=bool)
    # Eight of a bin's hundred, evenly: places 6, 18, ... 93, of which the even ones are asked for.
    even = np.mean([(2 * k + 1) * 100 // 16 % 2 == 0 for k in range(8)])
    np.testing.assert_allclose(found[off], 1 - (1 - even) ** 2, atol=1e-12)


def test_nothing_and_everything_have_levels_of_their_own():
    shares = np.array([0.0, 1e-9, 1e-3, 0.25, 0.5, 1 - 1e-9, 1.0])
    levels = mask_levels(shares[None])[0]
    assert levels[0] == 0
    assert levels[-1] == 255
    assert (levels[1:-1] >= 1).all()
    assert (levels[1:-1] <= 254).all()
    assert (np.diff(levels.astype(int)) >= 0).all()
    for theme in THEMES.values():
        colours = mask_colours(theme)
        assert len(colours) == 256
        assert colours[255].endswith("00")
        alphas = [int(colour[-2:], 16) for colour in colours]
        assert alphas == sorted(alphas, reverse=True)
        assert alphas[0] > 0.85 * 255
    assert [queried_text(x) for x in (0.0, 0.004, 0.5, 1.0)] == [
        "not asked for", "less than 1 % asked for", "50 % asked for", "asked for",
    ]  # fmt: skip


def shown_mask(centre):
    source = centre.figures.heat.mask_sources[0]
    return source.data["image"][0] if len(source.data["image"]) else None


def brute_levels(log, n, order):
    known = np.eye(n, dtype=bool)
    for pair in pairs_of(log):
        x, y = pair
        known[x, y] = known[y, x] = True
    return np.where(known[np.ix_(order, order)], 255, 0)


def test_the_mask_follows_the_tree_and_the_matrix():
    n, rng = 30, np.random.default_rng(3)
    log = [([1, 2, 3], range(n)), ([7], [9, 11])]
    centre = Centre(on_pick=lambda pick: None)
    centre.set_items(Items([f"i{k}" for k in range(n)], rng.normal(size=(n, 4)),
                           similarity=symmetric(n)))  # fmt: skip
    centre.set_tree(random_tree(rng, n))
    assert shown_mask(centre) is None
    centre.set_query_mask(mask_of(log))
    before = shown_mask(centre)
    assert np.array_equal(before, brute_levels(log, n, centre.order))
    centre.set_tree(random_tree(rng, n))
    assert np.array_equal(shown_mask(centre), brute_levels(log, n, centre.order))
    assert not np.array_equal(shown_mask(centre), before)

    def tip(row, column):
        return centre.pointer.describe("heat", column + 0.5, -(row + 0.5))[1].splitlines()[-1]

    place = np.empty(n, int)
    place[centre.order] = np.arange(n)
    assert tip(place[9], place[7]) == tip(place[7], place[9]) == "asked for"
    assert tip(place[9], place[8]) == "not asked for"
    assert "asked" not in tip(place[9], place[9])  # with itself

    centre.set_theme("dark")
    assert centre.figures.heat.mask.colours == mask_colours(THEMES["dark"])
    centre.set_matrix("features")  # these are not queried
    assert shown_mask(centre) is None
    assert "asked" not in tip(2, 2)
    centre.set_matrix("similarity")
    assert shown_mask(centre) is not None
    centre.set_query_mask(None)
    assert shown_mask(centre) is None
    centre.set_query_mask(mask_of(log))
    centre.set_items(Items([f"j{k}" for k in range(5)], similarity=symmetric(5)))
    centre.set_tree(random_tree(rng, 5))  # other items: nothing is known of them
    assert shown_mask(centre) is None


def test_a_zoom_has_a_sharper_mask():
    n = 1_500
    data = noisy_blocks(n, 3)
    counted = CountingOracle(data.oracle)
    everyone = np.arange(n, dtype=np.int32)
    counted.similarity(everyone, everyone[::100])
    centre = Centre(on_pick=lambda pick: None)
    centre.set_items(Items(data.labels, similarity=data.oracle.similarity(everyone, everyone)))
    assert data.target is not None
    centre.set_tree(data.target)
    centre.set_query_mask(counted.requests())
    whole, sharp = centre.figures.heat.mask_sources
    assert shown_mask(centre).shape == (600, 600)
    assert not len(sharp.data["x"])
    centre.show_rows(200, 260)
    drawn = sharp.data["image"][0]
    first, rows = int(-sharp.data["y"][0]), drawn.shape[0]
    part = centre.order[first : first + rows]
    known = np.isin(part, everyone[::100])
    wanted = known[:, None] | known[None, :] | np.eye(rows, dtype=bool)
    assert np.array_equal(drawn == 255, wanted)
    assert sharp.data["dw"] == [float(rows)]
    centre.set_query_mask(None)
    assert not len(sharp.data["x"])
    assert not len(whole.data["x"])


@pytest.mark.parametrize(
    "parts",
    [
        ([0], [0, 1], [0], [0, 2]),
        ([0], [0, 1], [0, 1], [0, 1]),
        ([0], [1, 1], [0], [0, 1]),
        ([-1], [0, 1], [0], [0, 1]),
        ([0], [0, 1, 0, 1], [0], [0, 1, 1, 1]),
        ([0], [0, 1], [0], [0, 0, 1]),
    ],
)
def test_requests_that_do_not_fit_together_are_refused(parts):
    kinds = (np.int32, np.int64, np.int32, np.int64)
    with pytest.raises(InvalidData):
        Mask(*(np.array(part, kind) for part, kind in zip(parts, kinds, strict=True)))
