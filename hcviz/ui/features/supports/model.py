"""How sure the sampler is: numbers for the branches, words for the page."""

from __future__ import annotations

import math
from typing import Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.build import chain_triplets
from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.jobs import Samples
from hcviz.posterior import Verdict
from hcviz.posterior.chain_comparison import LIMIT, ChainComparison
from hcviz.questions import SURPRISING
from hcviz.session.model import Session
from hcviz.ui.state.store import Store

#: Seconds between two judgements while a run goes on.
PACE = 1.0
#: From this accuracy on the page says how long the rest takes.
ROUGH = 0.5


def support(store: Store) -> Any:
    """The share of the sampled trees that have each clade of the tree drawn, float64 (n_internal,).

    None while trees stream in (numbers that flicker cannot be read), where nothing was sampled of
    these data under these constraints, or where the numbers are switched off. The tree may be of
    another method than the sampled trees.
    """
    drawn = store.drawn
    if drawn is None or not store.still or store.view.support != "shown":
        return None
    if drawn is not store.session.snapshot:
        return None
    return _shares(store.supporting, drawn.tree)


def merged(store: Store) -> Any:
    """The clades of the tree drawn whose support is too small to draw them: bool (n_internal,).

    None where they are drawn lighter instead, or where supports are not shown. While trees stream
    in they are merged too: else the picture would open at the start of each run. A run that has no
    sampled trees yet has the supports of the run before it.
    """
    view, drawn = store.view, store.drawn
    if drawn is None or view.support != "shown" or view.unsure != "merged":
        return None
    shares = _shares(store.supporting, drawn.tree)
    if shares is None and store.session.status == "sampling":
        shares = _shares(store.earlier, drawn.tree)
    return None if shares is None else shares < view.below / 100


def _shares(samples: Samples | None, tree: Tree) -> Any:
    if samples is None:
        return None
    with samples.open() as posterior:
        if posterior is None or posterior.n_items != tree.n_leaves:
            return None
        return posterior.support(tree)


def of_group(store: Store, items: tuple[int, ...]) -> str | None:
    """In how many of the sampled trees exactly these items are a clade, as a sentence."""
    samples = store.samples
    if samples is None or not 1 < len(items) < len(store.session.labels):
        return None
    with samples.open() as posterior:
        if posterior is None:
            return None
        share, trees = posterior.clade_support(items), len(posterior)
    said = f"{percent(share)} of the last {count_noun(trees, 'tree')} have exactly this group"
    session = store.session
    if session.status == "sampling" and not _has_drawn(session):
        return f"{said}, before this run."
    found = _settling(store)
    return f"{said}." if found is None or found.settled else f"{said}, {_word(found)}."


def of_answer(store: Store, group: tuple[int, ...], apart: int) -> list[tuple[str, str]]:
    """What the sampled trees say of an answer that would change the tree; empty without any.

    "surprising" asks back: a slip, or something that the data do not show.
    """
    samples = store.samples
    if samples is None:
        return []
    with samples.open() as posterior:
        if posterior is None:
            return []
        share = posterior.joint_probability(chain_triplets(group, apart))
    said = f"true in {percent(share)} of the sampled trees"
    return [("surprising", f"{said}. Sure?") if share < SURPRISING else ("so far", f"{said}.")]


def settled(store: Store) -> dict[str, str] | None:
    """How accurate the supports are: a word, a sentence and the details.

    The details are R-hat and effective numbers of draws. Until a run in progress has drawn a tree,
    the sentence says so.
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
    why = accuracy(found)
    if not found.settled and store.session.status != "sampling":
        left = time_left(found, store.samples.seconds) if store.samples is not None else ""
        why += f" Run goes on from here{left}."
    return {"word": _word(found), "why": why, "details": verdict.why}


def time_left(found: ChainComparison, seconds: float) -> str:
    """``; reaching 5 points takes about 40 s more``, or nothing where that is unknown.

    The accuracy falls with the square root of the draws, and so of the ``seconds`` so far.
    """
    more = round(seconds * ((found.accuracy / LIMIT) ** 2 - 1.0), 3)
    if not (seconds > 0.0 and found.accuracy < ROUGH and more > 0.0):
        return ""
    said = f"{max(10.0, math.ceil(more / 10.0) * 10.0):.0f} s"
    if more > 90.0:
        said = count_noun(math.ceil(more / 60.0), "minute")
    return f"; reaching {LIMIT * 100:.0f} points takes about {said} more"


def accuracy(found: ChainComparison) -> str:
    """``Supports are accurate to about 8 points.``"""
    number = _points(found)
    if not number:
        return "There are too few sampled trees to say how accurate the supports are."
    if number >= 50:
        return "The supports are not accurate yet."
    return f"Supports are accurate to about {count_noun(number, 'point')}."


def points(store: Store) -> int:
    """How accurate the supports are, in points; 0 where that is unknown."""
    found = _settling(store)
    return 0 if found is None else _points(found)


def _points(found: ChainComparison) -> int:
    return 0 if math.isnan(found.accuracy) else max(1, math.ceil(100 * found.accuracy))


def _word(found: ChainComparison) -> str:
    return "settled" if found.settled else "settling"


def _has_drawn(session: Session) -> bool:
    """Whether a tree that the newest run drew is shown; at step 0 a run only shows its start."""
    return session.shown == session.run and session.progress[0] > 0


def is_settled(store: Store) -> bool:
    """Whether shares of the sampled trees can be taken for the posterior's probabilities."""
    found = _settling(store)
    return found is not None and found.settled


def _settling(store: Store) -> ChainComparison | None:
    if store.samples is None:
        return None
    return store.samples.settling(PACE if store.session.status == "sampling" else 0.0)


def _verdict(store: Store) -> Verdict | None:
    if store.samples is None:
        return None
    busy = store.session.status == "sampling"
    return store.samples.verdict(PACE if busy else 0.0, store.session.labels)


def percent(share: float) -> str:
    """``72 %``; what is not quite none or all is never rounded to that."""
    if 0 < share < 0.005:
        return "< 1 %"
    if 0.995 < share < 1:
        return "> 99 %"
    return f"{100 * share:.0f} %"
