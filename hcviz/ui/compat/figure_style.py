"""``figure_style``: a style sheet that hides the focus ring and remains of overlays.

Internals of BokehJS 3.9.2:

- The element with the class ``bk-Canvas`` contains the canvases of a figure and its overlays. A
  ring in the colour ``--highlight-color`` surrounds it when it has the focus.
- ``CanvasLayer.clear`` runs after a translation by half a pixel. So old pixels of an overlay stay
  in the first row and column. Overlays are also drawn in the borders of the figure.
"""

from __future__ import annotations

#: The focus is shown as a line whose colour the page sets while the keyboard is used. Pixels at the
#: edges (top, right, bottom, left) are hidden.
_STYLE = """
:host, .bk-Canvas {{ --highlight-color: transparent; outline: none !important; }}
:host(:focus-within) {{ box-shadow: inset 0 0 0 1px var(--figure-focus, transparent); }}
.bk-Canvas {{ clip-path: inset({}px {}px {}px {}px); }}
"""


def figure_style(hidden: tuple[int, int, int, int]) -> str:
    """Return the style sheet; ``hidden`` are the pixels at the top, right, bottom and left."""
    return _STYLE.format(*hidden)


__all__ = ["figure_style"]
