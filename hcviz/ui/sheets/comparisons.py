"""The comparisons themselves: how many, about what, how they agree with each other and the tree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons
from hcviz.metrics import Consistency, comparisons_held, consistency, cyclic_share
from hcviz.ui import pictures
from hcviz.ui.gestures import Gestures
from hcviz.ui.sheets.base import Sheet, drawn_by
from hcviz.ui.store import Store

#: Kind of question -> what one answer and several are called.
KINDS = {
    "triplets": ("near or far", "of two items, which is nearer to a third"),
    "quadruplets": ("quadruplets", "of two pairs, which is more alike"),
    "central": ("most central", "of three items, which is most central"),
    "odd": ("odd one out", "of three items, which is the odd one out"),
}
#: Rows listed; the rest is counted.
MOST_ITEMS, MOST_CONTRADICTIONS = 400, 60


@lru_cache(maxsize=8)
def _consistency(comparisons: Comparisons) -> tuple[Consistency, float]:
    return consistency(comparisons), cyclic_share(comparisons)


@lru_cache(maxsize=8)
def _held(tree: Tree, comparisons: Comparisons) -> tuple[int, int, int]:
    """How many the tree agrees with, contradicts, and leaves open."""
    held = comparisons_held(tree, comparisons)
    return int((held == 1).sum()), int((held == -1).sum()), int((held == 0).sum())


def asked(store: Store) -> dict[str, int]:
    """How many answers to each kind of question: the data's and one's own."""
    data = store.dataset
    found = dict(data.asked) if data is not None and data.asked is not None else {}
    for each in store.session.choices:
        found[each.question] = found.get(each.question, 0) + 1
    return found


def picture(store: Store) -> dict[str, Any]:
    session = store.session
    comparisons = _known(store)
    if comparisons is None:
        return {}
    snapshot = session.snapshot
    n = len(session.labels)
    seen = comparisons.appearances(n)
    least = np.argsort(seen, kind="stable")
    found, cyclic = _consistency(comparisons)
    kinds = asked(store)
    return {
        "kinds": [[*KINDS[kind], count] for kind, count in kinds.items() if count],
        "comparisons": len(comparisons),
        "own": len(session.choices),
        "items": [[int(i), session.labels[i], int(seen[i])] for i in least[:MOST_ITEMS]],
        "moreItems": max(0, n - MOST_ITEMS),
        "most": int(seen.max(initial=0)),
        "never": int((seen == 0).sum()),
        "median": float(np.median(seen)),
        "questions": found.questions,
        "repeated": found.repeated,
        "agreeing": found.agreeing,
        "share": found.share,
        "cyclic": cyclic,
        "contradictions": [
            {
                "said": in_words(row, session.labels),
                "so": int(so),
                "not": int(other),
                "items": sorted(set(row)),
            }
            for row, (so, other) in zip(
                found.contradictions[:MOST_CONTRADICTIONS].tolist(),
                found.counts[:MOST_CONTRADICTIONS].tolist(),
                strict=True,
            )
        ],
        "moreContradictions": max(0, len(found.contradictions) - MOST_CONTRADICTIONS),
        "held": None if snapshot is None else list(_held(snapshot.tree, comparisons)),
        "images": _images(store, [int(i) for i in least[:MOST_ITEMS]]),
    }


def in_words(row: Sequence[int], labels: Sequence[str]) -> str:
    """``bat is nearer to cat than to dog``; ``bat and cat are more alike than dog and eel``."""
    names = [labels[item] for item in row]
    if len(row) == 3:
        return f"{names[0]} is nearer to {names[1]} than to {names[2]}"
    return f"{names[0]} and {names[1]} are more alike than {names[2]} and {names[3]}"


def _images(store: Store, items: list[int]) -> list[str | None]:
    """Small pictures of the items listed; none where there are too many to send."""
    data = store.dataset
    if data is None or data.images is None or len(items) > 100:
        return []
    return [None if data.images[i] is None else pictures.as_uri(data.images[i]) for i in items]


def _known(store: Store) -> Comparisons | None:
    if store.dataset is None or store.dataset.labels != store.session.labels:
        return None
    found: Comparisons | None = store.problem.comparisons
    return found


def shown(store: Store) -> bool:
    """There are comparisons to speak of."""
    known = _known(store)
    return known is not None and len(known) > 0


def _sees(store: Store) -> Any:
    return (store.drawn, store.session.choices, store.dataset, store.view.selection)


def _act(gestures: Gestures, name: str, more: dict[str, Any]) -> None:
    items = tuple(int(item) for item in more.get("items", ()))
    n = len(gestures.store.session.labels)
    if name == "pick" and items and all(0 <= item < n for item in items):
        gestures.take(items)


SHEET = Sheet(
    name="comparisons",
    title="Comparisons",
    summary="How many answers there are, about which items, and how they agree",
    make=drawn_by("comparisons"),
    picture=picture,
    sees=_sees,
    lacks=lambda store: "",  # where no tree can be made of them it is them that one must look at
    shown=shown,
    act=_act,
    live=lambda store: {"chosen": list(store.view.selection)},
)
