"""``Triplets`` ab|c, which constrain trees, and ``Comparisons``, which are answers about pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import sign_table
from hcviz.core.errors import InvalidConstraint
from hcviz.core.unique_rows import unique_rows
from hcviz.core.validation import check_integer, check_integers


def _index_rows(rows: ArrayLike, widths: tuple[int, ...], noun: str) -> NDArray[np.int32]:
    if isinstance(rows, (Triplets, Comparisons)):
        raise InvalidConstraint(
            f"{noun} cannot be made of {type(rows).__name__}: they have different meanings.",
            "Comparisons.from_triplets(triplets) gives the comparisons that triplets imply; "
            "comparisons imply no triplets.",
        )
    if isinstance(rows, list | tuple) and any(hasattr(each, "apart") for each in rows):
        raise InvalidConstraint(
            f"{noun} are constraints of a page, not rows of items.",
            "Use view.problem, which has them: view.problem.triplets and view.problem.groups.",
        )
    array = check_integers(rows, noun, InvalidConstraint)
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
    """Constraints ab|c: some clade contains a and b and does not contain c.

    Parameters
    ----------
    rows : int32 (m, 3)
        Columns a, b, c: three different items. The order of a and b has no meaning.
    weights : float64 (m,), optional
        Positive prices of violated triplets, for methods with soft constraints. Default: all 1.

    Raises
    ------
    InvalidConstraint
        A row is not valid, or a weight is not positive.

    Examples
    --------
    >>> triplets = Triplets([[0, 1, 2], [2, 3, 0]])
    >>> len(triplets), triplets[0].rows.tolist()
    (2, [[0, 1, 2]])
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
        """Convert rows to ``Triplets``.

        Parameters
        ----------
        triplets : Triplets, int (m, 3) or None
            The rows; None: no rows. ``Triplets`` are returned unchanged.
        n_items : int or None
            Number of items; None: not checked.

        Returns
        -------
        Triplets
            The triplets.

        Raises
        ------
        InvalidConstraint
            A row is not valid, or names an item that is not below ``n_items``.

        Examples
        --------
        >>> Triplets.of([[0, 1, 2]], n_items=3)
        Triplets(1)
        """
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
        """Return the indices of the rows whose three items are all in ``items``.

        Parameters
        ----------
        items : int (k,)
            Items, in any order.

        Returns
        -------
        int64 (r,)
            Increasing.

        Notes
        -----
        O(m + k) for m triplets, apart from sorting.

        Examples
        --------
        >>> Triplets([[0, 1, 2], [2, 3, 0]]).within([0, 1, 2]).tolist()
        [0]
        """
        return np.flatnonzero(np.isin(self.rows, np.asarray(items)).all(axis=1))


def chain_triplets(group: ArrayLike, apart: int) -> NDArray[np.int32]:
    """Convert a constraint to triplets: some clade contains ``group`` and not ``apart``.

    Parameters
    ----------
    group : int (k,)
        Two or more different items.
    apart : int
        An item that is not in the group.

    Returns
    -------
    int32 (k - 1, 3)
        g0 g1 | x, g1 g2 | x, ... with x = ``apart``. They imply gi gj | x for all pairs.

    Raises
    ------
    InvalidConstraint
        The group has fewer than two items, a repeated item, or the item ``apart``.

    Examples
    --------
    >>> chain_triplets([0, 1, 2], 5).tolist()
    [[0, 1, 5], [1, 2, 5]]
    """
    members = check_integers(group, "The items of a group", InvalidConstraint).ravel()
    if members.size < 2:
        raise InvalidConstraint("A group needs two items or more.", "Add an item to the group.")
    if np.unique(members).size < members.size:
        raise InvalidConstraint("The group names an item twice.")
    apart = check_integer(apart, "The item apart from the group", InvalidConstraint)
    if apart in members:
        raise InvalidConstraint(f"Item {apart} is in the group, so it cannot be apart from it.")
    outside = np.full(members.size - 1, apart)
    return np.stack([members[:-1], members[1:], outside], axis=1).astype(np.int32)


def _distinct_items(rows: ArrayLike, noun: str) -> NDArray[np.int32]:
    """Check rows of three different items."""
    found = _index_rows(rows, (3,), noun)
    a, b, c = found.T
    same = np.flatnonzero((a == b) | (a == c) | (b == c))
    if same.size:
        row = int(same[0])
        raise InvalidConstraint(
            f"Row {row} of {noun.lower()} names one item twice: {tuple(found[row].tolist())}.",
            "Such an answer needs three different items.",
        )
    return found


