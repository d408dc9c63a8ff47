"""``TreeFigure``: the tree with its root at the left, and layers for what is emphasised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, CustomJS, Range1d
from bokeh.models.annotations import Label, Span

from hcviz.core.branch_names import DrawnTree, NamePlace, crosses_lines, place_names
from hcviz.ui.parts.palette import Theme
from hcviz.ui.tree import label_fitting
from hcviz.ui.tree.bare_figure import BANDS, FONT, bare_figure, f32, pulse
from hcviz.ui.tree.motion import columns, several
from hcviz.ui.tree.plain_glyphs import PlainGlyphs
from hcviz.ui.tree.scene import COLLAPSED, LEAF, Path, TreeScene

#: Space beyond the leaves, as a share of the height. A click there picks the leaf.
BEYOND = 0.02
#: Space left of the root, for the cut line while nothing is cut.
MARGIN = 0.03
#: During a run the axis is changed if the root is lower than this share of it.
KEPT = 0.9
NO_SUPPORT: dict[str, Any] = {
    "x": [], "y": [], "text": [], "align": [], "shift": [], "base": [], "down": [],
}  # fmt: skip
NO_NAMES: dict[str, Any] = {
    "x": [], "y": [], "text": [], "align": [], "base": [], "right": [], "down": [], "cover": [],
}  # fmt: skip
NO_PATHS: dict[str, Any] = {"xs": [], "ys": [], "colour": [], "alpha": []}
#: Size of the supports in pixels.
SUPPORT_FONT = 9.0
#: Size of the names of groups in pixels; bold letters are wider by this factor.
NAME_FONT, NAME_BOLD = 11.0, 1.15
#: Opacity of the paper behind a name that covers lines.
COVERING = 0.85
#: Longest name at a branch in pixels.
LONGEST_NAME = 150.0
#: Where a name is: alignment, baseline, and pixels to the right and down.
_SIDES = {
    "above": ("right", "bottom", -4, -1),
    "below": ("right", "top", -4, 2),
    "right": ("left", "middle", 5, 0),
}
#: Opacity of a folded clade's triangle.
FOLDED = 0.4
#: Widths of the lines of emphasised clades: new, together, apart, selection.
LAYER_WIDTHS = (3.5, 2.6, 2.6, 2.8)
#: Pixels of the height axis.
AXIS_PX = 34


#: During a drag the browser moves the cut line, and its label to the side with more room.
FOLLOW_CUT = """
line.data.x = [cb_obj.location]
line.change.emit()
const left = cb_obj.location < (range.start + range.end) / 2
text.setv({x: cb_obj.location, text_align: left ? "right" : "left", x_offset: left ? -4 : 4})
"""


class TreeFigure:
    """The models of the dendrogram; methods draw a scene in them."""

    def __init__(self, y_range: Range1d, theme: Theme) -> None:
        self.x_range: Any = Range1d(start=1 + MARGIN, end=-BEYOND)
        self._top = 1.0  # the height that the axis was made for
        self._is_own_change = False  # of the cut line
        self.scale = 1.0  # of the type and the lines
        self.figure = bare_figure(self.x_range, y_range, min_border_left=8, cut_off=BANDS)
        self.figure.css_classes = ["tree-figure"]
        self.axis = bare_figure(
            self.x_range,
            Range1d(start=-1, end=0),
            min_border_left=8,
            min_border_top=0,
            min_border_bottom=0,
        )
        self.axis.toolbar.tools = []
        self.ticks = ColumnDataSource({"x": [], "text": [], "align": []})
        self._rule = Span(dimension="width", location=0, line_width=2)
        self.axis.add_layout(self._rule)
        self._ticks = PlainGlyphs(self.axis).text(
            "x", 0, "text", source=self.ticks, text_font=value(FONT), text_font_size="10px",
            text_align="align", text_baseline="top", y_offset=6,
        )  # fmt: skip
        self._tick_marks = PlainGlyphs(self.axis).scatter(
            "x", 0, source=self.ticks, marker="dash", angle=np.pi / 2, size=8, line_width=1
        )
        self.title = ColumnDataSource({"x": [0.5], "text": [""]}, name="axis-title")
        self._title = PlainGlyphs(self.axis).text(
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
        names = ("new", "together", "apart", "selection")
        self.layers = {name: ColumnDataSource({"x": [], "y": []}) for name in names}
        self.paths = ColumnDataSource(dict(NO_PATHS), name="pulse-lines")
        pulse(self.paths)
        self.support = ColumnDataSource(dict(NO_SUPPORT))
        self.names = ColumnDataSource(dict(NO_NAMES), name="group-names")
        self._named: dict[int, NamePlace] = {}  # slot -> place of its name
        self.uncertain = ColumnDataSource({"x": [], "y": []}, name="uncertain-lines")
        self.stems = ColumnDataSource({"x": [], "y": []})
        #: Sources that move together with the tree's lines.
        self.moving = [
            self.stems, self.wedges, self.folds, self.tints, self.clusters, self.uncertain,
            self.support, self.names, *self.layers.values(),
        ]  # fmt: skip
        draw = PlainGlyphs(self.figure)
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
        self._uncertain = draw.line("x", "y", source=self.uncertain, line_width=2)
        self._cluster = draw.multi_line(
            "xs", "ys", source=self.clusters, line_color="colour", line_width=1.6
        )
        self._layer = {
            name: draw.line(
                "x", "y", source=layer, line_width=width, line_join="round", level="overlay"
            )
            for (name, layer), width in zip(self.layers.items(), LAYER_WIDTHS, strict=True)
        }
        self._layer["new"].glyph.line_alpha = 0.75
        draw.multi_line(
            "xs", "ys", source=self.paths, line_color="colour", line_alpha="alpha", line_width=5,
            line_join="round", level="overlay",
        )  # fmt: skip
        self._support = draw.text(
            "x", "y", "text", source=self.support, text_font=value(FONT),
            text_font_size=f"{SUPPORT_FONT:g}px",
            text_align="align", text_baseline="base", x_offset="shift", y_offset="down",
        )  # fmt: skip
        self._names = draw.text(
            "x", "y", "text", source=self.names, text_font=value(FONT),
            text_font_size=f"{NAME_FONT:g}px", text_font_style="bold", text_align="align",
            text_baseline="base", x_offset="right", y_offset="down", level="overlay",
            background_fill_alpha="cover", padding=[0, 2], border_radius=2,
        )  # fmt: skip
        self._cut_line()
        self.set_theme(theme)

    def _cut_line(self) -> None:
        # A dashed line is visible; a wide, nearly transparent one is there to be dragged. The
        # visible one is a glyph, because Bokeh looks up an annotation's style at every drawing.
        self._cut_at = ColumnDataSource({"x": [1 + MARGIN / 2]})
        self.cut_line = PlainGlyphs(self.figure).vspan(
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
        """Use other colours."""
        self.theme = theme
        self._rule.line_color = self._tick_marks.glyph.line_color = theme.rule
        self._ticks.glyph.text_color = self._title.glyph.text_color = theme.soft
        self._line.glyph.line_color = theme.branch
        self._stem.glyph.line_color = self._uncertain.glyph.line_color = theme.rule
        self._fold.glyph.fill_color = theme.branch
        self._wedge.glyph.update(fill_color=theme.ink, line_color=theme.ink)
        self._band.glyph.fill_color = self._hover.glyph.fill_color = theme.accent
        colours = (theme.fresh, theme.together, theme.apart, theme.accent)
        for renderer, colour in zip(self._layer.values(), colours, strict=True):
            renderer.glyph.line_color = colour
        self._support.glyph.text_color = theme.soft
        self._names.glyph.update(text_color=theme.ink, background_fill_color=theme.paper)
        self.cut_line.glyph.line_color = self.cut_grip.line_color = theme.ink
        self.cut_grip.hover_line_color = theme.accent
        self.cut_text.text_color = theme.ink
        self.cut_text.background_fill_color = theme.paper
        self.cut_text.background_fill_alpha = 0.85

    def set_scale(self, scale: float) -> None:
        """Multiply the size of the type and the width of the lines."""
        self.scale = scale
        sizes = (
            (self._ticks, 10), (self._title, 11), (self._support, SUPPORT_FONT),
            (self._names, NAME_FONT),
        )  # fmt: skip
        for texts, size in sizes:
            texts.glyph.text_font_size = f"{scale * size:g}px"
        self._ticks.glyph.y_offset, self._title.glyph.y_offset = 6 * scale, 19 * scale
        self.cut_text.text_font_size = f"{11 * scale:g}px"
        for renderer, width in zip(self._layer.values(), LAYER_WIDTHS, strict=True):
            renderer.glyph.line_width = scale * width
        self._wedge.glyph.line_width = self._cluster.glyph.line_width = 1.6 * scale
        self._uncertain.glyph.line_width = 2 * scale

    # ------------------------------------------------------------------ patches

    def set_height(self, height: float, keep: bool = False) -> None:
        """Set the height axis, from a little left of the root to a little beyond the leaves.

        ``keep``: do not change it while the root is well within it, as during a run.
        """
        height = height if height > 0 else 1.0
        if keep and KEPT * self._top <= height <= (1 + MARGIN / 4) * self._top:
            return
        self._top = height
        start, end = height * (1 + MARGIN), -height * BEYOND
        if (self.x_range.start, self.x_range.end) != (start, end):
            self.x_range.update(start=start, end=end)

    def draw_axis(
        self, title: str, width: float, tick: Callable[[float], str], levels: bool = False
    ) -> None:
        """Write the ticks, and the axis' title below them, cut to ``width`` pixels.

        ``levels``: heights are levels, so the ticks are whole numbers.
        """
        places = label_fitting.nice_ticks(self._top, 4, whole=levels)
        texts = [tick(float(each)) for each in places]
        if self.ticks.data["text"] != texts:
            # The tick at the leaves is near the edge of the figure, which would cut a long text.
            align = ["right" if len(texts[0]) > 1 else "center"] + ["center"] * (len(texts) - 1)
            self.ticks.data = {"x": f32(places), "text": texts, "align": align}
        middle = (self.x_range.start + self.x_range.end) / 2
        data = {"x": [middle], "text": [label_fitting.truncate(title, 11 * self.scale, width - 6)]}
        if dict(self.title.data) != data:
            self.title.data = data

    @property
    def top(self) -> float:
        """The height that the axis was made for."""
        return self._top

    def draw(self, scene: TreeScene, dense: bool = False) -> None:
        """Draw the tree. Its lines come first, because they begin the scene's transition.

        ``dense``: rows are near a pixel, so branches to leaves are drawn apart, in a lighter
        colour. Otherwise they would hide the branches above them.
        """
        self.show_frame(True)
        width = self.scale * (0.8 if dense or scene.triangles.size else 1.2)
        if self._line.glyph.line_width != width:
            self._line.glyph.line_width = width
        self.tree.data = columns(scene, lambda each: each.path(stems=not dense))
        if dense:
            self.stems.data = columns(scene, TreeScene.stems)
        elif len(self.stems.data["x"]):
            self.stems.data = {"x": [], "y": []}
        self._draw_wedges(scene)

    def _draw_wedges(self, scene: TreeScene) -> None:
        """Draw collapsed clades with an outline; folded ones lighter, inside the tree's lines."""
        for source, slots in (
            (self.wedges, np.flatnonzero(scene.kind == COLLAPSED)),
            (self.folds, scene.triangles),
        ):
            if slots.size or len(source.data["x"]):
                source.data = columns(scene, lambda each, slots=slots: each.filled(slots))  # type: ignore[misc]

    def clear(self) -> None:
        """Remove the tree."""
        for source in (self.tree, self.stems, self.wedges, self.folds):
            source.data = {"x": [], "y": []}
        self._no_clusters()
        for source in self.layers.values():
            source.data = {"x": [], "y": []}
        self.support.data = dict(NO_SUPPORT)
        self._set_names({})
        self.draw_paths()
        self.hovered.data = {"left": [], "right": [], "top": [], "bottom": []}
        self.draw_bands([])
        self.show_frame(False)

    def show_frame(self, there: bool) -> None:
        """Show or hide the axis and the cut line, which are hidden without a tree."""
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

    def draw_layer(self, name: str, scene: TreeScene, leaves: Any) -> None:
        """Emphasise every clade whose leaves are all among ``leaves``."""
        if len(leaves) == 0:
            self._set_layer(name)
        else:
            within = scene.slots_within(leaves)
            self._set_layer(name, columns(scene, lambda each: each.path(within)))

    def draw_nodes(self, name: str, scene: TreeScene, nodes: Any) -> None:
        """Emphasise the bars of these inner nodes and the branches below them."""
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

    def draw_paths(self, paths: Sequence[tuple[Any, Any, str]] = ()) -> None:
        """Let these lines, ``(x, y, colour)`` each, pulse; without any, remove them."""
        if paths or len(self.paths.data["xs"]):
            self.paths.data = {
                "xs": [x for x, _, _ in paths],
                "ys": [-y for _, y, _ in paths],
                "colour": [colour for _, _, colour in paths],
                "alpha": np.ones(len(paths), np.float32),
            }

    def draw_names(
        self,
        scene: TreeScene,
        names: Mapping[int, str],
        labelled: Mapping[int, str],
        window: tuple[float, float],
        row_px: float,
        width: float,
    ) -> None:
        """Write the names of nodes at their branches, where there is room.

        ``labelled`` are the nodes whose names are beside their triangles, if they have one.
        ``width`` is the pixels of the figure. The largest clades come first.
        """
        seen = (scene.bottom >= window[0]) & (scene.top <= window[1]) & (scene.kind != LEAF)
        slots = [
            slot
            for slot in np.flatnonzero(seen).tolist()
            if (node := int(scene.node[slot])) in names
            and (scene.is_open[slot] or node not in labelled)
        ]
        if not slots:
            self._set_names({})
            return
        slots.sort(key=lambda slot: (-int(scene.count[slot]), slot))
        texts = {
            slot: label_fitting.truncate(names[int(scene.node[slot])], NAME_FONT, LONGEST_NAME)
            for slot in slots
        }
        wide = NAME_BOLD * NAME_FONT * self.scale
        drawn = drawn_tree(scene, self.x_range, row_px, width)
        places = place_names(
            drawn, slots, [label_fitting.text_width(texts[slot], wide) + 2 for slot in slots]
        )
        if not places:
            self._set_names({})
            return
        at = np.asarray([each.slot for each in places])
        styles = [_SIDES[each.side] for each in places]
        self._named = {each.slot: each for each in places}
        self.names.data = {
            "text": [label_fitting.truncate(texts[each.slot], wide, each.room) for each in places],
            "align": [align for align, _, _, _ in styles],
            "base": [base for _, base, _, _ in styles],
            "right": [right for _, _, right, _ in styles],
            "down": [down for _, _, _, down in styles],
            "cover": [COVERING * each.covers for each in places],
            **columns(scene, lambda each: (f32(each.height[at]), f32(each.y[at]))),
        }

    def _set_names(self, places: dict[int, NamePlace]) -> None:
        self._named = places
        if len(self.names.data["x"]):
            self.names.data = dict(NO_NAMES)

    def draw_support(
        self,
        scene: TreeScene,
        support: Any,
        below: float,
        window: tuple[float, float],
        row_px: float,
        width: float,
    ) -> None:
        """Write percentages beside the bars of clades in view, where no line crosses them.

        The branch above a clade with less support than ``below`` is lighter. ``width`` is the
        pixels of the figure.
        """
        if support is None:
            if len(self.support.data["x"]):
                self.support.data = dict(NO_SUPPORT)
            if len(self.uncertain.data["x"]):
                self.uncertain.data = {"x": [], "y": []}
            return
        slots = np.flatnonzero(scene.is_open & (support[scene.node] < below))
        self.uncertain.data = columns(scene, lambda each: each.branches_above(slots))
        height, values = scene.height, np.where(scene.is_open, support[scene.node], np.nan)
        tall = (scene.bottom - scene.top) * row_px >= 26 * self.scale
        seen = (scene.bottom >= window[0]) & (scene.top <= window[1])
        slots = np.flatnonzero(tall & seen & np.isfinite(values))
        slots = slots[(slots != scene.n_slots - 1) & (height[slots] > 0)]
        texts = np.asarray([f"{100 * value:.0f}" for value in values[slots]], dtype=object)
        sides = [self._named[slot].side if slot in self._named else "" for slot in slots.tolist()]
        # The number and the name of a clade are on different sides of its branch.
        under = np.asarray([side == "above" for side in sides], dtype=np.bool_)
        is_named = np.asarray([side == "right" for side in sides], dtype=np.bool_)
        drawn = drawn_tree(scene, self.x_range, row_px, width)
        font = SUPPORT_FONT * self.scale
        wide = np.asarray([label_fitting.text_width(text, font) for text in texts])
        x, y = drawn.x[slots], drawn.y[slots]
        # Lines are wider in a presentation, too. The path of an answer is wider than the branches.
        gap = round(4 * self.scale)
        top = np.where(under, y + gap, y - gap - font)
        left = (x - gap - wide, x - gap, top, top + font)
        right = (x + gap, x + gap + wide, top, top + font)
        # Left of the bar, on the clade's branch; right of it where the branch is too short.
        on_left = (left[0] >= 0) & ~crosses_lines(drawn, left)
        on_right = ~on_left & (right[1] <= width) & ~is_named & ~crosses_lines(drawn, right)
        kept = np.flatnonzero(on_left | on_right)
        kept = kept[
            label_fitting.non_overlapping(
                scene.y[slots[kept]], (scene.bottom - scene.top)[slots[kept]],
                11 * self.scale / max(row_px, 1e-9),
            )
        ]  # fmt: skip
        slots = slots[kept]
        self.support.data = {
            "align": np.where(on_right[kept], "left", "right").tolist(),
            "shift": np.where(on_right[kept], gap, -gap).astype(np.int8),
            "base": np.where(under[kept], "top", "bottom").tolist(),
            "down": np.where(under[kept], gap, -gap).tolist(),
            "text": texts[kept].tolist(),
            **columns(scene, lambda each: (f32(each.height[slots]), f32(each.y[slots]))),
        }

    def draw_clusters(
        self,
        scene: TreeScene,
        colour_of: Any,
        cut: float,
        colours: Sequence[str],
        dense: bool = False,
    ) -> None:
        """Colour the branches below the cut.

        ``colour_of`` int (m,) is the index of each node's colour, or -1.
        """
        codes = scene.codes(colour_of)
        used = np.unique(codes[codes >= 0])
        tops = [scene.triangles[codes[scene.triangles] == c] for c in used]
        self._colour(
            scene,
            lambda each: [each.path(codes == c, cut, stems=not dense) for c in used],
            [colours[c] for c in used],
            tops,
        )

    def draw_levels(self, scene: TreeScene, level_of: Any, colours: Sequence[str]) -> None:
        """Colour the bars of nodes; ``level_of`` int (m,) is a colour's index or -1."""
        levels = np.where(scene.is_open, scene.codes(level_of), -1)
        used = np.unique(levels[levels >= 0])
        self._colour(
            scene,
            lambda each: [each.bars(np.flatnonzero(levels == c)) for c in used],
            [colours[c] for c in used],
        )

    def _colour(
        self,
        scene: TreeScene,
        paths: Callable[[TreeScene], list[Path]],
        colours: Sequence[str],
        tops: Sequence[Any] = (),
    ) -> None:
        """Draw lines in colours, and the triangles of the slots ``tops`` in the same colours."""
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
        """Mark these rows."""
        draw_bands(self.bands, runs)

    @property
    def cut_location(self) -> float:
        """The height at which the cut line is."""
        return float(self.cut_grip.location)

    def on_cut_dragged(self, call: Callable[[], None]) -> None:
        """Call ``call`` when the browser has moved the cut line."""

        def moved(_attribute: str, _old: Any, _new: Any) -> None:
            if not self._is_own_change:
                call()

        self.cut_grip.on_change("location", moved)

    def show_cut(self, height: float | None, text: str = "") -> None:
        """Show the cut line at ``height``; without one, faintly left of the root."""
        parked = height is None
        where = self._top * (1 + MARGIN / 2) if parked else float(height or 0.0)
        if self.cut_grip.location != where:
            self._is_own_change = True
            self.cut_grip.location = where
            self._is_own_change = False
        if self._cut_at.data["x"] != [where]:
            self._cut_at.data = {"x": [where]}
        if self.cut_line.glyph.line_width != (width := 1.0 if parked else 1.5):
            self.cut_line.glyph.update(line_alpha=0.35 if parked else 0.9, line_width=width)
        left = where < (self.x_range.start + self.x_range.end) / 2  # the side with more room
        self.cut_text.update(
            visible=not parked and bool(text), text=text, x=where,
            text_align="right" if left else "left", x_offset=-4 if left else 4,
        )  # fmt: skip


def drawn_tree(scene: TreeScene, x_range: Any, row_px: float, width: float) -> DrawnTree:
    """Return the lines of a scene in pixels."""
    per = width / max(x_range.start - x_range.end, 1e-12)
    y = row_px * scene.y
    low, high = np.maximum(scene.low, 0), np.maximum(scene.high, 0)
    sides = scene.kind != LEAF
    top = np.where(scene.is_open, y[low], np.where(sides, row_px * scene.top, y))
    bottom = np.where(scene.is_open, y[high], np.where(sides, row_px * scene.bottom, y))
    x = per * (x_range.start - scene.height)
    return DrawnTree(x, y, scene.parent.astype(np.int64), top, bottom, width)


def draw_bands(source: ColumnDataSource, runs: Sequence[tuple[float, float]]) -> None:
    """Draw rows [first, last) as horizontal bars; send nothing if there were and are none."""
    if not runs and len(source.data["middle"]) == 0:
        return
    source.data = {
        "middle": [-(a + b) / 2 for a, b in runs],
        "span": [float(b - a) for a, b in runs],
    }
