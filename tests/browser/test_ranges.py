"""What is shown after other data: all columns and all rows, as the browser has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.browser.dashboard import Dashboard
from tests.browser.driving import column, ranges, wait_for, wait_still, wait_until


def table(folder: Path, rows: int, columns: int) -> Path:
    values = np.random.default_rng(rows).random((rows, columns))
    lines = [",".join(["name", *(f"column {k}" for k in range(columns))])]
    lines += [f"row {i}," + ",".join(f"{v:.4f}" for v in row) for i, row in enumerate(values)]
    path = folder / f"table {rows} x {columns}.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def spread(at: list[float], rows: int) -> bool:
    return max(at) > -0.05 * rows - 1 and min(at) < -0.95 * rows + 1


def wait_for_columns(page, count: int) -> None:
    wait_until(page, lambda: ranges(page, "heat")[:2] == (0, count))


@pytest.fixture
def page(blank):
    """Empty: each test here opens an address of its own."""
    return blank


def label_gap(page) -> float:
    """Pixels between the two labels that are nearest to each other."""
    _, _, start, end = ranges(page, "labels")
    height = page.evaluate("() => Bokeh.documents[0].get_model_by_name('labels').inner_height")
    rows = np.sort(column(page, "label-text", "y"))
    return float(np.diff(rows).min() * height / (end - start))


def test_all_columns_and_rows_are_in_view_after_any_change(page, server, tmp_path):
    page.goto(f"{server.url}?data=iris&matrix=features&method=average")
    dashboard = Dashboard(page).settle()
    wait_for_columns(page, 4)
    dashboard.choose("data", "zoo")
    dashboard.settle()
    wait_for(page, "() => Bokeh.documents[0].get_model_by_name('heat').x_range.bounds[1] === 16")
    wait_for_columns(page, 16)
    for rows, columns in ((2, 3), (1500, 21), (2, 3), (300, 2)):
        dashboard.open("Table of features…", table(tmp_path, rows, columns))
        dashboard.settle()
        wait_for(
            page,
            "(n) => Bokeh.documents[0].get_model_by_name('heat').x_range.bounds[1] === n",
            columns,
        )
        wait_still(page)  # messages between browser and server have arrived
        left, right, bottom, top = ranges(page, "heat")
        assert (left, right) == (0, columns)
        assert (bottom, top) == pytest.approx((-1.005 * rows, 0.005 * rows))
        # The server agrees: labels are spread over all rows, and none lies on another.
        wait_until(
            page,
            lambda n=rows: spread(column(page, "label-text", "y"), n) and label_gap(page) > 3.5,
        )
