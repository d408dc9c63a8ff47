"""Taxonomies as nested JSON, with all properties of groups."""

from __future__ import annotations

import json
from typing import Any

from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.entry import Entry

FORMAT, VERSION = "hcviz-taxonomy", 1


def write_json(top: Entry) -> str:
    """Return JSON in which the ``contents`` of a group are items (texts) and groups (objects)."""

    def plain(entry: Entry) -> dict[str, Any]:
        return {
            "name": entry.name, "id": entry.id, "note": entry.note,
            "alternatives": list(entry.alternatives), "status": entry.status,
            "locked": entry.locked, "contents": contents(entry),
        }  # fmt: skip

    def contents(entry: Entry) -> list[Any]:
        return [each if isinstance(each, str) else plain(each) for each in entry.contents]

    try:
        document = {"format": FORMAT, "version": VERSION, "contents": contents(top)}
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    except RecursionError:
        raise InvalidTaxonomy("The groups are nested too deeply for JSON.") from None


def read_json(text: str) -> Entry:
    """Read the text of :func:`write_json`.

    Raises
    ------
    InvalidTaxonomy
        If the text is not JSON of this format and version, or a value has a wrong type.
    """
    try:
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InvalidTaxonomy(
                "The JSON is not a taxonomy.", f'Its "format" must be "{FORMAT}", as in to_json().'
            )
        if document.get("version") != VERSION:
            raise InvalidTaxonomy(
                f"The taxonomy has version {document.get('version')!r} of the format, which this "
                "hcviz cannot read.",
                f"It reads version {VERSION}.",
            )
        return _entry(document, "the file")
    except RecursionError:
        raise InvalidTaxonomy("The groups are nested too deeply for JSON.") from None
    except ValueError as fault:
        raise InvalidTaxonomy(f"The taxonomy cannot be read as JSON: {fault}.") from None


_KINDS = [
    ("name", str, "a text"), ("note", str, "a text"), ("id", str, "a text"),
    ("locked", bool, "true or false"), ("contents", list, "a list"),
    ("alternatives", list, "a list"),
]  # fmt: skip


def _entry(given: Any, location: str) -> Entry:
    if not isinstance(given, dict):
        raise InvalidTaxonomy(f"In {location} there is {given!r} where a group should be.")
    name = given.get("name", "")
    here = f"in {name!r}" if name else location
    for key, kind, word in _KINDS:
        if not isinstance(given.get(key, kind()), kind):
            raise InvalidTaxonomy(f"The {key} {here} must be {word}, not {given[key]!r:.60}.")
    return Entry(
        name=name,
        contents=[
            each if isinstance(each, str) else _entry(each, here)
            for each in given.get("contents", [])
        ],
        note=given.get("note", ""),
        alternatives=tuple(str(each) for each in given.get("alternatives", [])),
        status=given.get("status", "draft"),
        locked=given.get("locked", False),
        id=given.get("id", ""),
    )


__all__ = ["read_json", "write_json"]
