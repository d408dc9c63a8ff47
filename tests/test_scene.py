"""What is drawn of a tree, against the plain definitions of its folds, paths and picks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz import HcvizError, Tree
from hcviz.core.layout import elbows, leaf_order, without_nodes
from hcviz.ui.tree import geometry
from hcviz.ui.tree.scene import BUNDLE, COLLAPSED, FOLD, LEAF, OPEN, build_scene
from tests.test_geometry import layouts, leaves_below
from tests.trees import caterpillar, from_nested, random_tree

# ---------------------------------------------------------------------- what is folded


def plain_scene(layout, window=None, fine=0.0, coarse=0.0):
    """The module's definition, step by step: ``{(kind, node or None, leaves, parent's node)}``."""
    tree, (first, last) = layout.tree, window or (0.0, float(layout.n_rows))
    fine, coarse = max(fine, 0.5), max(coarse, 0.5)

    def folds(top, bottom):
        inside = max(0.0, min(bottom, last) - max(top, first))
        return inside / fine + (bottom - top - inside) / coarse

    def of(v):
        return folds(layout.top[v], layout.bottom[v])

    def is_open(v):
        return v >= tree.n_leaves and not layout.collapsed[v] and of(v) >= 1 - 1e-12

    found = set()

    def draw(v, parent):
        """An open clade, and all below it."""
        found.add((OPEN, v, tuple(layout.leaves(v).tolist()), parent))
        chain = [v]
        while True:
            nearly = [c for c in tree.children(chain[-1])
                      if is_open(c) and of(v) - of(c) < 1 - 1e-12]  # fmt: skip
            if not nearly:
                break
            chain.append(int(nearly[0]))
        parts = []
        for link in chain[: max(1, len(chain) - 1)]:
            parts += [int(c) for c in tree.children(link) if c not in chain[1:-1]]
        parts.sort(key=lambda c: layout.first[c])
        bundle = []

        def close():
            if len(bundle) == 1:
                c = bundle[0]
                kind = LEAF if c < tree.n_leaves else FOLD
                found.add((kind, c, tuple(layout.leaves(c).tolist()), v))
            elif bundle:
                leaves = [int(leaf) for c in bundle for leaf in layout.leaves(c)]
                found.add((BUNDLE, None, tuple(leaves), v))
            bundle.clear()

        for c in parts:
            small = not is_open(c) and not layout.collapsed[c]
            if not small or (bundle and folds(layout.top[bundle[0]], layout.bottom[c]) > 1 + 1e-12):
                close()
            if small:
                bundle.append(c)
            elif layout.collapsed[c]:
                found.add((COLLAPSED, c, tuple(layout.leaves(c).tolist()), v))
            else:
                draw(c, v)
        close()

    root = tree.root
    if root < tree.n_leaves:
        return {(LEAF, 0, (0,), None)}
    if layout.collapsed[root]:
        return {(COLLAPSED, root, tuple(layout.order.tolist()), None)}
    draw(root, None)
    return found


def scene_content(scene):
    return {
        (
            int(scene.kind[k]),
            None if scene.node[k] < 0 else int(scene.node[k]),
            tuple(scene.leaves(k).tolist()),
            None if scene.parent[k] < 0 else int(scene.node[scene.parent[k]]),
        )
        for k in range(scene.n_slots)
    }


@given(layouts(), st.sampled_from([0.0, 0.7, 1.5, 2.25, 3.1, 5.3, 40.0]), st.integers(0, 9))
def test_folded_clades_match_the_definition(layout, fine, seed):
    rng = np.random.default_rng(seed)
    a, b = np.sort(rng.random(2)) * layout.n_rows
    for window, coarse in ((None, fine), ((float(a), float(b)), fine + 2 * seed)):
        scene = build_scene(layout, window, fine, coarse)
        assert scene_content(scene) == plain_scene(layout, window, fine, coarse)


@given(layouts(), st.sampled_from([0.0, 1.5, 2.25, 5.3]))
def test_a_scene_is_a_tree_whose_leaves_tile_the_rows(layout, fine):
    scene = build_scene(layout, None, fine)
    c = scene.n_closed
    assert np.all(scene.kind[:c] != OPEN)
    assert np.all(scene.kind[c:] == OPEN)
    assert np.all(scene.parent[:-1] > np.arange(scene.n_slots - 1))
    assert scene.parent[-1] == -1
    assert scene.top[0] == 0
    assert np.array_equal(scene.top[1:c], scene.bottom[: c - 1])
    assert scene.bottom[c - 1] == layout.n_rows
    for k in range(scene.n_slots - 1):
        p = scene.parent[k]
        assert scene.height[k] <= scene.height[p]
        assert set(scene.leaves(k).tolist()) <= set(scene.leaves(p).tolist())
    chosen = np.random.default_rng(c).random(layout.tree.n_leaves) < 0.6
    inside = [bool(chosen[scene.leaves(k)].all()) for k in range(scene.n_slots)]
    assert scene.slots_within(np.flatnonzero(chosen)).tolist() == inside


def plainly_without(tree: Tree, gone) -> tuple[Tree, list[int]]:
    """The tree whose clades are those of ``tree`` but for some, and the nodes that it keeps."""
    kept = [v for v in range(tree.n_nodes) if v not in gone]
    parent = []
    for v in kept:
        above = int(tree.parent[v])
        while above in gone:
            above = int(tree.parent[above])
        parent.append(kept.index(above) if above >= 0 else -1)
    return Tree(parent, tree.height[kept], tree.n_leaves), kept


@given(layouts(), st.sampled_from([0.0, 0.7, 1.5, 2.25, 5.3]), st.floats(0, 1), st.integers(0, 99))
def test_with_merged_clades_the_scene_is_that_of_the_tree_without_them(layout, fine, share, seed):
    tree = layout.tree
    merged = np.random.default_rng(seed).random(tree.n_nodes) < share
    gone = {v for v in np.flatnonzero(merged).tolist()
            if tree.n_leaves <= v < tree.root and not layout.collapsed[v]}  # fmt: skip
    other, kept = plainly_without(tree, gone)
    found, origin = without_nodes(tree, [v in gone for v in range(tree.n_leaves, tree.n_nodes)])
    assert found == other
    assert origin.tolist() == kept
    shut = [kept.index(v) for v in np.flatnonzero(layout.collapsed)]
    scene = build_scene(layout, None, fine, merged=merged)
    plain = build_scene(geometry.lay_out(other, layout.order, shut), None, fine)
    names = [None if v < 0 else kept[v] for v in plain.node.tolist()]
    assert [None if v < 0 else v for v in scene.node.tolist()] == names
    for name in ("kind", "parent", "first", "count", "height", "top", "bottom", "low", "high"):
        assert np.array_equal(getattr(scene, name), getattr(plain, name)), name
    if FOLD not in plain.kind:  # a triangle's tip may be elsewhere among its rows
        assert np.array_equal(scene.y, plain.y)
        assert segments(scene.path()) == segments(plain.path())


def test_marks_for_other_nodes_are_refused():
    with pytest.raises(HcvizError, match="2 marks were given for 4 inner nodes"):
        without_nodes(caterpillar(5), [True, False])


def combs(n: int):
    """Shapes on which a simpler rule draws too much."""
    yield Tree.star(n)
    yield caterpillar(n)
    parent = np.full(2 * n - 1, -1, np.int32)  # balanced
    parent[:-1] = n + np.arange(2 * n - 2) // 2
    yield Tree.with_size_heights(parent, n)
    yield random_tree(np.random.default_rng(n), n)
    yield random_tree(np.random.default_rng(n + 1), n, polytomies=True)


@pytest.mark.parametrize("n", [300, 3_000, 30_000])
def test_what_is_drawn_is_bounded_by_the_folds_for_any_tree(n):
    for tree in combs(n):
        layout = geometry.lay_out(tree, leaf_order(tree))
        for window, fine, coarse, folds in (
            (None, n / 50, n / 50, 50),
            ((0.4 * n, 0.5 * n), n / 500, n / 50, 0.1 * 500 + 0.9 * 50),
            ((0.4 * n, 0.4 * n + 40), 0.0, n / 50, 80 + 50),
        ):
            scene = build_scene(layout, window, fine, coarse)
            assert scene.n_slots <= 16 * (folds + 1)
            x, y = scene.path()
            assert x.size == y.size <= 8 * scene.n_slots


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 400), st.floats(1, 30))
def test_the_bound_holds_for_random_trees(seed, n, fold):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, polytomies=bool(seed % 2))
    scene = build_scene(geometry.lay_out(tree, leaf_order(tree, rng.permutation(n))), None, fold)
    assert scene.n_slots <= 16 * (n / fold + 1)


def test_a_window_of_few_rows_is_drawn_as_it_is():
    tree = random_tree(np.random.default_rng(0), 5_000)
    layout = geometry.lay_out(tree, leaf_order(tree))
    scene = build_scene(layout, (1_000, 1_050), 0.0, 100)
    inside = (layout.top >= 1_000) & (layout.bottom <= 1_050) & (np.arange(tree.n_nodes) >= 5_000)
    assert inside.any()
    assert set(np.flatnonzero(inside).tolist()) <= set(scene.node[scene.open].tolist())
    leaves = scene.node[scene.kind == LEAF]
    assert set(layout.order[1_000:1_050].tolist()) <= set(leaves.tolist())


def test_the_end_of_a_chain_keeps_its_height():
    # One straggler far above the rest: the rest is a clade of its own height, not the root's.
    nested = (tuple((4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3) for k in range(10)), 40)
    tree = from_nested(nested, 41)
    scene = build_scene(geometry.lay_out(tree, leaf_order(tree)), None, 3.0)
    assert tree.root - 1 in scene.node[scene.open]
    # Many stragglers, each a little above the last: they hang together from the first of them.
    layout = geometry.lay_out(caterpillar(1_000), leaf_order(caterpillar(1_000)))
    scene = build_scene(layout, None, 10.0)
    bundles = scene.count[scene.kind == BUNDLE]
    assert bundles.min() >= 8
    assert bundles.max() <= 10
    assert scene.n_slots < 450


def test_a_triangle_is_as_long_as_asked_where_there_is_room_before_its_parent():
    tree = Tree([6, 6, 7, 7, 8, 8, 9, 9, 10, 10, -1], [0] * 6 + [0.1, 0.2, 0.1, 0.25, 8], 6)
    layout = geometry.lay_out(tree, leaf_order(tree))
    scene = build_scene(layout, None, 2.5, 2.5, least=1.0)
    apex = dict(zip(scene.node.tolist(), scene.height.tolist(), strict=True))
    assert apex[8] == 1.0
    assert apex[6] == apex[7] == 0.25  # as far as their parent, 9


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
    scene = build_scene(plain)
    assert segments(scene.path()) == plain_segments(plain)
    apart = scene.path(stems=False)
    assert segments(apart) | segments(scene.stems()) == plain_segments(plain)
    chosen = np.random.default_rng(seed).random(plain.tree.n_leaves) < 0.6
    mask = scene.slots_within(np.flatnonzero(chosen))
    want = {v for v in range(plain.tree.n_nodes) if leaves_below(plain.tree, v) <= set(
        np.flatnonzero(chosen).tolist())}  # fmt: skip
    assert set(scene.node[mask].tolist()) == want
    limit = float(plain.tree.height[-1]) * 0.7
    below = mask & (scene.height <= limit)
    nodes = np.zeros(plain.tree.n_nodes, bool)
    nodes[scene.node[below]] = True
    assert segments(scene.path(below, limit)) == plain_segments(plain, nodes, limit)


def test_elbows_of_the_printed_picture_are_those_of_the_page():
    tree = random_tree(np.random.default_rng(4), 12, polytomies=True)
    order = leaf_order(tree)
    scene = build_scene(geometry.lay_out(tree, order))
    assert segments(elbows(tree, order)) == segments(scene.path())


@given(layouts(), st.integers(0, 999), st.sampled_from([0.0, 2.25]), st.booleans())
def test_a_transition_begins_where_items_and_clades_were(layout, seed, fold, same):
    """Against the definition: a clade shown before is where it was, another at its own height,
    midway between the places of its outer children."""
    rng = np.random.default_rng(seed)
    n = layout.tree.n_leaves
    tree = layout.tree if same else random_tree(rng, n, polytomies=True)
    shut = np.flatnonzero(layout.collapsed) if same else ()
    order = leaf_order(tree, rng.permutation(n))
    scene, before = (
        build_scene(geometry.lay_out(tree, order, shut), None, fold),
        build_scene(layout, None, fold),
    )
    across, down, shift = 1.5, 0.5, 3.0
    start = scene.as_in(before, across, down, shift)
    was = {frozenset(before.leaves(k).tolist()): k for k in range(before.n_slots)}
    x, x0 = scene.path()[0], start.path()[0]
    assert x0.size == x.size
    assert np.array_equal(np.isnan(x0), np.isnan(x))
    for k in range(scene.n_slots):
        leaves = scene.leaves(k)
        old = was.get(frozenset(leaves.tolist()))
        if k < scene.n_closed:
            rows = layout.leaf_y[[leaves[0], leaves[-1]]]
            assert start.y[k] == pytest.approx(down * rows.mean() + shift)
            assert start.height[k] == scene.height[k]
        elif old is None:
            assert start.y[k] == (start.y[scene.low[k]] + start.y[scene.high[k]]) / 2
            assert start.height[k] == scene.height[k]
        else:
            assert start.y[k] == pytest.approx(down * before.y[old] + shift)
            assert start.height[k] == pytest.approx(across * before.height[old])
    still = scene.as_in(scene)
    for name in ("y", "height", "top", "bottom"):
        assert np.allclose(getattr(still, name), getattr(scene, name)), name


@given(layouts(), st.sampled_from([0.0, 1.5, 2.25]))
def test_pieces_of_the_path_come_in_the_order_that_the_browser_reads(layout, fold):
    scene = build_scene(layout, None, fold)
    x, _ = scene.path()
    ends = np.flatnonzero(np.isnan(x))
    starts = np.r_[0, ends[:-1] + 1] if ends.size else np.empty(0, int)
    bars = [x[a + 1] for a, b in zip(starts, ends, strict=True) if b - a == 4]
    sides = [x[a + 1] for a, b in zip(starts, ends, strict=True) if b - a == 3]
    assert bars == scene.height[scene.open].astype(np.float32).tolist()[: len(bars)]
    assert len(bars) == scene.n_slots - scene.n_closed
    assert sides == scene.height[scene.triangles].astype(np.float32).tolist()


def test_a_caterpillar_of_20000_leaves_is_drawn():
    tree = caterpillar(20_000)
    layout = geometry.lay_out(tree, leaf_order(tree))
    scene = build_scene(layout)
    x, _ = scene.path()
    assert np.isnan(x).sum() == tree.n_internal
    assert scene.pick(tree.height[-1] + 1, 0.0) == scene.n_slots - 1
    deepest = [int(x) for x in np.argsort(tree.depth[: tree.n_leaves])[-2:]]
    x, _ = scene.path_down(tree.root, deepest)
    assert len(x) == 4 * tree.n_leaves  # every inner node but the root, and the two leaves


def test_a_way_goes_from_a_node_down_to_the_leaves_and_nowhere_else():
    #       8
    #     7   \
    #   6  \   \
    #  0 1  2  5=(3, 4)
    tree = Tree([6, 6, 7, 5, 5, 8, 7, 8, -1], [0, 0, 0, 0, 0, 1, 1, 2, 3], 5)
    layout = geometry.lay_out(tree, range(5))
    x, y = build_scene(layout).path_down(8, [0, 4])
    lines = [
        [(a, b) for a, b in zip(x[k : k + 3].tolist(), y[k : k + 3].tolist(), strict=True)]
        for k in range(0, len(x), 4)
    ]
    row = layout.y
    assert sorted(lines) == sorted(
        [(tree.height[v], row[v]), (tree.height[p], row[v]), (tree.height[p], row[p])]
        for v, p in ((0, 6), (4, 5), (5, 8), (6, 7), (7, 8))
    )
    assert np.isnan(x[3::4]).all()
    # within a collapsed clade there is nothing to see
    x, _ = build_scene(geometry.lay_out(tree, range(5), [5])).path_down(8, [4])
    assert x[:3].tolist() == [1, 3, 3]
    assert len(x) == 4


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
    scene = build_scene(layout)
    assert scene.node[scene.pick(x, y)] == plain_pick(layout, x, y)


@given(layouts(), st.sampled_from([1.5, 2.25, 5.3]), st.floats(0, 1.2), st.floats(0, 0.999))
def test_a_triangle_is_picked_as_a_whole(layout, fold, x, y):
    scene = build_scene(layout, None, fold)
    x, y = x * float(layout.tree.height[-1] or 1), y * layout.n_rows
    slot = scene.pick(x, y)
    assert scene.top[slot] <= y < scene.bottom[slot]
    closed = [k for k in range(scene.n_closed) if scene.top[k] <= y < scene.bottom[k]]
    assert len(closed) == 1
    assert scene.pick(-1.0, y) == closed[0]
    above = [closed[0]]
    while scene.parent[above[-1]] >= 0:
        above.append(int(scene.parent[above[-1]]))
    assert slot == [k for k in above if k == closed[0] or scene.height[k] <= x][-1]


def test_picking_beyond_the_edges_still_picks():
    tree = from_nested(((0, 1), 2), 3)
    scene = build_scene(geometry.lay_out(tree, [0, 1, 2]))

    def pick(*at, **how):
        return scene.node[scene.pick(*at, **how)]

    assert pick(-0.5, 1.2) == 1  # right of the leaves: the leaf itself
    assert pick(0.9, -4.0) == 0  # above the first row, near its leaf
    assert pick(99.0, 99.0) == tree.root
    assert pick(0.9, 0.5, slack=0.2) == 3  # a little right of the bar


@given(layouts(), st.sampled_from([0.0, 2.25]), st.integers(0, 99))
def test_the_slot_of_a_node_is_the_smallest_that_holds_it(layout, fold, seed):
    scene = build_scene(layout, None, fold)
    node = seed % layout.tree.n_nodes
    wanted = set(layout.leaves(node).tolist())
    holding = [k for k in range(scene.n_slots) if wanted <= set(scene.leaves(k).tolist())]
    assert scene.slot_of(node) == min(holding, key=lambda k: (scene.count[k], k))


def test_codes_of_a_bundle_are_those_that_its_ends_share():
    tree = Tree.star(9)
    scene = build_scene(geometry.lay_out(tree, range(9)), None, 3.0)
    codes = np.array([1, 1, 1, 0, 1, 1, 2, 2, 2, 7])
    assert scene.codes(codes).tolist() == [1, -1, 2, 7]
