"""Merging of a file of answers with the known answers: which of its answers are new.

The functions use only their arguments, so they can run on any thread.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hcviz.core.errors import TooLarge
from hcviz.core.triplets import Comparisons
from hcviz.io.answers import (
    AnswerMatch,
    SignedAnswer,
    answer_hashes,
    drop_repeated,
    match_answers,
    new_comparisons,
    read_signed_answers,
)
from hcviz.io.comparison_csv import read_comparison_csv, write_comparison_csv
from hcviz.io.rawtable import MAX_UPLOAD_BYTES

#: A file that repeats all known comparisons, and at least this many, is a later version of the
#: same list. With fewer comparisons, the repeats may be the answers of another person.
MIN_REPEATED = 100


@dataclass(frozen=True)
class KnownAnswers:
    """What is known before a file is added.

    Attributes
    ----------
    labels : names of the items
    comparisons : all comparisons of these items
    given : answers about three items that were given on the page
    files : the files of answers that were added before
    hashes : for files that were already read, the hashes of their signed answers
    """

    labels: Sequence[str]
    comparisons: Comparisons | None = None
    given: Sequence[SignedAnswer] = ()
    files: Sequence[bytes] = ()
    hashes: Mapping[bytes, array[int]] = field(default_factory=dict)

    @property
    def unread_bytes(self) -> int:
        """Bytes of the files without hashes, which must be read first."""
        return sum(len(each) for each in self.files if each not in self.hashes)


@dataclass(frozen=True)
class MergedAnswers:
    """What a file adds.

    Attributes
    ----------
    match : the file's comparisons without repeated signed answers, and whether they are about the
        known items
    content : the file with the new answers only
    repeated : number of signed answers that were known before
    new : the comparisons to add, the same as in ``content``; None if the items do not match
    hashes : hashes of all files, with this one
    """

    match: AnswerMatch
    content: bytes
    repeated: int = 0
    new: Comparisons | None = None
    hashes: Mapping[bytes, array[int]] = field(default_factory=dict)


def merge_answers(name: str, content: bytes, known: KnownAnswers) -> MergedAnswers:
    """Find what the file ``name`` adds to the known answers. O(m log m) for m answers.

    Raises
    ------
    TooLarge
        If all files of answers together exceed the limit for one file.
    InvalidConstraint
        If :func:`hcviz.io.answers.match_answers` cannot read the file.
    """
    match = match_answers(content, known.labels)
    if match.comparisons is None:  # the file is about other items
        return MergedAnswers(match, content)
    hashes = {
        each: known.hashes[each]
        if each in known.hashes
        else answer_hashes(read_signed_answers(each))
        for each in known.files
    }
    before = [*answer_hashes(known.given), *(key for each in known.files for key in hashes[each])]
    content, repeated = drop_repeated(content, before)
    if repeated:
        match = replace(match, comparisons=read_comparison_csv(content, known.labels).comparisons)
    if sum(map(len, known.files)) + len(content) > MAX_UPLOAD_BYTES:
        raise TooLarge(
            f"With {name} the files of answers have more than {MAX_UPLOAD_BYTES >> 20} MB."
        )
    new = match.comparisons
    assert new is not None
    if len(new) and known.comparisons is not None and len(known.comparisons) >= MIN_REPEATED:
        rest = new_comparisons(new, known.comparisons)
        if rest is not None and len(rest) < len(new):
            new, content = rest, write_comparison_csv(rest, known.labels).encode()
    hashes[content] = answer_hashes(read_signed_answers(content))
    return MergedAnswers(match, content, repeated, new, hashes)


__all__ = ["KnownAnswers", "MergedAnswers", "merge_answers"]
