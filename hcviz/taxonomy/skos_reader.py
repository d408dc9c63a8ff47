"""Reading of taxonomies in SKOS, as Turtle or JSON-LD, with the package rdflib."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.entry import Entry
from hcviz.taxonomy.skos import SKOS, TERMS

#: What relative addresses in a file are relative to.
BASE = "urn:hcviz:"
#: A name of Turtle, or a text of either form.
_NAME = re.compile(r'<[^<>\s]*>|"(?:[^"\\]|\\.)*"|[^\s<>"\';,()\[\]{}]*:[^\s<>"\';,()\[\]{}]+')
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def read_skos(text: str) -> Entry:
    """Read concepts. Concepts with narrower concepts are groups, the others items. O(n log n).

    Raises
    ------
    InvalidTaxonomy
        If rdflib is not installed; the text cannot be read, or refers to another file; there are
        no concepts or several schemes; a concept has no prefLabel, several in one language, or
        several broader concepts; or concepts form a cycle.

    Notes
    -----
    Siblings have the order that :func:`hcviz.taxonomy.skos.write_skos` has written, or else that
    of their names. The name is the prefLabel without language, or else in English, or else in the
    first language. Other prefLabels become alternative names. Each definition is a line of the
    note. The id of a group is the end of its URI if hcviz made this URI, and the URI otherwise.

    Examples
    --------
    >>> from hcviz.taxonomy.skos import write_skos
    >>> top = Entry(contents=["elm", Entry("Birds", ["owl", "rook"], id="b")])
    >>> read_skos(write_skos(top)).children[0].items
    ['owl', 'rook']
    """
    return _Reader(_graph(text), text).entry()


def _graph(text: str) -> Any:
    try:
        import rdflib
    except ImportError:
        raise InvalidTaxonomy(
            "Reading SKOS needs the package rdflib, which is not installed.",
            "pip install hcviz[taxonomy]",
        ) from None
    is_json = text.lstrip("\ufeff \t\r\n").startswith(("{", "["))
    try:
        if is_json:
            _refuse_remote(json.loads(text))
        return rdflib.Graph().parse(
            data=text,
            format="json-ld" if is_json else "turtle",
            publicID=BASE,
        )
    except InvalidTaxonomy:
        raise
    except RecursionError:
        raise InvalidTaxonomy("The SKOS is nested too deeply, or its context is a cycle.") from None
    except Exception as fault:  # rdflib's parsers raise many types
        reason = " ".join(str(fault).split())[:80] or type(fault).__name__
        raise InvalidTaxonomy(
            f"The SKOS cannot be read as {'JSON-LD' if is_json else 'Turtle'}: {reason}."
        ) from None


def _refuse_remote(document: Any) -> None:
    """Raise InvalidTaxonomy for a context in another file, which rdflib would fetch."""
    waiting = [document]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend(each.values())
            context = each.get("@context")
            parts = context if isinstance(context, list) else [context]
            if "@import" in each or not all(part is None or type(part) is dict for part in parts):
                raise InvalidTaxonomy(
                    "The JSON-LD refers to a context in another file.",
                    "Copy the context into this file.",
                )


class _Reader:
    """Reads groups and items from a graph of rdflib."""

    def __init__(self, graph: Any, text: str) -> None:
        from rdflib import URIRef

        self.graph = graph
        self.places = _places(text)
        self.skos = {
            name: URIRef(SKOS + name)
            for name in ("Concept", "ConceptScheme", "altLabel", "broader", "definition",
                         "narrower", "prefLabel")
        }  # fmt: skip
        self.terms = {name: URIRef(TERMS + name) for name in ("status", "locked", "order")}
        schemes = sorted(graph.subjects(URIRef(_TYPE), self.skos["ConceptScheme"]))
        if len(schemes) > 1:
            raise InvalidTaxonomy(
                f"The SKOS has {len(schemes)} schemes.", "Use a file with one scheme."
            )
        scheme = str(schemes[0]) if schemes else ""
        made_here = scheme.endswith("taxonomy")
        self.own = f"{scheme.removesuffix('taxonomy')}group/" if made_here else ""
        pairs = {*graph.subject_objects(self.skos["broader"])}
        pairs |= {(b, a) for a, b in graph.subject_objects(self.skos["narrower"])}
        self.concepts = {*graph.subjects(URIRef(_TYPE), self.skos["Concept"])}
        self.concepts |= {concept for pair in pairs for concept in pair}
        self.broader: dict[Any, list[Any]] = {each: [] for each in self.concepts}
        self.narrower: dict[Any, list[Any]] = {each: [] for each in self.concepts}
        for below, above in sorted(pairs):
            self.broader[below].append(above)
            self.narrower[above].append(below)

    def entry(self) -> Entry:
        """Return the whole taxonomy."""
        if not self.concepts:
            raise InvalidTaxonomy("The SKOS has no concepts.", "Use a file with skos:Concept.")
        labels = {each: self.labels(each) for each in self.concepts}
        for each in sorted(self.concepts, key=lambda each: labels[each]):
            if len(self.broader[each]) > 1:
                first, second = (labels[above][0] for above in self.broader[each][:2])
                raise InvalidTaxonomy(
                    f"{self.start(each)} concept {labels[each][0]!r} has more than one broader "
                    f"concept: {first!r} and {second!r}.",
                    "Keep one of them.",
                )
        top, reached = Entry(), set()
        tops = [each for each in self.concepts if not self.broader[each]]
        waiting: list[tuple[Entry, list[Any]]] = [(top, tops)]
        while waiting:
            entry, below = waiting.pop()
            reached.update(below)
            for each in sorted(below, key=lambda each: (self.order(each), labels[each], each)):
                if not self.narrower[each] and self.value(each, "status") is None:
                    entry.contents.append(labels[each][0])
                    continue
                made = self.group(each, labels[each])
                entry.contents.append(made)
                waiting.append((made, self.narrower[each]))
        if len(reached) < len(self.concepts):
            concept = min(self.concepts - reached, key=lambda each: labels[each])
            for _ in self.concepts:  # after enough steps upward, the concept is on the cycle
                concept = self.broader[concept][0]
            name = labels[concept][0]
            raise InvalidTaxonomy(
                f"{self.start(concept)} concept {name!r} is broader than itself, directly or "
                "through others.",
                "Remove one of the links of the cycle.",
            )
        return top

    def labels(self, concept: Any) -> list[str]:
        """Return the name, and the names in other languages."""
        found: dict[str, str] = {}
        for label in sorted(self.graph.objects(concept, self.skos["prefLabel"])):
            language = getattr(label, "language", None) or ""
            if language in found:
                where = f"in the language {language!r}" if language else "without a language"
                raise InvalidTaxonomy(
                    f"{self.start(concept)} concept {found[language]!r} has a second prefLabel "
                    f"{where}: {str(label)!r}.",
                    "Make one of them an altLabel.",
                )
            found[language] = str(label)
        if not found:
            raise InvalidTaxonomy(
                f"{self.start(concept)} concept <{concept}> has no prefLabel.", "Give it one."
            )
        order = sorted(found, key=lambda language: (language != "", language != "en", language))
        return [found[language] for language in order]

    def value(self, concept: Any, term: str) -> Any:
        return next(iter(sorted(self.graph.objects(concept, self.terms[term]))), None)

    def order(self, concept: Any) -> float:
        place = str(self.value(concept, "order"))
        return int(place) if re.fullmatch(r"[0-9]{1,9}", place) else float("inf")

    def group(self, concept: Any, labels: list[str]) -> Entry:
        others = sorted({str(each) for each in self.graph.objects(concept, self.skos["altLabel"])})
        notes = sorted(str(each) for each in self.graph.objects(concept, self.skos["definition"]))
        uri = str(concept)
        own = bool(self.own) and uri.startswith(self.own)
        return Entry(
            name=labels[0],
            note="\n".join(notes),
            alternatives=(*labels[1:], *others),
            status=str(self.value(concept, "status") or "draft"),  # type: ignore[arg-type]
            locked=str(self.value(concept, "locked")) in ("true", "1"),
            id=unquote(uri.removeprefix(self.own)) if own else uri,
            location=f"line {line}" if (line := self.line(concept)) else f"<{uri}>",
        )

    def start(self, concept: Any) -> str:
        """Return the start of a message about a concept: "Line 4: the", or "The"."""
        line = self.line(concept)
        return f"Line {line}: the" if line else "The"

    def line(self, concept: Any) -> int:
        """Return the line that describes the concept; 0 if the file writes it in another way."""
        uri = str(concept)
        names = [f"<{uri}>", f"<{uri.removeprefix(BASE)}>", f'"{uri}"']
        for prefix, space in self.graph.namespaces():
            if uri.startswith(str(space)):
                short = f"{prefix}:{uri.removeprefix(str(space))}"
                names += [short, f'"{short}"']
        found = [self.places[name] for name in names if name in self.places]
        return min(found, default=(True, 0))[1]


def _places(text: str) -> dict[str, tuple[bool, int]]:
    """Return for each name in the text the line that describes it. O(letters).

    It is the first line that starts with the name (Turtle's subject) or with ``"@id"`` and the
    name, or else the first line that has the name. The values say if it is such another line.
    """
    found: dict[str, tuple[bool, int]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        names = _NAME.findall(line)
        start = 1 if names[:1] == ['"@id"'] else 0
        for k, name in enumerate(names):
            elsewhere = k != start or not line.lstrip(" \t{,").startswith(names[0])
            place = (elsewhere, number)
            found[name] = min(found.get(name, place), place)
    return found


__all__ = ["read_skos"]
