"""The rows of the heatmap are those of the tree, whatever the tree was before."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page

from hcviz.core.similarity import zscore
from hcviz.io.tables import read_table
from tests.browser.dashboard import Dashboard
from tests.browser.driving import wait_for

ITEMS = tuple(f"item {k:02d}" for k in range(14))

#: The names and the cells of one moment: text, and levels row by row.
SHOWN = """() => {
  const doc = Bokeh.documents[0]
  const text = doc.get_model_by_name("label-text").data.text
  const image = doc.get_model_by_name("heat-cells").data.image[0]
  return [Array.from(text).filter(each => each !== ""), Array.from(image)]
}"""
WIDTH = "w => Bokeh.documents[0].get_model_by_name('heat-cells').data.image[0]?.length === 14 * w"

ORDER = """names => {
  const text = Bokeh.documents[0].get_model_by_name("label-text").data.text
  return Array.from(text).filter(each => each !== "").join() === names.join()
}"""


@pytest.fixture
def page(blank):
    """Empty: each test here opens an address of its own."""
    return blank


def shown(page: Page, width: int) -> tuple[list[int], np.ndarray]:
    """The leaves in their order from above, and the levels (14, width)."""
    wait_for(page, WIDTH, width)
    names, levels = page.evaluate(SHOWN)
    return [ITEMS.index(name) for name in names], np.array(levels, float).reshape(14, width)


def follows(values: np.ndarray, levels: np.ndarray) -> bool:
    """Whether larger values have levels no lower."""
    return bool((np.diff(levels.ravel()[np.argsort(values.ravel())]) >= 0).all())


@pytest.mark.parametrize("matrix", ["Similarity", "Features"])
def test_the_heatmap_turns_with_the_tree(page, server, tmp_path, matrix):
    """Also if only the tree changes, and the picture is not chosen again."""
    values = np.random.default_rng(5).standard_normal((14, 5))
    rows = [f"{name}," + ",".join(map(str, row)) for name, row in zip(ITEMS, values, strict=True)]
    file = tmp_path / "drawn.csv"
    file.write_text("name,a,b,c,d,e\n" + "\n".join(rows))
    problem = read_table(file.read_bytes(), file.name).problem()
    page.goto(f"{server.url}?data=iris&method=average")
    dashboard = Dashboard(page).settle()
    dashboard.open("Table of features…", file)
    dashboard.settle()
    page.get_by_role("button", name=matrix, exact=True).click()
    orders = []

    def looked_at() -> None:
        if matrix == "Similarity":
            order, levels = shown(page, 14)
            apart = ~np.eye(14, dtype=bool)
            assert follows(problem.similarity[np.ix_(order, order)][apart], levels[apart])
        else:
            order, levels = shown(page, 5)
            for column in zscore(values)[order].T:
                assert any(follows(column, level) for level in levels.T)
        orders.append(tuple(order))

    looked_at()
    for method in ("ward", "single", "complete", "average"):
        dashboard.choose("method", method)
        dashboard.settle()
        looked_at()
    assert len(set(orders)) > 2  # else they need not have turned
    dashboard.press("Control+z")
    wait_for(page, ORDER, [ITEMS[k] for k in orders[-2]])
    looked_at()
    first, second, *_, last = (ITEMS[k] for k in orders[-1])
    dashboard.choose("method", "crsc")
    dashboard.settle()
    dashboard.add_constraint([first, last], second)
    dashboard.press("Enter")
    dashboard.settle()
    looked_at()
