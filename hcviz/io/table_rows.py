"""Reading of new rows of a table, whose columns another table interprets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hcviz.core.errors import InvalidData
from hcviz.io.feature_table import is_header, split_names
from hcviz.io.rawtable import read_raw


@dataclass(frozen=True)
class TableColumns:
    """A table whose columns are not interpreted yet.

    Attributes
    ----------
    labels : names of the rows
    columns : cells of each column, by its name
    separator : character between two cells
    notes : sentences about decisions of the reader
    """

    labels: tuple[str, ...]
    columns: dict[str, Any]
    separator: str
    notes: tuple[str, ...]


def read_columns(content: bytes, filename: str) -> TableColumns:
    """Read the cells of a CSV, TSV or Parquet file; the first column has the names.

    Raises
    ------
    InvalidData
        If the file cannot be read, or has no rows.
    """
    raw = read_raw(content, filename)
    notes = list(raw.notes)
    header, labels, columns, _ = split_names(raw, notes, is_header)
    if not labels:
        raise InvalidData(f"{filename} has no rows below its header.", "Add a row for each item.")
    cells = dict(zip(header, columns, strict=True))
    return TableColumns(tuple(labels), cells, raw.separator, tuple(notes))


__all__ = ["TableColumns", "read_columns"]
