"""``hcviz convert``: a tree or a taxonomy from one file to another, by the files' names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from hcviz.commands.files import NEWICK, read_text, read_tree, write_file, write_tree
from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy import Taxonomy

Reader = Callable[[str, Sequence[str] | None], Taxonomy]

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
WRITERS: dict[str, Callable[[Taxonomy], str]] = {
    ".md": Taxonomy.to_markdown,
    ".markdown": Taxonomy.to_markdown,
    ".json": Taxonomy.to_json,
    ".csv": Taxonomy.to_csv,
    ".txt": Taxonomy.to_text,
    ".opml": Taxonomy.to_opml,
    ".ttl": Taxonomy.to_skos,
    ".jsonld": lambda taxonomy: taxonomy.to_skos("json-ld"),
    ".nhx": lambda taxonomy: taxonomy.to_newick("nhx"),
    ".phyloxml": Taxonomy.to_phyloxml,
    ".xml": Taxonomy.to_phyloxml,
    **dict.fromkeys(NEWICK, Taxonomy.to_newick),
}
#: Also written: a page, with the file's name as its title.
PAGES = (".html", ".htm")
#: What is a tree without groups, unless the other file is a taxonomy.
TREES = (*NEWICK, ".npy")
FORMS_TO_READ = " ".join(READERS)
FORMS_TO_WRITE = " ".join((*WRITERS, *PAGES))


def convert(options: argparse.Namespace) -> None:
    labels = None
    if options.labels is not None:
        labels = read_text(options.labels).splitlines()
    source, target = options.source.suffix, options.target.suffix
    known = {*READERS, *WRITERS, *PAGES} - {*TREES}
    if {source, target} & known:
        convert_taxonomy(options.source, options.target, labels, options.style)
    else:
        convert_tree(options.source, options.target, labels)


def convert_tree(source: Path, target: Path, labels: Sequence[str] | None) -> None:
    tree, names = read_tree(source, labels)
    if target.suffix == ".npy" and names is not None and labels is None:
        beside = target.with_suffix(".labels.txt")
        write_file(beside, "".join(f"{name}\n" for name in names).encode())
        print(f"hcviz: the items' names, in order, are in {beside}.", file=sys.stderr)
    write_tree(target, tree, names)


def convert_taxonomy(source: Path, target: Path, labels: Sequence[str] | None, style: str) -> None:
    """Groups and their names, with what else both formats give back; ``labels`` are the items."""
    if source.suffix not in READERS:
        raise InvalidTaxonomy(f"{source}: a taxonomy is read from {FORMS_TO_READ}.")
    if target.suffix not in (*WRITERS, *PAGES):
        raise InvalidTaxonomy(f"{target}: a taxonomy is written as {FORMS_TO_WRITE}.")
    try:
        taxonomy = READERS[source.suffix](read_text(source), labels)
    except InvalidTaxonomy as fault:
        raise InvalidTaxonomy(f"{source}: {fault.message}", fault.hint) from None
    if target.suffix in PAGES:
        text = taxonomy.to_html(target.stem)
    elif target.suffix == ".csv" and style == "paths":
        text = taxonomy.to_csv("paths")
    else:
        text = WRITERS[target.suffix](taxonomy)
    write_file(target, text.encode() if text.endswith("\n") else f"{text}\n".encode())


__all__ = ["FORMS_TO_READ", "FORMS_TO_WRITE", "convert"]
