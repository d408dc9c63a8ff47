"""The centre without a browser: what its sources hold after each call the page can make."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.model import Model
from scipy.cluster.hierarchy import linkage

from hcviz import HcvizError, Tree
from hcviz.core.layout import without_nodes
from hcviz.io.picture import draw_picture
from hcviz.ui.parts.palette import LIGHT
from hcviz.ui.tree import Centre, Items, Pick, geometry, partition
from hcviz.ui.tree.labels import BOLD, column_width
from hcviz.ui.tree.legend import legend
from hcviz.ui.tree.minimap import MAP_PX, MARGIN_PX
from hcviz.ui.tree.tooltip_text import describe_cell, describe_slot
from tests.trees import caterpillar, random_tree

N = 40


@pytest.fixture
def items() -> Items:
    rng = np.random.default_rng(5)
    features = rng.standard_normal((N, 6)) + 4 * (np.arange(N) % 2)[:, None]
    features[3, 2] = np.nan
    known = np.nan_to_num(features)
    return Items(
        [f"item {i}" for i in range(N)],
        features,
        [f"f{k}" for k in range(6)],
        ["odd" if i % 2 else "even" for i in range(N)],
        similarity=np.corrcoef(known),
        title="Forty",
    )


@pytest.fixture
def tree(items) -> Tree:
    return Tree.from_linkage(linkage(np.nan_to_num(items.features), "average"))


@pytest.fixture
def centre(items, tree) -> Centre:
    made = Centre(on_pick=lambda pick: None)
    made.set_items(items)
    made.set_tree(tree)
    return made


def shown_image(centre: Centre) -> np.ndarray:
    return centre.figures.heat.whole.data["image"][0]


def test_the_heatmap_has_the_rows_of_the_tree(centre, items):
    levels = centre.source.cells.levels
    assert np.array_equal(shown_image(centre), levels[np.ix_(centre.order, centre.order)])
    centre.set_matrix("features", scaling="none", columns="file")
    assert np.array_equal(shown_image(centre), centre.source.cells.levels[centre.order])
    assert (shown_image(centre) == 255).sum() == 1
    centre.set_matrix("none")
    assert len(centre.figures.heat.whole.data["image"]) == 0


def models_of(part, seen=None):
    """The Bokeh models that a part of the centre holds, and those of its parts."""
    seen = set() if seen is None else seen
    if id(part) in seen:
        return
    seen.add(id(part))
    if isinstance(part, Model):
        yield part
    elif isinstance(part, (dict, list, tuple)):
        for each in part.values() if isinstance(part, dict) else part:
            yield from models_of(each, seen)
    elif type(part).__module__.startswith("hcviz.ui"):
        yield from models_of(vars(part) if hasattr(part, "__dict__") else (), seen)


def test_all_sources_of_the_centre_are_in_the_page(centre):
    """What no document holds never reaches a browser, and nothing says so."""
    document = Document()
    document.add_root(centre.figures.grid.grid)
    models = list(models_of(centre))
    assert centre.figures.heat.whole in models
    assert all(model.document is document for model in models)


def test_a_heatmap_is_sent_in_the_order_of_each_tree(centre, tree):
    levels = centre.source.cells.levels
    for each in (tree, random_tree(np.random.default_rng(1), N), tree):
        centre.set_tree(each)
        columns = centre.order if centre.source.cells.order is None else centre.source.cells.order
        assert np.array_equal(
            centre.figures.heat.whole.data["image"][0], levels[np.ix_(centre.order, columns)]
        )


def test_a_new_tree_moves_nothing_that_need_not_move(centre, tree):
    before = centre.order.copy()
    centre.set_tree(Tree(tree.parent, tree.height * 2, N))
    assert np.array_equal(centre.order, before)


def test_selection_and_collapse_follow_their_leaves_not_their_nodes(centre, tree):
    clade = next(leaves for leaves in tree.clades() if 4 <= leaves.size <= 8)
    centre.set_selection(clade)
    assert centre.toggle_collapse(clade)
    rows = centre.state.layout.n_rows
    assert rows == N - clade.size + geometry.WEDGE_ROWS
    # Another numbering of the same hierarchy: heights scaled, so Ward's order of merges changes.
    again = Tree.from_newick(tree.to_newick())
    centre.set_tree(again)
    assert centre.state.layout.n_rows == rows
    assert set(centre.state.selected) == set(clade.tolist())
    centre.set_tree(caterpillar(N))  # the clade is gone, and its wedge with it
    assert centre.state.layout.n_rows == N
    centre.set_tree(tree)  # it is back
    assert centre.state.layout.n_rows == rows
    assert centre.toggle_collapse(clade)
    assert centre.state.layout.n_rows == N


def test_branches_open_for_their_leaves_at_any_depth(centre, tree):
    small = next(leaves for leaves in tree.clades() if 3 <= leaves.size <= 8)
    node = tree.smallest_clade(small)
    large = tree.leaves(int(tree.parent[node]))
    other = next(x for x in tree.clades() if 3 <= x.size <= 8 and not np.isin(x, large).any())
    for clade in (small, other, large):
        assert centre.toggle_collapse(clade)
    shut = centre.state.layout.n_rows
    centre.expand(small[:1])
    assert centre.state.layout.n_rows == N - other.size + geometry.WEDGE_ROWS > shut
    centre.expand(small)  # open already
    centre.expand(other)
    assert centre.state.layout.n_rows == N


def test_the_root_and_a_leaf_do_not_collapse(centre):
    assert not centre.toggle_collapse([3])
    assert not centre.toggle_collapse(range(N))
    assert not centre.toggle_collapse([])


def test_zoom_stays_when_a_tree_arrives_and_goes_when_it_is_reset(centre, tree):
    centre.focus(centre.order[10:14])
    window = centre.window.rows
    assert window[0] <= 10
    assert window[1] >= 14
    assert window[1] - window[0] < N
    centre.set_tree(Tree(tree.parent, tree.height * 1.5, N))
    assert centre.window.rows == pytest.approx(window)
    centre.reset_zoom()
    assert centre.window.rows[0] <= 0
    assert centre.window.rows[1] >= N


def test_between_items_both_axes_show_the_same_items(centre):
    centre.focus(centre.order[5:9])
    x, y = centre.figures.heat.x_range, centre.window.range
    assert (x.start, x.end) == (-y.end, -y.start)


def test_clicks_become_picks(items, tree):
    picks: list[Pick] = []
    centre = Centre(on_pick=picks.append)

    class Event:
        sx = sy = 50.0

        def __init__(self, x, y, modifiers=None):
            self.x, self.y, self.modifiers = x, y, modifiers

    centre.pointer.tap("tree", Event(1.0, -2.0))
    assert picks[-1].kind == "none"
    centre.set_items(items)
    centre.set_tree(tree)
    centre.pointer.tap("tree", Event(float(tree.height[-1]) * 1.01, -3.2, {"shift": True}))
    assert picks[-1].kind == "clade"
    assert picks[-1].shift
    assert sorted(picks[-1].leaves) == list(range(N))
    for figure in ("labels", "heat", "strips"):
        centre.pointer.tap(figure, Event(4.0, -3.2))
        assert picks[-1].kind == "leaf"
        assert picks[-1].leaves == (centre.order[3],)


def test_a_double_click_collapses_and_reports_it(items, tree):
    toggled, picks = [], []
    centre = Centre(on_pick=picks.append, on_toggle=toggled.append)
    centre.set_items(items)
    centre.set_tree(tree)
    node = tree.n_nodes - 2

    class Event:
        x = float(tree.height[node])
        y = -float(centre.state.layout.y[node])
        sx, sy = 30.0, 40.0
        modifiers = None

    class Elsewhere(Event):
        sx = 90.0

    centre.pointer.tap("tree", Elsewhere())
    centre.pointer.double_tap("tree", Event())  # quick, but in two places: two clicks
    assert toggled == []
    assert len(picks) == 2
    centre.pointer.double_tap("tree", Event())
    assert set(toggled[0]) == set(tree.leaves(node).tolist())
    assert centre.state.layout.n_rows == N - tree.size[node] + geometry.WEDGE_ROWS


def test_a_cut_shows_its_clusters_and_is_drawn(centre, tree):
    level = float(np.sort(tree.height)[-4])
    assert centre.set_cut(level) == 4
    assert len(centre.figures.strips.source.data["image"]) == 2  # classes and clusters
    assert len(centre.figures.dendrogram.clusters.data["colour"]) >= 1
    assert centre.figures.dendrogram.cut_grip.location == level
    centre.set_cut(None)
    assert len(centre.figures.strips.source.data["image"]) == 1
    assert len(centre.figures.dendrogram.clusters.data["colour"]) == 0


def test_dragging_the_cut_line_reports_height_and_clusters(items, tree):
    cuts = []
    centre = Centre(on_pick=lambda pick: None, on_cut=lambda *args: cuts.append(args))
    centre.set_items(items)
    centre.set_tree(tree)
    level = float(np.sort(tree.height)[-3])
    centre.figures.dendrogram.cut_grip.location = level
    assert cuts[-1] == (level, 3)
    centre.figures.dendrogram.cut_grip.location = float(tree.height[-1]) * 1.01
    assert cuts[-1] == (None, 0)


@pytest.mark.parametrize("count", [1, 2, N])
def test_a_line_that_was_placed_by_the_page_is_not_dragged(items, tree, count):
    """Bokeh reports the line's place after a batch of changes, when the page has placed it.

    The line of one cluster is above the root. A line that is dragged there is removed.
    """
    cuts = []
    centre = Centre(on_pick=lambda pick: None, on_cut=lambda *args: cuts.append(args))
    centre.set_items(items)
    centre.set_tree(tree)
    document = Document()
    document.add_root(centre.figures.grid.grid)
    document.hold("combine")
    centre.set_partition(partition.by_count(tree, count))
    document.unhold()
    assert cuts == []
    assert len(np.unique(centre.clusters())) == count


def test_marks_differ_by_shape_and_colour(centre):
    centre.set_marks([1, 2], [7])
    marks = centre.figures.labels.marks.data
    assert list(marks["shape"]) == ["circle", "circle", "inverted_triangle"]
    assert len(set(marks["ink"])) == 2
    rows = [centre.state.layout.place[i] + 0.5 for i in (1, 2, 7)]
    assert [-y for y in marks["y"]] == rows
    centre.set_marks()
    assert len(centre.figures.labels.marks.data["x"]) == 0


def test_a_tree_of_other_items_is_refused_and_nothing_changes(centre):
    before = centre.order.copy()
    with pytest.raises(HcvizError, match="7 leaves, and there are 40"):
        centre.set_tree(caterpillar(7))
    assert np.array_equal(centre.order, before)
    with pytest.raises(HcvizError, match="39 inner nodes"):
        centre.set_support([0.1, 0.2])


def test_the_branch_above_a_clade_that_few_trees_have_is_drawn_lighter(centre):
    """Against the definition: from the clade's height to its parent's, in the clade's row."""
    layout = centre.state.layout
    tree = layout.tree
    support = np.where(np.arange(tree.n_internal) % 3 == 0, 0.2, 0.5)
    support[-1] = 0.0  # the root has no branch
    centre.set_support(support)
    lines = centre.figures.dendrogram.uncertain.data
    found = np.stack([lines["x"], lines["y"]], 1).reshape(-1, 3, 2)
    assert np.isnan(found[:, 2]).all()
    unsure = tree.n_leaves + np.flatnonzero(support[:-1] < 0.5)
    expected = {
        (float(np.float32(tree.height[v])), float(np.float32(tree.height[tree.parent[v]])))
        for v in unsure
    }
    assert {(float(a[0]), float(b[0])) for a, b, _ in found} == expected
    assert len(found) == len(unsure)
    assert np.array_equal(found[:, 0, 1], found[:, 1, 1])
    centre.set_support(None)
    assert not len(centre.figures.dendrogram.uncertain.data["x"])


