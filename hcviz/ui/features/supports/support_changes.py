"""How many clades changed in the last run, and how many of them by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.text import count_noun, is_or_are
from hcviz.core.tree import Tree
from hcviz.jobs import Samples
from hcviz.metrics import CladeChanges
from hcviz.posterior import Posterior
from hcviz.session.constraint import Statement
from hcviz.session.model import Session
from hcviz.session.runs import finished_sentence
from hcviz.ui.features.supports.model import is_settled
from hcviz.ui.state.store import Store

#: Standard errors by which a support must change; 1 in 740 clades does so by chance.
STANDARD_ERRORS = 3.0
CHANCE_RULE = (
    "A change counts if the share of sampled trees with the branch changed by more than three "
    "standard errors. Smaller changes may be chance. While the supports are not settled, some "
    "changes have other causes than the answer."
)


@dataclass(frozen=True)
class ChangedNodes:
    """The clades that are new or gone since the newest run began.

    Attributes
    ----------
    gained, lost : ndarray of int
        Nodes of the present tree, and of the earlier one. Of two sampled trees, only those whose
        support changed clearly (:func:`significant_changes`).
    n_chance : int
        Number of the others.
    """

    gained: NDArray[np.int32]
    lost: NDArray[np.int32]
    n_chance: int

    @property
    def n_all(self) -> int:
        """The number of all changes, also those by chance."""
        return self.gained.size + self.lost.size + self.n_chance

    @property
    def sentence(self) -> str:
        """The counts, such as ``3 branches are new, 2 are gone.``"""
        new, gone, chance = self.gained.size, self.lost.size, self.n_chance
        parts = []
        if new:
            parts.append(f"{_branches(new)} new")
        if gone:
            parts.append(f"{gone:,} {is_or_are(gone)} gone" if new else f"{_branches(gone)} gone")
        more = "more " if parts else ""
        text = ", ".join(parts) or (
            "No branch clearly changed" if chance else "The branches are the same as before"
        )
        if chance:
            text += f"; {chance:,} {more}differ{'s' * (chance == 1)}, perhaps by chance"
        return f"{text}."


def _branches(number: int) -> str:
    return f"{count_noun(number, 'branch')} {is_or_are(number)}"


_cache: WeakKeyDictionary[Store, tuple[CladeChanges, ChangedNodes]] = WeakKeyDictionary()


def is_compared(store: Store) -> bool:
    """Return True if the tree of the session is the newest run's, and no undo took it back."""
    session = store.session
    return session.status == "sampling" or session.shown == session.run == session.lineage


def is_over(store: Store) -> bool:
    """Return True if the tree on the screen is the result of the newest run."""
    session = store.session
    is_drawn = store.drawn is session.snapshot
    return session.status == "settled" and is_compared(store) and is_drawn


def changed_nodes(store: Store) -> ChangedNodes | None:
    """Return the clades that changed since the newest run began; None without a comparison.

    The footer, the inspector's list and its facts all show these counts. The result is cached for
    each tree.
    """
    changes = store.changes() if is_compared(store) else None
    if changes is None:
        return None
    known = _cache.get(store)
    if known is None or known[0] is not changes:
        gained, lost = changes.gained, changes.lost
        significant = significant_changes(store)
        if significant is not None:
            gained = gained[np.isin(gained, significant[0])]
            lost = lost[np.isin(lost, significant[1])]
        n_chance = changes.gained.size + changes.lost.size - gained.size - lost.size
        _cache[store] = known = (changes, ChangedNodes(gained, lost, n_chance))
    return known[1]


def changes_sentence(store: Store) -> str:
    """Return the counts of changed clades, or "" if the last event is not a finished run."""
    session = store.session
    message = store.view.message or session.message
    if not is_over(store) or message != finished_sentence(session):
        return ""
    found = changed_nodes(store)
    if found is None:
        return ""
    is_sampled = store.samples is not None
    if is_sampled and not is_settled(store):
        return f"{found.sentence} The supports are not settled yet."
    return found.sentence


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
