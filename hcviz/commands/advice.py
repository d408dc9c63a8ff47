"""Error messages of the library in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Collection

from hcviz.algorithms.needs import COMPARISONS
from hcviz.core.errors import HcvizError

#: Advice for Python -> for the command line.
PHRASES = {
    COMPARISONS: COMPARISONS.replace("Problem(comparisons=...)", "--answers FILE.csv"),
    ", or give load(..., path=...)": "",
    "hcviz.build() names the rows": "hcviz check FILE.csv names the rows",
    "Fill missing cells first: hcviz.datasets.fill_missing(features).": "Fill missing cells first.",
}


def advice(fault: HcvizError, parameters: Collection[str] = ()) -> str:
    """Return the message and the hint of an error, with options in place of Python's arguments.

    Parameters
    ----------
    fault : the error
    parameters : names of the method's parameters

    Examples
    --------
    >>> advice(HcvizError("Too many items.", "Choose oracle='spectral'."), ["oracle"])
    'Too many items. Choose --oracle spectral.'
    """
    text = str(fault)
    for python, command_line in PHRASES.items():
        text = text.replace(python, command_line)
    names = "|".join(map(re.escape, sorted(parameters, key=len, reverse=True)))
    if names:
        assignment = rf"(?<![\w-])({names})=(?:'([\w.-]*)'|([\w-]+(?:\.\w+)*))"
        text = re.sub(assignment, _as_option, text)
    return " ".join(text.split())


def _as_option(found: re.Match[str]) -> str:
    name, quoted, plain = found.groups()
    return f"--{name.replace('_', '-')} {quoted if quoted is not None else plain}"


__all__ = ["advice"]
