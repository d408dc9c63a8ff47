"""With data: hard triplets filter the posterior, soft ones tilt it, in both ways of the locations.

The reference is the chain without triplets, its draws weighed: by 0 or 1 where triplets are hard,
by exp(-beta * weight) of each violated one where they are soft. Compared are the shares of all 30
triplets and the root's time. Standard errors come from batches of both chains together.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations

import numba
import numpy as np
import pytest

from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import put_scale
from hcviz.algorithms.ddt.start import put_first, tree_of
from hcviz.algorithms.ddt.state import tree_from
from hcviz.algorithms.ddt.times import draw_locations
from hcviz.algorithms.ddt.work import GIVEN, PARENT, ROOT, H, U, allocate
from tests.ddtslow import LIMIT

FAST = not numba.config.DISABLE_JIT
SAMPLES = 24_000 if FAST else 600
#: Without the compiler few and long batches: their errors are rough, and the test with them.
BATCHES, MOST = (40, LIMIT) if FAST else (8, 12.0)
DATA = np.random.default_rng(3).normal(size=(5, 2))
EVERY = [row for x in combinations(range(5), 3) for row in permutations(x) if row[0] < row[1]]
WAYS = ["integrated", "gibbs"]


def walked(rows, weights, beta, latents, seed):
    """``(held (SAMPLES, 30), root times (SAMPLES,))`` of a chain of five items, sigma = c = 1."""
    rng = np.random.default_rng(seed)
    rows = np.asarray(rows, np.int32).reshape(-1, 3)
    while True:
        w = allocate(5, DATA, rows, np.asarray(weights, float), 0.1, beta)
        put_scale(w, 1.0, np.ones(2))
        put_first(w, rng, "random")
        if beta is not None or tree_of(w).satisfies(rows).all():
            break
    if latents == "gibbs":
        w.tally[GIVEN] = 1
        draw_locations(w, rng)
    held, roots, read = [], [], {}
    for _ in range(SAMPLES):
        advance(w, rng, 10, 5, False, np.ones(2), False)
        key = w.node[:, PARENT].tobytes() + np.argsort(w.time[5:, U]).tobytes()
        if key not in read:
            tree = tree_from(w.node[:, PARENT], w.time[:, U], w.time[:, H])
            read[key] = tree.satisfies(EVERY)
        held.append(read[key])
        roots.append(w.time[w.tally[ROOT], H])
    return np.array(held), np.array(roots)


@cache
def free():
    return walked([], [], None, "integrated", 1)


def compared(draws, weight):
    """Largest |z| between the chain's means and the free chain's, its draws weighed."""
    held, roots = free()
    means, errors = zip(
        batches(np.column_stack([*draws]), np.ones(SAMPLES)),
        batches(np.column_stack([held, roots]), weight(held)),
        strict=True,
    )
    return np.max(np.abs(means[0] - means[1]) / np.maximum(np.hypot(*errors), 1e-9))


def batches(values, weight, number=BATCHES):
    cut = len(values) // number * number
    parts = values[:cut].reshape(number, -1, values.shape[1])
    shares = weight[:cut].reshape(number, -1, 1)
    each = (parts * shares).sum(axis=1) / shares.sum(axis=1)
    mean = (values * weight[:, None]).sum(axis=0) / weight.sum()
    return mean, each.std(axis=0, ddof=1) / np.sqrt(number)


def place(rows):
    return [EVERY.index((*sorted(row[:2]), row[2])) for row in rows]


@pytest.mark.parametrize("latents", WAYS)
@pytest.mark.parametrize(
    "rows", [[(0, 1, 2)], [(0, 1, 2), (3, 4, 0)], [(2, 3, 4), (0, 2, 4)]], ids=str
)
def test_hard_triplets_filter_the_posterior(rows, latents):
    draws = walked(rows, np.ones(len(rows)), None, latents, 5)
    assert draws[0][:, place(rows)].all()
    kept = free()[0][:, place(rows)].all(axis=1)
    assert 0.05 < kept.mean() < 0.95  # neither nothing to compare with nor nothing to filter
    assert compared(draws, lambda held: held[:, place(rows)].all(axis=1).astype(float)) < MOST


@pytest.mark.parametrize("latents", WAYS)
def test_soft_triplets_tilt_the_posterior_by_their_weights(latents):
    """Two of them contradict each other; a weight counts as so many votes."""
    rows = [(0, 1, 2), (0, 2, 1), (1, 2, 3), (3, 4, 0)]
    weights, beta = np.array([0.3, 1.7, 2.5, 0.8]), 0.6

    def tilt(held):
        return np.exp(-beta * (~held[:, place(rows)] @ weights))

    draws = walked(rows, weights, beta, latents, 2)
    assert compared(draws, tilt) < MOST
    assert compared(draws, lambda held: np.ones(len(held))) > 2 * LIMIT or not FAST  # it can fail
