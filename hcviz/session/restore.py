"""``Restore``: the action that puts a loaded session in the place of the present one."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.session.actions import Action
from hcviz.session.model import Session


@dataclass(frozen=True)
class Restore(Action):
    """Put a loaded session in the place of this one. It is never in a log."""

    session: Session
