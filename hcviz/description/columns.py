"""``Columns``: the columns of a data set, as descriptions of groups name them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.core.problem import Problem
from hcviz.datasets import Dataset

Float = NDArray[np.float64]
ColumnKind = Literal["number", "binary", "category"]


@dataclass(frozen=True, eq=False)
class Columns:
    """A table of features with the name, value and kind of each column.

    Parameters
    ----------
    values : float64 (n, d)
        NaN for missing cells. Columns that are not numbers have 0 and 1 only.
    names : tuple of str
        Names of the columns. All columns of one category have the same name.
    categories : tuple of (str or None)
        The value that a column of a category stands for, else None.
    kinds : tuple of str
        ``number``, ``binary`` or ``category``.
    """

    values: Float
    names: tuple[str, ...]
    categories: tuple[str | None, ...]
    kinds: tuple[ColumnKind, ...]

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
        names, categories = [], []
        for name, kind in zip(full, kinds, strict=True):
            column, found, value = name.partition("=")
            is_value = kind == "category" and bool(found)
            names.append(column if is_value else name)
            categories.append(value if is_value else None)
        return cls(data.features, tuple(names), tuple(categories), kinds)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.values)

    @cached_property
    def variance(self) -> Float:
        """The variance of each column over all known cells, float64 (d,); 0 if it is constant."""
        return moments(self.values)[2]

    def title(self, column: int) -> str:
        """Return ``material = wood`` for a value of a category, else the name of the column."""
        value = self.categories[column]
        return self.names[column] if value is None else f"{self.names[column]} = {value}"

    def row(self, item: int) -> list[tuple[str, float | str | bool | None]]:
        """Return names and values of an item: a category has one entry, None is missing."""
        found: dict[str, float | str | bool | None] = {}
        for k, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            cell = float(self.values[item, k])
            value = self.categories[k]
            if value is not None:
                found.setdefault(name, None)
                if cell == 1.0:
                    found[name] = value
            elif np.isnan(cell):
                found[name] = None
            else:
                found[name] = cell if kind == "number" else cell == 1.0
        return list(found.items())


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
    return kind if kind in ("binary", "category") else "number"


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
