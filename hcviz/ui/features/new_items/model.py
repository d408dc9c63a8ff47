"""``NewItems``: the items of a second table, with their places in the groups."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hcviz.core.text import count_noun, join_names
from hcviz.core.tree import Tree
from hcviz.datasets import Dataset
from hcviz.session.added_rows import AddedRows, check_new
from hcviz.session.offered_items import OfferedItems
from hcviz.taxonomy import Group, Taxonomy
from hcviz.taxonomy.new_items import PlacedItems, place_columns

#: Items with at least this probability can be accepted together.
LIKELY = 0.9
#: Names in a sentence, at most.
MAX_NAMES = 5


@dataclass(frozen=True, eq=False)
class NewItems:
    """New items, and what the person decided about them.

    Accepted items are those that the session has. So undo puts them back in the list.

    Attributes
    ----------
    rows : AddedRows
        The rows of the file.
    found : PlacedItems
        Their places, in the order of the rows.
    notes : tuple of str
        Sentences about the file, its columns and repeated names.
    groups : tuple of Group
        The groups of the session when the items were placed.
    n_items : int
        The number of items that the session had then.
    dismissed : frozenset of int
        Rows that the person left out.
    chosen : mapping of int to str
        The id of the group that the person chose for a row; "" for none.
    """

    rows: AddedRows
    found: PlacedItems
    notes: tuple[str, ...]
    groups: tuple[Group, ...]
    n_items: int
    dismissed: frozenset[int] = frozenset()
    chosen: Mapping[int, str] = field(default_factory=dict)

    def undecided(self, labels: Collection[str]) -> list[int]:
        """Return the rows that are neither dismissed nor among the items."""
        known = set(labels)
        return [
            row
            for row, label in enumerate(self.rows.labels)
            if label not in known and row not in self.dismissed
        ]

    def group_of(self, row: int, groups: Sequence[Group]) -> str:
        """Return the id of the group for a row: the chosen one, else the innermost of its path.

        Groups that were removed meanwhile do not count. "" for none.
        """
        present = {group.id for group in groups}
        if self.chosen.get(row, None) in {*present, ""}:
            return self.chosen[row]
        path = [group.id for group in self.found.items[row].path if group.id in present]
        return path[-1] if path else ""

    def likely(self, labels: Collection[str], groups: Sequence[Group]) -> list[int]:
        """Return the rows whose own group has a probability of at least ``LIKELY``.

        Rows that fit nowhere, or whose group the person chose, are left out.
        """
        present = {group.id for group in groups}
        return [
            row
            for row in self.undecided(labels)
            if (item := self.found.items[row]).probability >= LIKELY
            and not item.is_unplaced
            and row not in self.chosen
            and item.path[-1].id in present
        ]

    def choose(self, row: int, group: str) -> NewItems:
        """Return the same with another group for a row."""
        return replace(self, chosen={**self.chosen, row: group})

    def dismiss(self, row: int) -> NewItems:
        """Return the same without a row."""
        return replace(self, dismissed=self.dismissed | {row})

    def with_decisions_of(self, before: NewItems) -> NewItems:
        """Return the same with the decisions that were made about an earlier list."""
        return self._decided(before.rows.labels, before.dismissed, before.chosen)

    def with_decisions(self, offered: OfferedItems) -> NewItems:
        """Return the same with the decisions that the session has."""
        return self._decided(offered.rows.labels, offered.dismissed, dict(offered.chosen))

    def _decided(
        self, labels: Sequence[str], dismissed: Iterable[int], chosen: Mapping[int, str]
    ) -> NewItems:
        """Return the same with decisions about rows that had these labels; others are dropped."""
        row = {label: k for k, label in enumerate(self.rows.labels)}
        return replace(
            self,
            dismissed=frozenset(row[labels[k]] for k in dismissed if labels[k] in row),
            chosen={row[labels[k]]: group for k, group in chosen.items() if labels[k] in row},
        )

    def with_dismissed(self) -> NewItems:
        """Return the same with the dismissed rows."""
        return replace(self, dismissed=frozenset())


def place_rows(
    rows: AddedRows,
    notes: Sequence[str],
    data: Dataset,
    labels: tuple[str, ...],
    groups: tuple[Group, ...],
) -> NewItems:
    """Place the rows that are not among the items.

    Raises
    ------
    InvalidData
        If all names are in the data already, or the columns do not fit.
    """
    known = set(labels)
    added = [row for row, label in enumerate(rows.labels) if label not in known]
    if not added:
        check_new(rows, labels)
    repeated = [label for label in rows.labels if label in known]
    sentences = list(notes)
    if repeated:
        verb = "is" if len(repeated) == 1 else "are"
        sentences.append(
            f"{count_noun(len(repeated), 'item')} {verb} in the data already and left out: "
            f"{join_names(repeated, MAX_NAMES)}."
        )
    rows = rows.chosen(added)
    taxonomy = Taxonomy(labels, Tree.star(len(labels)), groups)
    found = place_columns(data, taxonomy, rows.labels, rows.by_column(), rows.separator)
    return NewItems(rows, found, (*sentences, *found.notes), groups, len(labels))


__all__ = ["LIKELY", "NewItems", "place_rows"]
