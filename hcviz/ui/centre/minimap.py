"""The whole tree in a strip at the edge, with the rows in view: drag it to move, when zoomed."""

from __future__ import annotations

from bokeh.models import Range1d, RangeTool

from hcviz.ui.centre.dendrogram import TreeFigure
from hcviz.ui.centre.frames import bare
from hcviz.ui.palette import Theme

MAP_PX = 22


class MiniMap:
    """Shares the tree's source: no second copy travels."""

    def __init__(self, tree: TreeFigure, rows: Range1d, theme: Theme) -> None:
        self.y_range = Range1d(start=-1, end=0)
        self.figure = bare(tree.x_range, self.y_range, min_border_left=4, min_border_right=2)
        self._line = self.figure.line("x", "y", source=tree.tree, line_width=0.6, line_alpha=0.6)
        self._tool = RangeTool(y_range=rows, y_interaction=True, x_interaction=False)
        self._box = self._tool.overlay
        self._box.update(line_width=1, line_dash="solid")
        self._zoomed = False
        self.figure.toolbar.tools = [self._tool]
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self._line.glyph.line_color = theme.branch
        self._box.update(fill_color=theme.accent, line_color=theme.accent)
        self._fade()

    def _fade(self) -> None:
        # The tool owns its box's `visible`: what is not there is merely clear.
        self._line.visible = self._zoomed
        self._box.update(
            fill_alpha=0.12 if self._zoomed else 0.0, line_alpha=0.8 if self._zoomed else 0.0
        )

    def draw(self, n_rows: int, padding: float) -> None:
        if self.y_range.start != -(n_rows + padding):
            self.y_range.update(start=-(n_rows + padding), end=padding)

    def show(self, zoomed: bool) -> None:
        """The map is there when there is something out of view."""
        if self._zoomed != zoomed:
            self._zoomed = zoomed
            self._fade()
