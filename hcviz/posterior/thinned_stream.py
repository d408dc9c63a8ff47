"""``ThinnedStream``: a bounded, evenly spaced selection from a stream of draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ThinnedStream:
    """Every ``stride``-th draw of each chain.

    Parameters
    ----------
    capacity : int
        Largest number of draws.
    each : int
        The capacity is at least this number times the number of chains.

    Attributes
    ----------
    stride : int
        The draws whose number in their chain is a multiple of this are kept. 1 at the start.
    chain, number, value : list
        The chain, the number and the value of each kept draw.

    Notes
    -----
    When the stream is full, ``stride`` is doubled and other draws are removed. So the selection is
    deterministic. Once it has been full, at least half of the capacity is in use.
    """

    def __init__(self, capacity: int, each: int = 1) -> None:
        self.capacity = capacity
        self.each = max(each, 1)  # draw 0 of each chain is always kept
        self.chains = 0
        self.stride = 1
        self.chain: list[int] = []
        self.number: list[int] = []
        self.value: list[Any] = []

    def __len__(self) -> int:
        return len(self.value)

    def keeps(self, number: int) -> bool:
        """Return True if a draw with this number (from 0) would be kept."""
        return number % self.stride == 0

    def add(self, chain: int, number: int, value: Any) -> bool:
        """Keep ``value`` if its number is a multiple of the stride; return True if it is kept."""
        self.chains = max(self.chains, chain + 1)
        capacity = max(self.capacity, self.each * self.chains)
        while self.keeps(number) and len(self.value) >= capacity:
            self._halve()
        if not self.keeps(number):
            return False
        self.chain.append(chain)
        self.number.append(number)
        self.value.append(value)
        return True

    def expect(self, lengths: Sequence[int]) -> None:
        """Set the stride that the empty stream will have after so many draws of each chain.

        Then draws that would be removed later need not be added.
        """
        self.chains = len(lengths)
        capacity = max(self.capacity, self.each * self.chains)
        while sum(-(-length // self.stride) for length in lengths) > capacity:
            self.stride *= 2

    def _halve(self) -> None:
        self.stride *= 2
        kept = [i for i, number in enumerate(self.number) if number % self.stride == 0]
        self.chain = [self.chain[i] for i in kept]
        self.number = [self.number[i] for i in kept]
        self.value = [self.value[i] for i in kept]

    def by_chain(self) -> list[list[int]]:
        """Return the positions of each chain's draws, in their order; skip chains without draws."""
        found: dict[int, list[int]] = {}
        for position, chain in enumerate(self.chain):
            found.setdefault(chain, []).append(position)
        return [found[chain] for chain in sorted(found)]
