"""Writing of taxonomies in SKOS, as Turtle or JSON-LD."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.entry import Entry

SKOS = "http://www.w3.org/2004/02/skos/core#"
#: Namespace of the properties that SKOS does not have: status, lock, and the order of siblings.
TERMS = "urn:hcviz:terms:"
SkosFormat = Literal["turtle", "json-ld"]

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!#$%&'()*+,./0-9:;=?@A-Z_a-z~\[\]-]*")
_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff]')
_SHORT = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


@dataclass(frozen=True)
class _Concept:
    """An item or a group; ``broader`` is None on the first level, ``group`` is None for an item."""

    uri: str
    name: str
    broader: str | None
    order: int
    group: Entry | None

    @property
    def alternatives(self) -> list[str]:
        """Alternative names, without repeats and the name itself, which SKOS does not allow."""
        given = () if self.group is None else self.group.alternatives
        return [each for each in dict.fromkeys(given) if each != self.name]


def write_skos(top: Entry, format: SkosFormat = "turtle", base: str = "urn:hcviz:") -> str:
    """Return a ConceptScheme whose Concepts are the groups and the items. O(n).

    Parameters
    ----------
    top : Entry
        The whole taxonomy.
    format : {"turtle", "json-ld"}
        Syntax of the file.
    base : str
        Start of the URIs. The scheme is ``base + "taxonomy"``, a group ``base + "group/"`` and its
        id, an item ``base + "item/"`` and its percent-encoded name. An id that is a URI is used
        unchanged.

    Raises
    ------
    InvalidTaxonomy
        If the format is unknown, or the base is not an absolute URI.

    Examples
    --------
    >>> top = Entry(contents=["elm", Entry("Birds", ["owl", "rook"], id="b")])
    >>> print(write_skos(top).splitlines()[-1])
        hcviz:order 1 .
    """
    if _URI.fullmatch(base) is None:
        raise InvalidTaxonomy(
            f"The base {base!r} is not an absolute URI.",
            "Use one such as https://example.org/tools/.",
        )
    if format not in ("turtle", "json-ld"):
        raise InvalidTaxonomy(f"SKOS is not written as {format!r}.", "Use turtle or json-ld.")
    concepts = list(_concepts(top, base))
    write = _turtle if format == "turtle" else _json_ld
    return write(f"{base}taxonomy", concepts)


def _concepts(top: Entry, base: str) -> Iterator[_Concept]:
    waiting: list[tuple[Entry, str | None]] = [(top, None)]
    while waiting:
        entry, uri = waiting.pop()
        for order, each in enumerate(entry.contents):
            if isinstance(each, str):
                yield _Concept(f"{base}item/{quote(each, safe='')}", each, uri, order, None)
                continue
            own = each.id
            if not _URI.fullmatch(own) or own.startswith(base):
                own = f"{base}group/{quote(own, safe='')}"
            yield _Concept(own, each.name, uri, order, each)
            waiting.append((each, own))


def _turtle(scheme: str, concepts: list[_Concept]) -> str:
    tops = [f"<{each.uri}>" for each in concepts if each.broader is None]
    blocks = [
        f"@prefix skos: <{SKOS}> .\n@prefix hcviz: <{TERMS}> .",
        f"<{scheme}> a skos:ConceptScheme ;\n    skos:hasTopConcept {', '.join(tops)} .",
    ]
    for each in concepts:
        lines = [f"<{each.uri}> a skos:Concept", f"skos:prefLabel {_literal(each.name)}"]
        if each.alternatives:
            lines.append(f"skos:altLabel {', '.join(map(_literal, each.alternatives))}")
        if each.group is not None and each.group.note:
            lines.append(f"skos:definition {_literal(each.group.note)}")
        lines.append(f"skos:inScheme <{scheme}>")
        if each.broader is None:
            lines.append(f"skos:topConceptOf <{scheme}>")
        else:
            lines.append(f"skos:broader <{each.broader}>")
        if each.group is not None:
            lines.append(f"hcviz:status {_literal(each.group.status)}")
            lines.append(f"hcviz:locked {'true' if each.group.locked else 'false'}")
        lines.append(f"hcviz:order {each.order}")
        blocks.append(" ;\n    ".join(lines) + " .")
    return "\n\n".join(blocks) + "\n"


def _literal(text: str) -> str:
    return (
        '"'
        + _ESCAPED.sub(lambda found: _SHORT.get(found[0], f"\\u{ord(found[0]):04X}"), text)
        + '"'
    )


def _json_ld(scheme: str, concepts: list[_Concept]) -> str:
    links = ("broader", "inScheme", "topConceptOf", "hasTopConcept")
    context: dict[str, Any] = {
        "skos": SKOS,
        **{name: f"skos:{name}" for name in ("prefLabel", "altLabel", "definition")},
        **{name: {"@id": f"skos:{name}", "@type": "@id"} for name in links},
        **{name: f"{TERMS}{name}" for name in ("status", "locked", "order")},
    }
    tops = [each.uri for each in concepts if each.broader is None]
    graph: list[dict[str, Any]] = [
        {"@id": scheme, "@type": "skos:ConceptScheme", "hasTopConcept": tops}
    ]
    for each in concepts:
        node: dict[str, Any] = {"@id": each.uri, "@type": "skos:Concept", "prefLabel": each.name}
        if each.alternatives:
            node["altLabel"] = each.alternatives
        if each.group is not None and each.group.note:
            node["definition"] = each.group.note
        node["inScheme"] = scheme
        node |= {"topConceptOf": scheme} if each.broader is None else {"broader": each.broader}
        if each.group is not None:
            node |= {"status": each.group.status, "locked": each.group.locked}
        graph.append({**node, "order": each.order})
    document = {"@context": context, "@graph": graph}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


__all__ = ["SKOS", "TERMS", "SkosFormat", "write_skos"]
