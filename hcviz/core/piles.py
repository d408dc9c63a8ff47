"""``Pile``: cards that a participant of a card sort put together, and what follows from piles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from hcviz.core.errors import InvalidData

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

#: Cards that are compared with all others in one matrix product.
BLOCK_ROWS = 100


@dataclass(frozen=True)
class Pile:
    """One pile of a card sort.

    Parameters
    ----------
    participant : str
        Who made the pile.
    name : str
        What the participant called it.
    items : tuple of int
        Its cards, in increasing order.

    Examples
    --------
    >>> Pile("Ada", "plucked", (0, 1)).name
    'plucked'
    """

    participant: str
    name: str
    items: tuple[int, ...]


def participants_of(piles: Sequence[Pile]) -> tuple[str, ...]:
    """Return the participants in order of appearance."""
    return tuple(dict.fromkeys(pile.participant for pile in piles))


def without_participants(piles: Sequence[Pile], left_out: Collection[str]) -> tuple[Pile, ...]:
    """Return the piles of the other participants."""
    return tuple(pile for pile in piles if pile.participant not in left_out)


def check_piles(piles: Sequence[Pile], n_items: int, noun: str) -> tuple[Pile, ...]:
    """Return the piles, or raise InvalidData if one has an item that does not exist."""
    if any(not 0 <= item < n_items for pile in piles for item in pile.items):
        raise InvalidData(f"{noun}: a pile has an item that is not in 0..{n_items - 1}.")
    return tuple(piles)


def membership(piles: Sequence[Pile], n_items: int) -> csr_array:
    """Return the matrix (n, number of piles) with a 1 for each card and pile that has it."""
    return _matrix(piles, np.arange(len(piles)), n_items)


def sorted_cards(piles: Sequence[Pile], n_items: int) -> csr_array:
    """Return the matrix (n, participants) with a 1 where the participant sorted the card."""
    number = {name: k for k, name in enumerate(participants_of(piles))}
    made = _matrix(piles, np.array([number[pile.participant] for pile in piles], int), n_items)
    made.data[:] = 1.0  # a participant of Python code may put a card on two piles
    return made


def _matrix(piles: Sequence[Pile], column: NDArray[np.int64], n_items: int) -> csr_array:
    sizes = [len(pile.items) for pile in piles]
    rows = np.fromiter((item for pile in piles for item in pile.items), np.int64, sum(sizes))
    columns = np.repeat(column, sizes)
    width = max(1, int(columns.max(initial=-1)) + 1)
    return coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_items, width)).tocsr()


def pair_shares(piles: Sequence[Pile], n_items: int) -> tuple[Float, Bool]:
    """Return the share of common piles for each two cards, and which pairs were sorted.

    The share is among the participants who sorted both cards; 0 if there are none.

    Parameters
    ----------
    piles : sequence of Pile
        The piles of all participants.
    n_items : int
        Number of cards, n.

    Returns
    -------
    float64 (n, n), bool (n, n)
        The diagonals are the same as for a pair: 1 for a card that was sorted.

    Notes
    -----
    O(n^2 participants). The products are made for some rows at a time, to save memory.
    """
    mine, who = membership(piles, n_items), sorted_cards(piles, n_items)
    share, known = np.zeros((n_items, n_items)), np.zeros((n_items, n_items), bool)
    for first in range(0, n_items, BLOCK_ROWS):
        part = slice(first, first + BLOCK_ROWS)
        same_pile = (mine[part] @ mine.T).toarray()
        both = (who[part] @ who.T).toarray()
        known[part] = both > 0
        np.divide(same_pile, both, out=share[part], where=known[part])
    return share, known


def pile_similarity(piles: Sequence[Pile], n_items: int) -> tuple[Float, int, float]:
    """Return the similarity of cards of a card sort, and what is unknown.

    Parameters
    ----------
    piles : sequence of Pile
        The piles of all participants.
    n_items : int
        Number of cards, n.

    Returns
    -------
    float64 (n, n), int, float
        The shares of :func:`pair_shares`. A pair that was not sorted has the mean of the others.
        The diagonal is 1. Then the number of these pairs, and that mean.

    Raises
    ------
    InvalidData
        No participant sorted two cards.
    """
    similarity, known = pair_shares(piles, n_items)
    np.fill_diagonal(similarity, 0.0)
    np.fill_diagonal(known, True)
    unknown = (known.size - int(known.sum())) // 2
    mean = 0.0
    if unknown:
        others = n_items * (n_items - 1) // 2 - unknown
        if not others:
            raise InvalidData(
                "No participant sorted two cards.",
                "Each row needs a participant, a card and a pile.",
            )
        mean = float(similarity.sum() / 2 / others)
        similarity[~known] = mean
    np.fill_diagonal(similarity, 1.0)
    return similarity, unknown, mean


def name_key(name: str) -> str:
    """Return what two names of piles have in common if they are the same name."""
    return " ".join(name.split()).casefold()


__all__ = [
    "Pile",
    "check_piles",
    "membership",
    "name_key",
    "pair_shares",
    "participants_of",
    "pile_similarity",
    "sorted_cards",
    "without_participants",
]
