"""Text from a file's bytes."""

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
#: What begins a text in UTF-16, as Excel's "Unicode text" is.
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
#: A first line that tells Excel what separates cells; its own line, which Excel does not show.
_SEPARATOR = re.compile(r"\"?sep=.\"?(?=\r|\n|\Z)", re.IGNORECASE)


def utf8_text(content: str | bytes, what: str, hint: str, error: type[HcvizError]) -> str:
    """The text, without a byte order mark.

    Raises ``error``: "WHAT is not UTF-8 text (byte 17).", and the hint.
    """
    if isinstance(content, str):
        return content.removeprefix("\ufeff")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise error(f"{what} is not UTF-8 text (byte {fault.start}).", hint) from None


def decoded(
    content: str | bytes,
    said: str,
    notes: list[str],
    wanted: str,
    hint: str,
    error: type[HcvizError] = InvalidData,
) -> str:
    """What spreadsheets save as text: in UTF-8, UTF-16 or, with a note, Windows-1252.

    A first line ``sep=;`` is taken out, not its end, so that lines keep their numbers. What is no
    text, JSON and web pages are refused: "SAID is a PNG image, not WANTED.", and HINT.
    """
    if isinstance(content, str):
        content = content.encode()
    for magic, what in _MAGIC:
        if content.startswith(magic) and (magic != b"BM" or b"\0" in content[:64]):
            raise error(f"{said} is {what}, not {wanted}.", hint)
    if content.startswith(_UTF16):
        encodings = ["utf-16"]
    elif b"\0" in content:
        raise error(f"{said} holds binary data, not {wanted}.", hint)
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
        raise error(f"{said} is not text in a known encoding.", "Save it as UTF-8.")
    if _CONTROL.search(text):
        raise error(f"{said} holds binary data, not {wanted}.", hint)
    text = _after_separator(text)
    start, end = text[:200].lstrip().lower(), text.rstrip()[-1:]
    if not text.strip():
        raise error(f"{said} is empty.", hint)
    if start.startswith(("{", "[")) and end.endswith(("}", "]")):
        raise error(f"{said} is JSON, not {wanted}.", hint)
    if start.startswith(("<!doctype", "<html", "<?xml", "<svg")):
        raise error(f"{said} is a web page or XML, not {wanted}.", hint)
    return text


def beginning(content: bytes, size: int) -> str:
    """The text of the first ``size`` bytes, whatever they are, as :func:`decoded` has it."""
    encoding = "utf-16" if content.startswith(_UTF16) else "utf-8-sig"
    return _after_separator(content[:size].decode(encoding, "replace"))


def _after_separator(text: str) -> str:
    found = _SEPARATOR.match(text)
    return text if found is None else text[found.end() :]
