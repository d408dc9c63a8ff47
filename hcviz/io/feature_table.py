"""Reading of tables of features: names of the items, features, classes and pictures."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.column_kinds import ParsedColumn, TableColumn, TableSummary, is_classes
from hcviz.core.column_options import ColumnOptions, find_unknown
from hcviz.core.errors import InvalidData, InvalidParameter, TooLarge
from hcviz.core.table_columns import column_features
from hcviz.core.table_dates import DateScale
from hcviz.core.text import count_noun, is_or_are, join_names
from hcviz.datasets import Dataset
from hcviz.datasets.pictures import thumbnail
from hcviz.io.cells import (
    cell_string,
    cell_text,
    is_missing,
    missing_cells,
    parse,
    quote,
    unused_name,
    with_first_row,
)
from hcviz.io.rawtable import MAX_CELLS, NAME_WORDS, RawTable

Float = NDArray[np.float64]
Classes = tuple[str | None, ...]


def read_features(raw: RawTable, filename: str, options: Sequence[ColumnOptions] = ()) -> Dataset:
    """Return a table of features as a data set. The cells of ``raw`` are removed.

    Raises the errors of :func:`hcviz.io.tables.read_table`.
    """
    notes = list(raw.notes)
    header, labels, columns, rows = split_names(raw, notes, is_header)
    if len(labels) < 2:
        raise InvalidData(
            "The table has only one item."
            if labels
            else "The table has no items below its header.",
            "A hierarchy needs two or more.",
        )
    unknown = find_unknown(options, header)
    if unknown:
        raise InvalidParameter(
            f"There is no column {quote(unknown)}.", f"Columns: {_listed(header)}."
        )
    reader = _Reader(raw, rows, notes, {each.name: each for each in options})
    for name, cells in zip(header, columns, strict=True):
        reader.add(name, cells)
    if not reader.features:
        raise InvalidData(
            "The table has no column of numbers or categories beside the names.",
            "Switch a column on."
            if any(each.used is False for each in options)
            else "Items are compared by features: give one or more columns. To compare texts "
            "letter by letter, open the file as sequences (File, Sequences; --kind sequences).",
        )
    _note_constant(reader.features, notes)
    array = np.column_stack(list(reader.features.values()))
    array.flags.writeable = False  # the data set then needs no copy
    names = tuple(reader.features)
    for unused_cells in (reader.features, columns, raw.columns):  # ten million cells take 80 MB
        unused_cells.clear()
    table = TableSummary(raw.format, len(labels), tuple(reader.found), raw.sheets, raw.sheet)
    if np.isnan(array).any():
        notes.append(f"{missing_cells(table.missing, table.cells)}.")
    return Dataset(
        name=Path(filename).stem or "table",
        title=filename or "Table",
        labels=tuple(labels),
        features=array,
        feature_names=names,
        feature_kinds=reader.kinds,
        feature_columns=reader.sources,
        feature_weights=reader.weights,
        strips=reader.strips,
        images=reader.images,
        provenance=describe_source(filename),
        notes=tuple(notes),
        table=table,
    )


def describe_source(filename: str) -> str:
    """Return the provenance of a table."""
    return f"Your table {filename!r}." if filename else "Your table."


class _Reader:
    """Reads columns one by one into features, strips and pictures."""

    def __init__(
        self,
        raw: RawTable,
        rows: NDArray[np.int64],
        notes: list[str],
        options: Mapping[str, ColumnOptions],
    ) -> None:
        self._raw, self._rows, self._notes, self._options = raw, rows, notes, options
        self.features: dict[str, Float] = {}
        self.kinds: list[str] = []
        self.sources: list[str] = []
        self.weights: list[float] = []
        self.strips: dict[str, Classes] = {}
        self.images: list[bytes | None] | None = None
        self.found: list[TableColumn] = []

    def add(self, name: str, cells: Any) -> None:
        """Read a column."""
        options = self._options.get(name) or ColumnOptions(name)
        if name.lower() == "image" and self.images is None:
            self._add_images(options, cells)
            return
        classes = is_classes(name, cells)
        used = options.used if options.used is not None else not classes
        strip = options.strip if options.strip is not None else classes
        column = ParsedColumn(name, cells, self._raw.separator)
        category = name in self._raw.categories
        kind = options.kind or None
        made = []
        if used or not column.n_present:
            made = column_features(column, self._rows, self._notes, kind, category)
        for key, values, what in made:
            self.features[unused_name(key, self.features)] = values
            self.kinds.append(what)
            self.sources.append(name)
            self.weights.append(options.weight)
        if len(self.features) * len(self._rows) > MAX_CELLS:
            raise TooLarge(
                f"With categories as 0/1 columns the table has more than {MAX_CELLS:,} cells.",
                "Leave out text columns with many different values.",
            )
        if strip:
            self.strips[name] = class_values(cells)
        holds = column.detect(category) if column.n_present else "empty"
        self.found.append(
            TableColumn(
                name=name,
                detected="class"
                if classes
                else "constant"
                if column.n_present and column.n_different < 2
                else holds,
                kind=kind or holds,
                used=bool(made),
                strip=strip,
                weight=options.weight,
                missing=len(self._rows) - column.n_present,
                distinct=column.n_different,
                examples=column.examples(),
                dates=DateScale.of(column.words) if made and (kind or holds) == "date" else None,
            )
        )

    def _add_images(self, options: ColumnOptions, cells: Any) -> None:
        used = options.used is not False
        missing = sum(map(is_missing, cells))
        if used:
            self.images = _images(cells, self._notes)
        n = len(self._rows) - missing
        self.found.append(
            TableColumn(options.name, "image", "image", used, False, 1.0, missing, n, ())
        )


def class_values(cells: Any) -> Classes:
    """Return the values of a column as classes; None where missing."""
    return tuple(None if is_missing(cell) else cell_string(cell) for cell in cells)


def split_names(
    raw: RawTable, notes: list[str], is_header: Callable[[RawTable], bool]
) -> tuple[list[str], list[str], list[Any], NDArray[np.int64]]:
    """Return ``(feature column names, item names, feature columns, row numbers)``.

    ``is_header`` tells whether the first row holds names of columns.
    """
    columns, rows = raw.columns, raw.rows
    if raw.names is not None:
        header = raw.names
        if len(header) < 2:
            raise InvalidData(
                "The table has only one column.",
                "Put names in the first column and features in others.",
            )
    elif is_header(raw):
        assert raw.first_cells is not None
        header = raw.first_cells
    else:
        columns, rows = with_first_row(raw)
        header = [f"column {k + 1}" for k in range(len(columns))]
        notes.append("The first row holds values, so columns are named by their numbers.")
        if not np.isnan(parse(columns[0], raw.separator)).any():
            notes.append("No column holds names, so items are named by their row numbers.")
            return header, [f"row {row}" for row in rows], columns, rows
    header = _column_names(header, notes)
    labels = [cell_text(cell) for cell in columns[0]]
    seen: dict[str, int] = {}
    for label, row in zip(labels, rows.tolist(), strict=True):
        if not label:
            raise InvalidData(
                f"Row {row} has no name in the first column.", "Give every item a name."
            )
        if label in seen:
            raise InvalidData(
                f"The name {quote(label)} occurs twice, in rows {seen[label]} and {row}.",
                "The first column must give each item a different name.",
            )
        seen[label] = row
    return header[1:], labels, columns[1:], rows


def is_header(raw: RawTable) -> bool:
    """Return True if the first row holds names of columns rather than values.

    It does not if it has a number above each column of numbers, with two exceptions: its first cell
    is empty or a word such as "name", or all these numbers are years.
    """
    assert raw.first_cells is not None
    if not raw.rows.size:
        return True
    first = parse(np.array(raw.first_cells, dtype=object), raw.separator)[1:]
    body = [parse(cells[:100], raw.separator) for cells in raw.columns[1:]]  # enough rows
    numeric = [k for k, values in enumerate(body) if np.mean(~np.isnan(values)) > 0.5]
    over = first[numeric]
    if not numeric or np.isnan(over).any():
        return True
    years = bool(np.all((over >= 1000) & (over < 3000) & (over == np.floor(over))))
    different = len(np.unique(over)) == len(over)
    return raw.first_cells[0].lower() in {"", *NAME_WORDS} or (
        years and different and len(over) > 1
    )


def _column_names(header: Sequence[str], notes: list[str]) -> list[str]:
    """Return distinct names of the columns. The first is the column of names."""
    features: dict[str, None] = {}
    again: list[str] = []
    for k, name in enumerate(header):
        plain = name.strip() or f"column {k + 1}"
        if plain in features:
            again.append(plain)
            plain = unused_name(f"{plain} (column {k + 1})", features)
        features[plain] = None
    if again:
        listed = _listed(list(dict.fromkeys(again)))
        notes.append(f"Several columns are named {listed}; later ones get their number.")
    return list(features)


def _note_constant(features: dict[str, Float], notes: list[str]) -> None:
    flat = [name for name, v in features.items() if len(np.unique(v[~np.isnan(v)])) < 2]
    if len(flat) == len(features):
        raise InvalidData(
            "All columns are constant: every item has the same values.",
            "Give features in which the items differ.",
        )
    if flat:
        notes.append(f"{_listed(flat)} {is_or_are(len(flat))} the same for all items.")


def _listed(names: Sequence[str]) -> str:
    """Return the first five names, quoted, and the number of others."""
    return join_names([quote(name) for name in names[:5]], 5, len(names))


def _images(cells: Any, notes: list[str]) -> list[bytes | None]:
    """Return pictures from data URIs or bytes. No address or file name is opened."""
    pictures: list[bytes | None] = []
    refused = 0
    for cell in cells:
        content = cell if isinstance(cell, bytes) else _from_data_uri(cell_text(cell))
        picture = None
        if content:
            try:
                picture = thumbnail(content)
            except InvalidData:
                picture = None
        refused += picture is None and not is_missing(cell)
        pictures.append(picture)
    if refused:
        notes.append(
            f"{count_noun(refused, 'cell')} of the image column {is_or_are(refused)} not a picture."
            " Give data URIs (data:image/png;base64,...) of PNG, JPEG, GIF or WebP."
        )
    return pictures


def _from_data_uri(text: str) -> bytes | None:
    head, comma, body = text.partition(",")
    if not comma or not head.lower().startswith("data:image/") or not head.endswith(";base64"):
        return None
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None


__all__ = ["class_values", "describe_source", "is_header", "read_features", "split_names"]
