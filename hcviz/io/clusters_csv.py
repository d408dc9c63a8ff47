"""Export of clusters as CSV: one row per item, with the number of its cluster."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


def write_clusters_csv(labels: Sequence[str], clusters: ArrayLike) -> str:
    """Return CSV text with the columns ``item`` and ``cluster``, in the order of the items.

    Parameters
    ----------
    labels : n labels
    clusters : int (n,), any codes; the file numbers them from 1, by first appearance
    """
    number = 1 + pd.factorize(np.asarray(clusters))[0]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(["item", "cluster"])
    writer.writerows(zip(labels, number.tolist(), strict=True))
    return buffer.getvalue()


__all__ = ["write_clusters_csv"]
