"""Reading of CSV, TSV and Parquet files into rows and columns of uninterpreted cells."""

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

from hcviz.core.csv_cells import unescape_cell
from hcviz.core.dataframes import cells_of_column
from hcviz.core.errors import HcvizError, InvalidData, TooLarge
from hcviz.core.text import count_noun
from hcviz.io.decimal_commas import has_decimal_commas
from hcviz.io.decoding import decode_text
from hcviz.io.unpacking import max_unpacked_bytes
from hcviz.io.workbook import is_workbook, read_sheet

#: Larger uploads are refused without reading.
MAX_UPLOAD_BYTES = 256 * 2**20
MAX_ROWS = 1_000_000
MAX_COLUMNS = 10_000
#: Columns that may share a name. Their numbers are added to their names.
MAX_SAME_NAME = 1_000
#: A cell of text takes about 60 bytes during reading. NumPy arrays have a higher limit.
MAX_CELLS = 10_000_000

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
#: Usual headers of the column of names. A first row with one of them is a header.
NAME_WORDS = frozenset(
    {"name", "names", "id", "ids", "item", "items", "index", "key", "row", "sample", "object"}
)
FORMATS = (
    "Use CSV or TSV text, Excel (.xlsx) or Parquet: one row for each item, its name in the first "
    "column."
)

#: Characters at the start of a file that determine the separator.
_HEAD = 400_000


@dataclass
class RawTable:
    """A table as it is in the file.

    Attributes
    ----------
    columns : one array per column, of str ("" for an empty cell) or float64
    rows : int (n,), the number of each row in the file, counted from 1
    first_cells : the first row as text; None for formats with column names (then see ``names``)
    names : column names of such formats
    first_row : number of the first row in the file
    separator : character between two cells; ``;`` for a table whose numbers have decimal commas
    notes : sentences for the user about decisions of the reader
    categories : columns of a DataFrame whose values are categories, even if they are numbers
    format : what the file is, for people
    sheets, sheet : names of the sheets of a workbook, and of the one that was read
    """

    columns: list[Any]
    rows: NDArray[Any]
    first_cells: list[str] | None = None
    names: list[str] | None = None
    first_row: int = 1
    separator: str = ","
    notes: list[str] = field(default_factory=list)
    categories: frozenset[str] = frozenset()
    format: str = "Table"
    sheets: tuple[str, ...] = ()
    sheet: str = ""


def read_raw(content: bytes, filename: str, sheet: str = "") -> RawTable:
    """Read the rows and columns of a CSV, TSV, Excel or Parquet file. O(bytes).

    ``sheet`` : the sheet of a workbook; empty: the first that is not empty.

    Raises
    ------
    TooLarge
        If the file exceeds a limit of this module.
    InvalidData
        If the file is not a rectangular table. The message names the first wrong row.
    """
    source = f"The file {filename!r}" if filename else "The file"
    if len(content) > MAX_UPLOAD_BYTES:
        raise TooLarge(
            f"{source} has {len(content) / 2**20:,.1f} MB; the limit is "
            f"{MAX_UPLOAD_BYTES >> 20} MB.",
            "Leave out columns or rows that are not needed.",
        )
    if not content.strip():
        raise InvalidData(f"{source} is empty.", FORMATS)
    if content.startswith(b"PAR1"):
        return _parquet(content, source)
    if is_workbook(content):
        return _workbook(content, source, sheet)
    if filename.lower().endswith((".parquet", ".pq")):
        raise InvalidData(f"{source} is not a Parquet file, although its name ends so.", FORMATS)
    notes: list[str] = []
    text = read_as_text(content, source, notes)
    separator = _separator(text)
    first_row, width, shift, limit = _shape(text, separator, source)
    frame = _frame(text, separator, width, limit, source)
    table = _cut(frame, first_row, shift, separator, notes, escaped="'" in text)
    # A cell with a comma is in quotes.
    if separator == "," and '"' in text and has_decimal_commas(table.columns[1:], notes):
        table.separator = ";"
    return table


# ---------------------------------------------------------------------- text


def read_as_text(
    content: bytes, source: str, notes: list[str], wanted: str = "a table", hint: str = FORMATS
) -> str:
    """Return the file as text with ``\\n`` between its lines, and none at the end.

    Raises
    ------
    InvalidData
        If it is binary, JSON or XML: "SOURCE is a PNG image, not WANTED.", with ``hint``.
    """
    text = decode_text(content, source, notes, wanted, hint)
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _records(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)


def _separator(text: str) -> str:
    """Return the separator that gives most of the first rows the same number of cells."""
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


