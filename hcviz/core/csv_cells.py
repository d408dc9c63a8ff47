"""CSV text that is safe to open in a spreadsheet, and the cells as they were.

A spreadsheet computes a cell that begins with ``=``, ``+``, ``-`` or ``@``, also if it is the name
of an item. Such a cell is written with an apostrophe before it. Readers remove it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

#: A text that a spreadsheet may compute, or an escaped one. The wide forms are those of East Asian
#: keyboards.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def escape_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet computes. Plain numbers stay as they are.

    Examples
    --------
    >>> escape_cell("=1+1"), escape_cell("-0.5"), escape_cell("owl")
    ("'=1+1", '-0.5', 'owl')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unescape_cell(cell: str) -> str:
    """Return the text that :func:`escape_cell` wrote as this cell.

    Examples
    --------
    >>> unescape_cell("'=1+1"), unescape_cell("'t Hooft")
    ('=1+1', "'t Hooft")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def write_csv(rows: Iterable[Iterable[Any]], line_end: str = "\r\n") -> str:
    """Return rows as CSV text. Texts are escaped, None is an empty cell.

    Notes
    -----
    O(characters). All cells are quoted if one has a carriage return, since Python's writer does not
    quote that character.
    """
    table = [[escape_cell(each) if isinstance(each, str) else each for each in row] for row in rows]
    text = io.StringIO(newline="")
    returns = any(isinstance(each, str) and "\r" in each for row in table for each in row)
    if returns:
        csv.writer(text, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows(table)
    else:
        csv.writer(text, lineterminator=line_end).writerows(table)
    return text.getvalue()


__all__ = ["escape_cell", "unescape_cell", "write_csv"]
