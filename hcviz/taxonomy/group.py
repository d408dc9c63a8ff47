"""``Group``: a set of items with a name."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from hcviz.core.errors import InvalidTaxonomy
from hcviz.core.validation import check_integers

Status = Literal["draft", "accepted"]

_NO_ID = re.compile(r"[\s{}\x00-\x1f]")


def check_text(text: str, what: str) -> None:
    """Refuse half a character, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidTaxonomy(f"{what} has a character that is not whole: {text!a}.") from None


@dataclass(frozen=True)
class Group:
    """A set of items with a name.

    Parameters
    ----------
    name : str
        Any text but an empty one; white space at its ends is removed.
    members : iterable of int
        Items, by their index into the labels: one or more, each once. Kept in increasing order.
    note : str
        For the people who work on the taxonomy.
    alternatives : iterable of str
        Other names of the group.
    status : {"draft", "accepted"}
    locked : bool
        The group is right: methods that keep constraints must make it a clade.
    id : str
        Stays the same when the name or the members change; without white space and braces. Made up
        unless given.

    Raises
    ------
    InvalidTaxonomy
        No name, no members, a member twice or below 0, another status, or text that
        no file can hold.

    Examples
    --------
    >>> Group("Storage", [4, 2, 9]).members
    (2, 4, 9)
    """

    name: str
    members: tuple[int, ...]
    note: str = ""
    alternatives: tuple[str, ...] = ()
    status: Status = "draft"
    locked: bool = False
    id: str = ""

    def __init__(
        self,
        name: str,
        members: Iterable[int],
        note: str = "",
        alternatives: Iterable[str] = (),
        status: Status = "draft",
        locked: bool = False,
        id: str = "",
    ) -> None:
        name = str(name).strip()
        if not name:
            raise InvalidTaxonomy("A group needs a name.")
        items = check_integers(list(members), f"The members of {name!r}", InvalidTaxonomy).ravel()
        if not items.size:
            raise InvalidTaxonomy(f"The group {name!r} has no members.", "Add an item to it.")
        ordered = sorted(int(item) for item in items)
        if ordered[0] < 0 or len(set(ordered)) < len(ordered):
            raise InvalidTaxonomy(f"The group {name!r} names an item twice, or one below 0.")
        identity = str(id) or secrets.token_hex(6)
        if _NO_ID.search(identity):
            raise InvalidTaxonomy(
                f"The id {identity!r} of {name!r} has white space, braces or a mark of a file."
            )
        named = tuple(str(each) for each in alternatives)
        for text in (name, str(note), identity, *named):
            check_text(text, f"The group {name!r}")
        if status not in get_args(Status):
            raise InvalidTaxonomy(
                f"The status of {name!r} is {status!r}.", f"Use {' or '.join(get_args(Status))}."
            )
        values = {
            "name": name,
            "members": tuple(ordered),
            "note": str(note),
            "alternatives": named,
            "status": status,
            "locked": bool(locked),
            "id": identity,
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)


__all__ = ["Group", "Status"]
