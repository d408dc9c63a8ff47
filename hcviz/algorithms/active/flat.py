"""The flat methods A of ``ActiveCluster(A, s, k)``, and their registry.

A flat method divides some items by their similarities into k clusters. Items that triplets bind are
one supernode, and stay together (see :mod:`hcviz.algorithms.active.flatkernels`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active import eigenkernels
from hcviz.algorithms.active import flatkernels as kernels
from hcviz.core import spectral
from hcviz.core.errors import InvalidParameter
from hcviz.core.splitmixkernels import child_seed

Int = NDArray[np.int32]
Float = NDArray[np.float64]
#: Yields None at places to stop; returns the clusters 0.. of the supernodes, int32 (count,).
Steps = Generator[None, None, Int]

#: One compiled call divides up to this many supernodes (in two: about 20 ms; by the eigengap: 40).
COMPILED = 400
#: Entries of a matrix that are reduced to tridiagonal form between two places to stop.
CHUNK = 4_000_000


@dataclass(frozen=True)
class Flat:
    """A flat method.

    Parameters
    ----------
    name, title : str
        Its name in the registry, and on the page.
    split : callable
        ``split(weights, key, count, k, seed)`` divides ``count`` supernodes. ``weights``: float64
        (m, m), symmetric, with a diagonal that means nothing. ``key``: int32 (m,), the supernode of
        each item. ``k``: the number of clusters, 2 to ``count``. ``seed``: an int below 2^64, the
        only source of randomness. It may return fewer clusters than k.
    kernel : int or None
        The number of a built-in method in :mod:`flatkernels`.
    of_products : bool
        True if weights may be products of centred rows, which have either sign and sum to 0. A
        Laplacian cannot use these, since all degrees are 0.
    """

    name: str
    title: str
    split: Callable[[Float, Int, int, int, int], Steps]
    kernel: int | None = None
    of_products: bool = False

    def clusters(
        self, weights: Float, key: Int, count: int, k: int | None, most: int, seed: int
    ) -> Steps:
        """Return ``k`` clusters, at most one for each supernode; k None: by the eigengap, at most
        ``most``.

        Compiled for built-in methods and few items; then there are at least two clusters.
        """
        if self.kernel is not None and count <= COMPILED and len(key) <= 2 * COMPILED:
            labels: Int = kernels.cut_in_many(
                weights, key, count, self.kernel, k or 0, most, np.uint64(seed)
            )
            return labels
        if k is None:
            laplacian = self.kernel == kernels.LAPLACIAN
            k = yield from eigengap(weights, key, count, laplacian, most)
        return (yield from self.split(weights, key, count, min(k, count), seed))


def _laplacian(weights: Float, key: Int, count: int, k: int, seed: int) -> Steps:
    """Divide by the sign of the second eigenvector of D - W (Krishnamurthy et al. 2012, Algorithm
    2).

    For k > 2: k-means on the rows of the first k - 1 eigenvectors after the constant one.
    """
    return (yield from _spectral(weights, key, count, k, seed, laplacian=True))


def _centred(weights: Float, key: Int, count: int, k: int, seed: int) -> Steps:
    """Divide by the sign of the top eigenvector of the double-centred similarity, and improve it.

    Kernel k-means moves single items while it helps (:func:`flatkernels.kernel_kmeans`). The
    Laplacian's second vector fails if noise spreads the degrees: it then separates single items of
    low degree.
    """
    return (yield from _spectral(weights, key, count, k, seed, laplacian=False))


def _spectral(weights: Float, key: Int, count: int, k: int, seed: int, laplacian: bool) -> Steps:
    """Divide by the signs of one eigenvector, or by k-means on several."""
    summed, sizes = kernels.contracted(weights, key, count)
    yield
    kernels.prepare(summed, laplacian)
    labels: Int
    if k == 2 and count > 2:
        vector = yield from spectral.second_vector(summed.astype(np.float32), sizes)
        labels = kernels.signs(vector)
        yield
        if not laplacian and not kernels.one_sided(labels):
            kernels.kernel_kmeans(summed, sizes, labels, 2)
        return labels
    vectors = (yield from leading(summed, sizes, 0, k))[1]
    method = kernels.LAPLACIAN if laplacian else kernels.CENTRED
    labels = kernels.kmeans_of_vectors(summed, sizes, vectors, method, np.uint64(seed))
    return labels


def leading(
    summed: Float, sizes: Float, most: int, k: int, roots: bool = False
) -> Generator[None, None, tuple[int, Float]]:
    """Return :func:`eigenkernels.gap_and_vectors` of a prepared matrix, with places to stop.

    O(count^3).
    """
    matrix, form = eigenkernels.deflated(summed, sizes), np.zeros((3, len(sizes)))
    begin = len(sizes)
    while begin > 1:
        end = max(1, begin - 1 - CHUNK // begin**2)
        eigenkernels.reduce_rows(matrix, form, begin, end)
        yield
        begin = end
    found: tuple[int, Float] = eigenkernels.gap_and_vectors(matrix, form, most, k, roots)
    return found


def _kmeans(weights: Float, key: Int, count: int, k: int, seed: int) -> Steps:
    """k-means on the rows of the similarity matrix (section 3.3): the best of four runs from
    k-means++."""
    points, sizes = kernels.profiles(weights, key, count)
    centres = np.empty((k, points.shape[1]))
    best, least = np.zeros(count, np.int32), np.inf
    for start in range(kernels.STARTS):
        own = np.uint64(child_seed(np.uint64(seed), start))
        kernels.seed_centres(points, sizes, k, own, centres)
        labels = np.full(count, -1, np.int32)
        for _ in range(kernels.ITERATIONS):
            yield
            changes, sum_of_squares = kernels.lloyd(points, sizes, labels, centres)
            if not changes:
                break
        if sum_of_squares < least:
            best, least = labels, sum_of_squares
    return best


FLAT: dict[str, Flat] = {}
#: The values of a spectral method's option ``cut``: the two built-in ones and registered ones.
CUTS = ["centred", "laplacian"]


def register_flat(
    name: str,
    title: str,
    split: Callable[..., Any],
    kernel: int | None = None,
    of_products: bool = False,
) -> Flat:
    """Register a flat method as ``A`` of :class:`ActiveCluster` and as ``cut`` of the spectral
    methods.

    Parameters
    ----------
    name, title, split, kernel, of_products
        The fields of :class:`Flat`.

    Returns
    -------
    Flat
        The registered method.
    """
    FLAT[name] = Flat(name, title, split, kernel, of_products)
    if name not in (*CUTS, "kmeans"):  # k-means has methods of its own
        CUTS.append(name)
    return FLAT[name]


def forget_flat(name: str) -> None:
    """Remove what :func:`register_flat` has registered."""
    FLAT.pop(name, None)
    if name in CUTS:
        CUTS.remove(name)


def flat_method(name: str | Flat) -> Flat:
    """Return the flat method of that name; :class:`InvalidParameter` if there is none."""
    if isinstance(name, Flat):
        return name
    if name not in FLAT:
        raise InvalidParameter(f"There is no flat method {name!r}.", f"Known: {', '.join(FLAT)}.")
    return FLAT[name]


register_flat("laplacian", "Sign of the Laplacian's second vector", _laplacian, kernels.LAPLACIAN)
register_flat("centred", "Top vector of the double-centred sample", _centred, kernels.CENTRED, True)
register_flat("kmeans", "k-means on rows of similarities", _kmeans, kernels.KMEANS, True)


def eigengap(
    weights: Float, key: Int, count: int, laplacian: bool, most: int, roots: bool = False
) -> Generator[None, None, int]:
    """Choose the number of clusters: the k in 2..``most`` with the largest gap in the spectrum.

    For the Laplacian the gap is lambda_(k+1) - lambda_k (Krishnamurthy et al. 2012, section 3.4).
    For the double-centred matrix it is mu_(k-1) - mu_k, since k - 1 large eigenvalues mean k
    clusters. ``roots``: use square roots of eigenvalues, for weights that are products. Of equal
    gaps the least k wins. Yields None at places to stop. O(count^3).
    """
    most = min(most, count - 1)
    if most < 3:
        return 2
    summed, sizes = kernels.contracted(weights, key, count)
    kernels.prepare(summed, laplacian)
    yield
    # The falling eigenvalues of W - D are the rising ones of the Laplacian, without its trivial 0.
    return (yield from leading(summed, sizes, most, 0, roots))[0]


__all__ = ["CUTS", "FLAT", "Flat", "eigengap", "flat_method", "forget_flat", "register_flat"]
