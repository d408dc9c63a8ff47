"""Similarities made of comparisons: AddS-3 and AddS-4, MulK-3, and the quadruplets kernel MulK-4.

All count answers: an answer given twice counts twice, and opposite answers cancel. Where nothing is
repeated this is the papers' definition, whose indicators know no repeats;
:meth:`hcviz.Comparisons.once` gives the set that they speak of.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from hcviz.algorithms.comparison import kernels
from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.tree import MAX_QUADRATIC
from hcviz.core.triplets import Comparisons

Float = NDArray[np.float64]
Count = NDArray[np.int64]

#: Pairs of the kernel's outer sum between two yields.
PART = 256
#: Rows of a large matrix of signs that are held against their columns.
LOOKED_AT = 64


def check_items(n_items: int) -> None:
    """Refuse more than :data:`hcviz.core.tree.MAX_QUADRATIC` items, before anything is made.

    (The lists by pair number items in 16 bits, and would be wrong above 32,767.)
    """
    if n_items > MAX_QUADRATIC:
        raise TooLarge(
            f"Methods for comparisons hold matrices over all pairs of items, and are made for "
            f"{MAX_QUADRATIC:,} items at most; these are {n_items:,}.",
            "Leave out items, above all those that were never compared.",
        )


class AddS:
    """AddS-3 and AddS-4 (Perrot et al. 2020, section 3), in one pass over answers that may keep
    arriving.

    ``sums`` int64 (n, n) is symmetric with a zero diagonal: a quadruplet (i, j, k, l) adds 1 to
    S_ij and takes 1 from S_kl; a triplet (i, j, r) adds 1 to S_ij and takes 1 from S_ir, the same
    as the quadruplet (i, j, i, r). ``seen`` counts the answers. O(n^2) memory, O(1) an answer.
    """

    def __init__(self, n_items: int) -> None:
        check_items(n_items)
        self.sums: Count = np.zeros((n_items, n_items), np.int64)
        self.seen = 0

    def partial_fit(self, comparisons: Comparisons | ArrayLike) -> AddS:
        """Add some answers; rows int32 (m, 3) or (m, 4). Returns itself."""
        made = comparisons if isinstance(comparisons, Comparisons) else Comparisons(comparisons)
        if len(made) and made.rows.max() >= len(self.sums):
            row = int(np.flatnonzero((made.rows >= len(self.sums)).any(axis=1))[0])
            raise InvalidData(
                f"Comparison {row} names item {made.rows[row].max()}, but there are only "
                f"{len(self.sums)} items.",
                "Items are numbered from 0.",
            )
        kernels.add_quadruplets(np.ascontiguousarray(made.as_quadruplets().rows), self.sums)
        self.seen += len(made)
        return self

    @property
    def similarity(self) -> Float:
        """The sums so far, float64 (n, n)."""
        return self.sums.astype(np.float64)


def adds(n_items: int, comparisons: Comparisons) -> Float:
    """AddS-3 of triplets, AddS-4 of quadruplets: float64 (n, n). O(m + n^2)."""
    given = as_given(comparisons, n_items)
    if not isinstance(given, Comparisons):
        return adds_of_table(given, n_items).astype(np.float64)
    return AddS(n_items).partial_fit(comparisons).similarity


def mulk3(n_items: int, comparisons: Comparisons) -> Float:
    """MulK-3 (Kleindessner and von Luxburg 2017), float64 (n, n), from triplets.

    Item i is the vector phi_i over pairs {j, r} of how often i was said to be nearer to the first
    than to the second, net; K_ij = <phi_i, phi_j> / sqrt(nnz_i nnz_j), 0 where an nnz is, with the
    diagonal 0 as published. nnz_i is the number of pairs with a net answer. One sparse product.
    """
    check_items(n_items)
    _check_kind(comparisons, "MulK-3", triplets=True)
    anchor, near, far = comparisons.rows.T.astype(np.int64)
    low, high = np.minimum(near, far), np.maximum(near, far)
    column = high * (high - 1) // 2 + low
    said = np.where(near < far, 1.0, -1.0)
    phi = sparse.csr_matrix(
        (said, (anchor, column)), shape=(n_items, max(1, math.comb(n_items, 2)))
    )
    phi.sum_duplicates()
    phi.eliminate_zeros()
    seen = np.diff(phi.indptr).astype(float)
    scale = np.sqrt(np.outer(seen, seen))
    product = (phi @ phi.T).toarray()
    out: Float = np.divide(product, scale, out=np.zeros_like(scale), where=scale > 0)
    np.fill_diagonal(out, 0.0)
    return out


Kernel = Literal["equation 3", "published"]


def mulk4_steps(
    n_items: int, answers: Comparisons | NDArray[Any], kernel: Kernel = "equation 3"
) -> Generator[None, None, Float]:
    """MulK-4, the passive quadruplets kernel of Ghoshdastidar et al. (2019), as a generator that
    *returns* it.

    K_ij = sum over pairs {k, l} and items r of s(i, r; k, l) s(j, r; k, l), where s is the net
    number of answers that {i, r} is more alike than {k, l}; float64 (n, n), whole numbers, diagonal
    0 (equation (3)). It yields every :data:`PART` pairs, so that it can be stopped.

    ``kernel="published"`` is the authors' code's: its matrices give each item an infinite
    similarity to itself, so that (i, i) beats every pair and r = i and r = j count as well: that
    adds s(i, j; k, l) twice for every {k, l}, or 2 AddS-4.

    ``answers``: :class:`Comparisons` (triplets count as quadruplets), or a dense antisymmetric
    (M, M) array of signs as :meth:`hcviz.Comparisons.from_table` describes it. Time: sum over
    {k, l} and r of the square of how many {i, r} were compared with {k, l}; at rate p, p^2 n^5 / 4.
    """
    n = n_items
    check_items(n)
    m = math.comb(n, 2)
    out = np.zeros((n, n), np.int64)
    scratch = kernels.kernel_scratch(n)
    if isinstance(answers, Comparisons):
        columns = kernels.by_pair(np.ascontiguousarray(answers.as_quadruplets().rows), n)
        for first in range(0, m, PART):
            kernels.quadruplet_kernel(*columns, out, first, min(m, first + PART), scratch)
            yield None
    else:
        table = check_table(answers, n)
        for first in range(0, m, PART):
            kernels.quadruplet_kernel_of_table(table, out, first, min(m, first + PART), scratch)
            yield None
    out += out.T
    np.fill_diagonal(out, 0)
    if kernel == "published":
        if isinstance(answers, Comparisons):
            out += 2 * AddS(n).partial_fit(answers).sums
        else:
            out += 2 * adds_of_table(table, n)
    return out.astype(np.float64)


def mulk4(
    n_items: int, answers: Comparisons | NDArray[Any], kernel: Kernel = "equation 3"
) -> Float:
    """:func:`mulk4_steps` to its end."""
    made: Float = finish(mulk4_steps(n_items, answers, kernel))
    return made


def finish(steps: Any) -> Any:
    """What a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def as_given(comparisons: Comparisons, n_items: int) -> Comparisons | NDArray[Any]:
    """The dense matrix of signs, if they came as one over just these items; else themselves."""
    table = comparisons.table
    return table if table is not None and comparisons.n_named == n_items else comparisons


