"""Similarities from comparisons: AddS-3 and AddS-4, MulK-3, and the quadruplets kernel MulK-4.

All count answers: an answer that is given twice counts twice, and opposite answers cancel. Without
repeats this is the papers' definition, which is for sets of answers. :meth:`hcviz.Comparisons.once`
returns the set.
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
#: Rows of a large matrix of signs that are compared with their columns.
CHECKED_ROWS = 64


def check_items(n_items: int) -> None:
    """Raise :class:`TooLarge` for more than :data:`hcviz.core.tree.MAX_QUADRATIC` items.

    The lists by pair store items in 16 bits, and would be wrong above 32,767.
    """
    if n_items > MAX_QUADRATIC:
        raise TooLarge(
            f"Methods for comparisons hold matrices over all pairs of items, for at most "
            f"{MAX_QUADRATIC:,} items; these are {n_items:,}.",
            "Leave out items, such as those that were never compared.",
        )


class AddS:
    """AddS-3 and AddS-4 (Perrot et al. 2020, section 3), in one pass; answers may keep arriving.

    A quadruplet (i, j, k, l) adds 1 to S_ij and subtracts 1 from S_kl. A triplet (i, j, r) is the
    same as the quadruplet (i, j, i, r). O(n^2) memory, O(1) time for each answer.

    Parameters
    ----------
    n_items : int
        The number of items.

    Attributes
    ----------
    sums : int64 (n, n)
        S, symmetric with a zero diagonal.
    seen : int
        The number of answers.
    """

    def __init__(self, n_items: int) -> None:
        check_items(n_items)
        self.sums: Count = np.zeros((n_items, n_items), np.int64)
        self.seen = 0

    def partial_fit(self, comparisons: Comparisons | ArrayLike) -> AddS:
        """Add answers, or their rows int32 (m, 3) or (m, 4). Returns itself."""
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
    """Return AddS-3 of triplets, AddS-4 of quadruplets: float64 (n, n). O(m + n^2)."""
    given = as_given(comparisons, n_items)
    if not isinstance(given, Comparisons):
        return adds_of_table(given, n_items).astype(np.float64)
    return AddS(n_items).partial_fit(comparisons).similarity


def mulk3(n_items: int, comparisons: Comparisons) -> Float:
    """Return MulK-3 (Kleindessner and von Luxburg 2017) of triplets: float64 (n, n).

    Item i has a vector phi_i over pairs {j, r}: the net number of answers that i is nearer to the
    first than to the second. K_ij = <phi_i, phi_j> / sqrt(nnz_i nnz_j), where nnz_i is the number
    of pairs with a net answer. K is 0 if an nnz is 0, and on the diagonal, as published. One sparse
    product.
    """
    check_items(n_items)
    _check_kind(comparisons, "MulK-3", triplets=True)
    anchor, near, far = comparisons.rows.T.astype(np.int64)
    low, high = np.minimum(near, far), np.maximum(near, far)
    column = high * (high - 1) // 2 + low
    sign = np.where(near < far, 1.0, -1.0)
    phi = sparse.csr_matrix(
        (sign, (anchor, column)), shape=(n_items, max(1, math.comb(n_items, 2)))
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
    """Compute MulK-4, the passive quadruplets kernel of Ghoshdastidar et al. (2019), equation (3).

    A generator that *returns* the kernel, float64 (n, n), and yields None every :data:`PART` pairs.
    K_ij = sum over pairs {k, l} and items r of s(i, r; k, l) s(j, r; k, l), where s is the net
    number of answers that {i, r} is more similar than {k, l}. The values are whole numbers; the
    diagonal is 0.

    Parameters
    ----------
    n_items : int
        The number of items.
    answers : Comparisons, or int8 or int16 (M, M)
        Triplets count as quadruplets. A dense antisymmetric matrix holds signs, as in
        :meth:`hcviz.Comparisons.from_table`.
    kernel : {"equation 3", "published"}
        ``published`` is the kernel of the authors' code. There an item is infinitely similar to
        itself, so (i, i) beats every pair, and r = i and r = j count as well. This adds s(i, j; k,
        l) twice for every {k, l}, or 2 AddS-4.

    Notes
    -----
    Time: the sum over {k, l} and r of the squared number of {i, r} that were compared with {k, l}.
    At rate p this is p^2 n^5 / 4.
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
    """Return the kernel of :func:`mulk4_steps`."""
    made: Float = finish(mulk4_steps(n_items, answers, kernel))
    return made


def finish(steps: Any) -> Any:
    """Run a generator to its end, and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def as_given(comparisons: Comparisons, n_items: int) -> Comparisons | NDArray[Any]:
    """Return the dense matrix of signs if the comparisons came as one over these items; else
    themselves."""
    table = comparisons.table
    return table if table is not None and comparisons.n_named == n_items else comparisons


def adds_of_table(table: NDArray[Any], n: int) -> Count:
    """Return AddS-4 of a dense sign matrix: int64 (n, n)."""
    out = np.zeros((n, n), np.int64)
    columns, rows = np.tril_indices(n, -1)  # in the order of the pairs' numbers
    out[rows, columns] = out[columns, rows] = table.sum(axis=1, dtype=np.int64)
    return out


def check_table(table: NDArray[Any], n: int) -> NDArray[Any]:
    """Check a dense sign matrix: int8 or int16 (M, M), M = n (n - 1) / 2, antisymmetric.

    Of a large one, only the diagonal and ``CHECKED_ROWS`` rows are compared with their columns.
    This finds a matrix that is filled on one side only, however few its answers are.
    """
    m = math.comb(n, 2)
    table = np.asarray(table)
    if table.shape != (m, m) or table.dtype not in (np.int8, np.int16):
        raise InvalidData(
            f"A matrix of signs for {n} items must be int8 or int16 of shape ({m}, {m}), not "
            f"{table.dtype} of shape {table.shape}."
        )
    rows = np.arange(m)
    if m > CHECKED_ROWS:
        rows = np.random.default_rng(0).choice(m, CHECKED_ROWS, replace=False)
    if np.any(np.diagonal(table)) or np.any(table[rows] != -table[:, rows].T):
        raise InvalidData("A matrix of signs must be antisymmetric: s(q, p) = -s(p, q).")
    return np.ascontiguousarray(table)


def _check_kind(comparisons: Comparisons, name: str, triplets: bool) -> None:
    """Raise :class:`InvalidData` if the comparisons are not of the required kind."""
    if comparisons.is_quadruplets == triplets and len(comparisons):
        have = "quadruplets" if comparisons.is_quadruplets else "triplets"
        raise InvalidData(
            f"{name} needs {'triplets' if triplets else 'quadruplets'}, and these are {have}.",
            "Choose AddS or MulK-4, which take both.",
        )
