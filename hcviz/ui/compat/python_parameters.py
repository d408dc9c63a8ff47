"""``python_only``: parameters of a Panel layout that are not sent to the browser.

Internal of Panel 1.9.4: the class attribute ``_rename`` of layouts (``panel/reactive.py``). It maps
parameters to properties of the Bokeh model; None for parameters that the model does not have.
"""

from __future__ import annotations

from typing import Any


def python_only(layout: type[Any], *names: str) -> dict[str, str | None]:
    """Return the value of ``_rename`` for a subclass of ``layout`` with these parameters."""
    return {**layout._rename, **dict.fromkeys(names)}


__all__ = ["python_only"]
