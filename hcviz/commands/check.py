"""The command ``hcviz check``, which describes a file: a sentence, and a table's columns."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hcviz
from hcviz.commands.files import (
    read_data,
    read_file,
    read_text,
    read_tree,
    split_constraints,
)
from hcviz.commands.listing import as_table
from hcviz.commands.standard_input import standard_input
from hcviz.commands.tree_json import is_tree_json
from hcviz.core.build import build
from hcviz.core.csv_cells import unescape_cell
from hcviz.core.errors import InvalidTree
from hcviz.core.named_conflicts import named_conflicts
from hcviz.core.not_groups import check_avoidable
from hcviz.core.text import count_noun, shorten
from hcviz.datasets import Dataset
from hcviz.io.answers import count_comparisons
from hcviz.io.arrays import is_array
from hcviz.io.cells import missing_cells
from hcviz.io.session_file import load_session
from hcviz.io.triplet_csv import CLADE_TEXTS, REQUIRED_COLUMNS, read_triplet_csv
from hcviz.io.workbook import is_workbook
from hcviz.metrics import consistency
from hcviz.session.constraint import TableKind
from hcviz.taxonomy.formats import NEWICK

#: Columns that are listed, and letters of a cell of the list.
MAX_LISTED, MAX_LETTERS = 50, 60
#: Names of the kinds of questions in the output.
QUESTION_NAMES = {
    "triplets": "near or far",
    "quadruplets": "quadruplets",
    "central": "most central",
    "odd": "odd one out",
}


def check(options: argparse.Namespace) -> None:
    """Print the description of a file, as text or as a JSON object."""
    text, found = description(options.file, options.kind, options.items, options.column)
    print(json.dumps(found, ensure_ascii=False) if options.json else text)


def _is_features(path: Path) -> bool:
    """Return True for an ``.npy`` file that is not a linkage."""
    if path.suffix.lower() != ".npy":
        return False
    try:
        read_tree(path)
    except InvalidTree:
        return is_array(read_file(path), path.name)
    return False


def describe(
    path: Path, kind: TableKind, items: Path | None = None, columns: Sequence[str] = ()
) -> str:
    """Return the description of a file's content. A damaged file raises HcvizError."""
    return description(path, kind, items, columns)[0]


def description(
    path: Path, kind: TableKind, items: Path | None = None, columns: Sequence[str] = ()
) -> tuple[str, dict[str, Any]]:
    """Return the description of a file's content, and its numbers as JSON values.

    The description is one sentence. For a table, lines follow: each column, and the reader's notes.
    """
    found: dict[str, Any] = {"file": str(path)}
    shown = "standard input" if standard_input(path) is not None else str(path)
    lines: list[str] = []
    suffix = path.suffix.lower()
    is_json = suffix == ".json" and is_tree_json(read_text(path))
    if is_json or (suffix in (*NEWICK, ".npy") and not _is_features(path)):
        tree = read_tree(path).tree
        shape = "binary" if tree.is_binary else "with polytomies"
        text = f"a tree over {tree.n_leaves} items, {tree.n_internal} inner nodes, {shape}."
        found |= {
            "content": "tree", "items": tree.n_leaves, "inner_nodes": tree.n_internal,
            "binary": tree.is_binary, "names": tree.labels is not None,
        }  # fmt: skip
        return f"{shown}: {text}", found | {"description": text}
    content = read_file(path)
    head = content.partition(b"\n")[0].decode("utf-8-sig", "replace").lower().strip().split(",")
    if content.startswith(b"PK") and not (
        is_array(content, path.name) or is_workbook(content)
    ):  # a session file
        session = load_session(content)
        text = (
            f"a session on {session.data.name} with {session.n_items} items and "
            f"{count_noun(len(session.constraints), 'constraint')}."
        )
        found |= {
            "content": "session", "items": session.n_items,
            "constraints": len(session.constraints),
        }  # fmt: skip
    elif set(REQUIRED_COLUMNS) <= set(head):
        constraints, named = count_constraints(content.decode("utf-8-sig", "replace"))
        text = f"{count_noun(constraints, 'constraint')} on {named} items, without a conflict."
        found |= {"content": "constraints", "items": named, "constraints": constraints}
    else:
        data = read_data(path, kind, items, columns)
        text = describe_table(data, kind)
        found |= table_numbers(data)
        lines = [*column_lines(data), *(f"note: {note}" for note in notes_of(data))]
    return "\n".join((f"{shown}: {text}", *lines)), found | {"description": text}


