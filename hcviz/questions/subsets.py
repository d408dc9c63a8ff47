"""``random``, ``active`` and ``interleaved``: the tree that a subset induces (Vikram & Dasgupta
2016, 3.4)."""

from __future__ import annotations

import numpy as np

from hcviz.questions.question import Question, Why
from hcviz.questions.scene import DRAWS, Scene

AT_RANDOM = "Drawn at random, so that what the sampler is wrong about can show."
MOST_VARIED = "Of the pieces looked at, the one in which the sampled trees differ most."


def random(scene: Scene) -> Question | None:
    """``size`` items, uniformly. None where no piece is left that was not asked about."""
    if scene.n < 3:
        return None
    for items in scene.until_new(lambda: scene.draw(1)[0], min(scene.size, scene.n)):
        if not scene.knows(items, Why("")):
            return scene.show(items, "random", scene.why(items, AT_RANDOM))
    return None


def active(scene: Scene) -> Question | None:
    """Of ``candidates`` random subsets S the one with the greatest tree-distance variance, the
    first of equals.

    TDV(S) = max over u, v in S of Var over the sampled trees of the number of edges between u and
    v: in the whole tree, as the paper's text has it, or in the induced one (``induced``), as its
    published code has it, which takes the standard deviation: the same order. As ``random`` without
    sampled trees, and where hardly a piece is new.
    """
    if not scene.has_trees or scene.n < 3:
        return random(scene)
    assert scene.posterior is not None
    for _ in range(DRAWS):
        subsets = scene.draw(scene.candidates)
        fresh = scene.fresh(subsets)
        if fresh.size:
            subsets = subsets[fresh]
            variance = scene.posterior.distance_variance(subsets, scene.induced)
            best = int(np.argmax(variance))
            why = scene.why(subsets[best], MOST_VARIED)
            return scene.show(subsets[best], "active", why, float(variance[best]))
    return random(scene)


def interleaved(scene: Scene) -> Question | None:
    """Random and active in turn, random first (as the paper has it; its published code alternates
    active with *smart*)."""
    return random(scene) if scene.memory.turn % 2 == 0 else active(scene)
