"""``LabelFigure``: names beside the leaves, as large as the rows allow, without overlap."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, Range1d

from hcviz.ui.compat.text_source import padded_texts
from hcviz.ui.parts.palette import Theme
from hcviz.ui.tree import label_fitting
from hcviz.ui.tree.bare_figure import BANDS, FONT, bare_figure, f32
from hcviz.ui.tree.dendrogram import draw_bands
from hcviz.ui.tree.geometry import Layout
from hcviz.ui.tree.items import Items
from hcviz.ui.tree.plain_glyphs import PlainGlyphs
from hcviz.ui.tree.scene import BUNDLE, COLLAPSED, FOLD, LEAF, TreeScene

NARROWEST, WIDEST = 56, 200
#: The type is made smaller down to this size before names are shortened.
SMALLEST = 9.0
#: Pixels for a mark at the left of every label.
GUTTER = 13
#: Rows of these pixels show the item's image in line with its name; lower rows, if no larger fits.
PICTURE_ROW, LOWEST_ROW = 30.0, 13.0
#: For lower rows: columns of images, at most; and the sides of an image (px), at least and at most.
PICTURE_COLUMNS, PICTURE_LEAST, MAX_PICTURE = 4, 16, 40
#: Pixels that names keep beside images in columns, and the assumed height of a page.
NAMES_ROOM, PAGE_PX = 44, 660
NO_NAMES: Mapping[int, str] = MappingProxyType({})
#: An empty text.
EMPTY = {"text": "", "ink": "black", "style": "normal"}
#: The width of bold type, at most, as a multiple of ``label_fitting.text_width``. Names keep the
#: room for it, so that a name is not shortened when it is selected.
BOLD = 1.1
#: Height of a name's box as a multiple of its type; names of one column are at least so far apart.
BOX = label_fitting.LEADING
#: Marks nearer than this (px) are drawn as one. Items within triangles that are named, at most.
MARK_PX, MAX_NAMED = 4.0, 60
#: Marks that are sent wherever they are. Of more, those near the window are sent.
MAX_MARKS = 300
#: Names that are measured for the width of their column.
MEASURED = 3_000
#: The narrowest column of labels in large type.
LARGE_NARROWEST = 260
#: The widest column of labels where items have pictures.
WIDEST_PICTURED = 236


def image_columns(row_px: float, width: float) -> tuple[int, int]:
    """Return ``(size, columns)`` of images that are larger than their rows.

    Row k has its image in column k modulo ``columns``, so images of one column are ``columns`` rows
    apart. (0, 0) if the images would be too small.
    """
    if row_px >= PICTURE_ROW:
        return 0, 0
    size = int(min(PICTURE_COLUMNS * row_px - 1, MAX_PICTURE))
    columns = int(np.ceil((size + 1) / max(row_px, 1e-9)))
    size = min(size, int((width - GUTTER - NAMES_ROOM) / columns) - 1)
    return (size, columns) if size >= PICTURE_LEAST else (0, 0)


def column_width(items: Items, scale: float = 1.0) -> int:
    """Return the pixels for the longest label, or for two columns of smaller labels.

    With a larger ``scale`` of the type there is one column, with room for triangles' texts.
    """
    if items.n == 0:
        return NARROWEST
    some = items.labels[:: -(-items.n // MEASURED)]
    longest = BOLD * max(label_fitting.text_width(str(label), 1.0) for label in some)
    wanted = longest * 11 * scale + GUTTER + 6
    if scale > 1:
        pictured = items.images is not None
        return int(np.clip(wanted + 40 * pictured, LARGE_NARROWEST, scale * WIDEST))
    if items.n > 45:
        wanted = max(wanted, 2 * (longest * 10 + 6) + GUTTER)
    if items.images is None:
        return int(min(max(wanted, NARROWEST), WIDEST))
    size, columns = image_columns(PAGE_PX / items.n, WIDEST_PICTURED)
    return int(min(max(wanted + 26, NARROWEST, longest * 10 + GUTTER + 8 + columns * (size + 1)),
                   WIDEST_PICTURED if size else WIDEST))  # fmt: skip


class LabelFigure:
    """The labels' models. x is in pixels from the column's left edge."""

    def __init__(self, y_range: Range1d, theme: Theme) -> None:
        self.width = NARROWEST
        self.x_range = Range1d(start=0, end=NARROWEST)
        self.figure = bare_figure(self.x_range, y_range, cut_off=BANDS)
        self.figure.css_classes = ["names-figure"]
        self.bands = ColumnDataSource({"middle": [], "span": []})
        self.text = ColumnDataSource(
            {"x": [], "y": [], "text": [], "ink": [], "style": [], "wide": []}
        )
        self._column_of: dict[int, float] = {}  # x of each item's name (px)
        self._shown = 0  # texts that are names; the rest are empty
        self._font = 11.0
        self.scale = 1.0  # of the type
        self.leads = ColumnDataSource({"x": [], "y": [], "x1": []})
        self.marks = ColumnDataSource({"x": [], "y": [], "shape": [], "ink": []})
        self.pictures = ColumnDataSource({"x": [], "y": [], "url": []})
        #: Sources that move together with the tree's lines.
        self.moving = [self.text, self.leads, self.pictures]
        draw = PlainGlyphs(self.figure)
        self._band = draw.hbar(
            y="middle", height="span", left=-1e5, right=1e5, line_color=None, fill_alpha=0.10,
            source=self.bands, level="overlay",
        )  # fmt: skip
        self._lead = draw.segment("x", "y", "x1", "y", source=self.leads, line_width=1)
        self._picture = draw.image_url(
            "url", "x", "y", w=10, h=10, w_units="screen", h_units="screen",
            anchor="center", source=self.pictures,
        )  # fmt: skip
        self._text = draw.text(
            "x", "y", "text", source=self.text, text_color="ink", text_font_style="style",
            text_font=value(FONT), text_font_size="11px", text_baseline="middle",
        )  # fmt: skip
        self.words = self._text.glyph
        self._mark = draw.scatter(
            "x", "y", marker="shape", size=7, source=self.marks, fill_color="ink", line_color=None
        )
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self.theme = theme
        self._band.glyph.fill_color = theme.accent
        self._lead.glyph.line_color = theme.rule

    def set_scale(self, scale: float, items: Items) -> None:
        """Multiply the size of the type, and fit the width to it."""
        self.scale = scale
        self.set_width(column_width(items, scale))

    def set_width(self, width: int) -> None:
        """Set the width of the figure in pixels."""
        self.width = width
        self.x_range.update(start=0, end=width)

    def names_with_room(
        self, names: Mapping[int, str], scene: TreeScene, row_px: float
    ) -> dict[int, str]:
        """Return the names (node -> name) that fit beside the triangles of their nodes."""
        setting = label_fitting.label_style(row_px, self.scale)
        room = (self.width - GUTTER - 2) / setting.columns
        size = scene.layout.tree.size
        return {
            node: name
            for node, name in names.items()
            if BOLD * label_fitting.text_width(_named(name, int(size[node])), setting.font) <= room
        }

    def draw(
        self,
        scene: TreeScene,
        items: Items,
        window: tuple[float, float],
        row_px: float,
        *,
        selected: Any = (),
        together: Any = (),
        apart: Any = (),
        names: Mapping[int, str] = NO_NAMES,
    ) -> None:
        """Write the labels of the rows in view, and of as many rows on either side.

        ``selected``, ``together``, ``apart``: items, in the order of their marks. ``names``: node
        -> name of its group, for triangles.
        """
        layout, reach = scene.layout, window[1] - window[0]
        marked = np.zeros(layout.order.size, np.uint8)
        for bit, members in ((1, selected), (2, apart), (4, together)):
            marked[np.asarray(members, dtype=np.int64)] |= bit
        slots, heads, middles = _heads(scene, window[0] - reach, window[1] + reach, marked)
        setting = label_fitting.label_style(row_px, self.scale)
        special = 2 * (marked[heads] > 1) + (marked[heads] & 1)
        special[slots >= 0] *= scene.kind[slots[slots >= 0]] <= LEAF
        if setting.every > 1:
            if scene.triangles.size:  # the largest clades first
                rank = np.where(slots >= 0, scene.count[slots], 0) / layout.order.size
            else:
                rank = 0.5 * (np.floor(middles) % setting.every == 0)
            kept = label_fitting.non_overlapping(middles, special + rank, setting.every)
            slots, heads, middles = slots[kept], heads[kept], middles[kept]
        start = _rows_before(scene, slots, middles)
        left, right = self._draw_pictures(layout, items, heads, middles, start, row_px)
        column = np.floor(middles).astype(int) % setting.columns
        texts, styles, inks = [], [], []
        for slot, leaf in zip(slots.tolist(), heads.tolist(), strict=True):
            text, style = _text_of(scene, items, slot, leaf, names)
            ink = self.theme.ink if setting.every == 1 else self.theme.soft
            if style == "normal" or scene.kind[slot] == COLLAPSED:
                for bit, colour in (
                    (1, self.theme.accent),
                    (2, self.theme.apart),
                    (4, self.theme.together),
                ):
                    if marked[leaf] & bit:
                        ink, style = colour, "bold"
            texts.append(text)
            inks.append(ink)
            styles.append(style)
        # The list of names of a clade may always be cut.
        whole = np.array([style != "italic" for style in styles], dtype=bool)
        whole &= (slots < 0) | (scene.kind[slots] == LEAF)
        room = self.width - left - right - 2
        font, shift, texts = _fit(texts, whole, column, setting, room, self.scale * SMALLEST)
        x = f32(left + column * shift)
        wide = f32([label_fitting.text_width(text, font) for text in texts])
        data: dict[str, Any] = {
            "x": x, "y": f32(-middles), "text": texts, "ink": inks, "style": styles, "wide": wide,
        }  # fmt: skip
        if start is not None:
            pairs = zip(heads.tolist(), x.tolist(), strict=True)
            data["x0"] = f32([self._column_of.get(leaf, to) for leaf, to in pairs])
            data["y0"] = f32(-start)
        self._column_of = dict(zip(heads.tolist(), x.tolist(), strict=True))
        self._set_text(data, layout.order.size)
        self._text.visible = True
        self._font = font
        size = f"{font:g}px"
        if self._text.glyph.text_font_size != size:
            self._text.glyph.text_font_size = size
        aside = column > 0
        data = {"x": f32(np.full(aside.sum(), 2.0)), "y": f32(-middles[aside]), "x1": x[aside] - 3}
        if start is not None:
            data["y0"] = f32(-start[aside])
        self._patch(self.leads, data)
        near = (window[0] - reach, window[1] + reach)
        self._draw_marks(layout, together, apart, row_px, near)

    def _draw_pictures(
        self,
        layout: Layout,
        items: Items,
        heads: Any,
        middles: Any,
        before: Any,
        row_px: float,
    ) -> tuple[int, int]:
        """Draw images; return the pixels that they take left and right of the names.

        In high rows an image is in line with its name, otherwise in columns on the right
        (:func:`image_columns`). ``before`` are the rows in the picture before, or None.
        """
        size, columns = (0, 0) if items.images is None else image_columns(row_px, self.width)
        if items.images is not None and not size and row_px >= LOWEST_ROW:
            size, columns = int(min(row_px - 1, 48, self.width / 2.5)), 1
        if not size:
            self._patch(self.pictures, {"x": [], "y": [], "url": []})
            return GUTTER, 0
        beside = columns > 1
        start = self.width - columns * (size + 1) if beside else GUTTER
        column = np.floor(middles).astype(int) % columns
        at = separated_rows(middles, column, size / row_px, layout.n_rows)
        moved = np.zeros(len(at)) if before is None else middles - before
        shown = [
            (start + size / 2 + k * (size + 1), -y, uri, by - y)
            for leaf, k, y, by in zip(
                heads.tolist(), column.tolist(), at.tolist(), moved.tolist(), strict=True
            )
            if (uri := items.picture(leaf)) is not None
        ]
        glyph = self._picture.glyph
        if glyph.w != size:
            glyph.update(w=size, h=size)
        data = {
            "x": [x for x, _, _, _ in shown],
            "y": [y for _, y, _, _ in shown],
            "url": [uri for _, _, uri, _ in shown],
        }
        if before is not None:
            data["y0"] = [y0 for _, _, _, y0 in shown]
        self._patch(self.pictures, data)
        return (GUTTER, columns * (size + 1) + 3) if beside else (GUTTER + size + 5, 0)

    def _set_text(self, data: dict[str, Any], n: int) -> None:
        """Set the texts; on a page, with empty texts far above the picture (``padded_texts``)."""
        self._shown = len(data["text"])
        if self.figure.document is not None:
            data = padded_texts(data, len(self.text.data["text"]), EMPTY, n)
        self.text.data = data

    def row_at(self, x: float, y: float, row_px: float) -> float:
        """Return the row of the name whose box contains the point; ``y`` if there is none.

        Names in two columns are two rows apart, so each is picked over its whole height.
        ``click_preview.js`` does the same in the browser.
        """
        data, count = self.text.data, self._shown
        if count == 0 or not self._text.visible:
            return y
        left, rows = np.asarray(data["x"])[:count], -np.asarray(data["y"], float)[:count]
        off = np.abs(rows - y) * row_px
        inside = (left <= x) & (x <= left + np.asarray(data["wide"])[:count])
        inside &= off <= BOX * self._font / 2
        found = np.flatnonzero(inside)
        return float(rows[found[off[found].argmin()]]) if found.size else y

    def _draw_marks(
        self, layout: Layout, together: Any, apart: Any, row_px: float, near: tuple[float, float]
    ) -> None:
        rows = [
            _distinct_rows(layout.leaf_y, members, MARK_PX / row_px, near)
            for members in (together, apart)
        ]
        counts = [len(each) for each in rows]
        self._patch(
            self.marks,
            {
                "x": [6.0] * sum(counts),
                "y": [-y for each in rows for y in each],
                "shape": ["circle"] * counts[0] + ["inverted_triangle"] * counts[1],
                "ink": [self.theme.together] * counts[0] + [self.theme.apart] * counts[1],
            },
        )

    @staticmethod
    def _patch(source: ColumnDataSource, data: dict[str, Any]) -> None:
        """Send ``data`` unless there were and are none."""
        if len(data["x"]) or len(source.data["x"]):
            source.data = data

    def clear(self) -> None:
        """Remove all labels."""
        # Hidden, not emptied, for the reason given in compat/text_source.py.
        self._text.visible = False
        self._patch(self.leads, {"x": [], "y": [], "x1": []})
        self._patch(self.marks, {"x": [], "y": [], "shape": [], "ink": []})
        self._patch(self.pictures, {"x": [], "y": [], "url": []})
        self.draw_bands([])

    def draw_bands(self, runs: list[tuple[float, float]]) -> None:
        """Mark these rows."""
        draw_bands(self.bands, runs)


def _heads(scene: TreeScene, first: float, last: float, marked: Any) -> tuple[Any, Any, Any]:
    """Return ``(slots, leaves, rows)`` of the labels between two rows.

    A label belongs to a closed slot (its first leaf, its middle), or to a marked item within a
    triangle, which has slot -1.
    """
    layout, c = scene.layout, scene.n_closed
    slots = np.flatnonzero((scene.bottom[:c] > first) & (scene.top[:c] < last))
    heads = layout.order[scene.first[slots]]
    middles = 0.5 * (scene.top + scene.bottom)[slots]
    if not scene.triangles.size:
        return slots, heads, middles
    named = np.flatnonzero(marked)
    if named.size > MAX_NAMED:
        return slots, heads, middles
    holding = np.searchsorted(scene.first[:c], layout.place[named], side="right") - 1
    named = named[(scene.kind[holding] == FOLD) | (scene.kind[holding] == BUNDLE)]
    named = named[(layout.leaf_y[named] > first) & (layout.leaf_y[named] < last)]
    return (
        np.concatenate((slots, np.full(named.size, -1))),
        np.concatenate((heads, named)),
        np.concatenate((middles, layout.leaf_y[named])),
    )


def _rows_before(scene: TreeScene, slots: Any, middles: Any) -> Any:
    """Return the rows of labels in the picture before, float (k,), or None."""
    if scene.start is None:
        return None
    return np.where(slots >= 0, scene.start.y[np.maximum(slots, 0)], middles)


def _text_of(
    scene: TreeScene, items: Items, slot: int, leaf: int, names: Mapping[int, str]
) -> tuple[str, str]:
    if slot < 0 or scene.kind[slot] == LEAF:
        return str(items.labels[leaf]), "normal"
    name = names.get(int(scene.node[slot]))
    if name is not None:
        return _named(name, int(scene.count[slot])), "bold"
    members = [str(items.labels[i]) for i in scene.leaves(slot)[:3]]
    more = "…" if scene.count[slot] > len(members) else ""
    return f"{scene.count[slot]:,}: {', '.join(members)}{more}", "italic"


def _named(name: str, count: int) -> str:
    return f"{name} ({count:,})"


def _distinct_rows(leaf_y: Any, members: Any, gap: float, near: tuple[float, float]) -> list[float]:
    """Return the rows of ``members``, in their order, without those too near to another.

    Of many only those near the window are returned.
    """
    rows = leaf_y[np.asarray(members, dtype=np.int64)]
    if rows.size > MAX_MARKS:
        rows = rows[(rows > near[0]) & (rows < near[1])]
    if gap > 1 and rows.size > 1:
        rows = rows[np.sort(np.unique(np.floor(rows / gap), return_index=True)[1])]
    return [float(row) for row in rows]


def separated_rows(middles: Any, column: Any, size: float, n_rows: int) -> Any:
    """Return the rows of images of ``size`` rows, float (k,), near their ``middles`` (increasing).

    No image is cut off above or below. Images of one column do not overlap if there is room.
    """
    at = np.clip(middles, min(size, n_rows) / 2, n_rows - min(size, n_rows) / 2)
    for k in np.unique(column):
        own = np.flatnonzero(column == k)
        steps = size * np.arange(own.size)
        at[own] = np.maximum.accumulate(at[own] - steps) + steps  # move down from the first row
        low = n_rows - size / 2 - steps[::-1]
        at[own] = np.minimum(at[own], np.maximum(low, size / 2))  # move up from the last row
    return at


def _fit(
    texts: list[str],
    whole: Any,
    column: Any,
    setting: label_fitting.LabelStyle,
    width: float,
    smallest: float,
) -> tuple[float, float, list[str]]:
    """Return ``(font, offset of the second column, texts)`` so that every text fits its column.

    The columns share the width by their longest names. The type shrinks to ``smallest`` before
    names are shortened.
    """
    ems = np.array([label_fitting.text_width(text, 1.0) for text in texts])
    widest = [
        BOLD * float(ems[whole & (column == k)].max(initial=1.0)) for k in range(setting.columns)
    ]
    gap = 5.0
    usable = width - gap * (setting.columns - 1)
    font = min(setting.font, max(min(smallest, setting.font), usable / sum(widest)))
    font = float(np.floor(font * 2) / 2)
    widths = [usable]
    if setting.columns == 2:  # a column takes more than half only if the other needs less
        first = min(widest[0] * font, max(usable / 2, usable - widest[1] * font))
        widths = [first, usable - first]
    fitted = [
        (label_fitting.shorten if name else label_fitting.truncate)(
            text, font, (widths[k] + 0.5) / BOLD
        )
        for text, name, k in zip(texts, whole, column, strict=True)
    ]
    return font, widths[0] + gap, fitted
