"""The rules of answers about three items: each is kept, and runs follow where one reads them."""

from __future__ import annotations

from dataclasses import replace

from hcviz.session.actions import Choose
from hcviz.session.choice import Choice, check_choice
from hcviz.session.history import Stepped, step
from hcviz.session.model import Session
from hcviz.session.runs import begin, say


def choose(session: Session, action: Choose) -> Stepped:
    """Keep the answer. Where the method reads comparisons it runs anew: at once, or, while a run is
    under way, when that is over, so that quick answers do not keep each other's trees away."""
    made = Choice(action.question, action.items, action.author, action.time)
    check_choice(made, session.n_items)
    text = f"{made.sentence(session.labels)}."
    session = replace(step(session, f"Answer: {text}"), choices=(*session.choices, made))
    if not action.heeded:
        return say(session, f"{text} {session.method} does not read such answers.")
    if session.status == "sampling":
        return say(replace(session, awaiting=True), text)
    return begin(session, f"Answer: {text}", "snapshot", text)
