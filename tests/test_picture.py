"""The saved picture: what is in it, in which order, and that it is the same file every time."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from hcviz import HcvizError, Tree
from hcviz.core.errors import InvalidData
from hcviz.core.layout import cut_clusters, leaf_order
from hcviz.io.picture import ClassStrip, HeatmapData, PageColours, draw_page, draw_picture
from tests.trees import caterpillar, from_nested, random_tree

TREE = from_nested(((0, 1), ((2, 3), 4)), 5)
NAMES = ["bat", "<whale> & son", "$x_1$ trout", "newt", "wasp"]
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: bytes) -> dict[str, tuple[float, float]]:
    """Every text of the picture with the place where it stands (x, y downward)."""
    found = {}
    for node in ET.fromstring(svg).iter(f"{SVG}text"):
        place = re.search(r"translate\(([-\d.]+) ([-\d.]+)\)", node.get("transform", ""))
        at = place.groups() if place else (node.get("x"), node.get("y"))
        found["".join(node.itertext()).strip()] = (float(at[0]), float(at[1]))
    return found


def test_labels_stand_in_the_order_asked_for_as_text():
    order = [4, 2, 3, 1, 0]
    shown = texts(draw_picture(TREE, NAMES, order=order, title="Five & more"))
    assert "Five & more" in shown
    heights = [shown[NAMES[i]][1] for i in order]
    assert heights == sorted(heights)
    assert np.ptp(np.diff(heights)) < 0.01  # evenly spaced
    assert len({shown[name][0] for name in NAMES}) == 1  # flush left


def test_supports_stand_on_the_branches_and_the_axis_is_named():
    support = np.array([0.9, 0.4, 0.7, 1.0])[-TREE.n_internal :]
    shown = texts(draw_picture(TREE, NAMES, support=support, axis_title="distance"))
    assert "distance" in shown
    large = [k for k in range(TREE.n_internal - 1) if TREE.size[TREE.n_leaves + k] > 2]
    assert large
    for k in large:
        assert f"{100 * support[k]:.0f}" in {text.strip() for text in shown}
    sure = draw_picture(TREE, NAMES, support=np.ones(TREE.n_internal), format="png")
    unsure = draw_picture(TREE, NAMES, support=np.full(TREE.n_internal, 0.3), format="png")
    faint = tuple(int(PageColours().faint[k : k + 2], 16) for k in (1, 3, 5))

    def pixels(png):
        found = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
        return int((found == faint).all(axis=2).sum())

    assert pixels(unsure) > 50 > pixels(sure)
    with pytest.raises(InvalidData, match="2 supports"):
        draw_picture(TREE, NAMES, support=[0.1, 0.2])


def test_rows_of_the_heatmap_and_of_the_labels_are_the_same_rows():
    values = np.full((5, 5), 0.0)
    values[3, :] = 1.0  # the newt's row is the only bright one
    order = [0, 1, 4, 3, 2]
    heat = HeatmapData(values, 0, 1, ["#000000", "#ffffff"], "similarity")
    svg = texts(draw_picture(TREE, NAMES, order=order, heat=heat))
    png = Image.open(io.BytesIO(draw_picture(TREE, NAMES, order=order, heat=heat, format="png")))
    pixels = np.asarray(png.convert("L")).astype(int)
    # A column of pixels through the heatmap: the only white between its black rows.
    column = pixels[:, int(pixels.shape[1] - 0.5 * 150)]
    black = np.flatnonzero(column == 0)
    inside = np.arange(black[0], black[-1] + 1)
    bright = inside[column[inside] == 255]
    assert bright.size > 0
    # SVG points are 1/72 inch, pixels 1/150; a label's baseline is just below its row's middle
    newt = svg["newt"][1] * 150 / 72
    assert bright.min() < newt <= bright.max() + 1


def test_class_names_cells_and_column_names_are_there():
    strip = ClassStrip(
        "class", np.array([0, 1, 1, 255, 0], np.uint8), ["fur", "fin"], ["#ff0000", "#00ff00"]
    )
    values = np.array([[1.0, 2, 3]] * 5)
    values[0, 0] = np.nan
    columns = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3)
    heat = HeatmapData(
        values,
        1,
        3,
        ["#000000", "#888888", "#ffffff"],
        "z-score",
        ["legs", "wings", "eyes"],
        [2, 0, 1],
        columns,
    )
    options = {"heat": heat, "strips": [strip], "ink": PageColours(missing="#0000ff")}
    shown = texts(draw_picture(TREE, NAMES, **options))
    assert {"fur", "fin", "legs", "wings", "eyes", "z-score"} <= set(shown)
    assert shown["eyes"][0] < shown["legs"][0] < shown["wings"][0]
    png = np.asarray(Image.open(io.BytesIO(draw_picture(TREE, NAMES, **options, format="png"))))
    colours = {tuple(c) for c in png.reshape(-1, png.shape[-1])[:, :3].tolist()}
    assert {(255, 0, 0), (0, 255, 0), (0, 0, 255)} <= colours


def test_clusters_are_coloured_and_the_cut_is_drawn():
    codes = np.where(cut_clusters(TREE, 1.0) >= 0, 0, -1)
    plain = draw_picture(TREE, NAMES).decode()
    cut = draw_picture(TREE, NAMES, clusters=codes, cluster_colours=["#ff00aa"], cut=1.0).decode()
    assert "#ff00aa" in cut
    assert "#ff00aa" not in plain
    assert cut.count("stroke-dasharray") > plain.count("stroke-dasharray")


@pytest.mark.parametrize("format", ["svg", "pdf", "png"])
def test_the_same_picture_is_the_same_file(format):
    assert draw_picture(TREE, NAMES, format=format) == draw_picture(TREE, NAMES, format=format)


def test_the_svg_asks_nothing_of_the_outside():
    values = np.random.default_rng(0).random((5, 5))
    text = draw_picture(
        TREE, NAMES, heat=HeatmapData(values, 0, 1, ["#000000", "#ffffff"])
    ).decode()
    links = re.findall(r'(?:href|src)="([^"#][^"]*)"', text)
    assert all(link.startswith("data:image/png;base64,") for link in links)
    assert "<script" not in text


@pytest.mark.parametrize(
    "tree",
    [Tree([-1], [0.0], 1), Tree.star(2), caterpillar(3_000)],
    ids=["one leaf", "two leaves", "a chain of 3,000"],
)
def test_the_smallest_and_the_tallest_can_be_saved(tree):
    names = [f"item {i}" for i in range(tree.n_leaves)]
    image = Image.open(io.BytesIO(draw_picture(tree, names, format="png")))
    assert image.height <= 62 * 150
    assert image.getextrema()[0][0] < 255  # something is drawn


def test_the_order_is_depth_first_by_default():
    tree = random_tree(np.random.default_rng(1), 9)
    names = [f"name{i}" for i in range(9)]
    shown = texts(draw_picture(tree, names))
    assert sorted(names, key=lambda name: shown[name][1]) == [names[i] for i in leaf_order(tree)]


def test_what_does_not_fit_is_refused_with_a_sentence():
    with pytest.raises(HcvizError, match="svg, pdf or png"):
        draw_picture(TREE, NAMES, format="gif")
    with pytest.raises(HcvizError, match="4 labels for 5"):
        draw_picture(TREE, NAMES[:4])
    with pytest.raises(HcvizError, match="each of the 5 leaves once"):
        draw_picture(TREE, NAMES, order=[0, 1, 2, 3, 3])
    with pytest.raises(HcvizError, match="5 rows"):
        draw_picture(TREE, NAMES, heat=HeatmapData(np.zeros((4, 4)), 0, 1, ["#000000"]))


# ---------------------------------------------------------------------- pages of a stated size


@pytest.mark.parametrize("with_heat", [False, True])
@pytest.mark.parametrize("size", [(210.0, 297.0), (297.0, 210.0), (338.0, 190.0)])
def test_a_page_has_the_stated_size_and_everything_on_it(size, with_heat):
    heat = HeatmapData(np.eye(TREE.n_leaves), 0.0, 1.0, ["#000000", "#ffffff"])
    options = {"heat": heat} if with_heat else {}
    svg = draw_picture(TREE, NAMES, size=size, **options)
    root = ET.fromstring(svg)
    for name, length in zip(("width", "height"), size, strict=True):
        assert float(root.get(name).removesuffix("pt")) == pytest.approx(length / 25.4 * 72, 1e-3)
    places = texts(svg)
    for name in NAMES:
        x, y = places[name]
        assert 0 < x < size[0] / 25.4 * 72
        assert 0 < y < size[1] / 25.4 * 72
    png = Image.open(io.BytesIO(draw_picture(TREE, NAMES, size=size, format="png", **options)))
    assert png.size == pytest.approx((size[0] / 25.4 * 150, size[1] / 25.4 * 150), abs=1.0)


def test_a_pdf_has_its_fonts_and_is_the_same_each_time():
    first = draw_picture(TREE, NAMES, format="pdf")
    assert first.startswith(b"%PDF")
    assert b"/FontFile2" in first  # the TrueType font itself
    assert draw_picture(TREE, NAMES, format="pdf") == first


@pytest.mark.parametrize(
    ("size", "words"),
    [((20, 300), "more width"), ((300, 20), "more height"), ((0, 100), "at most"),
     ((float("nan"), 100), "at most"), ((10_000, 100), "at most")],
)  # fmt: skip
def test_a_page_that_is_too_small_or_no_page_is_refused(size, words):
    with pytest.raises(HcvizError, match=words):
        draw_picture(TREE, NAMES, size=size)


@pytest.mark.parametrize("size", [None, (150, 90)])
def test_the_caption_is_below_the_tree_and_its_axis(size):
    caption = "Average linkage of 5 items. Euclidean distance of the z-scored columns. Seed 0. " * 2
    svg = draw_picture(TREE, NAMES, caption=caption, axis_title="distance", size=size)
    found = texts(svg)
    lines = [text for text in found if text in caption and " " in text]
    assert " ".join(sorted(lines, key=lambda line: found[line][1])) == caption.strip()
    assert min(found[line][1] for line in lines) > found["distance"][1]
    high = float(ET.fromstring(svg).get("height").removesuffix("pt"))
    assert max(found[line][1] for line in lines) < high


@pytest.mark.parametrize("hostile", ["$5^{$", "a\x01b", "$5%–$9", "\ud800", "<b>&"])
def test_every_text_may_be_hostile(hostile):
    names = [hostile, *NAMES[1:]]
    strip = ClassStrip(hostile, np.zeros(TREE.n_leaves, np.uint8), [hostile], ["#000000"])
    heat = HeatmapData(
        np.ones((TREE.n_leaves, 1)), 0.0, 1.0, ["#000000", "#ffffff"], hostile, [hostile], [0]
    )
    options = {"title": hostile, "caption": hostile, "strips": [strip], "heat": heat}
    options["names"] = {TREE.root: hostile}
    ET.fromstring(draw_picture(TREE, names, **options))
    for format, begin in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert draw_picture(TREE, names, **options, format=format).startswith(begin)


def test_a_png_of_too_many_pixels_is_refused_before_it_is_drawn():
    with pytest.raises(HcvizError, match="too many pixels"):
        draw_picture(TREE, NAMES, size=(4_000, 4_000), format="png")


def test_a_preview_is_the_file_made_small():
    support = np.array([0.9, 0.3, 0.8, 1.0])
    options = {"support": support, "title": "Five", "size": (200, 120)}
    page = draw_page(TREE, NAMES, **options, pixels=500)
    assert page.has_all_texts
    assert page.millimetres == pytest.approx((200, 120))
    small = Image.open(io.BytesIO(page.file("png"))).convert("L")
    assert small.size == (500, 300)
    whole = Image.open(io.BytesIO(draw_picture(TREE, NAMES, **options, format="png")))
    reduced = np.asarray(whole.convert("L").resize((50, 30)), dtype=float)
    assert np.abs(reduced - np.asarray(small.resize((50, 30)), dtype=float)).mean() < 3


def test_a_preview_leaves_out_text_that_is_too_small_to_see():
    n = 600
    tree = caterpillar(n)
    names = [f"item {k}" for k in range(n)]
    page = draw_page(tree, names, support=np.full(n - 1, 0.5), pixels=400)
    assert not page.has_all_texts
    assert b"item 599" not in page.file("svg")
    assert b"item 599" in draw_picture(tree, names)
