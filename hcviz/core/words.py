"""How sentences name many things."""

from __future__ import annotations

from collections.abc import Sequence


def shortlist(names: Sequence[str], most: int, count: int | None = None) -> str:
    """``bat, whale, seal and 4 more``: the first ``most`` of ``count`` names; of all of ``names``,
    unless said, which need not go on beyond those."""
    rest = (len(names) if count is None else count) - most
    shown = ", ".join(names[:most])
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def counted(number: int, noun: str) -> str:
    """``1 item``, ``2,000 items``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
