"""Feasible points of the semidefinite programs (:mod:`.sdp`) near a given point."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.comparison import kernels

Float = NDArray[np.float64]

#: Two items are in one cluster if their entry is above this share of its value inside a cluster.
SAME_CLUSTER = 0.4
#: The most Newton steps for the mixture, and the most passes that scale the rows to sums of 1.
NEWTON, PASSES = 30, 60


def feasible(x: Float, split: Float, k: int | None) -> Iterator[Float]:
    """Yield ``x`` :func:`repaired`, then the matrix of the partition in the nonnegative ``split``.

    The partition is left out if it does not have k clusters; for k None, if it is all singletons.
    """
    n = len(x)
    yield repaired(x, k)
    labels = np.empty(n, np.int64)
    count = int(kernels.parts(split, SAME_CLUSTER, labels))
    if (k is None and count < n) or count == k:
        yield partition_matrix(labels)


def partition_matrix(labels: NDArray[Any]) -> Float:
    """Return X of a partition: 1 / |C| inside each cluster C."""
    code = np.unique(labels, return_inverse=True)[1]
    size = np.bincount(code)
    return np.where(code[:, None] == code[None], 1.0 / size[code][:, None], 0.0)


def repaired(x: Float, k: int | None) -> Float:
    """Return a feasible point near ``x``, which meets all constraints except X >= 0. O(n^2).

    An entry -t < 0 at (i, j) becomes 0 by adding t (e_i + e_j)(e_i + e_j)^T, which is positive
    semidefinite. Then rows and columns are scaled to sums of 1, which keeps this. These steps raise
    the trace. So x is first mixed with 1 1^T / n, whose trace is 1, by as little as compensates for
    that. The mixture costs little: nearly all negative entries are tiny, and a mixture of about
    1e-4 makes them positive. Only the few larger ones need the more expensive repair.
    """
    n = len(x)
    trace = float(np.trace(x)) if k is None else float(k)
    mix = 0.0
    if trace > 1.0:
        for _ in range(NEWTON):  # convex and decreasing: from the left, no step goes too far
            short, fall = kernels.shortfall(x, mix)
            over = short - mix * (trace - 1.0)
            if over <= 1e-9 * trace:
                break
            mix = min(1.0, mix + over / (fall + trace - 1.0))
    out = np.empty((n, n))
    kernels.lift(x, mix, out)
    scale = np.ones(n)
    for step in range(PASSES):
        rows = scale * (out @ scale)
        if abs(rows - 1.0).max() < 1e-11:
            break
        # To first order an error e becomes -X e, then (e - X e) / 2: 0 if X is a partition's.
        scale /= np.sqrt(rows) if step % 2 else rows
    else:
        scale /= np.sqrt((scale * (out @ scale)).max())
    out *= scale
    out *= scale[:, None]
    diagonal = np.einsum("ii->i", out)
    rows = out.sum(axis=1)
    out /= max(1.0, rows.max())
    diagonal += np.maximum(1.0 - rows / max(1.0, rows.max()), 0.0)
    if k is not None:
        _set_trace(out, k)
    return out


def _set_trace(out: Float, k: int) -> None:
    """Mix ``out`` with 1 1^T / n or with I, in place, so that its trace becomes k."""
    n = len(out)
    trace = float(np.trace(out))
    if trace > k:
        mix = (trace - k) / (trace - 1.0)
        out *= 1.0 - mix
        out += mix / n
    else:
        mix = (k - trace) / (n - trace)
        out *= 1.0 - mix
        out[np.diag_indices(n)] += mix


__all__ = ["feasible", "partition_matrix", "repaired"]
