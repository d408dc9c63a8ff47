"""``ReviewedPiece``: a piece of a tree that a person looked at and stated nothing about."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.core.errors import InvalidConstraint


@dataclass(frozen=True)
class ReviewedPiece:
    """Found right (``accepted``) or passed over: in neither case is it a constraint.

    ``clades`` are those of the piece as it was shown, each of indices into ``items``. Raises
    :class:`InvalidConstraint`.
    """

    items: tuple[int, ...]
    clades: tuple[tuple[int, ...], ...] = ()
    accepted: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(int(item) for item in self.items))
        clades = tuple(tuple(int(place) for place in clade) for clade in self.clades)
        object.__setattr__(self, "clades", clades)
        if len(set(self.items)) < len(self.items) or min(self.items, default=0) < 0:
            raise InvalidConstraint(f"A piece is of different items, not {self.items}.")
        if not {place for clade in clades for place in clade} <= set(range(len(self.items))):
            raise InvalidConstraint(f"A clade of the piece {self.items} holds what it has not.")
