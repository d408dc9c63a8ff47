"""How sentences name many things."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import islice

#: Names that :func:`nearest` looks at, those of them that it compares, and the letters of a name.
LOOKED_AT, COMPARED, LONGEST = 20_000, 100, 100


def shortlist(names: Sequence[str], most: int, count: int | None = None) -> str:
    """``bat, whale, seal and 4 more``: the first ``most`` of ``count`` names; of all of ``names``,
    unless said, which need not go on beyond those."""
    rest = (len(names) if count is None else count) - most
    shown = ", ".join(names[:most])
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def counted(number: int, noun: str) -> str:
    """``1 item``, ``2,000 items``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that a misspelt name is most like, if one is.

    Comparing two names of k letters takes k x k steps, so only those are compared that share most
    pairs of letters with it.
    """
    if len(name) > LONGEST:
        return None
    wanted = _pairs(name)
    alike = (each for each in names if len(name) <= 3 * len(each) <= 9 * len(name))
    some = nlargest(COMPARED, islice(alike, LOOKED_AT), lambda each: len(wanted & _pairs(each)))
    found = difflib.get_close_matches(name, some, n=1, cutoff=0.5)
    return found[0] if found else None


def _pairs(name: str) -> set[str]:
    """Neighbouring letters, and the letters themselves."""
    return {name[k : k + 2] for k in range(len(name))} | set(name)


def brief(text: str, most: int = 60) -> str:
    """The text, or its beginning."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
