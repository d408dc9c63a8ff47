"""Which clades a rerun changed, by name: what is most unlike the earlier tree comes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hcviz.core.text import join_names
from hcviz.core.tree import Tree
from hcviz.metrics import CladeChanges, nearest_clades
from hcviz.session.constraint import NAMES_SHOWN
from hcviz.ui.features.supports import outcome
from hcviz.ui.state.store import Store

Which = Literal["gained", "lost"]
KINDS: tuple[Which, ...] = ("gained", "lost")

#: Clades listed by name; the others are counted.
LISTED = 50
#: Clades compared times nodes compared with, at most: some hundredths of a second. The largest
#: clades are looked at, where there are more.
WORK = 20_000_000


@dataclass(frozen=True)
class Changed:
    """A clade gained or lost: its node, and its items, those that make it another one first."""

    node: int
    members: tuple[int, ...]
    #: By how many items it differs from the nearest clade of the other tree.
    apart: int

    def text(self, labels: tuple[str, ...]) -> str:
        """``bat, whale, seal and 4 more``."""
        shown = self.members[: NAMES_SHOWN + (len(self.members) == NAMES_SHOWN + 1)]
        return join_names([labels[item] for item in shown], len(shown), len(self.members))


#: Of the last changes asked for: the clades listed, how many they are, and how many changed by
#: chance only.
Told = tuple[CladeChanges, dict[Which, tuple[Changed, ...]], dict[Which, int], int]
_told: WeakKeyDictionary[Store, Told] = WeakKeyDictionary()


def changed(store: Store) -> dict[Which, tuple[Changed, ...]] | None:
    """The clades gained and lost since the newest run began, the most telling first.

    That is: those that differ from the nearest clade of the other tree by most items, then the
    larger ones, for an item that moves makes a new clade of every clade around its old and new
    places, and these differ by that item only. Of two sampled trees only the clades whose support
    changed by more than three standard errors are listed; the other changes are chance. None where
    there is nothing to compare. Computed once for a tree, and not while trees stream in.
    """
    changes = store.changes()
    if changes is None or store.baseline is None or store.drawn is None:
        return None
    known = _told.get(store)
    if known is None or known[0] is not changes:
        before, after = store.baseline, store.drawn.tree
        gained, lost = changes.gained, changes.lost
        sure = outcome.significant(store)
        if sure is not None:
            gained, lost = gained[np.isin(gained, sure[0])], lost[np.isin(lost, sure[1])]
        listed: dict[Which, tuple[Changed, ...]] = {
            "gained": _ordered(after, before, gained),
            "lost": _ordered(before, after, lost),
        }
        chance = changes.gained.size + changes.lost.size - gained.size - lost.size
        number: dict[Which, int] = {"gained": gained.size, "lost": lost.size}
        _told[store] = known = (changes, listed, number, chance)
    return known[1]


def members(store: Store, which: str, node: int) -> tuple[int, ...]:
    """The items of a clade that is listed; none if the list is another one by now."""
    listed = (changed(store) or {}).get("lost" if which == "lost" else "gained", ())
    return next((each.members for each in listed if each.node == node), ())


def counts(store: Store) -> dict[Which, int]:
    """How many clades :func:`changed` lists, of each kind; none where it lists nothing."""
    return dict(_told[store][2]) if changed(store) is not None else {}


def picture(store: Store) -> dict[str, Any] | None:
    """What the inspector shows: names once the run is over or paused, until then a promise."""
    if store.baseline is None or store.session.snapshot is None:
        return None
    if not store.still:
        return {"later": True, "groups": []}
    found = changed(store)
    if found is None:
        return None
    labels = store.session.labels
    _, _, number, chance = _told[store]
    groups = [
        {
            "which": which,
            "count": number[which],
            "clades": [
                {
                    "node": each.node,
                    "text": each.text(labels),
                    "title": _title(each, which),
                    "size": len(each.members),
                }
                for each in found[which]
            ],
        }
        for which in KINDS
    ]
    return {"later": False, "groups": groups, "chance": chance}


def _title(each: Changed, which: str) -> str:
    other = "earlier" if which == "gained" else "present"
    items = "1 item" if each.apart == 1 else f"{each.apart:,} items"
    return f"{len(each.members):,} items: {items} off the nearest clade of the {other} tree"


def _ordered(tree: Tree, other: Tree, nodes: NDArray[np.int32]) -> tuple[Changed, ...]:
    """The ``LISTED`` most telling of these nodes of ``tree``."""
    sizes = tree.size[nodes]
    nodes = nodes[np.argsort(-sizes, kind="stable")][: max(LISTED, WORK // other.n_nodes)]
    near = nearest_clades(tree, other, nodes)
    order = np.lexsort((-tree.size[nodes], -near[:, 1]))[:LISTED]
    result = []
    for place in order:
        leaves = tree.leaves(int(nodes[place]))
        known = np.isin(leaves, other.leaves(int(near[place, 0])))
        items = np.concatenate([leaves[~known], leaves[known]])
        result.append(Changed(int(nodes[place]), tuple(items.tolist()), int(near[place, 1])))
    return tuple(result)
