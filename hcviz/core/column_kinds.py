"""What a column of a table holds: ``ParsedColumn`` and ``TableColumn``."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.column_options import ColumnKind
from hcviz.core.table_cells import cell_text, is_missing, parse
from hcviz.core.table_dates import DateScale, parse_dates
from hcviz.core.text import count_noun, shorten
from hcviz.core.text_features import is_text

Float = NDArray[np.float64]

#: A category has at most this many different values, of at most this many characters.
MAX_CATEGORIES, MAX_TEXT = 50, 100
#: One text among this many numbers is a typing error.
MIN_NUMBERS = 4
#: A column of more cells, of which 9 in 10 are different, has no categories.
FEW_CELLS = 20
#: Example values of a column, and the characters of each.
EXAMPLES, EXAMPLE_LETTERS = 3, 40
#: Columns with these names are classes: drawn as colours, and not used by methods.
CLASS_NAMES = frozenset({"class", "classes", "label", "labels", "species"})

TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_WITH_COMMA = re.compile(r"[+-]?\d*(?:,\d+)+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_IDENTIFIER = re.compile(r"(?:.*[ _.-])?(?:id|ids|key|sku|ean|gtin|isbn|upc|uuid)|unnamed: \d+")


@dataclass(frozen=True)
class TableColumn:
    """One column of a table, for people.

    Attributes
    ----------
    name : str
        Its name.
    detected : str
        What it holds: a :data:`ColumnKind`, ``constant``, ``empty``, ``image`` or ``class``.
    kind : str
        What it is read as.
    used, strip : bool
        Whether items are compared by it, and whether it is drawn as colours.
    weight : float
        How much it counts.
    missing, distinct : int
        Numbers of missing cells, and of different values.
    examples : tuple of str
        Some of its values.
    dates : DateScale or None
        The scale of a column of dates that is used.
    """

    name: str
    detected: str
    kind: str
    used: bool
    strip: bool
    weight: float
    missing: int
    distinct: int
    examples: tuple[str, ...]
    dates: DateScale | None = None


@dataclass(frozen=True)
class TableSummary:
    """A table of features as it was read: format, number of rows, columns, sheets of a workbook."""

    format: str
    rows: int
    columns: tuple[TableColumn, ...]
    sheets: tuple[str, ...] = ()
    sheet: str = ""

    @property
    def cells(self) -> int:
        """Number of cells of the used columns."""
        return self.rows * sum(each.used for each in self.columns)

    @property
    def missing(self) -> int:
        """Number of missing cells of the used columns."""
        return sum(each.missing for each in self.columns if each.used)

    def sentence(self) -> str:
        """Return the kinds of the used columns, with their numbers, and what is missing."""
        nouns = {
            "number": ("number", "numbers"),
            "binary": ("yes/no", "yes/no"),
            "category": ("category", "categories"),
            "date": ("date", "dates"),
            "text": ("text", "texts"),
        }
        kinds = Counter(each.kind for each in self.columns if each.used)
        parts = [
            f"{kinds[kind]:,} {nouns[kind][kinds[kind] != 1]}" for kind in nouns if kinds[kind]
        ]
        unused = sum(not each.used and not each.strip for each in self.columns)
        parts += [f"{unused:,} left out"] if unused else []
        tail = f"; {count_noun(self.missing, 'missing cell')}" if self.missing else ""
        return f"Columns: {', '.join(parts)}{tail}." if parts else ""


class ParsedColumn:
    """The cells of a column, with their numbers.

    Parameters
    ----------
    name : str
        Name of the column.
    cells : ndarray (n,)
        Of float64 (NaN where missing), or of str ("" where missing).
    separator : str
        The separator of the table. Decimal commas are read unless it is a comma.
    """

    def __init__(self, name: str, cells: Any, separator: str) -> None:
        self.name, self.cells = name, cells
        self.values: Float = parse(cells, separator)
        missing = np.isnan(self.values)
        missing[missing] = [is_missing(cell) for cell in cells[missing]]
        self.missing: NDArray[np.bool_] = missing
        #: Cells that are neither missing nor numbers.
        self.wrong = np.flatnonzero(np.isnan(self.values) & ~missing)
        self.n_present = int((~missing).sum())

    @cached_property
    def words(self) -> list[str | None]:
        """The cells as texts, None where missing."""
        pairs = zip(self.missing, self.cells, strict=True)
        return [None if gap else cell_text(cell) for gap, cell in pairs]

    @cached_property
    def different(self) -> list[str]:
        """The different texts, sorted."""
        return sorted({word for word in self.words if word is not None})

    @property
    def n_different(self) -> int:
        """The number of different values."""
        if self.wrong.size:
            return len(self.different)
        return len(np.unique(self.values[~self.missing]))

    @property
    def can_be_category(self) -> bool:
        """Few and short values."""
        return (
            len(self.different) <= MAX_CATEGORIES
            and max(map(len, self.different), default=0) <= MAX_TEXT
        )

    @property
    def is_mixed(self) -> bool:
        """Numbers, and at most as many texts."""
        return 0 < self.wrong.size <= self.n_present / 2

    def detect(self, category: bool = False) -> ColumnKind:
        """Return what the column holds; ``category``: not numbers, even if it looks so.

        One text among four or more numbers is a typing error, and so is any number with a comma
        that the table's separator forbids. Such a column is ``number``, which
        :func:`hcviz.core.table_columns.column_features` refuses. Other columns of numbers with
        some texts are categories, such as the sizes 38, 39, 40 and L. They are identifiers if they
        cannot be categories, or if 9 of 10 cells in more than 20 are different.
        """
        present = self.values[~self.missing]
        if not self.wrong.size and not category:
            if np.isin(present, (0.0, 1.0)).all():
                return "binary"
            return "identifier" if self._numbers_rows(present) else "number"
        if all(word is None or word.lower() in TRUTH for word in self.words):
            return "binary"
        if self._holds_dates():
            return "date"
        if self.is_mixed and not category:
            return self._mixed_kind()
        unique = len(self.different) == self.n_present and self.n_present > 2
        if self.can_be_category and not unique:
            return "category"
        return "text" if is_text([word for word in self.words if word]) else "identifier"

    def _mixed_kind(self) -> ColumnKind:
        typing_error = self.wrong.size == 1 and self.n_present > MIN_NUMBERS
        texts = (cell_text(cell) for cell in self.cells[self.wrong])
        if typing_error or any(_WITH_COMMA.fullmatch(text) for text in texts):
            return "number"
        distinct = self.n_present > FEW_CELLS and len(self.different) > 0.9 * self.n_present
        return "category" if self.can_be_category and not distinct else "identifier"

    def _numbers_rows(self, present: Float) -> bool:
        """Return True for whole numbers, all different, under a name such as "id"."""
        if present.size < len(self.values) or not _IDENTIFIER.fullmatch(self.name.lower()):
            return False
        return bool((present == np.floor(present)).all()) and len(np.unique(present)) == len(
            present
        )

    def _holds_dates(self) -> bool:
        """Return True if all cells that are not missing are dates. The first ones decide soon."""
        some = [word for word in self.words if word is not None]
        if np.isnan(parse_dates(some[:20])).any():
            return False
        return bool(some) and not np.isnan(parse_dates(some)).any()

    def examples(self) -> tuple[str, ...]:
        """Return the first different values."""
        found: dict[str, None] = {}
        for at in np.flatnonzero(~self.missing)[:1000].tolist():
            found[shorten(cell_text(self.cells[at]), EXAMPLE_LETTERS)] = None
            if len(found) == EXAMPLES:
                break
        return tuple(found)


def is_classes(name: str, cells: Any) -> bool:
    """Return True if a column has the name of a class column and few different values."""
    if name.lower() not in CLASS_NAMES:
        return False
    different = len({cell_text(cell) for cell in cells if not is_missing(cell)})
    return 0 < different <= max(MAX_CATEGORIES, 2) and (different < len(cells) or different <= 2)


__all__ = [
    "CLASS_NAMES", "MAX_CATEGORIES", "TRUTH", "ParsedColumn", "TableColumn", "TableSummary",
    "is_classes",
]  # fmt: skip
