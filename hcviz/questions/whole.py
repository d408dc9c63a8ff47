"""``smart``: the whole tree is shown (Vikram & Dasgupta 2016, section 5: "unrealistically")."""

from __future__ import annotations

import numpy as np

from hcviz.questions.question import Question, Why
from hcviz.questions.scene import Scene


def choose(scene: Scene) -> Question | None:
    """All items; None once this very tree was asked about: there is nothing more to show."""
    items = np.arange(scene.n, dtype=np.int32)
    question = scene.show(items, "smart", Why("The whole tree: what is wrong in it?"))
    return None if scene.memory.knows(question, scene.n) else question
