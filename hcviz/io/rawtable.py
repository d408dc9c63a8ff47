"""From the bytes of a file to rows and columns of text: what the file says, not what it means."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hcviz.core.dataframes import cells_of_column
from hcviz.core.errors import HcvizError, InvalidData, TooLarge
from hcviz.io.plaintext import decoded
from hcviz.io.unpacking import most_unpacked

#: Larger uploads are refused unread.
MAX_UPLOAD_BYTES = 256 * 2**20
MAX_ROWS = 1_000_000
MAX_COLUMNS = 10_000
#: Columns of one name, which are told apart by their numbers.
MAX_ALIKE = 1_000
#: A cell of text takes some 60 bytes while it is read; arrays have a limit of their own.
MAX_CELLS = 10_000_000

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
#: What the names' column may be called; then the first row is a header for sure.
NAME_WORDS = frozenset(
    {"name", "names", "id", "ids", "item", "items", "index", "key", "row", "sample", "object"}
)
FORMATS = "Use CSV or TSV text, or Parquet: one row for each item, its name in the first column."

_HEAD = 400_000  # characters that are looked at before the whole is read


@dataclass
class RawTable:
    """``first``: the cells of the first row, ``first_row``, as text (None where the format keeps
    names apart, and then ``names`` has them). ``columns``: one array a column below it, of str
    ("" where a cell is empty) or float64. ``rows``: the file's row number of each, from 1.
    ``categories``: columns of a DataFrame whose values are categories even where they are numbers.
    """

    columns: list[Any]
    rows: NDArray[Any]
    first: list[str] | None = None
    names: list[str] | None = None
    first_row: int = 1
    separator: str = ","
    notes: list[str] = field(default_factory=list)
    categories: frozenset[str] = frozenset()


def read_raw(content: bytes, filename: str) -> RawTable:
    """Rows and columns of a CSV, TSV or Parquet file. O(bytes).

    Raises :class:`TooLarge` above a stated size and :class:`InvalidData` for everything that is not
    a rectangular table, with the row where it stops being one.
    """
    said = f"The file {filename!r}" if filename else "The file"
    if len(content) > MAX_UPLOAD_BYTES:
        raise TooLarge(
            f"{said} has {len(content) / 2**20:,.1f} MB; {MAX_UPLOAD_BYTES >> 20} MB is the limit.",
            "Leave out columns or rows that are not needed.",
        )
    if not content.strip():
        raise InvalidData(f"{said} is empty.", FORMATS)
    if content.startswith(b"PAR1"):
        return _parquet(content, said)
    if filename.lower().endswith((".parquet", ".pq")):
        raise InvalidData(f"{said} is not a Parquet file, whatever its name says.", FORMATS)
    notes: list[str] = []
    text = text_of(content, said, notes)
    separator = _separator(text)
    first_row, width, shift, limit = _shape(text, separator, said)
    frame = _frame(text, separator, width, limit, said)
    return _cut(frame, first_row, shift, separator, notes, said)


# ---------------------------------------------------------------------- text


def text_of(
    content: bytes, said: str, notes: list[str], wanted: str = "a table", hint: str = FORMATS
) -> str:
    """The file as text with plain newlines, none at the end.

    What is no text, JSON and web pages are refused: "SAID is a PNG image, not WANTED.", and HINT.
    """
    text = decoded(content, said, notes, wanted, hint)
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _records(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)


def _separator(text: str) -> str:
    """The one that cuts most of the first rows into equally many cells, the more the better."""
    best, choice = (0.0, 1), ","
    for separator in SEPARATORS:
        try:
            widths = [len(row) for row in islice(_records(text[:_HEAD], separator), 50) if row]
        except csv.Error:
            continue
        width, count = Counter(widths).most_common(1)[0] if widths else (1, 0)
        score = (count / len(widths) if width > 1 else 0.0, width)
        if score > best:
            best, choice = score, separator
    return choice


def _shape(text: str, separator: str, said: str) -> tuple[int, int, int, int]:
    """``(first row with anything in it, columns, 1 if the header lacks a first cell, rows)``.

    Raises where rows differ in length: a shifted row would put every value under a wrong name.
    """
    header = second = None  # where they stand, counted from 0
    width = body = last = 0
    corner = ""
    odd: tuple[int, int] | None = None
    ends_empty = True
    if text.lstrip("\n").split("\n", 1)[0].count(separator) > 10 * MAX_COLUMNS:
        raise TooLarge(f"{said} has more than {MAX_COLUMNS:,} columns.")  # not worth cutting up
    try:
        for at, row in enumerate(_records(text, separator)):
            last = at
            most = min(MAX_ROWS, MAX_CELLS // max(body, width, 1))
            if at > most:
                raise TooLarge(
                    f"{said} has more than {most:,} rows"
                    + (f" of {count(width, 'column')}." if width else "."),
                    f"The limits are {MAX_ROWS:,} rows and {MAX_CELLS:,} cells: take a sample.",
                )
            if len(row) <= 1 and not "".join(row).strip():
                continue
            if header is None:
                header, width, corner = at, len(row), row[0].strip().lower()
                if width > MAX_COLUMNS:
                    raise TooLarge(f"{said} has more than {MAX_COLUMNS:,} columns.")
                _check_header(row, at + 1)
                continue
            if second is None:
                second, body = at, len(row)
            if len(row) != body:
                odd = at, len(row)
                break
            ends_empty = ends_empty and not row[-1].strip()
    except csv.Error:
        raise InvalidData(
            f"{said} cannot be read beyond row {last + 2}: a cell there is longer than "
            f"{csv.field_size_limit():,} characters.",
            "Look for a quotation mark that is never closed.",
        ) from None
    if header is None:
        raise InvalidData(f"{said} is empty.", FORMATS)
    if width == 1 and body <= 1:
        raise InvalidData(
            f"{said} has only one column.",
            "Names go in the first column and features in further ones, separated by commas, "
            "semicolons or tabs.",
        )
    if second is None:
        raise InvalidData(
            f"{said} has a single row.", "Give a row of column names, then the items."
        )
    if odd is None and body == width + 1 and (ends_empty or corner not in NAME_WORDS):
        # R leaves the corner out of its header; others end each row with a separator.
        return header, body, 0 if ends_empty else 1, last + 1
    if odd is not None or body != width:
        at, cells = odd if odd is not None and body == width else (second, body)
        raise InvalidData(
            f"Row {at + 1} of the table has {count(cells, 'cell')}, row {header + 1} has {width}.",
            f"Cells were separated by {SEPARATORS[separator]}; put text that holds one in quotes.",
        )
    return header, width, 0, last + 1


def _check_header(cells: list[str], row: int) -> None:
    """Refuse a first row that calls a great many columns by one name."""
    name, often = Counter(cell.strip() for cell in cells).most_common(1)[0]
    if often <= MAX_ALIKE or not name or _is_number(name):
        return
    raise InvalidData(
        f"Row {row} has the cell {name[:40]!r} in {often:,} columns.",
        "The first row gives every column a name of its own.",
    )


def _is_number(cell: str) -> bool:
    """Whether a first row with this cell may be values, since the table lacks a header."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def count(number: int, noun: str) -> str:
    """``1 row``, ``2 rows``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _frame(text: str, separator: str, width: int, limit: int, said: str) -> pd.DataFrame:
    try:
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            names=range(width),
            index_col=False,
            dtype=str,
            na_filter=False,
            skip_blank_lines=False,
            skipinitialspace=True,
            nrows=limit,
        )
    except Exception as fault:  # the parser's own errors, of many types
        quote = "EOF inside string" in str(fault)
        raise InvalidData(
            f"{said} cannot be read as a table"
            + (": a quotation mark is never closed." if quote else "."),
            FORMATS,
        ) from None


def _cut(
    frame: pd.DataFrame, first_row: int, shift: int, separator: str, notes: list[str], said: str
) -> RawTable:
    # Cell by cell: pandas takes a millisecond a column, and there may be ten thousand columns.
    columns = [_stripped(frame[k].to_numpy(dtype=object)) for k in range(frame.shape[1])]
    filled = np.zeros(len(frame), bool)
    for column in columns:
        filled |= column.astype(bool)  # text is true unless it is empty
    filled[: first_row + 1] = False
    first = [str(column[first_row]) for column in columns]
    if shift:
        first = ["", *first[:-1]]
    kept = np.flatnonzero(filled)
    body = [column[kept] for column in columns]
    return RawTable(body, kept + 1, first, None, first_row + 1, separator, notes)


def _stripped(cells: NDArray[Any]) -> NDArray[Any]:
    return np.fromiter((cell.strip() for cell in cells), dtype=object, count=len(cells))


# ---------------------------------------------------------------------- Parquet


def _parquet(content: bytes, said: str) -> RawTable:
    import pyarrow.parquet as parquet  # slow to import, and seldom needed

    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        meta = file.metadata
        if meta.num_rows > MAX_ROWS or meta.num_columns > MAX_COLUMNS:
            raise TooLarge(
                f"{said} has {count(meta.num_rows, 'row')} and {count(meta.num_columns, 'column')};"
                f" the limits are {MAX_ROWS:,} and {MAX_COLUMNS:,}.",
                "Take a sample.",
            )
        groups = [meta.row_group(k) for k in range(meta.num_row_groups)]
        unpacked = sum(group.total_byte_size for group in groups)
        # Of a list inside a cell every element is a value.
        values = sum(
            group.column(k).num_values for group in groups for k in range(meta.num_columns)
        )
        limit = most_unpacked(len(content))
        if max(values, meta.num_rows * meta.num_columns) > MAX_CELLS or unpacked > limit:
            raise TooLarge(f"{said} is too large once unpacked.", "Take a sample.")
        # A text that a column repeats is in the file once: count before repeating it in memory.
        texts = [meta.schema.column(k).path for k in range(meta.num_columns) if _is_text(meta, k)]
        table = parquet.ParquetFile(io.BytesIO(content), read_dictionary=texts).read()
        if sum(map(_text_bytes, table.columns)) > max(limit, MAX_UPLOAD_BYTES):
            raise TooLarge(f"{said} is too large once unpacked.", "Take a sample.")
        # A block for each column: numbers then stay where they were unpacked.
        frame = table.to_pandas(split_blocks=True, self_destruct=True)
        del table
        if frame.index.name is not None or not isinstance(frame.index, pd.RangeIndex):
            frame = frame.reset_index(names=frame.index.name or "name")
        names = [str(name) for name in frame.columns]
        columns = [cells_of_column(frame.iloc[:, k]) for k in range(frame.shape[1])]
    except HcvizError:
        raise
    except Exception:  # whatever pyarrow and pandas make of a broken file
        raise InvalidData(f"{said} is a damaged Parquet file.", "Write it anew.") from None
    return RawTable(columns, np.arange(1, len(frame) + 1), names=names)


def _is_text(meta: Any, k: int) -> bool:
    column = meta.schema.column(k)
    return column.physical_type == "BYTE_ARRAY" and column.max_repetition_level == 0


def _text_bytes(column: Any) -> int:
    """The bytes of a column's texts, each as often as it is in a row."""
    total = 0
    for chunk in column.chunks:
        if hasattr(chunk, "dictionary"):
            sizes = np.array([len(text) for text in chunk.dictionary.to_pylist()] or [0])
            used = chunk.indices.drop_null().to_numpy(zero_copy_only=False)
            total += int(sizes[used].sum())
    return total
