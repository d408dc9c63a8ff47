"""Larger pictures over the tree. A new one is a module with a ``SHEET``, and a line here."""

from __future__ import annotations

from hcviz.ui.features.agreement import sheet as agreement_sheet
from hcviz.ui.features.aho_graph import sheet as aho_graph_sheet
from hcviz.ui.features.card_sort import sheet as card_sort_sheet
from hcviz.ui.features.classroom import sheet as classroom_sheet
from hcviz.ui.features.cloud import sheet as cloud_sheet
from hcviz.ui.features.columns import sheet as columns_sheet
from hcviz.ui.features.comparisons import sheet as comparisons_sheet
from hcviz.ui.features.consensus import sheet as consensus_sheet
from hcviz.ui.features.dependencies import sheet as dependencies_sheet
from hcviz.ui.features.merges import sheet as merges_sheet
from hcviz.ui.features.new_items import sheet as new_items_sheet
from hcviz.ui.features.review import sheet as review_sheet
from hcviz.ui.features.side_by_side import sheet as side_by_side_sheet
from hcviz.ui.features.tanglegram import sheet as tanglegram_sheet
from hcviz.ui.parts.sheet import Sheet

#: The tab that is no sheet: the tree beside its heatmap.
TREE = "tree"

#: In the order of the tabs.
SHEETS: dict[str, Sheet] = {
    each.name: each
    for each in (
        merges_sheet.SHEET,
        tanglegram_sheet.SHEET,
        review_sheet.SHEET,
        new_items_sheet.SHEET,
        aho_graph_sheet.SHEET,
        consensus_sheet.SHEET,
        cloud_sheet.SHEET,
        dependencies_sheet.SHEET,
        comparisons_sheet.SHEET,
        side_by_side_sheet.SHEET,
        agreement_sheet.SHEET,
        card_sort_sheet.SHEET,
        columns_sheet.SHEET,
        classroom_sheet.SHEET,
    )
}

__all__ = ["SHEETS", "TREE", "Sheet"]
