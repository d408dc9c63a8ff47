"""``smart``: show the whole tree, "unrealistically" (Vikram & Dasgupta 2016, section 5)."""

from __future__ import annotations

import numpy as np

from hcviz.questions.context import QuestionContext
from hcviz.questions.question import Question, QuestionReason


def choose(context: QuestionContext) -> Question | None:
    """Return a question about all items, or None if this tree was asked about already."""
    items = np.arange(context.n, dtype=np.int32)
    reason = QuestionReason("The whole tree: what is wrong in it?")
    question = context.make_question(items, "smart", reason)
    return None if context.memory.was_asked(question, context.n) else question
