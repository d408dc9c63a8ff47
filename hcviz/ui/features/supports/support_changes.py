"""How many clades changed in the last run, and how many lost support."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.jobs import Samples
from hcviz.metrics import CladeChanges
from hcviz.posterior import Posterior
from hcviz.session.constraint import Statement
from hcviz.session.model import Session
from hcviz.session.runs import finished_sentence
from hcviz.ui.features.supports.model import is_settled
from hcviz.ui.state.store import Store

#: Standard errors by which a support must fall to be listed; 1 in 740 clades does so by chance.
STANDARD_ERRORS = 3.0
LOST_SUPPORT_RULE = (
    "A clade of the earlier tree lost support if the share of sampled trees that have it fell by "
    "more than three standard errors. The errors take into account that successive trees are "
    "similar. While the supports are settling, some changes have other causes than the answer."
)

_cache: WeakKeyDictionary[Store, tuple[CladeChanges, int, int | None]] = WeakKeyDictionary()


def is_over(store: Store) -> bool:
    """Return True if the tree on the screen is the result of the newest run."""
    session = store.session
    here = session.shown == session.run == session.lineage
    return session.status == "settled" and here and store.drawn is session.snapshot


def changes_sentence(store: Store) -> str:
    """Return ``3 clades changed, 2 lost support.``, or "" if the last event is not a finished run.

    The number of changed clades is the larger of those gone and those new (:func:`clear_changes`,
    which the list of changed clades has too): more are new if polytomies were resolved.
    """
    session = store.session
    message = store.view.message or session.message
    if not is_over(store) or message != finished_sentence(session):
        return ""
    changes = store.changes()
    if changes is None:
        return ""
    known = _cache.get(store)
    if known is None or known[0] is not changes:
        many = max(map(len, clear_changes(store, changes)))
        _cache[store] = known = (changes, many, lost_support(store))
    _, many, n_lost = known
    text = f"{count_noun(many, 'clade')} changed" if many else "No clade changed"
    if n_lost is None:
        return f"{text}."
    text += f", {n_lost:,} lost support" if n_lost else ", none lost support"
    return f"{text}." if is_settled(store) else f"{text}; the supports are still settling."


def lost_support(store: Store) -> int | None:
    """Return how many clades of the earlier tree lost support (:data:`LOST_SUPPORT_RULE`).

    None if the last run only continued the one before, or if there are too few sampled trees.
    """
    if store.baseline is None:
        return None
    found = _less_supported(store.previous_samples, store.samples, store.baseline)
    return None if found is None else found.size


def clear_changes(
    store: Store, changes: CladeChanges
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the clades that are new, and those that are gone, but for changes by chance.

    Of two sampled trees, only clades whose support changed by more than three standard errors.
    """
    found = significant_changes(store)
    if found is None:
        return changes.gained, changes.lost
    gained, lost = found
    return (
        changes.gained[np.isin(changes.gained, gained)],
        changes.lost[np.isin(changes.lost, lost)],
    )


def significant_changes(store: Store) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the nodes whose support changed by more than three standard errors.

    Returns
    -------
    gained, lost : ndarray of int64
        Nodes of the present tree whose clades gained support, and nodes of the earlier tree whose
        clades lost support. None if one of the trees was not sampled, or if the last run only
        continued the one before.
    """
    if store.baseline is None or store.drawn is None:
        return None
    gained = _less_supported(store.samples, store.previous_samples, store.drawn.tree)
    lost = _less_supported(store.previous_samples, store.samples, store.baseline)
    return None if gained is None or lost is None else (gained, lost)


def _less_supported(
    before: Samples | None, after: Samples | None, tree: Tree
) -> NDArray[np.int64] | None:
    """Return the inner nodes of ``tree`` whose clades lost support from ``before`` to ``after``."""
    if before is None or after is None or before is after:
        return None
    with before.open() as old, after.open() as new:
        if old is None or new is None or {old.n_items, new.n_items} != {tree.n_leaves}:
            return None
        was, now = old.support(tree)[:-1], new.support(tree)[:-1]  # the root is in all trees
        # First, as if all trees were independent: correlation only makes the errors larger.
        nodes = np.flatnonzero(fell_significantly(was, now, len(old), len(new)))
        if not was.size:  # two items have one tree
            return nodes
        then, since = (_effective_draws(posterior, tree, nodes) for posterior in (old, new))
        if then is None or since is None:
            return None
        return tree.n_leaves + nodes[fell_significantly(was[nodes], now[nodes], then, since)]


def _effective_draws(
    posterior: Posterior, tree: Tree, nodes: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Return the effective number of draws of each support; None if none can be estimated.

    A support whose number cannot be estimated gets the smallest of the others.
    """
    sizes = posterior.support_sizes(tree, np.append(nodes, 0) + tree.n_leaves)
    known = np.isfinite(sizes)
    if not known.any():
        return None
    return np.where(known, sizes, sizes[known].min())[:-1]


def fell_significantly(
    before: ArrayLike, after: ArrayLike, n_before: ArrayLike, n_after: ArrayLike
) -> NDArray[np.bool_]:
    """Return which shares fell by more than ``STANDARD_ERRORS`` standard errors.

    Parameters
    ----------
    before, after : array_like of float, shape (k,)
        Shares of trees that have a clade.
    n_before, n_after : array_like of float, shape () or (k,)
        Numbers of independent trees that the shares are of.

    Returns
    -------
    ndarray of bool, shape (k,)

    Notes
    -----
    The standard error is that of the difference of two equal shares, the square root of
    p (1 - p) (1 / n + 1 / n'), where p is the share of all trees together.
    """
    p, q = np.asarray(before, np.float64), np.asarray(after, np.float64)
    m, n = np.asarray(n_before, np.float64), np.asarray(n_after, np.float64)
    both = (m * p + n * q) / (m + n)
    error = np.sqrt(np.maximum(both * (1.0 - both), 0.0) * (1.0 / m + 1.0 / n))
    return np.asarray(p - q > STANDARD_ERRORS * error)


def new_statements(session: Session) -> list[Statement]:
    """Return the constraints that the newest run was the first to use, as (group, apart)."""
    before: Any = next((p for p in reversed(session.past) if p.lineage != session.lineage), None)
    if before is None or before.labels != session.labels:
        return []
    known = {each.id for each in before.constraints if each.enabled}
    return [(each.group, each.apart) for each in session.enabled if each.id not in known]
