"""Choose questions, turn answers into constraints, and run the teaching loop.

References: Vikram & Dasgupta (2016), sections 3.4 and 4.
"""

from hcviz.questions.answers import (
    SURPRISING_BELOW,
    bits,
    shown_triplets,
    triplet_support,
)
from hcviz.questions.central import central_tree, disagreement
from hcviz.questions.question import Memory, Question, QuestionReason
from hcviz.questions.registry import STRATEGIES, Strategy, ask, strategies, warm
from hcviz.questions.teach import Step, User, teach

__all__ = [
    "STRATEGIES",
    "SURPRISING_BELOW",
    "Memory",
    "Question",
    "QuestionReason",
    "Step",
    "Strategy",
    "User",
    "ask",
    "bits",
    "central_tree",
    "disagreement",
    "shown_triplets",
    "strategies",
    "teach",
    "triplet_support",
    "warm",
]
