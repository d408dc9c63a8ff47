"""The sheet on comparisons: how many there are, and how they agree with each other and the tree."""

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
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Kind of question -> its name, and what it asks.
KINDS = {
    "triplets": ("near or far", "of two items, which is nearer to a third"),
    "quadruplets": ("quadruplets", "of two pairs, which is more alike"),
    "central": ("most central", "of three items, which is most central"),
    "odd": ("odd one out", "of three items, which is the odd one out"),
}
#: Items and contradictions that are listed, at most; the others are counted.
MAX_ITEMS, MAX_CONTRADICTIONS = 400, 60
#: Comparisons that are counted at once, which takes 15 ms; more are counted in the background.
MAX_COUNTED_AT_ONCE = 20_000


@dataclass(frozen=True)
class _Counted:
    """The last counts for a page, and the data that they are of."""

    dataset: Dataset
    counts: dict[str, Any] | None = None
    agreement: list[int] | None = None


_last_counted: WeakKeyDictionary[Store, _Counted] = WeakKeyDictionary()


def count_comparisons(comparisons: Comparisons, labels: Sequence[str]) -> dict[str, Any]:
    """Return how often each item was compared, and how the answers agree, as plain JSON.

    O(m log m) for m comparisons.
    """
    seen = comparisons.appearances(len(labels))
    least = np.argsort(seen, kind="stable")
    found = consistency(comparisons)
    shown = found.contradictions[:MAX_CONTRADICTIONS].tolist()
    tally = found.counts[:MAX_CONTRADICTIONS].tolist()
    return {
        "items": [[int(i), labels[i], int(seen[i])] for i in least[:MAX_ITEMS]],
        "moreItems": max(0, len(labels) - MAX_ITEMS),
        "most": int(seen.max(initial=0)),
        "never": int((seen == 0).sum()),
        "median": float(np.median(seen)),
        "questions": found.questions,
        "repeated": found.repeated,
        "agreeing": found.agreeing,
        "share": found.share,
        "cyclic": cyclic_share(comparisons),
        "contradictions": [
            {
                "sentence": comparison_sentence(row, labels),
                "agree": agree,
                "disagree": disagree,
                "items": sorted(set(row)),
            }
            for row, (agree, disagree) in zip(shown, tally, strict=True)
        ],
        "moreContradictions": max(0, len(found.contradictions) - MAX_CONTRADICTIONS),
    }


def agreement_with_tree(tree: Tree, comparisons: Comparisons) -> list[int]:
    """Return how many comparisons the tree agrees with, contradicts, and leaves open."""
    signs = comparisons_held(tree, comparisons)
    return [int((signs == each).sum()) for each in (1, -1, 0)]


_counts_at_once, _agreement_at_once = (
    lru_cache(maxsize=8)(count_comparisons),
    lru_cache(maxsize=8)(agreement_with_tree),
)


def answers_by_question(store: Store) -> dict[str, int]:
    """Return the number of answers to each kind of question, of the data and of the person."""
    data = store.dataset
    found = dict(data.asked) if data is not None and data.asked is not None else {}
    for each in store.session.choices:
        found[each.question] = found.get(each.question, 0) + 1
    return found


def state(store: Store) -> dict[str, Any]:
    """Return the state of the sheet, as plain JSON."""
    comparisons = _comparisons(store)
    if comparisons is None:
        return {}
    shown, waits = _counted(store, comparisons)
    kinds = answers_by_question(store)
    counts = shown.counts or {"items": None}
    return {
        "kinds": [[*KINDS[kind], count] for kind, count in kinds.items() if count],
        "comparisons": len(comparisons),
        "own": len(store.session.choices),
        **counts,
        "agreement": shown.agreement,
        "tree": store.session.snapshot is not None,
        "waits": waits,
        "images": _images(store, [row[0] for row in counts["items"] or ()]),
    }


def _counted(store: Store, comparisons: Comparisons) -> tuple[_Counted, str]:
    """Return the counts, and a sentence if some of them are still being computed.

    Many answers are counted in the background. Until then the last counts of the same data are
    shown.
    """
    session, dataset, labels = store.session, store.dataset, store.session.labels
    assert dataset is not None
    tree = None if session.snapshot is None else session.snapshot.tree
    if len(comparisons) <= MAX_COUNTED_AT_ONCE:
        agreement = None if tree is None else _agreement_at_once(tree, comparisons)
        return _Counted(dataset, _counts_at_once(comparisons, labels), agreement), ""
    before = _last_counted.get(store)
    if before is None or before.dataset is not dataset:
        before = _Counted(dataset)
    of = (dataset, session.choices)  # a key with the answers themselves would keep them in memory
    wanted: dict[Hashable, Computation] = {
        (*of, "counts"): lambda: count_comparisons(comparisons, labels)
    }
    if tree is not None and not store.is_streaming:
        wanted[*of, tree] = lambda: agreement_with_tree(tree, comparisons)
    known = store.compute_cache.ask("comparisons", wanted)
    counts, agreement = known.get((*of, "counts")), known.get((*of, tree))
    for fault in (counts, agreement):
        if isinstance(fault, HcvizError):
            return before, str(fault)
    found = _Counted(
        dataset,
        before.counts if counts is None else counts,
        None if tree is None else before.agreement if agreement is None else agreement,
    )
    _last_counted[store] = found
    if len(known) < len(wanted):
        note = " The numbers shown are the last ones." if found.counts else ""
        return found, f"Counting {sum(answers_by_question(store).values()):,} answers…{note}"
    moving = tree is not None and agreement is None
    return found, "The tree is compared with the answers when the run has finished." * moving


def comparison_sentence(row: Sequence[int], labels: Sequence[str]) -> str:
    """Return a sentence such as ``bat is nearer to cat than to dog``."""
    names = [labels[item] for item in row]
    if len(row) == 3:
        return f"{names[0]} is nearer to {names[1]} than to {names[2]}"
    return f"{names[0]} and {names[1]} are more alike than {names[2]} and {names[3]}"


def _images(store: Store, items: list[int]) -> list[str | None]:
    """Return the images of the listed items; none if there are too many to send."""
    data = store.dataset
    if data is None or data.images is None or len(items) > 100:
        return []
    return [None if data.images[i] is None else as_uri(data.images[i]) for i in items]


def _comparisons(store: Store) -> Comparisons | None:
    if store.dataset is None or store.dataset.labels != store.session.labels:
        return None
    found: Comparisons | None = store.problem.comparisons
    return found


def has_comparisons(store: Store) -> bool:
    """Return True if there are comparisons."""
    known = _comparisons(store)
    return known is not None and len(known) > 0


def _depends_on(store: Store) -> Any:
    return (
        store.drawn, store.session.choices, store.dataset, store.view.selection,
        store.n_computed, store.is_streaming,
    )  # fmt: skip


@ACTS.on("pick")
def _select(actions: Actions, items: Sequence[int]) -> None:
    n = len(actions.store.session.labels)
    if items and all(0 <= item < n for item in items):
        actions.select_items(tuple(items))


SHEET = Sheet(
    name="comparisons",
    title="Comparisons",
    summary="How many answers there are, about which items, and how they agree",
    make=sheet_part(__file__),
    state=state,
    depends_on=_depends_on,
    # Without a tree too: the answers may not suffice for one, and the sheet shows why.
    unavailable_because=lambda store: (
        "" if has_comparisons(store) else "Nothing has been compared yet."
    ),
    has_tab=has_comparisons,
    acts=ACTS,
    live=lambda store: {"chosen": list(store.view.selection)},
)
