"""``Columns``: the columns of a data set, as descriptions of groups name them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.core.problem import Problem
from hcviz.core.table_dates import DateScale
from hcviz.datasets import Dataset

Float = NDArray[np.float64]
ColumnKind = Literal["number", "binary", "category", "text"]


@dataclass(frozen=True, eq=False)
class Columns:
    """A table of features with the name, value and kind of each column.

    Parameters
    ----------
    values : float64 (n, d)
        NaN for missing cells. Columns that are not numbers have 0 and 1 only. The column of a term
        is 1 for the texts that contain it.
    names : tuple of str
        Names of the columns. All columns of one category or text have the same name.
    categories : tuple of (str or None)
        The value or term that a column of a category or text stands for, else None.
    kinds : tuple of str
        ``number``, ``binary``, ``category`` or ``text`` (one term of a text).
    dates : tuple of (DateScale or None)
        The scale of a number that is a date (default: no column is a date).
    """

    values: Float
    names: tuple[str, ...]
    categories: tuple[str | None, ...]
    kinds: tuple[ColumnKind, ...]
    dates: tuple[DateScale | None, ...] = ()

    def __post_init__(self) -> None:
        if not self.dates:
            object.__setattr__(self, "dates", (None,) * len(self.names))

    @classmethod
    def of(cls, data: Dataset | Problem) -> Columns | None:
        """Return the columns of a data set or problem; None without features.

        Where kinds are not known, they follow from the values: a column of 0 and 1 is ``binary``,
        and several named ``column=value`` are a ``category``. O(n d).
        """
        if data.features is None or data.features.shape[1] == 0:
            return None
        full = tuple(data.feature_names or ())
        if not full:
            full = tuple(f"feature {k + 1}" for k in range(data.features.shape[1]))
        known = data.feature_kinds if isinstance(data, Dataset) else None
        kinds = _kinds(data.features, full) if known is None else tuple(map(_plain_kind, known))
        values, names, categories = data.features, list[str](), list[str | None]()
        terms = data.term_columns if isinstance(data, Dataset) else {}
        scales = data.date_scales if isinstance(data, Dataset) else {}
        texts = [k for k, kind in enumerate(kinds) if kind == "text"]
        if texts:
            values = values.copy()
            part = values[:, texts]
            values[:, texts] = np.where(np.isnan(part), np.nan, part > 0)
        for name, kind in zip(full, kinds, strict=True):
            if kind == "text":
                names.append(terms[name])
                categories.append(name.removeprefix(f"{terms[name]}: "))
                continue
            column, found, value = name.partition("=")
            is_value = kind == "category" and bool(found)
            names.append(column if is_value else name)
            categories.append(value if is_value else None)
        dates = tuple(scales.get(name) for name in full)
        return cls(values, tuple(names), tuple(categories), kinds, dates)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.values)

    @cached_property
    def variance(self) -> Float:
        """The variance of each column over all known cells, float64 (d,); 0 if it is constant."""
        return moments(self.values)[2]

    def row(self, item: int) -> list[tuple[str, float | str | bool | None]]:
        """Return names and values of an item: a category has one entry, None is missing.

        A date is a text such as ``2024-03-31``. A text has its terms, separated by commas, and no
        entry if it has none.
        """
        found: dict[str, float | str | bool | None] = {}
        terms: dict[str, list[str]] = {}
        for k, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            cell = float(self.values[item, k])
            value = self.categories[k]
            scale = self.dates[k]
            if kind == "text":
                found.setdefault(name, None)
                if not np.isnan(cell):
                    terms.setdefault(name, []).extend([str(value)] if cell else [])
            elif value is not None:
                found.setdefault(name, None)
                if cell == 1.0:
                    found[name] = value
            elif np.isnan(cell):
                found[name] = None
            elif scale is not None:
                found[name] = scale.text(cell)
            else:
                found[name] = cell if kind == "number" else cell == 1.0
        for name, some in terms.items():
            found[name] = ", ".join(some)
        return [pair for pair in found.items() if pair[0] not in terms or pair[1]]


def moments(values: Float) -> tuple[Float, Float, Float]:
    """Return number, mean and variance of the known cells of each column, float64 (d,) each."""
    present = ~np.isnan(values)
    count = present.sum(axis=0).astype(float)
    some = np.maximum(count, 1.0)
    mean = np.where(present, values, 0.0).sum(axis=0) / some
    gap = np.where(present, values - mean, 0.0)
    variance = (gap**2).sum(axis=0) / np.maximum(count - 1.0, 1.0)
    variance[variance <= (1e-12 * np.abs(mean)) ** 2] = 0.0  # an effect of rounding
    return count, mean, variance


def _plain_kind(kind: Any) -> ColumnKind:
    return kind if kind in ("binary", "category", "text") else "number"


def _kinds(values: Float, names: tuple[str, ...]) -> tuple[ColumnKind, ...]:
    flags = (np.isnan(values) | (values == 0.0) | (values == 1.0)).all(axis=0).tolist()
    parts = [name.partition("=") for name in names]
    shared = Counter(part[0] for part, flag in zip(parts, flags, strict=True) if flag and part[1])

    def kind(part: tuple[str, str, str], flag: bool) -> ColumnKind:
        if not flag:
            return "number"
        return "category" if part[1] and shared[part[0]] > 1 else "binary"

    return tuple(kind(part, flag) for part, flag in zip(parts, flags, strict=True))


__all__ = ["ColumnKind", "Columns", "moments"]
