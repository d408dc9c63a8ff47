"""The values that a parameter accepts: as a phrase, and the nearest one to a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import param


def nearest_accepted(what: param.Parameter[Any], value: float) -> Any:
    """Return the accepted value that is nearest to ``value``, other than None."""
    if isinstance(what, param.Boolean):
        return True
    if isinstance(what, param.Selector):
        return next(each for each in what.get_range().values() if each is not None)
    low, high = getattr(what, "bounds", None) or (None, None)
    least, most = getattr(what, "inclusive_bounds", (True, True))
    if low is not None and (value < low or (value == low and not least)):
        value = low if least else low + 1 if high is None else (low + high) / 2
    if high is not None and (value > high or (value == high and not most)):
        value = high if most else high - 1 if low is None else (low + high) / 2
    return round(value) if isinstance(what, param.Integer) else value


def is_no_number(value: Any) -> bool:
    """Return True for bool and infinite values, which param accepts as numbers."""
    infinite = isinstance(value, float | np.floating) and not np.isfinite(value)
    return isinstance(value, bool | np.bool_) or bool(infinite)


def parameter_doc(what: param.Parameter[Any]) -> str:
    """Return a parameter's doc, followed by its range if it has one."""
    accepted = accepted_values(what) if isinstance(what, param.Number) and what.bounds else ""
    doc = " ".join((what.doc or "").split())
    return f"{doc} Takes {accepted}." if accepted else doc


def accepted_values(what: param.Parameter[Any]) -> str:
    """Return a phrase for the values that a parameter accepts; "" if its own error names them."""
    if isinstance(what, param.Boolean):
        text = "True or False"
    elif isinstance(what, param.Selector):
        text = " or ".join(repr(value) for value in what.get_range().values())
    elif isinstance(what, param.Number):
        text = "a whole number" if isinstance(what, param.Integer) else "a number"
        low, high = what.bounds or (None, None)
        least, most = what.inclusive_bounds
        if low is not None and high is not None and least and most:
            text += f" from {low} to {high}"
        else:
            ends = []
            if low is not None:
                ends.append(f"of {low} or more" if least else f"above {low}")
            if high is not None:
                within = f"at most {high}" if ends else f"of {high} or less"
                ends.append(within if most else f"below {high}")
            text = " ".join([text, " and ".join(ends)]).rstrip()
    elif isinstance(what, param.String):
        text = "a text"
    else:
        return ""
    return f"{text}, or None" if what.allow_None else text


__all__ = ["accepted_values", "is_no_number", "nearest_accepted", "parameter_doc"]
