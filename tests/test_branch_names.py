"""Names at branches: none covers another or leaves the picture, and what has room is written."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz.core.branch_names import GAP, LINE, DrawnTree, crosses_lines, place_names
from hcviz.core.layout import outer_children
from hcviz.io.picture import draw_picture
from tests.trees import from_nested, random_tree

WIDTH = 260.0


def drawn(tree, row):
    place = np.empty(tree.n_leaves)
    place[tree.leaf_order] = np.arange(tree.n_leaves) + 0.5
    low, high, y = outer_children(tree.parent, place)
    inner = np.arange(tree.n_nodes) >= tree.n_leaves
    return DrawnTree(
        WIDTH * (1 - tree.height / tree.height[-1]), row * y, tree.parent.astype(np.int64),
        row * np.where(inner, y[low], y), row * np.where(inner, y[high], y), WIDTH,
    )  # fmt: skip


def box(picture, each):
    x, y = picture.x[each.slot], picture.y[each.slot]
    top = {"above": y - LINE - 1, "below": y + 1, "right": y - LINE / 2}[each.side]
    left = x + GAP if each.side == "right" else x - GAP - each.room
    return left, left + each.room, top, top + LINE


def crossed(picture, slot, found):
    """Whether a box meets a line of the tree other than the clade's own bar and branch."""
    left, right, top, bottom = found
    for s in range(picture.x.size):
        if s == slot:
            continue
        if left < picture.x[s] < right and picture.top[s] < bottom and picture.bottom[s] > top:
            return True
        up = picture.parent[s]
        start = picture.x[up] if up >= 0 else 0.0
        if top < picture.y[s] < bottom and start < right and picture.x[s] > left:
            return True
    return False


@given(
    seed=st.integers(0, 10_000), n=st.integers(3, 40), row=st.floats(3, 30),
    width=st.floats(10, 150), data=st.data(),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_names_never_overlap_and_report_covered_lines(seed, n, row, width, data):
    tree = random_tree(np.random.default_rng(seed), n)
    picture = drawn(tree, row)
    slots = data.draw(st.lists(st.integers(n, tree.root), unique=True, min_size=1))
    found = place_names(picture, slots, [width] * len(slots))
    boxes = [box(picture, each) for each in found]
    for k, (left, right, top, bottom) in enumerate(boxes):
        assert left >= -1e-9
        assert right <= WIDTH + 1e-9
        assert found[k].room <= width
        if not found[k].covers:
            assert not crossed(picture, found[k].slot, boxes[k])
        for other in boxes[:k]:
            apart = other[0] >= right - 1e-9 or other[1] <= left + 1e-9
            assert apart or other[2] >= bottom - 1e-9 or other[3] <= top + 1e-9


def test_a_long_branch_has_its_name_on_the_free_side():
    tree = from_nested((((0, 1), (2, 3)), ((4, 5), (6, 7))), 8)
    picture = drawn(tree, 20.0)
    first, second = (int(v) for v in tree.children(tree.root))
    sides = {each.slot: each.side for each in place_names(picture, [first, second], [30.0, 30.0])}
    upper = min(first, second, key=lambda v: picture.y[v])
    assert sides == {upper: "above", first + second - upper: "below"}


def test_a_whole_name_inside_is_not_hidden_by_a_longer_one_outside():
    tree = from_nested((((0, 1), (2, 3)), ((4, 5), (6, 7))), 8)
    picture = drawn(tree, 20.0)
    outer = int(tree.children(tree.root)[0])
    inner = [int(v) for v in tree.children(outer)]
    found = place_names(picture, [outer, *inner], [200.0, 30.0, 30.0])
    assert {each.slot for each in found} == {outer, *inner}
    assert [each.covers for each in found if each.slot in inner] == [False, False]


def test_the_saved_picture_has_the_names_and_cuts_the_longest():
    tree = from_nested(((0, 1), ((2, 3), 4)), 5)
    names = {tree.root - 1: "$x$ <Tools> & more", tree.root: "n" * 80, 0: "an item"}
    svg = draw_picture(tree, list("abcde"), names=names).decode()
    assert "$x$ &lt;Tools&gt; &amp; more</text>" in svg
    shown = max(re.findall(r">(n+…?)</text>", svg), key=len)
    assert shown.endswith("…")
    assert "an item" not in svg
    assert svg == draw_picture(tree, list("abcde"), names=names).decode()


def test_names_of_merged_clades_are_left_out():
    tree = from_nested(((0, 1), ((2, 3), 4)), 5)
    names = {v: f"clade {v}" for v in range(5, tree.n_nodes)}
    merged = np.zeros(tree.n_internal, bool)
    merged[0] = True
    svg = draw_picture(tree, list("abcde"), names=names, merged=merged).decode()
    assert "clade 5<" not in svg
    assert f"clade {tree.root - 1}<" in svg


@pytest.mark.parametrize("format", ["svg", "pdf", "png"])
def test_a_picture_without_names_is_as_before(format):
    tree = from_nested(((0, 1), ((2, 3), 4)), 5)
    plain = draw_picture(tree, list("abcde"), format=format)
    assert draw_picture(tree, list("abcde"), names={}, format=format) == plain


def test_a_box_is_free_if_no_bar_and_no_branch_crosses_it():
    picture = drawn(from_nested(((0, 1), (2, 3)), 4), 20.0)
    clade = 4 if picture.y[4] < picture.y[5] else 5
    x, y = picture.x[clade], picture.y[clade]
    start = picture.x[picture.parent[clade]]
    boxes = [
        (start + 1, x - 1, y - 9, y - 1),  # on its branch
        (start - 1, x - 1, y - 9, y + 1),  # over its branch
        (start + 1, x + 1, y - 9, y - 1),  # over its own bar
        (start - 1, x - 1, y + 1, y + 9),  # over the root's bar
    ]
    assert crosses_lines(picture, np.transpose(boxes)).tolist() == [False, True, True, True]
