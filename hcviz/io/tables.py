"""Reading of users' tables as :class:`hcviz.datasets.Dataset`.

Each row is an item. The first column holds names, each other column a feature. In messages, row 1
is the first row of the file, as in a spreadsheet.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hcviz.core.dataframes import cells_of_frame
from hcviz.core.errors import InvalidData, InvalidParameter, TooLarge
from hcviz.core.similarity_oracles import StringOracle
from hcviz.core.table_columns import column_features, is_classes
from hcviz.core.text import join_names
from hcviz.datasets import Dataset
from hcviz.datasets.pictures import thumbnail
from hcviz.io.answers import dataset_of_answers, resembles_answers
from hcviz.io.arrays import is_array, read_array
from hcviz.io.card_sort import is_card_sort, read_card_sort
from hcviz.io.cells import (
    cell_string,
    cell_text,
    is_missing,
    is_or_are,
    parse,
    pluralize,
    quote,
    unused_name,
    with_first_row,
)
from hcviz.io.comparison_csv import HEADER_HINT, is_answers
from hcviz.io.matrices import read_matrix
from hcviz.io.rawtable import MAX_CELLS, MAX_ROWS, MAX_UPLOAD_BYTES, NAME_WORDS, RawTable, read_raw
from hcviz.io.sequences import (
    check_count,
    first_is_header,
    is_fasta,
    is_table,
    read_texts,
    text_column,
)

Float = NDArray[np.float64]
TableKind = Literal["features", "similarity", "distance", "comparisons", "sequences"]


def read_table(
    content: bytes | str | PathLike[str], filename: str = "", kind: TableKind = "features"
) -> Dataset:
    """Read a CSV, TSV or Parquet file, or a NumPy array of features, as a data set.

    Parameters
    ----------
    content : the file's bytes, or a path to it
    filename : the file's name, for titles and messages
    kind : what the file holds, see Notes

    Returns
    -------
    Dataset
        The items and their data. Its ``notes`` are sentences about decisions of the reader:
        ignored columns, constant columns (kept), the encoding, a missing header.

    Raises
    ------
    TooLarge
        Above 256 MB, 1,000,000 rows, 10,000 columns, 10 million cells (arrays: 100,000 columns,
        64 million cells), or 2,000 cards of a card sort.
    InvalidParameter
        If the kind is unknown.
    InvalidData
        If the file cannot be read. The message has row and column.

    Notes
    -----
    ``features`` : each column has numbers, yes/no or true/false (one 0/1 column), or categories: at
        most 50 distinct texts, each a 0/1 column named ``column=value``. If ``;`` or tabs separate
        the cells, numbers may have decimal commas. Empty cells, ``NA``, ``?`` and similar are
        missing (NaN; for a category, in all its columns). Columns named class, label or species
        become classes. A column named ``image`` holds pictures (PNG, JPEG, GIF or WebP as data
        URIs, or bytes in Parquet), which are features small.
    ``similarity``, ``distance`` : a square symmetric matrix whose rows and columns are the items.
        Names are in the first row, the first column, both or neither. Methods for distances get
        each distance d; all others get the similarity (max d - d) / max d.
    ``comparisons`` : answers with a header such as ``anchor,near,far``
        (:mod:`hcviz.io.comparison_csv`).
    ``sequences`` : texts in FASTA, plain text with one per line, or a table of names and texts.
        Methods query their edit distances (:class:`hcviz.StringOracle`).

    The default ``features`` also reads answers, card sorts (columns participant, card and pile:
    :mod:`hcviz.io.card_sort`), FASTA files and NumPy arrays, which it recognizes by header or name.

    Examples
    --------
    >>> from hcviz.io.tables import read_table
    >>> data = read_table(b"name,legs,wings\\nbee,6,yes\\nant,6,no\\nspider,8,no\\n")
    >>> data.labels
    ('bee', 'ant', 'spider')
    >>> data.feature_names
    ('legs', 'wings')
    """
    if kind not in get_args(TableKind):
        raise InvalidParameter(
            f"There is no kind of table {kind!r}.", f"Known: {', '.join(get_args(TableKind))}."
        )
    if not isinstance(content, (bytes, bytearray, memoryview)):
        content, filename = _read_file(Path(content), filename)
    if kind == "comparisons" or (kind == "features" and is_answers(bytes(content))):
        return dataset_of_answers(bytes(content), filename)
    if kind == "features" and is_array(bytes(content[:8]), filename):
        return read_array(bytes(content), filename)
    if kind == "sequences" or (kind == "features" and is_fasta(filename)):
        return _read_sequences(bytes(content), filename)
    raw = read_raw(bytes(content), filename)
    if kind == "features" and is_card_sort(raw):
        return read_card_sort(raw, filename)
    if kind == "features":
        try:
            return _read_features(raw, filename)
        except InvalidData as fault:
            if not resembles_answers(raw):
                raise
            hint = f"If its rows are answers, their header is missing. {HEADER_HINT}"
            raise InvalidData(fault.message, hint) from None
    notes = list(raw.notes)
    labels, similarity, distance = read_matrix(raw, kind, notes)
    return Dataset(
        name=Path(filename).stem or "matrix",
        title=filename or f"A {kind} matrix",
        labels=labels,
        similarity=similarity,
        dissimilarity=distance,
        provenance=_provenance(filename),
        notes=tuple(notes),
    )


def read_frame(frame: Any, title: str) -> Dataset:
    """Return a pandas DataFrame as a data set, like :func:`read_table` for a table of features.

    The index holds the names of the items. It raises the errors of
    :func:`hcviz.core.dataframes.cells_of_frame` and :func:`read_table`.
    """
    table = cells_of_frame(frame)
    labels = np.array(table.labels, dtype=object)
    raw = RawTable(
        [labels, *table.cells],
        np.array([quote(label) for label in table.labels], dtype=object),
        names=["\0index", *table.names],  # not shown, and no name of a column equals it
        categories=table.categories,
    )
    data = _read_features(raw, title)
    return replace(data, name=title, provenance="Given as a DataFrame.")


def _read_file(path: Path, filename: str) -> tuple[bytes, str]:
    try:
        with path.open("rb") as file:
            return file.read(MAX_UPLOAD_BYTES + 1), filename or path.name
    except OSError as fault:
        raise InvalidData(
            f"The file {path} cannot be read: {fault.strerror or 'it is not a file'}.",
            "Check its name and folder.",
        ) from None


def _provenance(filename: str) -> str:
    return f"Your table {filename!r}." if filename else "Your table."


# ---------------------------------------------------------------------- sequences


def _read_sequences(content: bytes, filename: str) -> Dataset:
    notes: list[str] = []
    strips: dict[str, tuple[str | None, ...]] = {}
    labels: Sequence[str]
    if is_table(content, filename):
        raw = read_raw(content, filename)
        notes += raw.notes
        header, labels, columns, rows = _split_names(raw, notes, first_is_header)
        check_count(len(labels), "The table")
        cells = dict(zip(header, columns, strict=True))
        strips = _classes(cells)
        kept = {name: column for name, column in cells.items() if name not in strips}
        texts = text_column(kept, labels, rows, notes)
    else:
        labels, texts = read_texts(content, filename, notes)
    return Dataset(
        name=Path(filename).stem or "sequences",
        title=filename or "Sequences",
        labels=tuple(labels),
        strips=strips,
        oracle=StringOracle(texts),
        provenance=f"Your sequences {filename!r}." if filename else "Your sequences.",
        notes=tuple(notes),
    )


def _classes(cells: Mapping[str, Any]) -> dict[str, tuple[str | None, ...]]:
    """Return the columns that are classes."""
    return {
        name: tuple(None if is_missing(cell) else cell_string(cell) for cell in column)
        for name, column in cells.items()
        if is_classes(name, column)
    }


# ---------------------------------------------------------------------- features


def _read_features(raw: RawTable, filename: str) -> Dataset:
    notes = list(raw.notes)
    header, labels, columns, rows = _split_names(raw, notes, _is_header)
    if len(labels) < 2:
        raise InvalidData(
            "The table has only one item."
            if labels
            else "The table has no items below its header.",
            "A hierarchy needs two or more.",
        )
    features: dict[str, Float] = {}
    kinds: list[str] = []
    strips = _classes(dict(zip(header, columns, strict=True)))
    images: list[bytes | None] | None = None
    for name, cells in zip(header, columns, strict=True):
        if name.lower() == "image" and images is None:
            images = _images(cells, notes)
            continue
        if name in strips:
            continue
        category = name in raw.categories
        for key, values, what in column_features(
            name, cells, rows, raw.separator, notes, category=category
        ):
            features[unused_name(key, features)] = values
            kinds.append(what)
        if len(features) * len(labels) > MAX_CELLS:
            raise TooLarge(
                f"With categories as 0/1 columns the table has more than {MAX_CELLS:,} cells.",
                "Leave out text columns with many different values.",
            )
    if not features:
        raise InvalidData(
            "The table has no column of numbers or categories beside the names.",
            "Items are compared by features: give one or more columns. To compare texts letter by "
            "letter, open the file as sequences (File, Sequences; --kind sequences).",
        )
    _note_constant(features, notes)
    array = np.column_stack(list(features.values()))
    array.flags.writeable = False  # the data set then needs no copy
    names = tuple(features)
    for unused_cells in (features, columns, raw.columns):  # ten million cells take 80 MB
        unused_cells.clear()
    gaps = int(np.isnan(array).sum())
    if gaps:
        notes.append(f"{pluralize(gaps, 'cell')} of {array.size:,} {is_or_are(gaps)} missing.")
    return Dataset(
        name=Path(filename).stem or "table",
        title=filename or "Table",
        labels=tuple(labels),
        features=array,
        feature_names=names,
        feature_kinds=kinds,
        strips=strips,
        images=images,
        provenance=_provenance(filename),
        notes=tuple(notes),
    )


def _split_names(
    raw: RawTable, notes: list[str], is_header: Callable[[RawTable], bool]
) -> tuple[list[str], list[str], list[Any], NDArray[np.int64]]:
    """Return ``(feature column names, item names, feature columns, row numbers)``."""
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


def _is_header(raw: RawTable) -> bool:
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
            f"{pluralize(refused, 'cell')} of the image column {is_or_are(refused)} not a picture. "
            "Give data URIs (data:image/png;base64,...) of PNG, JPEG, GIF or WebP."
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


__all__ = ["MAX_ROWS", "MAX_UPLOAD_BYTES", "read_frame", "read_table"]
