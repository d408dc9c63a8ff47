"""Answers in the forms of the library cblearn, which is not needed for it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hcviz.core.errors import InvalidData
from hcviz.core.triplets import Comparisons
from hcviz.core.validation import check_integers

Question = Literal["triplet", "most central", "odd one out"]
#: Answers that are listed one by one at most: 1.2 GB of them.
MOST = 100_000_000


def from_cblearn(
    queries: Any, responses: ArrayLike | None = None, question: Question = "triplet"
) -> Comparisons:
    """Comparisons from cblearn's queries and responses.

    ``queries`` int (m, 3), and

    - no ``responses`` ("list-order"): (anchor, near, far); for the other questions the item
      that was chosen comes first;
    - boolean responses: False swaps near and far ("list-boolean");
    - responses 1, -1 or counts: -c swaps them and counts c times, 0 says nothing ("list-count").

    Or a sparse n x n x n array ("tensor-count": anything with ``coords`` (3, m) and ``data``),
    whose cell (i, j, k) is a count as above. Raises :class:`InvalidData`.
    """
    if hasattr(queries, "coords") and hasattr(queries, "data"):
        if responses is not None:
            raise InvalidData("A sparse array of answers holds its responses itself.")
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
    said = np.asarray(responses)
    if said.shape != (len(rows),):
        raise InvalidData(f"{len(rows)} queries need as many responses, not {said.shape}.")
    if said.dtype.kind == "b":
        said = np.where(said, 1, -1)
    said = check_integers(said, "Responses", InvalidData)
    if np.abs(said).sum() > MOST:
        raise InvalidData(
            f"The responses count {int(np.abs(said).sum()):,} answers; {MOST:,} can be held.",
            "Divide the counts, or take a sample of the queries.",
        )
    turned = np.where((said < 0)[:, None], rows[:, [0, 2, 1]], rows)
    return Comparisons(np.repeat(turned, np.abs(said), axis=0))


__all__ = ["from_cblearn"]
