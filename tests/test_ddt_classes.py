"""The constrained chain against the law filtered by rejection, for every class of triplet set.

What a set of triplets asks for is the set of trees that satisfy all of it. Up to the names of the
items there are 6 such sets of trees on four leaves and 27 on five (all trees among them). Each is
asked for by as few triplets as do, and by all that follow from these.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations

import numba
import numpy as np
import pytest
from scipy import stats

from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.work import PARENT, SLIDES, U
from tests.ddtslow import LIMIT, MOVES, chain, law, nested, z_score
from tests.trees import all_trees

SAMPLES = 80 if numba.config.DISABLE_JIT else 4_000
#: Batches of draws for a standard error; a batch is longer than the chain's memory.
BATCHES = 8 if numba.config.DISABLE_JIT else 40


@cache
def trees_of(n):
    return list(all_trees(n, binary=True))


@cache
def rows_of(n):
    three = combinations(range(n), 3)
    return [row for items in three for row in permutations(items) if row[0] < row[1]]


@cache
def classes(n):
    """One closed set of triplets of each class, as a tuple of rows; () is the empty one.

    Begin with no triplet, add one at a time, close: every consistent set is reached.
    """
    rows = rows_of(n)
    held = np.array([tree.satisfies(rows) for tree in trees_of(n)])  # (trees, rows)
    number = {row: i for i, row in enumerate(rows)}
    renamed = [
        [number[(*sorted((p[a], p[b])), p[c])] for a, b, c in rows] for p in permutations(range(n))
    ]
    found = {}
    todo = [frozenset()]
    while todo:
        chosen = todo.pop()
        allowed = held[:, sorted(chosen)].all(axis=1)
        closed = np.flatnonzero(held[allowed].all(axis=0))
        name = min(tuple(sorted(names[i] for i in closed)) for names in renamed)
        if name in found:
            continue
        found[name] = tuple(rows[i] for i in name)
        allowed = held[:, list(name)].all(axis=1)
        for i in np.flatnonzero(held[allowed].any(axis=0)):
            if i not in name:
                todo.append(frozenset((*name, int(i))))
    return sorted(found.values(), key=lambda rows: (len(rows), rows))


def fewest(n, closed):
    """A subset that no triplet can leave without more trees being allowed."""
    held = np.array([tree.satisfies(rows_of(n)) for tree in trees_of(n)])
    number = {row: i for i, row in enumerate(rows_of(n))}
    kept = [number[row] for row in closed]
    allowed = held[:, kept].all(axis=1).sum()
    for row in list(kept):
        rest = [r for r in kept if r != row]
        if held[:, rest].all(axis=1).sum() == allowed:
            kept = rest
    return [rows_of(n)[i] for i in kept]


def test_there_are_6_and_27_classes():
    assert [len(classes(n)) for n in (3, 4, 5)] == [2, 6, 27]


@cache
def shape(tree):
    return nested(chain(tree, np.random.default_rng(0), dims=0))


CASES = [(n, i) for n, count in ((4, 6), (5, 27)) for i in range(count)]


@pytest.mark.parametrize("moves", ["both", "slides"])
@pytest.mark.parametrize("full", [False, True], ids=["fewest", "closure"])
@pytest.mark.parametrize(("n", "index"), CASES)
def test_the_constrained_chain_has_the_filtered_law(n, index, full, moves):
    """Shares of all allowed trees; those too rare to count (expected < 20) are taken together."""
    closed = classes(n)[index]
    if full and len(closed) == len(fewest(n, closed)):
        return  # the same set: seen already
    rows = closed if full else fewest(n, closed)
    kept = {shape(t): law(frozenset(range(n)))[shape(t)] for t in trees_of(n) if held(t, rows)}
    mass = sum(kept.values())
    start = next(t for t in trees_of(n) if held(t, rows))
    rng = np.random.default_rng(100 * n + index)
    w = chain(start, rng, dims=0, triplets=rows, statements=index % 2 == 1)
    w.tally[SLIDES] = MOVES[moves]
    shapes = walked(w, rng, n)
    assert set(shapes) <= set(kept), "every state satisfies every triplet"
    rare = {s for s, p in kept.items() if float(p / mass) * len(shapes) < 20}
    expected = {s: float(p / mass) for s, p in kept.items() if s not in rare}
    expected["rare"] = sum(float(kept[s] / mass) for s in rare)
    seen = ["rare" if s in rare else s for s in shapes]
    # some 3,000 comparisons over all classes: half a standard error more than elsewhere
    scores = [
        z_score([x == s for x in seen], p, BATCHES) for s, p in expected.items() if 0 < p < 1 - 1e-9
    ]
    # With few batches a score is Student's: the same tail probability.
    most = stats.t.isf(stats.norm.sf(LIMIT + 0.5), BATCHES - 1)
    assert np.max(np.abs(scores), initial=0.0) < most
    if SAMPLES > 1000:
        assert set(shapes) >= set(kept) - rare


def held(tree, rows):
    return not len(rows) or bool(tree.satisfies(rows).all())


def walked(w, rng, n):
    """Shapes after every 8 proposals and a sweep of the times; each topology is read once."""
    nothing = np.empty(0)
    read = {}
    out = []
    for _ in range(SAMPLES):
        advance(w, rng, 8, 8, False, nothing, False)
        key = w.node[:, PARENT].tobytes() + np.argsort(w.time[n:, U]).tobytes()
        if key not in read:
            read[key] = nested(w)
        out.append(read[key])
    return out
