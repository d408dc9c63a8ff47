"""Taxonomies: trees with named groups, and their file formats."""

from hcviz.taxonomy.differences import GroupDifference, MovedItem, TaxonomyDifferences
from hcviz.taxonomy.group import Group
from hcviz.taxonomy.new_items import PlacedItem, PlacedItems
from hcviz.taxonomy.outline import Outline
from hcviz.taxonomy.taxonomy import Change, Taxonomy

__all__ = [
    "Change",
    "Group",
    "GroupDifference",
    "MovedItem",
    "Outline",
    "PlacedItem",
    "PlacedItems",
    "Taxonomy",
    "TaxonomyDifferences",
]
