"""The dashboard, whose process can be asked what is alive in it (``census.py``)."""

from __future__ import annotations

from hcviz.ui import serve_page, warm
from tests.census import install

install()
warm()
serve_page().servable(title="hcviz")
