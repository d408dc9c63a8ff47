"""Reading of card sorts as data sets. :mod:`hcviz.io.card_sort_forms` has the forms of tables.

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

from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.piles import Pile, pile_similarity
from hcviz.core.text import count_noun, join_names
from hcviz.datasets import Dataset
from hcviz.io.card_sort_forms import is_card_sort, read_placements
from hcviz.io.cells import quote
from hcviz.io.rawtable import RawTable

#: Cards of a card sort. A pile of all these cards has 32 MB of pairs.
MAX_CARDS = 2_000
#: Participants times cards.
MAX_PLACEMENTS = 20_000_000


def read_card_sort(raw: RawTable, filename: str = "") -> Dataset:
    """Read the cards, in order of appearance, and their similarity, float64 (n, n) in [0, 1].

    A row without a pile is a card that the participant did not sort. A pair that no participant
    sorted gets the mean of all other pairs, and ``notes`` mention it.

    Raises
    ------
    InvalidData
        If the table is no card sort, a participant or card is empty, or a participant sorted a card
        twice. The message names the row.
    TooLarge
        If there are more than 2,000 cards, or 20 million pairs of participant and card.

    Notes
    -----
    O(rows + n^2 participants).
    """
    found = read_placements(raw)
    notes = list(raw.notes)
    if found.ignored:
        notes.append(f"Columns left out: {join_names(list(found.ignored), 5)}.")
    for column, cells in zip(found.columns, (found.participants, found.cards), strict=True):
        empty = np.flatnonzero([not cell for cell in cells])
        if empty.size:
            raise InvalidData(
                f"Row {found.rows[empty[0]]}, column {column}: the cell is empty.",
                "Each row needs a participant, a card and a pile.",
            )
    labels, card = _number(found.cards)
    participants, participant = _number(found.participants)
    _check_size(len(labels), len(participants))
    again = np.flatnonzero(pd.Series(card + len(labels) * participant).duplicated())
    if again.size:
        twice = again[0]
        raise InvalidData(
            f"Row {found.rows[twice]}: {quote(found.participants[twice])} has sorted "
            f"{quote(found.cards[twice])} before.",
            "A participant can put each card on one pile only.",
        )
    unsorted = np.array([not pile for pile in found.piles], bool)
    if unsorted.any():
        notes.append(f"Cards left aside, without a pile: {unsorted.sum():,}.")
    sorted_ = ~unsorted
    piles = _piles(
        card[sorted_], participant[sorted_], np.array(found.piles, object)[sorted_], participants
    )
    similarity, unknown, mean = pile_similarity(piles, len(labels))
    if unknown:
        notes.append(
            f"No participant sorted both cards of {count_noun(unknown, 'pair')}; these have the "
            f"mean similarity of the other pairs, {mean:.2g}."
        )
    notes.insert(
        0,
        f"{count_noun(len(participants), 'participant')} sorted {count_noun(len(labels), 'card')}: "
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
        piles=piles,
    )


def _check_size(cards: int, participants: int) -> None:
    if cards < 2:
        raise InvalidData(f"The card sort has {count_noun(cards, 'card')}.", "Two are needed.")
    if cards > MAX_CARDS:
        raise TooLarge(
            f"The card sort has {cards:,} cards; {MAX_CARDS:,} is the limit.",
            "Remove cards, or split the table into several card sorts.",
        )
    if cards * participants > MAX_PLACEMENTS:
        raise TooLarge(
            f"{participants:,} participants and {cards:,} cards are too many: their product may be "
            f"{MAX_PLACEMENTS:,}.",
            "Take a sample of the participants.",
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


def _number(cells: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the distinct cells in order of appearance, and the number of each cell."""
    which, different = pd.factorize(np.array(cells, dtype=object))
    return tuple(different), which


__all__ = ["is_card_sort", "read_card_sort"]
