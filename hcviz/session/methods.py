"""What ``update`` needs from a method: facts of the registry.

``session`` does not import ``algorithms``. The caller of :func:`hcviz.session.update.update` passes
the registry's look-up, :func:`hcviz.algorithms.get`, whose methods satisfy :class:`Method`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from hcviz.session.actions import ConstraintMode
from hcviz.session.model import Session


class Method(Protocol):
    """The facts of one method; see :class:`hcviz.algorithms.base.Algorithm`."""

    @property
    def title(self) -> str:
        """What people call it."""

    @property
    def samples(self) -> bool:
        """True if its snapshots are draws from a posterior."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of input that it reads."""

    @property
    def avoids_groups(self) -> bool:
        """True if it keeps that items are not a group."""

    def constraint_mode(self, params: Mapping[str, Any]) -> ConstraintMode:
        """How it treats triplets with these parameters."""


#: Registry name -> method. Raises :class:`hcviz.core.errors.HcvizError` for an unknown name.
Methods = Callable[[str], Method]


def reads_comparisons(methods: Methods, session: Session) -> bool:
    """Return True if the session's method reads comparisons."""
    return "comparisons" in methods(session.method).needs


__all__ = ["Method", "Methods", "reads_comparisons"]
