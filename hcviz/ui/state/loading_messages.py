"""What is said of files that were being read when something else was done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hcviz.session.model import Session


def not_opened(names: Sequence[str]) -> str:
    """``one.csv and two.csv were not opened.``; one name at least."""
    return f"{_subject(names)} not opened."


def not_added(names: Sequence[str]) -> str:
    """``one.csv was not added.``, of files of answers."""
    return f"{_subject(names)} not added."


def left_behind(before: Session, now: Session, loaded: Session) -> str:
    """The end of a sentence: the answers that ``now`` has more than ``before``, when the reading of
    ``loaded`` began, and that are not in ``loaded``; "" where there are none. O(all answers)."""
    lost = _answers(now) - _answers(before)
    if loaded.labels == now.labels:
        lost -= _answers(loaded)
    if not lost:
        return ""
    return (
        "1 answer given meanwhile is not in it."
        if len(lost) == 1
        else f"{len(lost):,} answers given meanwhile are not in it."
    )


def _answers(session: Session) -> set[Any]:
    """What was said by whom; a switch or a weight makes no other answer of it."""
    constraints = {(each.group, each.apart, each.author) for each in session.constraints}
    return constraints | {(each.question, each.items, each.author) for each in session.choices}


def _subject(names: Sequence[str]) -> str:
    *others, last = dict.fromkeys(names)
    both = f"{', '.join(others)} and {last}" if others else last
    return f"{both} {'were' if others else 'was'}"
