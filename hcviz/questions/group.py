"""``group``: is this clade of the tree a group? Yes makes it a clade for good."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.posterior.thinned_trees import entropy_bits
from hcviz.questions.context import QuestionContext
from hcviz.questions.question import Question, QuestionReason, percent

Float = NDArray[np.float64]

#: A group that a person can check at a glance has at most this number of items.
MAX_ITEMS = 16

ANY = "A branch of the tree, chosen at random."


def choose(context: QuestionContext) -> Question | None:
    """Return a question about the clade whose support is nearest to one half.

    That is the clade about which "yes" or "no" brings most information, its entropy in bits. Clades
    of 2 to MAX_ITEMS items are candidates, unless they were asked about or are clades by
    constraint. Without sampled trees, or if these agree about all candidates, the clade is random.
    """
    tree = context.tree
    required = {tuple(each.tolist()) for each in context.groups}
    size = tree.size[context.n :]
    small = np.flatnonzero((size <= MAX_ITEMS) & (size < context.n))
    order = context.rng.permutation(small)
    share, bits = np.zeros(tree.n_internal), np.zeros(tree.n_internal)
    if context.has_trees:
        assert context.posterior is not None
        share = np.clip(context.posterior.support(tree), 0.0, 1.0)
        bits = entropy(share)
        order = order[np.argsort(-bits[order], kind="stable")]
    for offset in order.tolist():
        items = np.sort(tree.leaves(context.n + offset)).astype(np.int32)
        if tuple(items.tolist()) in required or context.was_asked(items):
            continue
        value = float(bits[offset])
        reason = ANY
        if value > 0.0:
            text = percent(float(share[offset]))
            reason = f"{text} of the sampled trees have exactly this group."
        return context.make_question(items, "group", QuestionReason(reason), value, is_group=True)
    return None


def entropy(share: Float) -> Float:
    """Return the entropy of yes and no with these probabilities, in bits."""
    return entropy_bits(share) + entropy_bits(1.0 - share)
