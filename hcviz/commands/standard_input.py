"""Standard input in place of a file: the name ``-``.

The content gets a name whose suffix fits it, such as ``/dev/stdin.csv``. So each command reads it
as it reads a file, and error messages name it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hcviz.core.errors import InvalidParameter
from hcviz.io.workbook import is_workbook

#: First characters of a text -> the suffix of such a file. Other texts are tables.
TEXT_STARTS = {
    "(": ".nwk",
    "{": ".json",
    "[": ".json",
    "<": ".opml",
    ">": ".fasta",
    "@": ".ttl",
    "#": ".md",
    "- ": ".md",
}

_contents: dict[Path, bytes] = {}


def input_path(text: str) -> Path:
    """Return the path of an input file; ``-`` reads standard input.

    Raises
    ------
    InvalidParameter
        If two inputs of a command are ``-``.
    """
    if text != "-":
        return Path(text)
    if _contents:
        raise InvalidParameter("Only one input can be '-', standard input.", "Name a file instead.")
    content = sys.stdin.buffer.read()
    path = Path("/dev") / f"stdin{suffix_of(content)}"
    _contents[path] = content
    return path


def input_name(text: str) -> str:
    """Return the name of a data set or the path of a file; ``-`` reads standard input."""
    return str(input_path(text)) if text == "-" else text


def standard_input(path: Path) -> bytes | None:
    """Return the content of standard input if ``path`` is its name, otherwise None."""
    return _contents.get(path)


def is_input_file(name: str) -> bool:
    """Return True for the name of a file or of standard input."""
    return Path(name) in _contents or Path(name).is_file()


def forget_standard_input() -> None:
    """Drop the content, so that the next command reads its own."""
    _contents.clear()


def suffix_of(content: bytes) -> str:
    """Return the suffix of a file with this content.

    Examples
    --------
    >>> suffix_of(b"((a,b),c);"), suffix_of(b"name,legs"), suffix_of(b"# Animals")
    ('.nwk', '.csv', '.md')
    """
    if content.startswith(b"\x93NUMPY"):
        return ".npy"
    if content.startswith(b"PK"):
        if is_workbook(content):
            return ".xlsx"
        name = content[30 : 30 + int.from_bytes(content[26:28], "little")]  # of the first member
        return ".npz" if name.endswith(b".npy") else ".hcviz"
    if content.startswith(b"PAR1"):
        return ".parquet"
    head = content[:4096].decode("utf-8-sig", "replace").lstrip()
    if head.startswith(("{", "[")) and '"@' in head:
        return ".jsonld"
    return next((suffix for start, suffix in TEXT_STARTS.items() if head.startswith(start)), ".csv")


__all__ = [
    "forget_standard_input",
    "input_name",
    "input_path",
    "is_input_file",
    "standard_input",
    "suffix_of",
]