@pytest.mark.parametrize("n", [5, 150, 2_000])
def test_merged_clades_are_not_drawn_and_all_else_works(n):
    """The tree itself stays: what is selected, cut, collapsed and stated is of all its clades."""
    rng = np.random.default_rng(n)
    tree = random_tree(rng, n)
    merged = rng.random(tree.n_internal) < 0.6
    merged[-1], merged[-2] = True, True  # the root cannot be merged
    picks = []
    centre = Centre(on_pick=picks.append)
    centre.set_items(Items([f"item {i}" for i in range(n)], similarity=np.eye(n)))
    centre.set_tree(tree, merged=merged)
    order = centre.order.copy()
    drawn = set(centre.renderer.scene.node[centre.renderer.scene.is_open].tolist())
    hidden = {n + k for k in np.flatnonzero(merged).tolist()} - {tree.root}
    assert not drawn & hidden
    assert tree.root in drawn
    for node in sorted(hidden)[-5:]:
        above = tree.parent[node]
        while int(above) in hidden:
            above = tree.parent[above]

        class Event:
            x = float(tree.height[node] + tree.height[above]) / 2
            y = -float(centre.state.layout.y[node])
            sx = sy = 0.0
            modifiers = None

        leaves = tree.leaves(node)
        centre.pointer.tap(
            "tree", Event()
        )  # right of where its bar would be: below it, or above it
        assert {int(i) for i in picks[-1].leaves} != {int(i) for i in leaves}
        centre.set_selection(leaves)  # from elsewhere
        x = centre.figures.dendrogram.layers["selection"].data["x"]
        assert len(x)
        assert np.nanmax(x) == np.float32(tree.height[above])
        text = centre.pointer.describe("tree", float(tree.height[above]), Event.y)[1]
        assert "uncertain splits in this branch are drawn as one" in text
        assert centre.toggle_collapse(leaves)  # it is drawn as long as it is collapsed
        assert node in centre.renderer.scene.node.tolist()
        assert centre.toggle_collapse(leaves)
        assert node not in centre.renderer.scene.node.tolist()
    assert centre.set_cut(float(tree.height[-1]) * 0.999) >= 2
    centre.set_support(np.where(merged, 0.2, 0.8), 0.5)
    assert not len(
        centre.figures.dendrogram.uncertain.data["x"]
    )  # nothing is left to be drawn lighter
    assert set(centre.figures.dendrogram.support.data["text"]) <= {"80"}
    centre.set_merged(None)
    if n <= 150:
        assert hidden <= set(centre.renderer.scene.node.tolist())
    assert np.array_equal(centre.order, order)
    centre.set_merged(np.zeros(tree.n_internal, bool))
    with pytest.raises(HcvizError, match="1 marks were given"):
        centre.set_merged([True])


