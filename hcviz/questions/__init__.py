"""What to ask, what an answer becomes, and the loop of both (Vikram & Dasgupta 2016, sections 3.4
and 4)."""

from hcviz.questions.answers import SURPRISING, bits, locked, surprise, surprise_sentence
from hcviz.questions.central import central_tree, disagreement
from hcviz.questions.question import Memory, Question, Why
from hcviz.questions.registry import STRATEGIES, Strategy, ask, strategies, warm
from hcviz.questions.teach import Step, User, teach

__all__ = [
    "STRATEGIES",
    "SURPRISING",
    "Memory",
    "Question",
    "Step",
    "Strategy",
    "User",
    "Why",
    "ask",
    "bits",
    "central_tree",
    "disagreement",
    "locked",
    "strategies",
    "surprise",
    "surprise_sentence",
    "teach",
    "warm",
]
