"""``ReviewedPiece``: a piece of a tree that a person accepted or skipped."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.core.errors import InvalidConstraint


@dataclass(frozen=True)
class ReviewedPiece:
    """A piece that the person found right (``accepted``) or skipped. It is not a constraint.

    ``clades`` are those of the piece as shown, as indices into ``items``.

    Raises
    ------
    InvalidConstraint
        If items repeat, or a clade has an unknown index.
    """

    items: tuple[int, ...]
    clades: tuple[tuple[int, ...], ...] = ()
    accepted: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(int(item) for item in self.items))
        clades = tuple(tuple(int(place) for place in clade) for clade in self.clades)
        object.__setattr__(self, "clades", clades)
        if len(set(self.items)) < len(self.items) or min(self.items, default=0) < 0:
            raise InvalidConstraint(f"The items of a piece must differ, not {self.items}.")
        if not {place for clade in clades for place in clade} <= set(range(len(self.items))):
            raise InvalidConstraint(f"A clade of the piece {self.items} has an unknown index.")