def test_a_saved_picture_has_the_merged_clades_as_one(centre):
    tree = centre.state.layout.tree
    support = np.linspace(1.0, 0.0, tree.n_internal)
    merged = support < 0.3
    merged[-1] = False
    names = [f"{100 * value:.0f}" for value in support]

    def written(**given):
        data = centre.picture_data() | {"heat": None} | given
        return draw_picture(**data).decode()

    centre.set_support(support, 0.3)
    centre.set_cut(float(tree.height[-1]) / 2)
    whole = written()
    centre.set_merged(merged)
    one = written()
    other, kept = without_nodes(tree, merged)
    plain = written(
        tree=other, merged=None, support=support[kept[tree.n_leaves :] - tree.n_leaves],
        clusters=centre.picture_data()["clusters"][kept],
    )  # fmt: skip
    assert one == plain != whole
    large = [k for k in range(tree.n_internal - 1) if tree.size[tree.n_leaves + k] > 2]
    for k in large:
        there = f" {names[k]} " in one
        assert there or merged[k]
    assert any(f" {names[k]} " not in one for k in large)


def moves(centre) -> set[str]:
    """The sources that say where their points were before."""
    tree, labels = centre.figures.dendrogram, centre.figures.labels
    named = {"tree": tree.tree, "clusters": tree.clusters, "support": tree.support,
             "uncertain": tree.uncertain, "selection": tree.layers["selection"],
             "new": tree.layers["new"], "text": labels.text, "leads": labels.leads}  # fmt: skip
    return {name for name, source in named.items() if {"y0", "ys0"} & set(source.data)}


