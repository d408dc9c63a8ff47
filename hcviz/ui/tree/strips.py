"""``StripFigure``: strips between the labels and the heatmap, for classes and clusters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, Range1d
from numpy.typing import NDArray

from hcviz.ui.parts.palette import Theme, contrast
from hcviz.ui.tree import geometry
from hcviz.ui.tree.bare_figure import FONT, STRIPS, bare_figure, f32
from hcviz.ui.tree.geometry import Layout
from hcviz.ui.tree.plain_glyphs import PlainGlyphs

#: Pixels of one strip and of the gap after it.
STRIP, GAP = 12, 3
#: Least pixels of a cluster whose number is written; the font size; the digits at most.
NUMBER_PX, NUMBER_FONT, MAX_DIGITS = 9.0, 8, 2
#: Texels of one picture of a strip at most.
MAX_TEXELS = 2_000


def packed(colours: Sequence[str], missing: str | None) -> NDArray[np.uint32]:
    """Return 256 RGBA values by code. Codes without a colour are transparent, or ``missing``."""
    clear = 0 if missing is None else _rgba(missing)
    table = np.full(256, clear, np.uint32)
    for code, colour in enumerate(colours):
        table[code] = _rgba(colour)
    return table


def _rgba(colour: str) -> int:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0xFF000000 | blue << 16 | green << 8 | red


class StripFigure:
    """One picture of R x 1 texels for each strip; x in pixels."""

    def __init__(self, y_range: Range1d, theme: Theme) -> None:
        self.x_range = Range1d(start=0, end=1)
        self.figure = bare_figure(self.x_range, y_range, cut_off=STRIPS)
        self.source = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []})
        PlainGlyphs(self.figure).image_rgba(
            "image", "x", "y", "dw", "dh", source=self.source,
            origin="top_left", anchor="top_left",
        )  # fmt: skip
        self.numbers = ColumnDataSource(
            {"x": [], "y": [], "text": [], "ink": []}, name="cluster-numbers"
        )
        PlainGlyphs(self.figure).text(
            "x", "y", "text", source=self.numbers, text_color="ink", text_font=value(FONT),
            text_font_size=f"{NUMBER_FONT}px", text_align="center", text_baseline="middle",
        )  # fmt: skip
        self.theme = theme

    @staticmethod
    def width(count: int) -> int:
        """Return the pixels of ``count`` strips."""
        return count * (STRIP + GAP) + (GAP if count else 0)

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self.theme = theme

    def clear(self) -> None:
        """Remove all strips."""
        self.source.data = {"image": [], "x": [], "y": [], "dw": [], "dh": []}
        self._write([])

    def draw(
        self,
        layout: Layout,
        strips: Sequence[tuple[Any, Sequence[str]]],
        window: tuple[float, float],
    ) -> None:
        """Draw strips: (codes uint8 (n,), a colour for each code), from left to right.

        With many rows a texel shows the commonest code of its rows. A sharper picture of the rows
        in the ``window``, and of half as many on either side, is drawn on top.
        """
        self.x_range.update(start=0, end=max(1, self.width(len(strips))))
        parts = [(0, layout.n_rows)]
        if layout.n_rows > MAX_TEXELS and window[1] - window[0] < layout.n_rows:
            reach = 0.5 * (window[1] - window[0])
            first = max(0, int(window[0] - reach))
            parts.append((first, min(layout.n_rows, int(np.ceil(window[1] + reach)))))
        data: dict[str, Any] = {"image": [], "x": [], "y": [], "dw": [], "dh": []}
        for first, last in parts:
            edges = geometry.bins(layout.row_start, first, last, MAX_TEXELS)
            for k, (codes, colours) in enumerate(strips):
                table = packed(colours, None)
                data["image"].append(table[geometry.majority(codes, layout, edges)][:, None])
                data["x"].append(float(GAP + k * (STRIP + GAP)))
                data["y"].append(float(-first))
                data["dw"].append(float(STRIP))
                data["dh"].append(float(last - first))
        self.source.data = data

    def draw_numbers(
        self,
        layout: Layout,
        of_item: Any,
        colours: tuple[Any, Sequence[str]],
        window: tuple[float, float],
        row_px: float,
        named: Collection[int] = (),
    ) -> None:
        """Write the number of each cluster, int (n,), on the last strip where it fits.

        ``colours``: (codes uint8 (n,), a colour for each code) of that strip. The numbers of
        clusters in collapsed rows, and numbers above 99, are in the tooltip only. Clusters with a
        name, ``named``, get no number: "4" beside "Group 1" would confuse.
        """
        if of_item is None:
            self._write([])
            return
        first = max(0, int(window[0]))
        last = min(layout.n_rows, int(np.ceil(window[1])))
        leaves = layout.order[layout.row_start[first:last]]
        number = np.asarray(of_item)[leaves]
        if not number.size:
            self._write([])
            return
        begins = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
        ends = np.append(begins[1:], number.size)
        codes, palette = colours
        found = []
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            if int(number[begin]) in named:
                continue
            text = str(int(number[begin]))
            if (end - begin) * row_px >= NUMBER_PX and len(text) <= MAX_DIGITS:
                code = int(codes[leaves[begin]])
                on = palette[code] if code < len(palette) else self.theme.paper
                ink = max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, on))
                found.append((first + (begin + end) / 2, text, ink))
        self._write(found)

    def _write(self, found: Sequence[tuple[float, str, str]]) -> None:
        """Write numbers at rows in their colours. There are never fewer texts than before: see
        :meth:`hcviz.ui.tree.labels.LabelFigure._set_text`.
        """
        spare = max(0, len(self.numbers.data["text"]) - len(found))
        if not found and not any(self.numbers.data["text"]):
            return
        right = float(self.x_range.end)  # type: ignore[arg-type]
        self.numbers.data = {
            "x": f32([right - GAP - STRIP / 2] * len(found) + [-1e6] * spare),
            "y": f32([-row for row, _, _ in found] + [1e6] * spare),
            "text": [text for _, text, _ in found] + [""] * spare,
            "ink": [ink for _, _, ink in found] + ["black"] * spare,
        }
