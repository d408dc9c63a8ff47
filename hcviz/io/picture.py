"""Export of a tree with its labels, class strips and heatmap as one SVG, PDF or PNG page.

The page is a matplotlib figure, made without pyplot. So the code is safe in any thread, and the
same input gives the same bytes. Text stays text in SVG and PDF: it can be searched.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Literal, get_args

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import ListedColormap, to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray

from hcviz.core.branch_names import LINE, DrawnTree, Side, place_names
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.layout import elbow_path, elbows, leaf_order, outer_children, without_nodes
from hcviz.core.text import printable
from hcviz.core.tree import Tree
from hcviz.core.tree_colours import BRANCH_COLOUR

Format = Literal["svg", "pdf", "png"]

#: Height of a row and maximal height of all rows, in inches. Rows are lower if there are many.
ROW_HEIGHT, MAX_HEIGHT = 0.125, 60.0
#: Rows lower than this many points have no label.
MIN_LABELLED_POINTS = 1.5
#: Sizes of the page's parts, in inches.
TREE_WIDTH, STRIP_WIDTH, GAP, MARGIN, HEAD_HEIGHT = 4.6, 0.13, 0.08, 0.2, 0.55
DOTS_PER_INCH = 150
#: Height of a line of the caption and mean width of its letters, in inches.
CAPTION_LINE, CAPTION_LETTER = 0.13, 0.052
#: The tree is at least this wide, and the rows together at least this high, in inches.
LEAST_TREE, LEAST_BODY = 1.2, 0.8
#: A PNG has at most this number of pixels.
MAX_PNG_PIXELS = 100_000_000
#: A page of a stated size has at most this length, in millimetres; a row at most this, in inches.
MAX_MILLIMETRES, MAX_ROW = 5_000.0, 0.3
MILLIMETRES_PER_INCH = 25.4
#: A clade with less support than this has a lighter branch.
LOW_SUPPORT = 0.5
#: The heatmap on the page has at most this many pixels in each direction.
MAX_PIXELS = 4_000
#: A preview has no text that is lower, and no line that is thinner, in pixels.
LEAST_TEXT, LEAST_LINE = 1.5, 0.5


@dataclass(frozen=True)
class ClassStrip:
    """A column of classes: a code for each item (255: no class), and a name and colour per code."""

    title: str
    codes: NDArray[np.uint8]
    names: Sequence[str]
    colours: Sequence[str]


@dataclass(frozen=True, eq=False)
class HeatmapData:
    """The heatmap's values, float (n, d) with NaN where missing, and how to draw them.

    Attributes
    ----------
    low, high : values of the first and the last of ``colours``
    column_order : int (d,), or None if the columns are the items in the order of the leaves
    column_tree : tree over the columns, drawn above the heatmap
    pooled : True if the values are (k, k) means over k equal shares of the rows, already in the
        order of the leaves
    query_mask : uint8 (m, m), indices into ``query_mask_colours`` (``#rrggbbaa``), drawn over the
        values; 0 for pairs that the method did not query
    """

    values: Any
    low: float
    high: float
    colours: Sequence[str]
    title: str = ""
    column_names: Sequence[str] = ()
    column_order: Any = None
    column_tree: Tree | None = None
    pooled: bool = False
    query_mask: Any = None
    query_mask_colours: Sequence[str] = ()


@dataclass(frozen=True)
class PageColours:
    """Colours of the page's parts, as ``#rrggbb``."""

    text: str = "#1d2530"
    soft: str = "#52606f"
    branch: str = BRANCH_COLOUR
    paper: str = "#ffffff"
    missing: str = "#c9ced4"
    faint: str = "#d5dbe1"


def draw_picture(
    tree: Tree, labels: Sequence[str], *, format: Format = "svg", **options: Any
) -> bytes:
    """Draw a tree, and return the content of the file.

    Parameters
    ----------
    tree, labels : a tree with n leaves, and their n labels
    format : ``svg``, ``pdf`` (with its fonts) or ``png`` (150 dots per inch)
    **options : see :func:`draw_page`

    Returns
    -------
    bytes
        The content of the file.

    Raises
    ------
    InvalidParameter
        If the format is unknown, or the size is too small for the picture.
    InvalidData
        If the labels, the order, the supports or the heatmap have the wrong size.
    """
    if format not in get_args(Format):
        raise InvalidParameter(f"A picture is saved as svg, pdf or png, not as '{format}'.")
    return draw_page(tree, labels, check_pixels=format == "png", **options).file(format)


def draw_page(
    tree: Tree,
    labels: Sequence[str],
    *,
    order: ArrayLike | None = None,
    heat: HeatmapData | None = None,
    strips: Sequence[ClassStrip] = (),
    clusters: ArrayLike | None = None,
    cluster_colours: Sequence[str] = (),
    cut: float | None = None,
    support: ArrayLike | None = None,
    low_support: float = LOW_SUPPORT,
    merged: ArrayLike | None = None,
    names: Mapping[int, str] | None = None,
    axis_title: str = "",
    axis_tick: Callable[[float], str] | None = None,
    title: str = "",
    caption: str = "",
    ink: PageColours | None = None,
    size: tuple[float, float] | None = None,
    pixels: int | None = None,
    check_pixels: bool = False,
) -> Page:
    """Draw the tree with its root at the left, and labels, strips and heatmap beside its leaves.

    Parameters
    ----------
    tree, labels : a tree with n leaves, and their n labels
    order : int (n,), the leaves from top to bottom; a depth-first order of the tree by default
    heat : the heatmap to draw at the right
    strips : columns of classes, drawn between the labels and the heatmap
    clusters : int (n_nodes,), the index of each node's branches into ``cluster_colours``, or -1
    cut : height of a dashed line
    support : float (n_internal,), the support of each clade or NaN; written on the branches
    low_support : clades with less support than this have a lighter branch
    merged : bool (n_internal,), nodes that are drawn as a part of their parent
    names : node -> name of its group, written at its branch where there is room
    axis_title : text below the height axis, says what the heights mean
    axis_tick : what the axis writes at a height, if not the number
    title : text above the tree
    caption : text below everything, such as how the tree was made
    ink : colours of the page
    size : width and height of the page in millimetres; by default as large as the tree needs
    pixels : for a preview, the length of the page's longer side in pixels. Texts that are too small
        to see are left out, because writing thousands of them takes seconds.
    check_pixels : whether to refuse a page that is too large for a PNG

    Returns
    -------
    Page

    Raises
    ------
    InvalidParameter
        If the size is too small for the picture, or too large for a PNG.
    InvalidData
        If the labels, the order, the supports or the heatmap have the wrong size.

    Notes
    -----
    A row is 1/8 inch high, and lower if the page would exceed 60 inches. Rows lower than 1.5
    points have no label. On a page of a stated size, the rows fill the height and the tree gets the
    width that labels, strips and heatmap leave.
    """
    n = tree.n_leaves
    if len(labels) != n:
        raise InvalidData(f"The picture got {len(labels)} labels for {n} leaves.")
    rows = leaf_order(tree) if order is None else np.asarray(order, dtype=np.int32)
    if not np.array_equal(np.sort(rows), np.arange(n)):
        raise InvalidData(f"The picture's leaf order must name each of the {n} leaves once.")
    shares = None if support is None else np.asarray(support, dtype=np.float64)
    if shares is not None and shares.shape != (tree.n_internal,):
        raise InvalidData(
            f"The picture got {shares.size} supports for {tree.n_internal} inner nodes."
        )
    if merged is not None:
        tree, kept = without_nodes(tree, merged)
        shares = None if shares is None else shares[kept[n:] - n]
        clusters = None if clusters is None else np.asarray(clusters)[kept]
        now = {int(node): k for k, node in enumerate(kept)}
        names = {now[node]: name for node, name in (names or {}).items() if node in now}
    if heat is not None:
        shape = np.shape(heat.values)
        if len(shape) != 2 or shape[0] != (shape[1] if heat.pooled else n):
            raise InvalidData(f"The heatmap has shape {shape}, and there are {n} rows.")
    shown = [printable(str(labels[i])) for i in rows]
    page = Page(
        tree, shown, rows, heat, strips, ink or PageColours(), size, printable(caption), pixels
    )
    if check_pixels:
        page.check_pixels()
    page.draw_head(printable(title), strips)
    page.draw_tree(clusters, cluster_colours, cut, axis_title, axis_tick)
    named = page.draw_names(names or {})
    if shares is not None:
        page.draw_support(shares, low_support, named)
    page.draw_labels()
    page.draw_strips(strips)
    if heat is not None:
        page.draw_heat(heat)
    page.draw_caption()
    return page


class Page:
    """One figure, with coordinates in inches from its upper left corner."""

    def __init__(
        self,
        tree: Tree,
        names: list[str],
        order: NDArray[np.int32],
        heat: HeatmapData | None,
        strips: Sequence[ClassStrip],
        ink: PageColours,
        size: tuple[float, float] | None,
        caption: str = "",
        pixels: int | None = None,
    ) -> None:
        self.tree, self.names, self.order, self.ink = tree, names, order, ink
        n = len(names)
        self.below, self.above = self._margins(heat)
        width = TREE_WIDTH if size is None else _in_inches(size)[0] - 2 * MARGIN
        self.caption = wrap(caption, max(20, int(width / CAPTION_LETTER)))
        self.below += CAPTION_LINE * len(self.caption)
        self.row = min(ROW_HEIGHT, MAX_HEIGHT / n)
        wide, high = (0.0, 0.0) if size is None else _in_inches(size)
        if size is not None:
            self.row = min((high - self.above - self.below - MARGIN) / n, MAX_ROW)
        self.body = max(self.row * n, LEAST_BODY)
        points = 72 * self.row
        self.font = min(8.0, 0.82 * points)
        self.labelled = points >= MIN_LABELLED_POINTS
        letters = max((len(name) for name in names), default=0) if self.labelled else 0
        self.label_width = 0.16 + min(letters, 60) * 0.62 * self.font / 72
        self.strips_width = len(strips) * (STRIP_WIDTH + 0.05)
        self.heat_width = 0.0
        if heat is not None:
            columns = np.shape(heat.values)[1]
            square = heat.column_order is None
            self.heat_width = self.body if square else float(np.clip(0.2 * columns, 1.5, 24.0))
            self.heat_width = max(self.heat_width, 1.2)
        self.left, self.tree_width = MARGIN, TREE_WIDTH
        beside = 2 * MARGIN + self.label_width + self.strips_width
        if size is not None and heat is not None:
            self.heat_width = min(self.heat_width, 0.55 * (wide - beside))
        beside += (self.heat_width + 2 * GAP) if heat is not None else 0.0
        self.width = beside + self.tree_width
        self.height = self.above + self.body + self.below + MARGIN
        if size is not None:
            self.tree_width = wide - beside
            _check_room(self.tree_width, high - self.height)
            self.width, self.height = wide, high
        self.figure = Figure(figsize=(self.width, self.height), facecolor=ink.paper)
        self.dots = DOTS_PER_INCH if pixels is None else pixels / max(self.width, self.height)
        self.is_preview = pixels is not None
        self.has_all_texts = True

    @property
    def millimetres(self) -> tuple[float, float]:
        """Width and height of the page in millimetres."""
        return MILLIMETRES_PER_INCH * self.width, MILLIMETRES_PER_INCH * self.height

    def has_text(self, points: float) -> bool:
        """Return whether texts of this size are drawn. A preview leaves out the small ones."""
        drawn = not self.is_preview or points * self.dots / 72 >= LEAST_TEXT
        self.has_all_texts &= drawn
        return drawn

    def line_width(self) -> float:
        """Return the width of a branch, in points."""
        least = 72 * LEAST_LINE / self.dots if self.is_preview else 0.0
        return max(float(np.clip(72 * self.row / 9, 0.15, 0.9)), least)

    def check_pixels(self) -> None:
        """Raise :class:`InvalidParameter` if a PNG of this page would fill the memory."""
        if self.width * self.height * DOTS_PER_INCH**2 > MAX_PNG_PIXELS:
            wide, high = self.millimetres
            raise InvalidParameter(
                f"A PNG of {wide:.0f} by {high:.0f} mm has too many pixels.",
                "Choose SVG or PDF, or a smaller page.",
            )

    @staticmethod
    def _margins(heat: HeatmapData | None) -> tuple[float, float]:
        """Return the room below and above the rows, in inches."""
        below, above = 0.35, HEAD_HEIGHT
        if heat is not None:
            if heat.column_order is not None and heat.column_names:
                longest = max(len(str(name)) for name in heat.column_names)
                below = max(below, 0.1 + min(longest, 40) * 0.075)
            if heat.column_tree is not None:
                above += 0.5
        return below, above

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        box = (
            x / self.width,
            1 - (y + height) / self.height,
            width / self.width,
            height / self.height,
        )
        axes = self.figure.add_axes(box)
        axes.set_axis_off()
        return axes

    def rows_axes(self, x: float, width: float) -> Axes:
        """Return axes whose y coordinate is the row number, counted downward."""
        axes = self.axes(x, self.above, width, self.body)
        axes.set_ylim(len(self.names), 0)
        return axes

    def draw_head(self, title: str, strips: Sequence[ClassStrip]) -> None:
        axes = self.axes(MARGIN, 0.1, self.width - 2 * MARGIN, 0.3)
        axes.text(
            0, 0.5, title, fontsize=11, fontweight="bold", color=self.ink.text, va="center",
            parse_math=False,
        )  # fmt: skip
        chips = [
            Patch(facecolor=colour, label=printable(str(name)))
            for strip in strips
            for name, colour in list(zip(strip.names, strip.colours, strict=False))[:12]
        ]
        if chips:
            legend = axes.legend(
                handles=chips,
                loc="center left",
                bbox_to_anchor=(min(0.9, (0.4 + 0.1 * len(title)) / self.width), 0.5),
                ncols=len(chips),
                frameon=False,
                fontsize=8,
                labelcolor=self.ink.soft,
                handlelength=0.9,
                handleheight=0.9,
                columnspacing=1.0,
                handletextpad=0.4,
            )
            for text in legend.get_texts():
                text.set_parse_math(False)

    def draw_tree(
        self,
        clusters: ArrayLike | None,
        colours: Sequence[str],
        cut: float | None,
        axis_title: str = "",
        axis_tick: Callable[[float], str] | None = None,
    ) -> None:
        tree = self.tree
        top = float(tree.height[-1]) or 1.0
        self.tree_axes = axes = self.rows_axes(self.left, self.tree_width)
        axes.set_xlim(1.02 * top, 0)
        width = self.line_width()
        axes.plot(*elbows(tree, self.order), color=self.ink.branch, lw=width, clip_on=False)
        if clusters is not None:
            codes = np.asarray(clusters)
            limit = np.inf if cut is None else float(cut)
            for code in np.unique(codes[codes >= 0]):
                path = self._branches(codes == code, limit)
                axes.plot(*path, color=colours[code % len(colours)], lw=1.4 * width, clip_on=False)
        if cut is not None:
            axes.axvline(cut, color=self.ink.text, lw=0.8, dashes=(4, 3))
        axes.set_axis_on()
        axes.patch.set_visible(False)
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(self.ink.soft)
        axes.tick_params(axis="x", colors=self.ink.soft, labelsize=7, length=2, width=0.6)
        axes.locator_params(axis="x", nbins=5)
        if axis_tick is not None:
            axes.xaxis.set_major_formatter(lambda height, _: axis_tick(height))
        axes.set_yticks([])
        axes.set_xlabel(axis_title, fontsize=7, color=self.ink.soft, labelpad=1)

    def draw_names(self, names: Mapping[int, str]) -> dict[int, Side]:
        """Write names of nodes at their branches; return the side of each that has room."""
        tree, axes = self.tree, self.tree_axes
        slots = [node for node in names if node >= tree.n_leaves]
        # The places are computed for letters of 11 pixels, whatever the size of the page is.
        size = min(7.0, 0.95 * self.font)
        if not slots or not self.labelled or not self.has_text(size):
            return {}
        slots.sort(key=lambda node: (-int(tree.size[node]), node))
        low, high, y = self._rows_of_nodes()
        per_inch = LINE / (1.25 * size / 72)
        top = 1.02 * (float(tree.height[-1]) or 1.0)
        width, row = self.tree_width * per_inch, (self.body / len(self.names)) * per_inch
        inner = np.arange(tree.n_nodes) >= tree.n_leaves
        drawn = DrawnTree(
            width * (1 - tree.height / top), row * y, tree.parent.astype(np.int64),
            row * np.where(inner, y[low], y), row * np.where(inner, y[high], y), width,
        )  # fmt: skip
        letter = 0.64 * size / 72 * per_inch
        shown = {node: " ".join(printable(names[node]).split()) for node in slots}
        paper = {"facecolor": self.ink.paper, "alpha": 0.85, "pad": 0.6, "linewidth": 0}
        found = place_names(drawn, slots, [letter * min(len(shown[s]), 24) + 2 for s in slots])
        for each in found:
            text = shown[each.slot]
            letters = max(int(each.room / letter), 1)
            text = text if len(text) <= letters else text[: letters - 1].rstrip() + "…"
            right = each.side == "right"
            axes.annotate(
                text, (float(tree.height[each.slot]), y[each.slot]),
                xytext=(2.5 if right else -2.5, {"above": 1, "below": -1.5, "right": 0}[each.side]),
                textcoords="offset points", fontsize=size, fontweight="bold", color=self.ink.text,
                ha="left" if right else "right",
                va={"above": "bottom", "below": "top", "right": "center"}[each.side],
                parse_math=False,
                bbox=paper if each.covers else None,
            )  # fmt: skip
        return {each.slot: each.side for each in found}

    def _rows_of_nodes(self) -> tuple[Any, Any, Any]:
        """Return the topmost child, the lowest child and the row of each node."""
        leaf_y = np.empty(self.tree.n_leaves, np.float64)
        leaf_y[self.order] = np.arange(self.tree.n_leaves) + 0.5
        return outer_children(self.tree.parent, leaf_y)

    def draw_support(
        self, support: NDArray[np.float64], low_support: float, named: Mapping[int, Side]
    ) -> None:
        tree, axes = self.tree, self.tree_axes
        _, _, y = self._rows_of_nodes()
        nodes = np.arange(tree.n_leaves, tree.n_nodes - 1)
        low = nodes[support[:-1] < low_support]
        gaps = np.full(low.size, np.nan)
        axes.plot(
            np.column_stack([tree.height[low], tree.height[tree.parent[low]], gaps]).ravel(),
            np.column_stack([y[low], y[low], gaps]).ravel(),
            color=self.ink.faint, lw=1.8 * self.line_width(), clip_on=False,
        )  # fmt: skip
        size = min(6.0, 0.7 * self.font)
        if not self.labelled or not self.has_text(size):
            return
        for node in nodes[np.isfinite(support[:-1]) & (tree.size[nodes] > 2)].tolist():
            axes.text(
                tree.height[node], y[node], f" {100 * support[node - tree.n_leaves]:.0f} ",
                fontsize=size, color=self.ink.soft, ha="right",
                va="top" if named.get(node) == "above" else "bottom",
            )  # fmt: skip

    def _branches(self, mask: NDArray[np.bool_], limit: float) -> tuple[Any, Any]:
        tree = self.tree
        low, high, y = self._rows_of_nodes()
        open_ = np.arange(tree.n_nodes) >= tree.n_leaves
        x, rows = elbow_path(
            tree.parent, tree.height, y, low, high, open_, ~open_, mask, limit, True
        )
        return x, rows

    def draw_labels(self) -> None:
        self.left += self.tree_width
        if self.labelled and self.has_text(self.font):
            axes = self.rows_axes(self.left, self.label_width)
            axes.set_xlim(0, self.label_width)
            for row, name in enumerate(self.names):
                shown = name if len(name) <= 60 else name[:59] + "…"
                axes.text(
                    0.06, row + 0.5, shown, fontsize=self.font, color=self.ink.text,
                    va="center_baseline", parse_math=False,
                )  # fmt: skip
        self.left += self.label_width

    def draw_strips(self, strips: Sequence[ClassStrip]) -> None:
        for strip in strips:
            axes = self.rows_axes(self.left, STRIP_WIDTH)
            colours = [to_rgb(colour) for colour in strip.colours]
            table = np.array([*colours, to_rgb(self.ink.paper)])
            codes = np.asarray(strip.codes)[self.order]
            cells = table[np.minimum(codes, len(colours))][:, None, :]
            axes.imshow(
                cells, aspect="auto", interpolation="none", extent=(0, 1, len(self.names), 0)
            )
            self.left += STRIP_WIDTH + 0.05

    def draw_caption(self) -> None:
        """Write the caption at the lower edge."""
        if self.caption:
            self.figure.text(
                MARGIN / self.width, 0.5 * MARGIN / self.height, "\n".join(self.caption),
                fontsize=6.5, color=self.ink.soft, va="bottom", parse_math=False,
            )  # fmt: skip

    def draw_heat(self, heat: HeatmapData) -> None:
        self.left += GAP
        columns = self.order if heat.column_order is None else np.asarray(heat.column_order)
        values = np.asarray(heat.values, dtype=np.float64)
        if not heat.pooled:
            most = int(self.dots * self.body) + 1 if self.is_preview else MAX_PIXELS
            rows = self.order[:: -(-self.order.size // most)]
            values = values[np.ix_(rows, columns[:: -(-columns.size // most)])]
        colours = ListedColormap(list(heat.colours)).with_extremes(bad=self.ink.missing)
        axes = self.rows_axes(self.left, self.heat_width)
        image = axes.imshow(
            np.ma.masked_invalid(values), cmap=colours, vmin=heat.low, vmax=heat.high,
            aspect="auto", interpolation="none", extent=(0, columns.size, len(self.names), 0),
        )  # fmt: skip
        if heat.query_mask is not None:
            table = np.array([to_rgba(colour) for colour in heat.query_mask_colours])
            axes.imshow(
                table[np.asarray(heat.query_mask)], aspect="auto", interpolation="none",
                extent=(0, columns.size, len(self.names), 0),
            )  # fmt: skip
            axes.text(
                0, len(self.names) + 0.08 / self.row, "dark: not queried", fontsize=7,
                va="top", color=self.ink.soft,
            )  # fmt: skip
        if heat.column_tree is not None:
            y, x = elbows(heat.column_tree, columns)
            above = self.axes(self.left, HEAD_HEIGHT, self.heat_width, 0.45)
            above.set_xlim(0, columns.size)
            above.set_ylim(0, 1.03 * float(heat.column_tree.height[-1] or 1.0))
            above.plot(x, y, color=self.ink.branch, lw=0.7)
        if heat.column_order is not None and heat.column_names:
            pitch = 72 * self.heat_width / columns.size
            size = float(min(8.0, 0.85 * pitch))
            drawn = size >= MIN_LABELLED_POINTS and self.has_text(size)
            for place, column in enumerate(columns if drawn else ()):
                name = printable(str(heat.column_names[column]))
                axes.text(
                    place + 0.5, len(self.names) + 0.06 / self.row,
                    name if len(name) <= 40 else name[:39] + "…", rotation=90, fontsize=size,
                    ha="center", va="top", color=self.ink.soft, parse_math=False,
                )  # fmt: skip
        bar = self.axes(self.left + self.heat_width - 1.1, 0.16, 1.1, 0.09)
        bar.set_axis_on()
        self.figure.colorbar(image, cax=bar, orientation="horizontal", ticks=[heat.low, heat.high])
        bar.set_xticks([heat.low, heat.high], [f"{heat.low:.2g}", f"{heat.high:.2g}"])
        bar.tick_params(labelsize=7, length=0, colors=self.ink.soft, pad=2)
        bar.set_title(
            printable(heat.title), fontsize=7, color=self.ink.soft, pad=2, parse_math=False
        )
        for spine in bar.spines.values():
            spine.set_visible(False)

    def file(self, format: Format) -> bytes:
        """Return the content of the file."""
        buffer = io.BytesIO()
        # Without a date and random ids, the same picture gives the same file.
        with matplotlib.rc_context(
            {"svg.fonttype": "none", "svg.hashsalt": "hcviz", "pdf.fonttype": 42}
        ):
            if format == "pdf":
                FigureCanvasPdf(self.figure).print_pdf(  # type: ignore[no-untyped-call]
                    buffer, metadata={"CreationDate": None}
                )
            elif format == "svg":
                FigureCanvasSVG(self.figure).print_svg(  # type: ignore[no-untyped-call]
                    buffer, metadata={"Date": None}
                )
            else:
                self.figure.set_dpi(self.dots)
                FigureCanvasAgg(self.figure).print_png(  # type: ignore[no-untyped-call]
                    buffer, metadata={"Software": None}
                )
        return buffer.getvalue()


def _in_inches(size: tuple[float, float]) -> tuple[float, float]:
    """Return a size in millimetres in inches, after a check."""
    for length in size:
        if not 0 < length <= MAX_MILLIMETRES:
            raise InvalidParameter(
                f"A picture is at most {MAX_MILLIMETRES:,.0f} mm wide and high, not {length:g} mm.",
                "Give its width and its height in millimetres.",
            )
    return size[0] / MILLIMETRES_PER_INCH, size[1] / MILLIMETRES_PER_INCH


def _check_room(tree_width: float, spare: float) -> None:
    """Raise :class:`InvalidParameter` if the tree is too narrow, or the rows are too low."""
    missing = (LEAST_TREE - tree_width) * MILLIMETRES_PER_INCH
    if missing > 0:
        raise InvalidParameter(
            f"The picture needs {missing:,.0f} mm more width for its labels and the tree.",
            "Choose a larger page, or leave out the heatmap.",
        )
    if spare < -1e-6:
        raise InvalidParameter(
            f"The picture needs {-spare * MILLIMETRES_PER_INCH:,.0f} mm more height.",
            "Choose a larger page.",
        )