class Comparisons:
    """Answers about hidden similarities w: "i and j are more similar than k and l".

    Parameters
    ----------
    rows : int32 (m, 3) or (m, 4)
        (anchor, near, far) means w(anchor, near) > w(anchor, far). A quadruplet (i, j, k, l) means
        w(i, j) > w(k, l); the order in each pair has no meaning.

    Attributes
    ----------
    table : int8 or int16 (M, M), or None
        The dense matrix of signs that :meth:`from_table` got.

    Raises
    ------
    InvalidConstraint
        A row compares an item with itself, or a pair with an equal item.

    Notes
    -----
    A comparison is not a triplet: ab|c implies (a, b, c) and (b, a, c), but one such comparison
    does not imply ab|c. Repeated and contradicting answers are kept.

    Examples
    --------
    >>> Comparisons([[0, 1, 2], [0, 1, 2], [0, 2, 1]]).tally()[1:]
    (array([1]), array([2]))
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
        """Create quadruplets from a dense matrix of signs over pairs of items.

        Parameters
        ----------
        table : int (M, M), M = n (n - 1) / 2
            Antisymmetric. Cell (p, q) is the number of answers that pair p is more similar than
            pair q, minus the number of opposite answers. The pair {i, j}, i < j, has the number
            j (j - 1) / 2 + i. int8 and int16 arrays are not copied and must not be changed.

        Returns
        -------
        Comparisons
            Quadruplets. Their ``table`` is the matrix.

        Raises
        ------
        InvalidData
            The matrix is not valid.

        Notes
        -----
        4-AL, 4K-AL and AddS use the matrix itself. ``rows`` are computed on access, 16 bytes for
        each answer. The matrix has no record of opposite answers that cancel each other, so
        :meth:`once` returns its signs. O(M^2).

        Examples
        --------
        >>> answers = Comparisons.from_table([[0, 1, 0], [-1, 0, 0], [0, 0, 0]])
        >>> answers.rows.tolist()
        [[0, 1, 0, 2]]
        """
        made = cls.__new__(cls)
        made.table, made._rows = sign_table.check_sign_table(table), None
        made._count = sign_table.count_answers(made.table)
        return made

    @property
    def rows(self) -> NDArray[np.int32]:
        """The comparisons, int32 (m, 3) or (m, 4), read-only."""
        if self._rows is None:
            assert self.table is not None
            self._rows = sign_table.quadruplets(self.table)
            self._rows.flags.writeable = False
        return self._rows

    @property
    def n_named(self) -> int:
        """One more than the largest item in a row; for a table, its number of items."""
        if self.table is not None:
            return sign_table.n_items(len(self.table))
        return int(self.rows.max(initial=-1)) + 1

    @classmethod
    def from_triplets(cls, triplets: Triplets) -> Comparisons:
        """Return the two comparisons that each ab|c implies: (a, b, c) and (b, a, c).

        Parameters
        ----------
        triplets : Triplets or int (m, 3)
            Rows ab|c.

        Returns
        -------
        Comparisons
            2m rows (anchor, near, far). Rows r and m + r are from triplet r.

        Raises
        ------
        InvalidConstraint
            A row is not valid.

        Examples
        --------
        >>> Comparisons.from_triplets([[0, 1, 2]]).rows.tolist()
        [[0, 1, 2], [1, 0, 2]]
        """
        rows = Triplets.of(triplets).rows
        return cls(np.concatenate([rows, rows[:, [1, 0, 2]]]))

    @classmethod
    def from_most_central(cls, rows: ArrayLike) -> Comparisons:
        """Convert answers "i is the most central of i, j and k" to (j, i, k) and (k, i, j).

        Parameters
        ----------
        rows : int32 (m, 3)
            Rows i, j, k.

        Returns
        -------
        Comparisons
            2m rows (anchor, near, far). Rows r and m + r are from answer r.

        Raises
        ------
        InvalidConstraint
            A row does not have three different items.

        References
        ----------
        Ghoshdastidar, Perrot and von Luxburg (2019), section B.

        Examples
        --------
        >>> Comparisons.from_most_central([[0, 1, 2]]).rows.tolist()
        [[1, 0, 2], [2, 0, 1]]
        """
        i, j, k = _distinct_items(rows, "Answers of the most central").T
        return cls(np.concatenate([np.stack([j, i, k], 1), np.stack([k, i, j], 1)]))

    @classmethod
    def from_odd_one_out(cls, rows: ArrayLike) -> Comparisons:
        """Convert answers "i is the odd one out of i, j and k" to (j, k, i) and (k, j, i).

        Parameters
        ----------
        rows : int32 (m, 3)
            Rows i, j, k.

        Returns
        -------
        Comparisons
            2m rows (anchor, near, far). Rows r and m + r are from answer r.

        Raises
        ------
        InvalidConstraint
            A row does not have three different items.

        Notes
        -----
        The answer means only that j and k are the most similar pair. It does not imply the triplet
        jk|i.

        Examples
        --------
        >>> Comparisons.from_odd_one_out([[0, 1, 2]]).rows.tolist()
        [[1, 2, 0], [2, 1, 0]]
        """
        i, j, k = _distinct_items(rows, "Answers of the odd one out").T
        return cls(np.concatenate([np.stack([j, k, i], 1), np.stack([k, j, i], 1)]))

    def __add__(self, other: Comparisons) -> Comparisons:
        """Join two sets of comparisons; if one has quadruplets, the result has quadruplets."""
        pair = [self, other]
        if self.is_quadruplets != other.is_quadruplets:
            pair = [each.as_quadruplets() for each in pair]
        return Comparisons(np.concatenate([each.rows for each in pair]))

    def tally(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Count the answers to each question.

        Returns
        -------
        questions : int32 (q, 3) or (q, 4)
            Each question once, in increasing order, in the form of this object. The smaller item
            (or the smaller pair, both sorted) is second.
        yes, no : int64 (q,)
            Number of answers as the row says, and of opposite answers.

        Notes
        -----
        A quadruplet that compares a pair with itself is left out. O(m log m).

        Examples
        --------
        >>> questions, yes, no = Comparisons([[0, 1, 2], [0, 1, 2], [0, 2, 1]]).tally()
        >>> questions.tolist(), yes.tolist(), no.tolist()
        ([[0, 2, 1]], [1], [2])
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
        questions, _, inverse = unique_rows(rows)
        yes = np.bincount(inverse[~turn], minlength=len(questions))
        no = np.bincount(inverse[turn], minlength=len(questions))
        return questions.astype(np.int32), yes, no

    def once(self) -> Comparisons:
        """Return the comparisons as a set: each question once, with its answer.

        Returns
        -------
        Comparisons
            Questions with answers both ways are left out, whatever the counts. A table is replaced
            by its signs.

        Notes
        -----
        O(m log m), or O(M^2) for a table over M pairs.

        Examples
        --------
        >>> Comparisons([[0, 1, 2], [0, 1, 2], [1, 0, 2], [1, 2, 0]]).once().rows.tolist()
        [[0, 1, 2]]
        """
        if self.table is not None:
            return Comparisons.from_table(np.sign(self.table))
        questions, yes, no = self.tally()
        turned = questions[:, [2, 3, 0, 1] if self.is_quadruplets else [0, 2, 1]]
        kept = np.concatenate([questions[(yes > 0) & (no == 0)], turned[(no > 0) & (yes == 0)]])
        return Comparisons(kept)

    def appearances(self, n_items: int) -> NDArray[np.int64]:
        """Return the number of comparisons with each item.

        Parameters
        ----------
        n_items : int
            Number of items, n; the comparisons may name fewer.

        Returns
        -------
        int64 (n,)
            A comparison that names an item twice counts once.

        Examples
        --------
        >>> Comparisons([[0, 1, 2], [0, 2, 3]]).appearances(5).tolist()
        [2, 1, 2, 1, 0]
        """
        found = np.zeros(n_items, np.int64)
        if self.table is not None:
            found[: self.n_named] = sign_table.appearances(self.table)
            return found
        for column in range(self.rows.shape[1]):
            fresh = np.ones(len(self.rows), bool)
            for before in range(column):
                fresh &= self.rows[:, column] != self.rows[:, before]
            found += np.bincount(self.rows[fresh, column], minlength=n_items)[:n_items]
        return found

    @property
    def is_quadruplets(self) -> bool:
        """True if the rows are quadruplets (i, j, k, l)."""
        return self.table is not None or self.rows.shape[1] == 4

    def as_quadruplets(self) -> Comparisons:
        """Convert rows (anchor, near, far) to (anchor, near, anchor, far).

        Returns
        -------
        Comparisons
            The same answers as quadruplets; the object itself if it has quadruplets.

        Examples
        --------
        >>> Comparisons([[0, 1, 2]]).as_quadruplets().rows.tolist()
        [[0, 1, 0, 2]]
        """
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
