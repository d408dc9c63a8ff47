"""Rows of a CSV, as both tables of a taxonomy are written and read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from hcviz.core.errors import InvalidTaxonomy


def write_rows(rows: list[list[str]]) -> str:
    """Rows as CSV. Python's writer puts no quotes around a carriage return: then all cells have
    them."""
    out = io.StringIO()
    every = any("\r" in cell for row in rows for cell in row)
    writer = csv.writer(
        out, lineterminator="\n", quoting=csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL
    )
    writer.writerows(rows)
    return out.getvalue()


def read_rows(text: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header, and each further row with its number; empty rows are left out.

    Raises :class:`InvalidTaxonomy` where the text is no CSV, and, when the rows are read, for a row
    of another length than the header.
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
            yield number, row


__all__ = ["read_rows", "write_rows"]
