"""The file formats of taxonomies, by the suffixes of their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hcviz.taxonomy.taxonomy import Taxonomy

NEWICK = (".nwk", ".newick", ".tree", ".tre")

Reader = Callable[[str, Sequence[str] | None], Taxonomy]


@dataclass(frozen=True)
class Format:
    """A format in which the page saves groups.

    Attributes
    ----------
    title : name of the format
    ending : end of the file's name
    mime : media type
    write : returns the text for a taxonomy and a title
    """

    title: str
    ending: str
    mime: str
    write: Callable[[Taxonomy, str], str]


#: The formats by short keys, which no other format gets.
FORMATS: dict[str, Format] = {
    "markdown": Format("Outline (Markdown)", ".md", "text/markdown", lambda t, _: t.to_markdown()),
    "text": Format("Indented text", ".txt", "text/plain", lambda t, _: t.to_text()),
    "levels": Format("Table of levels (CSV)", "-levels.csv", "text/csv", lambda t, _: t.to_csv()),
    "paths": Format(
        "Table of paths (CSV)", "-paths.csv", "text/csv", lambda t, _: t.to_csv("paths")
    ),
    "json": Format("JSON", ".json", "application/json", lambda t, _: t.to_json()),
    "html": Format("Web page (HTML)", ".html", "text/html", lambda t, title: t.to_html(title)),
    "opml": Format("Outliner (OPML)", ".opml", "text/x-opml", lambda t, _: t.to_opml()),
    "skos": Format("SKOS (Turtle)", ".ttl", "text/turtle", lambda t, _: t.to_skos()),
    "json-ld": Format(
        "SKOS (JSON-LD)", ".jsonld", "application/ld+json", lambda t, _: t.to_skos("json-ld")
    ),
    "newick": Format("Tree with names (Newick)", ".nwk", "text/plain", lambda t, _: t.to_newick()),
    "nhx": Format("Tree with names (NHX)", ".nhx", "text/plain", lambda t, _: t.to_newick("nhx")),
    "phyloxml": Format(
        "Tree with names (phyloXML)", ".phyloxml", "application/xml", lambda t, _: t.to_phyloxml()
    ),
}

#: Suffix -> the format that a file with it is written in.
FORMAT_OF_SUFFIX: dict[str, str] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".csv": "levels",
    ".txt": "text",
    ".opml": "opml",
    ".ttl": "skos",
    ".jsonld": "json-ld",
    ".nhx": "nhx",
    ".phyloxml": "phyloxml",
    ".xml": "phyloxml",
    **dict.fromkeys(NEWICK, "newick"),
    ".html": "html",
    ".htm": "html",
}

#: Suffix -> function that reads such a file.
READERS: dict[str, Reader] = {
    ".md": Taxonomy.from_markdown,
    ".markdown": Taxonomy.from_markdown,
    ".json": Taxonomy.from_json,
    ".csv": Taxonomy.from_csv,
    ".txt": Taxonomy.from_text,
    ".opml": Taxonomy.from_opml,
    ".ttl": Taxonomy.from_skos,
    ".jsonld": Taxonomy.from_skos,
    ".nhx": Taxonomy.from_newick,
    **dict.fromkeys(NEWICK, Taxonomy.from_newick),
}

__all__ = ["FORMATS", "NEWICK", "READERS", "Format", "Reader"]
