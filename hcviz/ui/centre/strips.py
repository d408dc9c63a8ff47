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

    def draw(self, layout: Layout, strips: Sequence[tuple[Any, Sequence[str]]]) -> None:
        """``strips``: (codes uint8 (n,), a colour for each code) from left to right."""
        self.x_range.update(start=0, end=max(1, self.width(len(strips))))
        images = []
        for codes, colours in strips:
            table = packed(colours, None)
            images.append(table[geometry.majority(codes, layout)][:, None])
        count = len(strips)
        self.source.data = {
            "image": images,
            "x": [float(GAP + k * (STRIP + GAP)) for k in range(count)],
            "y": [0.0] * count,
            "dw": [float(STRIP)] * count,
            "dh": [float(layout.n_rows)] * count,
        }
