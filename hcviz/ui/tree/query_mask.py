"""``QueryMaskLayer``: darkens the similarities that a method did not query."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper
from numpy.typing import NDArray

from hcviz.core import query_counts
from hcviz.core.snapshot import Mask
from hcviz.ui.parts.palette import Theme
from hcviz.ui.tree import geometry
from hcviz.ui.tree.geometry import Layout
from hcviz.ui.tree.mask_levels import MAX_SAMPLED, known_shares, mask_levels
from hcviz.ui.tree.plain_glyphs import PlainGlyphs

#: Opacity where nothing was queried. The picture below remains visible.
DARKEST = 0.9


def queried_text(share: float) -> str:
    """Return the tooltip's text for the queried share of a cell."""
    if share >= 1:
        return "asked for"
    if share <= 0:
        return "not asked for"
    percent = min(99, round(100 * share))
    return f"{percent} % asked for" if percent else "less than 1 % asked for"


class QueryMaskLayer:
    """Images over the two pictures of the heatmap. With ``mask`` None nothing is darkened."""

    def __init__(self, theme: Theme) -> None:
        self.mask: Mask | None = None
        self._mapper = LinearColorMapper(palette=mask_colours(theme), low=0, high=256)

    def over(self, figure: Any, name: str) -> ColumnDataSource:
        """Add a layer on top of a figure; return its source."""
        source = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []}, name=name)
        PlainGlyphs(figure).image(
            "image", "x", "y", "dw", "dh", source=source, color_mapper=self._mapper,
            origin="top_left", anchor="top_left",
        )  # fmt: skip
        return source

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self._mapper.palette = mask_colours(theme)

    def draw(
        self, source: ColumnDataSource, layout: Layout, rows: tuple[int, int], texels: int
    ) -> None:
        """Draw the mask of some rows, in ``texels`` squared pixels; nothing without a mask."""
        first, last = rows
        if self.mask is None or last <= first:
            clear(source)
            return
        edges = geometry.bins(layout.row_start, first, last, texels)
        span = float(last - first)
        source.data = {
            "image": [mask_levels(known_shares(self.mask, layout, edges))],
            "x": [float(first)], "y": [float(-first)], "dw": [span], "dh": [span],
        }  # fmt: skip

    def levels(self, layout: Layout, texels: int) -> NDArray[np.uint8]:
        """Return the levels of all leaves in their order, at most ``texels`` squared."""
        assert self.mask is not None
        n = layout.order.size
        edges = geometry.bins(np.arange(n + 1, dtype=np.int32), 0, n, texels)
        return np.asarray(mask_levels(known_shares(self.mask, layout, edges)))

    @property
    def colours(self) -> list[str]:
        """The colour of each level."""
        return [str(colour) for colour in self._mapper.palette]

    def describe(self, layout: Layout, row: int, column: int) -> str:
        """Return the tooltip's text for a cell; "" without a mask, and on the diagonal."""
        starts = layout.row_start
        if self.mask is None or (row == column and starts[row + 1] - starts[row] == 1):
            return ""
        place = np.full(layout.order.size, -1, np.int32)
        for group, at in enumerate((row, column)):
            where, _ = geometry.sample_evenly(starts[at : at + 2], MAX_SAMPLED)
            place[layout.order[where]] = group
        shares = query_counts.known_shares(self.mask, place, 2)
        return queried_text(float(shares[1, 1] if row == column else shares[0, 1]))


def clear(source: ColumnDataSource) -> None:
    """Remove the picture of a layer."""
    if len(source.data["x"]):
        source.data = {name: [] for name in source.data}


def mask_colours(theme: Theme) -> list[str]:
    """Return 256 colours, from DARKEST to transparent."""
    alphas = np.rint(255 * DARKEST * (1 - np.arange(256) / 255)).astype(int)
    return [f"{theme.query_mask}{alpha:02x}" for alpha in alphas]


__all__ = ["QueryMaskLayer", "queried_text"]
