"""The cut profile of one set: all cuts that a spectral sweep weighs, for the inspector."""

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

    ``supernodes``: their items. ``inside`` int64: items on the first side of each cut. ``weight``
    and ``ratio`` float64: w(S, S^c), and that over |S| |S^c|. ``best`` is the cut that a sparsest
    cut takes, ``best_balanced`` the one of a balanced cut (-1: no prefix has a third of the items
    on each side). ``pieces`` is the number of connected components; cuts between them weigh
    nothing, and the order is then theirs.
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
    """The sweep over the supergraph of ``items`` (two or more) under the problem's triplets.

    ``low`` is taken from every similarity. With ``lam`` the graph is HRSC's: every item is a node
    of its own, and each ab|c inside the set adds ``lam`` c_k to the edge a-b, so that ``weight``
    and ``ratio`` hold what a cut pays for answers, too. O(|items|^2) and the eigenvector, float64;
    of sparse similarities only the set's own are made dense. Raises :class:`InvalidData` where
    nothing can be cut: one item, or contradictory triplets; :class:`InvalidParameter` for a ``lam``
    that is not finite or below 0.
    """
    if lam is not None and not 0 <= lam < np.inf:
        raise InvalidParameter(f"lam must be finite, and 0 or more, not {lam}.")
    members = np.unique(check_integers(items, "The items of a profile", InvalidData)).astype(
        np.int32
    )
    if lam is None:
        blocks = aho_components(members, problem.triplets)
    else:
        blocks = [members[i : i + 1] for i in range(len(members))]
    if len(blocks) < 2:
        raise InvalidData("There is nothing to cut: the items hang together as one.")
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
        told = np.arange(len(active), dtype=np.int32)
        prices = lam * known.weights[active]
        kernels.add_answers(local, told, 0, len(active), prices, number, weights)
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


def parted_ratio(
    problem: Problem, one: ArrayLike, other: ArrayLike, low: float = 0.0, lam: float | None = None
) -> float:
    """w(S, T) / (|S| |T|) of two disjoint sets of items, as :func:`cut_profile` weighs its cuts.

    With ``lam`` each ab|c inside their union that has a and b on different sides adds ``lam`` c_k.
    O(|S| |T|). Raises :class:`InvalidData` for a set that is empty, or for an item in both.
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
    """Where the value is least; of equals (to 1e-6) the most even, then the first."""
    least = value[among].min()
    near = among[value[among] <= least + 1e-6 * abs(least)]
    return int(near[even[near].argmin()])
