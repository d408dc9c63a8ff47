"""Supports of clades and their accuracy: numbers for the branches, sentences for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hcviz.algorithms import get as get_algorithm
from hcviz.core.contraction import without_clades
from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.jobs import Samples
from hcviz.posterior import Posterior, Verdict
from hcviz.posterior.chain_comparison import LIMIT, ChainComparison
from hcviz.questions import SURPRISING_BELOW
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP, Apart, statement_rows
from hcviz.session.model import Session
from hcviz.ui.state.store import Store

#: The page estimates the remaining time when the accuracy is below this.
TIME_LEFT_BELOW = 0.5


def clade_supports(store: Store) -> Any:
    """Return the supports of the clades of the tree drawn, float64 (n_internal,).

    None during a run, since the numbers change many times a second. None also if
    there are no sampled trees for these data and constraints, or if supports are hidden. The tree
    drawn may be of another method than the sampled trees.
    """
    drawn = store.drawn
    if drawn is None or store.is_streaming or store.view.support != "shown":
        return None
    if drawn is not store.session.snapshot:
        return None
    return _supports_of(store.support_samples, drawn.tree)


def merged_clades(store: Store) -> Any:
    """Return which clades of the tree drawn are merged for their low support, bool (n_internal,).

    None if such clades are drawn lighter, or if supports are hidden. Clades are merged during a run
    too, else they would all appear at its start. A run without sampled trees uses the supports of
    the run before it.
    """
    view, drawn = store.view, store.drawn
    if drawn is None or view.support != "shown" or view.unsure != "merged":
        return None
    shares = _supports_of(store.support_samples, drawn.tree)
    if shares is None and store.session.status == "sampling":
        shares = _supports_of(store.previous_samples, drawn.tree)
    return None if shares is None else shares < view.below / 100


def tree_to_save(store: Store, kept: Sequence[int] = ()) -> Tree:
    """Return the tree of the session, without the clades that the picture merges.

    The nodes ``kept`` stay: those of named groups.
    """
    assert store.session.snapshot is not None
    tree, merged = store.session.snapshot.tree, merged_clades(store)
    if merged is None or store.drawn is None or store.drawn.tree is not tree:
        return tree
    removed = np.array(merged)
    removed[[node - tree.n_leaves for node in kept if node >= tree.n_leaves]] = False
    return without_clades(tree, removed)


def _supports_of(samples: Samples | None, tree: Tree) -> Any:
    if samples is None:
        return None
    with samples.open() as posterior:
        if posterior is None or posterior.n_items != tree.n_leaves:
            return None
        return posterior.support(tree)


def group_sentence(store: Store, items: tuple[int, ...]) -> str | None:
    """Return a sentence about the share of sampled trees that have these items as a clade."""
    samples = store.samples
    if samples is None or not 1 < len(items) < len(store.session.labels):
        return None
    with samples.open() as posterior:
        if posterior is None:
            return None
        share, trees = posterior.clade_support(items), len(posterior)
    text = f"{percent(share)} of the last {count_noun(trees, 'tree')} have exactly this group"
    session = store.session
    if session.status == "sampling" and not _has_drawn(session):
        return f"{text}, before this run."
    found = _settling(store)
    return f"{text}." if found is None or found.settled else f"{text}, {_word(store, found)}."


def answer_sentences(store: Store, group: tuple[int, ...], apart: Apart) -> list[tuple[str, str]]:
    """Return pairs of kind and sentence about the support of a draft constraint.

    The kind is ``surprising`` if few sampled trees satisfy the constraint: it may be a mistake.
    """
    samples = store.samples
    if samples is None:
        return []
    with samples.open() as posterior:
        if posterior is None:
            return []
        share = statement_share(posterior, group, apart)
    text = f"true in {percent(share)} of the sampled trees"
    return [
        ("surprising", f"{text}. Sure?") if share < SURPRISING_BELOW else ("so far", f"{text}.")
    ]


def statement_share(posterior: Posterior, group: tuple[int, ...], apart: Apart) -> float:
    """Return the share of the sampled trees that satisfy a statement."""
    if apart == EVERYTHING_ELSE:
        return posterior.clade_support(group)
    if apart == NOT_A_GROUP:
        return 1.0 - posterior.clade_support(group)
    return posterior.joint_probability(statement_rows(group, apart))


def accuracy_state(store: Store) -> dict[str, str] | None:
    """Return the accuracy of the supports as a word, a sentence and the details.

    The details are R-hat and effective numbers of draws. None without a sampler.
    """
    session = store.session
    if session.status == "sampling" and not _has_drawn(session):
        if not get_algorithm(session.method).samples:
            return None
        why = "This run has no sampled tree yet. The tree shown is the one that it starts from."
        return {"word": "paused" if store.view.paused else "running", "why": why}
    found, verdict = _settling(store), _verdict(store)
    if found is None or verdict is None:
        return None
    why = accuracy_sentence(found)
    if not found.settled and store.session.status != "sampling":
        left = time_left(found, store.samples.seconds) if store.samples is not None else ""
        why += f" Press Run to go on from here{left}."
    return {"word": _word(store, found), "why": why, "details": details_sentence(verdict)}


def details_sentence(verdict: Verdict) -> str:
    """Return the verdict's reason. Too few draws for it may be enough for the supports."""
    if verdict.word != "too few trees yet" or not verdict.numbers:
        return verdict.why
    worst = max(each.rhat for each in verdict.numbers.values())
    name, slowest = min(verdict.numbers.items(), key=lambda each: each[1].least)
    return (
        f"R-hat is at most {worst:.3f}. The trees so far are worth {slowest.least:.0f} independent "
        f"trees for {name}. Estimates that are much more exact than these supports need 400."
    )


