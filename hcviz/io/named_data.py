"""The data of a name or a path, as public functions and the command line accept them."""

from __future__ import annotations

from pathlib import Path

from hcviz.core.errors import InvalidData
from hcviz.core.text import closest_name, shorten
from hcviz.datasets import Dataset, at_hand, load, names
from hcviz.io.tables import read_table


def is_built_in(name: str) -> bool:
    """Return True for the name of a built-in data set."""
    return name in names(everything=True)


def read_named(name: str) -> Dataset:
    """Return a built-in data set, or the table in a file.

    Parameters
    ----------
    name : str
        The name of a built-in data set, or a path.

    Returns
    -------
    Dataset

    Raises
    ------
    InvalidData, TooLarge
        There is neither such a data set nor such a file, or it cannot be read.
    """
    if is_built_in(name):
        return load(name)
    if not Path(name).exists():
        raise no_such_data(name)
    return read_table(Path(name))


def no_such_data(name: str) -> InvalidData:
    """Return the error for a name that is neither a data set nor a file."""
    like = closest_name(name, names(everything=True))
    meant = f"Did you mean {like!r}? " if like else ""
    return InvalidData(
        f"{shorten(repr(name))} is neither a built-in data set nor a file.",
        f"{meant}Built in: {', '.join(at_hand())}.",
    )


__all__ = ["is_built_in", "no_such_data", "read_named"]
