"""``simple``: three random items; which one is apart? (Vikram & Dasgupta 2016, section 5)"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hcviz.core.build import implies
from hcviz.core.tree import Tree
from hcviz.questions.question import Question, Why
from hcviz.questions.scene import Scene


def choose(scene: Scene) -> Question | None:
    """Three items that the person was not asked about; None if there are none left.

    Nothing is shown of the tree. Three items whose arrangement follows from the constraints are
    passed over; three about which all sampled trees agree without that are as likely as any: the
    sampler may be wrong about them. (The paper does not pass over any: it had no way to tell.)
    """
    if scene.n < 3:
        return None

    def draw() -> np.ndarray:
        return np.sort(scene.rng.choice(scene.n, 3, replace=False)).astype(np.int32)

    for items in scene.until_new(draw, 3):
        named = tuple(items.tolist())
        question = Question(scene.kind, "simple", named, Tree.star(3), Why(""))
        if not scene.memory.knows(question, scene.n) and not _follows(scene, items):
            return replace(question, why=_why(scene, items))
    return None


def _follows(scene: Scene, items: np.ndarray) -> bool:
    """Whether the constraints leave these three one arrangement only (then the tree has it)."""
    if not np.isin(items, scene.rows).all():
        return False
    row = next(
        (
            items[[i, j, k]]
            for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 2, 0))
            if bool(scene.tree.satisfies(items[None, [i, j, k]])[0])
        ),
        None,
    )
    return row is not None and implies(scene.n, scene.rows, row)


def _why(scene: Scene, items: np.ndarray) -> Why:
    reason = "Three items drawn at random: which one is apart?"
    if not scene.has_trees:
        return Why(reason)
    found = scene.arrangements(items[None])[:, 0, 0]
    share = [float((found == k).mean()) for k in range(3)]
    apart = int(np.argmax(share))
    if share[apart] == 0.0:
        return Why(reason)
    x, y = (int(item) for item in np.delete(items, apart))
    return Why(reason, x, (y,), int(items[apart]), share[apart])
