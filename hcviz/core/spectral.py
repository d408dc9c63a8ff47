"""The spectral sweep cut, which several methods use (CRSC and HRSC among them).

It divides a weighted graph into S and the rest, and approximately minimises
w(S, S^c) / (|S| |S^c|). Nodes are ordered by the second eigenvector u of the normalised Laplacian
I - D^-1/2 W D^-1/2, and the best prefix is S. The order is by u itself, as in the experiments of
Chatziafratis et al. (2018), which hcviz reproduces. Cheeger's inequality is proved for D^-1/2 u; on
Zoo and Iris, u gives better cuts. Long computations consist of short compiled steps that release
the GIL; a run can be stopped between two steps.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core import spectralkernels as kernels

Float = NDArray[np.float64]

#: Number of multiplications between two yields: 5 to 15 ms.
CHUNK = 12_000_000
#: Largest number of Lanczos steps. The best vector so far is used then.
MAX_STEPS = 120
#: Residual at which a Ritz vector is accurate enough to order nodes (float32 resolves 1e-6).
TOLERANCE = 2e-5


def sweep_cut(
    weights: NDArray[Any], sizes: NDArray[np.int64]
) -> Generator[None, None, NDArray[np.bool_]]:
    """Divide a graph of k >= 2 nodes into two sides.

    Parameters
    ----------
    weights : float32 or float64 (k, k)
        Symmetric, 0 or more, with a zero diagonal.
    sizes : int64 (k,)
        Number of items of each node.

    Yields
    ------
    None
        Where the run can be stopped.

    Returns
    -------
    bool (k,)
        One side of the cut. A graph with several components is cut between components, into sides
        of about equal size.

    Notes
    -----
    Deterministic. O(k^2) for each Lanczos step.
    """
    if len(sizes) <= kernels.SMALL_GRAPH:
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
    """Compute the second eigenvector of a connected graph's normalised Laplacian by Lanczos.

    Returns float64 (k,). The start vector is fixed, and the trivial eigenvector is projected out.
    The sign has no meaning, since the sweep treats both ends alike.
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
        target = min(steps, done + stride)
        reached = kernels.lanczos(weights, scale, basis, alpha, beta, done, target)
        yield
        found, residual = kernels.ritz_weights(alpha, beta, reached)
        if reached == steps or reached < target or residual < TOLERANCE:
            vector: Float = kernels.ritz_vector(basis, found)
            return vector
        done = reached


def warm() -> None:
    """Compile the kernels, or load them from the cache."""
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
