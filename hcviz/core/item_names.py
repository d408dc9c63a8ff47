"""Constraints that name their items: names become indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from hcviz.core.dataframes import is_frame
from hcviz.core.errors import InvalidConstraint


def indices_of(items: Any, labels: Sequence[str], what: str) -> Any:
    """Replace names of items by their indices.

    Parameters
    ----------
    items : Any
        Nested lists, tuples, sets, text arrays or a DataFrame. Other values, and integers in lists,
        are returned unchanged.
    labels : sequence of str
        The names of the items.
    what : str
        The subject of an error message, such as "The triplets".

    Returns
    -------
    Any
        Lists in place of lists, tuples, sets (sorted) and text arrays.

    Raises
    ------
    InvalidConstraint
        A name is not the name of an item.

    Notes
    -----
    O(number of items named + n).

    Examples
    --------
    >>> indices_of([("dog", "cat", "eel")], ["eel", "cat", "dog"], "The triplets")
    [[2, 1, 0]]
    """
    if is_frame(items):
        items = items.to_numpy(dtype=object)
    if isinstance(items, np.ndarray):
        if items.dtype.kind not in "OUT":
            return items
        items = items.tolist()
    if not _has_name(items):
        return items
    return _replaced(items, {name: i for i, name in enumerate(labels)}, what)


def _has_name(items: Any) -> bool:
    if isinstance(items, list | tuple | set | frozenset):
        return any(map(_has_name, items))
    return isinstance(items, str)


def _replaced(items: Any, places: Mapping[str, int], what: str) -> Any:
    if isinstance(items, str):
        if items not in places:
            near = get_close_matches(items, places, 1)
            raise InvalidConstraint(
                f"{what} name {items!r}, which is no item.",
                f"Did you mean {near[0]!r}?" if near else "Use the names in problem.labels.",
            )
        return places[items]
    if isinstance(items, set | frozenset):
        return sorted(_replaced(each, places, what) for each in items)
    if isinstance(items, list | tuple):
        return [_replaced(each, places, what) for each in items]
    return items


__all__ = ["indices_of"]
