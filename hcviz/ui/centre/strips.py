"""Categorical strips between the labels and the heatmap: classes, and clusters under the cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from numpy.typing import NDArray

from hcviz.ui import geometry
from hcviz.ui.centre.frames import bare
from hcviz.ui.geometry import Layout
from hcviz.ui.palette import Theme

#: Pixels of one strip and of the gap after it.
STRIP, GAP = 11, 3
#: Texels of one picture of a strip at most.
MOST_TEXELS = 2_000


def packed(colours: Sequence[str], missing: str | None) -> NDArray[np.uint32]:
    """256 RGBA values by code; what has no colour is clear, or ``missing``."""
    clear = 0 if missing is None else _rgba(missing)
    table = np.full(256, clear, np.uint32)
    for code, colour in enumerate(colours):
        table[code] = _rgba(colour)
    return table


def _rgba(colour: str) -> int:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0xFF000000 | blue << 16 | green << 8 | red


class StripFigure:
    """One picture of R x 1 texels per strip; x in pixels."""

    def __init__(self, y_range: Range1d, theme: Theme) -> None:
        self.x_range = Range1d(start=0, end=1)
        self.figure = bare(self.x_range, y_range)
        self.source = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []})
        self.figure.image_rgba(
            "image", "x", "y", "dw", "dh", source=self.source,
            origin="top_left", anchor="top_left",
        )  # fmt: skip
        self.theme = theme

    @staticmethod
    def width(count: int) -> int:
        """Pixels that ``count`` strips take."""
        return count * (STRIP + GAP) + (GAP if count else 0)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme

    def clear(self) -> None:
        self.source.data = {"image": [], "x": [], "y": [], "dw": [], "dh": []}

    def draw(
        self,
        layout: Layout,
        strips: Sequence[tuple[Any, Sequence[str]]],
        window: tuple[float, float],
    ) -> None:
        """``strips``: (codes uint8 (n,), a colour for each code) from left to right.

        Of many rows the commonest codes of as many as make a texel; a sharper picture of those in
        the ``window``, and of half of it on either side, lies on top.
        """
        self.x_range.update(start=0, end=max(1, self.width(len(strips))))
        parts = [(0, layout.n_rows)]
        if layout.n_rows > MOST_TEXELS and window[1] - window[0] < layout.n_rows:
            reach = 0.5 * (window[1] - window[0])
            first = max(0, int(window[0] - reach))
            parts.append((first, min(layout.n_rows, int(np.ceil(window[1] + reach)))))
        data: dict[str, Any] = {"image": [], "x": [], "y": [], "dw": [], "dh": []}
        for first, last in parts:
            edges = geometry.bins(layout.row_start, first, last, MOST_TEXELS)
            for k, (codes, colours) in enumerate(strips):
                table = packed(colours, None)
                data["image"].append(table[geometry.majority(codes, layout, edges)][:, None])
                data["x"].append(float(GAP + k * (STRIP + GAP)))
                data["y"].append(float(-first))
                data["dw"].append(float(STRIP))
                data["dh"].append(float(last - first))
        self.source.data = data
