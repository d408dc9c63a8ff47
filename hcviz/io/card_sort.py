"""Reading of card sorts: a table with one row for each participant and card.

    participant,card,pile
    Ada,lute,plucked
    Ada,harp,plucked

Similarity of two cards: the share of participants that put both cards on one pile, among those who
sorted both cards (Rosenberg and Kim 1975). Names of piles are compared within a participant only:
pile 1 of one participant is not related to pile 1 of another. The data set keeps the names.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.text import join_names
from hcviz.datasets import Dataset, Pile
from hcviz.io.cells import cell_text, is_missing, quote
from hcviz.io.rawtable import RawTable, pluralize

#: Possible headers of the three columns.
PARTICIPANT = ("participant", "sorter", "subject", "respondent")
CARD = ("card", "item")
PILE = ("pile", "group", "category")
#: Cards of a card sort. A pile of all these cards has 32 MB of pairs.
MAX_CARDS = 2_000
#: Cards that are compared with all others in one matrix product.
BLOCK_ROWS = 100


def is_card_sort(raw: RawTable) -> bool:
    """Return True if the header names each of the three columns of a card sort once."""
    return _column_numbers(raw) is not None


def read_card_sort(raw: RawTable, filename: str = "") -> Dataset:
    """Read the cards, in order of appearance, and their similarity, float64 (n, n) in [0, 1].

    A row without a pile is a card that the participant did not sort. A pair that no participant
    sorted gets the mean of all other pairs, and ``notes`` mention it.

    Raises
    ------
    InvalidData
        If a participant or card is empty, or a participant sorted a card twice. The message names
        the row.
    TooLarge
        If there are more than 2,000 cards.

    Notes
    -----
    O(rows + n^2 participants).
    """
    columns = _column_numbers(raw)
    assert columns is not None
    notes = list(raw.notes)
    header = _header(raw)
    ignored = [name for at, name in enumerate(header) if at not in columns and name]
    if ignored:
        notes.append(f"Columns left out: {join_names(ignored, 5)}.")
    who, cards, piles = ([cell_text(cell) for cell in raw.columns[at]] for at in columns)
    unsorted = np.array([is_missing(pile) for pile in piles], bool)
    for at, cells in zip(columns, (who, cards), strict=False):
        empty = np.flatnonzero([not cell for cell in cells])
        if empty.size:
            raise InvalidData(
                f"Row {raw.rows[empty[0]]}, column {header[at]}: the cell is empty.",
                "Each row needs a participant, a card and a pile.",
            )
    labels, card = _number(cards)
    participants, participant = _number(who)
    if len(labels) < 2:
        raise InvalidData(f"The card sort has {pluralize(len(labels), 'card')}.", "Two are needed.")
    if len(labels) > MAX_CARDS:
        raise TooLarge(
            f"The card sort has {len(labels):,} cards; {MAX_CARDS:,} is the limit.",
            "Remove cards, or split the table into several card sorts.",
        )
    again = np.flatnonzero(pd.Series(card + len(labels) * participant).duplicated())
    if again.size:
        twice = again[0]
        raise InvalidData(
            f"Row {raw.rows[twice]}: {quote(who[twice])} has sorted {quote(cards[twice])} before.",
            "A participant can put each card on one pile only.",
        )
    if unsorted.any():
        notes.append(f"Cards left aside, without a pile: {unsorted.sum():,}.")
    sorted_ = ~unsorted
    pile = _number([f"{p} {name}" for p, name in zip(participant.tolist(), piles, strict=True)])[1]
    similarity, known = _shares(
        _membership(card[sorted_], pile[sorted_], len(labels)),
        _membership(card[sorted_], participant[sorted_], len(labels)),
    )
    np.fill_diagonal(similarity, 0.0)
    np.fill_diagonal(known, True)
    unknown = (known.size - int(known.sum())) // 2
    if unknown:
        others = len(labels) * (len(labels) - 1) // 2 - unknown
        if not others:
            raise InvalidData(
                "No participant sorted two cards.",
                "Each row needs a participant, a card and a pile.",
            )
        mean = similarity.sum() / 2 / others
        similarity[~known] = mean
        notes.append(
            f"No participant sorted both cards of {pluralize(unknown, 'pair')}; these have the "
            f"mean similarity of the other pairs, {mean:.2g}."
        )
    np.fill_diagonal(similarity, 1.0)
    notes.insert(
        0,
        f"{pluralize(len(participants), 'participant')} sorted {pluralize(len(labels), 'card')}: "
        "the similarity of two cards is the share of participants that put them on one pile.",
    )
    return Dataset(
        name=Path(filename).stem or "card sort",
        title=filename or "A card sort",
        labels=labels,
        similarity=similarity,
        measure="share of participants",
        provenance=f"Your card sort {filename!r}." if filename else "Your card sort.",
        notes=tuple(notes),
        piles=_piles(card[sorted_], participant[sorted_], np.array(piles)[sorted_], participants),
    )


def _piles(
    card: NDArray[np.int64],
    participant: NDArray[np.int64],
    names: NDArray[Any],
    participants: Sequence[str],
) -> tuple[Pile, ...]:
    """Return the piles in order of appearance."""
    cards: dict[tuple[int, str], list[int]] = {}
    for who, name, item in zip(participant.tolist(), names.tolist(), card.tolist(), strict=True):
        cards.setdefault((who, name), []).append(item)
    return tuple(
        Pile(participants[who], name, tuple(sorted(items))) for (who, name), items in cards.items()
    )


def _header(raw: RawTable) -> list[str]:
    names = raw.names if raw.first_cells is None else raw.first_cells
    return [name.strip().lower() for name in names or ()]


def _column_numbers(raw: RawTable) -> tuple[int, int, int] | None:
    """Return the numbers of the columns of participants, cards and piles."""
    header = _header(raw)
    found = [
        [at for at, name in enumerate(header) if name in words]
        for words in (PARTICIPANT, CARD, PILE)
    ]
    if any(len(each) != 1 for each in found):
        return None
    participant, card, pile = (each[0] for each in found)
    return participant, card, pile


def _number(cells: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the distinct cells in order of appearance, and the number of each cell."""
    which, different = pd.factorize(np.array(cells, dtype=object))
    return tuple(different), which


def _membership(card: NDArray[np.int64], set_: NDArray[np.int64], n: int) -> csr_array:
    """Return the matrix (n, sets) with a 1 for each card and a set that contains it."""
    size = int(set_.max(initial=-1)) + 1
    return coo_array((np.ones(len(card)), (card, set_)), shape=(n, max(size, 1))).tocsr()


def _shares(
    piles: csr_array, participants: csr_array
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the share of common piles for each pair of cards, and which pairs were sorted.

    The products are made for some rows at a time, since they need more memory than the result.
    """
    n = piles.shape[0]
    share, known = np.zeros((n, n)), np.zeros((n, n), bool)
    for first in range(0, n, BLOCK_ROWS):
        part = slice(first, first + BLOCK_ROWS)
        same_pile = (piles[part] @ piles.T).toarray()
        both = (participants[part] @ participants.T).toarray()
        known[part] = both > 0
        np.divide(same_pile, both, out=share[part], where=known[part])
    return share, known


__all__ = ["is_card_sort", "read_card_sort"]
