"""Dates in the cells of a table, as numbers of days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

_TIME = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?(?:Z|[+-]\d{2}:?\d{2})?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + _TIME)


@dataclass(frozen=True)
class DateScale:
    """How a column of dates was converted to numbers of days.

    Attributes
    ----------
    first : float
        The first date of the column, which is day 0, in days since the year 1.
    month_first : bool
        Whether dates with the year at the end have the month before the day.

    Examples
    --------
    >>> from hcviz.core.table_dates import DateScale
    >>> scale = DateScale.of(["2024-03-01", "2024-02-28"])
    >>> scale.days(["2024-03-02", "soon"]).tolist(), scale.text(2.0)
    ([3.0, nan], '2024-03-01')
    """

    first: float
    month_first: bool

    @classmethod
    def of(cls, texts: Sequence[str | None]) -> DateScale:
        """Return the scale of a column that has one date or more."""
        parts = [_parts(text) for text in texts]
        return cls(float(np.nanmin(parse_dates(texts))), _is_month_first(parts))

    def days(self, texts: Sequence[str | None]) -> Float:
        """Return dates as days since the first date, float64 (n,); NaN where a text is no date."""
        parts = [_parts(text) for text in texts]
        return _all_days(parts, self.month_first) - self.first

    def text(self, days: float) -> str:
        """Return a number of days as a date; with the time, unless it is midnight."""
        minutes = round((self.first + days) * 1440)
        try:
            date = datetime.min + timedelta(days=minutes // 1440 - 1, minutes=minutes % 1440)
        except OverflowError:
            return ""
        return date.isoformat(" ", "minutes") if minutes % 1440 else date.date().isoformat()


def parse_dates(texts: Sequence[str | None]) -> Float:
    """Return dates as days since the year 1, float64 (n,); NaN where a text is no date.

    Read are ``2024-03-31``, ``31.3.2024``, ``31/3/2024`` and ``3/31/2024``, also with a time. The
    day is before the month, unless a date of the column is possible only the other way round.
    Time zones are ignored. A text with an impossible day or time, such as 25:00, is no date.

    Examples
    --------
    >>> from hcviz.core.table_dates import parse_dates
    >>> days = parse_dates(["2024-03-01", "2024-02-28 12:00", "soon"])
    >>> float(days[0] - days[1])
    1.5
    """
    parts = [_parts(text) for text in texts]
    return _all_days(parts, _is_month_first(parts))


#: Year, month, day, whether the year is last, and the seconds of the day.
_Parts = tuple[int, int, int, bool, float]


def _parts(text: str | None) -> _Parts | None:
    """Return the parts of a date. If the year is last, the first number counts as the day."""
    found = _YEAR_FIRST.fullmatch(text or "")
    if found is not None:
        year, _, month, day, *clock = found.groups()
        return int(year), int(month), int(day), False, _seconds(clock)
    found = _YEAR_LAST.fullmatch(text or "")
    if found is None:
        return None
    day, _, month, year, *clock = found.groups()
    return int(year), int(month), int(day), True, _seconds(clock)


def _seconds(clock: Sequence[str | None]) -> float:
    """Return the seconds of the day; NaN for an impossible time."""
    hours, minutes, seconds = (int(each or 0) for each in clock)
    if hours > 23 or minutes > 59 or seconds > 59:
        return float("nan")
    return 3600.0 * hours + 60.0 * minutes + seconds


def _is_month_first(parts: Sequence[_Parts | None]) -> bool:
    last = [part for part in parts if part is not None and part[3]]
    return not any(part[2] > 12 for part in last) and any(part[1] > 12 for part in last)


def _all_days(parts: Sequence[_Parts | None], month_first: bool) -> Float:
    return np.array([np.nan if part is None else _days(part, month_first) for part in parts])


def _days(parts: _Parts, month_first: bool) -> float:
    year, month, day, year_last, seconds = parts
    if year_last and month_first:
        month, day = day, month
    try:
        return datetime(year, month, day).toordinal() + seconds / 86_400
    except ValueError:
        return float("nan")


__all__ = ["DateScale", "parse_dates"]
