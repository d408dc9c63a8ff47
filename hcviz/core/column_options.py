"""``ColumnOptions``: how a column of a table is read, if not as it is detected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from hcviz.core.errors import InvalidParameter

#: What a column can be read as.
ColumnKind = Literal["number", "binary", "category", "date", "text", "identifier"]
#: The largest weight of a column. The smallest is its inverse.
MAX_WEIGHT = 1_000.0


@dataclass(frozen=True)
class ColumnOptions:
    """How one column of a table is read.

    Attributes
    ----------
    name : str
        The name of the column.
    kind : str
        A :data:`ColumnKind`, or "" for the detected one.
    used : bool or None
        Whether the items are compared by the column. None: as detected.
    strip : bool or None
        Whether the column is drawn as colours beside the tree. None: as detected.
    weight : float
        How much the column counts, from 0.001 to 1000.

    Raises
    ------
    InvalidParameter
        If the kind is unknown, or the weight is outside its range.
    """

    name: str
    kind: Literal["", "number", "binary", "category", "date", "text", "identifier"] = ""
    used: bool | None = None
    strip: bool | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.kind and self.kind not in get_args(ColumnKind):
            raise InvalidParameter(
                f"There is no kind of column {self.kind!r} ({self.name}).",
                f"Known: {', '.join(get_args(ColumnKind))}.",
            )
        in_range = math.isfinite(self.weight) and 1 / MAX_WEIGHT <= self.weight <= MAX_WEIGHT
        if not in_range:
            raise InvalidParameter(
                f"The weight of the column {self.name!r} is {self.weight:g}.",
                f"Weights go from {1 / MAX_WEIGHT:g} to {MAX_WEIGHT:g}.",
            )


def as_column_options(given: Any) -> tuple[ColumnOptions, ...]:
    """Return options of columns from a mapping of column names.

    Parameters
    ----------
    given : mapping or sequence of ColumnOptions
        For each column a word (a kind, ``"off"`` or ``"strip"``), a weight, or a mapping with the
        fields of :class:`ColumnOptions`. ``"strip"`` draws the column, and does not compare it.

    Raises
    ------
    InvalidParameter
        If an option is unknown.
    """
    if not isinstance(given, Mapping):
        return tuple(given or ())
    return tuple(_options(str(name), value) for name, value in given.items())


def _options(name: str, value: Any) -> ColumnOptions:
    if isinstance(value, bool):
        return ColumnOptions(name, used=value)
    if isinstance(value, (int, float)):
        return ColumnOptions(name, weight=float(value))
    if isinstance(value, str):
        return parse_options(name, value)
    known = {each.name for each in fields(ColumnOptions)} - {"name"}
    if not isinstance(value, Mapping) or not set(value) <= known:
        raise InvalidParameter(
            f"The options of the column {name!r} are not readable: {value!r}.",
            f"Give a word, a weight, or a mapping with {', '.join(sorted(known))}.",
        )
    return ColumnOptions(name, **value)


def parse_options(name: str, text: str) -> ColumnOptions:
    """Return the options of a column from words with commas between them: ``category,2``.

    Raises
    ------
    InvalidParameter
        If a word is neither a kind, ``off``, ``strip``, nor a weight.
    """
    found: dict[str, Any] = {}
    for word in (each.strip().lower() for each in text.split(",")):
        if word in get_args(ColumnKind):
            found["kind"] = word
        elif word == "off":
            found["used"] = False
        elif word == "strip":
            found["strip"] = True
            found.setdefault("used", False)
        else:
            try:
                found["weight"] = float(word)
            except ValueError:
                raise InvalidParameter(
                    f"The column {name!r} cannot be {word!r}.",
                    f"Known: off, strip, {', '.join(get_args(ColumnKind))}, or a weight.",
                ) from None
    return ColumnOptions(name, **found)


def find_unknown(options: Sequence[ColumnOptions], names: Sequence[str]) -> str:
    """Return the first name in ``options`` that is no column, "" if there is none."""
    known = set(names)
    return next((each.name for each in options if each.name not in known), "")


__all__ = ["MAX_WEIGHT", "ColumnKind", "ColumnOptions", "as_column_options", "parse_options"]
