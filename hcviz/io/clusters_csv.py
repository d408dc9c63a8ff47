"""Export of clusters as CSV: one row per item, with the number of its cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hcviz.core.csv_cells import write_csv


def write_clusters_csv(
    labels: Sequence[str], clusters: ArrayLike, names: Mapping[int, str] | None = None
) -> str:
    """Return CSV text with the columns ``item`` and ``cluster``, in the order of the items.

    Parameters
    ----------
    labels : n labels
    clusters : int (n,), any codes; the file numbers them from 1, by first appearance
    names : code -> name of the cluster; if there are any, a third column ``name`` has them
    """
    codes, found = pd.factorize(np.asarray(clusters))
    number = 1 + codes
    if names:
        named = [names.get(int(code), "") for code in found]
        rows = zip(labels, number.tolist(), codes.tolist(), strict=True)
        named_rows = ((label, k, named[code]) for label, k, code in rows)
        return write_csv([("item", "cluster", "name"), *named_rows])
    return write_csv([("item", "cluster"), *zip(labels, number.tolist(), strict=True)])


__all__ = ["write_clusters_csv"]
