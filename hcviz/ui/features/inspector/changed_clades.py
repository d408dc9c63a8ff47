"""The clades that the last run changed, by name; the largest changes come first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hcviz.core.text import NAMES_SHOWN, join_names
from hcviz.core.tree import Tree
from hcviz.metrics import nearest_clades
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


#: Cached result for a store: the changed nodes and the listed clades.
ListedClades = dict[Which, tuple[ChangedClade, ...]]
_cache: WeakKeyDictionary[Store, tuple[support_changes.ChangedNodes, ListedClades]] = (
    WeakKeyDictionary()
)


def changed_clades(store: Store) -> ListedClades | None:
    """Return the clades that are new or gone since the last run began; None without a comparison.

    Clades that differ most from the nearest clade of the other tree come first, then larger ones.
    One item that moves changes every clade around its old and its new place, each by that item.

    Of two sampled trees, only clades whose support changed by more than three standard errors are
    listed; the other changes are chance. The result is cached for each tree.
    """
    nodes = support_changes.changed_nodes(store)
    if nodes is None or store.baseline is None or store.drawn is None:
        return None
    known = _cache.get(store)
    if known is None or known[0] is not nodes:
        before, after = store.baseline, store.drawn.tree
        listed: ListedClades = {
            "gained": largest_changes(after, before, nodes.gained),
            "lost": largest_changes(before, after, nodes.lost),
        }
        _cache[store] = known = (nodes, listed)
    return known[1]


def clade_members(store: Store, which: str, node: int) -> tuple[int, ...]:
    """Return the items of a listed clade, () if the list has changed."""
    listed = (changed_clades(store) or {}).get("lost" if which == "lost" else "gained", ())
    return next((each.members for each in listed if each.node == node), ())


def state(store: Store) -> dict[str, Any] | None:
    """Return the changed clades as plain JSON; during a run only that they come later.

    None without a comparison, as after an undo.
    """
    if store.baseline is None or store.session.snapshot is None:
        return None
    if store.is_streaming:
        return {"title": _heading(store), "later": True, "groups": []}
    found, nodes = changed_clades(store), support_changes.changed_nodes(store)
    if found is None or nodes is None:
        return None
    labels = store.session.labels
    number: dict[Which, int] = {"gained": nodes.gained.size, "lost": nodes.lost.size}
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
    return {
        "title": _heading(store),
        "later": False,
        "groups": groups,
        "sentence": nodes.sentence,
        "hint": support_changes.CHANCE_RULE if nodes.n_chance else "",
    }


def _heading(store: Store) -> str:
    answered = support_changes.new_statements(store.session)
    return "Because of your answer" if answered else "Since the last run"


def _title(each: ChangedClade, which: str) -> str:
    other = "earlier" if which == "gained" else "present"
    items = "1 item differs" if each.apart == 1 else f"{each.apart:,} items differ"
    return f"{len(each.members):,} items; {items} from a branch of the {other} tree"


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