def test_the_last_tree_of_a_run_comes_from_the_picture_before():
    """Each source has the columns of :meth:`TreeScene.as_in`; a picture on the way has none."""
    n = 101
    tree, other = (random_tree(np.random.default_rng(seed), n) for seed in (2, 3))
    centre = Centre(on_pick=lambda pick: None)
    centre.set_items(Items([f"item {i}" for i in range(n)]))
    centre.set_tree(tree)
    centre.set_tree(other, animate=False)
    assert not moves(centre)
    centre.set_tree(tree)  # at once after that: nothing moves
    assert not moves(centre)
    centre.set_selection([3, 5])
    before, top = centre.renderer.scene, centre.figures.dendrogram.top
    names = dict(centre.figures.labels.text.data)
    centre.set_tree(other, animate=False, last=True, new_nodes=[other.root])
    scale = centre.figures.dendrogram.top / top
    start = centre.renderer.scene.as_in(before, scale)
    for found, expected in (
        (centre.figures.dendrogram.tree.data, start.path()),
        (
            centre.figures.dendrogram.layers["new"].data,
            start.bars([centre.renderer.scene.n_slots - 1]),
        ),
    ):
        assert np.allclose(found["x0"], expected[0], equal_nan=True)
        assert np.allclose(found["y0"], -expected[1], equal_nan=True, atol=1e-5)
        assert found["x0"].size == found["x"].size == found["y0"].size
    centre.set_cut(float(other.height[-1]) / 2)
    centre.set_support(np.linspace(0.0, 1.0, n - 1))
    assert moves(centre) == {
        "tree", "clusters", "support", "uncertain", "selection", "new", "text", "leads"
    }  # fmt: skip
    assert all(np.isfinite(-np.asarray(centre.figures.labels.text.data["y0"])))
    for name in ("x", "y"):
        a, b = (centre.figures.dendrogram.clusters.data[f"{name}s{end}"] for end in ("", "0"))
        assert [len(each) for each in a] == [len(each) for each in b]
    text = centre.figures.labels.text.data
    was = {name: (x, y) for name, x, y in zip(text["text"], text["x0"], text["y0"], strict=True)}
    assert len(set(names["x"])) > 1  # two columns
    assert was == dict(zip(names["text"], zip(names["x"], names["y"], strict=True), strict=True))


