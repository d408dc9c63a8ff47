"""Numbers that a person types into a field."""

from __future__ import annotations

from typing import Any

from hcviz.core.errors import HcvizError


def whole_number(typed: Any, what: str) -> int:
    """Return a typed whole number, 0 or more; ``what`` names it in the error."""
    try:
        number = int(str(typed))
    except ValueError:
        number = -1
    if number < 0:
        raise HcvizError(f"{what} must be a whole number, not {typed!r}.")
    return number


def percentage(typed: Any, what: str, default: int) -> int:
    """Return a typed percentage, 0 to 100; ``default`` if the field is empty."""
    text = str(typed or "").strip().removesuffix("%").strip()
    if not text:
        return default
    number = whole_number(text, what)
    if number > 100:
        raise HcvizError(f"{what} is from 0 to 100 per cent, not {text}.")
    return number
