"""Reading and writing of CSV rows, for both tables of taxonomies."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from hcviz.core.csv_cells import unescape_cell, write_csv
from hcviz.core.errors import InvalidTaxonomy


def write_rows(rows: list[list[str]]) -> str:
    """Return rows as CSV text."""
    return write_csv(rows, "\n")


def read_rows(text: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the header, and an iterator over the numbers and cells of the other rows.

    Empty rows are left out.

    Raises
    ------
    InvalidTaxonomy
        If the text is not CSV. The iterator raises it for a row that is not as long as the header.
    """
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as fault:
        raise InvalidTaxonomy(f"The taxonomy cannot be read as CSV: {fault}.") from None
    header = [cell.strip() for cell in rows[0]] if rows else []
    return header, _checked(rows, len(header))


def _checked(rows: list[list[str]], width: int) -> Iterator[tuple[int, list[str]]]:
    for number, row in enumerate(rows[1:], 2):
        if row and len(row) != width:
            raise InvalidTaxonomy(f"Row {number} has {len(row)} cells, but the header has {width}.")
        if row:
            yield number, [unescape_cell(cell) for cell in row]


__all__ = ["read_rows", "write_rows"]
