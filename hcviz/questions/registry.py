"""The question strategies by name, and :func:`ask`.

A new strategy is a function ``QuestionContext -> Question | None`` and an entry in ``STRATEGIES``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.groups import Groups
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.core.validation import check_integer
from hcviz.posterior import Posterior
from hcviz.questions import group, informative, simple, subsets, whole_tree
from hcviz.questions.central import central_tree
from hcviz.questions.context import QuestionContext
from hcviz.questions.question import Memory, Question


@dataclass(frozen=True)
class Strategy:
    """A way to choose a question.

    Attributes
    ----------
    name, title, summary : str
        The registry name, and the texts of the page.
    choose : callable
        Returns the next question, or None.
    has_size : bool
        True if the number of items can be chosen.
    uses_sampled_trees : bool
        True if the strategy uses sampled trees. Without them it chooses at random.
    has_distance_variance : bool
        True if the strategy uses the variance of leaf distances, so that ``induced`` applies.
    asks_groups : bool
        True if the question is whether items are a group, and not how they are arranged.
    """

    name: str
    title: str
    summary: str
    choose: Callable[[QuestionContext], Question | None]
    has_size: bool = True
    uses_sampled_trees: bool = False
    has_distance_variance: bool = False
    asks_groups: bool = False


STRATEGIES: dict[str, Strategy] = {
    each.name: each
    for each in (
        Strategy(
            "simple", "Odd one out", "Three random items: which is apart?", simple.choose, False
        ),
        Strategy(
            "smart", "Whole tree", "The whole tree: what is wrong in it?", whole_tree.choose, False
        ),
        Strategy("random", "Random piece", "The tree of some random items.", subsets.random),
        Strategy(
            "active",
            "Most varied piece",
            "Of some random pieces, the one in which the sampled trees differ most.",
            subsets.active,
            uses_sampled_trees=True,
            has_distance_variance=True,
        ),
        Strategy(
            "interleaved",
            "Random and varied in turn",
            "A random piece and a varied one in turn, so that nothing stays hidden.",
            subsets.interleaved,
            uses_sampled_trees=True,
            has_distance_variance=True,
        ),
        Strategy(
            "informative",
            "Most informative",
            "A random piece, and the one whose correction should settle most, in turn.",
            informative.choose,
            uses_sampled_trees=True,
        ),
        Strategy(
            "group",
            "Is this a group?",
            "The branch of at most 16 items about which the sampled trees are least sure.",
            group.choose,
            has_size=False,
            uses_sampled_trees=True,
            asks_groups=True,
        ),
    )
}


def strategies() -> list[str]:
    """Return the names of the strategies about a piece of the tree, in the order of the form."""
    return [each.name for each in STRATEGIES.values() if not each.asks_groups]


def ask(
    kind: str,
    tree: Tree,
    posterior: Posterior | None = None,
    *,
    size: int = 8,
    candidates: int = 20,
    induced: bool = False,
    triplets: Any = None,
    groups: Any = None,
    memory: Memory | None = None,
    rng: np.random.Generator,
) -> Question | None:
    """Return the next question about ``tree``, or None if there is nothing left to ask.

    Parameters
    ----------
    kind : str
        One of :func:`strategies`, or ``group``: is this clade a group?
    tree : Tree
        The tree over all items, of which a piece is shown.
    posterior : Posterior or None
        Trees sampled under the present constraints. Without them, all strategies choose at random.
    size : int
        Number of items in a question, at least 3. People answer best with 5 to 10. All items are
        used where there are fewer.
    candidates : int
        Number of pieces from which ``active`` and ``informative`` choose; L in the paper, 20 in its
        code.
    induced : bool
        If True, ``active`` measures distances in the induced tree instead of the whole tree.
    triplets : Triplets or None
        The constraints, which ``tree`` satisfies. ``simple`` skips triples that follow from them.
    groups : Groups or sets of items, optional
        Sets of items that are clades of ``tree`` by constraint.
    memory : Memory or None
        The earlier questions. This function only reads it. Call ``memory.ask(question)`` when the
        question is shown, then ``skip`` or ``accept``.
    rng : numpy.random.Generator
        The same generator state and arguments give the same question.

    Returns
    -------
    Question or None

    Raises
    ------
    InvalidParameter
        If ``kind`` is unknown, or a number is out of range.
    InvalidData
        If ``posterior`` and ``tree`` have different numbers of items.

    References
    ----------
    Vikram & Dasgupta (2016), sections 3.4 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from hcviz import Tree
    >>> tree = Tree([4, 4, 5, 6, 5, 6, -1], [0, 0, 0, 0, 0.1, 0.2, 0.3], 4)
    >>> ask("smart", tree, rng=np.random.default_rng(0)).items
    (0, 1, 2, 3)
    """
    if kind not in STRATEGIES:
        raise InvalidParameter(
            f"There is no kind of question {kind!r}.", f"Choose one of {', '.join(STRATEGIES)}."
        )
    size = check_integer(size, "The size of a question", InvalidParameter, 3)
    candidates = check_integer(candidates, "The number of candidates", InvalidParameter, 1)
    if posterior is not None and posterior.n_items != tree.n_leaves:
        raise InvalidData(
            f"The tree has {tree.n_leaves} leaves, but the posterior has {posterior.n_items} items."
        )
    rows = Triplets.of(triplets, tree.n_leaves).rows.copy()
    context = QuestionContext(
        tree, posterior, size, candidates, induced, memory or Memory(), rng, kind, rows,
        Groups.of(groups, tree.n_leaves),
    )  # fmt: skip
    return STRATEGIES[kind].choose(context)


def warm() -> None:
    """Compile the kernels, or load them from the cache, before the first question."""
    tree = Tree([4, 4, 5, 6, 5, 6, -1], [0, 0, 0, 0, 0.1, 0.2, 0.3], 4)
    posterior = Posterior(4)
    posterior.add(tree, 0.0)
    memory = Memory(turn=1)
    posterior.joint_probability([(0, 1, 2)])
    central_tree(posterior, np.random.default_rng(0))
    for kind in STRATEGIES:
        ask(kind, tree, posterior, memory=memory, rng=np.random.default_rng(0))
