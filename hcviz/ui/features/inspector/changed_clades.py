"""The clades that the last run changed, by name; the largest changes come first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hcviz.core.text import NAMES_SHOWN, join_names
from hcviz.core.tree import Tree
from hcviz.metrics import CladeChanges, nearest_clades
from hcviz.ui.features.supports import support_changes
from hcviz.ui.state.store import Store

Which = Literal["gained", "lost"]
KINDS: tuple[Which, ...] = ("gained", "lost")

#: Clades that are listed by name, at most; the others are counted.
MAX_LISTED = 50
#: Clades that are compared, times nodes of the other tree, at most: some hundredths of a second. If
#: there are more, the largest clades are compared.
MAX_WORK = 20_000_000


@dataclass(frozen=True)
class ChangedClade:
    """A clade that is new or gone. Its items that differ from the nearest clade come first."""

    node: int
    members: tuple[int, ...]
    #: Number of items in which it differs from the nearest clade of the other tree.
    apart: int

    def text(self, labels: tuple[str, ...]) -> str:
        """Return the names of its items as ``bat, whale, seal and 4 more``."""
        shown = self.members[: NAMES_SHOWN + (len(self.members) == NAMES_SHOWN + 1)]
        return join_names([labels[item] for item in shown], len(shown), len(self.members))


#: Cached result for a store: the changes, the listed clades, their numbers, and the number of
#: changes by chance.
ChangesCache = tuple[CladeChanges, dict[Which, tuple[ChangedClade, ...]], dict[Which, int], int]
_cache: WeakKeyDictionary[Store, ChangesCache] = WeakKeyDictionary()


def changed_clades(store: Store) -> dict[Which, tuple[ChangedClade, ...]] | None:
    """Return the clades that are new or gone since the last run began; None without a comparison.

    Clades that differ most from the nearest clade of the other tree come first, then larger ones.
    One item that moves changes every clade around its old and its new place, each by that item.

    Of two sampled trees, only clades whose support changed by more than three standard errors are
    listed; the other changes are chance. The result is cached for each tree.
    """
    changes = store.changes()
    if changes is None or store.baseline is None or store.drawn is None:
        return None
    known = _cache.get(store)
    if known is None or known[0] is not changes:
        before, after = store.baseline, store.drawn.tree
        gained, lost = support_changes.clear_changes(store, changes)
        listed: dict[Which, tuple[ChangedClade, ...]] = {
            "gained": largest_changes(after, before, gained),
            "lost": largest_changes(before, after, lost),
        }
        chance = changes.gained.size + changes.lost.size - gained.size - lost.size
        number: dict[Which, int] = {"gained": gained.size, "lost": lost.size}
        _cache[store] = known = (changes, listed, number, chance)
    return known[1]


def clade_members(store: Store, which: str, node: int) -> tuple[int, ...]:
    """Return the items of a listed clade, () if the list has changed."""
    listed = (changed_clades(store) or {}).get("lost" if which == "lost" else "gained", ())
    return next((each.members for each in listed if each.node == node), ())


def changed_counts(store: Store) -> dict[Which, int]:
    """Return how many clades are new and gone; {} without a comparison."""
    return dict(_cache[store][2]) if changed_clades(store) is not None else {}


def state(store: Store) -> dict[str, Any] | None:
    """Return the changed clades as plain JSON; during a run only that they come later."""
    if store.baseline is None or store.session.snapshot is None:
        return None
    if store.is_streaming:
        return {"title": _heading(store), "later": True, "groups": []}
    found = changed_clades(store)
    if found is None:
        return None
    labels = store.session.labels
    _, _, number, chance = _cache[store]
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
    return {"title": _heading(store), "later": False, "groups": groups, "chance": chance}


def _heading(store: Store) -> str:
    answered = support_changes.new_statements(store.session)
    return "Because of your answer" if answered else "Since the last run"


def _title(each: ChangedClade, which: str) -> str:
    other = "earlier" if which == "gained" else "present"
    items = "1 item differs" if each.apart == 1 else f"{each.apart:,} items differ"
    return f"{len(each.members):,} items; {items} from a clade of the {other} tree"


def largest_changes(tree: Tree, other: Tree, nodes: NDArray[np.int32]) -> tuple[ChangedClade, ...]:
    """Return the ``MAX_LISTED`` largest changes among these nodes of ``tree``."""
    sizes = tree.size[nodes]
    nodes = nodes[np.argsort(-sizes, kind="stable")][: max(MAX_LISTED, MAX_WORK // other.n_nodes)]
    near = nearest_clades(tree, other, nodes)
    order = np.lexsort((-tree.size[nodes], -near[:, 1]))[:MAX_LISTED]
    result = []
    for place in order:
        leaves = tree.leaves(int(nodes[place]))
        known = np.isin(leaves, other.leaves(int(near[place, 0])))
        items = np.concatenate([leaves[~known], leaves[known]])
        result.append(ChangedClade(int(nodes[place]), tuple(items.tolist()), int(near[place, 1])))
    return tuple(result)
