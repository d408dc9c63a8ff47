"""What ``update`` needs to know of a method: it asks the registry, not the maker of an action.

``session`` does not import ``algorithms``. The caller of :func:`hcviz.session.update.update` passes
the registry's look-up, :func:`hcviz.algorithms.get`, whose methods satisfy :class:`Method`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from hcviz.session.actions import Treatment
from hcviz.session.model import Session


class Method(Protocol):
    """The facts of one method; see :class:`hcviz.algorithms.base.Algorithm`."""

    @property
    def samples(self) -> bool:
        """Whether its snapshots are draws from a posterior."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of input that it reads."""

    def constraint_mode(self, params: Mapping[str, Any]) -> Treatment:
        """How it treats triplets with these parameters."""


#: Registry name -> method. Raises :class:`hcviz.core.errors.HcvizError` for an unknown name.
Methods = Callable[[str], Method]


def reads_comparisons(methods: Methods, session: Session) -> bool:
    """Whether the session's method reads comparisons."""
    return "comparisons" in methods(session.method).needs


__all__ = ["Method", "Methods", "reads_comparisons"]
