"""A tree as a HoloViews element, for :meth:`hcviz.Tree.hv`.

This is the only module outside ``hcviz/ui`` that imports HoloViews, and only when it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

#: Height of a named row and size of the plot across or without names, in pixels.
ROW, WIDTH, LEAST = 16, 560, 160
#: Pixels of an inch, for sizes in matplotlib.
DPI = 72


def tree_element(
    pieces: Sequence[Float],
    nodes: dict[str, Any],
    names: Sequence[str] | None,
    n_items: int,
    top: float,
    orientation: str,
) -> Any:
    """Return branches and inner nodes as an overlay of a Path and Points.

    Parameters
    ----------
    pieces : sequence of float64 (k, 2)
        The branches: height and position of their corners.
    nodes : dict of str to array
        ``height`` and ``position`` of the inner nodes, and what Bokeh shows under the pointer.
    names : sequence of str or None
        The names of the rows, or None if they are not drawn.
    n_items : int
        Number of items.
    top : float
        Height of the root.
    orientation : {"left", "right", "top", "bottom"}
        Where the root is.
    """
    import holoviews as hv

    # The imports register both backends, so that the element has options for either.
    import holoviews.plotting.bokeh
    import holoviews.plotting.mpl

    lies = orientation in ("left", "right")
    dims = ["height", "position"] if lies else ["position", "height"]
    path = hv.Path([piece if lies else piece[:, ::-1] for piece in pieces], kdims=dims)
    values = [key for key in nodes if key not in dims]
    points = hv.Points(nodes, kdims=dims, vdims=values)
    room = 1.02 * top
    across = (0.0, float(n_items))
    limits = {"xlim": (0.0, room), "ylim": across} if lies else {"xlim": across, "ylim": (0, room)}
    axis = "y" if lies else "x"
    ticks = [] if names is None else [(k + 0.5, name) for k, name in enumerate(names)]
    common: dict[str, Any] = {
        f"{axis}ticks": ticks,
        f"{axis}label": "",
        "invert_xaxis": orientation == "left",
        "invert_yaxis": lies or orientation == "bottom",
        "show_grid": False,
        **({"xrotation": 90} if not lies else {}),
        **({} if names is not None else {f"{axis}axis": "bare"}),
    }
    long = max(LEAST, ROW * n_items) if names is not None else WIDTH
    width, height = (WIDTH, long) if lies else (long, WIDTH * 2 // 3)
    size: dict[str, dict[str, Any]] = {
        "bokeh": {"frame_width": width, "frame_height": height},
        "matplotlib": {"fig_inches": (width / DPI, height / DPI), "aspect": "auto"},
    }
    colour = "#4c72b0"
    line: dict[str, dict[str, Any]] = {"bokeh": {"line_width": 1}, "matplotlib": {"linewidth": 1}}
    dot: dict[str, dict[str, Any]] = {
        "bokeh": {"size": 5, "tools": ["hover"], "active_tools": []},
        "matplotlib": {"s": 8},
    }
    path = path.redim.range(**dict(zip(dims, limits.values(), strict=True)))
    for backend in ("bokeh", "matplotlib"):
        path = path.opts(color=colour, backend=backend, **line[backend])
        points = points.opts(color=colour, backend=backend, **dot[backend])
    drawn = path * points
    for backend in ("bokeh", "matplotlib"):
        drawn = drawn.opts(backend=backend, **common, **limits, **size[backend])
    return drawn


__all__ = ["tree_element"]
