"""The tree beside its heatmap, with labels and class strips; all share the same rows."""

from hcviz.ui.tree.centre import Centre, warm
from hcviz.ui.tree.items import Items, Pick

__all__ = ["Centre", "Items", "Pick", "warm"]
