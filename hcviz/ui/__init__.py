"""The page. Only this package and ``app.py`` know Panel, HoloViews and Bokeh."""

from hcviz.ui.page import explore, serve_page, warm

__all__ = ["explore", "serve_page", "warm"]
