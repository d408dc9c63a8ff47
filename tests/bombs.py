"""Hand-made files that are small but large to read, nested very deeply, or full of traps."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.fuzz_readers import (
    ANSWERS,
    CSV,
    LOG,
    MATRIX,
    NEWICK,
    READERS,
    SESSION,
    ZIP,
)

MB = 2**20


def npy(shape: str, descr: str = "'<f8'", body: bytes = bytes(64)) -> bytes:
    """Return an array file whose header has this shape and type."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


class _Trap:
    """Pickled, it makes the file ``trap`` when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def pickled(trap: Path) -> bytes:
    """Return an array file that runs code when it is unpickled."""
    made = io.BytesIO()
    np.save(made, np.array([_Trap(trap)] * 4, dtype=object).reshape(2, 2), allow_pickle=True)
    return made.getvalue()


def inflated(reader: str, size: int, path: str) -> bytes:
    """Return the reader's first archive with a part that unpacks to ``size`` zeros or spaces."""
    parts = ZIP.split(READERS[reader].documents[0])
    parts[path] = parts[path][:-1] + bytes(size) if reader == "npz" else b" " * size
    return ZIP.join(parts)


def workbook(strings: str = "", sheet: str = "") -> bytes:
    """Return a workbook whose shared strings or first sheet begins with another text."""
    parts = ZIP.split(READERS["xlsx"].documents[0])
    for path, text in {
        "xl/sharedStrings.xml": strings, "xl/worksheets/sheet1.xml": sheet,
    }.items():  # fmt: skip
        if text:
            parts[path] = text.encode()
    return ZIP.join(parts)


def billion_laughs(root: str, inside: str) -> str:
    """Return XML whose entities expand to a billion times ``ha``."""
    entities = ['<!ENTITY e0 "ha">'] + [
        f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 10)
    ]
    return f"<?xml version='1.0'?><!DOCTYPE {root} [{''.join(entities)}]>{inside}"


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def far_cell() -> bytes:
    """Return a workbook with a cell in the last row and column that Excel has."""
    cell = '<c r="{0}" t="inlineStr"><is><t>x</t></is></c>'
    rows = (("1", "A1"), ("1048576", "XFD1048576"))
    text = "".join(f'<row r="{row}">{cell.format(at)}</row>' for row, at in rows)
    return workbook(sheet=f'<worksheet xmlns="{SHEET}"><sheetData>{text}</sheetData></worksheet>')


def nested_session(depth: int) -> bytes:
    """Return a session file whose JSON is nested deeply."""
    parts = SESSION.split(READERS["session"].documents[0])
    parts["session.json"] = b"[" * depth + b"]" * depth
    return SESSION.join(parts)


def huge_session() -> bytes:
    """Return a session file with a part of 60 MB of zeros."""
    parts = SESSION.split(READERS["session"].documents[0])
    name = next(name for name in parts if name.endswith(".npy"))
    return SESSION.join(parts | {name: parts[name] + bytes(60 * MB)})


def nested_log(depth: int) -> bytes:
    """Return a log whose last action is nested deeply."""
    parts = LOG.split(READERS["log"].documents[0])
    return LOG.join(parts | {"9999": b'{"n":99,"about":{},"action":' + b"[" * depth + b"}"})


