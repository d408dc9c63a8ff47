"""Constraints as CSV: one triplet per row, with names of items.

    together_1,together_2,apart,weight,author,note,group,enabled,time
    bat,whale,trout,1.0,you,,4,true,2026-11-21T12:00:00+00:00
    whale,lion,trout,1.0,you,,4,true,2026-11-21T12:00:00+00:00

Only the first three columns are required. Rows with the same number in the column ``group`` are one
constraint: here, bat, whale and lion together, apart from trout. If they name several items under
``apart``, the group is apart from all of them. A row without a number is a constraint by itself.
``*`` in the column ``apart`` means everything else: the items are a group, a clade of the tree. If
an item is called ``*``, it is written ``(everything else)``. ``!`` or ``(not a group)`` means that
the items are not a group.

Files with three columns and no header need the parameter ``order``, since cblearn's lists, for
instance, have the order (anchor, near, far).
"""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hcviz.core.csv_cells import unescape_cell, write_csv
from hcviz.core.errors import InvalidConstraint
from hcviz.core.text import closest_name, shorten
from hcviz.io.decoding import decode_utf8
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP, as_apart
from hcviz.session.model import Constraint

REQUIRED_COLUMNS = ("together_1", "together_2", "apart")
COLUMNS = (*REQUIRED_COLUMNS, "weight", "author", "note", "group", "enabled", "time")

#: Possible orders of three columns without a header.
Order = Literal["together-together-apart", "anchor-near-far"]
ORDERS: tuple[Order, ...] = get_args(Order)
_ANCHOR_COLUMNS = ("anchor", "near", "far")

#: Texts in the column ``apart`` that are not names: the items are a clade, or are not one.
CLADE_TEXTS = {EVERYTHING_ELSE: ("*", "(everything else)"), NOT_A_GROUP: ("!", "(not a group)")}
_MEANING = {text: apart for apart, texts in CLADE_TEXTS.items() for text in texts}

_BOOLEANS = {
    "true": True,
    "yes": True,
    "1": True,
    "": True,
    "false": False,
    "no": False,
    "0": False,
}


@dataclass(frozen=True)
class _Row:
    """One row; ``line`` is its last line in the file, and ``group`` None for a single row."""

    line: int
    pair: tuple[int, int]
    apart: int
    rest: tuple[float, str, str, bool, str]
    group: int | None


def write_triplet_csv(constraints: Sequence[Constraint], labels: Sequence[str]) -> str:
    """Return the constraints as CSV text, with all fields. One row joins two items.

    A constraint of k items before m others gives k + m - 2 rows with the same number.
    """
    rows: list[tuple[str | int, ...]] = [COLUMNS]
    for each in constraints:
        enabled = "true" if each.enabled else "false"
        rest = (repr(each.weight), each.author, each.note, each.id, enabled, each.time)
        odd = [labels[item] for item in each.outsiders] or [_clade_text(each, labels)]
        pairs = [(labels[a], labels[b]) for a, b in itertools.pairwise(each.group)]
        for pair in pairs:
            rows.append((*pair, odd[0], *rest))
        for name in odd[1:]:
            rows.append((*pairs[0], name, *rest))
    return write_csv(rows)


def _clade_text(constraint: Constraint, labels: Sequence[str]) -> str:
    """Return the text for a statement about a clade that no item has as its name."""
    texts = CLADE_TEXTS[EVERYTHING_ELSE if constraint.is_clade else NOT_A_GROUP]
    found = next((text for text in texts if text not in labels), None)
    if found is None:
        raise InvalidConstraint(
            f"Items are called {' and '.join(texts)}. In a constraints file these texts mean "
            f"{'everything else' if constraint.is_clade else 'that items are not a group'}.",
            "Rename one of these items, or save a session file.",
        )
    return found


