"""``informative``: the piece of the tree whose correction is expected to say most.

What an answer is worth. The sampled trees T_1..T_K stand for what is believed about the true tree.
An answer ab|c is applied as the event "ab|c holds": the belief after it is the belief before,
conditioned on the event, so by Kullback and Leibler's divergence it brings

    KL(after || before) = log2(1 / P(ab|c)) bits,    P(ab|c) = the share of trees with ab|c.

"Accept" adds no constraint, hence 0 bits. Which answer comes depends on the truth. Suppose it is
T_k: a person who is shown T restricted to S names one of V_k(S), the triplets of T_k on S that the
shown piece violates, and accepts if there is none. Nothing is known about which; say each equally
often. So the question's worth is

    I(S) = (1/K) sum over k with V_k(S) not empty of  mean over ab|c in V_k(S) of log2(1 / P(ab|c)).

It is 0 where all trees agree with what is shown. For three items, shown as xy|z, it is the sum of
p log2(1/p) over the two other arrangements: the entropy of P(.|.) less the term of what is shown,
which would be accepted. A triplet that follows from earlier answers holds in every tree and adds
nothing; one that stands in a piece that was accepted is known not to be wrong, and is left out of
V_k. (The mutual information of answer and tree would also count what the *choice* among V_k says;
the sampler makes no use of that, so it is not counted.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hcviz.questions import kernels
from hcviz.questions.central import random_threes
from hcviz.questions.question import Question, triples
from hcviz.questions.scene import DRAWS, Scene
from hcviz.questions.subsets import random

Int = NDArray[np.int32]

MOST_BITS = "Of the pieces looked at, the one whose correction would settle most."

#: Threes by which items' doubt is judged: random ones per item, and rounds of those beside nodes.
THREES, ROUNDS = 10, 2
#: What an item without any doubt counts, beside the most doubtful, when candidates are drawn.
FLOOR = 0.02


def choose(scene: Scene) -> Question | None:
    """In turn with ``random``, which comes first: a wrong belief must not hide an error."""
    return random(scene) if scene.memory.turn % 2 == 0 else most_informative(scene)


def most_informative(scene: Scene) -> Question | None:
    """Of ``candidates`` subsets the one with the greatest I(S), the first of equals.

    Half of the candidates are uniform, half drawn in proportion to the items' :func:`doubt`: where
    few items are in doubt, uniform subsets hardly ever hold two of them. ``random`` where there are
    no sampled trees, hardly a piece is new or no candidate promises anything. O(trees L s^3).
    """
    if not scene.has_trees or scene.n < 3:
        return random(scene)
    weights = doubt(scene)
    for _ in range(DRAWS):
        half = scene.candidates // 2
        subsets = np.concatenate([scene.draw(scene.candidates - half), scene.draw(half, weights)])
        fresh = scene.fresh(subsets)
        if fresh.size:
            subsets = subsets[fresh]
            bits = worth(scene, subsets)
            best = int(np.argmax(bits))
            if bits[best] == 0.0:
                return random(scene)
            why = scene.why(subsets[best], MOST_BITS)
            return scene.show(subsets[best], "informative", why, float(bits[best]))
    return random(scene)


def worth(scene: Scene, subsets: Int) -> NDArray[np.float64]:
    """I(S) in bits of each subset, float64 (L,)."""
    found = scene.arrangements(subsets)
    shown = scene.arrangements(subsets, own=True)[0]
    out = np.empty(len(subsets))
    kernels.expected_bits(found, shown, known(scene, subsets, shown), out)
    return out


def known(scene: Scene, subsets: Int, shown: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which threes are shown as they were in a piece that was accepted: bool (L, q)."""
    accepted = scene.memory.accepted
    if not len(accepted):
        return np.zeros(shown.shape, np.bool_)
    threes = subsets[:, triples(subsets.shape[1])].astype(np.int64)
    n = scene.n
    codes = ((threes[..., 0] * n + threes[..., 1]) * n + threes[..., 2]) * 4 + shown
    order = np.sort(accepted, axis=1).astype(np.int64)
    apart = (order == accepted[:, 2:]).argmax(axis=1)
    there = ((order[:, 0] * n + order[:, 1]) * n + order[:, 2]) * 4 + apart
    return np.isin(codes, there)


def doubt(scene: Scene) -> NDArray[np.float64]:
    """How far the sampled trees differ from the shown one about each item, as weights (n,).

    The mean of p (1 - p) over threes with the item, p the share of trees that have them as shown,
    plus a floor: positive, the largest about 1. The threes are random ones, which show doubt about
    large groups, and :func:`beside`, which show doubt about neighbours.
    """
    random_ones = random_threes(scene.n, THREES * scene.n // 3, scene.rng)
    threes = np.concatenate([random_ones, *(beside(scene) for _ in range(ROUNDS))])
    same = (scene.arrangements(threes) == scene.arrangements(threes, own=True)).mean(axis=0)[:, 0]
    total = np.bincount(threes.ravel(), np.repeat(same * (1.0 - same), 3), scene.n)
    mean = total / np.maximum(np.bincount(threes.ravel(), minlength=scene.n), 1)
    top = mean.max()
    found: NDArray[np.float64] = (mean / top if top > 0 else mean) + FLOOR
    return found


def beside(scene: Scene) -> Int:
    """For each inner node but the root, items of two of its children and of a sibling, at random:
    increasing, int32 (inner nodes - 1, 3). O(n)."""
    tree, rng = scene.tree, scene.rng
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
