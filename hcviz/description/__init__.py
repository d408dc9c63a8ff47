"""Descriptions of groups and items: what makes a group, and names that fit it."""

from hcviz.description.contrasts import FeatureContrast
from hcviz.description.group import GroupDescription, ItemFit, describe_group
from hcviz.description.item import ItemDescription, describe_item
from hcviz.description.method_description import MethodDescription, describe
from hcviz.description.names import SuggestedName, suggest_names

__all__ = [
    "FeatureContrast",
    "GroupDescription",
    "ItemDescription",
    "ItemFit",
    "MethodDescription",
    "SuggestedName",
    "describe",
    "describe_group",
    "describe_item",
    "suggest_names",
]
