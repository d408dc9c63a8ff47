"""The centre's geometry, against the plain definitions of what is drawn and picked."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import HcvizError, Tree
from hcviz.core.layout import cut_clusters, leaf_order
from hcviz.core.seriation import seriation
from hcviz.ui.parts import palette
from hcviz.ui.tree import geometry
from hcviz.ui.tree.clusters import coloured_clusters
from hcviz.ui.tree.heatmap_cells import feature_cells, scaled, similarity_cells
from hcviz.ui.tree.items import Items
from hcviz.ui.tree.partition import at_height
from tests.trees import all_trees, caterpillar, from_nested, random_tree


def leaves_below(tree: Tree, node: int) -> set[int]:
    if node < tree.n_leaves:
        return {node}
    return set().union(*(leaves_below(tree, int(c)) for c in tree.children(node)))


@st.composite
def layouts(draw):
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    n = draw(st.integers(1, 14))
    tree = random_tree(rng, n, polytomies=True)
    shut = [v for v in range(n, tree.n_nodes) if rng.random() < 0.25]
    return geometry.lay_out(tree, leaf_order(tree, rng.permutation(n)), shut)


# ---------------------------------------------------------------------- order


def plain_order(tree: Tree, targets) -> list[int]:
    def visit(node: int) -> list[int]:
        if node < tree.n_leaves:
            return [node]
        below = [visit(int(child)) for child in tree.children(node)]
        below.sort(key=lambda leaves: np.mean([targets[i] for i in leaves]))
        return [leaf for leaves in below for leaf in leaves]

    return visit(tree.root)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_order_sorts_children_by_their_mean_target(n):
    targets = np.array([3.0, 1.0, 4.0, 1.5, 9.0])[:n]
    for tree in all_trees(n):
        assert leaf_order(tree, targets).tolist() == plain_order(tree, targets)


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_an_order_that_fits_the_tree_is_kept(seed, n):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, polytomies=True)
    shown = leaf_order(tree, rng.standard_normal(n))
    place = np.empty(n)
    place[shown] = np.arange(n)
    assert np.array_equal(leaf_order(tree, place), shown)


def test_targets_must_be_one_finite_number_an_item():
    tree = Tree.star(3)
    with pytest.raises(HcvizError, match="3 items"):
        leaf_order(tree, [0.0, np.nan, 1.0])
    with pytest.raises(HcvizError, match="3 items"):
        leaf_order(tree, [0.0])


def test_a_caterpillar_of_20000_leaves_passes_through():
    tree = caterpillar(20_000)
    layout = geometry.lay_out(tree, leaf_order(tree), [tree.root - 1])
    assert layout.n_rows == 20_000 // geometry.WEDGE_SHARE + 1  # three rows could not be seen
    assert geometry.clade_node(tree, range(19_999)) == tree.root - 1


# ---------------------------------------------------------------------- rows


@given(layouts())
def test_rows_hold_every_leaf_once_and_clades_are_stretches(layout):
    tree = layout.tree
    assert sorted(layout.order.tolist()) == list(range(tree.n_leaves))
    rows = [layout.row_leaves(r).tolist() for r in range(layout.n_rows)]
    assert [leaf for row in rows for leaf in row] == layout.order.tolist()
    assert all(rows)
    for node in range(tree.n_nodes):
        inside = leaves_below(tree, node)
        assert set(layout.leaves(node).tolist()) == inside
        owner = layout.owner[node]
        stands_for = leaves_below(tree, owner) if owner >= 0 else inside
        touched = [r for r, row in enumerate(rows) if stands_for & set(row)]
        assert layout.top[node] == touched[0]
        assert layout.bottom[node] == touched[-1] + 1
        assert layout.top[node] < layout.y[node] < layout.bottom[node]
        if owner == node:
            assert len(touched) == min(geometry.WEDGE_ROWS, len(inside))


@given(layouts())
def test_an_inner_node_is_midway_between_its_outer_children(layout):
    tree = layout.tree
    for node in range(tree.n_leaves, tree.n_nodes):
        ys = layout.y[tree.children(node)]
        assert layout.y[node] == (ys.min() + ys.max()) / 2


def test_wedges_shrink_a_clade_to_three_rows():
    #          ┌─ 0
    #     ┌────┼─ 1 .. 5          the clade 0..5 collapsed: rows 0, 1, 2; leaf 6 is row 3
    #  ───┤    └─
    #     └────── 6
    tree = from_nested(((0, 1, 2, 3, 4, 5), 6), 7)
    layout = geometry.lay_out(tree, leaf_order(tree), [7])
    assert layout.row_start.tolist() == [0, 2, 4, 6, 7]
    assert layout.y[7] == 1.5
    assert geometry.row_ranges(layout, [0, 5, 6]) == [(0, 1), (2, 4)]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_clade_is_found_by_its_leaves_and_nothing_else_is(n):
    for tree in all_trees(n):
        known = {frozenset(leaves_below(tree, v)): v for v in range(tree.n_nodes)}
        for size in range(n + 1):
            for leaves in itertools.combinations(range(n), size):
                assert geometry.clade_node(tree, leaves) == known.get(frozenset(leaves))


# ---------------------------------------------------------------------- pictures of matrices


def test_pooling_is_the_mean_of_known_cells():
    levels = np.array([[0, 10, 255], [20, 30, 255], [7, 255, 8]], np.uint8)
    order = np.array([2, 0, 1], np.int32)
    pooled = geometry.pool(
        levels, np.array([0, 1, 3], np.int32), order, np.array([0, 2, 3], np.int32), [0, 1, 2]
    )
    # rows {2}, {0, 1}; columns {0, 1}, {2}: means of the cells that are there
    assert pooled.tolist() == [[7, 8], [15, 255]]


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(1, 9), st.integers(1, 8))
def test_pooling_small_bins_reads_every_cell(seed, n, d, limit):
    rng = np.random.default_rng(seed)
    levels = rng.choice(np.array([0, 3, 100, 254, 255], np.uint8), (n, d))
    rows, columns = rng.permutation(n).astype(np.int32), rng.permutation(d).astype(np.int32)
    row_bins = geometry.bins(np.arange(n + 1, dtype=np.int32), 0, n, limit)
    col_bins = geometry.bins(np.arange(d + 1, dtype=np.int32), 0, d, limit)
    got = geometry.pool(levels, row_bins, rows, col_bins, columns)
    for r in range(row_bins.size - 1):
        for c in range(col_bins.size - 1):
            picked = rows[row_bins[r] : row_bins[r + 1]], columns[col_bins[c] : col_bins[c + 1]]
            if max(len(picked[0]), len(picked[1])) > geometry.MAX_SAMPLES:
                continue
            block = levels[np.ix_(*picked)].astype(float)
            known = block[block != 255]
            want = 255 if known.size == 0 else int(np.floor(known.mean() + 0.5))
            assert got[r, c] == want


def test_bins_cover_all_rows_once_and_keep_to_the_limit():
    starts = np.arange(1_001, dtype=np.int32) * 2
    edges = geometry.bins(starts, 10, 950, 600)
    assert edges.size == 601
    assert edges[0] == 20
    assert edges[-1] == 1_900
    assert np.all(np.diff(edges) > 0)


def test_quantising_clips_and_marks_what_is_missing():
    levels = geometry.quantise(np.array([[-9.0, 0.0, 0.5, 1.0, 7.0, np.nan, np.inf]]), 0.0, 1.0)
    assert levels.tolist() == [[0, 0, 127, 254, 254, 255, 255]]
    assert geometry.quantise(np.array([[3.0, 3.0]]), 3.0, 3.0).tolist() == [[0, 0]]


@given(layouts(), st.integers(0, 1000))
def test_a_row_shows_its_commonest_class(layout, seed):
    codes = np.random.default_rng(seed).integers(0, 3, layout.tree.n_leaves).astype(np.uint8)
    shown = geometry.majority(codes, layout)
    for row in range(layout.n_rows):
        inside = codes[layout.row_leaves(row)]
        assert shown[row] == np.bincount(inside, minlength=3).argmax()


# ---------------------------------------------------------------------- clusters, cells, colours


@given(st.integers(0, 1000), st.integers(1, 12), st.floats(-0.1, 1.1))
def test_clusters_under_a_cut_are_the_maximal_clades_below_it(seed, n, share):
    tree = random_tree(np.random.default_rng(seed), n, polytomies=True)
    level = share * float(tree.height[-1] or 1)
    top = cut_clusters(tree, level)
    for v in range(tree.n_nodes):
        path, u = [], v
        while u >= 0:
            path.append(u)
            u = int(tree.parent[u])
        below = [u for u in path if tree.height[u] <= level]
        assert top[v] == (below[-1] if below else -1)


def test_clusters_keep_their_colours_when_the_tree_changes_a_little():
    tree = random_tree(np.random.default_rng(2), 60)
    order = leaf_order(tree)
    cut = float(np.sort(tree.height)[-6])
    count, node_code, code = coloured_clusters(tree, at_height(tree, cut), 8, order)
    assert count == np.unique(cut_clusters(tree, cut)[:60]).size
    for v in range(60):
        assert code[v] == (255 if node_code[v] < 0 else node_code[v])
    reversed_ = np.where(code == 255, 255, 7 - np.minimum(code, 7)).astype(np.uint8)
    assert len(set(code.tolist())) > 3
    assert np.array_equal(
        coloured_clusters(tree, at_height(tree, cut), 8, order, reversed_)[2], reversed_
    )


@given(st.integers(0, 1000), st.integers(2, 40), st.floats(0, 1))
def test_clusters_side_by_side_differ_and_single_items_have_no_colour(seed, n, share):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, polytomies=True)
    cut = float(np.quantile(tree.height, share))
    order = leaf_order(tree, rng.permutation(n))
    before = rng.integers(0, 3, n).astype(np.uint8)
    count, node_code, code = coloured_clusters(tree, at_height(tree, cut), 3, order, before)
    top = cut_clusters(tree, cut)
    assert count == np.unique(top[:n]).size
    assert np.all((code == 255) == (tree.size[top[:n]] == 1))
    inside = top >= 0
    assert np.array_equal(node_code[inside], node_code[top[inside]])
    shown = [i for i in order if code[i] != 255]
    for a, b in itertools.pairwise(shown):
        assert (code[a] == code[b]) == (top[a] == top[b])


def test_features_are_scaled_by_column_and_gaps_stay_gaps():
    raw = np.array([[1.0, 5.0, 2.0], [3.0, 5.0, np.nan], [5.0, 5.0, 4.0]])
    z = scaled(raw, "zscore")
    assert np.allclose(z[:, 0], (raw[:, 0] - 3) / np.std([1, 3, 5]))
    assert z[:, 1].tolist() == [0, 0, 0]
    assert np.isnan(z[1, 2])
    assert np.allclose(z[[0, 2], 2], [-1, 1])
    assert scaled(raw, "range")[:, 0].tolist() == [0, 0.5, 1]
    assert scaled(raw, "range")[:, 1].tolist() == [0.5, 0.5, 0.5]
    ranks = scaled(np.array([[10.0, np.nan], [1.0, 1.0], [5.0, 2.0]]), "rank")
    assert ranks[:, 0].tolist() == [1, 0, 0.5]
    assert np.isnan(ranks[0, 1])
    assert scaled(raw, "none") is raw
    for scaling in ("zscore", "range", "rank", "none"):
        cells = feature_cells(Items(["a", "b", "c"], raw), scaling, "dendrogram")
        assert cells.levels[1, 2] == 255
        assert (cells.levels == 255).sum() == 1
        assert sorted(cells.order.tolist()) == [0, 1, 2]


def test_a_column_or_row_of_gaps_is_drawn_as_gaps():
    raw = np.full((4, 3), np.nan)
    raw[:, 0] = [1, 2, 3, 4]
    for scaling in ("zscore", "range", "rank", "none"):
        cells = feature_cells(Items("abcd", raw), scaling, "dendrogram")
        assert (cells.levels[:, 1:] == 255).all()
        assert (cells.levels[:, 0] < 255).all()


def test_the_similarity_scale_is_not_set_by_the_diagonal():
    matrix = np.full((50, 50), 0.2)
    matrix[:25, :25] = 0.4
    np.fill_diagonal(matrix, 100.0)
    cells = similarity_cells(Items([str(i) for i in range(50)], similarity=matrix))
    assert (cells.low, cells.high) == (0.2, 0.4)
    assert np.all(np.diag(cells.levels) == 254)


def test_seriation_puts_like_beside_like_and_is_the_same_every_time():
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat([0, 1], 20))
    features = group[:, None] * 8.0 + rng.standard_normal((40, 3))
    order = seriation(40, None, features)
    assert sorted(order.tolist()) == list(range(40))
    assert len(set(group[order[:20]].tolist())) == 1
    assert np.array_equal(order, seriation(40, None, features))
    nothing = seriation(2)
    assert nothing.tolist() == [0, 1]


def test_items_that_do_not_fit_together_are_refused_with_a_sentence():
    with pytest.raises(HcvizError, match="2 items"):
        Items(["a", "b"], features=np.zeros((3, 1)))
    with pytest.raises(HcvizError, match="2 items"):
        Items(["a", "b"], similarity=np.zeros((2, 3)))
    with pytest.raises(HcvizError, match="1 classes under 'class'"):
        Items(["a", "b"], classes=["x"]).strips()


def test_classes_become_codes_numbers_by_value():
    strip = Items(list("abcd"), classes=["10", "9", None, "9"]).strips()[0]
    assert strip.names == ("9", "10")
    assert strip.codes.tolist() == [1, 0, 255, 0]
    both = Items(list("ab"), classes={"kind": ["x", "y"], "sex": ["f", "f"]}).strips()
    assert [s.name for s in both] == ["kind", "sex"]


@pytest.mark.parametrize("theme", [palette.LIGHT, palette.DARK], ids=lambda t: t.name)
def test_colours_can_be_read_on_their_paper(theme):
    assert palette.contrast(theme.ink, theme.paper) >= 7
    assert palette.contrast(theme.soft, theme.paper) >= 4.5
    for colour in (theme.accent, theme.together, theme.apart):
        assert palette.contrast(colour, theme.paper) >= 4.5
    for colour in (theme.branch, theme.fresh, *theme.clusters):  # lines: WCAG's 3 for graphics
        assert palette.contrast(colour, theme.paper) >= 3
    for scale in (palette.sequential(theme), palette.diverging(theme)):
        assert len(scale) == 256
        assert scale[255] == theme.missing
        assert theme.missing not in scale[:255]
    light = [palette.luminance(c) for c in palette.sequential(theme)[:255]]
    assert np.all(np.diff(light) > -0.002)  # lightness alone tells the order


def test_there_is_a_colour_for_every_class():
    for count in range(60):
        colours = palette.class_colours(count)
        assert len(colours) == count
        assert len(set(colours)) == min(count, 23 if count > 22 else count)


def test_even_heights_count_edges_to_the_deepest_leaf():
    from hcviz.core.layout import with_even_heights
    from tests.trees import all_trees

    def depth_below(tree, v):
        below = tree.children(v)
        return 0 if not len(below) else 1 + max(depth_below(tree, int(u)) for u in below)

    for n in (1, 2, 3, 4, 5):
        for tree in all_trees(n):
            even = with_even_heights(tree)
            assert even.height.tolist() == [depth_below(tree, v) for v in range(tree.n_nodes)]
            assert np.array_equal(even.parent, tree.parent)


def test_balanced_heights_divide_the_longest_path_through_a_node():
    from hcviz.core.layout import with_balanced_heights
    from tests.trees import all_trees, caterpillar

    for tree in all_trees(5):
        height = with_balanced_heights(tree).height
        assert height[-1] == 1
        assert not height[:5].any()
        assert (height[:-1] < height[tree.parent[:-1]]).all()
    deep = with_balanced_heights(caterpillar(5)).height
    assert deep[5:] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert with_balanced_heights(Tree.star(1)).height.tolist() == [0.0]
