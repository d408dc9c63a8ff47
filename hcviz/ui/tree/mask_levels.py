"""The levels of the query mask: the share of each texel that was queried."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core import query_counts
from hcviz.core.jit import njit
from hcviz.core.snapshot import Mask
from hcviz.ui.tree import geometry
from hcviz.ui.tree.geometry import Layout

#: Items of a texel's rows (and columns) that are looked up at most, as a sample.
MAX_SAMPLED = 8


def known_shares(mask: Mask, layout: Layout, edges: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the share of each texel that was queried, float64 (k, k).

    ``edges`` are the places between the texels. An item's similarity to itself counts as queried.
    The share is exact for texels of up to :data:`MAX_SAMPLED` items, and otherwise that of as many
    items, evenly spaced. So it takes some milliseconds for any n.
    """
    place = np.full(layout.order.size, -1, np.int32)
    at, bins = geometry.sample_evenly(edges, MAX_SAMPLED)
    place[layout.order[at]] = bins
    return query_counts.known_shares(mask, place, edges.size - 1)


@njit
def mask_levels(shares: Any) -> Any:
    """Return 255 where all is queried, 0 where nothing is, else 1 to 254: uint8 (k, k).

    The level grows with the square root of the share, so that few queried pairs are visible.
    """
    out = np.empty(shares.shape, np.uint8)
    for a in range(shares.shape[0]):
        for b in range(shares.shape[1]):
            share = shares[a, b]
            if share <= 0:
                out[a, b] = 0
            elif share >= 1:
                out[a, b] = 255
            else:
                out[a, b] = min(254, max(1, round(255 * math.sqrt(share))))
    return out


__all__ = ["MAX_SAMPLED", "known_shares", "mask_levels"]
