"""The only modules that use internals of Panel, Bokeh and BokehJS.

Each docstring names the internals, the reason, and the version that was read. Each module has a
contract test (``tests/test_compat*.py``, ``tests/browser/test_compat.py``), which fails when an
upgrade changes the internal. ``docs/architecture.md`` has a table of all of them.
"""

from pathlib import Path

#: The folder of the JavaScript that uses internals of BokehJS and Panel.
COMPAT = Path(__file__).parent

__all__ = ["COMPAT"]
