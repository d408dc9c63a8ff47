"""The two trees of card sorts: actual agreement and best merge. See docs/card-sorts.md.

Both are known from services for card sorting. Their documents describe what the numbers mean, and
leave some choices open, such as ties. The docstrings here define all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import param
from numpy.typing import NDArray

from hcviz.algorithms.base import Algorithm, NoParameters
from hcviz.core.build import build, build_guided
from hcviz.core.heights import Heights
from hcviz.core.piles import Pile, membership, participants_of, pile_similarity
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree

Float = NDArray[np.float64]
Snapshots = Iterator[Snapshot | None]

AGREEMENT = Heights("participants with the group on one pile (%)", "On one pile", True)
LEAST_PAIR = Heights("participants with its least pair on one pile (%)", "Least pair", True)
#: The mean share of two groups decides only between equal least shares.
TIE = 1e-9


def run_actual_agreement(
    problem: Problem, params: param.Parameterized, rng: np.random.Generator, start: Any
) -> Snapshots:
    """Build the tree of the piles that most participants agree with.

    The supporters of a set of cards are the participants who have all of them on one pile. The
    candidates are the piles themselves, without single cards. Those with the most supporters are
    taken first. Ties: the larger pile, then the one with the lower card numbers. A candidate is
    left out if it overlaps a taken one and neither contains the other. The taken piles are the
    groups of the tree, which has polytomies where no pile says more.

    A group is as high as 1 minus the share of its supporters among all participants. A participant
    who did not sort one of its cards is no supporter. Constraints are hard: the tree is
    repaired (:func:`hcviz.core.build.build_guided`), and its heights are computed again.

    O(p^2 s) for p different piles of s cards. Raises :class:`InconsistentTriplets` before it
    yields anything.
    """
    build(problem.n_items, problem.triplets, problem.groups)  # raises InconsistentTriplets
    return _actual_agreement(problem)


def _actual_agreement(problem: Problem) -> Snapshots:
    piles, n = problem.piles, problem.n_items
    taken: list[frozenset[int]] = []
    counts = _supporters(piles, n)
    for items in sorted(counts, key=lambda each: (-counts[each], -len(each), sorted(each))):
        if all(items <= other or other <= items or not items & other for other in taken):
            taken.append(items)
        yield None
    tree = _with_heights(_nested(taken, n), n, lambda items: _share(piles, items, n))
    if problem.n_constraints:
        tree = build_guided(tree, problem.triplets, problem.groups)
        tree = _with_heights(tree, n, lambda items: _share(piles, items, n))
    yield Snapshot(tree, 1, 1)


def _supporters(piles: Sequence[Pile], n: int) -> dict[frozenset[int], int]:
    """Return the number of supporters of each different pile of two cards or more."""
    mine = membership(piles, n)
    owner = np.unique([pile.participant for pile in piles], return_inverse=True)[1]
    sizes = np.array([len(pile.items) for pile in piles])
    known: dict[frozenset[int], int] = {}
    for k, pile in enumerate(piles):
        items = frozenset(pile.items)
        if len(items) > 1 and items not in known:
            shared = np.asarray(mine.T[:, pile.items].sum(axis=1)).ravel()
            known[items] = len(np.unique(owner[shared == sizes[k]]))
    return known


def _nested(groups: Sequence[frozenset[int]], n: int) -> Tree:
    """Return the tree of groups of which each two are nested or disjoint."""
    top = list(range(n))  # the topmost node so far that contains each item
    parents: list[list[int]] = []
    ordered = sorted({*groups, frozenset(range(n))}, key=lambda each: (len(each), sorted(each)))
    for items in ordered if n > 1 else ():
        parents.append(sorted({top[item] for item in items}))
        for item in items:
            top[item] = n + len(parents) - 1
    return Tree.from_children(parents, n)


def _with_heights(tree: Tree, n: int, share: Any) -> Tree:
    """Return the tree with the height 1 - share(items) for each inner node."""
    height = np.zeros(tree.n_nodes)
    for node in range(n, tree.n_nodes):
        height[node] = 1.0 - share(tree.leaves(node))
    for node in range(tree.n_nodes - 1):  # rounding errors may not lower a parent
        parent = tree.parent[node]
        height[parent] = max(height[parent], height[node])
    return Tree(tree.parent, height, n)


def _share(piles: Sequence[Pile], items: Any, n: int) -> float:
    """Return the share of participants who have all these cards on one pile."""
    wanted = set(np.asarray(items).tolist())
    found = {pile.participant for pile in piles if wanted <= set(pile.items)}
    return len(found) / len(participants_of(piles))


def run_best_merge(
    problem: Problem, params: param.Parameterized, rng: np.random.Generator, start: Any
) -> Snapshots:
    """Merge the two groups whose least agreed pair of cards has the greatest share.

    The share of a pair is that of :func:`hcviz.core.piles.pile_similarity`: of the participants who
    sorted both cards, those with both on one pile. It is complete linkage of these shares. Ties:
    the greater mean share of the pairs across, then the group with the lowest card number, then
    the other one. A group is as high as 1 minus the least share of two of its cards.

    Services for card sorting use the name and publish no formula. Their documents say that it
    completes groups from pairs of cards; complete linkage (Sorensen 1948) is hcviz's reading of it.
    Actual agreement is named in the same documents. docs/card-sorts.md lists the literature.

    Constraints are hard: the tree is repaired (:func:`hcviz.core.build.build_guided`), and its
    heights are computed again. Usually O(n^2), at worst O(n^3). Raises
    :class:`InconsistentTriplets` before it yields anything.
    """
    build(problem.n_items, problem.triplets, problem.groups)  # raises InconsistentTriplets
    return _best_merge(problem)


def _best_merge(problem: Problem) -> Snapshots:
    n = problem.n_items
    if n == 1:
        yield Snapshot(Tree.star(1), 1, 1)
        return
    share = pile_similarity(problem.piles, n)[0]
    merges: list[list[int]] = []
    for pair in _merges(share):
        merges.append(pair)
        yield None

    def least(items: Any) -> float:
        return float(share[np.ix_(items, items)].min())

    tree = _with_heights(Tree.from_children(merges, n), n, least)
    if problem.n_constraints:
        tree = build_guided(tree, problem.triplets, problem.groups)
        tree = _with_heights(tree, n, least)
    yield Snapshot(tree, 1, 1)


def _merges(share: Float) -> Iterator[list[int]]:
    """Yield the two nodes of each merge. A group is kept at the place of its lowest card."""
    n = len(share)
    least, total, size = share.copy(), share.copy(), np.ones(n)
    node = np.arange(n)
    key = np.full((n, n), -np.inf)  # of the pairs with the lower place first
    upper = np.triu_indices(n, 1)
    key[upper] = least[upper] + TIE * total[upper]
    best = key.argmax(axis=1)
    value = key[np.arange(n), best]
    for step in range(n - 1):
        a = int(value.argmax())
        b = int(best[a])
        yield [int(node[a]), int(node[b])]
        node[a] = n + step
        np.minimum(least[a], least[b], out=least[a])
        total[a] += total[b]
        least[:, a], total[:, a] = least[a], total[a]
        size[a] += size[b]
        size[b] = 0.0
        alive = np.flatnonzero(size)
        alive = alive[alive != a]
        fresh = least[a, alive] + TIE * total[a, alive] / (size[a] * size[alive])
        before = alive < a
        key[alive[before], a] = fresh[before]
        key[a, alive[~before]] = fresh[~before]
        key[b, :] = key[:, b] = -np.inf
        value[b] = -np.inf
        stale = np.flatnonzero(((best == a) | (best == b)) & (size > 0))
        for row in {a, *stale.tolist()}:
            best[row] = key[row].argmax()
            value[row] = key[row, best[row]]
        nearer = alive[before][key[alive[before], a] > value[alive[before]]]
        best[nearer], value[nearer] = a, key[nearer, a]


ALGORITHMS = (
    Algorithm(
        name="actual-agreement",
        title="Actual agreement",
        paper="",
        run=run_actual_agreement,
        needs=("piles",),
        triplets="hard",
        reads_groups=True,
        runs="process",
        params=NoParameters,
        summary="Keeps the piles of a card sort that most participants agree with. Best for groups "
        "that participants made themselves.",
        how_it_works="Every pile of the card sort is a possible group. The method counts the "
        "participants who have all cards of a pile on one pile. It takes the piles with the most "
        "such participants first. A pile that cuts through a pile taken before is left out. The "
        "taken piles, nested in each other, are the tree.",
        heights=AGREEMENT,
    ),
    Algorithm(
        name="best-merge",
        title="Best merge",
        paper="",
        run=run_best_merge,
        needs=("piles",),
        triplets="hard",
        reads_groups=True,
        runs="process",
        params=NoParameters,
        summary="Merges the cards of a card sort by the least agreed pair of each group. Best for "
        "few participants; its larger groups are guesses, which no participant may have made.",
        how_it_works="For each two cards, the method computes the share of participants who put "
        "them on one pile. Each card begins as a group of its own. The two groups whose least "
        "agreed pair has the greatest share merge. This repeats until one group is left. So every "
        "pair in a group has at least the share at which it was formed.",
        heights=LEAST_PAIR,
    ),
)
