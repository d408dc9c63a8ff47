"""The centre of the page: the tree, its labels, class strips and heatmap, row by row in line."""

from hcviz.ui.centre.centre import Centre, warm
from hcviz.ui.centre.items import Items, Pick

__all__ = ["Centre", "Items", "Pick", "warm"]
