"""Properties of a set of triplets: equivalent trees, dependency, guarantee, redundancy.

All are from Chatziafratis et al. (2018). A triplet ab|c has the base {a, b} and the key c. Each
function takes :class:`Triplets` or int (k, 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.build import build, implies
from hcviz.core.errors import InvalidConstraint
from hcviz.core.tree import Tree
from hcviz.core.tree_triplets import triplets_of_tree
from hcviz.core.triplets import Triplets
from hcviz.core.validation import check_integer

Int = NDArray[np.int32]
Bool = NDArray[np.bool_]

# ---------------------------------------------------------------------- Proposition 1


def tree_triplets(tree: Tree) -> Int:
    """Return triplets that define ``tree`` (Proposition 1).

    Parameters
    ----------
    tree : Tree
        The tree to describe.

    Returns
    -------
    int32 (k, 3)
        Rows ab|c, children before parents. ``tree`` is their Aho tree.

    Notes
    -----
    A binary tree over n >= 3 items has n - 2 rows, one for each inner node except the root: a and
    b represent its children, and c its sibling. No other tree satisfies all rows. A node with r
    children has r - 1 rows, chained through the children; c represents the first sibling. O(n).

    References
    ----------
    Chatziafratis et al. (2018), Proposition 1.

    Examples
    --------
    >>> tree_triplets(Tree.from_newick("((0,1),2);")).tolist()
    [[0, 1, 2]]
    """
    return triplets_of_tree(tree)


def triplets_tree(n_leaves: int, triplets: Any) -> Tree:
    """Return the only binary tree that satisfies ``triplets``; inverse of :func:`tree_triplets`.

    Parameters
    ----------
    n_leaves : int
        Number of items.
    triplets : Triplets or int (k, 3)
        Rows ab|c.

    Returns
    -------
    Tree
        Heights are clade size - 1, as in :func:`hcviz.build`.

    Raises
    ------
    InconsistentTriplets
        No tree satisfies all rows.
    InvalidConstraint
        Several binary trees satisfy all rows; the message names items that are not resolved.

    Notes
    -----
    One run of BUILD, and three more for each inner node except the root.

    References
    ----------
    Chatziafratis et al. (2018), Proposition 1.

    Examples
    --------
    >>> triplets_tree(3, [[0, 1, 2]]).is_binary
    True
    """
    tree = build(n_leaves, triplets)
    sizes = np.diff(tree.children_csr[0])
    open_nodes = np.flatnonzero(sizes > 2)
    if open_nodes.size:
        three = [int(tree.leaves(int(c))[0]) for c in tree.children(int(open_nodes[0]))[:3]]
        raise InvalidConstraint(
            f"The triplets leave open how items {three[0]}, {three[1]} and {three[2]} belong "
            "together: several binary trees satisfy them.",
            "Add a triplet on these three; build() returns the tree with polytomies.",
        )
    # n - 2 triplets define a binary tree. It is the only one if the rows imply each of them.
    missing = [row for row in tree_triplets(tree) if not implies(n_leaves, triplets, row)]
    if missing:
        a, b, c = (int(x) for x in missing[0])
        raise InvalidConstraint(
            f"The triplets do not decide whether items {a} and {b} come together before {c}: "
            "several binary trees satisfy them.",
            "Add a triplet on these three; build() returns one of the trees.",
        )
    return tree


# ---------------------------------------------------------------------- dependency


@dataclass(frozen=True)
class Dependency:
    """The dependency digraph of triplets.

    Parameters
    ----------
    bases : int32 (N, 2)
        The pair {a, b} of each class, a < b, in lexicographic order.
    members : tuple of tuple of int
        For each class, the rows of its triplets; of equal triplets only the first.
    edges : int32 (e, 2)
        From class to class. The second class must be resolved before the base of the first can be
        divided.
    measures : float64 (N,)
        The dependency measure DM of each class.

    References
    ----------
    Chatziafratis et al. (2018), definition 1.

    Examples
    --------
    >>> digraph = dependency([[0, 1, 2], [1, 2, 3]])
    >>> digraph.bases.tolist(), digraph.edges.tolist(), digraph.dmc
    ([[0, 1], [1, 2]], [[0, 1]], 4.0)
    """

    bases: Int
    members: tuple[tuple[int, ...], ...]
    edges: Int
    measures: NDArray[np.float64]

    @property
    def dmc(self) -> float:
        """DMC, the largest dependency measure; 1 without triplets."""
        return float(self.measures.max(initial=1.0))

    def layers(self, number: int) -> list[list[int]]:
        """Group the classes that can be reached from a class by their longest path.

        Parameters
        ----------
        number : int
            The class, 0..N-1.

        Returns
        -------
        list of list of int
            Layer d has the classes whose longest path from this class has d edges. Layer 0 is the
            class itself.

        Raises
        ------
        InvalidConstraint
            There is no such class.

        Notes
        -----
        O(N + e).

        References
        ----------
        Chatziafratis et al. (2018), definition 2.

        Examples
        --------
        >>> dependency([[0, 1, 2], [1, 2, 3]]).layers(0)
        [[0], [1]]
        """
        check_integer(number, "The number of a class", InvalidConstraint)
        if number >= len(self.bases):
            raise InvalidConstraint(f"There is no class {number}, only 0..{len(self.bases) - 1}.")
        return _layers(_adjacency(len(self.bases), self.edges), number)


def dependency(triplets: Any) -> Dependency:
    """Compute the classes, the dependency digraph and the measures of triplets.

    Parameters
    ----------
    triplets : Triplets or int (k, 3)
        Consistent triplets.

    Returns
    -------
    Dependency
        The digraph.

    Raises
    ------
    InvalidConstraint
        The digraph has a cycle, so no tree satisfies the triplets (remark 5).

    Notes
    -----
    Triplets with the same base form a class C. There is an edge C -> C' if C has a triplet ab|c
    and the base of C' is {a, c} or {b, c}. DM(C) is the product of 1 + (number of triplets) over
    the layers reachable from C. It is 2 for a single triplet, 4 for three triplets with one base,
    and 8 for a chain of three. O(N (N + e)) for N classes.

    References
    ----------
    Chatziafratis et al. (2018), definitions 1 to 3.

    Examples
    --------
    >>> dependency([[0, 1, 2]]).dmc
    2.0
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
    """Compute the guarantee of constrained random cutting, as a share of the optimum.

    Parameters
    ----------
    n_leaves : int
        Number of items, n.
    triplets : Triplets or int (k, 3)
        Consistent triplets.
    digraph : Dependency or None
        Their :func:`dependency`; None: it is computed.

    Returns
    -------
    float
        2 (1 - k/n) / (3 DMC); 2/3 without triplets.

    Notes
    -----
    k is the number of items that occur in a triplet. The theorem says "k triplets", but its proof
    counts items.

    References
    ----------
    Chatziafratis et al. (2018), Theorem 5.

    Examples
    --------
    >>> round(dependency_guarantee(10, []), 3)
    0.667
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
            "hcviz.build() names the rows that contradict each other.",
        )


# ---------------------------------------------------------------------- useful constraints


@dataclass(frozen=True)
class Usefulness:
    """Which triplets, or constraints of several triplets, are redundant.

    Parameters
    ----------
    implied : bool (g,)
        True if the other constraints imply it.
    already : bool (g,)
        True if the tree without constraints satisfies it.

    Examples
    --------
    >>> found = usefulness(3, [[0, 1, 2]], without=Tree.from_newick("((0,1),2);"))
    >>> found.implied.tolist(), found.already.tolist(), found.useful.tolist()
    ([False], [True], [False])
    """

    implied: Bool
    already: Bool

    @property
    def useful(self) -> Bool:
        """True if neither ``implied`` nor ``already``: removing it may change the tree."""
        return ~self.implied & ~self.already


def usefulness(
    n_leaves: int,
    triplets: Any,
    without: Tree | None = None,
    constraint_of: ArrayLike | None = None,
) -> Usefulness:
    """Find the constraints that are useful, and those that are redundant.

    Parameters
    ----------
    n_leaves : int
        Number of items.
    triplets : Triplets or int (k, 3)
        Consistent triplets.
    without : Tree or None
        The method's tree without constraints; None: ``already`` is all False.
    constraint_of : int (k,) or None
        The constraint of each triplet, numbered 0..g-1: a constraint on a group of s items has
        s - 1 triplets. None: each triplet is a constraint.

    Returns
    -------
    Usefulness
        For each constraint; all its triplets must be implied, or satisfied by ``without``. Of two
        equal constraints each is implied by the other.

    Raises
    ------
    InconsistentTriplets
        No tree satisfies all triplets.
    InvalidConstraint
        ``constraint_of`` has the wrong size.

    Notes
    -----
    Three runs of BUILD for each triplet.

    References
    ----------
    Chatziafratis et al. (2018), appendix B, where redundant constraints are called "easy".

    Examples
    --------
    >>> usefulness(4, [[0, 1, 3], [1, 2, 3], [0, 2, 3]]).implied.tolist()
    [True, True, True]
    """
    known = Triplets.of(triplets, n_leaves)
    build(n_leaves, known)
    constraint = (
        np.arange(len(known))
        if constraint_of is None
        else np.asarray(constraint_of, dtype=np.int64)
    )
    if constraint.shape != (len(known),) or np.any(constraint < 0):
        raise InvalidConstraint(
            f"``constraint_of`` has shape {constraint.shape}: each of {len(known)} triplets needs "
            "the number of its constraint, 0 or more."
        )
    items, local = np.unique(known.rows, return_inverse=True)
    local = local.reshape(-1, 3)
    count = int(constraint.max(initial=-1)) + 1
    implied, already = np.ones(count, np.bool_), np.full(count, without is not None)
    for number in range(count):
        others = local[constraint != number]
        own = local[constraint == number]
        implied[number] = all(implies(items.size, others, row) for row in own)
    if without is not None:
        np.logical_and.at(already, constraint, without.satisfies(known))
    return Usefulness(implied, already)
