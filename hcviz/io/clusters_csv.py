"""Clusters as CSV: each item and the number of its cluster, from 1, for spreadsheets and others."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


def write_clusters_csv(labels: Sequence[str], clusters: ArrayLike) -> str:
    """``item,cluster`` rows in the items' order; ``clusters`` int (n,), any numbers, are numbered
    from 1 in the order of their first items."""
    number = 1 + pd.factorize(np.asarray(clusters))[0]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(["item", "cluster"])
    writer.writerows(zip(labels, number.tolist(), strict=True))
    return buffer.getvalue()


__all__ = ["write_clusters_csv"]
