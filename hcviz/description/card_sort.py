"""What the piles of a card sort say: their names, the participants, and the cards.

The numbers of participants and cards compare each participant with at most ``MAX_COMPARED``
others, evenly spaced in the order of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hcviz.core.piles import Pile, membership, name_key, participants_of, sorted_cards

Float = NDArray[np.float64]

#: Each participant is compared with at most this many others.
MAX_COMPARED = 200


@dataclass(frozen=True)
class PileName:
    """A name of piles, after names were merged.

    Attributes
    ----------
    name : str
        The name as it is shown: the merged one, or the most frequent spelling.
    spellings : tuple of (str, int)
        What participants wrote, with the number of piles; the most frequent first.
    participants : int
        Number of participants who used one of the spellings.
    cards : tuple of (int, int)
        The cards that were put on these piles, with the number of participants who put them there.
    is_merged : bool
        True if a person merged or renamed it.
    """

    name: str
    spellings: tuple[tuple[str, int], ...]
    participants: int
    cards: tuple[tuple[int, int], ...]
    is_merged: bool

    @property
    def usual_cards(self) -> tuple[int, ...]:
        """The cards that half of its participants or more put there; else the most frequent."""
        most = self.cards[0][1] if self.cards else 0
        least = min(most, self.participants / 2)
        return tuple(sorted(card for card, count in self.cards if count >= least))


def pile_names(piles: Sequence[Pile], merged: Mapping[str, str]) -> tuple[PileName, ...]:
    """Return the different names of piles, the most used first.

    Two names are the same if they differ in spaces and case only, or were merged.

    Parameters
    ----------
    piles : sequence of Pile
        The piles.
    merged : mapping
        Key of a name -> the name that it counts as (``Session.pile_names``).

    Returns
    -------
    tuple of PileName
        Sorted by the number of participants, then of cards, then by name.
    """
    rows: dict[str, list[Pile]] = {}
    for pile in piles:
        shown = merged.get(name_key(pile.name), pile.name)
        rows.setdefault(name_key(shown), []).append(pile)
    made = [_row(key, group, merged) for key, group in rows.items()]
    return tuple(
        sorted(made, key=lambda row: (-row.participants, -len(row.cards), name_key(row.name)))
    )


def _row(key: str, piles: list[Pile], merged: Mapping[str, str]) -> PileName:
    spellings = Counter(" ".join(pile.name.split()) for pile in piles).most_common()
    target = next((name for name in merged.values() if name_key(name) == key), None)
    who = {(pile.participant, item) for pile in piles for item in pile.items}
    cards = Counter(item for _, item in who)
    return PileName(
        spellings[0][0] if target is None else target,
        tuple(spellings),
        len({pile.participant for pile in piles}),
        tuple(sorted(cards.items(), key=lambda pair: (-pair[1], pair[0]))),
        target is not None,
    )


def named_piles(piles: Sequence[Pile], merged: Mapping[str, str]) -> tuple[Pile, ...]:
    """Return the piles with the names that they count as."""
    if not merged:
        return tuple(piles)
    return tuple(replace(pile, name=merged.get(name_key(pile.name), pile.name)) for pile in piles)


def participant_agreement(piles: Sequence[Pile], n_items: int) -> dict[str, float]:
    """Return how far each participant agrees with the others: the mean Jaccard index of pairs.

    The index of two participants is the number of pairs of cards that both put on one pile, divided
    by the number of pairs that at least one of them did. Only cards that both sorted count. It is 1
    if neither put two of these on one pile.

    Parameters
    ----------
    piles : sequence of Pile
        The piles of all participants.
    n_items : int
        Number of cards.

    Returns
    -------
    dict of str -> float
        Participant -> mean index; NaN if there is no other participant.
    """
    names = participants_of(piles)
    mine, done = membership(piles, n_items), sorted_cards(piles, n_items)
    owner = _owners(piles, names)
    compared = _evenly_spaced(len(names))
    others = np.flatnonzero(np.isin(owner, compared))
    group = np.searchsorted(compared, owner[others])
    theirs, their_cards = mine[:, others], done[:, compared]
    found: dict[str, float] = {}
    for k, name in enumerate(names):
        own = np.flatnonzero(owner == k)
        shared = (mine[:, own].T @ theirs).toarray()
        both = np.bincount(group, _pairs(shared).sum(axis=0), len(compared))
        first = _pairs((mine[:, own].T @ their_cards).toarray()).sum(axis=0)
        cards = (done[:, [k]].T @ theirs).toarray()[0]
        second = np.bincount(group, _pairs(cards), len(compared))
        either = first + second - both
        index = np.divide(both, either, out=np.ones(len(compared)), where=either > 0)
        index = index[compared != k]
        found[name] = float(index.mean()) if index.size else float("nan")
    return found


def placement_variety(piles: Sequence[Pile], n_items: int) -> Float:
    """Return how variously each card was placed, float64 (n,): 0 for the same pile everywhere.

    It is 1 minus the mean Jaccard index of the piles with the card, over each two participants: the
    number of cards that the two piles share, divided by the number of cards on at least one of
    them. The card itself counts. NaN for a card that fewer than two participants sorted.

    Parameters
    ----------
    piles : sequence of Pile
        The piles of all participants.
    n_items : int
        Number of cards, n.
    """
    names = participants_of(piles)
    owner = _owners(piles, names)
    kept = np.flatnonzero(np.isin(owner, _evenly_spaced(len(names))))
    mine = membership(piles, n_items)[:, kept]
    size = np.asarray(mine.sum(axis=0)).ravel()
    found = np.full(n_items, np.nan)
    for card in range(n_items):
        those = mine[[card]].indices
        if len(those) > 1:
            shared = (mine[:, those].T @ mine[:, those]).toarray()
            index = shared / (size[those][:, None] + size[those][None] - shared)
            count = len(those)
            found[card] = 1.0 - (index.sum() - np.trace(index)) / (count * (count - 1))
    return found


def _pairs(counts: Float) -> Float:
    return counts * (counts - 1) / 2


def _owners(piles: Sequence[Pile], names: Sequence[str]) -> NDArray[np.int64]:
    number = {name: k for k, name in enumerate(names)}
    return np.array([number[pile.participant] for pile in piles], np.int64)


def _evenly_spaced(count: int) -> NDArray[np.int64]:
    if count <= MAX_COMPARED:
        return np.arange(count)
    return np.linspace(0, count - 1, MAX_COMPARED).astype(np.int64)


__all__ = [
    "PileName",
    "named_piles",
    "participant_agreement",
    "pile_names",
    "placement_variety",
]