def png(width: int, height: int) -> bytes:
    """Return a picture of one colour with this size in its header."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes(min(MB, (width + 1) * height)))
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def turtle_line(count: int) -> bytes:
    """Return Turtle in one line with so many concepts."""
    concept = '<u:{0}> a skos:Concept; skos:prefLabel "{0}"; skos:broader <u:g{1}>. '
    parts = [concept.format(k, k % 9) for k in range(count)]
    top = "".join(f'<u:g{k}> a skos:Concept; skos:prefLabel "g{k}". ' for k in range(9))
    return (
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#>. " + top + "".join(parts)
    ).encode()


def cyclic_json_ld() -> bytes:
    """Return concepts that are broader than themselves, and a context that names itself."""
    skos = "http://www.w3.org/2004/02/skos/core#"
    nodes = [
        {"@id": f"u:{k}", "@type": "Concept", "prefLabel": str(k), "broader": {"@id": f"u:{1 - k}"}}
        for k in (0, 1)
    ]
    context = {"@vocab": skos, "a": "b:a", "b": "a:b"}
    return json.dumps({"@context": context, "@graph": nodes}).encode()


def deep(opening: bytes, closing: bytes, inside: bytes = b"", times: int = 10**6) -> bytes:
    """Return brackets nested ``times`` times."""
    return opening * times + inside + closing * times


NAME = b"n" * (10 * MB)
SURROGATE = "a\ud800b".encode("utf-8", "surrogatepass")

#: Name -> (reader, function that makes the file).
BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "lesson with a sentence of 10^5 lines": ("lesson", lambda: (
        "# T\n- data: zoo\n1. a\n" + "b\n" * 99_980).encode()),
    "lesson with 25,000 choices": ("lesson", lambda: (
        "# T\n- data: zoo\n1. a\n- predict: b\n" + "- [ ] c\n" * 24_990).encode()),
    "opml billion laughs": ("opml", lambda: billion_laughs(
        "opml", '<opml><body><outline text="&e9;"/><outline text="b"/></body></opml>').encode()),
    "xlsx billion laughs": ("xlsx", lambda: workbook(strings=billion_laughs(
        "sst", f'<sst xmlns="{SHEET}"><si><t>&e9;</t></si></sst>'))),
    "xlsx that unpacks to 60 MB": ("xlsx", lambda: inflated(
        "xlsx", 60 * MB, "xl/worksheets/sheet1.xml")),
    "xlsx with a cell at the end": ("xlsx", far_cell),
    "xlsx nested": ("xlsx", lambda: workbook(sheet="<a>" * 10**6)),
    "xlsx with 10^7 elements": ("xlsx", lambda: workbook(
        sheet=f'<worksheet xmlns="{SHEET}"><sheetData><row>{"<c/>" * 10**7}')),
    "npz that unpacks to 60 MB": ("npz", lambda: inflated("npz", 60 * MB, "features.npy")),
    "session that unpacks to 60 MB": ("session", huge_session),
    "session nested": ("session", lambda: nested_session(100_000)),
    "log nested": ("log", lambda: nested_log(100_000)),
    "npy of terabytes": ("npy", lambda: npy("(1000000, 1000000)")),
    "npy with an overflowing size": ("npy", lambda: npy("(4294967296, 4294967296)")),
    "npy with a negative size": ("npy", lambda: npy("(-4, 2)")),
    "npy with a huge number": ("npy", lambda: npy(f"({'9' * 5000}, 2)")),
    "npy with a nested header": ("npy", lambda: npy("(" * 5_000 + ")" * 5_000)),
    "npy of cells without bytes": ("npy", lambda: npy("(1000000, 60)", "'S0'", b"")),
    "npy with nested types": ("npy", lambda: npy("(2, 2)", "[('a', " * 99 + "'f8'" + ")]" * 99)),
    "linkage of terabytes": ("linkage", lambda: npy("(1000000000000, 4)")),
    "features on disk of terabytes": ("npy-file", lambda: npy("(1000000, 1000000)")),
    "newick nested": ("tree", lambda: deep(b"(", b")") + b";"),
    "newick never closed": ("tree", lambda: b"(" * 10**5 + b"a,b;"),
    "newick with a caterpillar": ("reference", lambda: deep(b"(", b",b)", b"a") + b";"),
    "newick with comments": ("tree", lambda: b"(a[" + b"[" * 10**6 + b"],b);"),
    "newick with quotes": ("tree", lambda: b"(" + b"'" * (10**6 + 1) + b",b);"),
    "newick with a huge length": ("tree", lambda: b"(a:1e400000000,b:1);"),
    "newick with a name of 10 MB": ("tree", lambda: b"(" + NAME + b",b);"),
    "groups in newick nested": ("nwk", lambda: deep(b"(", b")", b"bat,owl", times=10**5) + b";"),
    "groups in json nested": ("json", lambda: deep(b"[", b"]")),
    "groups in json-ld nested": ("jsonld", lambda: deep(b'{"@graph":[', b"]}", times=10**5)),
    "groups in json-ld in a cycle": ("jsonld", cyclic_json_ld),
    "groups in text nested": ("txt", lambda: b"".join(b" " * k + b"g\n" for k in range(3_000))),
    "groups in markdown nested": ("md", lambda: b"".join(
        b"  " * k + b"- g%d\n" % k for k in range(3_000))),
    "groups in opml nested": ("opml", lambda: b"<opml><body>" + deep(
        b'<outline text="g">', b"</outline>", times=10**5) + b"</body></opml>"),
    "groups in a long path": ("levels", lambda: b"item,group,path\nbat,g," + b"g > " * 20_000),
    "groups in turtle in one line": ("ttl", lambda: turtle_line(3_000)),
    "groups in turtle nested": ("ttl", lambda: b"<u:a> <u:b> " + deep(
        b"(", b")", times=10**5) + b"."),
    "groups in turtle with blank nodes": ("ttl", lambda: b"<u:a> <u:b> " + deep(
        b"[<u:c> ", b"]", b"1", times=10**5) + b"."),
    "group with a name of 10 MB": ("txt", lambda: b"G\n  bat\n  " + NAME + b"\nowl\n"),
    "levels with a huge number": ("levels", lambda: b"level_" + b"1" * 5_000 + b",item\na,bat\n"),
    "row with 10^7 commas": ("csv", lambda: b"name,x\n" + b"," * 10**7 + b"\n"),
    "header with 10^7 commas": ("csv", lambda: b"," * 10**7 + b"\na,1\n"),
    "10^6 empty rows": ("csv", lambda: CSV + b"\n" * 10**6),
    "table with a name of 10 MB": ("csv", lambda: b"name,x\n" + NAME + b",1\nb,2\n"),
    "table with 50,000-letter names": ("csv", lambda: b"name,x\n" + b"".join(
        b"%d%s,1\n" % (k, b"n" * 50_000) for k in range(100))),
    "table with an open quote": ("csv", lambda: CSV + b'"' + b"a,b\n" * 10**6),
    "table of quotes": ("csv", lambda: b"name,x\n" + b'"' * 10**6),
    "table with zeros": ("csv", lambda: b"name,x\na\0b,1\nc,\x002\n"),
    "table with huge numbers": ("csv", lambda: b"name,x\na,1e400000000\nb,-1e999\nc,"
        + b"9" * 10**5),
    "table with long dates": ("csv", lambda: b"name,x\na,99999-01-01\nb,0000-00-00\nc,1-1-1\n"),
    "table with half a surrogate pair": ("csv", lambda: b"name,x\n" + SURROGATE + b",1\nb,2\n"),
    "matrix with half a surrogate pair": ("matrix", lambda: MATRIX.replace(b"a", SURROGATE)),
    "card sort with 10^5 columns": ("card-sort", lambda: b"participant" + b",c" * 10**5 + b"\np1"),
    "new items with a name of 10 MB": ("new-items", lambda: b"name,legs\n" + NAME + b",1\nb,2\n"),
    "answers with zeros": ("answers", lambda: ANSWERS + b"a\0,b,c,1\n"),
    "answers with a huge count": ("answers", lambda: ANSWERS + b"owl,bat,whale," + b"9" * 5_000),
    "answers with a large count": ("comparisons", lambda: ANSWERS + b"owl,bat,whale,10000000000\n"),
    "answers with a name of 10 MB": ("answers", lambda: ANSWERS + NAME + b",bat,owl,1\n"),
    "constraints with 10^6 commas": ("constraints", lambda: b"together_1" + b"," * 10**6),
    "constraints with a huge weight": ("constraints", lambda:
        b"together_1,together_2,apart,weight\nbat,whale,crow,1e999\n"),
    "items with zeros": ("items", lambda: b"a\0\nb\0\n"),
    "items with nothing but lines": ("items", lambda: b"\n" * 10**6),
    "fasta without a letter": ("texts", lambda: b">" * 10**6),
    "fasta with a name of 10 MB": ("texts", lambda: b">" + NAME + b"\nA\n>b\nC\n"),
    "reference with a name of 10 MB": ("reference", lambda: NEWICK.replace(b"newt", NAME)),
    "picture of 10^10 pixels": ("picture", lambda: png(100_000, 100_000)),
    "picture of 2^31 pixels a side": ("picture", lambda: png(2**31 - 1, 2**31 - 1)),
    "link with huge numbers": ("link", lambda: b"?seed=" + b"9" * 10**5 + b"&clusters=1e999"),
    "link with a huge constraint": ("link", lambda: b"?c=" + b"9" * 10**5 + b"-1"),
    "link with nested parameters": ("link", lambda: b"?params=" + b"[" * 10**5),
    "link with half a surrogate pair": ("link", lambda: b'?data=%ED%A0%80&params={"a":"\\ud800"}'),
}  # fmt: skip

__all__ = ["BOMBS", "pickled"]