def table_numbers(data: Dataset) -> dict[str, Any]:
    """Return the numbers of a table or of answers as JSON values."""
    found: dict[str, Any] = {"content": "table", "items": data.n_items, "notes": list(data.notes)}
    if data.comparisons is not None:
        agreement = consistency(data.comparisons)
        found |= {
            "content": "answers", "answers": dict(data.asked or {}),
            "comparisons": len(data.comparisons), "contradictions": len(agreement.contradictions),
        }  # fmt: skip
    elif data.features is not None:
        found |= {
            "features": data.features.shape[1],
            "missing": data.n_missing,
        }
        if data.table is not None:
            found["columns"] = [
                {"name": each.name, "read_as": each.kind, "used": each.used,
                 "missing": each.missing, "values": each.distinct}
                for each in data.table.columns
            ]  # fmt: skip
    elif data.piles:
        found["content"] = "card sort"
    elif data.similarity is not None:
        found["content"] = "similarity" if data.dissimilarity is None else "distance"
    else:
        found["content"] = "sequences"
    return found


def count_constraints(text: str) -> tuple[int, int]:
    """Return the numbers of constraints and of items. The items are the names in the text.

    Raises
    ------
    InconsistentTriplets
        If no tree satisfies the constraints together.
    """
    rows = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    columns = {name.strip().lower(): name for name in rows.fieldnames or ()}
    clade_texts = {text for texts in CLADE_TEXTS.values() for text in texts}
    cells = ((row[columns[name]] or "").strip() for row in rows for name in REQUIRED_COLUMNS)
    named = dict.fromkeys(map(unescape_cell, cells))
    labels = [name for name in named if name and name not in clade_texts]
    constraints = read_triplet_csv(text, labels)
    triplets, groups, not_groups = split_constraints(constraints)
    with named_conflicts(triplets, groups, labels):
        n = len(labels) + 1  # the data may have more items
        build(n, triplets, groups)
        check_avoidable(n, not_groups, triplets, groups)
    return len(constraints), len(labels)


def describe_table(table: Dataset, kind: TableKind) -> str:
    """Describe a data set from a table."""
    if table.comparisons is not None:
        return describe_answers(table)
    if isinstance(table.oracle, hcviz.StringOracle):
        letters = [len(text) for text in table.oracle.strings]
        return f"{len(letters)} sequences of {min(letters)} to {max(letters)} letters."
    if table.features is None and kind == "features":  # only card sorts have this form
        return f"a card sort. {table.notes[0]}"
    if table.features is None:
        what = "similarity" if table.dissimilarity is None else "distance"
        return f"a {what} matrix over {table.n_items} items."
    rows, columns = table.features.shape
    features = count_noun(columns, "feature")
    if table.table is None:
        missing = f", {count_noun(table.n_missing, 'missing cell')}" if table.n_missing else ""
        return f"a table of {rows:,} items with {features}{missing}."
    return f"a table of {rows:,} items with {features}. {table.table.sentence()}"


def column_lines(data: Dataset) -> list[str]:
    """Return a line for each column of a table: its name, and how it is read."""
    columns = () if data.table is None else data.table.columns
    rows = [
        {
            "column": _on_one_line(each.name),
            "read as": each.kind if each.used else "colours" if each.strip else "left out",
            "values": f"{each.distinct:,}",
            "missing": f"{each.missing:,}" if each.missing else "-",
            "examples": _on_one_line(", ".join(each.examples)),
        }
        for each in columns[:MAX_LISTED]
    ]
    more = len(columns) - MAX_LISTED
    lines = as_table(rows).splitlines() if rows else []
    return [*lines, f"and {count_noun(more, 'more column')}"] if more > 0 else lines


def _on_one_line(text: str) -> str:
    """Return a text of the file for one cell of the list, without characters that do not print."""
    return shorten("".join(char if char.isprintable() else " " for char in text), MAX_LETTERS)


def notes_of(data: Dataset) -> list[str]:
    """Return the reader's notes on a table; the sentence has the number of missing cells."""
    if data.table is None:
        return []
    missing = f"{missing_cells(data.n_missing, data.n_cells)}."
    return [note for note in data.notes if note != missing]


def describe_answers(data: Dataset) -> str:
    """Describe answers: their number and questions, their items, and their agreement."""
    known, asked = data.comparisons, data.asked or {}
    assert known is not None
    seen, found = known.appearances(data.n_items), consistency(known)
    never = int((seen == 0).sum())
    counts = ", ".join(f"{answers:,} ({QUESTION_NAMES[kind]})" for kind, answers in asked.items())
    rare = sorted(np.flatnonzero(seen).tolist(), key=lambda item: int(seen[item]))[:3]
    named = ", ".join(f"{data.labels[item]} ({seen[item]:,})" for item in rare)
    return (
        f"answers about {data.n_items} items: {counts}; {count_comparisons(len(known))}. "
        + (f"{never} of the items {'is' if never == 1 else 'are'} in none. " if never else "")
        + f"Least often seen: {named}; most often: {count_noun(int(seen.max()), 'time')}. "
        + f"Of {count_noun(found.questions, 'different question')} {found.repeated:,} "
        + f"{'was' if found.repeated == 1 else 'were'} answered more than once, "
        + f"{len(found.contradictions):,} of them with different answers."
    )