def _shape(text: str, separator: str, source: str) -> tuple[int, int, int, int]:
    """Return ``(header row, number of columns, 1 if the header lacks a first cell, rows)``.

    The header row is the first one that is not empty. Rows of different lengths are an error,
    since a shifted row would have every value under a wrong name.
    """
    header = second = None  # row numbers, counted from 0
    width = body = last = 0
    corner = ""
    odd: tuple[int, int] | None = None
    ends_empty = True
    if text.lstrip("\n").split("\n", 1)[0].count(separator) > 10 * MAX_COLUMNS:
        raise TooLarge(f"{source} has more than {MAX_COLUMNS:,} columns.")
    try:
        for at, row in enumerate(_records(text, separator)):
            last = at
            most = min(MAX_ROWS, MAX_CELLS // max(body, width, 1))
            if at > most:
                raise TooLarge(
                    f"{source} has more than {most:,} rows"
                    + (f" of {count_noun(width, 'column')}." if width else "."),
                    f"The limits are {MAX_ROWS:,} rows and {MAX_CELLS:,} cells: take a sample.",
                )
            if len(row) <= 1 and not "".join(row).strip():
                continue
            if header is None:
                header, width, corner = at, len(row), row[0].strip().lower()
                if width > MAX_COLUMNS:
                    raise TooLarge(f"{source} has more than {MAX_COLUMNS:,} columns.")
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
            f"{source} cannot be read beyond row {last + 2}: a cell there is longer than "
            f"{csv.field_size_limit():,} characters.",
            "Look for a quotation mark that is never closed.",
        ) from None
    if header is None:
        raise InvalidData(f"{source} is empty.", FORMATS)
    if width == 1 and body <= 1:
        raise InvalidData(
            f"{source} has only one column.",
            "Names go in the first column and features in further ones, separated by commas, "
            "semicolons or tabs.",
        )
    if second is None:
        raise InvalidData(
            f"{source} has a single row.", "Give a row of column names, then the items."
        )
    if odd is None and body == width + 1 and (ends_empty or corner not in NAME_WORDS):
        # R writes no first cell in its header. Other programs end each row with a separator.
        return header, body, 0 if ends_empty else 1, last + 1
    if odd is not None or body != width:
        at, cells = odd if odd is not None and body == width else (second, body)
        raise InvalidData(
            f"Row {at + 1} of the table has {count_noun(cells, 'cell')}, row {header + 1} has "
            f"{width}.",
            f"The cells are separated by {SEPARATORS[separator]}. Put text that contains one of "
            "these into double quotes.",
        )
    return header, width, 0, last + 1


def _check_header(cells: list[str], row: int) -> None:
    """Raise InvalidData if the first row gives very many columns the same name."""
    name, often = Counter(cell.strip() for cell in cells).most_common(1)[0]
    if often <= MAX_SAME_NAME or not name or _is_number(name):
        return
    raise InvalidData(
        f"Row {row} has the cell {name[:40]!r} in {often:,} columns.",
        "The first row must give each column a different name.",
    )


