"""The tree beside its heatmap, with labels and class strips; all share the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hcviz.ui.tree.centre import Centre, warm
    from hcviz.ui.tree.items import Items, Pick

__all__ = ["Centre", "Items", "Pick", "warm"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, since workers use the kernels without Bokeh."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hcviz.ui.tree import centre, items

    return getattr(items if name in ("Items", "Pick") else centre, name)
