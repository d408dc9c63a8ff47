"""Plain Python implementations of definitions in two papers, as references for ``comparisons.py``.

The papers are Ghoshdastidar et al. (2019) and Perrot et al. (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

import numpy as np

Pair = tuple[int, int]


def signs(rows: np.ndarray) -> Callable[[int, int, int, int], int]:
    """Return the function s(i, j; k, l) = 1{(i, j, k, l) in Q} - 1{(k, l, i, j) in Q}.

    Pairs have no order.
    """
    answers = {(tuple(sorted(r[:2])), tuple(sorted(r[2:]))) for r in rows.tolist()}

    def s(i: int, j: int, k: int, l: int) -> int:  # noqa: E741
        own, other = (min(i, j), max(i, j)), (min(k, l), max(k, l))
        return ((own, other) in answers) - ((other, own) in answers)

    return s


def kernel(n: int, rows: np.ndarray) -> np.ndarray:
    """Return equation (3) of Ghoshdastidar et al. (2019). It has n^5 / 4 terms."""
    s = signs(rows)
    out = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        for k, l in combinations(range(n), 2):  # noqa: E741
            for r in range(n):
                if r not in (i, j):
                    out[i, j] += s(i, r, k, l) * s(j, r, k, l)
    return out + out.T


def four_al(n: int, rows: np.ndarray) -> list[frozenset[int]]:
    """Return clusters in the order of merges, by equations (4) and (5).

    There are less than n^5 / 2 terms. Ties go to the pair with the first cluster in file order.
    """
    s = signs(rows)
    clusters = [[i] for i in range(n)]
    made = []
    while len(clusters) > 1:
        clusters.sort(key=min)
        count = len(clusters)
        best, chosen = -np.inf, (0, 1)
        for p, q in combinations(range(count), 2):
            total = 0.0
            for r in range(count):
                for t in range(count):
                    if r != t:
                        total += _preference(s, clusters[p], clusters[q], clusters[r], clusters[t])
            if total / (count * (count - 1)) > best + 1e-9:
                best, chosen = total / (count * (count - 1)), (p, q)
        p, q = chosen
        union = clusters[p] + clusters[q]
        made.append(frozenset(union))
        clusters = [c for at, c in enumerate(clusters) if at not in chosen] + [union]
    return made


def _preference(s: Callable[..., int], g1: list[int], g2: list[int], g3: list[int],
                g4: list[int]) -> float:  # fmt: skip
    total = sum(s(i, j, k, l) for i in g1 for j in g2 for k in g3 for l in g4)  # noqa: E741
    return total / (len(g1) * len(g2) * len(g3) * len(g4))


def adds3(n: int, rows: np.ndarray) -> np.ndarray:
    """Return AddS-3 of a set of triplets. It has 4 n^3 terms."""
    answers = {tuple(row) for row in rows.tolist()}
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                out[i, j] = sum(
                    ((i, j, r) in answers) - ((i, r, j) in answers)
                    + ((j, i, r) in answers) - ((j, r, i) in answers)
                    for r in range(n) if r not in (i, j)
                )  # fmt: skip
    return out


def adds4(n: int, rows: np.ndarray) -> np.ndarray:
    """Return AddS-4 of a set of quadruplets. It has n^4 / 4 terms."""
    s = signs(rows)
    out = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        out[i, j] = out[j, i] = sum(s(i, j, k, l) for k, l in combinations(range(n), 2))  # noqa: E741
    return out


class CountedQuestions:
    """Answers which of two pairs is more alike, and counts the questions."""

    def __init__(self, similarity: np.ndarray) -> None:
        self.similarity, self.questions = similarity, 0

    def more(self, first: Pair, second: Pair) -> bool:
        self.questions += 1
        return bool(self.similarity[first] > self.similarity[second])


def linkage(n: int, ask: CountedQuestions, single: bool) -> list[frozenset[int]]:
    """Return clusters of single or complete linkage (Ghoshdastidar et al. 2019, section 3.1).

    Each step merges the clusters whose most (or least) alike pair of items is the most alike. There
    are about n^3 / 3 questions.
    """
    clusters = [[i] for i in range(n)]
    made = []
    while len(clusters) > 1:
        best: tuple[Pair, int, int] | None = None
        for p, q in combinations(range(len(clusters)), 2):
            pair = _extreme([(i, j) for i in clusters[p] for j in clusters[q]], ask, single)
            if best is None or ask.more(pair, best[0]):
                best = pair, p, q
        assert best is not None
        _, p, q = best
        union = clusters[p] + clusters[q]
        made.append(frozenset(union))
        clusters = [c for at, c in enumerate(clusters) if at not in (p, q)] + [union]
    return made


def _extreme(pairs: Iterable[Pair], ask: CountedQuestions, most: bool) -> Pair:
    """Return the most (or least) alike of the pairs."""
    first, *others = pairs
    for pair in others:
        if ask.more(pair, first) == most:
            first = pair
    return first
