"""Pieces of messages: lists of names, counts with a noun, the nearest spelling."""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import islice
from typing import Any

#: Limits of :func:`closest_name`: names that it filters, names that it compares, letters of a name.
MAX_FILTERED, MAX_COMPARED, MAX_LENGTH = 20_000, 100, 100
#: A longer list of items (:func:`names_text`) shows this many names and a count.
NAMES_SHOWN = 3

#: Characters that a picture cannot have, since an SVG is XML.
_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
#: Characters that HTML does not allow, not even as references.
_NOT_HTML = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
#: Characters that reorder the text around them (Unicode's property Bidi_Control). With them a name
#: looks like another one. ``visible`` of ui/parts/dom.js has the same list.
_BIDI_CONTROL = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def names_text(items: Sequence[int], labels: Sequence[str]) -> str:
    """Return ``a + b + c``; more than four names as ``a + b + c and 5 more``."""
    shown = items if len(items) <= NAMES_SHOWN + 1 else items[:NAMES_SHOWN]
    text = " + ".join(labels[item] for item in shown)
    return text if len(shown) == len(items) else f"{text} and {len(items) - len(shown)} more"


def join_names(names: Sequence[str], most: int, count: int | None = None) -> str:
    """Join the first names: ``bat, whale, seal and 4 more``.

    Parameters
    ----------
    names : sequence of str
        At least the first ``most`` names.
    most : int
        How many names to write.
    count : int or None
        Number of all names; None: the length of ``names``.

    Examples
    --------
    >>> join_names(["bat", "whale", "seal"], 2)
    'bat, whale and 1 more'
    """
    rest = (len(names) if count is None else count) - most
    shown = ", ".join(names[:most])
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def count_noun(number: int, noun: str) -> str:
    """Write a number and a noun: ``1 item``, ``2,000 items``, ``3 branches``."""
    ending = "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{ending}"


def is_or_are(number: int) -> str:
    """Return the verb that fits a number of things."""
    return "is" if number == 1 else "are"


def closest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name of ``names`` that is most similar to ``name``, or None.

    Notes
    -----
    Comparing two names of k letters takes O(k^2) time. Therefore only the names that share most
    pairs of letters with ``name`` are compared.
    """
    if len(name) > MAX_LENGTH:
        return None
    wanted = _letter_pairs(name)
    similar_length = (each for each in names if len(name) <= 3 * len(each) <= 9 * len(name))
    candidates = nlargest(
        MAX_COMPARED,
        islice(similar_length, MAX_FILTERED),
        lambda each: len(wanted & _letter_pairs(each)),
    )
    found = difflib.get_close_matches(name, candidates, n=1, cutoff=0.5)
    return found[0] if found else None


def _letter_pairs(name: str) -> set[str]:
    """Return the pairs of neighbouring letters, and the letters themselves."""
    return {name[k : k + 2] for k in range(len(name))} | set(name)


def show_bidi(text: str) -> str:
    """Return the text with the code of each character that reorders text, instead of its effect.

    Examples
    --------
    >>> show_bidi("bill\\u202efdp.exe")
    'bill[U+202E]fdp.exe'
    """
    return _BIDI_CONTROL.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def show_bidi_in_all(texts: Sequence[Any]) -> Sequence[Any]:
    """Apply :func:`show_bidi` to each text; without such a character return ``texts`` itself."""
    if not _BIDI_CONTROL.search("\0".join(map(str, texts))):
        return texts
    return [show_bidi(str(text)) for text in texts]


def printable(text: str) -> str:
    """Return the text for a picture: spaces for characters that XML cannot have, bidi as codes."""
    return _NOT_PRINTABLE.sub(" ", show_bidi(text))


def escape_html(text: str) -> str:
    """Return the text for HTML: forbidden characters become U+FFFD, bidi controls their codes."""
    return html.escape(_NOT_HTML.sub("\ufffd", show_bidi(text)))


def shorten(text: str, most: int = 60) -> str:
    """Cut a text to ``most`` characters, the last one an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
