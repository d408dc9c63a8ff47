"""How the centre writes: the size of its type, which labels are drawn, names cut to fit, ticks."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

#: A label is legible from this size; below it labels share columns, then thin out.
SMALLEST_FONT = 8.0
LARGEST_FONT = 12.0
#: Line pitch over font size at which two lines of text do not touch.
LEADING = 1.08
#: Side by side columns that labels may be staggered over.
MOST_COLUMNS = 2


@dataclass(frozen=True)
class Lettering:
    """How labels are set at one row height: font in px, staggered columns, rows a label."""

    font: float
    columns: int
    every: int


def fitting(row_px: float) -> Lettering:
    """The largest type that fits rows of ``row_px`` pixels without overlap.

    One column while rows take 8 px type; then two, odd rows moved aside, which doubles the pitch;
    below that only every k-th row (and whatever is selected) is named.
    """
    for columns in range(1, MOST_COLUMNS + 1):
        font = row_px * columns / LEADING
        if font >= SMALLEST_FONT:
            return Lettering(min(LARGEST_FONT, np.floor(font * 2) / 2), columns, 1)
    pitch = SMALLEST_FONT * LEADING + 1
    return Lettering(SMALLEST_FONT, 1, int(np.ceil(pitch / max(row_px, 1e-9))))


def spread(rows: ArrayLike, wanted: ArrayLike, gap: float) -> Bool:
    """Which labels to draw so that no two are nearer than ``gap`` rows: bool, as ``rows``.

    ``wanted`` orders them: larger first, then from the top. Greedy, O(k log k).
    """
    at = np.asarray(rows, dtype=np.float64)
    rank = np.asarray(wanted, dtype=np.float64)
    kept = np.zeros(at.size, np.bool_)
    taken: list[float] = []
    for i in np.lexsort((at, -rank)):
        k = bisect_left(taken, at[i])
        if k > 0 and at[i] - taken[k - 1] < gap - 1e-9:
            continue
        if k < len(taken) and taken[k] - at[i] < gap - 1e-9:
            continue
        insort(taken, at[i])
        kept[i] = True
    return kept


def nice_ticks(top: float, about: int) -> Float:
    """About ``about`` round numbers over [0, top], 0 included: float64, increasing."""
    if not top > 0:
        return np.zeros(1)
    raw = top / about
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * min((1.0, 2.0, 2.5, 5.0, 10.0), key=lambda nice: abs(nice - raw / power))
    return np.asarray(step * np.arange(int(np.floor(top / step + 1e-9)) + 1))


#: Advance widths in ems, on the wide side of common sans serifs: to truncate and to size columns.
_NARROW, _WIDE = set("iljtfrI.,:;'|!()[] "), set("mwMW@%")


def text_width(text: str, font: float) -> float:
    """About how many pixels ``text`` takes at ``font`` pixels."""
    ems = 0.0
    for char in text:
        if char in _NARROW:
            ems += 0.36
        elif char in _WIDE:
            ems += 0.95
        elif ord(char) > 0x2E80:  # ideographs and the like fill the square
            ems += 1.0
        elif char.isupper():
            ems += 0.70
        else:
            ems += 0.61
    return ems * font


def truncate(text: str, font: float, width: float) -> str:
    """``text``, or as much of it as fits ``width`` pixels and an ellipsis."""
    return _fitted(text, font, width, lambda kept: text[:kept].rstrip() + "…")


def shorten(text: str, font: float, width: float) -> str:
    """``text``, or as much of its head and its tail as fits ``width`` pixels around an ellipsis.

    For names: those that begin alike often differ at the end.
    """

    def around(kept: int) -> str:
        tail = kept // 3
        return text[: kept - tail].rstrip() + "…" + text[len(text) - tail :].lstrip()

    return _fitted(text, font, width, around)


def _fitted(text: str, font: float, width: float, cut: Callable[[int], str]) -> str:
    """``text`` if it fits, else ``cut`` to as many letters as do; to none where none does."""
    if text_width(text, font) <= width:
        return text
    low, high = 0, len(text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if text_width(cut(middle), font) <= width:
            low = middle
        else:
            high = middle - 1
    return cut(low)
