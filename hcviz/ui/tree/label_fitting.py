"""How labels fit: the size of the type, which labels are drawn, shortened names, and ticks."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

#: The smallest legible type. Where rows are lower, labels use two columns, then some are left out.
SMALLEST_FONT = 8.0
LARGEST_FONT = 12.0
#: The least distance of two lines of text, as a multiple of the font size.
LEADING = 1.08
#: Columns over which labels may be distributed.
MAX_COLUMNS = 2


@dataclass(frozen=True)
class LabelStyle:
    """How labels are written for one row height: font in px, columns, rows for each label."""

    font: float
    columns: int
    every: int


def label_style(row_px: float, scale: float = 1.0) -> LabelStyle:
    """Return the largest type that fits rows of ``row_px`` pixels without overlap.

    ``scale`` enlarges the largest type, as in a presentation.

    Labels use one column while rows take 8 px type. Below that they use two columns in turn, which
    doubles the distance in each. Below that only every k-th row is named.
    """
    for columns in range(1, MAX_COLUMNS + 1):
        font = row_px * columns / LEADING
        if font >= SMALLEST_FONT:
            return LabelStyle(min(scale * LARGEST_FONT, np.floor(font * 2) / 2), columns, 1)
    pitch = SMALLEST_FONT * LEADING + 1
    return LabelStyle(SMALLEST_FONT, 1, int(np.ceil(pitch / max(row_px, 1e-9))))


def non_overlapping(rows: ArrayLike, wanted: ArrayLike, gap: float) -> Bool:
    """Return which labels to draw so that none are nearer than ``gap`` rows: bool, as ``rows``.

    Labels are chosen greedily by ``wanted``, the larger first, then from the top. O(k log k).
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


def nice_ticks(top: float, about: int, whole: bool = False) -> Float:
    """Return about ``about`` round numbers over [0, top], 0 included: float64, increasing.

    ``whole``: all of them are whole numbers.
    """
    if not top > 0:
        return np.zeros(1)
    raw = max(top / about, 1.0) if whole else top / about
    power = 10.0 ** np.floor(np.log10(raw))
    steps = (1.0, 2.0, 5.0, 10.0) if whole else (1.0, 2.0, 2.5, 5.0, 10.0)
    step = power * min(steps, key=lambda nice: abs(nice - raw / power))
    return np.asarray(step * np.arange(int(np.floor(top / step + 1e-9)) + 1))


#: Letters that are narrower or wider than others in common sans-serif fonts.
_NARROW, _WIDE = set("iljtfrI.,:;'|!()[] "), set("mwMW@%")


def text_width(text: str, font: float) -> float:
    """Return about how many pixels ``text`` takes at ``font`` pixels."""
    ems = 0.0
    for char in text:
        if char in _NARROW:
            ems += 0.36
        elif char in _WIDE:
            ems += 0.95
        elif ord(char) > 0x2E80:  # ideographs are as wide as high
            ems += 1.0
        elif char.isupper():
            ems += 0.70
        else:
            ems += 0.61
    return ems * font


def truncate(text: str, font: float, width: float) -> str:
    """Return ``text``, or as much of it as fits ``width`` pixels with an ellipsis."""
    return _shortened(text, font, width, lambda kept: text[:kept].rstrip(" ·") + "…")


def shorten(text: str, font: float, width: float) -> str:
    """Return ``text``, or its begin and end with an ellipsis between them, in ``width`` pixels.

    This is for names: names with the same begin often differ at the end.
    """

    def around(kept: int) -> str:
        tail = kept // 3
        return text[: kept - tail].rstrip() + "…" + text[len(text) - tail :].lstrip()

    return _shortened(text, font, width, around)


def _shortened(text: str, font: float, width: float, cut: Callable[[int], str]) -> str:
    """Return ``text`` if it fits, else ``cut`` to as many letters as fit."""
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
