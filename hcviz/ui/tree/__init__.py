"""The centre of the page: the tree, its labels, class strips and heatmap, row by row in line."""

from hcviz.ui.tree.centre import Centre, warm
from hcviz.ui.tree.items import Items, Pick

__all__ = ["Centre", "Items", "Pick", "warm"]
