"""Limits on the XML of a workbook, checked before it is read into memory.

A few kilobytes of a zip file can hold millions of XML elements. openpyxl keeps all elements of a
row or of a text in memory, each in some hundred bytes.
"""

from __future__ import annotations

import io
import zipfile
from typing import IO
from xml.parsers import expat

#: Elements inside each other. Workbooks have about ten.
MAX_DEPTH = 100
#: Elements of one row or text. A row has at most 16,384 cells, of up to four elements each.
MAX_ELEMENTS = 200_000
#: Elements at whose end openpyxl frees memory: rows, and texts that cells share.
_FREED = ("row", "si")
#: Bytes that are parsed at once.
_PIECE = 2**18


class TooMuchXml(ValueError):
    """A part of an archive has a document type, or elements beyond the limits."""


def check_xml_parts(content: bytes) -> None:
    """Check the XML files in a zip archive. O(unpacked bytes).

    Raises
    ------
    TooMuchXml
        If one exceeds a limit, or has a document type, which could define entities.

    Notes
    -----
    XML that is not well-formed is left to its reader. It is checked up to the fault.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            if not info.filename.endswith((".xml", ".rels", ".vml")):
                continue
            with archive.open(info) as file:
                _check(file)


def _check(file: IO[bytes]) -> None:
    parser = expat.ParserCreate()
    depth = count = 0

    def start(name: str, attributes: object) -> None:
        nonlocal depth, count
        depth += 1
        count += 1
        if depth > MAX_DEPTH or count > MAX_ELEMENTS:
            raise TooMuchXml

    def end(name: str) -> None:
        nonlocal depth, count
        depth -= 1
        if name.rpartition(":")[2] in _FREED:
            count = 0

    def refuse(*_: object) -> None:
        raise TooMuchXml

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    try:
        while piece := file.read(_PIECE):
            parser.Parse(piece)
    except expat.ExpatError:
        return


__all__ = ["MAX_DEPTH", "MAX_ELEMENTS", "TooMuchXml", "check_xml_parts"]
