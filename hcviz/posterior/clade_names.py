"""``clade_names``: name clades that are known by their codes only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.posterior import kernels
from hcviz.posterior.clades import CladeTable
from hcviz.posterior.thinned_stream import ThinnedStream

#: A clade of at most this many items is described by their names.
MAX_NAMED_ITEMS = 3


def clade_names(
    codes: NDArray[np.uint64],
    table: CladeTable,
    thinned_trees: ThinnedStream,
    labels: Sequence[str] | None,
) -> list[str]:
    """Name each clade by its items if there are few, else by their number.

    Parameters
    ----------
    codes : uint64 (k,)
        First halves of the clades' codes.
    table : CladeTable
        The counts of all clades.
    thinned_trees : ThinnedStream
        The items of a clade are found in one of these trees that has it. If none has it, the name
        is "a rare clade".
    labels : sequence of str or None
        Names of the items; None: their numbers.
    """
    n = table.n_items
    items: dict[int, NDArray[np.intp]] = {}
    for parent, height, _ in thinned_trees.value[::-1]:
        if len(items) == codes.size:
            break
        own = kernels.clade_codes(parent.copy(), n, table.keys)[:, 0]
        for at in np.flatnonzero(np.isin(own[n:], codes)).tolist():
            node = n + at
            if int(own[node]) not in items:
                items[int(own[node])] = np.sort(Tree(parent, height, n).leaves(node))
    found: list[str] = []
    for code in codes.tolist():
        members = items.get(code)
        if members is None:
            name = "a rare clade"
        elif members.size <= MAX_NAMED_ITEMS:
            texts = [str(x) if labels is None else labels[x] for x in members.tolist()]
            name = f"the clade of {', '.join(texts[:-1])} and {texts[-1]}"
        else:
            name = f"a clade of {members.size} items"
        name += f" ({100 * _share(code, table):.0f} % of the trees)"
        again = sum(each.startswith(name) for each in found)
        found.append(f"{name}, number {again + 1}" if again else name)
    return found


def _share(code: int, table: CladeTable) -> float:
    """Return the share of the trees that have the clade."""
    at = np.flatnonzero(table.used & (table.key[:, kernels.FIRST] == np.uint64(code)))
    return float(table.count[at].sum()) / table.trees
