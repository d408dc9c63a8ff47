"""Larger pictures over the tree. A new one is a module with a ``SHEET``, and a line here."""

from __future__ import annotations

from hcviz.ui.sheets import (
    agreement,
    ahograph,
    cloud,
    comparisons,
    consensus,
    dependencies,
    tanglegram,
)
from hcviz.ui.sheets.base import Sheet

#: The tab that is no sheet: the tree beside its heatmap.
TREE = "tree"

#: In the order of the tabs.
SHEETS: dict[str, Sheet] = {
    each.name: each
    for each in (
        tanglegram.SHEET,
        ahograph.SHEET,
        consensus.SHEET,
        cloud.SHEET,
        dependencies.SHEET,
        comparisons.SHEET,
        agreement.SHEET,
    )
}

__all__ = ["SHEETS", "TREE", "Sheet"]
