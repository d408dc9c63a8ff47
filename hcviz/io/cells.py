"""Functions on cells that the readers of tables share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.table_cells import (
    MAX_NUMBER,
    cell_string,
    cell_text,
    is_missing,
    parse,
    quote,
    unused_name,
)
from hcviz.core.text import count_noun, is_or_are
from hcviz.io.rawtable import RawTable


def with_first_row(raw: RawTable) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the columns and row numbers with the table's first row as an item."""
    assert raw.first_cells is not None
    columns = [
        np.concatenate([np.array([cell], dtype=object), cells])
        for cell, cells in zip(raw.first_cells, raw.columns, strict=True)
    ]
    return columns, np.concatenate([[raw.first_row], raw.rows])


def missing_cells(missing: int, cells: int) -> str:
    """Return the number of missing cells as a sentence without its full stop.

    Examples
    --------
    >>> missing_cells(1, 1200)
    '1 cell of 1,200 is missing'
    """
    return f"{count_noun(missing, 'cell')} of {cells:,} {is_or_are(missing)} missing"


__all__ = [
    "MAX_NUMBER",
    "cell_string",
    "cell_text",
    "is_missing",
    "missing_cells",
    "parse",
    "quote",
    "unused_name",
    "with_first_row",
]
