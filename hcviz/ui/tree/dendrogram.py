"""The tree: root at the left, one NaN-separated line, and thin layers for what is emphasised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, CustomJS, Range1d
from bokeh.models.annotations import Label, Span

from hcviz.ui.parts.palette import Theme
from hcviz.ui.tree import lettering
from hcviz.ui.tree.frames import BANDS, FONT, bare, f32, pulse
from hcviz.ui.tree.motion import columns, several
from hcviz.ui.tree.scene import SHUT, Path, Scene

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
#: How much of its colour a folded clade's triangle has.
FOLDED = 0.4
#: Pixels of the height axis.
AXIS_PX = 34


#: While the cut line is dragged the browser moves it, and its label to the side with more room.
FOLLOW_CUT = """
line.data.x = [cb_obj.location]
line.change.emit()
const left = cb_obj.location < (range.start + range.end) / 2
text.setv({x: cb_obj.location, text_align: left ? "right" : "left", x_offset: left ? -4 : 4})
"""


class TreeFigure:
    """The dendrogram's models, and how a layout is patched into them."""

    def __init__(self, y_range: Range1d, theme: Theme) -> None:
        self.x_range: Any = Range1d(start=1 + MARGIN, end=-BEYOND)
        self._top = 1.0  # the height that the axis was made for
        self.figure = bare(self.x_range, y_range, min_border_left=8, cut_off=BANDS)
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
        self.title = ColumnDataSource({"x": [0.5], "text": [""]}, name="axis-title")
        self._title = self.axis.text(
            "x", 0, "text", source=self.title, text_font=value(FONT), text_font_size="11px",
            text_align="center", text_baseline="top", y_offset=19,
        )  # fmt: skip
        self.bands = ColumnDataSource({"middle": [], "span": []})
        self.hovered = ColumnDataSource({"left": [], "right": [], "top": [], "bottom": []})
        self.tree = ColumnDataSource({"x": [], "y": []})
        self.clusters = ColumnDataSource({"xs": [], "ys": [], "colour": []})
        self.clusters.name = "branch-colours"
        self.wedges = ColumnDataSource({"x": [], "y": []})
        self.folds = ColumnDataSource({"x": [], "y": []}, name="fold-patches")
        self.tints = ColumnDataSource({"xs": [], "ys": [], "colour": []})
        names = ("fresh", "together", "apart", "selection")
        self.layers = {name: ColumnDataSource({"x": [], "y": []}) for name in names}
        self.ways = ColumnDataSource(dict(NO_WAYS), name="pulse-lines")
        pulse(self.ways)
        self.support = ColumnDataSource(dict(NO_SUPPORT))
        self.unsure = ColumnDataSource({"x": [], "y": []}, name="unsure-lines")
        self.stems = ColumnDataSource({"x": [], "y": []})
        #: What moves together with the tree's lines.
        self.moving = [
            self.stems, self.wedges, self.folds, self.tints, self.clusters, self.unsure,
            self.support, *self.layers.values(),
        ]  # fmt: skip
        draw = self.figure
        self._band = draw.hbar(
            y="middle", height="span", left=1e30, right=-1e30, line_color=None, fill_alpha=0.10,
            source=self.bands, level="overlay",
        )  # fmt: skip
        self._hover = draw.quad(
            "left", "right", "top", "bottom", source=self.hovered, line_color=None,
            fill_alpha=0.07, level="overlay",
        )  # fmt: skip
        self._fold = draw.patch("x", "y", source=self.folds, fill_alpha=FOLDED, line_color=None)
        self._tint = draw.patches(
            "xs", "ys", source=self.tints, fill_color="colour", fill_alpha=FOLDED, line_color=None
        )
        self._wedge = draw.patch("x", "y", source=self.wedges, fill_alpha=0.12, line_width=1.6)
        self._stem = draw.line("x", "y", source=self.stems, line_width=1)
        self._line = draw.line("x", "y", source=self.tree, line_width=1.2, line_join="round")
        self._unsure = draw.line("x", "y", source=self.unsure, line_width=2)
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
            args={"line": self._cut_at, "text": self.cut_text, "range": self.x_range},
            code=FOLLOW_CUT,
        )
        self.cut_grip.js_on_change("location", follow)
        for mark in (self.cut_grip, self.cut_text):
            self.figure.add_layout(mark)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._rule.line_color = self._tick_marks.glyph.line_color = theme.rule
        self._ticks.glyph.text_color = self._title.glyph.text_color = theme.soft
        self._line.glyph.line_color = theme.branch
        self._stem.glyph.line_color = self._unsure.glyph.line_color = theme.rule
        self._fold.glyph.fill_color = theme.branch
        self._wedge.glyph.update(fill_color=theme.ink, line_color=theme.ink)
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
            ticks = lettering.nice_ticks(height, 4)
            self.ticks.data = {"x": f32(ticks), "text": [f"{tick:.6g}" for tick in ticks]}

    def draw_title(self, title: str, width: float) -> None:
        """What the heights mean, below the ticks, as much of it as ``width`` pixels take."""
        middle = (self.x_range.start + self.x_range.end) / 2
        data = {"x": [middle], "text": [lettering.truncate(title, 11, width - 6)]}
        if dict(self.title.data) != data:
            self.title.data = data

    @property
    def top(self) -> float:
        """The height that the axis was made for."""
        return self._top

    def draw(self, scene: Scene, dense: bool = False) -> None:
        """Patch the tree. Its lines come first: they begin the scene's transition.

        ``dense``: rows are near a pixel, so branches to leaves are drawn apart and pale; else they
        would flood the structure above them.
        """
        self.show_frame(True)
        width = 0.8 if dense or scene.triangles.size else 1.2
        if self._line.glyph.line_width != width:
            self._line.glyph.line_width = width
        self.tree.data = columns(scene, lambda each: each.path(stems=not dense))
        if dense:
            self.stems.data = columns(scene, Scene.stems)
        elif len(self.stems.data["x"]):
            self.stems.data = {"x": [], "y": []}
        self._draw_wedges(scene)

    def _draw_wedges(self, scene: Scene) -> None:
        """What was collapsed by hand has an outline of its own; what is folded for its size is
        filled paler, and outlined by the tree's line."""
        for source, slots in (
            (self.wedges, np.flatnonzero(scene.kind == SHUT)),
            (self.folds, scene.triangles),
        ):
            if slots.size or len(source.data["x"]):
                source.data = columns(scene, lambda each, slots=slots: each.filled(slots))  # type: ignore[misc]

    def clear(self) -> None:
        """No tree."""
        for source in (self.tree, self.stems, self.wedges, self.folds):
            source.data = {"x": [], "y": []}
        self._no_clusters()
        for source in self.layers.values():
            source.data = {"x": [], "y": []}
        self.support.data = dict(NO_SUPPORT)
        self.draw_ways()
        self.hovered.data = {"left": [], "right": [], "top": [], "bottom": []}
        self.draw_bands([])
        self.show_frame(False)

    def show_frame(self, there: bool) -> None:
        """The axis and the cut line, which without a tree are about nothing."""
        for part in (
            self._rule,
            self._ticks,
            self._tick_marks,
            self._title,
            self.cut_line,
            self.cut_grip,
        ):
            if part.visible != there:
                part.visible = there
        if not there:
            self.cut_text.visible = False

    def draw_layer(self, name: str, scene: Scene, leaves: Any) -> None:
        """Emphasise every clade that lies within ``leaves``."""
        if len(leaves) == 0:
            self._set_layer(name)
        else:
            within = scene.within(leaves)
            self._set_layer(name, columns(scene, lambda each: each.path(within)))

    def draw_nodes(self, name: str, scene: Scene, nodes: Any) -> None:
        """Emphasise the bars and the branches below these inner nodes, not their whole clades."""
        if len(nodes) == 0:
            self._set_layer(name)
            return
        slots = np.flatnonzero(scene.is_open & np.isin(scene.node, nodes))
        self._set_layer(name, columns(scene, lambda each: each.bars(slots)))

    def _set_layer(self, name: str, data: dict[str, Any] | None = None) -> None:
        source = self.layers[name]
        data = {"x": [], "y": []} if data is None else data
        if len(data["x"]) or len(source.data["x"]):
            source.data = data

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
        self, scene: Scene, support: Any, below: float, window: tuple[float, float], row_px: float
    ) -> None:
        """Percentages beside the bars of clades in view that are tall enough to carry them.

        The branch above a clade whose support is less than ``below`` is drawn lighter.
        """
        if support is None:
            if len(self.support.data["x"]):
                self.support.data = dict(NO_SUPPORT)
            if len(self.unsure.data["x"]):
                self.unsure.data = {"x": [], "y": []}
            return
        slots = np.flatnonzero(scene.is_open & (support[scene.node] < below))
        self.unsure.data = columns(scene, lambda each: each.branches_above(slots))
        height, said = scene.height, np.where(scene.is_open, support[scene.node], np.nan)
        tall = (scene.bottom - scene.top) * row_px >= 26
        seen = (scene.bottom >= window[0]) & (scene.top <= window[1])
        slots = np.flatnonzero(tall & seen & np.isfinite(said))
        slots = slots[(slots != scene.n_slots - 1) & (height[slots] > 0)]
        kept = lettering.spread(scene.y[slots], (scene.bottom - scene.top)[slots],
                               11 / max(row_px, 1e-9))  # fmt: skip
        slots = slots[kept]
        # Left of its bar, on the branch that it is about; where that is too short, right of it.
        cramped = height[slots] > (1 - NEAR_ROOT) * height[-1]
        self.support.data = {
            "align": np.where(cramped, "left", "right").tolist(),
            "shift": np.where(cramped, 3, -3).astype(np.int8),
            "text": [f"{100 * value:.0f}" for value in said[slots]],
            **columns(scene, lambda each: (f32(each.height[slots]), f32(each.y[slots]))),
        }

    def draw_clusters(
        self,
        scene: Scene,
        colour_of: Any,
        cut: float,
        colours: Sequence[str],
        dense: bool = False,
    ) -> None:
        """Colour the branches below the cut; ``colour_of`` int (m,): a node's colour's index or
        -1."""
        codes = scene.codes(colour_of)
        used = np.unique(codes[codes >= 0])
        tops = [scene.triangles[codes[scene.triangles] == c] for c in used]
        self._colour(
            scene,
            lambda each: [each.path(codes == c, cut, stems=not dense) for c in used],
            [colours[c] for c in used],
            tops,
        )

    def draw_levels(self, scene: Scene, level_of: Any, colours: Sequence[str]) -> None:
        """Colour the bars of nodes by ``level_of`` int (m,): a colour's index or -1."""
        levels = np.where(scene.is_open, scene.codes(level_of), -1)
        used = np.unique(levels[levels >= 0])
        self._colour(
            scene,
            lambda each: [each.bars(np.flatnonzero(levels == c)) for c in used],
            [colours[c] for c in used],
        )

    def _colour(
        self,
        scene: Scene,
        paths: Callable[[Scene], list[Path]],
        colours: Sequence[str],
        tops: Sequence[Any] = (),
    ) -> None:
        """Lines in colours, and the triangles of the slots ``tops`` in the same."""
        if not colours:
            self._no_clusters()
            return
        self.clusters.data = {**several(scene, paths), "colour": list(colours)}
        tinted = [k for k, slots in enumerate(tops) if slots.size]
        if tinted or len(self.tints.data["colour"]):
            self.tints.data = {
                **several(scene, lambda each: [each.filled(tops[k]) for k in tinted]),
                "colour": [colours[k] for k in tinted],
            }

    def _no_clusters(self) -> None:
        for source in (self.clusters, self.tints):
            if len(source.data["colour"]):
                source.data = {"xs": [], "ys": [], "colour": []}

    def draw_bands(self, runs: Sequence[tuple[float, float]]) -> None:
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
        left = where < (self.x_range.start + self.x_range.end) / 2  # the side with more room
        self.cut_text.update(
            visible=not parked and bool(text), text=text, x=where,
            text_align="right" if left else "left", x_offset=-4 if left else 4,
        )  # fmt: skip


def draw_bands(source: ColumnDataSource, runs: Sequence[tuple[float, float]]) -> None:
    """Rows [first, last) as horizontal bars; nothing is sent when nothing was and is there."""
    if not runs and len(source.data["middle"]) == 0:
        return
    source.data = {
        "middle": [-(a + b) / 2 for a, b in runs],
        "span": [float(b - a) for a, b in runs],
    }
