"""``padded_texts``: the data of a text glyph, never with fewer texts than before.

Internals of BokehJS 3.9.2 (``models/glyphs/text.ts``): ``_set_lazy_data`` makes the labels
asynchronously, and ``after_visuals`` measures all labels that there are. When texts are removed it
measures an old label without a font ("undefined 8px") and fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Columns of numbers that place a text, and of other numbers.
_PLACES, _NUMBERS = ("x", "y", "x0", "y0"), ("wide",)


def padded_texts(
    data: dict[str, Any], count: int, empty: dict[str, str], away: float
) -> dict[str, Any]:
    """Return the data with empty texts out of view, so that there are at least ``count`` texts.

    Parameters
    ----------
    data : dict
        The columns of the source: places, numbers and strings.
    count : int
        Texts that the source has now.
    empty : dict
        The value of each column of strings for an empty text.
    away : float
        Distance between two empty texts, in data units.

    Returns
    -------
    dict
    """
    spare = count - len(data["text"])
    if spare <= 0:
        return data
    nowhere = (away * np.arange(1, spare + 1)).astype(np.float32)
    zeros = np.zeros(spare, np.float32)
    padded: dict[str, Any] = {}
    for name, values in data.items():
        if name in _PLACES or name in _NUMBERS:
            padded[name] = np.concatenate((values, nowhere if name in _PLACES else zeros))
        else:
            padded[name] = [*values, *[empty[name]] * spare]
    return padded


__all__ = ["padded_texts"]
