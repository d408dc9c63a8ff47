"""Reading of users' tables as :class:`hcviz.datasets.Dataset`.

Each row is an item. The first column holds names, each other column a feature. In messages, row 1
is the first row of the file, as in a spreadsheet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, get_args

import numpy as np

from hcviz.core.column_kinds import is_classes
from hcviz.core.column_options import ColumnOptions, as_column_options
from hcviz.core.dataframes import cells_of_frame
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.similarity_oracles import StringOracle
from hcviz.datasets import Dataset
from hcviz.io.answers import dataset_of_answers, resembles_answers
from hcviz.io.arrays import is_array, read_array
from hcviz.io.card_sort import is_card_sort, read_card_sort
from hcviz.io.card_sort_forms import resembles_wide_form
from hcviz.io.cells import quote
from hcviz.io.comparison_csv import HEADER_HINT, is_answers
from hcviz.io.feature_table import class_values, describe_source, read_features, split_names
from hcviz.io.matrices import read_matrix
from hcviz.io.rawtable import MAX_ROWS, MAX_UPLOAD_BYTES, RawTable, read_raw
from hcviz.io.sequences import (
    check_count,
    first_is_header,
    is_fasta,
    is_table,
    read_texts,
    text_column,
)
from hcviz.io.tree_data import is_newick, read_tree_data
from hcviz.session.constraint import TableKind

#: A note on a table that may be a card sort.
WIDE_NOTE = (
    "If each row is how one participant sorted the cards, choose “Card sort” as the kind of table."
)


def read_table(
    content: bytes | str | PathLike[str],
    filename: str = "",
    kind: TableKind = "features",
    columns: Mapping[str, Any] | Sequence[ColumnOptions] = (),
    sheet: str = "",
) -> Dataset:
    """Read a CSV, TSV, Excel or Parquet file, or a NumPy array of features, as a data set.

    Parameters
    ----------
    content : the file's bytes, or a path to it
    filename : the file's name, for titles and messages
    kind : what the file holds, see Notes
    columns : for a table of features, how columns are read if not as detected. By name: ``"off"``,
        ``"strip"`` (colours only), a weight, a kind (``number``, ``binary``, ``category``,
        ``date``, ``text``, ``identifier``), or a mapping with several of ``kind``, ``used``,
        ``strip`` and ``weight``
    sheet : the sheet of a workbook; empty: the first that is not empty

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
        If the kind is unknown, or ``columns`` names no column or an unknown option.
    InvalidData
        If the file cannot be read. The message has row and column.

    Notes
    -----
    ``features`` : each column has numbers, yes/no or true/false (one 0/1 column), dates (days since
        the first), free text (TF-IDF of at most 200 words), or categories: at most 50 distinct
        texts, each a 0/1 column named ``column=value``. Numbers may have decimal
        commas. Between commas, such a number is in quotes, and no other one may contradict it.
        Numbers with a few texts are categories, but one text among
        four or more numbers is refused as a typing error. Empty cells, ``NA``, ``?`` and similar
        are missing (NaN; for a category, in all its columns). Columns named class, label or species
        become classes. A column named ``image`` holds pictures (PNG, JPEG, GIF or WebP as data
        URIs, or bytes in Parquet), which are features small.
    ``similarity``, ``distance`` : a square symmetric matrix whose rows and columns are the items.
        Names are in the first row, the first column, both or neither. Methods for distances get
        each distance d; all others get the similarity (max d - d) / max d.
    ``comparisons`` : answers with a header such as ``anchor,near,far``
        (:mod:`hcviz.io.comparison_csv`).
    ``sequences`` : texts in FASTA, plain text with one per line, or a table of names and texts.
        Methods query their edit distances (:class:`hcviz.StringOracle`).

    ``tree`` : a tree in Newick, or a scipy linkage (``.npy``). Its leaves are the items, with the
        heights of their lowest common ancestors as distances.
    ``card-sort`` : who put which card on which pile, in one of the forms of
        :mod:`hcviz.io.card_sort`.

    The default ``features`` also reads answers, card sorts (columns participant, card and pile),
    FASTA files and NumPy arrays, which it recognizes by header or name.

    Examples
    --------
    >>> from hcviz.io.tables import read_table
    >>> data = read_table(b"name,legs,wings\\nbee,6,yes\\nant,6,no\\nspider,8,no\\n")
    >>> data.labels
    ('bee', 'ant', 'spider')
    >>> data.feature_names
    ('legs', 'wings')
    >>> table = b"name,legs,wings\\nbee,6,yes\\nant,6,no\\nspider,8,no\\n"
    >>> read_table(table, columns={"legs": "category", "wings": "off"}).feature_names
    ('legs=6', 'legs=8')
    """
    if kind not in get_args(TableKind):
        raise InvalidParameter(
            f"There is no kind of table {kind!r}.", f"Known: {', '.join(get_args(TableKind))}."
        )
    chosen = as_column_options(columns)
    if not isinstance(content, (bytes, bytearray, memoryview)):
        content, filename = _read_file(Path(content), filename)
    if kind == "comparisons" or (kind == "features" and is_answers(bytes(content))):
        return dataset_of_answers(bytes(content), filename)
    if kind == "tree" or (kind == "features" and is_newick(bytes(content))):
        return read_tree_data(bytes(content), filename)
    if kind == "features" and is_array(bytes(content[:8]), filename):
        return read_array(bytes(content), filename)
    if kind == "sequences" or (kind == "features" and is_fasta(filename)):
        return _read_sequences(bytes(content), filename)
    raw = read_raw(bytes(content), filename, sheet)
    if kind == "card-sort" or (kind == "features" and is_card_sort(raw)):
        return read_card_sort(raw, filename)
    if kind == "features":
        if resembles_wide_form(raw):
            raw.notes.append(WIDE_NOTE)
        try:
            return read_features(raw, filename, chosen)
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
        provenance=describe_source(filename),
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
    data = read_features(raw, title)
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


# ---------------------------------------------------------------------- sequences


def _read_sequences(content: bytes, filename: str) -> Dataset:
    notes: list[str] = []
    strips: dict[str, tuple[str | None, ...]] = {}
    labels: Sequence[str]
    if is_table(content, filename):
        raw = read_raw(content, filename)
        notes += raw.notes
        header, labels, columns, rows = split_names(raw, notes, first_is_header)
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
        name: class_values(column) for name, column in cells.items() if is_classes(name, column)
    }


__all__ = ["MAX_ROWS", "MAX_UPLOAD_BYTES", "read_frame", "read_table"]
