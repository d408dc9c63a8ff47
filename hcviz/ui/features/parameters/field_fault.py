"""``FieldFault``: a value of the form that was refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hcviz.session.model import Session


@dataclass(frozen=True)
class FieldFault:
    """A value that was typed for a parameter and refused, and the sentence that says why.

    It is shown until the parameter gets another value, or the method changes.
    """

    name: str
    typed: str
    kept: Any
    sentence: str

    def applies(self, session: Session) -> bool:
        """Return True while the parameter still has its old value."""
        return bool(session.params.get(self.name) == self.kept)


__all__ = ["FieldFault"]