def read_triplet_csv(
    content: str | bytes, labels: Sequence[str], order: Order | None = None
) -> tuple[Constraint, ...]:
    """Read the constraints in a CSV text, in the order of their first rows.

    Parameters
    ----------
    content : the file
    labels : names of the items
    order : order of three columns, with or without a header. ``together-together-apart`` is ab|c;
        ``anchor-near-far`` is cblearn's order, whose row (a, b, c) is read as ab|c. With an order,
        items may also be numbers from 0, as in cblearn's arrays.

    Returns
    -------
    tuple of Constraint
        The number of a group is the constraint's id. Other constraints get unused numbers.

    Raises
    ------
    InvalidConstraint
        If the file cannot be read. The message has line and column, and the nearest name for an
        unknown item.

    Notes
    -----
    An answer (anchor, near, far) says less than a triplet: the anchor is nearer to the second item
    than to the third.
    """
    if order is not None and order not in ORDERS:
        raise InvalidConstraint(f"There is no order {order!r}.", f"Known: {', '.join(ORDERS)}.")
    rows = _read_rows(
        decode_utf8(content, "The constraints file", "Save it as CSV UTF-8.", InvalidConstraint),
        labels,
        order,
    )
    gathered: dict[tuple[str, int], list[_Row]] = {}
    for row in rows:
        key = ("line", row.line) if row.group is None else ("group", row.group)
        gathered.setdefault(key, []).append(row)
    taken = {row.group for row in rows}
    free = (number for number in range(1, 2 * len(rows) + 2) if number not in taken)
    return tuple(
        _constraint(some, some[0].group if some[0].group is not None else next(free), len(labels))
        for some in gathered.values()
    )


# ---------------------------------------------------------------------- reading


def _read_rows(text: str, labels: Sequence[str], order: Order | None) -> list[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        lines: Iterable[list[str]] = reader
        first = next(reader, [])
        header = _check_header(first) if order is None else list(REQUIRED_COLUMNS)
        if order is not None and not _names_columns(first, order):
            lines = itertools.chain([first], reader)
        index = {name: item for item, name in enumerate(labels)}
        if order is not None:
            index = {str(item): item for item in range(len(labels))} | index
        rows = []
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) > len(header):
                raise InvalidConstraint(
                    f"Line {reader.line_num} of the constraints has {len(cells)} cells, the "
                    f"{'header' if order is None else 'named order'} {len(header)}.",
                    "Put names that contain a comma into double quotes.",
                )
            cells += [""] * (len(header) - len(cells))
            rows.append(_row(dict(zip(header, cells, strict=True)), reader.line_num, index))
        return rows
    except csv.Error as fault:
        raise InvalidConstraint(
            f"Line {reader.line_num} of the constraints is not CSV: {fault}."
        ) from None


def _check_header(cells: list[str]) -> list[str]:
    header = _lowered(cells)
    if not set(REQUIRED_COLUMNS) <= set(header):
        begins = ",".join(cells)[:60]
        if set(_ANCHOR_COLUMNS) <= set(header):
            raise InvalidConstraint(
                f"The file holds comparisons (anchor, near, far), not constraints: its first line "
                f"is {begins!r}.",
                "A comparison says less than a constraint. To read each as a constraint, open the "
                "file as anchor-near-far.",
            )
        raise InvalidConstraint(
            f"The constraints file has no header: its first line is {begins!r}.",
            f"Begin with a line {','.join(REQUIRED_COLUMNS)!r} (more columns may follow), or name "
            f"the order of its columns: {' or '.join(ORDERS)}.",
        )
    for name, count in Counter(header).items():
        if count > 1:
            raise InvalidConstraint(f"The constraints file has the column {name!r} twice.")
        if name not in COLUMNS:
            raise InvalidConstraint(
                f"The constraints file has an unknown column {name!r}.",
                f"Known: {', '.join(COLUMNS)}.",
            )
    return header


