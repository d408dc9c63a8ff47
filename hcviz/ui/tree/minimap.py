"""``MiniMap``: the whole tree in a narrow strip, with a box to move the rows in view."""

from __future__ import annotations

from bokeh.models import ColumnDataSource, CustomJS, Range1d, RangeTool

from hcviz.ui.parts.palette import Theme
from hcviz.ui.tree.bare_figure import bare_figure
from hcviz.ui.tree.dendrogram import TreeFigure
from hcviz.ui.tree.plain_glyphs import PlainGlyphs

#: Pixels of the map while the tree is zoomed, and of the margin that replaces it otherwise.
MAP_PX, MARGIN_PX = 64, 10


#: The browser copies the map from the tree's source, so no second copy is sent. Nothing is copied
#: while the map is hidden. The map shows the tree at the end of a transition.
COPY = """
if (!line.visible) return
const {x, y} = tree.goal ?? tree.data
map.data.x = x
map.data.y = y
map.change.emit()
"""


class MiniMap:
    """The map: lines of the tree, which the browser copies from the tree's figure."""

    def __init__(self, tree: TreeFigure, rows: Range1d, theme: Theme) -> None:
        self.y_range = Range1d(start=-1, end=0)
        self.figure = bare_figure(tree.x_range, self.y_range, min_border_left=4, min_border_right=2)
        self._source = ColumnDataSource({"x": [], "y": []})
        self._line = PlainGlyphs(self.figure).line(
            "x", "y", source=self._source, line_width=0.6, line_alpha=0.6
        )
        copy = CustomJS(
            args={"tree": tree.tree, "map": self._source, "line": self._line}, code=COPY
        )
        tree.tree.js_on_change("data", copy)
        self._line.js_on_change("visible", copy)
        self._tool = RangeTool(y_range=rows, y_interaction=True, x_interaction=False)
        self._box = self._tool.overlay
        self._box.update(line_width=1, line_dash="solid")
        self._zoomed = False
        self.figure.toolbar.tools = [self._tool]
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self._line.glyph.line_color = theme.branch
        self._box.update(fill_color=theme.accent, line_color=theme.accent)
        self._fade()

    def _fade(self) -> None:
        # The tool sets its box's `visible`, so the box is hidden by transparent colours.
        self._line.visible = self._zoomed
        self._box.update(
            fill_alpha=0.12 if self._zoomed else 0.0, line_alpha=0.8 if self._zoomed else 0.0
        )

    def draw(self, n_rows: int, padding: float) -> None:
        """Show this number of rows."""
        if self.y_range.start != -(n_rows + padding):
            self.y_range.update(start=-(n_rows + padding), end=padding)

    def show(self, zoomed: bool) -> bool:
        """Show or hide the map; return True if that has changed."""
        if self._zoomed == zoomed:
            return False
        self._zoomed = zoomed
        self._fade()
        return True

    @property
    def width(self) -> int:
        """Pixels of the map, or of the margin."""
        return MAP_PX if self._zoomed else MARGIN_PX
