"""``Triplets`` ab|c, and ``Comparisons``, which are something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import signtable
from hcviz.core.errors import InvalidConstraint
from hcviz.core.rows import different_rows
from hcviz.core.whole import whole_numbers


def _index_rows(rows: ArrayLike, widths: tuple[int, ...], noun: str) -> NDArray[np.int32]:
    if isinstance(rows, (Triplets, Comparisons)):
        raise InvalidConstraint(
            f"{noun} cannot be made of {type(rows).__name__}: they say different things.",
            "Comparisons.from_triplets(triplets) gives the comparisons that triplets imply; "
            "comparisons imply no triplets.",
        )
    array = whole_numbers(rows, noun, InvalidConstraint)
    if array.size == 0:
        width = array.shape[1] if array.ndim == 2 and array.shape[1] in widths else widths[0]
        return np.empty((0, width), np.int32)
    shape = " or ".join(f"(m, {width})" for width in widths)
    if array.ndim != 2 or array.shape[1] not in widths:
        raise InvalidConstraint(f"{noun} must have shape {shape}, not {array.shape}.")
    most = np.iinfo(np.int32).max
    if array.min() < 0 or array.max() > most:
        row, column = np.argwhere((array < 0) | (array > most))[0]
        raise InvalidConstraint(
            f"Row {row} of {noun.lower()} names item {array[row, column]}.",
            "Items are numbered from 0.",
        )
    return np.ascontiguousarray(array, dtype=np.int32)


class Triplets:
    """Statements ab|c: some clade holds a and b and not c.

    Parameters
    ----------
    rows : int32 (m, 3)
        Columns a, b, c; three different items. The order of a and b means nothing.
    weights : float64 (m,), optional
        Positive; only soft methods look at them. Default: all 1.
    """

    __slots__ = ("rows", "weights")

    def __init__(self, rows: ArrayLike = (), weights: ArrayLike | None = None) -> None:
        self.rows = _index_rows(rows, (3,), "Triplets").copy()
        a, b, c = self.rows.T
        same = np.flatnonzero((a == b) | (a == c) | (b == c))
        if same.size:
            row = int(same[0])
            raise InvalidConstraint(
                f"Triplet {row} names one item twice: {tuple(self.rows[row].tolist())}.",
                "A triplet ab|c needs three different items.",
            )
        if weights is None:
            self.weights = np.ones(len(self.rows))
        else:
            try:
                self.weights = np.array(weights, dtype=np.float64)
            except (TypeError, ValueError):
                raise InvalidConstraint("The weights of triplets must be numbers.") from None
            if self.weights.shape != (len(self.rows),):
                raise InvalidConstraint(
                    f"The weights of triplets must be a list with one number for each triplet: "
                    f"shape ({len(self.rows)},), not {self.weights.shape}."
                )
            if not np.all(np.isfinite(self.weights) & (self.weights > 0)):
                raise InvalidConstraint("The weights of triplets must be positive numbers.")
        self.rows.flags.writeable = False
        self.weights.flags.writeable = False

    @classmethod
    def of(cls, triplets: Any, n_items: int | None = None) -> Triplets:
        """``triplets`` as this type (None is none); every item below ``n_items``, if given."""
        if triplets is None:
            made = cls()
        else:
            made = triplets if isinstance(triplets, cls) else cls(triplets)
        if n_items is not None and len(made) and made.rows.max() >= n_items:
            row = int(np.flatnonzero((made.rows >= n_items).any(axis=1))[0])
            raise InvalidConstraint(
                f"Triplet {row} names item {made.rows[row].max()}, but there are only {n_items} "
                f"items (0..{n_items - 1})."
            )
        return made

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return (tuple(row) for row in self.rows.tolist())

    def __getitem__(self, index: Any) -> Triplets:
        rows = self.rows[index]
        return Triplets(np.atleast_2d(rows), np.atleast_1d(self.weights[index]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Triplets):
            return NotImplemented
        return np.array_equal(self.rows, other.rows) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash((self.rows.tobytes(), self.weights.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Triplets, (self.rows, self.weights))

    def __repr__(self) -> str:
        return f"Triplets({len(self)})"

    def __add__(self, other: Triplets) -> Triplets:
        return Triplets(
            np.concatenate([self.rows, other.rows]), np.concatenate([self.weights, other.weights])
        )

    def within(self, items: ArrayLike) -> NDArray[np.int64]:
        """Row indices of the triplets whose three items are all among ``items``."""
        return np.flatnonzero(np.isin(self.rows, np.asarray(items)).all(axis=1))


def _three(rows: ArrayLike, noun: str) -> NDArray[np.int32]:
    found = _index_rows(rows, (3,), noun)
    a, b, c = found.T
    same = np.flatnonzero((a == b) | (a == c) | (b == c))
    if same.size:
        row = int(same[0])
        raise InvalidConstraint(
            f"Row {row} of {noun.lower()} names one item twice: {tuple(found[row].tolist())}.",
            "Such an answer is about three different items.",
        )
    return found


class Comparisons:
    """Answers about hidden similarities: "i and j are more alike than k and l".

    Parameters
    ----------
    rows : int32 (m, 3) or (m, 4)
        (anchor, near, far), i.e. w(anchor, near) > w(anchor, far); or quadruplets (i, j, k, l),
        i.e. w(i, j) > w(k, l), the order within each pair meaning nothing.

    A comparison is not a triplet: ab|c implies (a, b, c) and (b, a, c), and one such comparison
    does not imply ab|c. Repeats and contradictions are data, and kept.

    ``table`` is the dense matrix of signs that they came as (:meth:`from_table`), or None.
    """

    __slots__ = ("_count", "_rows", "table")

    def __init__(self, rows: ArrayLike) -> None:
        self.table: NDArray[Any] | None = None
        self._rows: NDArray[np.int32] | None = _index_rows(rows, (3, 4), "Comparisons").copy()
        columns = self._rows.T
        if len(columns) == 3:
            wrong = (columns[0] == columns[1]) | (columns[0] == columns[2])
            wrong |= columns[1] == columns[2]
        else:
            wrong = (columns[0] == columns[1]) | (columns[2] == columns[3])
        if np.any(wrong):
            row = int(np.flatnonzero(wrong)[0])
            raise InvalidConstraint(
                f"Comparison {row} compares an item with itself: {tuple(self.rows[row].tolist())}."
            )
        self._rows.flags.writeable = False
        self._count = len(self._rows)

    @classmethod
    def from_table(cls, table: ArrayLike) -> Comparisons:
        """Quadruplets from a dense matrix over pairs of items, M = n (n - 1) / 2 each way.

        ``table`` whole numbers (M, M), antisymmetric: cell (p, q) is how many more answers said
        that pair p is more alike than pair q than said the opposite: a sign, or a net count. The
        pair {i, j}, i < j, has number j (j - 1) / 2 + i. int8 and int16 arrays are kept as they
        are, not copied, and must not be changed. 4-AL, 4K-AL and AddS work from it; ``rows`` are
        made when they are asked for, 16 bytes an answer. What cancelled is not there any more, so
        that :meth:`once` leaves the signs. O(M^2). Raises :class:`InvalidData`.
        """
        made = cls.__new__(cls)
        made.table, made._rows = signtable.checked(table), None
        made._count = signtable.count(made.table)
        return made

    @property
    def rows(self) -> NDArray[np.int32]:
        """int32 (m, 3) or (m, 4), not to be written to."""
        if self._rows is None:
            assert self.table is not None
            self._rows = signtable.rows(self.table)
            self._rows.flags.writeable = False
        return self._rows

    @property
    def n_named(self) -> int:
        """One more than the largest item named; of a table, the items that it is over."""
        if self.table is not None:
            return signtable.n_items(len(self.table))
        return int(self.rows.max(initial=-1)) + 1

    @classmethod
    def from_triplets(cls, triplets: Triplets) -> Comparisons:
        """The two comparisons that each ab|c implies: (a, b, c) and (b, a, c). (2m, 3)."""
        rows = Triplets.of(triplets).rows
        return cls(np.concatenate([rows, rows[:, [1, 0, 2]]]))

    @classmethod
    def from_most_central(cls, rows: ArrayLike) -> Comparisons:
        """What "i is the most central of i, j and k" says: (j, i, k) and (k, i, j). (2m, 3).

        ``rows`` int32 (m, 3): i, j, k. Rows r and m + r come of answer r (Ghoshdastidar et al.
        2019, section B).
        """
        i, j, k = _three(rows, "Answers of the most central").T
        return cls(np.concatenate([np.stack([j, i, k], 1), np.stack([k, i, j], 1)]))

    @classmethod
    def from_odd_one_out(cls, rows: ArrayLike) -> Comparisons:
        """What "i is the odd one out of i, j and k" says: (j, k, i) and (k, j, i). (2m, 3).

        ``rows`` int32 (m, 3): i, j, k. That j and k are the most alike of the three pairs is all of
        the answer; whether it is also a triplet jk|i is for whoever asked to say.
        """
        i, j, k = _three(rows, "Answers of the odd one out").T
        return cls(np.concatenate([np.stack([j, k, i], 1), np.stack([k, j, i], 1)]))

    def __add__(self, other: Comparisons) -> Comparisons:
        """These, then the others; all as quadruplets where either are."""
        pair = [self, other]
        if self.is_quadruplets != other.is_quadruplets:
            pair = [each.as_quadruplets() for each in pair]
        return Comparisons(np.concatenate([each.rows for each in pair]))

    def tally(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Each question once, and how often it was answered either way.

        ``(questions, yes, no)``: rows in this object's own form with the smaller item (the smaller
        pair, both sorted) second, int32 (q, 3) or (q, 4), in increasing order, and counts (q,).
        "No" means that the other one is said to be nearer or more alike. A quadruplet that sets a
        pair against itself is no question, and left out.
        """
        if self.is_quadruplets:
            first, second = np.sort(self.rows[:, :2], 1), np.sort(self.rows[:, 2:], 1)
            gap = np.where(
                first[:, 0] != second[:, 0], first[:, 0] - second[:, 0], first[:, 1] - second[:, 1]
            )
            turn = gap < 0
            rows = np.concatenate(
                [np.where(turn[:, None], second, first), np.where(turn[:, None], first, second)], 1
            )[gap != 0]
            turn = turn[gap != 0]
        else:
            turn = self.rows[:, 1] < self.rows[:, 2]
            rows = np.where(turn[:, None], self.rows[:, [0, 2, 1]], self.rows)
        questions, _, which = different_rows(rows)
        yes = np.bincount(which[~turn], minlength=len(questions))
        no = np.bincount(which[turn], minlength=len(questions))
        return questions.astype(np.int32), yes, no

    def once(self) -> Comparisons:
        """As the set of the papers' definitions: each question that was only ever answered one way,
        once; those answered both ways cancel, whatever the counts, and are left out."""
        if self.table is not None:
            return Comparisons.from_table(np.sign(self.table))
        questions, yes, no = self.tally()
        turned = questions[:, [2, 3, 0, 1] if self.is_quadruplets else [0, 2, 1]]
        kept = np.concatenate([questions[(yes > 0) & (no == 0)], turned[(no > 0) & (yes == 0)]])
        return Comparisons(kept)

    def appearances(self, n_items: int) -> NDArray[np.int64]:
        """In how many comparisons each item stands, int64 (n,); 0: it was never compared."""
        found = np.zeros(n_items, np.int64)
        if self.table is not None:
            found[: self.n_named] = signtable.appearances(self.table)
            return found
        for column in range(self.rows.shape[1]):
            fresh = np.ones(len(self.rows), bool)
            for before in range(column):
                fresh &= self.rows[:, column] != self.rows[:, before]
            found += np.bincount(self.rows[fresh, column], minlength=n_items)[:n_items]
        return found

    @property
    def is_quadruplets(self) -> bool:
        return self.table is not None or self.rows.shape[1] == 4

    def as_quadruplets(self) -> Comparisons:
        """(anchor, near, far) as (anchor, near, anchor, far); quadruplets as they are."""
        return self if self.is_quadruplets else Comparisons(self.rows[:, [0, 1, 0, 2]])

    def __len__(self) -> int:
        return self._count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparisons):
            return NotImplemented
        return bool(np.array_equal(self.rows, other.rows))

    def __hash__(self) -> int:
        return hash(self.rows.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        if self.table is not None:
            return (Comparisons.from_table, (self.table,))
        return (Comparisons, (self.rows,))

    def __repr__(self) -> str:
        return f"Comparisons({len(self)}, {'quadruplets' if self.is_quadruplets else 'triplets'})"
