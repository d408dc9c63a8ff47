"""What the readers of tables use of cells, and the first row as one of the items."""

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
from hcviz.io.rawtable import RawTable, count


def with_first(raw: RawTable) -> tuple[list[Any], NDArray[np.int64]]:
    """The columns with the first row as one of the items."""
    assert raw.first is not None
    columns = [
        np.concatenate([np.array([cell], dtype=object), cells])
        for cell, cells in zip(raw.first, raw.columns, strict=True)
    ]
    return columns, np.concatenate([[raw.first_row], raw.rows])


def are(number: int) -> str:
    return "is" if number == 1 else "are"


__all__ = [
    "MAX_NUMBER",
    "are",
    "cell_string",
    "cell_text",
    "count",
    "is_missing",
    "parse",
    "quote",
    "unused_name",
    "with_first",
]