def adds_of_table(table: NDArray[Any], n: int) -> Count:
    """AddS-4 of a dense sign matrix: int64 (n, n)."""
    out = np.zeros((n, n), np.int64)
    columns, rows = np.tril_indices(n, -1)  # in the order of the pairs' numbers
    out[rows, columns] = out[columns, rows] = table.sum(axis=1, dtype=np.int64)
    return out


def check_table(table: NDArray[Any], n: int) -> NDArray[Any]:
    """A dense sign matrix: int8 or int16 (M, M), M = n (n - 1) / 2, antisymmetric where looked at.

    All of a large one is not read twice: its diagonal, and ``LOOKED_AT`` rows beside their columns,
    so that a list entered on one side only is found however few its answers are.
    """
    m = math.comb(n, 2)
    table = np.asarray(table)
    if table.shape != (m, m) or table.dtype not in (np.int8, np.int16):
        raise InvalidData(
            f"A matrix of signs for {n} items must be int8 or int16 of shape ({m}, {m}), not "
            f"{table.dtype} of shape {table.shape}."
        )
    rows = np.arange(m)
    if m > LOOKED_AT:
        rows = np.random.default_rng(0).choice(m, LOOKED_AT, replace=False)
    if np.any(np.diagonal(table)) or np.any(table[rows] != -table[:, rows].T):
        raise InvalidData("A matrix of signs must be antisymmetric: s(q, p) = -s(p, q).")
    return np.ascontiguousarray(table)


def _check_kind(comparisons: Comparisons, name: str, triplets: bool) -> None:
    if comparisons.is_quadruplets == triplets and len(comparisons):
        have = "quadruplets" if comparisons.is_quadruplets else "triplets"
        raise InvalidData(
            f"{name} needs {'triplets' if triplets else 'quadruplets'}, and these are {have}.",
            "Choose AddS or MulK-4, which take both.",
        )
