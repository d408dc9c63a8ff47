"""Methods of other packages, which declare them as entry points.

In a package's pyproject.toml::

    [project.entry-points."hcviz.algorithms"]
    my-method = "my_package.my_module"

The module has ``ALGORITHMS``, a tuple of :class:`Algorithm`, with one of that name.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import entry_points

GROUP = "hcviz.algorithms"


def plugin_modules(taken: Collection[str] = ()) -> dict[str, str]:
    """Return name -> module of the installed methods, without names that are taken."""
    return {each.name: each.module for each in entry_points(group=GROUP) if each.name not in taken}


__all__ = ["GROUP", "plugin_modules"]
