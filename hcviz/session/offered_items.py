"""``OfferedItems``: the rows of a second table that a person has not decided about yet."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.core.errors import InvalidData
from hcviz.session.added_rows import AddedRows


@dataclass(frozen=True)
class OfferedItems:
    """New items and the decisions about them. They are not in the undo stack, as no tree changes.

    Attributes
    ----------
    rows : AddedRows
        The new items. Accepted ones are also among the items of the session.
    notes : tuple of str
        Sentences about the file.
    dismissed : tuple of int
        Rows that the person left out.
    chosen : tuple of (int, str)
        Rows whose group the person chose, each with the id of the group; "" for none.

    Raises
    ------
    InvalidData
        If a decision is about a row that does not exist.
    """

    rows: AddedRows
    notes: tuple[str, ...] = ()
    dismissed: tuple[int, ...] = ()
    chosen: tuple[tuple[int, str], ...] = ()

    def __post_init__(self) -> None:
        decided = (*self.dismissed, *(row for row, _ in self.chosen))
        if not all(0 <= row < len(self.rows.labels) for row in decided):
            raise InvalidData("A decision about new items is not about one of them.")


__all__ = ["OfferedItems"]
