"""Taxonomies in OPML, the file format of outliners."""

from __future__ import annotations

import re
from xml.parsers import expat

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.entry import Entry
from hcviz.taxonomy.group import Status

_ESCAPED = re.compile(r"[&<>\"'\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_xml(text: str) -> str:
    """Return the text with escapes for an element or an attribute of XML.

    Raises
    ------
    InvalidTaxonomy
        If XML cannot represent the text: it has a control character, half a surrogate pair, U+FFFE
        or U+FFFF. No character is replaced, since an item must keep its name.

    Examples
    --------
    >>> escape_xml('a < "b"')
    'a &#60; &#34;b&#34;'
    """
    wrong = _NOT_XML.search(text)
    if wrong is not None:
        raise InvalidTaxonomy(
            f"XML cannot represent the character U+{ord(wrong[0]):04X} in {text[:40]!r}.",
            "Remove the character, or use JSON or Markdown.",
        )
    return _ESCAPED.sub(lambda found: f"&#{ord(found[0])};", text)


def write_opml(top: Entry) -> str:
    """Return OPML with an ``outline`` for each item and group. O(n).

    Groups have the attributes ``id``, ``status``, ``locked`` and ``_note``. Alternative names are
    left out.

    Raises
    ------
    InvalidTaxonomy
        If XML cannot represent a name.

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
            lines.append(f'{" " * depth}<outline text="{escape_xml(each)}"/>')
        else:
            attributes = {"text": each.name, "id": each.id, "status": each.status}
            attributes |= {"locked": "true"} if each.locked else {}
            attributes |= {"_note": each.note} if each.note else {}
            text = " ".join(f'{name}="{escape_xml(value)}"' for name, value in attributes.items())
            lines.append(f"{' ' * depth}<outline {text}>")
            waiting.append((depth, None))
            waiting.extend((depth + 1, inner) for inner in reversed(each.contents))
    return "\n".join([*lines, " </body>", "</opml>", ""])


def read_opml(text: str) -> Entry:
    """Read OPML of :func:`write_opml` or of an outliner. Outlines with contents are groups.

    Raises
    ------
    InvalidTaxonomy
        If the text is not OPML, an outline has no text, or there is a document type, which could
        define entities. The message has the line.

    Examples
    --------
    >>> read_opml('<opml><body><outline text="elm"/></body></opml>').items
    ['elm']
    """
    reader = _Reader()
    try:
        reader.parser.Parse(text, True)
    except expat.ExpatError as fault:
        reason = expat.ErrorString(fault.code)
        raise InvalidTaxonomy(
            f"The taxonomy cannot be read as OPML: {reason}, line {fault.lineno}."
        ) from None
    except UnicodeEncodeError:
        raise InvalidTaxonomy("The OPML has half a surrogate pair in it.") from None
    return reader.finished()


class _Reader:
    """Builds entries from the parser's events. An entry that ends without contents is an item."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.top = Entry()
        self.open = [self.top]
        self.has_status: list[bool] = []
        self.path: list[str] = []

    def refuse(self, *_: object) -> None:
        raise InvalidTaxonomy(
            f"The OPML has a document type (line {self.parser.CurrentLineNumber}), which could "
            "define entities.",
            "Remove <!DOCTYPE ...>.",
        )

    def start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if not self.path and name != "opml":
            raise InvalidTaxonomy(
                f"The XML is not OPML: it begins with <{name[:40]}> (line {line})."
            )
        self.path.append(name)
        if name != "outline":
            return
        label = attributes.get("text", attributes.get("title"))
        if label is None:
            raise InvalidTaxonomy(f"The outline in line {line} of the OPML has no text.")
        status: Status = attributes.get("status", "draft")  # type: ignore[assignment]
        entry = Entry(
            name=label, note=attributes.get("_note", ""), status=status,
            id=attributes.get("id", ""), locked=attributes.get("locked") == "true",
            location=f"line {line}",
        )  # fmt: skip
        self.open[-1].contents.append(entry)
        self.open.append(entry)
        self.has_status.append("status" in attributes)  # hcviz writes it for groups only

    def end(self, name: str) -> None:
        self.path.pop()
        if name != "outline":
            return
        entry, is_group = self.open.pop(), self.has_status.pop()
        if not entry.contents and not is_group:
            self.open[-1].contents[-1] = entry.name

    def finished(self) -> Entry:
        if not self.top.contents:
            raise InvalidTaxonomy("The OPML has no outlines.")
        return self.top


__all__ = ["escape_xml", "read_opml", "write_opml"]
