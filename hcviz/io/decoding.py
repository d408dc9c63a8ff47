"""Decoding of a file's bytes to text."""

from __future__ import annotations

import re

from hcviz.core.errors import HcvizError, InvalidData

_MAGIC = (
    (b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"),
    (b"BM", "a bitmap image"), (b"%PDF", "a PDF document"), (b"\x1f\x8b", "gzip-compressed"),
    (b"PK\x03\x04", "an Excel workbook or a zip archive"), (b"\xd0\xcf\x11\xe0", "a workbook"),
    (b"\x93NUMPY", "a NumPy array"), (b"\x7fELF", "a program"), (b"SQLite", "a database"),
)  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f]")
#: Byte order marks of UTF-16. Excel writes one in files of the type "Unicode text".
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
#: A first line such as ``sep=;``, which names the separator for Excel and is no row of the table.
_SEPARATOR = re.compile(r"\"?sep=.\"?(?=\r|\n|\Z)", re.IGNORECASE)


def decode_utf8(content: str | bytes, what: str, hint: str, error: type[HcvizError]) -> str:
    """Return the text without a byte order mark.

    Raises
    ------
    error
        If the bytes are not UTF-8: "WHAT is not UTF-8 text (byte 17).", with ``hint``.
    """
    if isinstance(content, str):
        return content.removeprefix("\ufeff")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise error(f"{what} is not UTF-8 text (byte {fault.start}).", hint) from None


def decode_text(
    content: str | bytes,
    source: str,
    notes: list[str],
    wanted: str,
    hint: str,
    error: type[HcvizError] = InvalidData,
) -> str:
    """Return text in UTF-8, UTF-16 or Windows-1252, as spreadsheets save it.

    The text of a first line ``sep=;`` is removed. Its line end stays, so line numbers are kept.
    Reading Windows-1252 adds a sentence to ``notes``.

    Raises
    ------
    error
        If the content is binary, JSON, XML or empty: "SOURCE is a PNG image, not WANTED.", with
        ``hint``.
    """
    if isinstance(content, str):
        content = content.encode()
    for magic, what in _MAGIC:
        if content.startswith(magic) and (magic != b"BM" or b"\0" in content[:64]):
            raise error(f"{source} is {what}, not {wanted}.", hint)
    if content.startswith(_UTF16):
        encodings = ["utf-16"]
    elif b"\0" in content:
        raise error(f"{source} holds binary data, not {wanted}.", hint)
    else:
        encodings = ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "cp1252":
            notes.append("The file is not UTF-8; it was read as Windows-1252 (Western European).")
        break
    else:
        raise error(f"{source} is not text in a known encoding.", "Save it as UTF-8.")
    if _CONTROL.search(text):
        raise error(f"{source} holds binary data, not {wanted}.", hint)
    text = _without_separator_line(text)
    start, end = text[:200].lstrip().lower(), text.rstrip()[-1:]
    if not text.strip():
        raise error(f"{source} is empty.", hint)
    if start.startswith(("{", "[")) and end.endswith(("}", "]")):
        raise error(f"{source} is JSON, not {wanted}.", hint)
    if start.startswith(("<!doctype", "<html", "<?xml", "<svg")):
        raise error(f"{source} is a web page or XML, not {wanted}.", hint)
    return text


def decode_head(content: bytes, size: int) -> str:
    """Return the text of the first ``size`` bytes, with replacements for what is not text."""
    encoding = "utf-16" if content.startswith(_UTF16) else "utf-8-sig"
    return _without_separator_line(content[:size].decode(encoding, "replace"))


def _without_separator_line(text: str) -> str:
    found = _SEPARATOR.match(text)
    return text if found is None else text[found.end() :]