@pytest.mark.parametrize(("n", "moved"), [(5, True), (600, True), (601, False), (2_000, False)])
def test_a_tree_of_more_than_600_items_does_not_move(n, moved):
    centre = Centre(on_pick=lambda pick: None)
    centre.set_items(Items([f"item {i}" for i in range(n)]))
    for seed in (1, 2):
        centre.set_tree(random_tree(np.random.default_rng(seed), n), last=True)
        assert ("tree" in moves(centre)) == (moved and seed == 2)


def test_new_items_take_everything_old_away(centre):
    centre.set_cut(1.0)
    centre.set_selection([1])
    centre.set_marks([1], [2])
    centre.set_items(Items(["a", "b"], similarity=np.eye(2)))
    assert centre.order.size == 0
    assert len(centre.figures.dendrogram.tree.data["x"]) == 0
    assert "No tree yet" in centre.figures.grid.placeholder.object
    centre.set_tree(Tree.star(2))
    assert centre.figures.grid.placeholder.object == ""
    assert len(centre.figures.labels.marks.data["x"]) == 0
    assert len(centre.figures.strips.source.data["image"]) == 0


def test_one_item_and_no_items_can_be_shown():
    centre = Centre(on_pick=lambda pick: None)
    assert "No data yet" in centre.figures.grid.placeholder.object
    with pytest.raises(HcvizError, match="no tree"):
        centre.picture_data()
    centre.set_items(Items(["alone"], np.ones((1, 1)), similarity=np.ones((1, 1))))
    centre.set_tree(Tree([-1], [0.0], 1))
    assert list(centre.figures.labels.text.data["text"]) == ["alone"]


def test_all_101_short_names_are_whole_and_long_ones_are_cut_with_an_ellipsis():
    for names, cut in (([f"seasnake{i}" for i in range(101)], False), (["x" * 90] * 101, True)):
        items = Items(names)
        centre = Centre(on_pick=lambda pick: None)
        centre.set_items(items)
        centre.set_tree(caterpillar(101))
        texts = list(centre.figures.labels.text.data["text"])
        assert len(texts) == 101
        assert all(("…" in text) == cut for text in texts)
        assert column_width(items) <= 200


def test_many_rows_are_thinned_but_what_is_selected_is_named():
    items = Items([f"item {i}" for i in range(3_000)])
    centre = Centre(on_pick=lambda pick: None)
    centre.set_items(items)
    centre.set_tree(caterpillar(3_000))
    assert 20 < len(centre.figures.labels.text.data["text"]) < 120
    assert "item 1234" not in centre.figures.labels.text.data["text"]
    centre.set_selection([1234])
    assert "item 1234" in centre.figures.labels.text.data["text"]


