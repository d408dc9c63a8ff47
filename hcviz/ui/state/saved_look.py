"""The look of a tree that session files and links keep: which values are valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hcviz.io.picture import LOW_SUPPORT

#: The choices of how to draw the tree that session files and links have.
LOOKS: dict[str, tuple[str, ...]] = {
    "matrix": ("similarity", "features", "uncertainty", "none"),
    "scaling": ("zscore", "range", "rank", "none"),
    "columns": ("dendrogram", "file"),
    "heights": ("auto", "true", "even"),
    "support": ("shown", "hidden"),
    "unsure": ("lighter", "merged"),
    "colour": ("clusters", "cost"),
    # To what the picture is collapsed: to nothing, to clusters, or to a level of the groups.
    "level": ("all", "clusters", "1", "2", "3", "hand"),
}
#: The choices of ``level``: nothing is collapsed; a person collapsed clades one by one.
ALL, BY_HAND = LOOKS["level"][0], LOOKS["level"][-1]
#: Default of the support in per cent below which a split is uncertain.
BELOW = round(100 * LOW_SUPPORT)


def looks(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the valid choices among ``wanted``; leave the others out."""
    found = {name: wanted[name] for name in LOOKS if wanted.get(name) in LOOKS[name]}
    if "level" not in found and wanted.get("collapsed"):  # saved by an earlier version
        found["level"] = BY_HAND
    count = wanted.get("clusters")
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        found["clusters"] = count
    below = wanted.get("below")
    if isinstance(below, int) and not isinstance(below, bool) and 0 <= below <= 100:
        found["below"] = below
    return found


def marks(wanted: Mapping[str, Any], n_items: int) -> dict[str, Any]:
    """Return the cut and the selection among ``wanted`` that are valid for ``n_items`` items."""
    found: dict[str, Any] = {}
    cut, chosen = wanted.get("cut"), wanted.get("selection")
    if isinstance(cut, float) and np.isfinite(cut):
        found["cut"] = cut
    if isinstance(chosen, tuple) and all(type(i) is int and 0 <= i < n_items for i in chosen):
        found["selection"] = chosen
    return found


__all__ = ["ALL", "BELOW", "BY_HAND", "LOOKS", "looks", "marks"]
