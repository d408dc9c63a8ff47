"""Taxonomies as outlines in Markdown: bold groups with ids, and items."""

from __future__ import annotations

import re
import sys

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.entry import Entry

#: Characters with a meaning in Markdown.
_MARKS = re.compile(r"[\\`*_{}\[\]#|~]")
#: Characters that HTML, line ends or trimming would change.
_HIDDEN = re.compile(r"[&<>\x00-\x1f\x7f-\xa0\u2028\u2029]|^\s|\s$")
_ENTITY = re.compile(r"&(?:#(?P<number>\d{1,7})|(?P<named>amp|lt|gt|quot));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"'}
_LINE = re.compile(r"^( *)[-*+] (.*)$")
_GROUP = re.compile(r"^\*\*(?P<name>(?:\\.|[^\\])*?)\*\*\s*(?:\{(?P<marks>[^{}]*)\})?\s*$")


def write_markdown(top: Entry) -> str:
    """Return lines ``- **group** {#id .accepted .locked}`` and ``- item``.

    Each level is indented by two more spaces.
    """
    lines: list[str] = []
    waiting: list[tuple[int, Entry | str]] = [(0, each) for each in reversed(top.contents)]
    while waiting:
        depth, each = waiting.pop()
        if isinstance(each, str):
            lines.append(f"{'  ' * depth}- {_escaped(each)}")
            continue
        marks = [f"#{each.id}", *(["accepted"] if each.status == "accepted" else [])]
        marks += ["locked"] if each.locked else []
        marks = [marks[0], *(f".{mark}" for mark in marks[1:])]
        lines.append(f"{'  ' * depth}- **{_escaped(each.name)}** {{{' '.join(marks)}}}")
        waiting.extend((depth + 1, inner) for inner in reversed(each.contents))
    return "\n".join(lines) + "\n"


def read_markdown(text: str) -> Entry:
    """Read an outline in the form of :func:`write_markdown`, possibly written by hand.

    An entry with contents is a group, also if it is not bold. A heading above the list is left out.

    Raises
    ------
    InvalidTaxonomy
        If a line is not a list entry or has a wrong indentation. The message has its number.
    """
    top = Entry()
    open_: list[tuple[int, Entry]] = [(-1, top)]  # indentation and group
    lines = [(n, _LINE.match(_with_spaces(x)), x) for n, x in enumerate(text.split("\n"), 1)]
    lines = [each for each in lines if each[2].strip()]
    while lines and lines[0][2].startswith("# "):  # the title of the outline
        del lines[0]
    for place, (number, found, line) in enumerate(lines):
        if found is None:
            raise InvalidTaxonomy(
                f"Line {number} of the outline is not a list entry: {line.strip()[:40]!r}.",
                "Write '- item', or '- **group**', with two more spaces for each level.",
            )
        indent, body = len(found[1]), found[2]
        while indent <= open_[-1][0]:
            open_.pop()
        depth = len(open_) - 1
        if indent > 2 * depth:
            raise InvalidTaxonomy(
                f"Line {number} of the outline is indented by {indent} spaces, where {2 * depth} "
                "is the most.",
                "Indent the contents of a group by two more spaces than the group.",
            )
        group = _GROUP.match(body)
        following = lines[place + 1][1] if place + 1 < len(lines) else None
        if group is None and (following is None or len(following[1]) <= indent):
            open_[-1][1].contents.append(_plain(body))
            continue
        marks = ((group and group["marks"]) or "").split()
        made = Entry(
            name=_plain(body if group is None else group["name"]),
            id=next((mark[1:] for mark in marks if mark.startswith("#")), ""),
            status="accepted" if ".accepted" in marks else "draft",
            locked=".locked" in marks,
            location=f"line {number}",
        )
        open_[-1][1].contents.append(made)
        open_.append((indent, made))
    return top


def _with_spaces(line: str) -> str:
    """Return a line with two spaces for each tab at its beginning."""
    text = line.rstrip()
    return "  " * (len(text) - len(text.lstrip("\t"))) + text.lstrip("\t")


def _escaped(name: str) -> str:
    text = _HIDDEN.sub(lambda found: f"&#{ord(found[0])};", name)
    # The "#" of a character reference needs no backslash.
    return re.sub(r"&\\#", "&#", _MARKS.sub(lambda found: "\\" + found[0], text))


def _plain(text: str) -> str:
    pieces = re.split(r"\\([\\`*_{}\[\]#|~])", text)
    pieces[::2] = [_ENTITY.sub(_character, piece) for piece in pieces[::2]]
    return "".join(pieces)


def _character(found: re.Match[str]) -> str:
    if found["named"]:
        return _NAMED[found["named"]]
    number = int(found["number"])
    return chr(number) if number <= sys.maxunicode else found[0]


__all__ = ["read_markdown", "write_markdown"]
