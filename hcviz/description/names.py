"""Names for a group: words that are common in it and rare outside, and names of piles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.validation import check_integers
from hcviz.datasets import Pile
from hcviz.description.columns import Columns
from hcviz.description.item_data import ItemData

Items = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: Names that are suggested, at most: in all, and from piles.
MOST, MAX_PILES = 4, 2
#: Values that one name joins, at most.
MAX_VALUES = 3
#: Lowest F1 of a name: the harmonic mean of the share of the group that has the word, and of the
#: share of the items with the word that are in the group.
LEAST_FIT = 0.55
#: The share of other items that have the word is at most this part of the share in the group.
MAX_OUTSIDE = 0.25
#: By how much a further value must raise F1.
LEAST_GAIN = 0.03
#: Lowest Jaccard index of a pile and the group, and lowest share of participants who use the name.
LEAST_OVERLAP, LEAST_USERS = 0.3, 0.25

_NO_NAME = re.compile(r"(?:(?:group|pile|category|cat|stack|cluster)?\W*\d*|misc\w*|other\w*)\W*")
_NUMBER = re.compile(r"[\d.,+-]+|yes|no|true|false", re.IGNORECASE)


@dataclass(frozen=True)
class SuggestedName:
    """A name for a group, and why it fits.

    Parameters
    ----------
    name : str
        The name.
    source : {"piles", "words", "features"}
        Names of piles, words of the items' names, or values of features.
    inside : int
        Number of items in the group that have the words or values. For piles, the number of
        participants who used the name for a similar pile.
    total : int
        Number of items in the group. For piles, the number of participants.
    outside : int
        Number of other items that have them; 0 for piles.

    Examples
    --------
    >>> SuggestedName("Knife", "words", 6, 8, 0).name
    'Knife'
    """

    name: str
    source: Literal["piles", "words", "features"]
    inside: int
    total: int
    outside: int


def suggest_names(data: Any, items: ArrayLike) -> tuple[SuggestedName, ...]:
    """Suggest names for a group of items.

    Parameters
    ----------
    data : Dataset, Problem, DataFrame or float (n, d)
        The items and what is known of them.
    items : int (k,)
        The group.

    Returns
    -------
    tuple of SuggestedName
        At most four, without repeats; empty if no word fits.

    Raises
    ------
    InvalidData
        An item does not exist, or there are no items.

    Notes
    -----
    Names of piles of a card sort come first. The others are sorted by F1, the harmonic mean of two
    shares: of the group that has the words, and of the items with the words that are in the group.
    Up to three values are joined if that raises F1. O(n d + letters of all names).

    Examples
    --------
    >>> names = ["bread knife", "paring knife", "stock pot", "milk pot"]
    >>> [each.name for each in suggest_names(Problem(labels=names), [0, 1])]
    ['Knife']
    """
    known = ItemData.of(data)
    group = check_items(items, known.n_items)
    if len(group) == known.n_items:
        return ()
    is_member = np.zeros(known.n_items, np.bool_)
    is_member[group] = True
    found = list(_of_piles(known.piles, is_member))[:MAX_PILES]
    rest = [*_of_words(known.words, group), *_of_values(known.columns, is_member)]
    found += [each for _, each in sorted(rest, key=lambda pair: -pair[0])]
    return tuple(_different(found))[:MOST]


def check_items(items: ArrayLike, n_items: int) -> Items:
    """Return the different items in increasing order, or raise InvalidData."""
    found = np.unique(check_integers(items, "The items of a group", InvalidData))
    if not found.size or found[0] < 0 or found[-1] >= n_items:
        raise InvalidData(f"A group has one or more items, numbers in 0..{n_items - 1}.")
    return found.astype(np.int64)


def _different(names: Iterable[SuggestedName]) -> Iterator[SuggestedName]:
    seen = set()
    for each in names:
        key = frozenset(each.name.casefold().split(", "))
        if key not in seen:
            seen.add(key)
            yield each


def _fit(inside: int, outside: int, total: int) -> float:
    return 2.0 * inside / (total + inside + outside)


def _fits(inside: int, outside: int, total: int, n_items: int) -> bool:
    """Return True if a word is common in the group and rare outside."""
    rare = outside / (n_items - total) <= MAX_OUTSIDE * inside / total
    return rare and _fit(inside, outside, total) >= LEAST_FIT


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _of_words(
    words: tuple[frozenset[str], ...], group: Items
) -> Iterator[tuple[float, SuggestedName]]:
    inside = Counter(chain.from_iterable(words[k] for k in group.tolist()))
    total = len(group)
    common = {word for word, count in inside.items() if count > 1 and 3 * count >= total}
    if not common:
        return
    everywhere: Counter[str] = Counter()
    for each in words:
        everywhere.update(common & each)
    for word in sorted(common):
        count, outside = inside[word], everywhere[word] - inside[word]
        if _fits(count, outside, total, len(words)):
            name = SuggestedName(_capital(word), "words", count, total, outside)
            yield _fit(count, outside, total), name


def _of_values(columns: Columns | None, is_member: Mask) -> Iterator[tuple[float, SuggestedName]]:
    """Yield the best join of values, and single values that fit."""
    if columns is None:
        return
    flags = [k for k, kind in enumerate(columns.kinds) if kind != "number"]
    if not flags:
        return
    has = columns.values[:, flags] == 1.0
    inside, everywhere = has[is_member].sum(axis=0), has.sum(axis=0)
    total = int(is_member.sum())
    fits = 2.0 * inside / (total + everywhere)
    order = np.argsort(-fits, kind="stable")
    best, chosen = float(fits[order[0]]), [int(order[0])]
    mask = has[:, order[0]]
    candidates = [int(k) for k in order[1:] if 2 * inside[k] >= total]
    while len(chosen) < MAX_VALUES and candidates:
        joined = has[:, candidates] & mask[:, None]
        within = joined[is_member].sum(axis=0)
        scores = 2.0 * within / (total + joined.sum(axis=0))
        k = int(scores.argmax())
        if scores[k] < best + LEAST_GAIN:
            break
        best, mask = float(scores[k]), joined[:, k]
        chosen.append(candidates.pop(k))
    sets = [chosen] + [[int(k)] for k in order if fits[k] >= LEAST_FIT]
    for each in sets:
        mask = has[:, each].all(axis=1)
        within = int(mask[is_member].sum())
        outside = int(mask.sum()) - within
        if _fits(within, outside, total, len(has)):
            name = _capital(", ".join(_value_text(columns, flags[k]) for k in each))
            yield (
                _fit(within, outside, total),
                SuggestedName(name, "features", within, total, outside),
            )


def _value_text(columns: Columns, column: int) -> str:
    value = columns.categories[column]
    name = columns.names[column].replace("_", " ").strip()
    if value is None:
        return name
    return f"{name} {value}" if _NUMBER.fullmatch(value) else value


def _of_piles(piles: tuple[Pile, ...], is_member: Mask) -> Iterator[SuggestedName]:
    """Yield the names of the piles that are most similar to the group, the most used first."""
    if not piles:
        return
    sizes = np.array([len(pile.items) for pile in piles])
    flat = np.fromiter(chain.from_iterable(pile.items for pile in piles), np.int64, sizes.sum())
    before = np.concatenate([[0], np.cumsum(is_member[flat])])
    ends = np.cumsum(sizes)
    shared = before[ends] - before[ends - sizes]
    overlap = shared / (sizes + is_member.sum() - shared)
    best: dict[str, int] = {}
    for k, pile in enumerate(piles):
        first = best.setdefault(pile.participant, k)
        if overlap[k] > overlap[first]:
            best[pile.participant] = k
    scores: Counter[str] = Counter()
    uses: dict[str, Counter[str]] = {}
    for k in best.values():
        name = " ".join(piles[k].name.split())
        if overlap[k] >= LEAST_OVERLAP and not _NO_NAME.fullmatch(name.casefold()):
            scores[name.casefold()] += float(overlap[k])  # type: ignore[assignment]
            uses.setdefault(name.casefold(), Counter())[name] += 1
    for key, _ in scores.most_common():
        users = uses[key].total()
        if len(best) == 1 or users >= max(2, LEAST_USERS * len(best)):
            written = uses[key].most_common(1)[0][0]
            yield SuggestedName(written, "piles", users, len(best), 0)


__all__ = ["SuggestedName", "check_items", "suggest_names"]
