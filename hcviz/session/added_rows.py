"""``AddedRows``: rows of a second table that a person added to the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hcviz.core.errors import InvalidData
from hcviz.core.text import count_noun, join_names

#: Names in a sentence, at most.
MAX_NAMES = 5


@dataclass(frozen=True)
class AddedRows:
    """Rows that follow those of the data.

    The cells are kept as texts, not as features. So the rows can be read again after columns were
    switched on or off.

    Attributes
    ----------
    filename : str
        The file that the rows come from.
    columns : tuple of str
        Names of the columns.
    labels : tuple of str
        Names of the new items.
    cells : tuple of tuple of str
        A row for each item, with a cell for each column; "" where missing.
    separator : str
        The separator of the file, which tells whether it may have decimal commas.

    Raises
    ------
    InvalidData
        If a row has another number of cells, or a name is missing or occurs twice.
    """

    filename: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    separator: str = ","

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.cells}
        if len(self.cells) != len(self.labels) or widths - {len(self.columns)}:
            raise InvalidData(f"The rows added from {self.filename!r} do not fit their columns.")
        if not all(self.labels) or len(set(self.labels)) < len(self.labels):
            raise InvalidData(f"The rows added from {self.filename!r} need different names.")

    def chosen(self, rows: Sequence[int]) -> AddedRows:
        """Return some of the rows, in this order."""
        return AddedRows(
            self.filename,
            self.columns,
            tuple(self.labels[row] for row in rows),
            tuple(self.cells[row] for row in rows),
            self.separator,
        )

    def by_column(self) -> Mapping[str, Any]:
        """Return the cells of each column, an array of str."""
        return {
            name: np.array([row[k] for row in self.cells], dtype=object)
            for k, name in enumerate(self.columns)
        }


def check_new(rows: AddedRows, labels: Sequence[str]) -> None:
    """Raise InvalidData if rows have names that these items have."""
    known = set(labels)
    names = [label for label in rows.labels if label in known]
    if names:
        verb = "is" if len(names) == 1 else "are"
        raise InvalidData(
            f"{count_noun(len(names), 'new item')} {verb} in the data already: "
            f"{join_names(names, MAX_NAMES)}.",
            "Rename these rows, or leave them out.",
        )


__all__ = ["AddedRows", "check_new"]
