"""What commas in the numbers of a table with commas between its cells are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hcviz.core.table_cells import meaning_of_commas, quote


def has_decimal_commas(columns: Sequence[Any], notes: list[str]) -> bool:
    """Return True if the numbers of a table have decimal commas.

    Parameters
    ----------
    columns : sequence of ndarray
        The columns of cells, without the names of the items.
    notes : list of str
        A sentence is appended if commas could be read in two ways, or are decimal commas.

    Returns
    -------
    bool
        True if a column has decimal commas and no column contradicts this. One with commas between
        thousands does. So does ``1,200``, which can be read both ways, beside decimal points.

    Notes
    -----
    O(cells).
    """
    examples: dict[str, str] = {}
    for cells in columns:
        meaning = meaning_of_commas(cells)
        if meaning and meaning not in examples:
            examples[meaning] = next(
                cell for cell in cells if isinstance(cell, str) and "," in cell
            )
    if "decimal" in examples:
        if "thousands" in examples or ("either" in examples and _has_points(columns)):
            return False
        notes.append(f"Numbers have decimal commas, such as {quote(examples['decimal'])}.")
        return True
    if "either" in examples and "thousands" not in examples:
        notes.append(f"The comma in {quote(examples['either'])} is read as one between thousands.")
    return False


def _has_points(columns: Sequence[Any]) -> bool:
    """Return True if a number has a decimal point."""
    for cells in columns:
        for cell in cells:
            if isinstance(cell, float) or (
                isinstance(cell, str) and "." in cell and cell.replace(".", "", 1).isdecimal()
            ):
                return True
    return False


__all__ = ["has_decimal_commas"]
