"""``random``, ``active`` and ``interleaved``: show the tree that a subset of the items induces.

References: Vikram & Dasgupta (2016), section 3.4.
"""

from __future__ import annotations

import numpy as np

from hcviz.questions.context import MAX_DRAWS, QuestionContext
from hcviz.questions.question import Question

AT_RANDOM = "Chosen at random, to find errors that the sampler cannot see."
MOST_VARIED = "The sampled trees differ most about these items."


def random(context: QuestionContext) -> Question | None:
    """Return a question about ``size`` uniformly drawn items, or None if every piece was asked."""
    if context.n < 3:
        return None
    for items in context.propose_until_new(
        lambda: context.draw(1)[0], min(context.size, context.n)
    ):
        if not context.was_asked(items):
            return context.make_question(items, "random", context.why(items, AT_RANDOM))
    return None


def active(context: QuestionContext) -> Question | None:
    """Return the random subset S with the greatest tree-distance variance.

    TDV(S) is the maximum over u, v in S of the variance, over the sampled trees, of the number of
    edges between u and v. The paper's text counts edges in the whole tree. Its published code
    counts them in the induced tree (``induced``) and uses the standard deviation, which gives the
    same order. The first of equally good subsets is returned. Without sampled trees, or if almost
    every piece was asked, the function returns a random question.
    """
    if not context.has_trees or context.n < 3:
        return random(context)
    assert context.posterior is not None
    for _ in range(MAX_DRAWS):
        subsets = context.draw(context.candidates)
        fresh = context.not_asked_yet(subsets)
        if fresh.size:
            subsets = subsets[fresh]
            variance = context.posterior.distance_variance(subsets, context.induced)
            best = int(np.argmax(variance))
            why = context.why(subsets[best], MOST_VARIED)
            return context.make_question(subsets[best], "active", why, float(variance[best]))
    return random(context)


def interleaved(context: QuestionContext) -> Question | None:
    """Alternate ``random`` and ``active``, starting with ``random``, as in the paper.

    The paper's published code alternates ``active`` with ``smart``.
    """
    return random(context) if context.memory.turn % 2 == 0 else active(context)