def test_no_text_goes_from_a_living_page():
    """Bokeh may still be at the longer list: it would ask for the style of a text that is gone."""
    centre = Centre(on_pick=lambda pick: None)
    document = Document()
    document.add_root(centre.figures.labels.figure)
    text = centre.figures.labels.text
    for n in (30, 12, 20):
        centre.set_items(Items([f"item {i}" for i in range(n)]))
        centre.set_tree(caterpillar(n))
        assert [len(each) for each in text.data.values()] == [30] * len(text.data)
        assert sorted(filter(None, text.data["text"])) == sorted(f"item {i}" for i in range(n))
        assert all(
            (y < 0) == (name != "")
            for name, y in zip(text.data["text"], text.data["y"], strict=True)
        )


def test_thumbnails_appear_when_rows_are_high_enough():
    png = b"\x89PNG\r\n\x1a\n"
    items = Items([str(i) for i in range(400)], images=[png] * 399 + [None])
    centre = Centre(on_pick=lambda pick: None)
    centre.set_items(items)
    centre.set_tree(caterpillar(400))
    assert len(centre.figures.labels.pictures.data["url"]) == 0
    centre.focus(centre.order[:4])
    assert len(centre.figures.labels.pictures.data["url"]) > 3
    assert all(
        url.startswith("data:image/png;base64,")
        for url in centre.figures.labels.pictures.data["url"]
    )


def test_the_tooltip_names_clades_leaves_and_cells(centre, items):
    layout, strips = centre.state.layout, centre.state.strips
    scene = centre.renderer.scene
    title, text = describe_slot(scene, items, strips, scene.slot_of(3), None)
    assert (title, text) == ("item 3", "class: odd")
    support = np.full(layout.tree.n_nodes, 0.25)
    title, text = describe_slot(scene, items, strips, scene.n_slots - 1, support)
    assert title == "40 items"
    assert "and 36 more" in text
    assert "support 25%" in text
    assert "even 20" in text
    row, column = layout.place[3], layout.place[8]
    _, text, cell = describe_cell(layout, items, centre.source.cells, "item 3", column + 0.5, row)
    assert text == f"similarity {items.similarity[3, 8]:.4g}"
    assert cell == (column, row)
    centre.set_matrix("features", columns="file")
    assert describe_cell(layout, items, centre.source.cells, "item 3", 2.5, row)[1] == "f2: missing"
    value_text = describe_cell(layout, items, centre.source.cells, "item 3", 4.5, row)[1]
    assert value_text == f"f4: {items.features[3, 4]:.4g}"


def test_names_from_the_data_cannot_bring_markup():
    bad = "<img src=x onerror=alert(1)>"
    items = Items(["a", "b"], classes=[bad, "fine"], title=bad)
    assert "<img" not in legend(items.title, 2, items.strips(), None, LIGHT)


def test_the_legend_shows_whole_chips_and_counts_the_others():
    names = [f"class number {k}" for k in range(8)]
    items = Items(names, classes=names, title="Eight")
    for width, whole in ((10_000, 8), (560, None), (420, None), (120, 0)):
        html = legend(items.title, 8, items.strips(), None, LIGHT, width)
        shown = [name for name in names if f"</span>{name}</span>" in html]
        assert shown == names[: len(shown)]
        assert whole is None or len(shown) == whole
        assert whole is not None or 0 < len(shown) < 8
        rest = f"and {8 - len(shown)} more" if shown else "8 classes"
        assert (rest in html) == (len(shown) < 8)


def test_names_of_classes_are_shortened_rather_than_left_out():
    names = ["amphibian", "bird", "fish", "insect", "invertebrate", "mammal", "reptile"]
    items = Items(names, classes=names, title="Zoo")
    html = legend(items.title, 7, items.strips(), None, LIGHT, 540)
    assert "more" not in html
    assert "</span>bird</span>" in html
    assert "</span>invertebrate</span>" not in html
    assert "invertebrate" in html  # in the tooltip


