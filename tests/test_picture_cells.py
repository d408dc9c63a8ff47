"""What a saved picture shows of the heatmap: the mask, and similarities computed as looked at."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from hcviz.core.similarity_oracles import FeatureOracle
from hcviz.core.snapshot import Mask
from hcviz.core.tree import Tree
from hcviz.io.picture import draw_picture
from hcviz.ui.tree import Centre, Items
from hcviz.ui.tree.heatmap_cells import LAZY
from tests.trees import random_tree


def shown(tree, similarity, mask=None):
    made = Centre(on_pick=lambda pick: None)
    made.set_items(Items([f"i{k}" for k in range(tree.n_leaves)], similarity=similarity))
    made.set_tree(tree)
    if mask is not None:
        made.set_query_mask(mask)
    return made


def asked(n, pairs):
    rows, columns = np.array(pairs, np.int32).T
    return Mask.of(
        [
            (np.array([a], np.int32), np.array([b], np.int32))
            for a, b in zip(rows, columns, strict=True)
        ]
    )


def test_the_mask_is_saved_with_the_pairs_it_is_seen_over():
    n = 8
    rng = np.random.default_rng(1)
    tree = random_tree(rng, n)
    known = [(0, 1), (2, 5), (3, 7)]
    centre = shown(tree, np.ones((n, n)), asked(n, known))
    data = centre.picture_data()
    order = list(data["order"])
    mask = np.array(data["heat"].query_mask)
    wanted = np.zeros((n, n), bool)
    for a, b in [*known, *((k, k) for k in range(n))]:
        i, j = order.index(a), order.index(b)
        wanted[i, j] = wanted[j, i] = True
    assert np.array_equal(mask, np.where(wanted, 255, 0))
    assert len(data["heat"].query_mask_colours) == 256
    centre.toggle_collapse(next(leaves for leaves in tree.clades() if 2 < leaves.size < n))
    again = centre.picture_data()  # what is collapsed on the screen is whole in a picture
    order = list(again["order"])
    for i in range(n):
        for j in range(n):
            pair = {order[i], order[j]}
            seen = i == j or any(pair == set(each) for each in known)
            assert again["heat"].query_mask[i][j] == 255 * seen
    centre.set_query_mask(None)
    assert centre.picture_data()["heat"].query_mask is None


def light(data):
    """The pixels of the heatmap of a saved picture, as brightness."""
    image = Image.open(io.BytesIO(draw_picture(**data, format="png"))).convert("L")
    return np.asarray(image, float)


def test_a_saved_picture_is_dark_where_nothing_was_asked():
    n = 40
    alike = np.ones((n, n))  # the lightest colour there is, but for a pair
    alike[0, 1] = alike[1, 0] = 0.0
    centre = shown(Tree.star(n), alike, asked(n, [(2, 3)]))
    with_mask = light(centre.picture_data())
    assert b"dark: not queried" in draw_picture(**centre.picture_data())
    centre.set_query_mask(None)
    without = light(centre.picture_data())
    assert b"not queried" not in draw_picture(**centre.picture_data())
    changed = np.abs(with_mask - without) > 20
    across = changed.sum(1)
    rows = np.flatnonzero(across > across.max() / 2)  # without the words below
    columns = np.flatnonzero(changed[rows].any(0))
    box = changed[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    assert min(box.shape) > 200
    assert 0.9 < box.mean() < 1.0  # all but the diagonal (1 in 40) and a pair


@pytest.mark.parametrize("n", [50, LAZY + 1, 3 * LAZY])
@pytest.mark.parametrize("collapsed", [False, True])
def test_similarities_computed_as_looked_at_are_saved_as_they_are_shown(n, collapsed):
    rng = np.random.default_rng(n)
    features = rng.normal(size=(n, 3))
    oracle = FeatureOracle(features)
    tree = random_tree(rng, n)
    centre = shown(tree, oracle)
    if collapsed:
        centre.toggle_collapse(next(x for x in tree.clades() if n // 4 < x.size < n))
    data = centre.picture_data()
    heat, order = data["heat"], np.asarray(data["order"], np.int32)
    assert heat.pooled
    k = heat.values.shape[0]
    assert heat.values.shape == (k, k)
    if n <= LAZY and not collapsed:  # every pair of its own, as finely as levels are
        exact = oracle.similarity(order, order)
        step = (heat.high - heat.low) / 254
        assert np.abs(heat.values - np.clip(exact, heat.low, heat.high)).max() <= step / 2 + 1e-9
    # Each share of the rows has the texel that lies over its middle on the screen.
    shown_image = np.asarray(centre.figures.heat.whole.data["image"][0])
    layout = centre.state.layout
    row = np.searchsorted(layout.row_start, (2 * np.arange(k) + 1) * n // (2 * k), "right") - 1
    side = shown_image.shape[0]
    texel = [max(t for t in range(side) if t * layout.n_rows // side <= at) for at in row]
    levels = np.rint((heat.values - heat.low) / (heat.high - heat.low) * 254)
    assert np.array_equal(levels, shown_image[np.ix_(texel, texel)])
    assert draw_picture(**data, format="svg").startswith(b"<?xml")
