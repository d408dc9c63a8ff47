"""Users' tables: from a file to a :class:`hcviz.datasets.Dataset`, or one sentence why not.

The first column holds the items' names, each other column a feature, each row an item. What a
sentence calls row 1 is the file's first row, so that people find it in their spreadsheet.
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
from hcviz.io.answers import dataset_of_answers, like_answers
from hcviz.io.arrays import is_array, read_array
from hcviz.io.cardsort import is_card_sort, read_card_sort
from hcviz.io.cells import (
    are,
    cell_string,
    cell_text,
    count,
    is_missing,
    parse,
    quote,
    unused_name,
    with_first,
)
from hcviz.io.comparison_csv import HEADERS, is_answers
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
    """A user's CSV, TSV or Parquet file, or NumPy array of features, as a data set.

    ``content`` is the file's bytes, or a path to it. ``kind`` says what the numbers are.

    ``features``: numbers (with ``;`` or tabs between cells a decimal comma is understood), yes/no
    or true/false (one 0/1 column), or categories: at most 50 different texts, each a 0/1 column
    called ``column=value``. Empty cells, ``NA``, ``?`` and the like are missing (NaN; in every
    column of a category). A column called class, label or species becomes classes; one called
    ``image`` pictures (PNG, JPEG, GIF or WebP as data URIs, or bytes in Parquet; redrawn small).
    ``similarity``, ``distance``: a square symmetric matrix whose rows and columns are the items,
    names in the first row, the first column, both or neither; a distance d is kept as it is for
    what wants distances, and becomes the similarity (max d - d) / max d for all else.

    ``comparisons``, and whatever ``features`` whose header says that they are answers
    (``anchor,near,far`` and so on: :mod:`hcviz.io.comparison_csv`): items with comparisons.

    Whatever ``features`` with columns participant, card and pile are a card sort
    (:mod:`hcviz.io.cardsort`): cards with the share of participants that put them on one pile.

    ``sequences``, and whatever ``features`` whose name ends in ``.fasta``, ``.fa`` and so on: texts
    compared by edit distance as they are asked for (:class:`hcviz.StringOracle`): FASTA, plain text
    with one a line, or a table of names and texts.

    What was decided on the way stands in ``notes``: columns left out, columns that never vary
    (kept), the encoding, a table without a header.

    Limits: 256 MB, 1,000,000 rows, 10,000 columns, 10 million cells (arrays: 100,000 columns, 64
    million cells), 2,000 cards of a card sort.
    Raises :class:`TooLarge`, :class:`InvalidParameter` for an unknown kind, and
    :class:`InvalidData` for all else: one sentence with row and column.
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
        return _sequences(bytes(content), filename)
    raw = read_raw(bytes(content), filename)
    if kind == "features" and is_card_sort(raw):
        return read_card_sort(raw, filename)
    if kind == "features":
        try:
            return _features(raw, filename)
        except InvalidData as fault:
            if not like_answers(raw):
                raise
            hint = f"If its rows are answers, it lacks a header. {HEADERS}"
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
    """A pandas DataFrame as a data set, as :func:`read_table` reads a table of features.

    The index holds the items' names. Raises what :func:`hcviz.core.dataframes.cells_of_frame` and
    :func:`read_table` do.
    """
    table = cells_of_frame(frame)
    labels = np.array(table.labels, dtype=object)
    raw = RawTable(
        [labels, *table.cells],
        np.array([quote(label) for label in table.labels], dtype=object),
        names=["\0index", *table.names],  # the first is never shown, and no column has it
        categories=table.categories,
    )
    data = _features(raw, title)
    return replace(data, name=title, provenance="Given as a DataFrame.")


def _read_file(path: Path, filename: str) -> tuple[bytes, str]:
    try:
        with path.open("rb") as file:
            return file.read(MAX_UPLOAD_BYTES + 1), filename or path.name
    except OSError as fault:
        raise InvalidData(
            f"The file {path} cannot be read: {fault.strerror or 'it is no file'}.",
            "Check its name and folder.",
        ) from None


def _provenance(filename: str) -> str:
    return f"Your table {filename!r}." if filename else "Your table."


# ---------------------------------------------------------------------- sequences


def _sequences(content: bytes, filename: str) -> Dataset:
    notes: list[str] = []
    strips: dict[str, tuple[str | None, ...]] = {}
    labels: Sequence[str]
    if is_table(content, filename):
        raw = read_raw(content, filename)
        notes += raw.notes
        header, labels, columns, rows = _named(raw, notes, first_is_header)
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
    """The columns that are classes."""
    return {
        name: tuple(None if is_missing(cell) else cell_string(cell) for cell in column)
        for name, column in cells.items()
        if is_classes(name, column)
    }


# ---------------------------------------------------------------------- features


