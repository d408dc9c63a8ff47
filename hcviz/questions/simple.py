"""``simple``: three random items; the person names the odd one (Vikram & Dasgupta 2016, sec. 5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hcviz.core.build import implies
from hcviz.core.tree import Tree
from hcviz.questions.context import QuestionContext
from hcviz.questions.question import Question, QuestionReason


def choose(context: QuestionContext) -> Question | None:
    """Return three items that were not asked about, or None if there are none left.

    The question shows no tree. Triples that follow from the constraints are skipped; the paper does
    not skip them. Triples on which all sampled trees agree are not skipped, because the sampler may
    be wrong about them.
    """
    if context.n < 3:
        return None

    def draw() -> np.ndarray:
        return np.sort(context.rng.choice(context.n, 3, replace=False)).astype(np.int32)

    for items in context.propose_until_new(draw, 3):
        members = tuple(items.tolist())
        question = Question(context.kind, "simple", members, Tree.star(3), QuestionReason(""))
        if not context.memory.was_asked(question, context.n) and not _follows(context, items):
            return replace(question, why=_why(context, items))
    return None


def _follows(context: QuestionContext, items: np.ndarray) -> bool:
    """Return True if the constraints allow only one arrangement of these three items."""
    if not len(context.groups) and not np.isin(items, context.rows).all():
        return False
    row = next(
        (
            items[[i, j, k]]
            for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 2, 0))
            if bool(context.tree.satisfies(items[None, [i, j, k]])[0])
        ),
        None,
    )
    return row is not None and implies(context.n, context.rows, row, context.groups)


def _why(context: QuestionContext, items: np.ndarray) -> QuestionReason:
    """Return the arrangement that most sampled trees have."""
    reason = "Three items drawn at random: which one is apart?"
    if not context.has_trees:
        return QuestionReason(reason)
    found = context.arrangements(items[None])[:, 0, 0]
    share = [float((found == k).mean()) for k in range(3)]
    apart = int(np.argmax(share))
    if share[apart] == 0.0:
        return QuestionReason(reason)
    x, y = (int(item) for item in np.delete(items, apart))
    return QuestionReason(reason, x, (y,), int(items[apart]), share[apart])
