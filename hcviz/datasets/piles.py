"""``Pile``: cards that a participant of a card sort put together, and the participant's name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pile:
    """One pile of a card sort.

    Parameters
    ----------
    participant : str
        Who made the pile.
    name : str
        What the participant called it.
    items : tuple of int
        Its cards, in increasing order.

    Examples
    --------
    >>> Pile("Ada", "plucked", (0, 1)).name
    'plucked'
    """

    participant: str
    name: str
    items: tuple[int, ...]


__all__ = ["Pile"]
