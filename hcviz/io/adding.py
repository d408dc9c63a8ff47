"""A file of answers beside those that there are: what of it is new.

All of it is worked out from what is handed over, so it can be done on a thread.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hcviz.core.errors import TooLarge
from hcviz.core.triplets import Comparisons
from hcviz.io.answers import Meant, Signed, beyond, marks, meant, signed, unsaid
from hcviz.io.comparison_csv import read_comparison_csv, write_comparison_csv
from hcviz.io.rawtable import MAX_UPLOAD_BYTES

#: A file that repeats so many comparisons or more, all that there are, is a later state of the same
#: list; of fewer, people may have said the same of themselves.
SURELY = 100


@dataclass(frozen=True)
class There:
    """What is known before a file is added: all comparisons of the items, the answers about three
    said here, the files added before, and of those that were read for it, the marks."""

    labels: Sequence[str]
    comparisons: Comparisons | None = None
    said: Sequence[Signed] = ()
    files: Sequence[bytes] = ()
    marks: Mapping[bytes, array[int]] = field(default_factory=dict)

    @property
    def unread(self) -> int:
        """Bytes of the files that would have to be read for their marks."""
        return sum(len(each) for each in self.files if each not in self.marks)


@dataclass(frozen=True)
class Added:
    """What a file adds: ``about`` holds its comparisons but for the ``repeated`` signed answers.

    ``more`` are those of them to be added, as in ``content``: fewer where the file is a later state
    of the list there is. ``marks``: of the files there and of this one, so that each is read once.
    """

    about: Meant
    content: bytes
    repeated: int = 0
    more: Comparisons | None = None
    marks: Mapping[bytes, array[int]] = field(default_factory=dict)


def added(name: str, content: bytes, there: There) -> Added:
    """What the file ``name`` adds to what is there. O(m log m) for m answers.

    Raises what :func:`hcviz.io.answers.meant` does, and :class:`TooLarge` where all files of
    answers together are above the limit of one.
    """
    about = meant(content, there.labels)
    if about.comparisons is None:  # about other items: nothing is compared
        return Added(about, content)
    known = {
        each: there.marks[each] if each in there.marks else marks(signed(each))
        for each in there.files
    }
    said = [*marks(there.said), *(mark for each in there.files for mark in known[each])]
    content, repeated = unsaid(content, said)
    if repeated:
        left = read_comparison_csv(content, there.labels).comparisons
        about = replace(about, comparisons=left)
    if sum(map(len, there.files)) + len(content) > MAX_UPLOAD_BYTES:
        raise TooLarge(
            f"With {name} the files of answers have more than {MAX_UPLOAD_BYTES >> 20} MB."
        )
    more = about.comparisons
    assert more is not None
    if len(more) and there.comparisons is not None and len(there.comparisons) >= SURELY:
        new = beyond(more, there.comparisons)
        if new is not None and len(new) < len(more):
            more, content = new, write_comparison_csv(new, there.labels).encode()
    known[content] = marks(signed(content))
    return Added(about, content, repeated, more, known)


__all__ = ["Added", "There", "added"]
