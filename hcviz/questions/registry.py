"""The strategies by name, and :func:`ask`. A new one is a function ``Scene -> Question | None`` and
a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.core.validation import check_integer
from hcviz.posterior import Posterior
from hcviz.questions import informative, simple, subsets, whole
from hcviz.questions.central import central_tree
from hcviz.questions.question import Memory, Question
from hcviz.questions.scene import Scene


@dataclass(frozen=True)
class Strategy:
    """``sized``: whether the size of the piece may be chosen. ``sampled``: whether it looks at
    sampled trees, and can do no better than ``random`` without them. ``varied``: whether by the
    variance of the leaves' distances, for which ``induced`` has a meaning."""

    name: str
    title: str
    summary: str
    choose: Callable[[Scene], Question | None]
    sized: bool = True
    sampled: bool = False
    varied: bool = False


STRATEGIES: dict[str, Strategy] = {
    each.name: each
    for each in (
        Strategy(
            "simple", "Odd one out", "Three random items: which is apart?", simple.choose, False
        ),
        Strategy(
            "smart", "Whole tree", "The whole tree: what is wrong in it?", whole.choose, False
        ),
        Strategy("random", "Random piece", "The tree of some random items.", subsets.random),
        Strategy(
            "active",
            "Most varied piece",
            "Of some random pieces, the one in which the sampled trees differ most.",
            subsets.active,
            sampled=True,
            varied=True,
        ),
        Strategy(
            "interleaved",
            "Random and varied in turn",
            "A random piece and a varied one in turn, so that nothing stays hidden.",
            subsets.interleaved,
            sampled=True,
            varied=True,
        ),
        Strategy(
            "informative",
            "Most informative",
            "A random piece, and the one whose correction should settle most, in turn.",
            informative.choose,
            sampled=True,
        ),
    )
}


def strategies() -> list[str]:
    """The names, in the order in which a form lists them."""
    return list(STRATEGIES)


def ask(
    kind: str,
    tree: Tree,
    posterior: Posterior | None = None,
    *,
    size: int = 8,
    candidates: int = 20,
    induced: bool = False,
    triplets: Any = None,
    memory: Memory | None = None,
    rng: np.random.Generator,
) -> Question | None:
    """The next question about ``tree``; None where there is nothing left to ask.

    Parameters
    ----------
    kind : str
        One of :func:`strategies`.
    tree : Tree
        The tree of which a piece is shown, over all items.
    posterior : Posterior or None
        Sampled trees under the constraints as they are. Without them (or with none in it) the
        strategies that look at them draw at random.
    size : int
        Items a piece, 3 or more (5 to 10 suit a person); all of them where there are fewer.
    candidates : int
        Pieces from which ``active`` and ``informative`` choose, L in the paper (its code: 20).
    induced : bool
        Whether ``active`` measures distances in the induced tree instead of the whole one.
    triplets : Triplets or None
        The constraints, which ``tree`` satisfies: ``simple`` does not ask what follows from them.
        (In a shown piece nothing that follows can be wrong.)
    memory : Memory or None
        What was asked; this function only reads it. Call ``memory.ask(question)`` when the question
        is put, then ``skip`` or ``accept`` as it is answered. None: nothing was.
    rng : numpy Generator
        The same generator state and arguments give the same question.

    Raises :class:`InvalidParameter` for an unknown kind and numbers out of range,
    :class:`InvalidData` where posterior and tree are of different sizes.
    """
    if kind not in STRATEGIES:
        raise InvalidParameter(
            f"There is no kind of question {kind!r}.", f"Known: {', '.join(STRATEGIES)}."
        )
    size = check_integer(size, "The size of a question", InvalidParameter, 3)
    candidates = check_integer(candidates, "The number of candidates", InvalidParameter, 1)
    if posterior is not None and posterior.n_items != tree.n_leaves:
        raise InvalidData(
            f"The tree has {tree.n_leaves} leaves, the posterior {posterior.n_items} items."
        )
    rows = Triplets.of(triplets, tree.n_leaves).rows.copy()
    scene = Scene(tree, posterior, size, candidates, induced, memory or Memory(), rng, kind, rows)
    return STRATEGIES[kind].choose(scene)


def warm() -> None:
    """Compile (or load) the kernels, so that nobody's first question waits for it."""
    tree = Tree([4, 4, 5, 6, 5, 6, -1], [0, 0, 0, 0, 0.1, 0.2, 0.3], 4)
    posterior = Posterior(4)
    posterior.add(tree, 0.0)
    memory = Memory(turn=1)
    posterior.joint_probability([(0, 1, 2)])
    central_tree(posterior, np.random.default_rng(0))
    for kind in STRATEGIES:
        ask(kind, tree, posterior, memory=memory, rng=np.random.default_rng(0))
