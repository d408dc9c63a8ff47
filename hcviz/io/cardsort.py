"""Card sorts: who put which card on which pile, one a row; cards are alike as often as they meet.

    participant,card,pile
    Ada,lute,plucked
    Ada,harp,plucked

The similarity of two cards is the share, of those who sorted both, of participants that put both on
one pile (Rosenberg and Kim 1975: co-occurrence in sortings). Piles need no names in common: what
one participant calls 1 has nothing to do with another's 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.text import join_names
from hcviz.datasets import Dataset
from hcviz.io.cells import cell_text, is_missing, quote
from hcviz.io.rawtable import RawTable, count

#: What the three columns may be called.
PARTICIPANT = ("participant", "sorter", "subject", "respondent")
CARD = ("card", "item")
PILE = ("pile", "group", "category")
#: Cards of a card sort. One pile of n cards makes n x n meetings, 32 MB of them at this number.
MAX_CARDS = 2_000
#: Cards that are compared with all others at a time.
ROWS = 100


def is_card_sort(raw: RawTable) -> bool:
    """Whether the header names the three columns of a card sort, each once."""
    return _places(raw) is not None


def read_card_sort(raw: RawTable, filename: str = "") -> Dataset:
    """The cards, in their order of appearance, and how alike they are: float64 (n, n) in [0, 1].

    A row without a pile is a card left aside. Pairs that nobody sorted both of get the mean of all
    other pairs, and ``notes`` say so. Raises :class:`InvalidData` with the row for an empty
    participant or card, and for a card that one participant sorted twice. O(rows + n^2 sorters).
    """
    places = _places(raw)
    assert places is not None
    notes = list(raw.notes)
    header = _header(raw)
    left = [name for at, name in enumerate(header) if at not in places and name]
    if left:
        notes.append(f"Columns left out: {join_names(left, 5)}.")
    who, cards, piles = ([cell_text(cell) for cell in raw.columns[at]] for at in places)
    aside = np.array([is_missing(pile) for pile in piles], bool)
    for at, cells in zip(places, (who, cards), strict=False):
        empty = np.flatnonzero([not cell for cell in cells])
        if empty.size:
            raise InvalidData(
                f"Row {raw.rows[empty[0]]}, column {header[at]}: the cell is empty.",
                "Each row says who put which card on which pile.",
            )
    labels, card = _numbered(cards)
    sorters, sorter = _numbered(who)
    if len(labels) < 2:
        raise InvalidData(f"The card sort has {count(len(labels), 'card')}.", "Two are needed.")
    if len(labels) > MAX_CARDS:
        raise TooLarge(
            f"The card sort has {len(labels):,} cards; {MAX_CARDS:,} is the limit.",
            "Leave out cards, or open several card sorts.",
        )
    again = np.flatnonzero(pd.Series(card + len(labels) * sorter).duplicated())
    if again.size:
        twice = again[0]
        raise InvalidData(
            f"Row {raw.rows[twice]}: {quote(who[twice])} has sorted {quote(cards[twice])} before.",
            "A card lies on one pile of each participant.",
        )
    if aside.any():
        notes.append(f"Cards left aside, without a pile: {aside.sum():,}.")
    sorted_ = ~aside
    pile = _numbered([f"{s} {name}" for s, name in zip(sorter.tolist(), piles, strict=True)])[1]
    similarity, known = _shares(
        _places_of(card[sorted_], pile[sorted_], len(labels)),
        _places_of(card[sorted_], sorter[sorted_], len(labels)),
    )
    np.fill_diagonal(similarity, 0.0)
    np.fill_diagonal(known, True)
    unknown = (known.size - int(known.sum())) // 2
    if unknown:
        others = len(labels) * (len(labels) - 1) // 2 - unknown
        if not others:
            raise InvalidData("Nobody put two cards on piles.", "Each row names a pile.")
        mean = similarity.sum() / 2 / others
        similarity[~known] = mean
        notes.append(
            f"Nobody sorted both of {count(unknown, 'pair')} of cards; the similarity there is the "
            f"mean of the others, {mean:.2g}."
        )
    np.fill_diagonal(similarity, 1.0)
    notes.insert(
        0,
        f"{count(len(sorters), 'participant')} sorted {count(len(labels), 'card')}: two cards are "
        "as similar as the share of participants that put them on one pile.",
    )
    return Dataset(
        name=Path(filename).stem or "card sort",
        title=filename or "A card sort",
        labels=labels,
        similarity=similarity,
        measure="share of participants",
        provenance=f"Your card sort {filename!r}." if filename else "Your card sort.",
        notes=tuple(notes),
    )


def _header(raw: RawTable) -> list[str]:
    names = raw.names if raw.first is None else raw.first
    return [name.strip().lower() for name in names or ()]


def _places(raw: RawTable) -> tuple[int, int, int] | None:
    """The columns of participants, cards and piles."""
    header = _header(raw)
    found = [
        [at for at, name in enumerate(header) if name in called]
        for called in (PARTICIPANT, CARD, PILE)
    ]
    if any(len(each) != 1 for each in found):
        return None
    participant, card, pile = (each[0] for each in found)
    return participant, card, pile


def _numbered(cells: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The different cells in order of appearance, and which of them each is."""
    which, different = pd.factorize(np.array(cells, dtype=object))
    return tuple(different), which


def _places_of(card: NDArray[np.int64], place: NDArray[np.int64], n: int) -> csr_array:
    """Which cards are in which places: ones, (n, places)."""
    size = int(place.max(initial=-1)) + 1
    return coo_array((np.ones(len(card)), (card, place)), shape=(n, max(size, 1))).tocsr()


def _shares(piles: csr_array, sorters: csr_array) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Of each two cards the share of their common sorters that put both on one pile, 0 where there
    are none; and whether there are any. Some rows at a time: products are larger than results."""
    n = piles.shape[0]
    share, known = np.zeros((n, n)), np.zeros((n, n), bool)
    for first in range(0, n, ROWS):
        part = slice(first, first + ROWS)
        met = (piles[part] @ piles.T).toarray()
        both = (sorters[part] @ sorters.T).toarray()
        known[part] = both > 0
        np.divide(met, both, out=share[part], where=known[part])
    return share, known


__all__ = ["is_card_sort", "read_card_sort"]
