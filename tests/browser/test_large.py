"""Many leaves in a real browser: what is sent, what a click takes, and that zooming opens it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hcviz.core.layout import leaf_order
from hcviz.jobs.warming import warm_modules
from hcviz.ui.tree import geometry
from hcviz.ui.tree import warm as warm_centre
from hcviz.ui.tree.renderer import FOLD
from tests.browser.driving import (
    Server,
    click,
    column,
    columns,
    pixel,
    ranges,
    wait_for,
    wait_idle,
    wait_still,
    wait_until,
)  # fmt: skip

#: Bytes that a first picture may take (the image is 90,000 of them), and points of its lines.
MAX_BYTES, MAX_POINTS = 3_000_000, 20_000
#: The share of its rows that a triangle leaves free on either side.
INSET = 0.08
#: Rows in view.
ROWS = "(({start, end}) => end - start)(Bokeh.documents[0].get_model_by_name('tree').y_range)"


@pytest.fixture(scope="module")
def large_server():
    """Its kernels are compiled beforehand."""
    warm_modules()
    warm_centre()
    server = Server(Path(__file__).parent / "large_app.py", log="large.log")
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def opened(new_page, server: Server, n: int):
    """The page, and a list that grows by the bytes of each message."""
    page, sizes = new_page(), []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))),
    )
    page.goto(f"{server.url}?n={n}")
    wait_idle(page)
    wait_for(page, "() => Bokeh.documents[0].get_model_by_name('tree-lines').data.x.length > 3")
    # The server has heard how high the page is: triangles are as small as they are to be.
    tall = "Bokeh.documents[0].get_model_by_name('tree').inner_height"

    def is_fitted() -> bool:
        largest = max(bottom - top for top, bottom, _ in triangles(page)) / (1 - 2 * INSET)
        return largest * page.evaluate(f"() => {tall} / {ROWS}") <= FOLD + 0.1

    wait_until(page, is_fitted)
    wait_still(page)
    return page, sizes


def triangles(page) -> list[tuple[float, float, float]]:
    """``(top, bottom, apex)`` of each triangle drawn, from the path that the browser has."""
    x, y = (np.array(each, float) for each in columns(page, "tree-lines", "x", "y"))
    found, start = [], 0
    for end in np.flatnonzero(np.isnan(x)).tolist():
        if end - start == 3:
            found.append((-y[start], -y[start + 2], x[start + 1]))
        start = end + 1
    return found


def pick_after(page, *where) -> tuple[int, int]:
    before = len(column(page, "picks", "first"))
    click(page, *where)
    wait_for(
        page,
        f"() => Bokeh.documents[0].get_model_by_name('picks').data.first.length == {before + 1}",
    )
    return int(column(page, "picks", "first")[-1]), int(column(page, "picks", "count")[-1])


@pytest.mark.parametrize("n", [10_000, 1_000_000])
def test_a_large_tree_opens_collapsed_and_a_click_takes_the_triangle_under_it(
    large_server, new_page, n
):
    from tests.browser.large_app import tree_of

    page, sizes = opened(new_page, large_server, n)
    assert sum(sizes) < MAX_BYTES
    assert len(column(page, "tree-lines", "x")) < MAX_POINTS
    folded = triangles(page)
    assert len(folded) > 20
    tree = tree_of(n)
    layout = geometry.lay_out(tree, leaf_order(tree))
    for top, bottom, _ in folded[:: len(folded) // 3]:
        middle = (top + bottom) / 2
        left, right, *_ = ranges(page, "labels")
        first, count = pick_after(page, "labels", (left + right) / 2, -middle)
        # The triangle's rows, drawn a little smaller than they are, are the clade's.
        assert abs(count - (bottom - top)) <= 0.2 * count
        node = tree.smallest_clade([first, first + count - 1])
        assert tree.size[node] == count
        assert layout.top[node] <= middle < layout.bottom[node]
        wait_until(page, lambda: column(page, "selection-lines", "x"))
        assert len(column(page, "selection-lines", "x")) < 20
    # Half of all is one click too, and the answer is no list of leaves.
    sizes.clear()
    _, count = pick_after(page, "tree", 0.97 * tree.height[-1], -0.25 * n)
    assert count > n / 3
    assert sum(sizes) < 200_000


def test_a_triangle_opens_by_a_double_click_and_the_wheel_closes_it_again(large_server, new_page):
    n = 10_000
    page, sizes = opened(new_page, large_server, n)
    before = len(triangles(page))
    top, bottom, _ = triangles(page)[before // 2]
    left, right, *_ = ranges(page, "labels")
    where = ("labels", (left + right) / 2, -(top + bottom) / 2)
    sizes.clear()
    page.mouse.dblclick(*pixel(page, *where))
    wait_for(page, f"() => {ROWS} < {3 * max(16, bottom - top)}")
    inside = "label-text"
    wait_for(
        page,
        f"() => Bokeh.documents[0].get_model_by_name('{inside}').data.text"
        ".filter((text) => /^item \\d+$/.test(text)).length > 10",
    )
    wait_until(page, lambda: not [t for t in triangles(page) if top <= t[0] and t[1] <= bottom])
    wait_still(page)
    assert len(column(page, "tree-lines", "x")) < MAX_POINTS
    assert sum(sizes) < MAX_BYTES

    def zoom_out() -> bool:
        page.mouse.wheel(0, 600)
        return page.evaluate(f"() => {ROWS}") > 1_500  # rows of half a pixel

    wait_until(page, zoom_out)
    wait_for(page, "() => Bokeh.documents[0].get_model_by_name('label-text').data.text"
             ".every((text) => !/^item/.test(text))")  # fmt: skip
    wait_until(
        page,
        lambda: [t for t in triangles(page) if top - 200 <= t[0] and t[1] <= bottom + 200],
    )
