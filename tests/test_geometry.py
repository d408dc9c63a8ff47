"""The centre's geometry, against the plain definitions of what is drawn and picked."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import HcvizError, Tree
from hcviz.core.layout import cut_clusters, elbows, leaf_order
from hcviz.ui import geometry, palette
from hcviz.ui.centre.cells import feature_cells, scaled, similarity_cells
from hcviz.ui.centre.clusters import coloured_clusters
from hcviz.ui.centre.items import Items
from hcviz.ui.centre.seriation import seriation
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


def plain_order(tree: Tree, wish) -> list[int]:
    def visit(node: int) -> list[int]:
        if node < tree.n_leaves:
            return [node]
        below = [visit(int(child)) for child in tree.children(node)]
        below.sort(key=lambda leaves: np.mean([wish[i] for i in leaves]))
        return [leaf for leaves in below for leaf in leaves]

    return visit(tree.root)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_order_sorts_children_by_the_mean_wish(n):
    wish = np.array([3.0, 1.0, 4.0, 1.5, 9.0])[:n]
    for tree in all_trees(n):
        assert leaf_order(tree, wish).tolist() == plain_order(tree, wish)


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_an_order_that_fits_the_tree_is_kept(seed, n):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, polytomies=True)
    shown = leaf_order(tree, rng.standard_normal(n))
    place = np.empty(n)
    place[shown] = np.arange(n)
    assert np.array_equal(leaf_order(tree, place), shown)


def test_a_wish_must_be_one_finite_number_an_item():
    tree = Tree.star(3)
    with pytest.raises(HcvizError, match="3 items"):
        leaf_order(tree, [0.0, np.nan, 1.0])
    with pytest.raises(HcvizError, match="3 items"):
        leaf_order(tree, [0.0])


def test_a_caterpillar_of_20000_leaves_passes_through():
    tree = caterpillar(20_000)
    layout = geometry.lay_out(tree, leaf_order(tree), [tree.root - 1])
    assert layout.n_rows == 3 + 1
    whole = geometry.lay_out(tree, leaf_order(tree))
    open_ = geometry.open_nodes(whole, (0, 20_000))
    x, _ = geometry.branch_path(whole, open_)
    assert np.isnan(x).sum() == tree.n_internal
    assert geometry.pick(whole, tree.height[-1] + 1, 0.0) == tree.root
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
def test_an_inner_node_stands_midway_between_its_outer_children(layout):
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
    assert geometry.runs(layout, [0, 5, 6]) == [(0, 1), (2, 4)]


# ---------------------------------------------------------------------- paths


def segments(path) -> set[tuple[tuple[float, float], tuple[float, float]]]:
    """The unit of a NaN-separated path: its segments, without direction and without length 0."""
    x, y = path
    found = set()
    for i in range(len(x) - 1):
        if not np.isnan([x[i], x[i + 1]]).any():
            a, b = (float(x[i]), float(y[i])), (float(x[i + 1]), float(y[i + 1]))
            if a != b:
                found.add((min(a, b), max(a, b)))
    return found


def plain_segments(layout, masked=None, limit=np.inf):
    tree, found = layout.tree, set()

    def line(a, b):
        a = tuple(float(np.float32(v)) for v in a)
        b = tuple(float(np.float32(v)) for v in b)
        if a != b:
            found.add((min(a, b), max(a, b)))

    for v in range(tree.n_nodes):
        if masked is not None and not masked[v]:
            continue
        p = tree.parent[v]
        if p >= 0:
            top = tree.height[p] if masked is None or masked[p] else min(tree.height[p], limit)
            line((tree.height[v], layout.y[v]), (top, layout.y[v]))
        if v >= tree.n_leaves:
            ys = layout.y[tree.children(v)]
            line((tree.height[v], ys.min()), (tree.height[v], ys.max()))
    return found


@given(layouts(), st.integers(0, 1000))
def test_the_path_draws_every_branch_and_every_bar(layout, seed):
    plain = geometry.lay_out(layout.tree, layout.order)
    open_ = geometry.open_nodes(plain, (0, plain.n_rows))
    whole = geometry.branch_path(plain, open_)
    assert segments(whole) == plain_segments(plain)
    apart = geometry.branch_path(plain, open_, stems=False)
    stems = geometry.stem_path(plain, open_)
    assert segments(apart) | segments(stems) == plain_segments(plain)
    chosen = np.random.default_rng(seed).random(plain.tree.n_leaves) < 0.6
    mask = geometry.clade_mask(plain.tree, np.flatnonzero(chosen))
    limit = float(plain.tree.height[-1]) * 0.7
    for leaf_set in (mask,):
        want = {v for v in range(plain.tree.n_nodes) if leaves_below(plain.tree, v) <= set(
            np.flatnonzero(chosen).tolist())}  # fmt: skip
        assert set(np.flatnonzero(leaf_set).tolist()) == want
    below = mask & (plain.tree.height <= limit)
    drawn = segments(geometry.branch_path(plain, open_, below, limit))
    assert drawn == plain_segments(plain, below, limit)


def test_elbows_of_the_printed_picture_are_those_of_the_page():
    tree = random_tree(np.random.default_rng(4), 12, polytomies=True)
    order = leaf_order(tree)
    layout = geometry.lay_out(tree, order)
    open_ = geometry.open_nodes(layout, (0, 12))
    assert segments(elbows(tree, order)) == segments(geometry.branch_path(layout, open_))


@given(layouts())
def test_a_tween_begins_where_the_leaves_were_and_keeps_its_points(layout):
    open_ = geometry.open_nodes(layout, (0, layout.n_rows))
    x, y = geometry.branch_path(layout, open_)
    _, same = geometry.branch_path(layout, open_, leaf_y=layout.leaf_y)
    assert np.array_equal(y, same, equal_nan=True)
    _, moved = geometry.branch_path(layout, open_, leaf_y=layout.leaf_y + 5)
    assert moved.size == x.size
    assert np.allclose(moved, y + 5, equal_nan=True, atol=1e-5)


def test_what_is_drawn_depends_on_the_pixels_not_on_n():
    tree = random_tree(np.random.default_rng(0), 5_000)
    layout = geometry.lay_out(tree, leaf_order(tree))
    coarse = geometry.open_nodes(layout, (0, 5_000), fine=10, coarse=10)
    assert geometry.branch_path(layout, coarse)[0].size < 15_000
    sharp = geometry.open_nodes(layout, (1_000, 1_050), fine=0, coarse=10)
    inside = (layout.top >= 1_000) & (layout.bottom <= 1_050) & (np.arange(tree.n_nodes) >= 5_000)
    assert inside.any()
    assert sharp[inside].all()
    assert sharp.sum() < 2_000


# ---------------------------------------------------------------------- picking


def plain_pick(layout, x: float, y: float) -> int:
    """The only visible node whose slab [height, parent's height) x rows holds the point."""
    tree, found = layout.tree, []
    for v in range(tree.n_nodes):
        hidden = layout.owner[v] >= 0 and layout.owner[v] != v
        if hidden or not layout.top[v] <= y < layout.bottom[v]:
            continue
        above = np.inf if tree.parent[v] < 0 else tree.height[tree.parent[v]]
        below = -np.inf if v < tree.n_leaves or layout.owner[v] == v else tree.height[v]
        if below <= x < above:
            found.append(v)
    assert len(found) == 1
    return found[0]


@given(layouts(), st.floats(0, 1.2), st.floats(0, 0.999))
def test_every_point_of_the_picture_picks_the_clade_of_its_slab(layout, x, y):
    x, y = x * float(layout.tree.height[-1] or 1), y * layout.n_rows
    assert geometry.pick(layout, x, y) == plain_pick(layout, x, y)


def test_picking_beyond_the_edges_still_picks():
    tree = from_nested(((0, 1), 2), 3)
    layout = geometry.lay_out(tree, [0, 1, 2])
    assert geometry.pick(layout, -0.5, 1.2) == 1  # right of the leaves: the leaf itself
    assert geometry.pick(layout, 0.9, -4.0) == 0  # above the first row, near its leaf
    assert geometry.pick(layout, 99.0, 99.0) == tree.root
    assert geometry.pick(layout, 0.9, 0.5, slack=0.2) == 3  # a little right of the bar


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


# ---------------------------------------------------------------------- letters


@pytest.mark.parametrize("row_px", [0.3, 1, 3, 4.4, 5.6, 7, 8.6, 9, 13, 40])
def test_labels_never_touch(row_px):
    setting = geometry.lettering(row_px)
    pitch = row_px * setting.columns * setting.every
    assert setting.font >= geometry.SMALLEST_FONT
    assert pitch >= setting.font * geometry.LEADING - 1e-9


def test_all_101_labels_of_zoo_are_set_in_a_720_px_window():
    # A 720 px window leaves the rows about 570 px once the bars around them are paid for.
    setting = geometry.lettering(570 / 101)
    assert setting.every == 1
    assert setting.font >= 8


@given(st.lists(st.floats(0, 50), max_size=30), st.floats(0.5, 5))
def test_spread_labels_keep_their_distance_and_none_is_left_out_needlessly(rows, gap):
    rows = np.array(rows)
    rank = np.arange(rows.size) % 3
    kept = geometry.spread(rows, rank, gap)
    shown = np.sort(rows[kept])
    assert np.all(np.diff(shown) >= gap - 1e-6)
    for at in rows[~kept]:
        assert np.min(np.abs(shown - at)) < gap
    if rows.size:
        assert kept[rank == rank.max()].any()


@given(st.text(max_size=40), st.floats(6, 14), st.floats(10, 200))
def test_truncated_text_fits(text, font, width):
    short = geometry.truncate(text, font, width)
    assert short == text or short.endswith("…")
    assert geometry.text_width(short, font) <= max(width, geometry.text_width("…", font))


@given(st.text(max_size=40), st.floats(6, 14), st.floats(10, 200))
def test_shortened_names_fit_and_keep_head_and_tail(text, font, width):
    short = geometry.shorten(text, font, width)
    assert geometry.text_width(short, font) <= max(width, geometry.text_width("…", font))
    if short != text:
        assert any(
            text.startswith(short[:k]) and short[k] == "…" and text.endswith(short[k + 1 :])
            for k in range(len(short))
        )


def test_long_names_that_begin_alike_are_told_apart():
    names = ["L" * 196 + f"{i:04d}" for i in range(300)]
    assert len({geometry.shorten(name, 9, 90) for name in names}) == 300


def test_ticks_are_round_and_within():
    assert geometry.nice_ticks(6.4, 4).tolist() == [0, 2, 4, 6]
    assert geometry.nice_ticks(1.0, 4).tolist() == [0, 0.25, 0.5, 0.75, 1.0]
    assert geometry.nice_ticks(0.0, 4).tolist() == [0]
    assert geometry.nice_ticks(2_000, 4)[-1] == 2_000


def test_a_clade_is_summed_up_by_its_first_names():
    assert geometry.summary(["bat", "whale"], 2) == "bat, whale"
    assert geometry.summary(["a", "b", "c"], 1_003) == "a, b, c and 1,000 more"


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
    count, node_code, code = coloured_clusters(tree, cut, 8, order)
    assert count == np.unique(cut_clusters(tree, cut)[:60]).size
    for v in range(60):
        assert code[v] == (255 if node_code[v] < 0 else node_code[v])
    reversed_ = np.where(code == 255, 255, 7 - np.minimum(code, 7)).astype(np.uint8)
    assert len(set(code.tolist())) > 3
    assert np.array_equal(coloured_clusters(tree, cut, 8, order, reversed_)[2], reversed_)


@given(st.integers(0, 1000), st.integers(2, 40), st.floats(0, 1))
def test_clusters_side_by_side_differ_and_single_items_have_no_colour(seed, n, share):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, polytomies=True)
    cut = float(np.quantile(tree.height, share))
    order = leaf_order(tree, rng.permutation(n))
    before = rng.integers(0, 3, n).astype(np.uint8)
    count, node_code, code = coloured_clusters(tree, cut, 3, order, before)
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
    wish = seriation(Items([str(i) for i in range(40)], features))
    assert sorted(wish.tolist()) == list(range(40))
    assert len({g for g, w in zip(group, wish, strict=True) if w < 20}) == 1
    assert np.array_equal(wish, seriation(Items([str(i) for i in range(40)], features)))
    nothing = seriation(Items(["a", "b"]))
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


