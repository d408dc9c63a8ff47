"""The veil: what a method never asked for, dark over the similarities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper
from numpy.typing import NDArray

from hcviz.core import query_counts
from hcviz.core.jit import njit
from hcviz.core.snapshot import Mask
from hcviz.ui.parts.palette import Theme
from hcviz.ui.tree import geometry
from hcviz.ui.tree.geometry import Layout

#: How many items of a texel's rows (and columns) are looked up at most: the others are like them.
MOST_LOOKED = 8
#: How dark nothing is: the pattern below can still be made out.
DARKEST = 0.9


def known_shares(mask: Mask, layout: Layout, edges: NDArray[np.int32]) -> NDArray[np.float64]:
    """The share of each texel that is known, float64 (k, k), bins of places between ``edges``.

    An item's similarity to itself is known. Exact where no bin has more than MOST_LOOKED items,
    else of as many, evenly spaced: some ms, at any n.
    """
    place = np.full(layout.order.size, -1, np.int32)
    at, bins = geometry.evenly(edges, MOST_LOOKED)
    place[layout.order[at]] = bins
    return query_counts.known_shares(mask, place, edges.size - 1)


@njit
def veil_levels(shares: Any) -> Any:
    """255 where all is known, 0 where nothing is, never either of them elsewhere: uint8 (k, k).

    Few similarities among many are to be seen: light grows as the root of the share.
    """
    out = np.empty(shares.shape, np.uint8)
    for a in range(shares.shape[0]):
        for b in range(shares.shape[1]):
            share = shares[a, b]
            if share <= 0:
                out[a, b] = 0
            elif share >= 1:
                out[a, b] = 255
            else:
                out[a, b] = min(254, max(1, round(255 * math.sqrt(share))))
    return out


def said(share: float) -> str:
    """The tooltip's words on a cell of one pair or of many."""
    if share >= 1:
        return "asked for"
    if share <= 0:
        return "not asked for"
    percent = min(99, round(100 * share))
    return f"{percent} % asked for" if percent else "less than 1 % asked for"


class Veil:
    """Images over the heatmap's two pictures; ``mask`` None: nothing is veiled."""

    def __init__(self, theme: Theme) -> None:
        self.mask: Mask | None = None
        self._mapper = LinearColorMapper(palette=veil_colours(theme), low=0, high=256)

    def over(self, figure: Any, name: str) -> ColumnDataSource:
        """A layer on top of what the figure has by now: its source."""
        source = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []}, name=name)
        figure.image(
            "image", "x", "y", "dw", "dh", source=source, color_mapper=self._mapper,
            origin="top_left", anchor="top_left",
        )  # fmt: skip
        return source

    def set_theme(self, theme: Theme) -> None:
        self._mapper.palette = veil_colours(theme)

    def draw(
        self, source: ColumnDataSource, layout: Layout, rows: tuple[int, int], texels: int
    ) -> None:
        """The rows' veil, as coarse as their picture; nothing without a mask."""
        first, last = rows
        if self.mask is None or last <= first:
            clear(source)
            return
        edges = geometry.bins(layout.row_start, first, last, texels)
        span = float(last - first)
        source.data = {
            "image": [veil_levels(known_shares(self.mask, layout, edges))],
            "x": [float(first)], "y": [float(-first)], "dw": [span], "dh": [span],
        }  # fmt: skip

    def levels(self, layout: Layout, texels: int) -> NDArray[np.uint8]:
        """Of all leaves in their order, whatever is collapsed: ``texels`` squared at most."""
        assert self.mask is not None
        n = layout.order.size
        edges = geometry.bins(np.arange(n + 1, dtype=np.int32), 0, n, texels)
        return np.asarray(veil_levels(known_shares(self.mask, layout, edges)))

    @property
    def colours(self) -> list[str]:
        """What the levels mean."""
        return [str(colour) for colour in self._mapper.palette]

    def describe(self, layout: Layout, row: int, column: int) -> str:
        """What the tooltip says of a cell; "" without a mask, and of an item with itself."""
        starts = layout.row_start
        if self.mask is None or (row == column and starts[row + 1] - starts[row] == 1):
            return ""
        place = np.full(layout.order.size, -1, np.int32)
        for group, at in enumerate((row, column)):
            where, _ = geometry.evenly(starts[at : at + 2], MOST_LOOKED)
            place[layout.order[where]] = group
        shares = query_counts.known_shares(self.mask, place, 2)
        return said(float(shares[1, 1] if row == column else shares[0, 1]))


def clear(source: ColumnDataSource) -> None:
    """Take a layer's picture away."""
    if len(source.data["x"]):
        source.data = {name: [] for name in source.data}


def veil_colours(theme: Theme) -> list[str]:
    """256 colours: from DARKEST of the veil's tone to nothing of it."""
    alphas = np.rint(255 * DARKEST * (1 - np.arange(256) / 255)).astype(int)
    return [f"{theme.query_mask}{alpha:02x}" for alpha in alphas]


__all__ = ["Veil", "known_shares", "said", "veil_levels"]
