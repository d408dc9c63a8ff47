"""Cells of a table: which are missing, which are numbers, and how messages quote them."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

#: The largest number in a cell. Sums of squares of such numbers are finite.
MAX_NUMBER = 1e100
#: Texts that mark a missing cell, in lower case.
MISSING_WORDS = frozenset({"", "?", "-", "na", "n/a", "#n/a", "nan", "null", "none", "missing"})

#: Signs and units that a number may have. Single letters only follow a space: "1A" is a seat.
_SIGNS = "%|‰|°C|°F|[$€£¥₹]"
_UNITS = (
    "mm|cm|dm|m|km|in|ft|mi|µg|mg|g|kg|oz|lb|lbs|ml|cl|dl|l|L|µs|ms|s|sec|min|h|hr|hrs|days|months|"
    "years|yrs|kW|kWh|Hz|kHz|MHz|GHz|Pa|hPa|bar|kB|MB|GB|TB|kcal|cal|kJ|USD|EUR|GBP|CHF"
)
_THOUSANDS = r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"
_WITH_UNIT = re.compile(
    r"(?P<sign>[+-])?(?:(?P<before>[$€£¥₹]|USD|EUR|GBP|CHF)\s?(?P<sign2>[+-])?)?"
    rf"(?P<number>{_THOUSANDS}|\d+(?:[.,]\d+)?|[.,]\d+)"
    rf"(?:\s?(?P<after>{_SIGNS}|{_UNITS})|\s(?P<letter>[AVKJWdt]))?",
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
#: Marks between thousands that cannot be anything else: 1'200 and 1 200 with a protected space.
_CLEAR_MARKS = re.compile(r"(?<=\d)['\u2019\u00a0\u202f](?=\d{3}(?!\d))")
_WITH_THOUSANDS = re.compile(rf"[+-]?{_THOUSANDS}")


def meaning_of_commas(cells: Any) -> Literal["decimal", "thousands", "either", ""]:
    """Return what the commas in the numbers of a column can be.

    Parameters
    ----------
    cells : ndarray (n,)
        Numbers, or objects of which some are texts.

    Returns
    -------
    str
        ``decimal`` if a number such as ``1,20`` has a decimal comma, all cells can be read so, and
        none has a decimal point. ``thousands`` if a number such as ``1,200,000`` has commas between
        thousands. ``either`` if all commas are as in ``1,200``. Empty otherwise.

    Notes
    -----
    O(n).
    """
    if cells.dtype != object:
        return ""
    texts = {cell for cell in cells if isinstance(cell, str) and "," in cell}
    numbers = []
    for text in texts:
        number = _number_in(text)
        if not number:
            return ""
        numbers.append(number)
    if not numbers:
        return ""
    thousands = [re.fullmatch(_THOUSANDS, number) is not None for number in numbers]
    if all(thousands):
        sure = any("." in number or number.count(",") > 1 for number in numbers)
        return "thousands" if sure else "either"
    if any(number.count(",") > 1 for number in numbers):
        return ""
    if any("." in cell for cell in cells if isinstance(cell, str)):
        return ""
    unread = np.flatnonzero(np.isnan(parse(cells, ";")))
    return "decimal" if all(is_missing(cells[row]) for row in unread.tolist()) else ""


def _number_in(text: str) -> str:
    """Return "1,20" for "1,20", "-1,20" and "1,20 €", and "" for a text that is no number."""
    text = text.strip().replace("\u2212", "-")
    found = _WITH_UNIT.fullmatch(text)
    if found is not None:
        return found["number"]
    return text.lstrip("+-") if _DECIMAL_COMMA.fullmatch(text) else ""


def parse(cells: Any, separator: str) -> Float:
    """Read the numbers of a column.

    Parameters
    ----------
    cells : ndarray (n,)
        Numbers, or objects of which some are texts.
    separator : str
        The separator of the table. Decimal commas are read unless it is a comma.

    Returns
    -------
    float64 (n,)
        NaN where a cell is missing or not a number. Texts are numbers if all of them are, with the
        same sign or unit: ``$5``, ``1,200 €``, ``20 cm``. A percentage is read as it stands. So
        are texts with marks between thousands: ``1'200``, and ``1,200`` in a table with commas.
    """
    if cells.dtype != object:
        return np.asarray(cells, dtype=np.float64)
    values = _to_numbers(cells)
    words = [row for row in np.flatnonzero(np.isnan(values)).tolist() if not is_missing(cells[row])]
    plain = _without_thousands([str(cells[row]) for row in words], separator)
    if any(plain):
        cells = cells.copy()
        cells[words] = [text or cells[row] for row, text in zip(words, plain, strict=True)]
        values[words] = _to_numbers(cells[words])
    if separator != ",":
        unparsed = np.flatnonzero(np.isnan(values))
        with_points = [_with_decimal_point(cells[row]) for row in unparsed.tolist()]
        if any(with_points):
            values[unparsed] = _to_numbers(np.array(with_points, dtype=object))
    unparsed = np.flatnonzero(np.isnan(values))
    texts = [row for row in unparsed.tolist() if not is_missing(cells[row])]
    amounts = _parse_with_unit(cells[texts], separator) if texts else None
    if amounts is not None:
        values[texts] = amounts
    return values


def _parse_with_unit(cells: Any, separator: str) -> Float | None:
    """Read texts that are all numbers with the same sign or unit; None if they are not.

    A comma is a decimal comma, or, if the table's separator is a comma, one between thousands.
    """
    found = [_WITH_UNIT.fullmatch(str(cell).strip().replace("\u2212", "-")) for cell in cells]
    matches = [each for each in found if each is not None]
    units = {(each["before"] or "", each["after"] or each["letter"] or "") for each in matches}
    if len(matches) < len(found) or len(units) != 1 or units == {("", "")}:
        return None
    values = []
    for each in matches:
        number = each["number"]
        if separator != "," and number.count(",") == 1 and "." not in number:
            number = number.replace(",", ".")
        elif "," in number and not re.fullmatch(_THOUSANDS, number):
            return None
        sign = "-" if "-" in (each["sign"], each["sign2"]) else ""
        values.append(float(sign + number.replace(",", "")))
    return np.array(values, np.float64)


def _to_numbers(cells: Any) -> Float:
    import pandas as pd  # slow to import, and only tables need it

    # For a few cells, making a pandas.Series takes longer than reading them.
    return np.array(pd.to_numeric(np.asarray(cells, dtype=object), errors="coerce"), np.float64)


def _without_thousands(texts: list[str], separator: str) -> list[str]:
    """Return "1200" for "1,200" and "1'200", and "" for other texts.

    If the table's separator is not a comma, commas are between thousands only where one of the
    texts has two commas: "1,200" alone is a decimal comma.
    """
    texts = [text.strip().replace("\u2212", "-") for text in texts]
    commas = [text for text in texts if "," in text]
    thousands = separator == "," or (
        any(text.count(",") > 1 for text in commas) and all(map(_WITH_THOUSANDS.fullmatch, commas))
    )
    found = []
    for text in texts:
        plain = _CLEAR_MARKS.sub("", text)
        if thousands and _WITH_THOUSANDS.fullmatch(text):
            plain = text.replace(",", "")
        found.append(plain if plain != text else "")
    return found


def _with_decimal_point(cell: Any) -> str:
    """Return "1.5" for "1,5", and "" for other cells."""
    return (
        cell.replace(",", ".") if isinstance(cell, str) and _DECIMAL_COMMA.fullmatch(cell) else ""
    )


def is_missing(cell: Any) -> bool:
    """Return True if a cell is NaN or a text that marks a missing value."""
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING_WORDS
    return isinstance(cell, float) and cell != cell


def cell_text(cell: Any) -> str:
    """Return the text of a cell (also of bytes) without spaces around it."""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace").strip()
    return cell_string(cell).strip()


def cell_string(cell: Any) -> str:
    """Return a cell as a string; whole numbers without a fraction: 3, not 3.0."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return "" if isinstance(cell, float) and cell != cell else str(cell)


def quote(text: str) -> str:
    """Return a text in quotes for a message, shortened to 40 characters."""
    short = text if len(text) <= 40 else text[:37] + "..."
    return repr(" ".join(short.split()))


def unused_name(name: str, used: dict[str, Any]) -> str:
    """Return ``name``, or ``name (2)``, ``name (3)``, ... if it is used already."""
    found, k = name, 2
    while found in used:
        found, k = f"{name} ({k})", k + 1
    return found


__all__ = [
    "MAX_NUMBER", "MISSING_WORDS", "cell_string", "cell_text", "is_missing", "meaning_of_commas",
    "parse", "quote", "unused_name",
]  # fmt: skip
