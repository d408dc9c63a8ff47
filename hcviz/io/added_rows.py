"""Rows of a second table as :class:`AddedRows`, and data sets with such rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hcviz.core.errors import InvalidData
from hcviz.core.matching_rows import matching_rows
from hcviz.core.table_cells import cell_text
from hcviz.core.text import count_noun
from hcviz.datasets import Dataset
from hcviz.io.feature_table import class_values
from hcviz.io.table_rows import read_columns
from hcviz.session.added_rows import AddedRows, check_new


def read_added_rows(content: bytes, filename: str) -> tuple[AddedRows, tuple[str, ...]]:
    """Read a table of new items; return its rows, and sentences about decisions of the reader.

    Raises
    ------
    InvalidData
        If the file cannot be read, or has no rows.
    """
    table = read_columns(content, filename)
    texts = [[_text(cell) for cell in column] for column in table.columns.values()]
    cells = tuple(zip(*texts, strict=True)) if texts else ((),) * len(table.labels)
    return AddedRows(filename, tuple(table.columns), table.labels, cells, table.separator), (
        table.notes
    )


def _text(cell: object) -> str:
    return "" if isinstance(cell, bytes) else cell_text(cell)


def check_can_grow(data: Dataset) -> None:
    """Raise InvalidData if items cannot be added to the data: they need features alone."""
    if data.features is None:
        raise InvalidData(
            "Items are placed by their features, but these data have none.",
            "Open a table of features.",
        )
    measured = {
        "similarities": data.similarity,
        "distances": data.dissimilarity,
        "an oracle": data.oracle,
    }
    found = next((what for what, part in measured.items() if part is not None), None)
    if found is not None:
        raise InvalidData(
            f"These data have {found} beside their features, and a row of features lacks these.",
            "Open a table of features.",
        )


def with_rows(data: Dataset, rows: AddedRows) -> Dataset:
    """Return the data with more items at the end. What was known of the earlier items stays.

    The new items have the columns of the data. A value that a category of the data lacks is 0 in
    all its columns. Pictures and a known tree of the new items are unknown.

    Raises
    ------
    InvalidData
        If items cannot be added, a name occurs twice, or a cell of a numeric column is a text.
    """
    check_can_grow(data)
    check_new(rows, data.labels)
    columns = rows.by_column()
    names = tuple(data.feature_names or ())
    fresh = matching_rows(columns, rows.labels, names, rows.separator, [], data)
    unknown = (None,) * len(rows.labels)
    strips = {
        name: (*values, *(class_values(columns[name]) if name in columns else unknown))
        for name, values in data.strips.items()
    }
    first = next((name for name, values in data.strips.items() if values == data.classes), None)
    return replace(
        data,
        labels=(*data.labels, *rows.labels),
        features=np.concatenate([data.features, fresh]),
        classes=None if first is None else strips[first],
        strips=strips,
        images=None if data.images is None else (*data.images, *unknown),
        target=None,
        notes=(*data.notes, f"{count_noun(len(rows.labels), 'item')} added from {rows.filename}."),
        table=None
        if data.table is None
        else replace(data.table, rows=data.table.rows + len(rows.labels)),
    )


__all__ = ["check_can_grow", "read_added_rows", "with_rows"]
