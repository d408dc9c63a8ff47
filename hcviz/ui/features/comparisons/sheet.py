"""The comparisons themselves: how many, about what, how they agree with each other and the tree."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hcviz.core.errors import HcvizError
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons
from hcviz.datasets import Dataset
from hcviz.jobs.compute_cache import Computation
from hcviz.metrics import comparisons_held, consistency, cyclic_share
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.images import as_uri
from hcviz.ui.parts.sheet import Sheet, drawn_by
from hcviz.ui.state.store import Store

#: Kind of question -> what one answer and several are called.
KINDS = {
    "triplets": ("near or far", "of two items, which is nearer to a third"),
    "quadruplets": ("quadruplets", "of two pairs, which is more alike"),
    "central": ("most central", "of three items, which is most central"),
    "odd": ("odd one out", "of three items, which is the odd one out"),
}
#: Rows listed; the rest is counted.
MOST_ITEMS, MOST_CONTRADICTIONS = 400, 60
#: More comparisons are counted beside the page: so many take 15 ms, a frame of the screen's.
AT_ONCE = 20_000


@dataclass(frozen=True)
class _Shown:
    """What was counted last for a page, and of which data."""

    dataset: Dataset
    counts: dict[str, Any] | None = None
    held: list[int] | None = None


_shown: WeakKeyDictionary[Store, _Shown] = WeakKeyDictionary()


def counts_of(comparisons: Comparisons, labels: Sequence[str]) -> dict[str, Any]:
    """How often each item was compared, and how the answers agree, as plain JSON. O(m log m)."""
    seen = comparisons.appearances(len(labels))
    least = np.argsort(seen, kind="stable")
    found = consistency(comparisons)
    said = found.contradictions[:MOST_CONTRADICTIONS].tolist()
    tally = found.counts[:MOST_CONTRADICTIONS].tolist()
    return {
        "items": [[int(i), labels[i], int(seen[i])] for i in least[:MOST_ITEMS]],
        "moreItems": max(0, len(labels) - MOST_ITEMS),
        "most": int(seen.max(initial=0)),
        "never": int((seen == 0).sum()),
        "median": float(np.median(seen)),
        "questions": found.questions,
        "repeated": found.repeated,
        "agreeing": found.agreeing,
        "share": found.share,
        "cyclic": cyclic_share(comparisons),
        "contradictions": [
            {"said": in_words(row, labels), "so": so, "not": other, "items": sorted(set(row))}
            for row, (so, other) in zip(said, tally, strict=True)
        ],
        "moreContradictions": max(0, len(found.contradictions) - MOST_CONTRADICTIONS),
    }


def held_by(tree: Tree, comparisons: Comparisons) -> list[int]:
    """How many the tree agrees with, contradicts, and leaves open."""
    held = comparisons_held(tree, comparisons)
    return [int((held == each).sum()) for each in (1, -1, 0)]


_counts_at_once, _held_at_once = lru_cache(maxsize=8)(counts_of), lru_cache(maxsize=8)(held_by)


def asked(store: Store) -> dict[str, int]:
    """How many answers to each kind of question: the data's and one's own."""
    data = store.dataset
    found = dict(data.asked) if data is not None and data.asked is not None else {}
    for each in store.session.choices:
        found[each.question] = found.get(each.question, 0) + 1
    return found


def picture(store: Store) -> dict[str, Any]:
    comparisons = _known(store)
    if comparisons is None:
        return {}
    shown, waits = _counted(store, comparisons)
    kinds = asked(store)
    counts = shown.counts or {"items": None}
    return {
        "kinds": [[*KINDS[kind], count] for kind, count in kinds.items() if count],
        "comparisons": len(comparisons),
        "own": len(store.session.choices),
        **counts,
        "held": shown.held,
        "tree": store.session.snapshot is not None,
        "waits": waits,
        "images": _images(store, [row[0] for row in counts["items"] or ()]),
    }


def _counted(store: Store, comparisons: Comparisons) -> tuple[_Shown, str]:
    """What is known of the answers and the tree, and what the page still waits for ("": nothing).

    Many answers are counted beside the page; until that is done, what was counted last of the same
    data stands, and of other data nothing.
    """
    session, dataset, labels = store.session, store.dataset, store.session.labels
    assert dataset is not None
    tree = None if session.snapshot is None else session.snapshot.tree
    if len(comparisons) <= AT_ONCE:
        held = None if tree is None else _held_at_once(tree, comparisons)
        return _Shown(dataset, _counts_at_once(comparisons, labels), held), ""
    before = _shown.get(store)
    if before is None or before.dataset is not dataset:
        before = _Shown(dataset)
    of = (dataset, session.choices)  # all answers; a key of the answers themselves would keep them
    wanted: dict[Hashable, Computation] = {(*of, "counts"): lambda: counts_of(comparisons, labels)}
    if tree is not None and store.still:
        wanted[*of, tree] = lambda: held_by(tree, comparisons)
    known = store.aside.ask("comparisons", wanted)
    counts, held = known.get((*of, "counts")), known.get((*of, tree))
    for fault in (counts, held):
        if isinstance(fault, HcvizError):
            return before, str(fault)
    found = _Shown(
        dataset,
        before.counts if counts is None else counts,
        None if tree is None else before.held if held is None else held,
    )
    _shown[store] = found
    if len(known) < len(wanted):
        stands = " What was counted before stands until then." if found.counts else ""
        return found, f"Counting {sum(asked(store).values()):,} answers…{stands}"
    moving = tree is not None and held is None
    return found, "The tree still moves; it is compared with the answers when it rests." * moving


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
    return [None if data.images[i] is None else as_uri(data.images[i]) for i in items]


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
    return (
        store.drawn, store.session.choices, store.dataset, store.view.selection,
        store.answers, store.still,
    )  # fmt: skip


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    items = tuple(int(item) for item in more.get("items", ()))
    n = len(actions.store.session.labels)
    if name == "pick" and items and all(0 <= item < n for item in items):
        actions.take(items)


SHEET = Sheet(
    name="comparisons",
    title="Comparisons",
    summary="How many answers there are, about which items, and how they agree",
    make=drawn_by(__file__),
    picture=picture,
    sees=_sees,
    # Not a tree: where none can be made of them it is them that one must look at.
    lacks=lambda store: "" if shown(store) else "Nothing has been compared yet.",
    shown=shown,
    act=_act,
    live=lambda store: {"chosen": list(store.view.selection)},
)