def _lowered(cells: list[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]


def _names_columns(cells: list[str], order: Order) -> bool:
    """Return True if the first line is a header of this order.

    A header of the other order, or with the same columns in another order, is an error.
    """
    found = set(_lowered(cells))
    mine, other = (
        (_ANCHOR_COLUMNS, REQUIRED_COLUMNS)
        if order == "anchor-near-far"
        else (REQUIRED_COLUMNS, _ANCHOR_COLUMNS)
    )
    if found >= set(other) or (found >= set(mine) and _lowered(cells) != list(mine)):
        raise InvalidConstraint(
            f"The file was opened as {order}, but its first line is {','.join(cells)[:60]!r}.",
            "Open it as constraints with a header, or with its columns in that order.",
        )
    return _lowered(cells) == list(mine)


def _row(cells: dict[str, str], line: int, index: dict[str, int]) -> _Row:
    items = [_item(cells[name], line, name, index) for name in REQUIRED_COLUMNS[:2]]
    apart = cells["apart"]
    if apart not in index and apart.strip() in _MEANING:
        items.append(_MEANING[apart.strip()])
    else:
        items.append(_item(apart, line, "apart", index))
    if len(set(items)) < 3:
        raise InvalidConstraint(
            f"Line {line} of the constraints names one item twice: "
            f"{', '.join(cells[name] for name in REQUIRED_COLUMNS)}.",
            "A triplet needs three different items.",
        )
    weight = _number(cells.get("weight", ""), line)
    enabled = _BOOLEANS.get(cells.get("enabled", "").strip().lower())
    if enabled is None:
        raise InvalidConstraint(
            f"Line {line}, column enabled: {cells['enabled']!r} is neither true nor false."
        )
    group = cells.get("group", "").strip()
    if group and not (group.isascii() and group.isdigit() and len(group) < 16):
        raise InvalidConstraint(
            f"Line {line}, column group: {group!r} is not a whole number.",
            "Rows of one constraint have the same number. Leave it empty for single rows.",
        )
    author, note = (unescape_cell(cells.get(name, "")) for name in ("author", "note"))
    author = author if "author" in cells else "you"
    rest = (weight, author, note, enabled, cells.get("time", ""))
    return _Row(line, (items[0], items[1]), items[2], rest, int(group) if group else None)


def _item(name: str, line: int, column: str, index: dict[str, int]) -> int:
    plain = unescape_cell(name)
    for spelling in (plain, plain.strip(), unescape_cell(name.strip()), name, name.strip()):
        if spelling in index:
            return index[spelling]
    near = closest_name(name.strip(), index)
    raise InvalidConstraint(
        f"Line {line}, column {column}: there is no item {shorten(name.strip())!r}.",
        f"The nearest is {near!r}." if near else "Constraints must name items of the data.",
    )


def _number(cell: str, line: int) -> float:
    if not cell.strip():
        return 1.0
    try:
        weight = float(cell)
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0):
        raise InvalidConstraint(f"Line {line}, column weight: {cell!r} is not a positive number.")
    return weight


def _constraint(rows: list[_Row], number: int, n_items: int) -> Constraint:
    """Return the constraint of rows with the same group number, which must agree."""
    first = rows[0]
    members = dict.fromkeys(first.pair)  # in their order
    for row in rows[1:]:
        where = f"Line {row.line} of the constraints is in group {row.group} with line {first.line}"
        if row.apart != first.apart and min(row.apart, first.apart) < 0:
            raise InvalidConstraint(
                f"{where}, but only one of them is apart from everything else, or is not a group.",
                "Give it another group number, or none.",
            )
        if row.rest != first.rest:
            raise InvalidConstraint(
                f"{where}, but differs from it in weight, author, note, enabled or time."
            )
        if not any(item in members for item in row.pair):
            raise InvalidConstraint(
                f"{where}, but shares no item with the rows above it.",
                "Each row of a group must share an item with the rows before it.",
            )
        members |= dict.fromkeys(row.pair)
    odd = dict.fromkeys(row.apart for row in rows)
    if members.keys() & odd.keys():
        raise InvalidConstraint(
            f"Line {rows[-1].line} of the constraints: group {first.group} contains an item that "
            "is apart from it."
        )
    if first.apart < 0 and len(members) == n_items:
        raise InvalidConstraint(
            f"Line {first.line} of the constraints begins a group of all {n_items} items. It says "
            "nothing.",
            "Leave out the items that do not belong to it.",
        )
    weight, author, note, enabled, time = first.rest
    return Constraint(number, tuple(members), as_apart(odd), author, weight, note, enabled, time)
