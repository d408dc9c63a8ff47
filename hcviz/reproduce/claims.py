"""Tests of a paper's claims on tables of results.

A claim holds, does not hold, or is not decided. It is not decided if the table lacks the necessary
numbers, or could not contradict the claim. A table of zeros must not fulfil a claim, so each test
states what a method must have achieved first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: Scores (ARI, AARI) that differ by at most this are "similar", "close" or "comparable".
TOLERANCE = 0.05
#: Scores up to this are not better than chance.
CHANCE_LEVEL = 0.1

Curve = dict[float, float]
Table = Mapping[str, Mapping[str, Iterable[float]]]


class Claims:
    """A list of ``{"claim", "holds": True, False or None, "found"}``, as JSON values."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def add(self, text: str, holds: object, found: str = "") -> None:
        """Add a claim. ``holds`` is None if it is not decided; ``found`` has the numbers."""
        verdict = None if holds is None else bool(holds)
        self.entries.append({"claim": text, "holds": verdict, "found": found})


def verdict(holds: bool | None, paper_size: str = "") -> str:
    """Return the words for a claim, the same for all papers.

    With ``paper_size``, the experiment was smaller than the paper's: it cannot contradict a claim.

    Examples
    --------
    >>> verdict(False), verdict(False, "n 1,000 (here 120)")
    ('does not hold', 'too small to tell (the paper: n 1,000 (here 120))')
    """
    if holds is False and paper_size:
        return f"too small to tell (the paper: {paper_size})"
    return {True: "holds", False: "does not hold", None: "not decided"}[holds]


def paper_size(full: Mapping[str, Any], quick: Mapping[str, Any]) -> str:
    """Return the sizes of the paper's experiments that differ from those of ``--quick``.

    Examples
    --------
    >>> paper_size({"n": 1000, "rates": (1, 2, 3)}, {"n": 120, "rates": (1,)})
    'n 1,000 (here 120), 3 rates (here 1)'
    """
    texts = []
    for name, value in full.items():
        other, words = quick.get(name, value), name.replace("_", " ")
        if isinstance(value, tuple | list):
            if len(value) != len(other):
                texts.append(f"{len(value)} {words} (here {len(other)})")
        elif value != other:
            texts.append(f"{words} {value:,} (here {other:,})")
    return ", ".join(texts)


def exit_code(verdicts: Iterable[bool | None], paper_size: str = "") -> int:
    """Return 1 if a claim does not hold in an experiment of the paper's size, otherwise 0."""
    return int(not paper_size and any(each is False for each in verdicts))


def lines(claims: Iterable[Mapping[str, Any]], paper_size: str = "") -> list[str]:
    """Return one line of text for each claim."""
    return [
        f"{verdict(each['holds'], paper_size)}: {each['claim']}"
        + (f" ({each['found']})" if each["found"] else "")
        for each in claims
    ]


def first_exact(curve: Curve) -> float | None:
    """Return the least x from which on all means are 1 (all draws recovered exactly), or None."""
    least = None
    for x in sorted(curve, reverse=True):
        if curve[x] < 1:
            break
        least = x
    return least


def recovers_earlier(ours: Curve, theirs: Curve) -> bool | None:
    """Return True if ``ours`` is recovered exactly from a smaller x on than ``theirs``.

    Return None if neither is recovered, or both are from the start of the grid on.
    """
    a, b = first_exact(ours), first_exact(theirs)
    if a is None:
        return None if b is None else False
    if b is None:
        return True
    if a == b == min((*ours, *theirs)):
        return None
    return a < b


def at(x: float | None) -> str:
    """Return a text for a value of :func:`first_exact`."""
    return "never" if x is None else f"from {x:g}"


def conjunction(verdicts: Iterable[bool | None]) -> bool | None:
    """Return False if any verdict is, None if any is or there are none, and True otherwise."""
    found = list(verdicts)
    if False in found:
        return False
    return None if None in found or not found else True


__all__ = [
    "CHANCE_LEVEL",
    "TOLERANCE",
    "Claims",
    "Curve",
    "at",
    "conjunction",
    "exit_code",
    "first_exact",
    "lines",
    "paper_size",
    "recovers_earlier",
    "verdict",
]
