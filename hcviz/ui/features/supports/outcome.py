"""What an answer did: how many clades changed, how many lost support, and where it lies."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.tree import Tree
from hcviz.jobs import Samples
from hcviz.metrics import CladeChanges
from hcviz.posterior import Posterior
from hcviz.session.constraint import Statement
from hcviz.session.model import Session
from hcviz.session.runs import finished_sentence
from hcviz.ui.features.supports.model import is_settled
from hcviz.ui.state.store import Store

#: Standard errors by which a support must have fallen. One clade in 740 falls so far by chance.
ERRORS = 3.0
RULE = (
    "A clade of the earlier tree lost support if the share of the sampled trees that have it fell "
    "by more than three standard errors; trees that resemble those just before them count less. "
    "While the supports are settling, some of this would have come without the answer."
)

_told: WeakKeyDictionary[Store, tuple[CladeChanges, int | None]] = WeakKeyDictionary()


def is_over(store: Store) -> bool:
    """Whether the tree on the screen is what the newest run came to."""
    session = store.session
    here = session.shown == session.run == session.lineage
    return session.status == "settled" and here and store.drawn is session.snapshot


def sentence(store: Store) -> str:
    """``3 clades changed, 2 lost support.`` when the last thing said is that a run is over.

    Changed: the clades gone or, where polytomies were resolved and more came than went, the new.
    """
    session = store.session
    said = store.view.said or session.message
    if not is_over(store) or said != finished_sentence(session):
        return ""
    changes = store.changes()
    if changes is None:
        return ""
    many = max(len(changes.gained), len(changes.lost))
    text = f"{many:,} clade{'s' * (many != 1)} changed" if many else "No clade changed"
    known = _told.get(store)
    if known is None or known[0] is not changes:
        _told[store] = known = (changes, lost_support(store))
    fallen = known[1]
    if fallen is None:
        return f"{text}."
    text += f", {fallen:,} lost support" if fallen else ", none lost support"
    return f"{text}." if is_settled(store) else f"{text}; the supports are still settling."


def lost_support(store: Store) -> int | None:
    """How many clades of the earlier tree lost support (:data:`RULE`).

    Where a run only went on the samples are the same, and where one of the two samplers has too few
    trees there is no telling: None.
    """
    if store.baseline is None:
        return None
    found = _less_supported(store.earlier, store.samples, store.baseline)
    return None if found is None else found.size


def significant(store: Store) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Nodes whose clade's support changed by more than three standard errors since the last run.

    First the nodes of the present tree whose clades gained support, then those of the earlier tree
    whose clades lost support. None where one of the two trees was not sampled, or where a run only
    went on.
    """
    if store.baseline is None or store.drawn is None:
        return None
    gained = _less_supported(store.samples, store.earlier, store.drawn.tree)
    lost = _less_supported(store.earlier, store.samples, store.baseline)
    return None if gained is None or lost is None else (gained, lost)


def _less_supported(
    before: Samples | None, after: Samples | None, tree: Tree
) -> NDArray[np.int64] | None:
    """Inner nodes of ``tree`` whose clades have less support in ``after`` (:data:`RULE`)."""
    if before is None or after is None or before is after:
        return None
    with before.open() as old, after.open() as new:
        if old is None or new is None or {old.n_items, new.n_items} != {tree.n_leaves}:
            return None
        was, now = old.support(tree)[:-1], new.support(tree)[:-1]  # all have the root
        # As if all trees were independent, to begin with: what has not fallen then has not fallen.
        nodes = np.flatnonzero(fallen(was, now, len(old), len(new)))
        if not was.size:  # two items have one tree
            return nodes
        then, since = (_worth(posterior, tree, nodes) for posterior in (old, new))
        if then is None or since is None:
            return None
        return tree.n_leaves + nodes[fallen(was[nodes], now[nodes], then, since)]


def _worth(posterior: Posterior, tree: Tree, nodes: NDArray[Any]) -> NDArray[np.float64] | None:
    """How many independent trees each support is worth; one that nobody can tell as little as the
    least of the others. None where none can be told."""
    sizes = posterior.support_sizes(tree, np.append(nodes, 0) + tree.n_leaves)
    known = np.isfinite(sizes)
    if not known.any():
        return None
    return np.where(known, sizes, sizes[known].min())[:-1]


def fallen(
    before: ArrayLike, after: ArrayLike, n_before: ArrayLike, n_after: ArrayLike
) -> NDArray[np.bool_]:
    """Which shares fell by more than ``ERRORS`` standard errors, bool as ``before``; they are of
    ``n_before`` and ``n_after`` independent trees.

    The error is that of the difference of two shares that are one: p (1 - p) (1 / n + 1 / n'), p
    the share of both together.
    """
    p, q = np.asarray(before, np.float64), np.asarray(after, np.float64)
    m, n = np.asarray(n_before, np.float64), np.asarray(n_after, np.float64)
    both = (m * p + n * q) / (m + n)
    error = np.sqrt(np.maximum(both * (1.0 - both), 0.0) * (1.0 / m + 1.0 / n))
    return np.asarray(p - q > ERRORS * error)


def new_answers(session: Session) -> list[Statement]:
    """The answers that the newest run was the first to heed, as (group, apart)."""
    before: Any = next((p for p in reversed(session.past) if p.lineage != session.lineage), None)
    if before is None or before.labels != session.labels:
        return []
    known = {each.id for each in before.constraints if each.enabled}
    return [(each.group, each.apart) for each in session.enabled if each.id not in known]
