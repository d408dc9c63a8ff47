"""Lists that stand in files, an entry a line."""

from __future__ import annotations

from collections.abc import Sequence

from hcviz.core.errors import InvalidData


def whole_lines(lines: Sequence[str], said: str) -> list[str]:
    """A text a line, without spaces around it; an empty line is refused, since items are counted
    by their lines. (Those at the end are none.)"""
    texts = [line.strip() for line in lines]
    while texts and not texts[-1]:
        texts.pop()
    if "" in texts:
        raise InvalidData(
            f"Line {texts.index('') + 1} of {said[0].lower()}{said[1:]} is empty.",
            "Give a sequence in every line, or take the line out.",
        )
    if not texts:
        raise InvalidData(f"{said} is empty.", "Give a sequence in every line.")
    return texts


__all__ = ["whole_lines"]
