"""The tree: root at the left, one NaN-separated line, and thin layers for what is emphasised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, CustomJS, Range1d
from bokeh.models.annotations import Label, Span

from hcviz.ui import geometry
from hcviz.ui.centre.frames import FONT, bare, f32, glide, pulse
from hcviz.ui.geometry import Layout
from hcviz.ui.palette import Theme

#: Space beyond the leaves, as a share of the height: a click there picks the leaf.
BEYOND = 0.02
#: Space left of the root, where the cut line rests when nothing is cut.
MARGIN = 0.03
#: While trees stream in the root may come this much nearer before the axis follows.
KEPT = 0.9
#: Numbers of clades nearer to the root than this share of the height stand right of their bars.
NEAR_ROOT = 0.06
NO_SUPPORT: dict[str, Any] = {"x": [], "y": [], "text": [], "align": [], "shift": []}
NO_WAYS: dict[str, Any] = {"xs": [], "ys": [], "colour": [], "alpha": []}
#: Pixels of the height axis.
AXIS_PX = 20


class TreeFigure:
    """The dendrogram's models, and how a layout is patched into them."""

    def __init__(self, y_range: Range1d, theme: Theme) -> None:
        self.x_range: Any = Range1d(start=1 + MARGIN, end=-BEYOND)
        self._top = 1.0  # the height that the axis was made for
        self.figure = bare(self.x_range, y_range, min_border_left=8)
        self.axis = bare(
            self.x_range,
            Range1d(start=-1, end=0),
            min_border_left=8,
            min_border_top=0,
            min_border_bottom=0,
        )
        self.axis.toolbar.tools = []
        self.ticks = ColumnDataSource({"x": [], "text": []})
        self._rule = Span(dimension="width", location=0, line_width=2)
        self.axis.add_layout(self._rule)
        self._ticks = self.axis.text(
            "x", 0, "text", source=self.ticks, text_font=value(FONT), text_font_size="10px",
            text_align="center", text_baseline="top", y_offset=6,
        )  # fmt: skip
        self._tick_marks = self.axis.scatter(
            "x", 0, source=self.ticks, marker="dash", angle=np.pi / 2, size=8, line_width=1
        )
        self.bands = ColumnDataSource({"middle": [], "span": []})
        self.hovered = ColumnDataSource({"left": [], "right": [], "top": [], "bottom": []})
        self.tree = ColumnDataSource({"x": [], "y": []})
        self.clusters = ColumnDataSource({"xs": [], "ys": [], "colour": []})
        self.clusters.name = "branch-colours"
        self.wedges = ColumnDataSource({"xs": [], "ys": [], "colour": []})
        names = ("fresh", "together", "apart", "selection")
        self.layers = {name: ColumnDataSource({"x": [], "y": []}) for name in names}
        self.ways = ColumnDataSource(dict(NO_WAYS), name="pulse-lines")
        pulse(self.ways)
        self.support = ColumnDataSource(dict(NO_SUPPORT))
        self.stems = ColumnDataSource({"x": [], "y": []})
        glide(self.tree)
        glide(self.stems)
        for layer in self.layers.values():
            glide(layer)
        draw = self.figure
        self._band = draw.hbar(
            y="middle", height="span", left=-1e30, right=1e30, line_color=None, fill_alpha=0.10,
            source=self.bands, level="overlay",
        )  # fmt: skip
        self._hover = draw.quad(
            "left", "right", "top", "bottom", source=self.hovered, line_color=None,
            fill_alpha=0.07, level="overlay",
        )  # fmt: skip
        self._wedge = draw.patches(
            "xs", "ys", source=self.wedges, fill_color="colour", fill_alpha=0.3,
            line_color="colour", line_width=1,
        )  # fmt: skip
        self._stem = draw.line("x", "y", source=self.stems, line_width=1)
        self._line = draw.line("x", "y", source=self.tree, line_width=1.2, line_join="round")
        self._cluster = draw.multi_line(
            "xs", "ys", source=self.clusters, line_color="colour", line_width=1.6
        )
        self._layer = {
            name: draw.line(
                "x", "y", source=layer, line_width=width, line_join="round", level="overlay"
            )
            for (name, layer), width in zip(self.layers.items(), (3.5, 2.6, 2.6, 2.8), strict=True)
        }
        self._layer["fresh"].glyph.line_alpha = 0.75
        draw.multi_line(
            "xs", "ys", source=self.ways, line_color="colour", line_alpha="alpha", line_width=5,
            line_join="round", level="overlay",
        )  # fmt: skip
        self._support = draw.text(
            "x", "y", "text", source=self.support, text_font=value(FONT), text_font_size="9px",
            text_align="align", text_baseline="bottom", x_offset="shift", y_offset=-1,
        )  # fmt: skip
        self._cut_line()
        self.set_theme(theme)

    def _cut_line(self) -> None:
        # What is seen is a dashed hairline; what is caught is a wide, all but clear twin of it.
        # The line is a glyph: an annotation asks the style sheet for each of its looks, each time.
        self._cut_at = ColumnDataSource({"x": [1 + MARGIN / 2]})
        self.cut_line = self.figure.vspan(
            x="x", source=self._cut_at, line_dash=[5, 4], line_alpha=0.35, line_width=1,
            level="overlay",
        )  # fmt: skip
        self.cut_grip: Any = Span(
            dimension="height", location=1 + MARGIN / 2, line_width=12, line_alpha=0.01,
            editable=True, hover_line_alpha=0.14, hover_line_width=8, level="overlay",
        )  # fmt: skip
        box: dict[str, Any] = {"border_radius": 3, "padding": 3}
        self.cut_text = Label(
            x=1, y=0, y_units="screen", text="", x_offset=4, y_offset=4,
            text_font=FONT, text_font_size="11px", visible=False, level="overlay", **box,
        )  # fmt: skip
        follow = CustomJS(
            args={"line": self._cut_at, "text": self.cut_text},
            code="line.data.x = [cb_obj.location]; line.change.emit(); text.x = cb_obj.location",
        )
        self.cut_grip.js_on_change("location", follow)
        for mark in (self.cut_grip, self.cut_text):
            self.figure.add_layout(mark)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._rule.line_color = self._tick_marks.glyph.line_color = theme.rule
        self._ticks.glyph.text_color = theme.soft
        self._line.glyph.line_color = theme.branch
        self._stem.glyph.line_color = theme.rule
        self._band.glyph.fill_color = self._hover.glyph.fill_color = theme.accent
        colours = (theme.fresh, theme.together, theme.apart, theme.accent)
        for renderer, colour in zip(self._layer.values(), colours, strict=True):
            renderer.glyph.line_color = colour
        self._support.glyph.text_color = theme.soft
        self.cut_line.glyph.line_color = self.cut_grip.line_color = theme.ink
        self.cut_grip.hover_line_color = theme.accent
        self.cut_text.text_color = theme.ink
        self.cut_text.background_fill_color = theme.paper
        self.cut_text.background_fill_alpha = 0.85

    # ------------------------------------------------------------------ patches

    def set_height(self, height: float, keep: bool = False) -> None:
        """The height axis from a little left of the root to a little beyond the leaves.

        ``keep``: while trees stream in the axis stands still as long as the root is well within it.
        """
        height = height if height > 0 else 1.0
        if keep and KEPT * self._top <= height <= (1 + MARGIN / 4) * self._top:
            return
        self._top = height
        start, end = height * (1 + MARGIN), -height * BEYOND
        if (self.x_range.start, self.x_range.end) != (start, end):
            self.x_range.update(start=start, end=end)
            ticks = geometry.nice_ticks(height, 4)
            self.ticks.data = {"x": f32(ticks), "text": [f"{tick:.6g}" for tick in ticks]}

    def draw(self, layout: Layout, open_: Any, before: Any = None, dense: bool = False) -> None:
        """Patch the tree; ``before`` float (n,): rows its leaves glide from.

        ``dense``: rows are near a pixel, so branches to leaves are drawn apart and pale; else they
        would flood the structure above them.
        """
        self.show_frame(True)
        width = 0.8 if dense else 1.2
        if self._line.glyph.line_width != width:
            self._line.glyph.line_width = width
        x, y = geometry.branch_path(layout, open_, stems=not dense)
        data = {"x": x, "y": -y}
        if before is not None:
            data["y0"] = -geometry.branch_path(layout, open_, leaf_y=before, stems=not dense)[1]
        self.tree.data = data
        if dense:
            x, y = geometry.stem_path(layout, open_)
            data = {"x": x, "y": -y}
            if before is not None:
                data["y0"] = -geometry.stem_path(layout, open_, leaf_y=before)[1]
            self.stems.data = data
        elif len(self.stems.data["x"]):
            self.stems.data = {"x": [], "y": []}
        self._draw_wedges(layout, open_)

    def _draw_wedges(self, layout: Layout, open_: Any) -> None:
        tree = layout.tree
        nodes = np.flatnonzero(layout.shut)
        nodes = nodes[(tree.parent[nodes] < 0) | open_[tree.parent[nodes]]]
        if nodes.size == 0 and len(self.wedges.data["colour"]) == 0:
            return
        self.wedges.data = {
            "xs": [f32([tree.height[v], 0, 0]) for v in nodes],
            "ys": [
                f32([-layout.y[v], -layout.top[v] - 0.1, -layout.bottom[v] + 0.1]) for v in nodes
            ],
            "colour": [self.theme.branch for _ in nodes],
        }

    def clear(self) -> None:
        """No tree."""
        for source in (self.tree, self.stems):
            source.data = {"x": [], "y": []}
        for source in (self.clusters, self.wedges):
            source.data = {"xs": [], "ys": [], "colour": []}
        for source in self.layers.values():
            source.data = {"x": [], "y": []}
        self.support.data = dict(NO_SUPPORT)
        self.draw_ways()
        self.hovered.data = {"left": [], "right": [], "top": [], "bottom": []}
        self.draw_bands([])
        self.show_frame(False)

    def show_frame(self, there: bool) -> None:
        """The axis and the cut line, which without a tree are about nothing."""
        for part in (self._rule, self._ticks, self._tick_marks, self.cut_line, self.cut_grip):
            if part.visible != there:
                part.visible = there
        if not there:
            self.cut_text.visible = False

    def draw_layer(self, name: str, layout: Layout, open_: Any, leaves: Any) -> None:
        """Emphasise every clade that lies within ``leaves``."""
        if len(leaves) == 0:
            self._set_layer(name)
        else:
            mask = geometry.clade_mask(layout.tree, leaves)
            self._set_layer(name, *geometry.branch_path(layout, open_, mask))

    def draw_nodes(self, name: str, layout: Layout, open_: Any, nodes: Any) -> None:
        """Emphasise the bars and the branches below these inner nodes, not their whole clades."""
        if len(nodes) == 0:
            self._set_layer(name)
            return
        nodes = np.asarray(nodes)
        self._set_layer(name, *geometry.bar_path(layout, nodes[open_[nodes]]))

    def _set_layer(self, name: str, x: Any = (), y: Any = ()) -> None:
        source = self.layers[name]
        if len(x) or len(source.data["x"]):
            source.data = {"x": x, "y": -np.asarray(y)}

    def draw_ways(self, ways: Sequence[tuple[Any, Any, str]] = ()) -> None:
        """Let these lines, ``(x, y, colour)`` each, pulse; without any, what pulsed is gone."""
        if ways or len(self.ways.data["xs"]):
            self.ways.data = {
                "xs": [x for x, _, _ in ways],
                "ys": [-y for _, y, _ in ways],
                "colour": [colour for _, _, colour in ways],
                "alpha": np.ones(len(ways), np.float32),
            }

    def draw_support(
        self, layout: Layout, open_: Any, support: Any, window: tuple[float, float], row_px: float
    ) -> None:
        """Percentages beside the bars of clades in view that are tall enough to carry them."""
        if support is None:
            if len(self.support.data["x"]):
                self.support.data = dict(NO_SUPPORT)
            return
        tall = (layout.bottom - layout.top) * row_px >= 26
        seen = (layout.bottom >= window[0]) & (layout.top <= window[1])
        nodes = np.flatnonzero(open_ & tall & seen & np.isfinite(support))
        nodes = nodes[(nodes != layout.tree.root) & (layout.tree.height[nodes] > 0)]
        kept = geometry.spread(layout.y[nodes], layout.bottom[nodes] - layout.top[nodes],
                               11 / max(row_px, 1e-9))  # fmt: skip
        nodes = nodes[kept]
        # Left of its bar, on the branch that it is about; where that is too short, right of it.
        cramped = layout.tree.height[nodes] > (1 - NEAR_ROOT) * layout.tree.height[-1]
        self.support.data = {
            "align": np.where(cramped, "left", "right").tolist(),
            "shift": np.where(cramped, 3, -3).astype(np.int8),
            "x": f32(layout.tree.height[nodes]),
            "y": f32(-layout.y[nodes]),
            "text": [f"{100 * support[v]:.0f}" for v in nodes],
        }

    def draw_clusters(
        self,
        layout: Layout,
        open_: Any,
        colour_of: Any,
        cut: float,
        colours: Sequence[str],
        dense: bool = False,
    ) -> None:
        """Colour the branches below the cut; ``colour_of`` int (m,): a colour's index or -1."""
        used = np.unique(colour_of[colour_of >= 0])
        if used.size == 0:
            if len(self.clusters.data["colour"]):
                self.clusters.data = {"xs": [], "ys": [], "colour": []}
            return
        paths = [
            geometry.branch_path(layout, open_, colour_of == c, cut, stems=not dense) for c in used
        ]
        self.clusters.data = {
            "xs": [x for x, _ in paths],
            "ys": [-y for _, y in paths],
            "colour": [colours[c] for c in used],
        }

    def draw_levels(
        self, layout: Layout, open_: Any, level_of: Any, colours: Sequence[str]
    ) -> None:
        """Colour the bars of nodes by ``level_of`` int (m,): a colour's index or -1."""
        used = np.unique(level_of[open_ & (level_of >= 0)])
        paths = [geometry.bar_path(layout, np.flatnonzero(open_ & (level_of == c))) for c in used]
        self.clusters.data = {
            "xs": [x for x, _ in paths],
            "ys": [-y for _, y in paths],
            "colour": [colours[c] for c in used],
        }

    def draw_bands(self, runs: Sequence[tuple[int, int]]) -> None:
        draw_bands(self.bands, runs)

    def show_cut(self, height: float | None, text: str = "") -> None:
        """The cut line at ``height``; None parks it at the margin, faint."""
        parked = height is None
        where = self._top * (1 + MARGIN / 2) if parked else float(height or 0.0)
        if self.cut_grip.location != where:
            self.cut_grip.location = where
        if self._cut_at.data["x"] != [where]:
            self._cut_at.data = {"x": [where]}
        if self.cut_line.glyph.line_width != (width := 1.0 if parked else 1.5):
            self.cut_line.glyph.update(line_alpha=0.35 if parked else 0.9, line_width=width)
        self.cut_text.update(visible=not parked and bool(text), text=text, x=where)


def draw_bands(source: ColumnDataSource, runs: Sequence[tuple[int, int]]) -> None:
    """Rows [first, last) as horizontal bars; nothing is sent when nothing was and is there."""
    if not runs and len(source.data["middle"]) == 0:
        return
    source.data = {
        "middle": [-(a + b) / 2 for a, b in runs],
        "span": [float(b - a) for a, b in runs],
    }
