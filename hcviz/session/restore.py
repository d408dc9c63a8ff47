"""``Restore``: the action that replaces the session with a loaded one."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.session.actions import Action
from hcviz.session.model import Session


@dataclass(frozen=True)
class Restore(Action):
    """Replace the session with a loaded one. It is never in a log."""

    session: Session
