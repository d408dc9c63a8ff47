"""Find a smallest set of answers that contradicts a new answer.

An answer is a few rows ab|c. A conflict is a set of answers that no tree satisfies together with
the new rows. The search collects *corrections*: sets of answers whose removal leaves a tree. A
conflict has a member in each correction. So a smallest set H with a member in each correction (a
minimum hitting set) is at most as large as a smallest conflict. If H is a conflict, it is a
smallest one. Otherwise H is extended to a maximal set that has a tree, and the answers outside it
are a new correction. This is the algorithm of Ignatiev, Previti, Liffiton and Marques-Silva (2015),
"Smallest MUS extraction with minimal hitting set dualization", which is for clauses.

The limit of the search is a number of operations, not a time. So a session that is replayed from
its log gives the same explanation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core import buildkernels as kernels
from hcviz.core.build import BUILD_OVERHEAD, compact_rows
from hcviz.core.not_groups import NotGroup, may_have_tree
from hcviz.core.triplets import Triplets

Int = NDArray[np.int32]

#: Limit of the work: rows read by BUILD plus steps of the search for H. About 0.1 s.
WORK_LIMIT = 800_000


@dataclass(frozen=True)
class SmallestConflict:
    """A conflict with a new answer.

    Attributes
    ----------
    members : tuple of int
        Indices of the answers, increasing. Without any one of them there is no conflict.
    smallest : bool
        True if it is proven that no conflict has fewer answers.
    """

    members: tuple[int, ...]
    smallest: bool


def smallest_conflict(
    answers: Sequence[Any], new: Any, work_limit: int = WORK_LIMIT, n_items: int | None = None
) -> SmallestConflict | None:
    """Find a smallest set of answers that no tree satisfies together with the answer ``new``.

    Parameters
    ----------
    answers : sequence of int (k, 3)
        Rows of each answer: triplets ab|c, or the rows of a group (:mod:`hcviz.core.groups`). Or
        a :class:`hcviz.core.not_groups.NotGroup`.
    new : int (k, 3) or NotGroup
        The new answer, which has a tree by itself.
    work_limit : int
        Limit of the work; 0: no search.
    n_items : int, optional
        Number of items, for sets that are not groups. By default one more than all answers name.

    Returns
    -------
    SmallestConflict or None
        None if a tree satisfies all rows. Within the limit the conflict is proven to be smallest.
        Otherwise it is the smaller of two minimal conflicts, found by deletion in both orders;
        ``smallest`` is then true only if a bound proves it.

    Notes
    -----
    Deterministic. Deletion takes O(k log m) runs of BUILD for k of m answers. The proof takes
    exponentially many in the worst case, up to the limit.

    References
    ----------
    Ignatiev, Previti, Liffiton and Marques-Silva (2015).

    Examples
    --------
    >>> smallest_conflict([[[0, 1, 2]], [[3, 4, 5]]], [[0, 2, 1]]).members
    (0,)
    """
    search = ConflictSearch(answers, new, n_items)
    everything = range(len(answers))
    if search.is_consistent(everything):
        return None
    proven = search.smallest(work_limit)
    if proven is not None:
        return SmallestConflict(proven, True)
    found = min(
        search.minimal(everything), search.minimal(reversed(everything)), key=lambda s: len(s)
    )
    return SmallestConflict(found, len(found) <= search.bound)


def _rows_of(answer: Any) -> Int:
    """Return the rows of an answer; none of a NotGroup."""
    if isinstance(answer, NotGroup):
        return np.empty((0, 3), np.int32)
    rows = answer.rows if isinstance(answer, Triplets) else answer
    return np.asarray(rows, np.int32).reshape(-1, 3)


class ConflictSearch:
    """The search for conflicts; ``work`` counts what it has done."""

    def __init__(self, answers: Sequence[Any], new: Any, n_items: int | None) -> None:
        given = [new, *answers]
        parts = [_rows_of(each) for each in given]
        rows = np.concatenate(parts)
        named = [rows.max(initial=0), *(x.items[-1] for x in given if isinstance(x, NotGroup))]
        #: For NotGroup answers: the number of all items, and the rows with the items' own numbers.
        self._n_items = int(max(named)) + 2 if n_items is None else n_items
        self._given, self._parts = given, parts
        #: Work of one search for witnesses.
        self._limit = WORK_LIMIT // 8
        # One more item than the rows name changes nothing, and a group needs an item outside.
        self._n, local = compact_rows(rows, int(rows.max(initial=0)) + 2)
        ends = np.cumsum([len(part) for part in parts])
        self._new_rows, *self._answers = np.split(local, ends[:-1])
        self.work = 0
        #: Each conflict has at least this number of members.
        self.bound = 0

    def is_consistent(self, members: Iterable[int]) -> bool:
        """Return True if a tree satisfies these answers and the new one."""
        places = [0, *(each + 1 for each in members)]
        avoided = [each for k in places if isinstance(each := self._given[k], NotGroup)]
        if avoided:
            rows = np.concatenate([self._parts[k] for k in places])
            found, work = may_have_tree(self._n_items, rows, avoided, self._limit)
            self.work += work
            return found
        rows = np.concatenate([self._new_rows, *(self._answers[k - 1] for k in places[1:])])
        self.work += BUILD_OVERHEAD + self._n + len(rows)
        return bool(kernels.aho_tree(self._n, rows)[1].size == 0)

    def minimal(self, order: Iterable[int]) -> tuple[int, ...]:
        """Return a minimal conflict: delete each answer, in this order, if a conflict remains.

        By bisection: in the reverse order, the shortest prefix that conflicts with the core ends
        with an answer that must stay. O(k log m) runs of BUILD for a conflict of k answers.
        """
        left = list(order)[::-1]
        core: list[int] = []
        while self.is_consistent(core):
            low, high = 0, len(left)  # the first `high` answers conflict with the core
            while high - low > 1:
                middle = (low + high) // 2
                if self.is_consistent([*core, *left[:middle]]):
                    low = middle
                else:
                    high = middle
            core.append(left[high - 1])
            left = left[: high - 1]
        return tuple(sorted(core))

    def smallest(self, work_limit: int) -> tuple[int, ...] | None:
        """Return a smallest conflict, or None if the work limit is reached."""
        corrections: list[int] = []  # sets of answers as bits
        while self.work < work_limit:
            hitting = self._hitting_set(corrections, work_limit)
            if hitting is None:
                return None
            if not self.is_consistent(hitting):
                return tuple(sorted(hitting))
            corrections.append(self._correction(hitting))
            corrections.sort(key=int.bit_count)
        return None

    def _correction(self, hitting: Sequence[int]) -> int:
        """Extend ``hitting`` to a maximal set that has a tree; return the answers outside it.

        By bisection: O(k log(m / k)) runs of BUILD if k of m answers are outside.
        """
        inside = list(hitting)
        outside = 0
        waiting = [[each for each in range(len(self._answers)) if each not in inside]]
        while waiting:
            part = waiting.pop()
            if not part:
                continue
            if self.is_consistent([*inside, *part]):
                inside += part
            elif len(part) == 1:
                outside |= 1 << part[0]
            else:
                half = len(part) // 2
                waiting += [part[half:], part[:half]]
        return outside

    def _hitting_set(self, corrections: Sequence[int], work_limit: int) -> tuple[int, ...] | None:
        """Return a minimum hitting set of the corrections, or None at the work limit."""
        while self.work < work_limit:
            found = self._hitting_set_of_size(corrections, self.bound, work_limit)
            if found is not None:
                return found
            if self.work < work_limit:  # the search was complete: no hitting set has this size
                self.bound += 1
        return None

    def _hitting_set_of_size(
        self, corrections: Sequence[int], most: int, work_limit: int
    ) -> tuple[int, ...] | None:
        """Return a hitting set with at most ``most`` members, by depth-first search.

        ``corrections`` are sorted by size.
        """
        waiting: list[tuple[tuple[int, ...], int]] = [((), 0)]
        while waiting and self.work < work_limit:
            chosen, bits = waiting.pop()
            self.work += 1 + len(corrections)
            left = [each for each in corrections if not each & bits]
            if not left:
                return chosen
            if len(chosen) + _count_disjoint(left) > most:
                continue
            waiting += [((*chosen, each), bits | 1 << each) for each in reversed(_members(left[0]))]
        return None


def _members(bits: int) -> list[int]:
    return [place for place in range(bits.bit_length()) if bits >> place & 1]


def _count_disjoint(sets: Sequence[int]) -> int:
    """Count disjoint sets, chosen greedily: a lower bound for the size of a hitting set."""
    used = count = 0
    for each in sets:
        if not each & used:
            used |= each
            count += 1
    return count
