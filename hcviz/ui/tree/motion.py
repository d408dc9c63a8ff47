"""The transition from one picture of the tree to the next, in the browser.

The server sends the old place of each point with its new place. ``motion.js`` moves the points
within 300 ms. Nothing waits for it: a press ends it, and clicks pick in the final picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, CustomJS

from hcviz.ui.tree.scene import Path, TreeScene

#: Rows of a picture that moves, at most. With more, a row has about a pixel, and the browser needs
#: longer for a frame than it is shown.
MAX_MOVED = 600


@dataclass(frozen=True, eq=False)
class View:
    """A scene and where it was drawn: the height of the axis, and the rows in view."""

    scene: TreeScene
    top: float
    window: tuple[float, float]


def coming_from(now: View, before: View | None) -> TreeScene:
    """Return the scene of ``now`` with the old places of its clades and items.

    Old places are scaled to the new heights and rows in view. The scene does not move if there are
    other items, or too many rows (:data:`MAX_MOVED`).
    """
    scene = now.scene
    if before is None or before.scene.layout.order.size != scene.layout.order.size:
        return scene
    if max(scene.layout.n_rows, before.scene.layout.n_rows) > MAX_MOVED:
        return scene
    (top, bottom), (first, last) = now.window, before.window
    down = (bottom - top) / max(last - first, 1e-9)
    across = now.top / (before.top or 1.0)
    return replace(scene, start=scene.as_in(before.scene, across, down, top - down * first))


def columns(scene: TreeScene, path: Callable[[TreeScene], Path]) -> dict[str, Any]:
    """Return the columns of a source for a path of the scene; rows are negated."""
    x, y = path(scene)
    found = {"x": x, "y": -np.asarray(y)}
    if scene.start is not None:
        x, y = path(scene.start)
        found |= {"x0": x, "y0": -np.asarray(y)}
    return found


def several(scene: TreeScene, paths: Callable[[TreeScene], list[Path]]) -> dict[str, Any]:
    """Return the columns of a source for several paths."""
    found: dict[str, Any] = {}
    for suffix, each in (("", scene), ("0", scene.start)):
        if each is not None:
            drawn = paths(each)
            found |= {f"xs{suffix}": [x for x, _ in drawn], f"ys{suffix}": [-y for _, y in drawn]}
    return found


def move_together(lead: ColumnDataSource, others: Iterable[ColumnDataSource], figure: Any) -> None:
    """Let these sources move when they get data; ``lead`` begins a transition.

    ``figure`` shows them. The first tree may come with the page, without a change of data.
    """
    move = CustomJS(
        args={"lead": lead},
        code=FilePath(__file__).with_name("motion.js").read_text(encoding="utf-8"),
    )
    for source in (lead, *others):
        source.js_on_change("data", move)
    figure.js_on_change("inner_width", move)


__all__ = ["MAX_MOVED", "View", "columns", "coming_from", "move_together", "several"]
