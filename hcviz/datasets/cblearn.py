"""Conversion of answers in the formats of the library cblearn, which need not be installed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hcviz.core.errors import InvalidData
from hcviz.core.triplets import Comparisons
from hcviz.core.validation import check_integers

Question = Literal["triplet", "most central", "odd one out"]
#: Largest number of answers in one list (1.2 GB).
MAX_ANSWERS = 100_000_000


def from_cblearn(
    queries: Any, responses: ArrayLike | None = None, question: Question = "triplet"
) -> Comparisons:
    """Return the comparisons in cblearn's queries and responses.

    Parameters
    ----------
    queries : int (m, 3), or a sparse array
        Items (anchor, near, far), or the chosen item first for the other questions. A sparse
        n x n x n array ("tensor-count") has ``coords`` (3, m) and ``data``, with a count in cell
        (i, j, k).
    responses : array (m,), optional
        None for "list-order". Booleans for "list-boolean": False swaps near and far. Integers for
        "list-count": -c swaps near and far and counts c times, and 0 is no answer.
    question : {"triplet", "most central", "odd one out"}
        The question that was asked.

    Returns
    -------
    Comparisons
        The answers; answers with a count are repeated.

    Raises
    ------
    InvalidData
        If shapes or values do not fit, or there are too many answers.

    Examples
    --------
    >>> from_cblearn([[0, 1, 2], [1, 0, 2]], [True, False]).rows.tolist()
    [[0, 1, 2], [1, 2, 0]]
    """
    if hasattr(queries, "coords") and hasattr(queries, "data"):
        if responses is not None:
            raise InvalidData(
                "A sparse array of answers contains its responses.", "Leave out responses."
            )
        responses = np.asarray(queries.data)
        queries = np.transpose(np.asarray(queries.coords))
    rows = check_integers(queries, "Queries", InvalidData)
    if rows.size == 0:
        rows = rows.reshape(0, 3)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise InvalidData(f"Queries must have shape (m, 3), not {rows.shape}.")
    if question != "triplet":
        if responses is not None:
            raise InvalidData(
                f"Answers of the {question} have no responses.", "Put the chosen item first."
            )
        if question == "most central":
            return Comparisons.from_most_central(rows)
        if question == "odd one out":
            return Comparisons.from_odd_one_out(rows)
        raise InvalidData(
            f"There is no question {question!r}.", "Known: triplet, most central, odd one out."
        )
    if responses is None:
        return Comparisons(rows)
    counts = np.asarray(responses)
    if counts.shape != (len(rows),):
        raise InvalidData(f"{len(rows)} queries need as many responses, not {counts.shape}.")
    if counts.dtype.kind == "b":
        counts = np.where(counts, 1, -1)
    counts = check_integers(counts, "Responses", InvalidData)
    total = int(np.abs(counts).sum())
    if total > MAX_ANSWERS:
        raise InvalidData(
            f"The responses count {total:,} answers; {MAX_ANSWERS:,} is the limit.",
            "Divide the counts, or take a sample of the queries.",
        )
    swapped = np.where((counts < 0)[:, None], rows[:, [0, 2, 1]], rows)
    return Comparisons(np.repeat(swapped, np.abs(counts), axis=0))


__all__ = ["from_cblearn"]
