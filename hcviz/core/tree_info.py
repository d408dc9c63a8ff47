"""``TreeInfo``: how a tree was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: The word for one constraint of each kind.
ONE = {
    "constraints": "constraint",
    "triplets": "triplet",
    "groups": "group",
    "sets that are no groups": "set that is no group",
}


@dataclass(frozen=True)
class TreeInfo:
    """How a tree was made. ``str(info)`` is a caption.

    Parameters
    ----------
    method : str
        The method's name in the registry.
    title : str
        The method's name for people.
    compared : str
        What the method compared, such as "Euclidean distance of the z-scored columns".
    n_items : int
        Number of items.
    seed : int or None
        The seed; None if the run used a generator or a state.
    constraints : mapping of str to int
        The numbers of ``triplets``, ``groups`` and ``sets that are no groups``, without those that
        are 0.
    constraint_mode : {"hard", "soft", "ignored"}
        What constraints are to the method with these parameters.
    params : mapping
        The parameters that are not the method's defaults.

    Examples
    --------
    >>> import hcviz
    >>> str(hcviz.fit("average", [[0.0], [1.0], [5.0]]).info)
    'Average linkage of 3 items. Euclidean distance of the features. Seed 0.'
    """

    method: str
    title: str
    compared: str
    n_items: int
    seed: int | None = 0
    constraints: Mapping[str, int] = field(default_factory=dict)
    constraint_mode: str = "hard"
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [f"{self.title} of {self.n_items:,} items", self.compared]
        if self.constraints:
            counts = (
                f"{count:,} {ONE.get(name, name) if count == 1 else name}"
                for name, count in self.constraints.items()
            )
            parts.append(f"{', '.join(counts)} ({self.constraint_mode})")
        if self.params:
            parts.append(", ".join(f"{name} = {value}" for name, value in self.params.items()))
        if self.seed is not None:
            parts.append(f"Seed {self.seed}")
        return " ".join(f"{part[:1].upper()}{part[1:]}." for part in parts if part)


__all__ = ["TreeInfo"]
