"""State of the sheet *Card sort*, as plain JSON. The report has the same contents."""

from __future__ import annotations

import math
from collections import Counter
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hcviz.core.piles import participants_of
from hcviz.datasets import Dataset
from hcviz.description.card_sort import (
    PileName,
    participant_agreement,
    pile_names,
    placement_variety,
)
from hcviz.ui.features.about_group.item_data import computed, digest
from hcviz.ui.state.default_method import able
from hcviz.ui.state.store import Store

#: Names, cards of one name, participants and cards that the sheet lists, at most.
MAX_NAMES, MAX_CARDS, MAX_LISTED = 400, 24, 500

#: Data set -> its number, which is never used again.
_numbers: WeakKeyDictionary[Dataset, int] = WeakKeyDictionary()
_counter = count()


def card_sort_of(store: Store) -> Dataset | None:
    """Return the data of the page if they are a card sort."""
    data = store.dataset
    if data is None or not data.piles or data.labels != store.session.labels:
        return None
    return data


def depends_on(store: Store) -> Any:
    """Return what :func:`state` and :func:`live` read."""
    session = store.session
    return (
        session.data, store.dataset, session.labels, session.pile_names, session.method,
        store.view.lesson, store.view.selection, store.n_computed,
    )  # fmt: skip


def live(store: Store) -> dict[str, Any]:
    """Return the selected items, which change at every click."""
    return {"selected": list(store.view.selection)}


def state(store: Store) -> dict[str, Any]:
    """Return the contents of the sheet."""
    data = card_sort_of(store)
    if data is None:
        return {}
    piles = store.problem.piles
    rows = name_rows(store)
    measured = _measured(store, data)
    people = [] if measured is None else _participants(data, measured[0])
    cards = [] if measured is None else _various(data, measured[1])
    return {
        "title": data.title,
        "participants": len(participants_of(data.piles)),
        "on": len(participants_of(piles)),
        "cards": data.n_items,
        "piles": len(piles),
        "names": [_name(row, data) for row in rows[:MAX_NAMES]],
        "nameCount": len(rows),
        "people": people[:MAX_LISTED],
        "peopleCount": len(people),
        "various": cards[:MAX_LISTED],
        "variousCount": len(cards),
        "waiting": measured is None,
        "methods": [
            [each.name, each.title, each.summary]
            for each in able(store.problem)
            if "piles" in each.needs
        ],
        "method": store.session.method,
    }


def name_rows(store: Store) -> tuple[PileName, ...]:
    """Return the names of the piles of the participants who are on."""
    return pile_names(store.problem.piles, store.session.pile_names)


def find_name(store: Store, name: str) -> PileName | None:
    """Return the row with this name; None if it is gone meanwhile."""
    return next((row for row in name_rows(store) if row.name == name), None)


def _name(row: PileName, data: Dataset) -> dict[str, Any]:
    return {
        "name": row.name,
        "participants": row.participants,
        "merged": row.is_merged,
        "spellings": [list(pair) for pair in row.spellings],
        "cards": [[data.labels[card], count] for card, count in row.cards[:MAX_CARDS]],
        "cardCount": len(row.cards),
    }


def _measured(store: Store, data: Dataset) -> tuple[dict[str, float], Any] | None:
    """Return the agreement of participants and the variety of cards; None until computed."""
    piles, n = store.problem.piles, data.n_items
    number = _numbers.setdefault(data, next(_counter))
    key = digest([number], "\0".join(store.session.data.left_out))
    return computed(
        store, "card sort", key,
        lambda: (participant_agreement(piles, n), placement_variety(piles, n)),
    )  # fmt: skip


def _participants(data: Dataset, agreement: dict[str, float]) -> list[dict[str, Any]]:
    """Return the participants in the order of the file; those who are off have no agreement."""
    counts: Counter[str] = Counter()
    cards: Counter[str] = Counter()
    for pile in data.piles:
        counts[pile.participant] += 1
        cards[pile.participant] += len(pile.items)
    return [
        {
            "name": name,
            "on": name in agreement,
            "piles": count,
            "cards": cards[name],
            "agreement": _number(agreement.get(name, math.nan)),
        }
        for name, count in counts.items()
    ]


def _various(data: Dataset, variety: Any) -> list[dict[str, Any]]:
    """Return the cards, the most variously placed first."""
    order = np.argsort(-np.nan_to_num(variety, nan=-1.0), kind="stable")
    return [
        {"id": card, "name": data.labels[card], "variety": _number(float(variety[card]))}
        for card in order.tolist()
        if not np.isnan(variety[card])
    ]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


__all__ = ["card_sort_of", "depends_on", "find_name", "live", "name_rows", "state"]
