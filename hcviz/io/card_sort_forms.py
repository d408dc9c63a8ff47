"""The forms of card sorts in a table: who put which card on which pile.

Long form, a row for each participant and card. Other columns are left out::

    participant,card,pile
    Ada,lute,plucked

Wide form, a row for each participant and a column for each card, or the other way round. The cells
have the names of the piles::

    participant,lute,harp            card,Ada,Bea
    Ada,plucked,plucked              lute,plucked,1

A card sort is detected only if the table cannot be one of features: see :func:`is_card_sort`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData
from hcviz.io.cells import cell_text, is_missing, quote
from hcviz.io.rawtable import RawTable

#: Headers that name the three columns beyond doubt.
PARTICIPANT = ("participant", "sorter", "subject", "respondent")
CARD = ("card", "item")
PILE = ("pile", "group", "category")
#: Other headers, which also occur in tables of features. The first that a table has counts.
PARTICIPANTS = (
    *PARTICIPANT, "participant id", "participant name", "respondent id", "participants", "user",
    "user id", "username", "person", "subject id", "id",
)  # fmt: skip
CARDS = (
    *CARD, "card label", "card name", "card title", "item name", "item label", "cards", "label",
)  # fmt: skip
PILES = (
    *PILE, "pile name", "pile label", "category label", "category name", "group name",
    "group label", "category title", "sorted into",
)  # fmt: skip

_NUMBERED = re.compile(r"(?:p|s|u|participant|respondent|subject|user|sorter|person)[ _#.-]*\d+")

NEEDED = (
    "A card sort needs three columns: participant, card and pile, with a row for each card of each "
    "participant."
)


@dataclass(frozen=True)
class Placements:
    """Who put which card on which pile, one entry a cell or row of the table.

    Attributes
    ----------
    participants, cards, piles : list of str
        "" where the table has no text.
    rows : int array
        The row of the file.
    columns : tuple of str
        What messages call the columns of participants and cards.
    ignored : tuple of str
        Headers of columns that are left out.
    """

    participants: list[str]
    cards: list[str]
    piles: list[str]
    rows: NDArray[Any]
    columns: tuple[str, str]
    ignored: tuple[str, ...] = ()


def is_card_sort(raw: RawTable) -> bool:
    """Return True if the table is a card sort and no table of features.

    Either its header names each of the three columns once, in the words ``PARTICIPANT``, ``CARD``
    and ``PILE``; or it has other usual headers, the first column has a text twice, and participants
    and cards repeat; or the header is ``card`` and numbered participants.
    """
    if _strict_columns(raw) is not None:
        return True
    found = _usual_columns(raw)
    if found is None:
        header = _header(raw)
        return bool(header[1:]) and header[0] in ("card", "cards") and _all_numbered(header[1:])
    who, cards, piles = (_texts(raw, at) for at in found)
    first = _texts(raw, 0)
    pairs = set(zip(who, cards, strict=True))
    return (
        len(set(first)) < len(first)
        and len(pairs) == len(who)
        and 1 < len(set(who)) <= len(who) / 2
        and 1 < len(set(cards)) <= len(cards) / 2
        and len(set(zip(cards, piles, strict=True))) > len(set(cards))
    )


def read_placements(raw: RawTable) -> Placements:
    """Return who put which card on which pile, from any of the forms.

    Raises
    ------
    InvalidData
        If the table has none of the forms. The message names the three columns.
    """
    found = _strict_columns(raw) or _usual_columns(raw)
    if found is not None:
        header = _header(raw)
        who, cards, piles = (_texts(raw, at) for at in found)
        ignored = tuple(name for at, name in enumerate(header) if at not in found and name)
        names = (header[found[0]], header[found[1]])
        return Placements(who, cards, piles, np.asarray(raw.rows), names, ignored)
    return _read_wide(raw)


def resembles_wide_form(raw: RawTable) -> bool:
    """Return True if a table of features may be a card sort with a row for each participant."""
    header = _header(raw)
    if len(header) < 4 or header[0] not in PARTICIPANTS[:-1]:
        return False
    texts = [_texts(raw, at) for at in range(1, len(header))]
    rows = list(zip(*texts, strict=True))[:200]
    shared = [len({cell for cell in row if cell}) <= len(row) / 2 for row in rows]
    return bool(rows) and all(shared) and not any(map(_is_number, rows[0]))


def _read_wide(raw: RawTable) -> Placements:
    header = _header(raw)
    if len(header) < 3:
        raise InvalidData(f"The table has {len(header)} columns. {NEEDED}")
    names = _texts(raw, 0)
    cells = [_texts(raw, at) for at in range(1, len(header))]
    by_card = header[0] in CARDS or _all_numbered(header[1:])
    by_participant = header[0] in PARTICIPANTS or _all_numbered([name.lower() for name in names])
    if by_card == by_participant:
        raise InvalidData(
            f"The header {quote(_written(raw)[0])} does not say what a row is. {NEEDED}",
            "Or name the first column “participant” if a row is a participant, “card” if it is a "
            "card.",
        )
    if by_card and not _all_numbered(header[1:]) and _are_counts(cells):
        raise InvalidData(
            "The table counts how often each card was put into each category. It does not say "
            f"which cards one participant put together. {NEEDED}",
            "Export the sorts of each participant, not the counts.",
        )
    others = _written(raw)[1:]
    many = len(others)
    rows = np.repeat(np.asarray(raw.rows), many)
    down = [name for name in names for _ in range(many)]
    across = others * len(names)
    piles = [column[k] for k in range(len(names)) for column in cells]
    if by_card:
        return Placements(across, down, piles, rows, ("participant", header[0]))
    return Placements(down, across, piles, rows, (header[0], "card"))


def _are_counts(cells: Sequence[Sequence[str]]) -> bool:
    """Return True if all cells are whole numbers, some are 0 or empty, and all rows sum alike."""
    rows = [[cell or "0" for cell in row] for row in zip(*cells, strict=True)]
    if not all(cell.isdigit() for row in rows for cell in row):
        return False
    sums = {sum(map(int, row)) for row in rows}
    return len(sums) == 1 and any(int(cell) == 0 for row in rows for cell in row)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _all_numbered(names: Sequence[str]) -> bool:
    return bool(names) and all(_NUMBERED.fullmatch(name) for name in names)


def _written(raw: RawTable) -> list[str]:
    names = raw.names if raw.first_cells is None else raw.first_cells
    return [str(name).strip() for name in names or ()]


def _header(raw: RawTable) -> list[str]:
    return [" ".join(re.split(r"[\s_.-]+", name.lower())).strip() for name in _written(raw)]


def _texts(raw: RawTable, column: int) -> list[str]:
    texts = (cell_text(cell) for cell in raw.columns[column])
    return ["" if is_missing(text) else text for text in texts]


def _strict_columns(raw: RawTable) -> tuple[int, int, int] | None:
    """Return the columns of participants, cards and piles, if each is named once beyond doubt."""
    header = _header(raw)
    found = [
        [at for at, name in enumerate(header) if name in words]
        for words in (PARTICIPANT, CARD, PILE)
    ]
    if any(len(each) != 1 for each in found):
        return None
    participant, card, pile = (each[0] for each in found)
    return participant, card, pile


def _usual_columns(raw: RawTable) -> tuple[int, int, int] | None:
    """Return the columns of participants, cards and piles by all usual headers."""
    header = _header(raw)
    found = [
        next((header.index(word) for word in words if word in header), None)
        for words in (PARTICIPANTS, CARDS, PILES)
    ]
    participant, card, pile = found
    if participant is None or card is None or pile is None:
        return None
    return participant, card, pile


__all__ = ["Placements", "is_card_sort", "read_placements", "resembles_wide_form"]