def _features(raw: RawTable, filename: str) -> Dataset:
    notes = list(raw.notes)
    header, labels, columns, rows = _named(raw, notes, _is_header)
    if len(labels) < 2:
        raise InvalidData(
            "The table has only one item."
            if labels
            else "The table has no items below its header.",
            "A hierarchy needs two or more.",
        )
    made: dict[str, Float] = {}
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
            made[unused_name(key, made)] = values
            kinds.append(what)
        if len(made) * len(labels) > MAX_CELLS:
            raise TooLarge(
                f"With categories as 0/1 columns the table has more than {MAX_CELLS:,} cells.",
                "Leave out text columns with many different values.",
            )
    if not made:
        raise InvalidData(
            "The table has no column of numbers or categories beside the names.",
            "Features are what items are compared by: give one column or more. If its texts are to "
            "be compared letter by letter, say that it holds sequences (File, Sequences; --kind "
            "sequences).",
        )
    _note_constant(made, notes)
    array = np.column_stack(list(made.values()))
    array.flags.writeable = False  # so that the data set needs no copy
    names = tuple(made)
    for held in (made, columns, raw.columns):  # ten million cells take 80 MB
        held.clear()
    gaps = int(np.isnan(array).sum())
    if gaps:
        notes.append(f"{count(gaps, 'cell')} of {array.size:,} {are(gaps)} missing.")
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


def _named(
    raw: RawTable, notes: list[str], is_header: Callable[[RawTable], bool]
) -> tuple[list[str], list[str], list[Any], NDArray[np.int64]]:
    """``(feature column names, item names, feature columns, row numbers)``."""
    columns, rows = raw.columns, raw.rows
    if raw.names is not None:
        header = raw.names
        if len(header) < 2:
            raise InvalidData(
                "The table has only one column.", "Names go in the first, features in further ones."
            )
    elif is_header(raw):
        assert raw.first is not None
        header = raw.first
    else:
        columns, rows = with_first(raw)
        header = [f"column {k + 1}" for k in range(len(columns))]
        notes.append("The first row holds values, so columns are called by their numbers.")
        if not np.isnan(parse(columns[0], raw.separator)).any():
            notes.append("No column holds names, so items are called by their row numbers.")
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
                f"The name {quote(label)} stands twice, in rows {seen[label]} and {row}.",
                "The first column must give every item a name of its own.",
            )
        seen[label] = row
    return header[1:], labels, columns[1:], rows


def _is_header(raw: RawTable) -> bool:
    """Whether the first row names the columns rather than holding values.

    It does unless it has a number over each column of numbers (and there is one). Then it still
    does where its first cell says "name" or is empty, or where all those numbers are years.
    """
    assert raw.first is not None
    if not raw.rows.size:
        return True
    first = parse(np.array(raw.first, dtype=object), raw.separator)[1:]
    body = [parse(cells[:100], raw.separator) for cells in raw.columns[1:]]  # enough to tell
    numeric = [k for k, values in enumerate(body) if np.mean(~np.isnan(values)) > 0.5]
    over = first[numeric]
    if not numeric or np.isnan(over).any():
        return True
    years = bool(np.all((over >= 1000) & (over < 3000) & (over == np.floor(over))))
    different = len(np.unique(over)) == len(over)
    return raw.first[0].lower() in {"", *NAME_WORDS} or (years and different and len(over) > 1)


def _column_names(header: Sequence[str], notes: list[str]) -> list[str]:
    """Every column with a name of its own; the first is the names' column."""
    made: dict[str, None] = {}
    again: list[str] = []
    for k, name in enumerate(header):
        plain = name.strip() or f"column {k + 1}"
        if plain in made:
            again.append(plain)
            plain = unused_name(f"{plain} (column {k + 1})", made)
        made[plain] = None
    if again:
        listed = _listed(list(dict.fromkeys(again)))
        notes.append(f"Several columns are called {listed}; later ones carry their number.")
    return list(made)


def _note_constant(made: dict[str, Float], notes: list[str]) -> None:
    flat = [name for name, v in made.items() if len(np.unique(v[~np.isnan(v)])) < 2]
    if len(flat) == len(made):
        raise InvalidData(
            "No column varies: every item has the same values.",
            "Give features in which the items differ.",
        )
    if flat:
        verb = "never varies and tells" if len(flat) == 1 else "never vary and tell"
        notes.append(f"{_listed(flat)} {verb} no items apart.")


def _listed(names: Sequence[str]) -> str:
    """The first few of them, quoted."""
    return join_names([quote(name) for name in names[:5]], 5, len(names))


def _images(cells: Any, notes: list[str]) -> list[bytes | None]:
    """Pictures from data URIs or bytes; nothing is ever fetched or opened by name."""
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
            f"{count(refused, 'cell')} of the image column {are(refused)} no picture; give data "
            "URIs (data:image/png;base64,...) of PNG, JPEG, GIF or WebP."
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