def time_left(found: ChainComparison, seconds: float) -> str:
    """Return ``; reaching 5 points takes about 40 s more``, or "" if that is unknown.

    The error falls with the square root of the number of draws, and so of the ``seconds`` so far.
    """
    more = round(seconds * ((found.accuracy / LIMIT) ** 2 - 1.0), 3)
    if not (seconds > 0.0 and found.accuracy < TIME_LEFT_BELOW and more > 0.0):
        return ""
    duration = f"{max(10.0, math.ceil(more / 10.0) * 10.0):.0f} s"
    if more > 90.0:
        duration = count_noun(math.ceil(more / 60.0), "minute")
    return f"; reaching {LIMIT * 100:.0f} points takes about {duration} more"


def accuracy_sentence(found: ChainComparison) -> str:
    """Return a sentence such as ``Supports are accurate to about 8 points.``"""
    number = _points(found)
    if not number:
        return "There are too few sampled trees to say how accurate the supports are."
    if number >= 50:
        return "The supports are not accurate yet."
    return f"Supports are accurate to about {count_noun(number, 'point')}."


def finished_text(store: Store) -> str:
    """Return the status of a finished run: ``Done``, or that the supports have not settled."""
    found = _settling(store)
    if found is None or found.settled:
        return "Done"
    number = _points(found)
    if not 0 < number < 50:
        return "Tree done · not settled"
    return f"Tree done · ±{count_noun(number, 'point')}"


def accuracy_points(store: Store) -> int:
    """Return the accuracy of the supports in points; 0 if it is unknown."""
    found = _settling(store)
    return 0 if found is None else _points(found)


def _points(found: ChainComparison) -> int:
    return 0 if math.isnan(found.accuracy) else max(1, math.ceil(100 * found.accuracy))


def _word(store: Store, found: ChainComparison) -> str:
    if found.settled:
        return "settled"
    return "settling" if store.session.status == "sampling" else "not settled"


def _has_drawn(session: Session) -> bool:
    """Return True if the tree shown was drawn by the newest run; at step 0 it is its start."""
    return session.shown == session.run and session.progress[0] > 0


def is_settled(store: Store) -> bool:
    """Return True if the supports have settled."""
    found = _settling(store)
    return found is not None and found.settled


def _settling(store: Store) -> ChainComparison | None:
    return None if store.samples is None else store.samples.settling()


def _verdict(store: Store) -> Verdict | None:
    return None if store.samples is None else store.samples.verdict()


def percent(share: float) -> str:
    """Return ``72 %``; only exact zeros and ones become ``0 %`` and ``100 %``."""
    if 0 < share < 0.005:
        return "< 1 %"
    if 0.995 < share < 1:
        return "> 99 %"
    return f"{100 * share:.0f} %"
