"""Feasible points of the semidefinite programs (:mod:`.sdp`) near a given one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.comparison import kernels

Float = NDArray[np.float64]

#: Items belong together whose entry is above this share of what it would be in one cluster.
TOGETHER = 0.4
#: Newton's steps towards the least mixture, and passes over the rows until their sums are 1.
NEWTON, PASSES = 30, 60


def feasible(x: Float, split: Float, k: int | None) -> Iterator[Float]:
    """``x`` :func:`mended`; and the partition that the nonnegative ``split`` shows, if it has k
    clusters, or any number below n for None."""
    n = len(x)
    yield mended(x, k)
    labels = np.empty(n, np.int64)
    count = int(kernels.parts(split, TOGETHER, labels))
    if (k is None and count < n) or count == k:
        yield partition_matrix(labels)


def partition_matrix(labels: NDArray[Any]) -> Float:
    """X of a partition: 1 / |C| inside each cluster C."""
    code = np.unique(labels, return_inverse=True)[1]
    size = np.bincount(code)
    return np.where(code[:, None] == code[None], 1.0 / size[code][:, None], 0.0)


def mended(x: Float, k: int | None) -> Float:
    """A feasible point near ``x``, which meets all constraints but X >= 0. O(n^2).

    An entry -t < 0 at (i, j) goes by adding t (e_i + e_j)(e_i + e_j)^T, which is positive
    semidefinite; the rows are then scaled to sums of 1 alike from both sides, which keeps that.
    The trace grows by what was lacking. So x is first mixed with 1 1^T / n, which has the trace 1:
    by as little as makes up for that. It costs little, since nearly all negative entries are tiny,
    and a mixture of some 1e-4 lifts them all: the dearer repair is left with the few larger ones.
    """
    n = len(x)
    trace = float(np.trace(x)) if k is None else float(k)
    mix = 0.0
    if trace > 1.0:
        for _ in range(NEWTON):  # convex and falling: from the left it never goes too far
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
        # to first order an error e becomes -X e, then (e - X e) / 2: gone where X is a partition's
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
    """Mix a little with 1 1^T / n or with I, in place, to bring the trace to k."""
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


__all__ = ["feasible", "mended", "partition_matrix"]
