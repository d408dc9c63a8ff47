"""Answers read all at once, where every line of the file is as the first: a million a second or so.

Whatever is out of the ordinary (a quoted cell, an empty line, a name that is not known, an item
compared with itself, a count that is none) is left to :mod:`hcviz.io.comparison_csv`, which reads
line by line, and knows what to say and about which line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: No line is longer: the csv module takes no longer cell.
LONGEST = 100_000


#: Of a column, which of its different cells each is, and those.
Column = tuple[Any, Any]


@dataclass(frozen=True)
class Layout:
    """How a file of answers is laid out.

    ``columns`` of ``header`` hold names of items: of ``known`` or, where that is None, numbered in
    order of appearance; ``called`` is what an item is called whose cell (stripped) this is.
    ``headed``: the header is the first line of the file. ``asks``: its column ``question`` says
    what each line answers.
    """

    separator: str
    header: Sequence[str]
    columns: Sequence[str]
    known: Sequence[str] | None
    called: Callable[[str], str]
    headed: bool = True
    asks: bool = False


@dataclass(frozen=True)
class Rows:
    """``items`` int32 (m, width), numbered by ``index`` (names in that order); ``counts`` int64
    (m,); ``kinds``: the question of each, strings (m,), or None where the file does not say."""

    items: NDArray[np.int32]
    counts: NDArray[np.int64]
    kinds: NDArray[Any] | None
    index: Mapping[str, int]


def regular_rows(
    text: str,
    layout: Layout,
    counted: Callable[[str], int | None],
    asked: Callable[[str], str | None],
) -> Rows | None:
    """The rows of ``text``; None where a line needs a closer look.

    ``counted`` and ``asked`` read cells of the columns ``count`` and ``question``; None: they
    cannot be read. O(letters), of which Python's part is O(different cells).
    """
    text, header = text.rstrip("\r\n"), list(layout.header)
    if len(set(header)) < len(header):  # columns without a name
        return None
    if not _regular(text, layout.separator, len(header), 1 + layout.headed):
        return None
    others = ["count"] * ("count" in header) + ["question"] * layout.asks
    frame = pd.read_csv(
        io.StringIO(text), sep=layout.separator, header=None, skiprows=int(layout.headed),
        names=header, usecols=[*layout.columns, *others], index_col=False, dtype=str,
        na_filter=False, quoting=csv.QUOTE_NONE, skip_blank_lines=False, low_memory=False,
    )  # fmt: skip
    cells = {name: pd.factorize(frame.pop(name)) for name in list(frame)}
    items, index = _numbered([cells[name] for name in layout.columns], layout)
    if items is None or _with_itself(items):
        return None
    counts = np.ones(len(items), np.int64)
    if "count" in header:
        counts = _each(cells["count"], counted, np.int64)
    kinds = _each(cells["question"], asked, str) if layout.asks else None
    if counts is None or (layout.asks and kinds is None):
        return None
    return Rows(items, counts, kinds, index)


def _regular(text: str, separator: str, width: int, least: int) -> bool:
    """Whether there are ``least`` lines or more, each of ``width`` cells, none of them quoted."""
    if not text or '"' in text or "\0" in text or text.count("\r") != text.count("\r\n"):
        return False
    letters = np.frombuffer(text.encode(), np.uint8)
    ends = np.append(np.flatnonzero(letters == ord("\n")), letters.size)
    cuts = np.flatnonzero(letters == ord(separator))
    if ends.size < least or cuts.size != ends.size * (width - 1):
        return False
    of_line = cuts.reshape(ends.size, width - 1)
    apart = (of_line[:, -1] < ends).all() and (of_line[1:, 0] > ends[:-1]).all()
    return bool(apart and np.diff(ends, prepend=-1).max() <= LONGEST)


def _numbered(columns: Sequence[Column], layout: Layout) -> tuple[Any, Mapping[str, int]]:
    """The columns' items, int32 (m, width), and the names' numbers; None for the items where a name
    is empty or not known."""
    names = [[layout.called(cell.strip()) for cell in different] for _, different in columns]
    everybody = dict.fromkeys(chain.from_iterable(names)) if layout.known is None else layout.known
    index = {name: at for at, name in enumerate(everybody)}
    if any(not name or name not in index for name in chain.from_iterable(names)):
        return None, index
    items = np.stack(
        [
            np.array([index[name] for name in some], np.int32)[which]
            for (which, _), some in zip(columns, names, strict=True)
        ],
        axis=1,
    )
    if layout.known is not None:
        return items, index
    numbers, order = pd.factorize(items.ravel())
    called = list(index)
    by_row = {called[item]: at for at, item in enumerate(order.tolist())}
    return numbers.astype(np.int32).reshape(items.shape), by_row


def _with_itself(items: NDArray[np.int32]) -> bool:
    pairs = [(0, 1), (0, 2), (1, 2)] if items.shape[1] == 3 else [(0, 1), (2, 3)]
    return any((items[:, i] == items[:, j]).any() for i, j in pairs)


def _each(column: Column, read: Callable[[str], Any], dtype: Any) -> Any:
    """What each cell reads as; None where one of them does not."""
    which, different = column
    values = [read(cell) for cell in different]
    if any(value is None for value in values):
        return None
    return np.array(values, dtype=dtype)[which]


__all__ = ["Layout", "Rows", "regular_rows"]
