"""Reading of one sheet of an Excel workbook (.xlsx) as text cells.

Formulas are never computed: their stored results are read. A formula without one is an empty cell,
and a note says so. Links and macros are ignored.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from typing import Any

from hcviz.core.errors import HcvizError, InvalidData, TooLarge
from hcviz.core.table_cells import cell_string
from hcviz.io.unpacking import max_unpacked_bytes
from hcviz.io.xml_limits import TooMuchXml, check_xml_parts

#: Results of formulas that failed.
_FAULTS = frozenset({"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"})
#: The most characters of a cell in Excel.
MAX_CELL_TEXT = 32_767
_FORMULA = re.compile(rb"<(?:\w+:)?f[ >]")
#: Every workbook has this entry.
_ENTRY = "xl/workbook.xml"

Rows = list[tuple[str, ...]]


def is_workbook(content: bytes) -> bool:
    """Return True for an .xlsx file."""
    if not content.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _ENTRY in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError):
        return False


def read_sheet(
    content: bytes, source: str, wanted: str, max_rows: int, max_cells: int
) -> tuple[Rows, str, tuple[str, ...], list[str]]:
    """Return the rows of a sheet, its name, the names of all sheets, and notes. O(bytes).

    Parameters
    ----------
    content : bytes
        The file.
    source : str
        The beginning of messages, such as "The file 'a.xlsx'".
    wanted : str
        The name of the sheet; empty: the first that is not empty.
    max_rows, max_cells : int
        Limits.

    Raises
    ------
    TooLarge
        If the file is too large once unpacked, or the sheet or one of its cells exceeds a limit.
    InvalidData
        If the file is damaged, all sheets are empty, or there is no such sheet.
    """
    _check_unpacked(content, source)
    from openpyxl import load_workbook  # slow to import, rarely needed

    try:
        check_xml_parts(content)
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if wanted and wanted not in sheets:
            raise InvalidData(
                f"{source} has no sheet {wanted!r}.", f"Its sheets: {', '.join(sheets)}."
            )
        for name in [wanted] if wanted else sheets:
            most = max_unpacked_bytes(len(content))
            rows = _rows(sheets[name], source, max_rows, max_cells, most)
            if rows:
                return rows, name, tuple(sheets), _formula_notes(content, name, rows)
    except HcvizError:
        raise
    except TooMuchXml:
        raise _unpacked_error(source) from None
    except Exception:  # openpyxl raises many types for a broken file
        raise InvalidData(
            f"{source} is a damaged Excel workbook.", "Save it again, or save it as CSV."
        ) from None
    raise InvalidData(
        f"{source} has no cells{' in the sheet ' + repr(wanted) if wanted else ''}.",
        "One row for each item, its name in the first column.",
    )


def _formula_notes(content: bytes, name: str, rows: Rows) -> list[str]:
    """Return a note about the formulas that have no stored result. O(bytes).

    A program that writes workbooks without computing them, such as a script, stores none.
    """
    if not _has_formulas(content):
        return []
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(content), read_only=True, keep_links=False)
    count, first = 0, ""
    for row in book[name].iter_rows(max_row=len(rows)):
        for cell in row:
            if cell.value is None or cell.data_type != "f":
                continue
            texts = rows[cell.row - 1]
            if cell.column > len(texts) or not texts[cell.column - 1]:
                count += 1
                first = first or cell.coordinate
    if not count:
        return []
    what = f"The formula in {first} has" if count == 1 else f"{count:,} formulas have"
    counts = "counts" if count == 1 else "count"
    where = "" if count == 1 else f", the first in {first}"
    return [
        f"{what} no stored result{where}, and {counts} as empty. "
        "A spreadsheet program stores the results when it saves the file."
    ]


def _has_formulas(content: bytes) -> bool:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.namelist():
            if not entry.startswith("xl/worksheets/"):
                continue
            with archive.open(entry) as part:
                rest = b""
                while block := part.read(1 << 20):
                    if _FORMULA.search(rest + block):
                        return True
                    rest = block[-16:]
    return False


def _check_unpacked(content: bytes, source: str) -> None:
    """Raise TooLarge if the file declares a larger size than it may unpack to."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > max_unpacked_bytes(len(content)):
        raise _unpacked_error(source)


def _unpacked_error(source: str) -> TooLarge:
    return TooLarge(f"{source} is too large once unpacked.", "Take a sample, or save it as CSV.")


def _rows(sheet: Any, source: str, max_rows: int, max_cells: int, max_text: int) -> Rows:
    """Return the cells as texts, without empty rows at the end.

    The file has a text once for all its cells. ``max_text`` limits the sum over the cells.
    """
    sheet.reset_dimensions()  # the declared size may be wrong
    found: Rows = []
    cells = filled = letters = 0
    for row in sheet.iter_rows(values_only=True):
        cells += len(row) + 1
        if len(found) >= max_rows or cells > max_cells:
            raise TooLarge(
                f"{source} has more than {max_rows:,} rows or {max_cells:,} cells.",
                "Take a sample.",
            )
        lengths = [len(value) if isinstance(value, str) else 0 for value in row]
        longest = max(lengths, default=0)
        if longest > MAX_CELL_TEXT:
            raise _cell_error(source, len(found) + 1, lengths.index(longest) + 1, longest)
        letters += sum(lengths)
        if letters > max_text:
            raise _unpacked_error(source)
        texts = tuple(map(_text, row))
        found.append(texts)
        if any(texts):
            filled = len(found)
    return found[:filled]


def _cell_error(source: str, row: int, column: int, length: int) -> TooLarge:
    from openpyxl.utils import get_column_letter

    return TooLarge(
        f"{source} has {length:,} characters in row {row}, column {get_column_letter(column)}; "
        f"the limit is {MAX_CELL_TEXT:,}.",
        "Shorten the text.",
    )


def _text(value: Any) -> str:
    if value is None or (isinstance(value, str) and value.strip() in _FAULTS):
        return ""
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return cell_string(value).strip()


__all__ = ["is_workbook", "read_sheet"]
