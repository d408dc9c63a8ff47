"""``Thinned``: a bounded, evenly spaced selection of an endless stream."""

from __future__ import annotations

from typing import Any


class Thinned:
    """Every ``stride``-th draw of each chain, ``capacity`` draws at most, or ``each`` a chain (one,
    if nothing is said) where that is more: however many share it, each has enough to be judged by.

    ``stride`` begins at 1. When there is no room for one more it is doubled, and of what is held
    only the draws whose number within their chain is a multiple of it stay. What is kept depends
    on the numbers alone, not on chance: between half of the capacity and all of it once it has been
    full.
    """

    def __init__(self, capacity: int, each: int = 1) -> None:
        self.capacity = capacity
        self.each = max(each, 1)  # every chain's draw 0 stays: no stride would make room for one
        self.chains = 0
        self.stride = 1
        self.chain: list[int] = []
        self.number: list[int] = []
        self.value: list[Any] = []

    def __len__(self) -> int:
        return len(self.value)

    def wants(self, number: int) -> bool:
        """Whether a chain's draw of this number (from 0) would be kept."""
        return number % self.stride == 0

    def add(self, chain: int, number: int, value: Any) -> bool:
        """Keep ``value`` if its turn has come; whether it was kept."""
        self.chains = max(self.chains, chain + 1)
        room = max(self.capacity, self.each * self.chains)
        while self.wants(number) and len(self.value) >= room:
            self._halve()
        if not self.wants(number):
            return False
        self.chain.append(chain)
        self.number.append(number)
        self.value.append(value)
        return True

    def _halve(self) -> None:
        self.stride *= 2
        kept = [i for i, number in enumerate(self.number) if number % self.stride == 0]
        self.chain = [self.chain[i] for i in kept]
        self.number = [self.number[i] for i in kept]
        self.value = [self.value[i] for i in kept]

    def by_chain(self) -> list[list[int]]:
        """Positions of each chain's draws, in their order; chains without any are left out."""
        found: dict[int, list[int]] = {}
        for position, chain in enumerate(self.chain):
            found.setdefault(chain, []).append(position)
        return [found[chain] for chain in sorted(found)]