def test_a_way_goes_from_a_node_down_to_the_leaves_and_nowhere_else():
    #       8
    #     7   \
    #   6  \   \
    #  0 1  2  5=(3, 4)
    tree = Tree([6, 6, 7, 5, 5, 8, 7, 8, -1], [0, 0, 0, 0, 0, 1, 1, 2, 3], 5)
    layout = geometry.lay_out(tree, range(5))
    open_ = np.arange(9) >= 5
    x, y = geometry.way_path(layout, open_, 8, [0, 4])
    lines = [
        [(a, b) for a, b in zip(x[k : k + 3].tolist(), y[k : k + 3].tolist(), strict=True)]
        for k in range(0, len(x), 4)
    ]
    row = layout.y
    assert lines == [
        [(tree.height[v], row[v]), (tree.height[p], row[v]), (tree.height[p], row[p])]
        for v, p in ((0, 6), (4, 5), (5, 8), (6, 7), (7, 8))
    ]
    assert np.isnan(x[3::4]).all()
    # within a collapsed clade there is nothing to see
    shut = geometry.lay_out(tree, range(5), [5])
    x, _ = geometry.way_path(shut, geometry.open_nodes(shut, (0, 5)), 8, [4])
    assert x[:3].tolist() == [1, 3, 3]
    assert len(x) == 4


def test_ways_through_a_long_caterpillar_are_found():
    tree = caterpillar(20_000)
    layout = geometry.lay_out(tree, tree.leaf_order)
    open_ = np.arange(tree.n_nodes) >= tree.n_leaves
    deepest = [int(x) for x in np.argsort(tree.depth[: tree.n_leaves])[-2:]]
    x, _ = geometry.way_path(layout, open_, tree.root, deepest)
    assert len(x) == 4 * tree.n_leaves  # every inner node but the root, and the two leaves
