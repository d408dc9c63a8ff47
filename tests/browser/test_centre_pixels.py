"""The centre in a real browser: rows in line to the pixel, clicks that hit what is under them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hcviz.ui.tree import geometry
from tests.browser.driving import Server, click, column, ranges, wait_for, wait_still


@pytest.fixture(scope="module")
def centre_server():
    server = Server(Path(__file__).parent / "centre_app.py", log="centre.log")
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def frame_edges(page) -> list[list[float]]:
    """Top and bottom of each figure's frame, in pixels of the window."""
    return page.evaluate(
        """() => ["tree", "labels", "heat"].map((name) => {
          const view = Bokeh.index.find_one(Bokeh.documents[0].get_model_by_name(name))
          const top = view.canvas.el.getBoundingClientRect().top
          return [top + view.frame.bbox.top, top + view.frame.bbox.bottom]
        })"""
    )


def pick_after(page, *where) -> str:
    before = len(column(page, "picks", "leaves"))
    click(page, *where)
    wait_for(
        page,
        f"() => Bokeh.documents[0].get_model_by_name('picks').data.leaves.length == {before + 1}",
    )
    return column(page, "picks", "leaves")[-1]


def test_rows_are_in_line_and_every_click_picks_the_clade_under_it(centre_server, new_page):
    from tests.browser.centre_app import tree

    page = new_page()
    page.goto(centre_server.url)
    wait_still(page)
    edges = frame_edges(page)
    assert edges[0] == edges[1] == edges[2]
    assert edges[0][1] - edges[0][0] > 300
    order = [int(leaf) for leaf in column(page, "order", "leaf")]
    layout = geometry.lay_out(tree, order)

    def named(node: int) -> str:
        return ",".join(str(leaf) for leaf in sorted(tree.leaves(node).tolist()))

    # Half a unit left of a bar, at a row of its clade: inside its slab, for any parent.
    for node in (62, 75, 90, 101, 117):
        row = (layout.top[node] + layout.bottom[node]) / 2
        assert pick_after(page, "tree", float(tree.height[node]) + 0.5, -float(row)) == named(node)
    assert pick_after(page, "labels", 20, -(7 + 0.5)) == str(order[7])
    assert pick_after(page, "heat", 33.5, -(41 + 0.5)) == str(order[41])
    assert not centre_server.faults()


def test_the_wheel_zooms_all_figures_about_the_same_rows(centre_server, new_page):
    page = new_page()
    page.goto(centre_server.url)
    wait_still(page)
    start = ranges(page, "tree")[2]
    click(page, "heat", 30.5, -30.5)
    page.mouse.wheel(0, -360)
    wait_for(
        page,
        f"() => Bokeh.documents[0].get_model_by_name('tree').y_range.start > {start} + 5",
    )
    wait_still(page)
    assert ranges(page, "tree")[2:] == ranges(page, "labels")[2:] == ranges(page, "heat")[2:]
    left, right, bottom, top = ranges(page, "heat")
    assert (left, right) == pytest.approx((-top, -bottom))  # between items: the diagonal stays
    assert bottom < -30.5 < top