def test_what_is_shown_can_be_saved(centre, tree):
    centre.set_cut(float(np.sort(tree.height)[-4]))
    centre.toggle_collapse(next(leaves for leaves in tree.clades() if leaves.size > 3))
    centre.set_matrix("features")
    text = draw_picture(**centre.picture_data()).decode()
    assert all(f">item {i}<" in text for i in range(N))
    assert all(f">f{k}<" in text for k in range(6))


def test_no_two_centres_share_a_model():
    one, two = (Centre(on_pick=lambda pick: None) for _ in range(2))
    assert not {m.id for m in one.figures.grid.grid.references()} & {
        m.id for m in two.figures.grid.grid.references()
    }


def test_the_theme_changes_while_it_is_shown(centre):
    centre.set_cut(1.0)
    centre.set_theme("dark")
    assert centre.figures.heat.mapper.palette[-1] != LIGHT.missing
    assert LIGHT.ink not in set(centre.figures.labels.text.data["ink"])


@pytest.mark.parametrize("row_px", [6.0, 9.0, 20.0])
def test_a_bold_name_fits_its_column_too(centre, row_px):
    """A collapsed branch that is selected: bold type is wider."""
    leaves = next(leaves for leaves in centre.state.tree.clades() if 3 < leaves.size < 12)
    centre.toggle_collapse(leaves)
    centre.figures.labels.draw(
        centre.renderer.scene,
        centre.state.items,
        (0.0, float(centre.state.layout.n_rows)),
        row_px,
        selected=leaves,
    )
    data = centre.figures.labels.text.data
    k = next(k for k, text in enumerate(data["text"]) if text.startswith(f"{leaves.size}:"))
    assert data["style"][k] == "bold"
    assert data["x"][k] + BOLD * data["wide"][k] <= centre.figures.labels.width


def test_the_map_is_wide_while_something_is_out_of_view(centre):
    assert centre.figures.grid.grid.cols[-1] == f"{MARGIN_PX}px"
    centre.focus([0])
    assert centre.figures.grid.grid.cols[-1] == f"{MAP_PX}px"
    centre.reset_zoom()
    assert centre.figures.grid.grid.cols[-1] == f"{MARGIN_PX}px"


def test_another_tree_takes_the_outline_of_the_pointer_away(centre, tree):
    centre.pointer.describe("tree", float(tree.height[-1]) / 2, -3.5)
    assert len(centre.figures.heat.hovered.data["left"]) == 1
    centre.set_tree(tree)
    assert len(centre.figures.heat.hovered.data["left"]) == 0


def test_a_name_is_hit_over_its_own_box(centre):
    """At rows of 6 px names stand in two columns: each is hit above and below its own row."""
    labels = centre.figures.labels
    labels.draw(centre.renderer.scene, centre.state.items, (0.0, float(N)), 6.0)
    x, y, wide = (np.asarray(labels.text.data[name], float) for name in ("x", "y", "wide"))
    assert len(set(x)) == 2
    for k in range(1, N - 1):
        for off in (0.0, -4 / 6, 4 / 6):
            assert labels.row_at(x[k] + wide[k] / 2, -y[k] + off, 6.0) == -y[k]
    assert labels.row_at(x[0] - 5, 7.3, 6.0) == 7.3  # beside the names the row itself


def test_a_name_is_not_cut_shorter_when_it_is_selected(centre):
    before = list(centre.figures.labels.text.data["text"])
    centre.set_selection(range(N))
    assert list(centre.figures.labels.text.data["text"]) == before


def test_a_tree_that_was_folded_in_a_low_window_is_whole_in_a_higher_one(centre):
    centre.figures.assumed_height = N // 4
    centre.renderer.refresh_window()
    assert centre.renderer.scene.triangles.size
    centre.figures.assumed_height = 15 * N
    centre.renderer.refresh_window()
    assert not centre.renderer.scene.triangles.size
    assert set(centre.figures.labels.text.data["text"]) == set(centre.state.items.labels)


def test_a_collapsed_clade_has_an_ellipsis_only_for_items_that_are_not_listed(centre):
    two = next(leaves for leaves in centre.state.tree.clades() if leaves.size == 2)
    centre.toggle_collapse(two)
    centre.figures.labels.set_width(400)
    centre.renderer.draw_labels()
    text = next(t for t in centre.figures.labels.text.data["text"] if t.startswith("2: "))
    assert sorted(text.removeprefix("2: ").split(", ")) == sorted(f"item {i}" for i in two)
