"""Places of names at the branches of a drawn tree, so that they cover no other line or name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Side = Literal["above", "below", "right"]

#: Pixels of a line of text, and between a name and its branch.
LINE, GAP = 13.0, 4.0
#: Pixels of the shortest name that is drawn, and of one that is shortened rather than covers lines.
SHORTEST, ENOUGH = 30.0, 64.0


@dataclass(frozen=True)
class NamePlace:
    """The place of a name.

    Attributes
    ----------
    slot : index of the clade
    side : above or below the branch to the clade, or right of the clade's bar
    room : pixels that the name may take
    covers : True if the name covers lines of the tree
    """

    slot: int
    side: Side
    room: float
    covers: bool = False


@dataclass(frozen=True, eq=False)
class DrawnTree:
    """A drawn tree in pixels, with the root at the left.

    Attributes
    ----------
    x, y : float (k,), the end of each clade's branch
    parent : int (k,), index of the clade above, -1 for the root
    top, bottom : float (k,), the ends of each clade's bar; equal without a bar
    width : pixels from the left edge to the leaves
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    parent: NDArray[np.int64]
    top: NDArray[np.float64]
    bottom: NDArray[np.float64]
    width: float


def place_names(drawn: DrawnTree, slots: ArrayLike, widths: ArrayLike) -> list[NamePlace]:
    """Choose a place for each name that has room.

    A name is preferably on its branch, on the side where the bar of the clade above does not
    continue. Otherwise it is right of the clade's own bar. Names that are whole between the lines
    come first. The others are shortened to the room between the lines or, if that is too short,
    cover lines. No name covers another one; a name without room is left out.

    Parameters
    ----------
    drawn : DrawnTree
        The tree.
    slots : int (r,)
        Indices of named clades, the most important first.
    widths : float (r,)
        Pixels of each whole name.

    Returns
    -------
    list of NamePlace

    Notes
    -----
    O(r (r + k)) for k drawn clades.

    Examples
    --------
    >>> x, y = np.array([90.0, 90.0, 60.0]), np.array([10.0, 50.0, 30.0])
    >>> top, bottom = np.array([10.0, 50.0, 10.0]), np.array([10.0, 50.0, 50.0])
    >>> drawn = DrawnTree(x, y, np.array([2, 2, -1]), top, bottom, 90.0)
    >>> place_names(drawn, [2], [40.0])
    [NamePlace(slot=2, side='above', room=40.0, covers=False)]
    """
    taken: list[Box] = []
    found: list[NamePlace] = []
    waiting: list[tuple[int, float]] = []
    named = list(zip(np.asarray(slots).tolist(), np.asarray(widths).tolist(), strict=True))

    def put(option: _Option, slot: int, width: float, covers: bool = False) -> None:
        found.append(NamePlace(slot, option.side, float(width), covers))
        taken.append(option.box(width))

    for slot, wanted in named:  # whole names between the lines come first
        options = [_Option.on(drawn, slot, side, taken) for side in _sides(drawn, slot)]
        whole = next((each for each in options if each.clear >= wanted), None)
        if whole is None:
            waiting.append((slot, wanted))
        else:
            put(whole, slot, wanted)
    for slot, wanted in waiting:
        options = [_Option.on(drawn, slot, side, taken) for side in _sides(drawn, slot)]
        free = max(options, key=lambda each: each.clear)
        if free.clear >= min(wanted, ENOUGH):
            put(free, slot, min(free.clear, wanted))
            continue
        best = max(options, key=lambda each: (min(each.room, wanted), each.clear))
        if best.room >= min(wanted, SHORTEST):
            put(best, slot, min(best.room, wanted), covers=True)
    return found


def crosses_lines(drawn: DrawnTree, boxes: ArrayLike) -> NDArray[np.bool_]:
    """Return which boxes a line of the tree crosses.

    Parameters
    ----------
    drawn : DrawnTree
        The tree.
    boxes : float (4, r)
        Left, right, top and bottom of each box.

    Returns
    -------
    bool (r,)

    Notes
    -----
    O(r k) for k drawn clades.
    """
    left, right, top, bottom = np.asarray(boxes, dtype=np.float64)[:, :, None]
    start = np.where(drawn.parent >= 0, drawn.x[np.maximum(drawn.parent, 0)], 0.0)
    bars = (drawn.x > left) & (drawn.x < right) & (drawn.top < bottom) & (drawn.bottom > top)
    branches = (drawn.y > top) & (drawn.y < bottom) & (start < right) & (drawn.x > left)
    found: NDArray[np.bool_] = (bars | branches).any(axis=1)
    return found


def _sides(drawn: DrawnTree, slot: int) -> tuple[Side, ...]:
    """Return the sides to try, the best first."""
    up = drawn.parent[slot]
    if up >= 0 and drawn.y[slot] > drawn.y[up]:
        return "below", "above", "right"
    return "above", "below", "right"


#: Left, right, top and bottom of a name.
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class _Option:
    """A side, with the pixels there up to the next name, and up to the next line."""

    side: Side
    edge: float
    top: float
    room: float
    clear: float

    @classmethod
    def on(cls, drawn: DrawnTree, slot: int, side: Side, taken: list[Box]) -> _Option:
        x, y = float(drawn.x[slot]), float(drawn.y[slot])
        first = {"above": y - LINE - 1, "below": y + 1, "right": y - LINE / 2}[side]
        last = first + LINE
        across = (drawn.top < last) & (drawn.bottom > first) & (drawn.top < drawn.bottom)
        along = (drawn.y > first) & (drawn.y < last)
        across[slot] = along[slot] = False
        start = np.where(drawn.parent >= 0, drawn.x[np.maximum(drawn.parent, 0)], 0.0)
        others = [box for box in taken if box[2] < last and box[3] > first]
        if side == "right":
            edge = x + GAP
            names = [drawn.width, *(max(box[0], edge) for box in others if box[1] > edge)]
            bars = drawn.x[across & (drawn.x > x)]
            branches = np.maximum(start, edge)[along & (drawn.x > edge)]
            room = min(names) - edge - GAP
            clear = min([*names, *bars, *branches]) - edge - GAP
        else:
            edge = x - GAP
            names = [0.0, *(min(box[1], edge) for box in others if box[0] < edge)]
            bars = drawn.x[across & (drawn.x < x)]
            branches = np.minimum(drawn.x, edge)[along & (start < edge)]
            room = edge - max(names) - GAP
            clear = edge - max([*names, *bars, *branches]) - GAP
        return cls(side, edge, first, float(max(room, 0.0)), float(max(clear, 0.0)))

    def box(self, width: float) -> Box:
        """Return the box of a name of ``width`` pixels."""
        left = self.edge if self.side == "right" else self.edge - width
        return left, left + width, self.top, self.top + LINE


__all__ = ["LINE", "DrawnTree", "NamePlace", "Side", "crosses_lines", "place_names"]
