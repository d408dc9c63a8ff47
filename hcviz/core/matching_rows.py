"""Convert new rows of a table to the features that its items have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.column_kinds import TRUTH
from hcviz.core.errors import InvalidData
from hcviz.core.table_cells import cell_text, is_missing, parse, quote
from hcviz.core.table_dates import DateScale, parse_dates
from hcviz.core.text import count_noun, join_names
from hcviz.core.text_features import more_text_features

Float = NDArray[np.float64]

#: Names of columns in a sentence, at most.
MAX_NAMES = 5


def matching_rows(
    columns: Mapping[str, Any],
    rows: Sequence[str],
    features: Sequence[str],
    separator: str,
    notes: list[str],
    table: Any = None,
) -> Float:
    """Return the features of new rows, in the order of the features of the table.

    Parameters
    ----------
    columns : mapping of str to ndarray (m,)
        The cells of each column of the new rows: float64, or str ("" where missing).
    rows : sequence of m str
        Names of the new rows, for messages.
    features : sequence of str
        Names of the table's features. ``column=value`` is one value of a category.
    separator : str
        The separator of the new table; see :func:`hcviz.core.table_columns.column_features`.
    notes : list of str
        Sentences are appended about extra columns, missing ones and unknown values.
    table : Dataset or other, optional
        The table. A Dataset has the scales of its dates and the columns of its texts. Without
        them, columns of dates and of text are not compared.

    Returns
    -------
    float64 (m, d)
        NaN for missing cells and missing columns.

    Raises
    ------
    InvalidData
        If a cell of a column of numbers or dates is another text, or no column can be compared.

    Notes
    -----
    Texts are compared by the words of the table's texts. O(letters + m d).
    """
    found = np.full((len(rows), len(features)), np.nan)
    values: dict[str, dict[str, int]] = {}  # column -> its values -> their features
    words: dict[str, list[int]] = {}  # column of text -> the features of its terms
    used: set[str] = set()
    missing: list[str] = []
    skipped = _Skipped()
    scales: Mapping[str, DateScale] = getattr(table, "date_scales", {})
    terms: Mapping[str, str] = getattr(table, "term_columns", {})
    for k, feature in enumerate(features):
        text = terms.get(feature, feature.partition(": ")[0])
        if feature in terms:
            if text in columns:
                words.setdefault(text, []).append(k)
            else:
                missing.append(text)
            continue
        if feature in columns:
            cells = columns[feature]
            if feature in scales:
                read = _dates(feature, cells, rows, scales[feature])
            else:
                read = _numbers(feature, cells, rows, separator, notes)
            if read is None:
                skipped.dates.append(feature)
            else:
                found[:, k] = read
                used.add(feature)
            continue
        parts = feature.split("=")
        ends = ["=".join(parts[:cut]) for cut in range(len(parts) - 1, 0, -1)]
        column = next((end for end in ends if end in columns), None)
        if column is not None:
            values.setdefault(column, {})[feature[len(column) + 1 :]] = k
        elif text in columns and text not in features:  # a term, in a table without kinds
            skipped.texts.append(text)
        else:
            missing.append(ends[-1] if ends else feature)
    for column, places in values.items():
        used.add(column)
        _fill_category(column, columns[column], places, found, notes)
    for column, at in words.items():
        used.add(column)
        cells = [None if is_missing(cell) else cell_text(cell) for cell in columns[column]]
        named = [features[k].removeprefix(f"{column}: ") for k in at]
        found[:, at] = more_text_features(cells, named, np.asarray(table.features)[:, at])
    if not used:
        if skipped.names:
            raise InvalidData(skipped.sentence(), "Add a column of numbers or categories.")
        unique = list(dict.fromkeys(missing))
        raise InvalidData(
            f"The new rows have none of the columns of the table: {_listed(unique)}.",
            "Name the columns as they are named there.",
        )
    if skipped.names:
        notes.append(skipped.sentence())
    extra = [name for name in columns if name not in used and name not in skipped.names]
    if extra:
        notes.append(f"{count_noun(len(extra), 'other column')} ignored: {_listed(extra)}.")
    if missing:
        unique = list(dict.fromkeys(missing))
        notes.append(
            f"{count_noun(len(unique), 'column')} missing in the new rows: {_listed(unique)}. "
            "Items are compared by the others."
        )
    return found


@dataclass
class _Skipped:
    """The columns of dates and of text that are not compared."""

    dates: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys((*self.dates, *self.texts)))

    def sentence(self) -> str:
        kinds = [kind for kind, some in (("dates", self.dates), ("text", self.texts)) if some]
        return f"Columns of {' and '.join(kinds)} are not compared: {_listed(self.names)}."


def _dates(name: str, cells: Any, rows: Sequence[str], scale: DateScale) -> Float | None:
    """Return the days of dates; None if no cell of the column is a date."""
    words = [None if is_missing(cell) else cell_text(cell) for cell in cells]
    values = scale.days(words)
    wrong = [k for k in np.flatnonzero(np.isnan(values)).tolist() if words[k] is not None]
    if wrong and np.isnan(values).all():
        return None
    if wrong:
        raise InvalidData(
            f"{quote(rows[wrong[0]])}, column {quote(name)} holds {quote(str(words[wrong[0]]))}, "
            "where the table has dates.",
            "Correct the cell, or leave it empty. Dates look like 2024-03-31.",
        )
    return values


def _numbers(
    name: str, cells: Any, rows: Sequence[str], separator: str, notes: list[str]
) -> Float | None:
    """Return the numbers of a column; None if it has dates."""
    values = parse(cells, separator)
    unread = [k for k in np.flatnonzero(np.isnan(values)).tolist() if not is_missing(cells[k])]
    for row in unread:
        values[row] = TRUTH.get(cell_text(cells[row]).lower(), np.nan)
    wrong = [row for row in unread if np.isnan(values[row])]
    if wrong and np.isnan(values).all():
        if not np.isnan(parse_dates([cell_text(cells[row]) for row in wrong])).any():
            return None
        notes.append(f"The column {quote(name)} has no numbers in the new rows and is not used.")
    elif wrong:
        raise InvalidData(
            f"{quote(rows[wrong[0]])}, column {quote(name)} holds the text "
            f"{quote(cell_text(cells[wrong[0]]))}, where the table has numbers.",
            "Correct the cell, or leave it empty.",
        )
    return values


def _fill_category(
    name: str, cells: Any, places: Mapping[str, int], found: Float, notes: list[str]
) -> None:
    """Set the 0/1 features of a category; a value that the table lacks is 0 in all of them."""
    unknown: list[str] = []
    for row, cell in enumerate(cells):
        if is_missing(cell):
            continue
        found[row, list(places.values())] = 0.0
        text = cell_text(cell)
        if text in places:
            found[row, places[text]] = 1.0
        else:
            unknown.append(text)
    if unknown:
        notes.append(
            f"The column {quote(name)} has values that the table lacks: "
            f"{_listed(list(dict.fromkeys(unknown)))}."
        )


def _listed(names: Sequence[str]) -> str:
    return join_names([quote(name) for name in names[:MAX_NAMES]], MAX_NAMES, len(names))


__all__ = ["matching_rows"]
