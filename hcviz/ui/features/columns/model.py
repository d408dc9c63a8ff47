"""State of the sheet *Columns*, as plain JSON, and what its messages mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hcviz.core.column_kinds import TableColumn
from hcviz.core.column_options import ColumnOptions
from hcviz.core.errors import InvalidParameter
from hcviz.core.similarity import SIMILARITIES
from hcviz.datasets import Dataset
from hcviz.session.constraint import TableKind
from hcviz.ui.state.store import Store

#: Columns that the sheet lists.
MAX_LISTED = 300

#: What the page calls the kinds of columns that a person can choose.
KINDS = {
    "number": "numbers",
    "binary": "yes/no",
    "category": "categories",
    "date": "dates",
    "text": "text",
    "identifier": "identifiers",
}
#: What the page calls the other things that a column can hold.
DETECTED = {
    **KINDS,
    "constant": "the same value everywhere",
    "empty": "nothing",
    "image": "pictures",
    "class": "classes",
}
#: What the page calls the kinds of files.
FILE_KINDS: dict[TableKind, str] = {
    "features": "Table: each row is an item",
    "similarity": "Similarity matrix",
    "distance": "Distance matrix",
    "sequences": "Sequences",
    "comparisons": "Comparisons",
    "tree": "Tree",
    "card-sort": "Card sort",
}


def state(store: Store) -> dict[str, Any]:
    """Return the state of the sheet."""
    spec, data = store.session.data, store.dataset
    if spec.kind != "table" or data is None or data.labels != store.session.labels:
        return {}
    table = data.table
    columns = () if table is None else table.columns
    return {
        "file": spec.filename or spec.name,
        "format": "" if table is None else table.format,
        "items": data.n_items,
        "kind": "card-sort" if data.piles else spec.table_kind,
        "fileKinds": list(map(list, FILE_KINDS.items())),
        "sheets": [] if table is None else list(table.sheets),
        "sheet": "" if table is None else table.sheet,
        "columns": [_row(each) for each in columns[:MAX_LISTED]],
        "unlisted": max(0, len(columns) - MAX_LISTED),
        "columnCount": len(columns),
        "changed": bool(spec.columns),
        "kinds": list(map(list, KINDS.items())),
        "similarities": [[kind, title] for kind, (title, _) in SIMILARITIES.items()],
        "similarity": spec.similarity,
        "comparison": comparison_sentence(data, spec.similarity),
        "notes": list(data.notes),
    }


def depends_on(store: Store) -> Any:
    """Return what :func:`state` reads."""
    return store.session.data, store.dataset, store.session.labels


def _row(column: TableColumn) -> dict[str, Any]:
    return {
        "name": column.name,
        "detected": DETECTED[column.detected],
        "kind": column.kind,
        "used": column.used,
        "strip": column.strip,
        "weight": column.weight,
        "missing": column.missing,
        "distinct": column.distinct,
        "examples": list(column.examples),
        "fixed": column.detected in ("empty", "image"),
        "canUse": column.detected != "empty",
    }


def comparison_sentence(data: Dataset, similarity: str) -> str:
    """Return a sentence that says how a table's columns make similarities."""
    if data.table is None:
        return ""
    if similarity == "gower":
        return (
            "Gower's distance: numbers differ by their share of the range, categories by being "
            "unequal. Missing cells are left out pair by pair. Methods that read features get "
            "columns of 0 and 1."
        )
    text = f"{SIMILARITIES[similarity][0]}: "
    if similarity in ("cosine", "correlation"):
        text += "numbers are used as they are"
    else:
        text += "each column is scaled to the same variance"
    if "category" in (data.feature_kinds or ()):
        text += ", and each category is a column of 0 and 1"
    return text + "."


def read_options(rows: Any, before: Sequence[ColumnOptions]) -> tuple[ColumnOptions, ...]:
    """Return the options of columns from a message.

    ``before`` are the present options. Those of columns that are not in the message stay.

    Raises
    ------
    InvalidParameter
        If the message has another form, or an option is invalid.
    """
    try:
        found = {
            str(row["name"]): ColumnOptions(
                str(row["name"]),
                str(row["kind"]) if row["kind"] in KINDS else "",  # type: ignore[arg-type]
                bool(row["used"]),
                bool(row["strip"]),
                float(row["weight"]),
            )
            for row in rows
        }
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InvalidParameter(
            "A weight is not a number.", "Write a number such as 1, 2 or 0.5."
        ) from None
    kept = {each.name: each for each in before}
    return tuple({**kept, **found}.values())
