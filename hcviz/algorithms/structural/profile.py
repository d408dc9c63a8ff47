"""The cut profile of one set: all cuts of a spectral sweep, for the inspector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.algorithms.structural import kernels
from hcviz.core import spectralkernels
from hcviz.core.build import aho_components
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.problem import Problem
from hcviz.core.validation import check_integers

Float = NDArray[np.float64]


@dataclass(frozen=True)
class CutProfile:
    """Supernodes in sweep order, and the k - 1 cuts between neighbours.

    Parameters
    ----------
    supernodes : tuple of int32 arrays
        Their items.
    inside : int64 (k - 1,)
        Items on the first side of each cut.
    weight, ratio : float64 (k - 1,)
        w(S, S^c), and w(S, S^c) / (|S| |S^c|).
    best : int
        The cut that a sparsest cut takes.
    best_balanced : int
        The cut that a balanced cut takes; -1 if no prefix has a third of the items on each side.
    pieces : int
        Connected components. With several, the order is theirs, and cuts between them weigh 0.
    """

    supernodes: tuple[NDArray[np.int32], ...]
    inside: NDArray[np.int64]
    weight: Float
    ratio: Float
    best: int
    best_balanced: int
    pieces: int

    @property
    def balance(self) -> Float:
        """The smaller side's share of the items, 0 to 1/2, for each cut."""
        total = sum(len(block) for block in self.supernodes)
        return np.minimum(self.inside, total - self.inside) / total


def cut_profile(
    problem: Problem, items: ArrayLike, low: float = 0.0, lam: float | None = None
) -> CutProfile:
    """Compute the sweep over the supergraph of some items under the problem's triplets.

    Parameters
    ----------
    problem : Problem
        Its similarities and triplets.
    items : array of int
        Two items or more.
    low : float
        Is subtracted from every similarity.
    lam : float, optional
        With it the graph is that of HRSC. Every item is a node, and each ab|c inside the set adds
        ``lam`` c_k to the edge a-b. So ``weight`` and ``ratio`` include what a cut pays for
        answers.

    Returns
    -------
    CutProfile

    Raises
    ------
    InvalidData
        Nothing can be cut: there is one item, or the triplets contradict each other.
    InvalidParameter
        ``lam`` is not finite, or below 0.

    Notes
    -----
    O(|items|^2) and the eigenvector, float64. Of sparse similarities only the set's own are made
    dense.
    """
    if lam is not None and not 0 <= lam < np.inf:
        raise InvalidParameter(f"lam must be finite, and 0 or more, not {lam}.")
    members = np.unique(check_integers(items, "The items of a profile", InvalidData)).astype(
        np.int32
    )
    if lam is None:
        blocks = aho_components(members, problem.triplets, problem.groups)
    else:
        blocks = [members[i : i + 1] for i in range(len(members))]
    if len(blocks) < 2:
        raise InvalidData("There is nothing to cut: the constraints join all items to one.")
    k, size = len(blocks), len(members)
    number = np.zeros(size, np.int32)
    for place, block in enumerate(blocks):
        number[np.searchsorted(members, block)] = place
    if problem.is_sparse:
        matrix = problem.similarity[members][:, members].toarray()
    else:
        matrix = problem.similarity_or_default[np.ix_(members, members)]
    matrix.flags.writeable = False  # numba compiles one variant
    weights = np.zeros((k, k))
    here = np.arange(size, dtype=np.int32)
    kernels.add_weights(matrix, low, here, 0, size, number, 0, size, weights)
    if lam is not None:
        known = problem.triplets
        active = np.flatnonzero(np.isin(known.rows, members).all(axis=1))
        local = np.searchsorted(members, known.rows[active]).astype(np.int32)
        numbers = np.arange(len(active), dtype=np.int32)
        prices = lam * known.weights[active]
        kernels.add_triplet_prices(local, numbers, 0, len(active), prices, number, weights)
    labels, pieces = spectralkernels.component_labels(weights)
    degree = spectralkernels.degrees(weights)
    if pieces > 1:
        values = labels.astype(np.float64)
    elif k == 2:
        values = np.array([0.0, 1.0])
    else:
        values = spectralkernels.exact_vector(weights, degree)
    order = np.argsort(values, kind="stable")
    ordered = weights[np.ix_(order, order)]
    weight = np.cumsum(degree[order] - 2.0 * np.tril(ordered).sum(axis=1))[:-1]
    sizes = np.array([len(blocks[v]) for v in order])
    inside = np.cumsum(sizes)[:-1]
    total = len(members)
    ratio = weight / (inside * (total - inside))
    even = np.abs(2 * inside - total)
    fits = np.flatnonzero(3 * np.minimum(inside, total - inside) >= total)
    return CutProfile(
        tuple(blocks[v] for v in order),
        inside,
        weight,
        ratio,
        _least(ratio, even, np.arange(k - 1)),
        _least(weight, even, fits) if fits.size else -1,
        int(pieces),
    )


def cut_ratio(
    problem: Problem, one: ArrayLike, other: ArrayLike, low: float = 0.0, lam: float | None = None
) -> float:
    """Return w(S, T) / (|S| |T|) of two disjoint sets of items, as in :func:`cut_profile`.

    With ``lam``, each ab|c inside their union with a and b on different sides adds ``lam`` c_k.
    O(|S| |T|). Raises :class:`InvalidData` for an empty set, or an item in both.
    """
    first, second = (
        np.unique(check_integers(side, "The items of a cut", InvalidData)) for side in (one, other)
    )
    if not first.size or not second.size or np.intersect1d(first, second).size:
        raise InvalidData("A cut has two sides, each with items of its own.")
    if problem.is_sparse:
        weight = float(problem.similarity[first][:, second].sum())
    else:
        weight = float(problem.similarity_or_default[np.ix_(first, second)].sum())
    pairs = first.size * second.size
    weight -= low * pairs
    if lam is not None:
        rows, prices = problem.triplets.rows, lam * problem.triplets.weights
        here = np.isin(rows, np.concatenate([first, second])).all(axis=1)
        across = np.isin(rows[:, 0], first) != np.isin(rows[:, 1], first)
        weight += float(prices[here & across].sum())
    return weight / pairs


def _least(value: Float, even: Float, among: NDArray[np.int64]) -> int:
    """Return the place of the least value; of equals (to 1e-6) the most even, then the first."""
    least = value[among].min()
    near = among[value[among] <= least + 1e-6 * abs(least)]
    return int(near[even[near].argmin()])
