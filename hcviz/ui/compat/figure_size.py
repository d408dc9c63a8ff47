"""``pixel_size``: a size that the browser sends, such as ``inner_width``.

Internal of Bokeh 3.9.2: ``UnsetValueError`` (``bokeh/core/property/descriptors.py``), which a size
raises until the browser has sent it.
"""

from __future__ import annotations

from typing import Any

from bokeh.core.property.descriptors import UnsetValueError


def pixel_size(plot: Any, name: str, assumed: int = 0) -> int:
    """Return a size of a figure in pixels; ``assumed`` until the browser has sent it."""
    try:
        return int(getattr(plot, name) or assumed)
    except UnsetValueError:
        return assumed


__all__ = ["pixel_size"]
