"""Taxonomies in OPML, the format of outliners."""

from __future__ import annotations

import re
from xml.parsers import expat

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.entry import Entry
from hcviz.taxonomy.group import Status

_ESCAPED = re.compile(r"[&<>\"'\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_escaped(text: str) -> str:
    """The text for an element or an attribute of XML.

    Raises
    ------
    InvalidTaxonomy
        XML cannot hold the text: it has a control character, half a surrogate pair, U+FFFE or
        U+FFFF. Nothing is replaced, since an item with another name would be another item.

    Examples
    --------
    >>> xml_escaped('a < "b"')
    'a &#60; &#34;b&#34;'
    """
    wrong = _NOT_XML.search(text)
    if wrong is not None:
        raise InvalidTaxonomy(
            f"XML cannot hold the character U+{ord(wrong[0]):04X}, which is in {text[:40]!r}.",
            "Rename it, or use JSON or Markdown.",
        )
    return _ESCAPED.sub(lambda found: f"&#{ord(found[0])};", text)


def write_opml(top: Entry) -> str:
    """An ``outline`` an item and a group; groups have ``id``, ``status``, ``locked``, ``_note``.

    Alternative names are left out. O(n). Raises :class:`InvalidTaxonomy` as :func:`xml_escaped`.

    Examples
    --------
    >>> print(write_opml(Entry(contents=["elm", "yew"])).splitlines()[4])
      <outline text="elm"/>
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<opml version="2.0">',
        " <head><title>Taxonomy</title></head>",
        " <body>",
    ]
    waiting: list[tuple[int, Entry | str | None]] = [(2, each) for each in reversed(top.contents)]
    while waiting:
        depth, each = waiting.pop()
        if each is None:
            lines.append(" " * depth + "</outline>")
        elif isinstance(each, str):
            lines.append(f'{" " * depth}<outline text="{xml_escaped(each)}"/>')
        else:
            stated = {"text": each.name, "id": each.id, "status": each.status}
            stated |= {"locked": "true"} if each.locked else {}
            stated |= {"_note": each.note} if each.note else {}
            marks = " ".join(f'{name}="{xml_escaped(value)}"' for name, value in stated.items())
            lines.append(f"{' ' * depth}<outline {marks}>")
            waiting.append((depth, None))
            waiting.extend((depth + 1, inner) for inner in reversed(each.contents))
    return "\n".join([*lines, " </body>", "</opml>", ""])


def read_opml(text: str) -> Entry:
    """What :func:`write_opml` or an outliner wrote. Outlines with others in them are groups.

    Raises
    ------
    InvalidTaxonomy
        No OPML, an outline without text, or a document type, which could hold entities. The
        sentence has the line.

    Examples
    --------
    >>> read_opml('<opml><body><outline text="elm"/></body></opml>').items
    ['elm']
    """
    reader = _Reader()
    try:
        reader.parser.Parse(text, True)
    except expat.ExpatError as fault:
        said = expat.ErrorString(fault.code)
        raise InvalidTaxonomy(
            f"The taxonomy is no OPML that can be read: {said}, line {fault.lineno}."
        ) from None
    except UnicodeEncodeError:
        raise InvalidTaxonomy("The OPML has half a surrogate pair in it.") from None
    return reader.finished()


class _Reader:
    """Entries as the parser meets them: an item is an entry without contents, until the end."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.top = Entry()
        self.open = [self.top]
        self.stated: list[bool] = []
        self.path: list[str] = []

    def refuse(self, *_: object) -> None:
        raise InvalidTaxonomy(
            f"The OPML has a document type (line {self.parser.CurrentLineNumber}), which could "
            "hold entities.",
            "Take the <!DOCTYPE ...> out.",
        )

    def start(self, name: str, stated: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if not self.path and name != "opml":
            raise InvalidTaxonomy(
                f"The XML is no OPML: it begins with <{name[:40]}> (line {line})."
            )
        self.path.append(name)
        if name != "outline":
            return
        label = stated.get("text", stated.get("title"))
        if label is None:
            raise InvalidTaxonomy(f"The outline in line {line} of the OPML has no text.")
        status: Status = stated.get("status", "draft")  # type: ignore[assignment]
        made = Entry(
            name=label, note=stated.get("_note", ""), status=status, id=stated.get("id", ""),
            locked=stated.get("locked") == "true", where=f"line {line}",
        )  # fmt: skip
        self.open[-1].contents.append(made)
        self.open.append(made)
        self.stated.append("status" in stated)  # only hcviz's groups have one

    def end(self, name: str) -> None:
        self.path.pop()
        if name != "outline":
            return
        made, is_group = self.open.pop(), self.stated.pop()
        if not made.contents and not is_group:
            self.open[-1].contents[-1] = made.name

    def finished(self) -> Entry:
        if not self.top.contents:
            raise InvalidTaxonomy("The OPML has no outlines.")
        return self.top


__all__ = ["read_opml", "write_opml", "xml_escaped"]