def _is_number(cell: str) -> bool:
    """Return True for a number: then the first row may hold values rather than names."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _frame(text: str, separator: str, width: int, limit: int, source: str) -> pd.DataFrame:
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
    except Exception as fault:  # the parser raises many types
        quote = "EOF inside string" in str(fault)
        raise InvalidData(
            f"{source} cannot be read as a table"
            + (": a quotation mark is never closed." if quote else "."),
            FORMATS,
        ) from None


def _cut(
    frame: pd.DataFrame,
    first_row: int,
    shift: int,
    separator: str,
    notes: list[str],
    escaped: bool = False,
) -> RawTable:
    # pandas' own strip takes 1 ms per column, and there may be 10,000 columns.
    columns = [_stripped(frame[k].to_numpy(object), escaped) for k in range(frame.shape[1])]
    filled = np.zeros(len(frame), bool)
    for column in columns:
        filled |= column.astype(bool)  # an empty text is False
    filled[: first_row + 1] = False
    first = [str(column[first_row]) for column in columns]
    if shift:
        first = ["", *first[:-1]]
    kept = np.flatnonzero(filled)
    body = [column[kept] for column in columns]
    form = f"Text with {SEPARATORS[separator]} between the cells"
    return RawTable(body, kept + 1, first, None, first_row + 1, separator, notes, format=form)


def _stripped(cells: NDArray[Any], escaped: bool) -> NDArray[Any]:
    plain = (cell.strip() for cell in cells)
    return np.fromiter(
        map(unescape_cell, plain) if escaped else plain, dtype=object, count=len(cells)
    )


# ---------------------------------------------------------------------- Excel


def _workbook(content: bytes, source: str, wanted: str) -> RawTable:
    rows, sheet, sheets, formulas = read_sheet(content, source, wanted, MAX_ROWS, MAX_CELLS)
    width = max(map(len, rows))
    if width > MAX_COLUMNS or width * len(rows) > MAX_CELLS:
        raise TooLarge(
            f"{source} has {count_noun(len(rows), 'row')} and {count_noun(width, 'column')}; the "
            f"limits are {MAX_COLUMNS:,} columns and {MAX_CELLS:,} cells.",
            "Take a sample.",
        )
    kept = [at for at, row in enumerate(rows) if any(row)]
    cells = np.full((len(kept), width), "", dtype=object)
    for at, number in enumerate(kept):
        cells[at, : len(rows[number])] = rows[number]
    cells = cells[:, cells.astype(bool).any(axis=0)]  # a table may begin at the cell B2
    _check_header(cells[0].tolist(), kept[0] + 1)
    notes = []
    if len(sheets) > 1:
        notes.append(f"The sheet {sheet!r} of {len(sheets)} was read.")
    notes += formulas
    return RawTable(
        [cells[1:, k] for k in range(cells.shape[1])],
        np.array(kept[1:], dtype=np.int64) + 1,
        cells[0].tolist(),
        first_row=kept[0] + 1,
        notes=notes,
        format="Excel workbook",
        sheets=sheets,
        sheet=sheet,
    )


# ---------------------------------------------------------------------- Parquet


def _parquet(content: bytes, source: str) -> RawTable:
    import pyarrow.parquet as parquet  # slow to import, rarely needed

    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        meta = file.metadata
        if meta.num_rows > MAX_ROWS or meta.num_columns > MAX_COLUMNS:
            raise TooLarge(
                f"{source} has {count_noun(meta.num_rows, 'row')} and "
                f"{count_noun(meta.num_columns, 'column')}; the limits are {MAX_ROWS:,} and "
                f"{MAX_COLUMNS:,}.",
                "Take a sample.",
            )
        groups = [meta.row_group(k) for k in range(meta.num_row_groups)]
        unpacked = sum(group.total_byte_size for group in groups)
        # A cell may hold a list of any length. The metadata of a column's chunk would tell it, but
        # pyarrow ends the process if these are damaged (26.0.1, parquet::ParquetException).
        lists = [k for k in range(meta.num_columns) if meta.schema.column(k).max_repetition_level]
        if lists:
            raise InvalidData(
                f"{source} has lists in the column {meta.schema.column(lists[0]).path[:40]!r}.",
                "Give each cell one value.",
            )
        limit = max_unpacked_bytes(len(content))
        if meta.num_rows * meta.num_columns > MAX_CELLS or unpacked > limit:
            raise TooLarge(f"{source} is too large once unpacked.", "Take a sample.")
        # The file holds a repeated text once. Compute its size in memory before unpacking it.
        texts = [meta.schema.column(k).path for k in range(meta.num_columns) if _is_text(meta, k)]
        table = parquet.ParquetFile(io.BytesIO(content), read_dictionary=texts).read()
        if sum(map(_text_bytes, table.columns)) > max(limit, MAX_UPLOAD_BYTES):
            raise TooLarge(f"{source} is too large once unpacked.", "Take a sample.")
        # With one block per column, pandas does not copy the numbers.
        frame = table.to_pandas(split_blocks=True, self_destruct=True)
        del table
        if frame.index.name is not None or not isinstance(frame.index, pd.RangeIndex):
            frame = frame.reset_index(names=frame.index.name or "name")
        names = [str(name) for name in frame.columns]
        columns = [cells_of_column(frame.iloc[:, k]) for k in range(frame.shape[1])]
    except HcvizError:
        raise
    except Exception:  # pyarrow and pandas raise many types for a broken file
        raise InvalidData(f"{source} is a damaged Parquet file.", "Write it again.") from None
    return RawTable(columns, np.arange(1, len(frame) + 1), names=names, format="Parquet")


def _is_text(meta: Any, k: int) -> bool:
    column = meta.schema.column(k)
    return column.physical_type == "BYTE_ARRAY" and column.max_repetition_level == 0


def _text_bytes(column: Any) -> int:
    """Return the bytes of a column's texts, with repeats."""
    total = 0
    for chunk in column.chunks:
        if hasattr(chunk, "dictionary"):
            sizes = np.array([len(text) for text in chunk.dictionary.to_pylist()] or [0])
            used = chunk.indices.drop_null().to_numpy(zero_copy_only=False)
            total += int(sizes[used].sum())
    return total
