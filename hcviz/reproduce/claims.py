"""What a paper claims in words, and whether a table of results bears it out.

A claim holds, does not hold, or is not decided: where the table lacks what it speaks of, or where
nothing in it could have shown otherwise. A claim that an empty or an all-zero table would fulfil is
no test of anything, so each says what must have been found before it can hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: Scores (ARI, AARI) that differ by no more are "similar", "close", "comparable".
NEAR = 0.05
#: A score up to this is no better than chance: nothing was found.
FOUND = 0.1

Curve = dict[float, float]
Table = Mapping[str, Mapping[str, Iterable[float]]]


class Claims:
    """A list of ``{"claim", "holds": True, False or None, "found"}``, fit for JSON."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []

    def say(self, text: str, holds: object, found: str = "") -> None:
        """``holds`` None: not decided; ``found``: the numbers it rests on, in words."""
        verdict = None if holds is None else bool(holds)
        self.said.append({"claim": text, "holds": verdict, "found": found})


def lines(claims: Iterable[Mapping[str, Any]]) -> list[str]:
    """For people, a line each."""
    words = {True: "holds", False: "DOES NOT HOLD", None: "not decided"}
    return [
        f"{words[each['holds']]}: {each['claim']}"
        + (f" ({each['found']})" if each["found"] else "")
        for each in claims
    ]


def reached(curve: Curve) -> float | None:
    """The least x from which on every mean is 1, that is, every draw was recovered exactly."""
    least = None
    for x in sorted(curve, reverse=True):
        if curve[x] < 1:
            break
        least = x
    return least


def sooner(ours: Curve, theirs: Curve) -> bool | None:
    """Whether ``ours`` is recovered exactly from a smaller x on than ``theirs``.

    Not decided if neither ever is, or both are from the start of the grid on.
    """
    a, b = reached(ours), reached(theirs)
    if a is None:
        return None if b is None else False
    if b is None:
        return True
    if a == b == min((*ours, *theirs)):
        return None
    return a < b


def at(x: float | None) -> str:
    """Where something was reached."""
    return "never" if x is None else f"from {x:g}"


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """False if one is, else None if one is or there is none, else True."""
    found = list(verdicts)
    if False in found:
        return False
    return None if None in found or not found else True


__all__ = ["FOUND", "NEAR", "Claims", "Curve", "all_of", "at", "lines", "reached", "sooner"]
