"""``informative``: the piece of the tree whose correction is expected to add most information.

The value of an answer. The sampled trees T_1..T_K represent the belief about the true tree. An
answer ab|c conditions this belief on the event "ab|c holds". By the Kullback-Leibler divergence,
the answer brings

    KL(after || before) = log2(1 / P(ab|c)) bits,    P(ab|c) = the share of trees with ab|c.

"Accept" adds no constraint, so it brings 0 bits. The answer depends on the true tree. Suppose that
the true tree is T_k, and the person sees T restricted to S. V_k(S) is the set of triplets of T_k on
S that the shown piece violates. The person names one triplet of V_k(S), each with the same
probability, and accepts if V_k(S) is empty. So the value of the question is

    I(S) = (1/K) sum over k with V_k(S) not empty of  mean over ab|c in V_k(S) of log2(1 / P(ab|c)).

I(S) is 0 if all trees agree with the shown piece. For three items, shown as xy|z, it is the sum of
p log2(1/p) over the two other arrangements. That is the entropy of P(.|.) without the term of the
shown arrangement, which would be accepted. A triplet that follows from earlier answers holds in
every tree and adds nothing. A triplet of an accepted piece is assumed to be right, so V_k leaves it
out. (The mutual information of answer and tree also counts the information in the *choice* among
V_k. The sampler does not use that choice, so it is not counted.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.questions import kernels
from hcviz.questions.central import random_triples
from hcviz.questions.context import MAX_DRAWS, QuestionContext
from hcviz.questions.question import Question, triples
from hcviz.questions.subsets import random

Int = NDArray[np.int32]

MOST_BITS = "A correction of this piece is expected to add the most information."

#: Triples that estimate an item's uncertainty: random ones per item, and rounds of neighbours.
N_TRIPLES, NEIGHBOUR_ROUNDS = 10, 2
#: Weight of a certain item when candidates are drawn; the most uncertain item has weight 1.
MIN_WEIGHT = 0.02


def choose(context: QuestionContext) -> Question | None:
    """Alternate ``random`` and ``most_informative``, starting with ``random``.

    The random pieces reveal errors about which all sampled trees agree.
    """
    return random(context) if context.memory.turn % 2 == 0 else most_informative(context)


def most_informative(context: QuestionContext) -> Question | None:
    """Return the question with the greatest I(S) among ``candidates`` subsets.

    Half of the candidates are uniform. The other half are drawn in proportion to
    :func:`item_uncertainty`, because uniform subsets rarely contain two uncertain items. The
    function returns a random question if there are no sampled trees, if almost every piece was
    asked, or if no candidate has a positive value. The first of equally good subsets is returned.
    O(trees L s^3).
    """
    if not context.has_trees or context.n < 3:
        return random(context)
    weights = item_uncertainty(context)
    for _ in range(MAX_DRAWS):
        half = context.candidates // 2
        subsets = np.concatenate(
            [context.draw(context.candidates - half), context.draw(half, weights)]
        )
        fresh = context.not_asked_yet(subsets)
        if fresh.size:
            subsets = subsets[fresh]
            bits = expected_information(context, subsets)
            best = int(np.argmax(bits))
            if bits[best] == 0.0:
                return random(context)
            why = context.why(subsets[best], MOST_BITS)
            return context.make_question(subsets[best], "informative", why, float(bits[best]))
    return random(context)


def expected_information(context: QuestionContext, subsets: Int) -> NDArray[np.float64]:
    """Return I(S) in bits of each subset, float64 (L,)."""
    found = context.arrangements(subsets)
    shown = context.arrangements(subsets, of_shown_tree=True)[0]
    out = np.empty(len(subsets))
    kernels.expected_bits(found, shown, shown_when_accepted(context, subsets, shown), out)
    return out


def shown_when_accepted(
    context: QuestionContext, subsets: Int, shown: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Mark the triples that are shown as in an accepted piece: bool (L, q)."""
    accepted = context.memory.accepted
    if not len(accepted):
        return np.zeros(shown.shape, np.bool_)
    threes = subsets[:, triples(subsets.shape[1])].astype(np.int64)
    n = context.n
    codes = ((threes[..., 0] * n + threes[..., 1]) * n + threes[..., 2]) * 4 + shown
    order = np.sort(accepted, axis=1).astype(np.int64)
    apart = (order == accepted[:, 2:]).argmax(axis=1)
    there = ((order[:, 0] * n + order[:, 1]) * n + order[:, 2]) * 4 + apart
    return np.isin(codes, there)


def item_uncertainty(context: QuestionContext) -> NDArray[np.float64]:
    """Return weights (n,): how much the sampled trees differ from the shown tree at each item.

    The weight is the mean of p (1 - p) over triples with the item, plus ``MIN_WEIGHT``; p is the
    share of trees that arrange the triple as shown. The largest weight is about 1. Random triples
    measure uncertainty about large groups, and :func:`neighbour_triples` about close neighbours.
    """
    random_ones = random_triples(context.n, N_TRIPLES * context.n // 3, context.rng)
    threes = np.concatenate(
        [random_ones, *(neighbour_triples(context) for _ in range(NEIGHBOUR_ROUNDS))]
    )
    same = (context.arrangements(threes) == context.arrangements(threes, of_shown_tree=True)).mean(
        axis=0
    )[:, 0]
    total = np.bincount(threes.ravel(), np.repeat(same * (1.0 - same), 3), context.n)
    mean = total / np.maximum(np.bincount(threes.ravel(), minlength=context.n), 1)
    top = mean.max()
    found: NDArray[np.float64] = (mean / top if top > 0 else mean) + MIN_WEIGHT
    return found


def neighbour_triples(context: QuestionContext) -> Int:
    """Draw, for each inner node but the root, items of two of its children and of a sibling.

    Returns rows of increasing items, int32 (inner nodes - 1, 3). O(n).
    """
    tree, rng = context.tree, context.rng
    offsets, children = tree.children_csr
    v = np.arange(tree.n_leaves, tree.n_nodes - 1)

    def pick(many: NDArray[np.int64]) -> NDArray[np.int64]:
        return (rng.random(v.size) * many).astype(np.int64)

    def item(node: Int) -> Int:
        found: Int = tree.leaf_order[tree.leaf_start[node] + pick(tree.size[node].astype(np.int64))]
        return found

    fan = np.diff(offsets).astype(np.int64)
    first = pick(fan[v])
    second = (first + 1 + pick(fan[v] - 1)) % fan[v]
    above = tree.parent[v]
    rank = np.empty(tree.n_nodes, np.int64)
    rank[children] = np.arange(children.size)
    sibling = (rank[v] - offsets[above] + 1 + pick(fan[above] - 1)) % fan[above]
    nodes = (offsets[v] + first, offsets[v] + second, offsets[above] + sibling)
    return np.sort(np.stack([item(children[at]) for at in nodes], axis=1), axis=1).astype(np.int32)
