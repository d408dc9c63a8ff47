"""The page. Only this package and ``app.py`` know Panel, HoloViews and Bokeh."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hcviz.ui.app.page import explore, serve_page, warm

__all__ = ["explore", "serve_page", "warm"]


def __getattr__(name: str) -> Any:
    """The public names, imported when asked for: the page takes seconds, and ``compat`` is loaded
    without it at the start of every ``panel serve``."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("hcviz.ui.app.page"), name)
