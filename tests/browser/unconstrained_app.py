"""The dashboard with one more method, which ignores constraints."""

from __future__ import annotations

from hcviz.algorithms import MODULES
from hcviz.ui import serve_page, warm
from tests.unconstrained import NAME

MODULES[NAME] = "tests.unconstrained"
warm()
serve_page().servable(title="hcviz")
