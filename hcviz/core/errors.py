"""The exceptions of hcviz. Each has a message and a hint for the user.

The page shows ``message`` and ``hint``. Any other exception is a bug of hcviz: it is logged with
its traceback and shown as unexpected.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Characters of a message and of a hint. They may quote a name of a file, of any length.
MAX_MESSAGE, MAX_HINT = 600, 300


def _fitted(text: str, size: int) -> str:
    """Return the text; if it is longer than ``size``, without its middle."""
    if len(text) <= size:
        return text
    return f"{text[: 2 * size // 3]}…{text[-size // 3 :]}"


class HcvizError(Exception):
    """Base class of the exceptions of hcviz.

    Parameters
    ----------
    message : str
        What is wrong, and where.
    hint : str
        What to do about it.

    Attributes
    ----------
    message, hint : str
        The parameters, without their middle if they are very long. ``str(error)`` joins them.

    Examples
    --------
    >>> try:
    ...     fit("average", [[0.0]], links=3)
    ... except HcvizError as error:
    ...     print(error.message)
    average has no parameter 'links'.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        message, hint = _fitted(message, MAX_MESSAGE), _fitted(hint, MAX_HINT)
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidTree(HcvizError):
    """Arrays, a linkage matrix or a Newick text that do not describe a rooted tree."""


class InvalidConstraint(HcvizError):
    """A triplet or comparison with an unknown item, or with the same item twice."""


class InvalidData(HcvizError):
    """A table, matrix or problem that cannot be used as given."""


class InvalidParameter(HcvizError):
    """A parameter outside its bounds, or a name that is not registered."""


class ClusterError(InvalidParameter):
    """A cluster of computers does not answer, or cannot start the run."""


class SessionFileError(HcvizError):
    """A session file is from another version, incomplete, or edited by hand."""


class TooLarge(HcvizError):
    """A quadratic result or an upload exceeds its size limit."""


class InconsistentTriplets(HcvizError):
    """No tree satisfies these triplets and groups.

    Parameters
    ----------
    message : str
        What is wrong, and where.
    hint : str
        What to do about it.
    conflict : sequence of int
        Indices of the caller's rows.
    groups : sequence of int
        Indices of the caller's groups.

    Attributes
    ----------
    conflict : tuple of int
        Indices of the caller's rows, increasing, that form a minimal conflict: without any one of
        them or of ``groups``, a tree satisfies the others.
    groups : tuple of int
        Indices of the caller's groups that are part of the conflict.

    Examples
    --------
    >>> try:
    ...     build(4, [[0, 1, 2], [1, 3, 0], [0, 2, 1]])
    ... except InconsistentTriplets as error:
    ...     print(error.conflict)
    (0, 2)
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        conflict: Sequence[int] = (),
        groups: Sequence[int] = (),
    ) -> None:
        super().__init__(message, hint)
        self.conflict: tuple[int, ...] = tuple(int(row) for row in conflict)
        self.groups: tuple[int, ...] = tuple(int(group) for group in groups)


class InvalidTaxonomy(HcvizError):
    """A group, a taxonomy or a taxonomy file that cannot be used as given."""
