"""Taxonomies as indented text, with one name per line."""

from __future__ import annotations

import re

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.entry import Entry

_LETTERS = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r"[\\\n\r\t]|^ | $")
_ESCAPE = re.compile(r"\\(.|$)")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t"}


def write_text(top: Entry) -> str:
    r"""Return one name per line. Contents of a group are indented by two more spaces. O(n).

    Only names are written. Line ends, tabs and backslashes in names become ``\n``, ``\r``, ``\t``
    and ``\\``. A space at the start or end of a name gets a backslash before it.

    Examples
    --------
    >>> print(write_text(Entry(contents=[Entry("Birds", ["owl", "rook"]), "elm"])), end="")
    Birds
      owl
      rook
    elm
    """
    lines: list[str] = []
    waiting: list[tuple[int, Entry | str]] = [(0, each) for each in reversed(top.contents)]
    while waiting:
        depth, each = waiting.pop()
        name = each if isinstance(each, str) else each.name
        escaped = _ESCAPED.sub(lambda found: _LETTERS.get(found[0], "\\ "), name) or "\\"
        lines.append("  " * depth + escaped)
        if isinstance(each, Entry):
            waiting.extend((depth + 1, inner) for inner in reversed(each.contents))
    return "\n".join(lines) + "\n"


def read_text(text: str) -> Entry:
    """Read lines, where a line above deeper lines is a group.

    The indentation of the first deeper line is the step between levels.

    Raises
    ------
    InvalidTaxonomy
        If an indentation is not a multiple of this step, or increases by two steps. The message
        has the number of the line.

    Examples
    --------
    >>> read_text("Trees\\n    elm\\n    yew\\n").children[0].items
    ['elm', 'yew']
    """
    top, unit = Entry(), ""
    open_: list[Entry] = [top]  # the last content of the last one may become a group
    for number, line in enumerate(text.split("\n"), 1):
        body = line.lstrip(" \t")
        if not body.rstrip(" \t\r"):
            continue
        indent = line[: len(line) - len(body)]
        unit = unit or indent
        depth = len(indent) // len(unit) if indent else 0
        last = open_[-1].contents[-1:]
        if indent != unit * depth or depth > len(open_) - 1 + len(last):
            raise InvalidTaxonomy(
                f"Line {number} of the text is indented by {len(indent)} characters, which is not "
                "a possible level.",
                "Indent the contents of a group by one more step than the group, always the same.",
            )
        if depth == len(open_):
            group = Entry(name=str(last[0]), location=f"line {number - 1}")
            open_[-1].contents[-1] = group
            open_.append(group)
        del open_[depth + 1 :]
        open_[-1].contents.append(_plain(body))
    return top


def _plain(body: str) -> str:
    kept = body.rstrip(" \t\r")
    if kept.endswith("\\") and len(kept) < len(body) and (len(kept) - len(kept.rstrip("\\"))) % 2:
        kept += " "  # an escaped space
    return _ESCAPE.sub(lambda found: _PLAIN.get(found[1], found[1]), kept)


__all__ = ["read_text", "write_text"]
