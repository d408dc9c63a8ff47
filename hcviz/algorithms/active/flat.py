"""The flat methods A of ``ActiveCluster(A, s, k)``, a registry of their own.

A flat method divides some items by their similarities into k clusters. Items that triplets bind are
one supernode, and go together (see :mod:`hcviz.algorithms.active.flatkernels`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh

from hcviz.algorithms.active import flatkernels as kernels
from hcviz.core import spectral
from hcviz.core.errors import InvalidParameter
from hcviz.core.mixkernels import branched

Int = NDArray[np.int32]
Float = NDArray[np.float64]
#: Yields None at places to stop, returns the clusters 0.. of the supernodes, int32 (count,).
Steps = Generator[None, None, Int]

#: Up to so many supernodes one compiled call divides in two (about 20 ms).
COMPILED = 400


@dataclass(frozen=True)
class Flat:
    """A flat method. ``split(weights, key, count, k, seed)`` divides ``count`` supernodes.

    ``weights`` float64 (m, m), symmetric, the diagonal meaning nothing; ``key`` int32 (m,): the
    supernode of each item; ``k`` clusters, at least 2 and at most ``count``; ``seed`` an int below
    2^64, the only source of chance. It may return fewer clusters than k.
    ``kernel``: the number of a built-in method that :mod:`flatkernels` knows, else None.
    """

    name: str
    title: str
    split: Callable[[Float, Int, int, int, int], Steps]
    kernel: int | None = None

    def two(self, weights: Float, key: Int, count: int, seed: int) -> Steps:
        """k = 2: compiled where that is possible."""
        if self.kernel is None or count > COMPILED or len(key) > 2 * COMPILED:
            return (yield from self.split(weights, key, count, 2, seed))
        labels: Int = kernels.cut_in_two(weights, key, count, self.kernel, np.uint64(seed))
        return labels


def _laplacian(weights: Float, key: Int, count: int, k: int, seed: int) -> Steps:
    """Algorithm 2 of paper 002: the sign of the second eigenvector of D - W. For k > 2, k-means on
    the rows of the k - 1 first ones after the constant."""
    return (yield from _spectral(weights, key, count, k, seed, laplacian=True))


def _centred(weights: Float, key: Int, count: int, k: int, seed: int) -> Steps:
    """The sign of the top eigenvector of the double-centred similarity, then single moves while
    they help (:func:`flatkernels.polish`). The Laplacian's second vector breaks down where noise
    spreads the degrees: it then singles out items of low degree."""
    return (yield from _spectral(weights, key, count, k, seed, laplacian=False))


def _spectral(weights: Float, key: Int, count: int, k: int, seed: int, laplacian: bool) -> Steps:
    summed, sizes = kernels.contracted(weights, key, count)
    yield
    kernels.prepare(summed, laplacian)
    if k == 2 and count > 2:
        vector = yield from spectral.second_vector(summed.astype(np.float32), sizes)
        labels: Int = kernels.signs(vector)
    else:
        vectors = top_vectors(summed, sizes, k - 1)[1] / np.sqrt(sizes)[:, None]
        yield
        labels = kernels.kmeans(np.ascontiguousarray(vectors), sizes, k, np.uint64(seed))
    yield
    if not laplacian and not kernels.one_sided(labels):
        kernels.polish(summed, sizes, labels, k)
    return labels


def top_vectors(summed: Float, sizes: Float, count: int) -> tuple[Float, Float]:
    """The largest ``count`` eigenvalues, falling, and eigenvectors of D^-1/2 W D^-1/2 on the
    complement of sqrt(sizes): float64 (count,) and (len(sizes), count). O(k^3)."""
    scale = 1.0 / np.sqrt(sizes)
    matrix = summed * scale[:, None] * scale[None, :]
    trivial = np.sqrt(sizes / sizes.sum())
    # On the complement, with the trivial direction sent to the bottom of the spectrum.
    across = matrix @ trivial
    matrix -= np.outer(trivial, across) + np.outer(across, trivial)
    low = np.abs(matrix).sum(axis=1).max() + 1.0
    matrix += (trivial @ across - low) * np.outer(trivial, trivial)
    m = len(sizes)
    count = min(count, m)
    try:
        values, vectors = eigh(matrix, subset_by_index=[m - count, m - 1])
    except LinAlgError:  # LAPACK's way to a few of them gives up now and then
        values, vectors = (each[..., m - count :] for each in np.linalg.eigh(matrix))
    return values[::-1], vectors[:, ::-1]


def _kmeans(weights: Float, key: Int, count: int, k: int, seed: int) -> Steps:
    """k-means on the rows of the similarity matrix (section 3.3): the best of four runs from
    k-means++."""
    points, sizes = kernels.profiles(weights, key, count)
    centres = np.empty((k, points.shape[1]))
    best, least = np.zeros(count, np.int32), np.inf
    for start in range(kernels.STARTS):
        own = np.uint64(branched(np.uint64(seed), start))
        kernels.seed_centres(points, sizes, k, own, centres)
        labels = np.full(count, -1, np.int32)
        for _ in range(kernels.ITERATIONS):
            yield
            changes, spread = kernels.lloyd(points, sizes, labels, centres)
            if not changes:
                break
        if spread < least:
            best, least = labels, spread
    return best


FLAT: dict[str, Flat] = {}
#: What a spectral method's option ``cut`` may be: its own two, and whatever else is registered.
CUTS = ["centred", "laplacian"]


def register_flat(
    name: str, title: str, split: Callable[..., Any], kernel: int | None = None
) -> Flat:
    """Make a flat method known by name, as ``A`` of :class:`ActiveCluster` and as ``cut`` of the
    spectral methods; see :class:`Flat` for what ``split`` is given."""
    FLAT[name] = Flat(name, title, split, kernel)
    if name not in (*CUTS, "kmeans"):  # which has methods of its own
        CUTS.append(name)
    return FLAT[name]


def forget_flat(name: str) -> None:
    """Undo :func:`register_flat`."""
    FLAT.pop(name, None)
    if name in CUTS:
        CUTS.remove(name)


def flat_method(name: str | Flat) -> Flat:
    """The flat method of that name; :class:`InvalidParameter` if there is none."""
    if isinstance(name, Flat):
        return name
    if name not in FLAT:
        raise InvalidParameter(f"There is no flat method {name!r}.", f"Known: {', '.join(FLAT)}.")
    return FLAT[name]


register_flat("laplacian", "Sign of the Laplacian's second vector", _laplacian, kernels.LAPLACIAN)
register_flat("centred", "Top vector of the double-centred sample", _centred, kernels.CENTRED)
register_flat("kmeans", "k-means on rows of similarities", _kmeans, kernels.KMEANS)


def eigengap(weights: Float, key: Int, count: int, laplacian: bool, most: int) -> int:
    """How many clusters: the k in 2..``most`` with the largest gap in the spectrum.

    Of the Laplacian, lambda_(k+1) - lambda_k (section 3.4 of paper 002); of the double-centred
    matrix, whose k - 1 large eigenvalues stand for k clusters, mu_(k-1) - mu_k. O(count^3).
    """
    most = min(most, count - 1)
    if most < 3:
        return 2
    summed, sizes = kernels.contracted(weights, key, count)
    kernels.prepare(summed, laplacian)
    values = top_vectors(summed, sizes, most)[0]
    # Falling values of W - D are rising ones of the Laplacian, its trivial 0 left out.
    return 2 + int(np.argmax(values[:-1] - values[1:]))


__all__ = ["CUTS", "FLAT", "Flat", "eigengap", "flat_method", "forget_flat", "register_flat"]
