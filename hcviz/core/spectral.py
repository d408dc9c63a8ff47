"""The spectral sweep cut that several papers' methods share (001: CRSC and HRSC; 002's kin).

A cut of a weighted graph into S and the rest that approximately minimises
w(S, S^c) / (|S| |S^c|): order the nodes by the second eigenvector u of the normalised Laplacian
I - D^-1/2 W D^-1/2, and take the best prefix. It is u itself that orders, as in Chatziafratis et
al.'s (2018) experiments, whose figures this reproduces, and not D^-1/2 u, for which Cheeger's
inequality is proved; on Zoo and Iris u is also the better of the two. Everything long is done in
short compiled steps that release the GIL, with a place to stop between any two.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core import spectralkernels as kernels

Float = NDArray[np.float64]

#: Multiplications between two places to stop: some 5 to 15 ms.
CHUNK = 12_000_000
#: Lanczos gives up here; its best vector is used all the same.
MAX_STEPS = 120
#: Residual at which a Ritz vector is good enough to order nodes by (float32 holds 1e-6).
TOLERANCE = 2e-5


def sweep_cut(
    weights: NDArray[Any], sizes: NDArray[np.int64]
) -> Generator[None, None, NDArray[np.bool_]]:
    """Divide a graph of k >= 2 nodes: yields None at places to stop, returns the side, bool (k,).

    ``weights`` is float32 or float64 (k, k), symmetric, zero diagonal, nothing negative; ``sizes``
    int64 (k,), the items that each node stands for. A graph in pieces is cut for nothing, into
    sides of about equal size. Deterministic. O(k^2) a Lanczos step.
    """
    if len(sizes) <= kernels.EXACT:
        return kernels.small_cut(weights, sizes)
    labels, count = kernels.component_labels(weights)
    if count > 1:
        return kernels.halve_components(labels, count, sizes)
    degree = kernels.degrees(weights)
    yield
    values = yield from second_vector(weights, degree)
    side: NDArray[np.bool_] = kernels.sweep(weights, degree, values, sizes)[0]
    yield
    return side


def second_vector(weights: NDArray[Any], degree: Float) -> Generator[None, None, Float]:
    """Second eigenvector of a connected graph's normalised Laplacian, float64 (k,), by Lanczos.

    The start vector is fixed, the trivial eigenvector is projected out, and the sign is whatever
    comes of that: the sweep looks from both ends.
    """
    k = degree.size
    steps = min(MAX_STEPS, k - 1)
    scale = np.empty(k, np.float32)
    basis = np.empty((steps + 2, k), np.float32)
    kernels.begin_lanczos(degree, scale, basis)
    alpha, beta = np.zeros(steps), np.zeros(steps)
    stride = max(1, CHUNK // (k * k))
    done = 0
    while True:
        wanted = min(steps, done + stride)
        reached = kernels.lanczos(weights, scale, basis, alpha, beta, done, wanted)
        yield
        found, residual = kernels.ritz_weights(alpha, beta, reached)
        if reached == steps or reached < wanted or residual < TOLERANCE:
            vector: Float = kernels.ritz_vector(basis, found)
            return vector
        done = reached


def warm() -> None:
    """Compile (or load) the kernels, so that nobody's first click waits for it."""
    for dtype in (np.float32, np.float64):
        weights = np.ones((3, 3), dtype) - np.eye(3, dtype=dtype)
        sizes = np.ones(3, np.int64)
        kernels.small_cut(weights, sizes)
    weights = np.ones((3, 3), np.float32) - np.eye(3, dtype=np.float32)
    degree = kernels.degrees(weights)
    for _ in second_vector(weights, degree):
        pass
    labels, count = kernels.component_labels(weights)
    kernels.halve_components(labels, count, sizes)
    kernels.sweep(weights, degree, np.arange(3.0), sizes)
