"""Features in which the items of a group differ most from other items."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hcviz.core.table_dates import DateScale
from hcviz.description.columns import ColumnKind, Columns, moments

Float = NDArray[np.float64]
Items = NDArray[np.int64]

#: Degrees of freedom with which the variance of the whole column counts in a pooled variance.
PRIOR_FREEDOM = 2.0
#: What is added to each count of a log odds ratio (Haldane 1956, Anscombe 1956).
PRIOR_COUNT = 0.5
#: A log odds ratio times this is comparable with a standardised difference (Chinn 2000).
LOG_ODDS_UNIT = math.sqrt(3.0) / math.pi


@dataclass(frozen=True)
class FeatureContrast:
    """How a group differs from other items in one feature.

    Parameters
    ----------
    feature : str
        Name of the column.
    value : str or None
        The value of a category or the term of a text, else None.
    kind : str
        ``number``, ``binary``, ``category`` or ``text``.
    inside, outside : float
        Mean of the known cells in the group and in the other items. It is a share unless the kind
        is ``number``.
    n_inside, n_outside : int
        Number of known cells.
    effect : float
        Difference in standard deviations; positive if the group has more.
    error : float
        Standard error of ``effect``.
    dates : DateScale or None
        The scale of a number that is a date.

    Examples
    --------
    >>> FeatureContrast("material", "wood", "category", 1.0, 0.0, 2, 4, 2.1, 1.1).title
    'material = wood'
    """

    feature: str
    value: str | None
    kind: ColumnKind
    inside: float
    outside: float
    n_inside: int
    n_outside: int
    effect: float
    error: float
    dates: DateScale | None = None

    @property
    def title(self) -> str:
        """The feature and its value or term: ``material = wood``, ``description: red``."""
        if self.kind == "text":
            return f"{self.feature}: {self.value}"
        return self.feature if self.value is None else f"{self.feature} = {self.value}"


def feature_contrasts(
    columns: Columns, inside: Items, outside: Items, most: int
) -> tuple[FeatureContrast, ...]:
    """Return the features that differ most between two sets of items, the clearest first.

    Parameters
    ----------
    columns : Columns
        The features of n items.
    inside, outside : int64 (k,), int64 (m,)
        Disjoint sets of items.
    most : int
        Number of features, at most.

    Returns
    -------
    tuple of FeatureContrast
        Only features whose effect is larger than its standard error. Values of a category that
        are rarer inside are left out if another value of it is listed.

    Notes
    -----
    O(n d). The order is by the size of the effect minus its standard error, so a large difference
    of few items does not come first.

    Numbers: the standardised mean difference (Cohen 1988, sec. 2.2). The pooled variance has the
    variance of the whole column as a prior with two degrees of freedom (Smyth 2004). So it is
    defined for one item, and for columns that are constant inside and outside.

    Categories, yes/no and terms: the log odds ratio with 0.5 added to each count, in the unit of
    standardised differences (Chinn 2000). It is 0 unless the shares differ in the same direction.
    """
    if not inside.size or not outside.size:
        return ()
    n1, mean1, var1 = moments(columns.values[inside])
    n2, mean2, var2 = moments(columns.values[outside])
    is_number = np.array([kind == "number" for kind in columns.kinds])
    effect, error = np.zeros(len(n1)), np.full(len(n1), np.inf)
    for chosen, measure in ((is_number, _mean_difference), (~is_number, _log_odds)):
        part = tuple(each[chosen] for each in (n1, mean1, var1, n2, mean2, var2, columns.variance))
        effect[chosen], error[chosen] = measure(*part)
    error[(n1 == 0) | (n2 == 0)] = np.inf
    clear = np.abs(effect) - error
    order = [int(k) for k in np.argsort(-clear, kind="stable") if clear[k] > 0.0]
    listed = _without_implied(columns, effect, order)[:most]
    return tuple(
        FeatureContrast(
            columns.names[k], columns.categories[k], columns.kinds[k],
            float(mean1[k]), float(mean2[k]), int(n1[k]), int(n2[k]),
            float(effect[k]), float(error[k]), columns.dates[k],
        )
        for k in listed
    )  # fmt: skip


def _mean_difference(
    n1: Float, mean1: Float, var1: Float, n2: Float, mean2: Float, var2: Float, whole: Float
) -> tuple[Float, Float]:
    freedom = np.maximum(n1 - 1, 0) + np.maximum(n2 - 1, 0) + PRIOR_FREEDOM
    squares = np.maximum(n1 - 1, 0) * var1 + np.maximum(n2 - 1, 0) * var2
    pooled = np.sqrt((squares + PRIOR_FREEDOM * whole) / freedom)
    effect = np.divide(mean1 - mean2, pooled, out=np.zeros_like(pooled), where=pooled > 0)
    some1, some2 = np.maximum(n1, 1), np.maximum(n2, 1)
    return effect, np.sqrt(1 / some1 + 1 / some2 + effect**2 / (2 * (some1 + some2)))


def _log_odds(
    n1: Float, mean1: Float, var1: Float, n2: Float, mean2: Float, var2: Float, whole: Float
) -> tuple[Float, Float]:
    a, c = n1 * mean1 + PRIOR_COUNT, n2 * mean2 + PRIOR_COUNT
    b, d = n1 + 2 * PRIOR_COUNT - a, n2 + 2 * PRIOR_COUNT - c
    effect = np.where(whole > 0, np.log(a * d / (b * c)), 0.0)
    effect[effect * (mean1 - mean2) <= 0] = 0.0  # a small set alone makes no difference
    return LOG_ODDS_UNIT * effect, LOG_ODDS_UNIT * np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)


def _without_implied(columns: Columns, effect: Float, order: list[int]) -> list[int]:
    """Leave out values that are rarer inside because another value of the category is common."""
    values = {k for k in order if columns.kinds[k] == "category"}
    common = {columns.names[k] for k in values if effect[k] > 0}
    kept, seen = [], set()
    for k in order:
        if k in values and effect[k] < 0:
            if columns.names[k] in common or columns.names[k] in seen:
                continue
            seen.add(columns.names[k])
        kept.append(k)
    return kept


__all__ = ["FeatureContrast", "feature_contrasts"]
