"""The class ``Group``: a set of items with a name."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from hcviz.core.errors import InvalidTaxonomy
from hcviz.core.validation import check_integers

Status = Literal["draft", "accepted"]

_NOT_IN_ID = re.compile(r"[\s{}\x00-\x1f]")


def new_id() -> str:
    """Return a random id of a group."""
    return secrets.token_hex(6)


def check_text(text: str, what: str) -> None:
    """Raise InvalidTaxonomy for a text that cannot be encoded, such as half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidTaxonomy(f"{what} has an incomplete character: {text!a}.") from None


@dataclass(frozen=True)
class Group:
    """A set of items with a name.

    Parameters
    ----------
    name : str
        A text that is not empty. White space at its ends is removed.
    members : iterable of int
        Indices of the items: one or more, without repeats. They are stored in increasing order.
    note : str
        A remark for the editors of the taxonomy.
    alternatives : iterable of str
        Other names of the group.
    status : {"draft", "accepted"}
        ``accepted`` if an editor has approved the group.
    locked : bool
        A mark that files keep. The page sets it for groups that are also constraints. In Python,
        ``Problem(groups=[members])`` makes the members a clade.
    id : str
        An identifier that stays the same when name or members change, without white space and
        braces. Default: a random one.

    Raises
    ------
    InvalidTaxonomy
        If name or members are missing, a member is repeated or below 0, the status is unknown, or
        a text cannot be encoded.

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
            raise InvalidTaxonomy(f"The group {name!r} has a repeated or negative item.")
        identity = str(id) or new_id()
        if _NOT_IN_ID.search(identity):
            raise InvalidTaxonomy(
                f"The id {identity!r} of {name!r} has white space, braces or control characters.",
                "Remove them.",
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


__all__ = ["Group", "Status", "new_id"]
