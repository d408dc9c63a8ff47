"""What a set of triplets is worth: equivalent trees, dependency, guarantee, redundancy
(Chatziafratis et al. 2018).

A triplet ab|c has the base {a, b} and the key c. Everything here takes a :class:`Triplets` or
anything shaped (k, 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.build import build, implies
from hcviz.core.errors import InvalidConstraint
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.core.validation import check_integer

Int = NDArray[np.int32]
Bool = NDArray[np.bool_]

# ---------------------------------------------------------------------- Proposition 1


def tree_triplets(tree: Tree) -> Int:
    """Triplets that say the same as ``tree`` (proposition 1): int32 (k, 3), deepest first.

    For a binary tree over n >= 3 items exactly n - 2, one for each inner node but the root: a and b
    represent its children, c its sibling; every tree that satisfies them all is this one. A node
    with r children gets r - 1 (chained through them), a polytomy's sibling is the first one; then
    the tree is the Aho tree of the triplets, which others refine. O(n).
    """
    label = np.empty(tree.n_nodes, np.int32)  # the least item below
    label[: tree.n_leaves] = np.arange(tree.n_leaves)
    rows = []
    for v in range(tree.n_leaves, tree.n_nodes):
        below = label[tree.children(v)]
        label[v] = below.min()
        if v != tree.root:
            beside = tree.children(int(tree.parent[v]))
            c = int(beside[0] if beside[0] != v else beside[1])
            outside = tree.leaf_order[tree.leaf_start[c]]
            rows += [(a, b, outside) for a, b in pairwise(below)]
    return np.array(rows, np.int32).reshape(-1, 3)


def triplets_tree(n_leaves: int, triplets: Any) -> Tree:
    """The one binary tree that satisfies ``triplets``: the way back of proposition 1.

    Raises :class:`InconsistentTriplets` where there is none, and :class:`InvalidConstraint` where
    there are several, naming items that the triplets leave open.
    """
    tree = build(n_leaves, triplets)
    sizes = np.diff(tree.children_csr[0])
    open_nodes = np.flatnonzero(sizes > 2)
    if open_nodes.size:
        three = [int(tree.leaves(int(c))[0]) for c in tree.children(int(open_nodes[0]))[:3]]
        raise InvalidConstraint(
            f"The triplets leave open how items {three[0]}, {three[1]} and {three[2]} belong "
            "together: several binary trees satisfy them.",
            "Add a triplet on these three; build() gives the tree with such places left open.",
        )
    # A binary tree stands for its n - 2 triplets: no other fits iff each of them follows.
    missing = [row for row in tree_triplets(tree) if not implies(n_leaves, triplets, row)]
    if missing:
        a, b, c = (int(x) for x in missing[0])
        raise InvalidConstraint(
            f"The triplets do not decide whether items {a} and {b} come together before {c}: "
            "several binary trees satisfy them.",
            "Add a triplet on these three; build() gives one of the trees.",
        )
    return tree


# ---------------------------------------------------------------------- dependency


@dataclass(frozen=True)
class Dependency:
    """The dependency digraph of Chatziafratis et al. (2018), definition 1, and what follows from
    it.

    ``bases`` int32 (N, 2): the pair {a, b} of each class, a < b, in lexicographic order.
    ``members``: for each class the rows of its triplets; of equal ones the first.
    ``edges`` int32 (e, 2), from class to class: the second must be resolved before the first's base
    can be parted. ``measures`` float64 (N,): DM of each class.
    """

    bases: Int
    members: tuple[tuple[int, ...], ...]
    edges: Int
    measures: NDArray[np.float64]

    @property
    def dmc(self) -> float:
        """DMC, the largest measure of a class; 1 without triplets."""
        return float(self.measures.max(initial=1.0))

    def layers(self, number: int) -> list[list[int]]:
        """The classes reachable from class ``number``, by the longest path from it (def. 2)."""
        check_integer(number, "The number of a class", InvalidConstraint)
        if number >= len(self.bases):
            raise InvalidConstraint(f"There is no class {number}, only {len(self.bases)} of them.")
        return _layers(_adjacency(len(self.bases), self.edges), number)


def dependency(triplets: Any) -> Dependency:
    """Classes, digraph and measures of a set of triplets (Chatziafratis et al. 2018, definitions 1
    to 3).

    Triplets with one base form a class C. There is an edge C -> C' if for some ab|c of C the base
    of C' is {a, c} or {b, c}. DM(C) is the product over the layers l of what is reachable from C of
    1 + the triplets in layer l: a single triplet has 2, three on one base 4, a chain of three 8.

    Feasible triplets have an acyclic digraph (remark 5); :class:`InvalidConstraint` for a cycle.
    O(N (N + e)) for N classes.
    """
    rows = Triplets.of(triplets).rows
    seen: dict[tuple[int, int], dict[int, int]] = {}  # base -> key -> first row
    for row, (a, b, c) in enumerate(rows.tolist()):
        seen.setdefault((min(a, b), max(a, b)), {}).setdefault(c, row)
    bases = sorted(seen)
    number = {base: i for i, base in enumerate(bases)}
    edges = set()
    for (a, b), keys in seen.items():
        for c in keys:
            for x in (a, b):
                other = (min(x, c), max(x, c))
                if other in number:
                    edges.add((number[a, b], number[other]))
    pairs = np.array(sorted(edges), np.int32).reshape(-1, 2)
    below = _adjacency(len(bases), pairs)
    _refuse_cycle(below, bases)
    count = [len(seen[base]) for base in bases]
    measures = [
        float(np.prod([1.0 + sum(count[i] for i in layer) for layer in _layers(below, start)]))
        for start in range(len(bases))
    ]
    return Dependency(
        np.array(bases, np.int32).reshape(-1, 2),
        tuple(tuple(seen[base].values()) for base in bases),
        pairs,
        np.array(measures, np.float64),
    )


def dependency_guarantee(n_leaves: int, triplets: Any, digraph: Dependency | None = None) -> float:
    """What constrained random cutting reaches in expectation, as a share of the optimum.

    2 (1 - k/n) / (3 DMC), theorem 5. k is the number of items that some triplet names: the proof
    counts the points *not* involved in any, of which the theorem's wording, "k triplets", would
    have too many. Without triplets 2/3. ``digraph`` is their :func:`dependency`, where it is known.
    """
    n = check_integer(n_leaves, "n_leaves", InvalidConstraint, 1)
    known = Triplets.of(triplets, n)
    dmc = (dependency(known) if digraph is None else digraph).dmc
    return 2.0 * (1.0 - np.unique(known.rows).size / n) / (3.0 * dmc)


def _adjacency(count: int, edges: Int) -> list[list[int]]:
    below: list[list[int]] = [[] for _ in range(count)]
    for i, j in edges.tolist():
        below[i].append(j)
    return below


def _layers(below: list[list[int]], start: int) -> list[list[int]]:
    """Classes by the longest path from ``start``, which is acyclic from there."""
    reached, waiting = {start}, [start]
    while waiting:
        for j in below[waiting.pop()]:
            if j not in reached:
                reached.add(j)
                waiting.append(j)
    above = dict.fromkeys(reached, 0)
    for i in reached:
        for j in below[i]:
            above[j] += 1
    depth = dict.fromkeys(reached, 0)
    free = [start]
    while free:  # in topological order
        i = free.pop()
        for j in below[i]:
            depth[j] = max(depth[j], depth[i] + 1)
            above[j] -= 1
            if above[j] == 0:
                free.append(j)
    layers: list[list[int]] = [[] for _ in range(max(depth.values()) + 1)]
    for i in sorted(reached):
        layers[depth[i]].append(i)
    return layers


def _refuse_cycle(below: list[list[int]], bases: list[tuple[int, int]]) -> None:
    above = np.zeros(len(below), int)
    for targets in below:
        above[targets] += 1
    free = [i for i in range(len(below)) if above[i] == 0]
    left = len(below)
    while free:
        left -= 1
        for j in below[free.pop()]:
            above[j] -= 1
            if above[j] == 0:
                free.append(j)
    if left:
        a, b = bases[int(np.flatnonzero(above > 0)[0])]
        raise InvalidConstraint(
            f"The triplets depend on each other in a circle, at items {a} and {b}: no tree "
            "satisfies them.",
            "hcviz.build() names the rows that are at odds.",
        )


# ---------------------------------------------------------------------- which ones are useful


@dataclass(frozen=True)
class Usefulness:
    """For each triplet or statement: does it follow from the others, is it true without any?"""

    implied: Bool
    already: Bool

    @property
    def useful(self) -> Bool:
        """Neither: dropping it may change the tree."""
        return ~self.implied & ~self.already


def usefulness(
    n_leaves: int, triplets: Any, without: Tree | None = None, said: ArrayLike | None = None
) -> Usefulness:
    """Which constraints are useful (Chatziafratis et al. 2018, appendix B: "easy" ones are not).

    ``implied``: every tree that satisfies the other rows satisfies this one (so does each of two
    equal rows). ``already``: ``without``, the method's tree under no triplets, satisfies it; all
    false if there is none given. ``said``, int (k,), numbers statements 0..g-1 of one or more rows
    each (``A together before x`` has |A| - 1): what follows is then of statements, bool (g,), all
    of whose rows must be implied by the rows of others, or hold already. Raises
    :class:`InconsistentTriplets`, and :class:`InvalidConstraint` for a ``said`` of another size.
    Three BUILDs over the named items a row.
    """
    known = Triplets.of(triplets, n_leaves)
    build(n_leaves, known)
    told = np.arange(len(known)) if said is None else np.asarray(said, dtype=np.int64)
    if told.shape != (len(known),) or np.any(told < 0):
        raise InvalidConstraint(
            f"``said`` has shape {told.shape}: each of {len(known)} triplets needs the number of "
            "its statement, 0 or more."
        )
    items, local = np.unique(known.rows, return_inverse=True)
    local = local.reshape(-1, 3)
    count = int(told.max(initial=-1)) + 1
    implied, already = np.ones(count, np.bool_), np.full(count, without is not None)
    for number in range(count):
        others = local[told != number]
        own = local[told == number]
        implied[number] = all(implies(items.size, others, row) for row in own)
    if without is not None:
        np.logical_and.at(already, told, without.satisfies(known))
    return Usefulness(implied, already)
