"""Text files with one entry in each line."""

from __future__ import annotations

from collections.abc import Sequence

from hcviz.core.errors import InvalidData


def nonempty_lines(lines: Sequence[str], source: str) -> list[str]:
    """Strip lines, and refuse empty ones.

    Items are numbered by line, so an empty line cannot be skipped. Empty lines at the end are
    removed. ``source`` names the text in error messages, such as "The file".

    Raises
    ------
    InvalidData
        A line is empty, or there are no lines.
    """
    texts = [line.strip() for line in lines]
    while texts and not texts[-1]:
        texts.pop()
    if "" in texts:
        raise InvalidData(
            f"Line {texts.index('') + 1} of {source[0].lower()}{source[1:]} is empty.",
            "Give a sequence in every line, or take the line out.",
        )
    if not texts:
        raise InvalidData(f"{source} is empty.", "Give a sequence in every line.")
    return texts


__all__ = ["nonempty_lines"]
