"""Larger pictures over the tree. A new one is a module with a ``SHEET``, and a line here."""

from __future__ import annotations

from hcviz.ui.features.agreement import sheet as agreement
from hcviz.ui.features.aho_graph import sheet as ahograph
from hcviz.ui.features.cloud import sheet as cloud
from hcviz.ui.features.comparisons import sheet as comparisons
from hcviz.ui.features.consensus import sheet as consensus
from hcviz.ui.features.dependencies import sheet as dependencies
from hcviz.ui.features.tanglegram import sheet as tanglegram
from hcviz.ui.parts.sheet import Sheet

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
