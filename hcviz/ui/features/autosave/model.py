"""State of the bar that offers an unfinished session, and the rules for what is kept."""

from __future__ import annotations

from typing import Any

from hcviz.core.text import count_noun
from hcviz.io.unfinished import UnfinishedSession
from hcviz.session.model import Checkpoint, Session
from hcviz.ui.state.store import Store


def state(store: Store) -> dict[str, Any]:
    """Return the state of the bar, as plain JSON."""
    offer = store.view.unfinished
    journal = store.view.journal
    if offer is None:
        return {"offer": None, "journal": journal}
    about = offer.about
    title = about.title or "damaged"
    offered = {
        "title": title,
        "answers": content_count(about.answers, about.groups),
        "time": about.time,
    }
    return {"offer": offered, "journal": journal}


def worth_keeping(session: Session) -> bool:
    """Return True if the session has, or had, answers or groups, or has data of the visitor."""
    moments: tuple[Session | Checkpoint, ...] = (session, *session.past)
    has_answers = any(
        each.constraints or each.choices or each.groups or each.data.answers for each in moments
    )
    return has_answers or session.data.kind == "table"


def worth_offering(kept: UnfinishedSession) -> bool:
    """Return True if a kept session has answers or groups, or is so damaged that it is unknown."""
    return kept.about.answers > 0 or kept.about.groups > 0 or not kept.about.title


def content_count(answers: int, groups: int) -> str:
    """Return ``2 answers``, ``1 group``, or ``2 answers and 1 group``."""
    if not groups:
        return count_noun(answers, "answer")
    group_count = count_noun(groups, "group")
    return f"{count_noun(answers, 'answer')} and {group_count}" if answers else group_count
