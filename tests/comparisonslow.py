"""Ghoshdastidar et al.'s (2019) and Perrot et al.'s (2020) definitions as plain loops, for
tests."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np


def signs(rows):
    """s(i, j; k, l) as a function of two frozensets: net answers that the first is more alike."""
    net: dict = {}
    for row in rows:
        row = row if len(row) == 4 else (row[0], row[1], row[0], row[2])
        first, second = frozenset(row[:2]), frozenset(row[2:])
        if first != second:
            net[first, second] = net.get((first, second), 0) + 1
            net[second, first] = net.get((second, first), 0) - 1
    return lambda first, second: net.get((frozenset(first), frozenset(second)), 0)


def adds4(n, rows):
    s = signs(rows)
    out = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        out[i, j] = out[j, i] = sum(s((i, j), pair) for pair in combinations(range(n), 2))
    return out


def adds3(n, rows):
    rows = [tuple(row) for row in rows]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                out[i, j] = sum(
                    rows.count((i, j, r)) - rows.count((i, r, j))
                    + rows.count((j, i, r)) - rows.count((j, r, i))
                    for r in range(n)
                    if r not in (i, j)
                )  # fmt: skip
    return out


def mulk3(n, rows):
    rows = [tuple(row) for row in rows]
    phi = np.array(
        [
            [
                rows.count((i, j, r)) - rows.count((i, r, j)) if i not in (j, r) else 0
                for j, r in combinations(range(n), 2)
            ]
            for i in range(n)
        ]
    ).reshape(n, -1)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            scale = np.count_nonzero(phi[i]) * np.count_nonzero(phi[j])
            if i != j and scale:
                out[i, j] = phi[i] @ phi[j] / np.sqrt(scale)
    return out


def mulk4(n, rows, published=False):
    """With ``published``, r runs over i and j too, and {i, i} is more alike than any pair."""
    s = signs(rows)
    out = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        total = 0
        for pair in combinations(range(n), 2):
            for r in range(n):
                if r in (i, j):
                    if published:
                        total += s((i, j), pair)  # times sgn(infinity - w_kl) = 1
                    continue
                total += s((i, r), pair) * s((j, r), pair)
        out[i, j] = out[j, i] = total
    return out


def four_al(n, rows, initial=None, possible=lambda clade, made: True):
    """Clades in the order of the merges, by equations (4) and (5) in fractions.

    Ties: the pair whose earlier cluster (by its first item) comes first, then the later.
    """
    s = signs(rows)
    clusters = [frozenset([i]) for i in range(n)] if initial is None else list(initial)
    made: list[frozenset] = []
    while len(clusters) > 1:
        clusters.sort(key=min)
        k = len(clusters)
        pairs = list(combinations(range(k), 2))

        def preference(g1, g2, g3, g4):
            total = sum(s((i, j), (a, b)) for i in g1 for j in g2 for a in g3 for b in g4)
            return Fraction(total, len(g1) * len(g2) * len(g3) * len(g4))

        best = None
        for p, q in pairs:
            w = sum(
                2 * preference(clusters[p], clusters[q], clusters[r], clusters[t]) for r, t in pairs
            ) / Fraction(k * (k - 1))
            union = clusters[p] | clusters[q]
            if possible(union, made) and (best is None or w > best[0]):
                best = (w, p, q)
        _, p, q = best
        made.append(clusters[p] | clusters[q])
        clusters = [c for i, c in enumerate(clusters) if i not in (p, q)] + [made[-1]]
    return made


def table(n, rows):
    """The dense matrix of signs, int8 (M, M)."""
    s = signs(rows)
    pairs = [(i, j) for j in range(n) for i in range(j)]
    return np.array([[s(p, q) for q in pairs] for p in pairs], np.int8).reshape(
        len(pairs), len(pairs)
    )
