"""The transition from one picture of the tree to the next, in the browser alone.

The server sends where each point was beside where it belongs; ``motion.js`` moves the points
within 300 ms. No answer waits for it: a press ends it, and what is picked is the final picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, CustomJS

from hcviz.ui.tree.scene import Path, Scene

#: Rows of a picture that moves, at most. With more a row has about a pixel: no eye can follow a
#: branch, small clades are folded, and a frame takes the browser longer than it is shown.
MOST_MOVED = 600


@dataclass(frozen=True, eq=False)
class View:
    """A scene, and where it was drawn: the height of its axis, and the rows in view."""

    scene: Scene
    top: float
    window: tuple[float, float]


def coming_from(now: View, before: View | None) -> Scene:
    """The scene of ``now``, with the places that its clades and items had in ``before``.

    Places are those on the screen: of other heights or rows in view they are scaled. The scene
    comes from nowhere if there are other items, or too many (:data:`MOST_MOVED`).
    """
    scene = now.scene
    if before is None or before.scene.layout.order.size != scene.layout.order.size:
        return scene
    if max(scene.layout.n_rows, before.scene.layout.n_rows) > MOST_MOVED:
        return scene
    (top, bottom), (first, last) = now.window, before.window
    down = (bottom - top) / max(last - first, 1e-9)
    across = now.top / (before.top or 1.0)
    return replace(scene, start=scene.as_in(before.scene, across, down, top - down * first))


def columns(scene: Scene, path: Callable[[Scene], Path]) -> dict[str, Any]:
    """The columns of a source for a path of the scene; rows are negated."""
    x, y = path(scene)
    found = {"x": x, "y": -np.asarray(y)}
    if scene.start is not None:
        x, y = path(scene.start)
        found |= {"x0": x, "y0": -np.asarray(y)}
    return found


def several(scene: Scene, paths: Callable[[Scene], list[Path]]) -> dict[str, Any]:
    """The same of several paths."""
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
    move = CustomJS(args={"lead": lead}, code=FilePath(__file__).with_name("motion.js").read_text())
    for source in (lead, *others):
        source.js_on_change("data", move)
    figure.js_on_change("inner_width", move)


__all__ = ["MOST_MOVED", "View", "columns", "coming_from", "move_together", "several"]
