"""The smallest set of answers at odds with another one: exact as far as its allowance reaches.

An answer is a few rows ab|c. What has to be found is a smallest subset S of the answers that has
no tree together with the rows ``asked``. Sets of answers whose removal leaves a tree are collected
("corrections"); S shares a member with every one of them, so a smallest set H that does so is no
larger than S. If H has no tree it *is* a smallest S; else it grows into a largest set that has one,
and what stays outside is one more correction (Ignatiev, Previti, Liffiton and Marques-Silva,
"Smallest MUS extraction with minimal hitting set dualization", CP 2015; there for clauses).

The allowance is work, not time: a session's log, played again, gives the same explanation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core import buildkernels as kernels
from hcviz.core.triplets import Triplets

Int = NDArray[np.int32]

#: The work allowed: rows looked at by BUILD, and steps of the search for H. A tenth of a second.
ALLOWANCE = 800_000
#: A BUILD costs about this many rows however few it is given; a step of the search as much as 1.
OVERHEAD = 400


@dataclass(frozen=True)
class SmallConflict:
    """``members``: indices of the answers at odds, increasing. No member can be left out.

    ``smallest``: proven, no set of fewer answers is at odds.
    """

    members: tuple[int, ...]
    smallest: bool


def smallest_conflict(
    answers: Sequence[Any], asked: Any, allowance: int = ALLOWANCE
) -> SmallConflict | None:
    """A smallest set of ``answers`` that has no tree together with ``asked``; None if all have one.

    ``answers`` are int (k, 3) arrays of ab|c rows, ``asked`` one more, which has a tree by itself.
    What is returned never has a tree, and has one without any one of its members. Within the
    allowance (0: none is spent) it is proven to be smallest; beyond, it is the smaller of what
    deletion gives from either end, and ``smallest`` is still true where a bound proves it. Of
    several of one size always the same is taken. O(k log m) BUILDs for deletion to k of m
    answers, and exponentially many in the worst case for the proof, which the allowance ends.
    """
    search = _Search([Triplets.of(each).rows for each in answers], Triplets.of(asked).rows)
    everything = range(len(answers))
    if search.agree(everything):
        return None
    proven = search.smallest(allowance)
    if proven is not None:
        return SmallConflict(proven, True)
    found = min(
        search.deleted(everything), search.deleted(reversed(everything)), key=lambda s: len(s)
    )
    return SmallConflict(found, len(found) <= search.bound)


class _Search:
    def __init__(self, answers: Sequence[Int], asked: Int) -> None:
        rows = np.concatenate([asked, *answers])
        items, local = np.unique(rows, return_inverse=True)
        self._n = max(int(items.size), 1)
        local = np.ascontiguousarray(local.reshape(-1, 3), dtype=np.int32)
        ends = np.cumsum([len(asked), *map(len, answers)])
        self._asked, *self._answers = np.split(local, ends[:-1])
        self.work = 0
        #: Every set at odds has at least this many members.
        self.bound = 0

    def agree(self, members: Iterable[int]) -> bool:
        """Whether these answers and what was asked have a tree."""
        rows = np.concatenate([self._asked, *(self._answers[each] for each in members)])
        self.work += OVERHEAD + self._n + len(rows)
        return bool(kernels.aho_tree(self._n, rows)[1].size == 0)

    def deleted(self, order: Iterable[int]) -> tuple[int, ...]:
        """A minimal set at odds: each answer, in this order, left out where that can be.

        The last answer that must stay, in the other order, ends the shortest beginning that is at
        odds together with those that stay already: O(k log m) BUILDs for a set of k.
        """
        left = list(order)[::-1]
        core: list[int] = []
        while self.agree(core):
            low, high = 0, len(left)  # the first `high` are at odds with the core
            while high - low > 1:
                middle = (low + high) // 2
                if self.agree([*core, *left[:middle]]):
                    low = middle
                else:
                    high = middle
            core.append(left[high - 1])
            left = left[: high - 1]
        return tuple(sorted(core))

    def smallest(self, allowance: int) -> tuple[int, ...] | None:
        """A smallest set at odds (all of them together are); None where the allowance is spent."""
        corrections: list[int] = []  # sets of answers as bits
        while self.work < allowance:
            hitting = self._hitting(corrections, allowance)
            if hitting is None:
                return None
            if not self.agree(hitting):
                return tuple(sorted(hitting))
            corrections.append(self._correction(hitting))
            corrections.sort(key=int.bit_count)
        return None

    def _correction(self, hitting: Sequence[int]) -> int:
        """What stays outside a largest set that has a tree and holds ``hitting``.

        By halves: O(k log(m / k)) BUILDs where k of m stay outside.
        """
        inside = list(hitting)
        outside = 0
        waiting = [[each for each in range(len(self._answers)) if each not in inside]]
        while waiting:
            part = waiting.pop()
            if not part:
                continue
            if self.agree([*inside, *part]):
                inside += part
            elif len(part) == 1:
                outside |= 1 << part[0]
            else:
                half = len(part) // 2
                waiting += [part[half:], part[:half]]
        return outside

    def _hitting(self, corrections: Sequence[int], allowance: int) -> tuple[int, ...] | None:
        """A smallest set with a member in each correction; None where the allowance is spent."""
        while self.work < allowance:
            found = self._hit(corrections, self.bound, allowance)
            if found is not None:
                return found
            if self.work < allowance:  # looked everywhere: there is none of that size
                self.bound += 1
        return None

    def _hit(self, corrections: Sequence[int], most: int, allowance: int) -> tuple[int, ...] | None:
        """One with ``most`` members or fewer, depth first; ``corrections`` smallest first."""
        waiting: list[tuple[tuple[int, ...], int]] = [((), 0)]
        while waiting and self.work < allowance:
            chosen, bits = waiting.pop()
            self.work += 1 + len(corrections)
            left = [each for each in corrections if not each & bits]
            if not left:
                return chosen
            if len(chosen) + _apart(left) > most:
                continue
            waiting += [((*chosen, each), bits | 1 << each) for each in reversed(_members(left[0]))]
        return None


def _members(bits: int) -> list[int]:
    return [place for place in range(bits.bit_length()) if bits >> place & 1]


def _apart(sets: Sequence[int]) -> int:
    """How many of them, taken greedily in their order, share no member: all need one each."""
    used = count = 0
    for each in sets:
        if not each & used:
            used |= each
            count += 1
    return count
