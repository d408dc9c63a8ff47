"""Every way in which hcviz refuses something, as a sentence and a remedy.

The page shows ``message`` and ``hint`` as they are; anything that is not an :class:`HcvizError` is
a fault of ours, is logged with its traceback, and is shown as unexpected.
"""

from __future__ import annotations

from collections.abc import Sequence


class HcvizError(Exception):
    """What is wrong and where (``message``), and what to do about it (``hint``)."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidTree(HcvizError):
    """Arrays, a linkage or a Newick text that is not a rooted tree over its leaves."""


class InvalidConstraint(HcvizError):
    """A triplet or comparison that names no item, or one item twice."""


class InvalidData(HcvizError):
    """A table, matrix or problem that cannot be used as given."""


class InvalidParameter(HcvizError):
    """A parameter outside its bounds, or a name no registry knows."""


class NoCluster(InvalidParameter):
    """A cluster that does not answer, or cannot do what it is asked: nothing has begun."""


class SessionFileError(HcvizError):
    """A session file that was made by another version, cut short or changed by hand."""


class TooLarge(HcvizError):
    """Something quadratic (or an upload) was asked for above its stated size."""


class InconsistentTriplets(HcvizError):
    """No tree satisfies these triplets.

    ``conflict`` holds the row indices (into the caller's rows, increasing) of a minimal set that
    is at odds: drop any one of them and the others have a tree.
    """

    def __init__(self, message: str, hint: str = "", conflict: Sequence[int] = ()) -> None:
        super().__init__(message, hint)
        self.conflict: tuple[int, ...] = tuple(int(row) for row in conflict)


class InvalidTaxonomy(HcvizError):
    """A group, a taxonomy or a taxonomy file that cannot be used as given."""
