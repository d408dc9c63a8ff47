"""``Tree``: a rooted tree over items 0..n-1, as three frozen arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import convert
from hcviz.core import treekernels as kernels
from hcviz.core.errors import InvalidTree, TooLarge
from hcviz.core.whole import whole_number, whole_numbers

Int = NDArray[np.int32]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

#: Above this many leaves what is quadratic is refused (``lca_size``: 400 MB at 10,000).
MAX_QUADRATIC = 10_000

#: The registered invariants: (name, check) pairs, run on every algorithm's output by the tests.
INVARIANTS: list[tuple[str, Callable[[Tree], str | None]]] = []


def invariant(check: Callable[[Tree], str | None]) -> Callable[[Tree], str | None]:
    """Register ``check(tree)``: None, or a sentence that says where the tree is wrong."""
    INVARIANTS.append((check.__name__, check))
    return check


class Tree:
    """A rooted tree whose leaves are the items 0..n-1; polytomies are allowed.

    Parameters
    ----------
    parent : int32 (m,)
        Parent of each node. Leaves are nodes 0..n-1; a parent's index is larger than its
        children's; the root is last and has parent -1. Every inner node has two children or more.
    height : float64 (m,)
        0 at the leaves, not decreasing toward the root. What it measures is the method's business:
        linkage value, 1 - divergence time, clade size - 1.
    n_leaves : int
        Number of items, n; m <= 2n - 1.

    The arrays are copied and frozen. Two trees are equal when their arrays are; equality of
    *hierarchies* (same clades, any numbering) is :func:`hcviz.metrics.clade_changes`'s business.
    """

    def __init__(self, parent: ArrayLike, height: ArrayLike, n_leaves: int) -> None:
        self.parent: Int = _int32(parent, "The parents of a tree").copy()
        try:
            self.height: Float = np.array(height, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidTree("The heights of a tree must be numbers, one for each node.") from None
        self.n_leaves = whole_number(n_leaves, "n_leaves", InvalidTree, 1)
        sound = (
            self.parent.ndim == self.height.ndim == 1
            and self.parent.size > 0
            and kernels.is_sound(self.parent, self.height, self.n_leaves)
        )
        for name, check in INVARIANTS[COMPILED if sound else 0 :]:
            fault = check(self)
            if fault:
                raise InvalidTree(f"Not a tree ({name.replace('_', ' ')}): {fault}.")
        self.parent.flags.writeable = False
        self.height.flags.writeable = False

    @classmethod
    def deferred(cls, n_leaves: int, make: Callable[[], tuple[Int, Float]]) -> Tree:
        """A tree whose arrays are made, and checked, when they are first asked for.

        ``make()`` returns ``parent`` and ``height``; it must give the same whenever it is called.
        """
        tree = cls.__new__(cls)
        tree.__dict__.update(n_leaves=n_leaves, _make=make)
        return tree

    def __getattr__(self, name: str) -> Any:
        # Only for what is missing: the arrays of a deferred tree. Two threads may both make them.
        make = self.__dict__.get("_make")
        if make is not None and name in ("parent", "height"):
            self.__init__(*make(), self.n_leaves)  # type: ignore[misc]
            self.__dict__.pop("_make", None)
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(f"A Tree has no attribute {name!r}.") from None

    # Pickle and deepcopy lose `writeable=False`, and would carry the caches: rebuild instead.
    def __reduce__(self) -> tuple[Any, ...]:
        return (Tree, (self.parent, self.height, self.n_leaves))

    def __deepcopy__(self, memo: dict[int, Any]) -> Tree:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            self.n_leaves == other.n_leaves
            and np.array_equal(self.parent, other.parent)
            and np.array_equal(self.height, other.height)
        )

    def __hash__(self) -> int:
        return hash((self.n_leaves, self.parent.tobytes(), self.height.tobytes()))

    def __repr__(self) -> str:
        return f"Tree({self.n_leaves} leaves, {self.n_internal} inner nodes)"

    # ------------------------------------------------------------------ structure

    @property
    def n_nodes(self) -> int:
        return int(self.parent.size)

    @property
    def n_internal(self) -> int:
        return self.n_nodes - self.n_leaves

    @property
    def root(self) -> int:
        return self.n_nodes - 1

    @property
    def is_binary(self) -> bool:
        return self.n_nodes == 2 * self.n_leaves - 1

    @cached_property
    def size(self) -> Int:
        """Leaves below each node, int32 (m,); O(m)."""
        return _frozen(kernels.subtree_sizes(self.parent, self.n_leaves))

    @cached_property
    def depth(self) -> Int:
        """Edges up to the root, int32 (m,); O(m)."""
        return _frozen(kernels.depths(self.parent))

    @cached_property
    def children_csr(self) -> tuple[Int, Int]:
        """``(offsets (m+1,), items (m-1,))``, int32: children of v, increasing, as one slice."""
        offsets, items = kernels.children_csr(self.parent)
        return _frozen(offsets), _frozen(items)

    def children(self, node: int) -> Int:
        """The children of ``node``, increasing; empty for a leaf. O(their number)."""
        self._check_node(node)
        offsets, items = self.children_csr
        return items[offsets[node] : offsets[node + 1]]

    def _check_node(self, node: int) -> None:
        if type(node) is not int:  # the common case costs nothing
            node = whole_number(node, "A node", InvalidTree)
        if not 0 <= node < self.n_nodes:
            raise InvalidTree(f"The tree has no node {node}, only 0..{self.n_nodes - 1}.")

    @cached_property
    def leaf_start(self) -> Int:
        """Where each node's leaves begin in :attr:`leaf_order`, int32 (m,)."""
        return _frozen(kernels.first_leaf_positions(self.parent, self.size))

    @cached_property
    def leaf_order(self) -> Int:
        """The leaves in one depth-first order (children by index), int32 (n,)."""
        order = np.empty(self.n_leaves, np.int32)
        order[self.leaf_start[: self.n_leaves]] = np.arange(self.n_leaves, dtype=np.int32)
        return _frozen(order)

    def leaves(self, node: int) -> Int:
        """Items below ``node``: a view of :attr:`leaf_order`, in its order."""
        self._check_node(node)
        begin = self.leaf_start[node]
        return self.leaf_order[begin : begin + self.size[node]]

    def clades(self) -> Iterator[Int]:
        """The leaves of each inner node, in the order of their indices; views, O(1) each."""
        return (self.leaves(v) for v in range(self.n_leaves, self.n_nodes))

    @cached_property
    def _lca_table(self) -> tuple[Int, Int]:
        return kernels.lca_table(self.parent)

    def lca(self, i: ArrayLike, j: ArrayLike) -> Any:
        """Lowest common ancestor of nodes ``i`` and ``j``: an int, or int32 of their shape.

        O(1) a pair after O(m log m) once. A node is its own ancestor.
        """
        sides = (whole_numbers(side, "The nodes of lca()", InvalidTree) for side in (i, j))
        try:
            first, second = np.broadcast_arrays(*sides)
        except ValueError:
            raise InvalidTree("lca(i, j) needs as many nodes in i as in j.") from None
        for side in (first, second):
            if side.size and (side.min() < 0 or side.max() >= self.n_nodes):
                raise InvalidTree(f"lca() was asked of a node outside 0..{self.n_nodes - 1}.")
        left, right = (side.ravel().astype(np.int32, copy=False) for side in (first, second))
        found = kernels.lca_many(left, right, *self._lca_table)
        return found.reshape(first.shape) if first.ndim else int(found[0])

    def smallest_clade(self, leaves: ArrayLike) -> int:
        """The lowest node above all of ``leaves``, one or more. O(their number + depth)."""
        wanted = whole_numbers(leaves, "The leaves of smallest_clade()", InvalidTree).ravel()
        if wanted.size == 0 or wanted.min() < 0 or wanted.max() >= self.n_leaves:
            raise InvalidTree(f"smallest_clade() takes leaves, numbers in 0..{self.n_leaves - 1}.")
        start = self.leaf_start[wanted]
        lowest = int(wanted[start.argmin()])
        return int(
            kernels.holding(self.parent, self.leaf_start, self.size, lowest, int(start.max()))
        )

    def lca_size(self) -> Int:
        """|T[i,j]|: leaves of the smallest clade with i and j, int32 (n, n), 1 on the diagonal.

        Quadratic in time and memory, never cached, and refused above ``MAX_QUADRATIC`` leaves.
        """
        if self.n_leaves > MAX_QUADRATIC:
            raise TooLarge(
                f"lca_size() makes an n x n matrix, and this tree has {self.n_leaves:,} leaves "
                f"(the limit is {MAX_QUADRATIC:,}).",
                "Use tree.size[tree.lca(i, j)] for the pairs you need.",
            )
        return kernels.lca_size_matrix(
            self.parent, self.size, self.leaf_start, self.leaf_order, self.n_leaves
        )

    # ------------------------------------------------------------------ questions and derivations

    def satisfies(self, triplets: Any) -> Bool:
        """Whether each triplet ab|c holds: LCA(a,b) strictly below LCA(a,b,c). bool (m,).

        ``triplets`` is a :class:`Triplets` or anything shaped (m, 3). O(1) each.
        """
        from hcviz.core.triplets import Triplets

        rows = Triplets.of(triplets, self.n_leaves).rows
        inner = self.lca(rows[:, 0], rows[:, 1])
        outer = self.lca(inner, rows[:, 2])
        return np.asarray(inner != outer)

    def restrict(self, leaves: ArrayLike) -> Tree:
        """The induced tree on ``leaves``: leaf r of the result is item ``leaves[r]``. O(m).

        Nodes left with one child vanish; heights stay. Raises :class:`InvalidTree` for an empty
        list, a repeated or an unknown item.
        """
        return self.restrict_with_origin(leaves)[0]

    def restrict_with_origin(self, leaves: ArrayLike) -> tuple[Tree, Int]:
        """As :meth:`restrict`, and the node of this tree that each of its nodes stands for."""
        wanted = whole_numbers(leaves, "The leaves of restrict()", InvalidTree).ravel()
        if wanted.size == 0:
            raise InvalidTree("A tree cannot be restricted to no leaves.")
        if wanted.min() < 0 or wanted.max() >= self.n_leaves:
            raise InvalidTree(f"restrict() names a leaf outside 0..{self.n_leaves - 1}.")
        rank = np.full(self.n_leaves, -1, np.int32)
        rank[wanted] = np.arange(wanted.size, dtype=np.int32)
        if np.any(rank[wanted] != np.arange(wanted.size)):
            raise InvalidTree("restrict() names a leaf twice.")
        parent, origin = kernels.restrict_nodes(self.parent, rank, wanted.size)
        return Tree(parent, self.height[origin], wanted.size), origin

    # ------------------------------------------------------------------ other forms

    @classmethod
    def from_linkage(cls, linkage: ArrayLike) -> Tree:
        """From scipy's (n-1, 4) matrix: node n + i is the merge of row i.

        Heights are column 2 where it is monotone (no parent below its child, nothing negative),
        else the merge's rank 1..n-1: centroid and median linkages have inversions. Raises
        :class:`InvalidTree`, naming the row, for a height that is not finite, a cluster that is
        not there, and a fourth column that is not the count of items.
        """
        parent, height, stated = convert.read_linkage(linkage)
        tree = cls(parent, height, stated.size + 1)
        convert.check_sizes(tree.size[tree.n_leaves :], stated)
        return tree

    def to_linkage(self) -> Float:
        """Scipy's (n-1, 4) float64 matrix, by height; a polytomy is merged at equal height."""
        return convert.write_linkage(self.n_leaves, self.height, self.size, self.children)

    @classmethod
    def from_newick(cls, text: str, labels: Any = None) -> Tree:
        """From a Newick text. ``labels`` gives each item's name; without it names are 0..n-1.

        Heights come from the branch lengths (the root's greatest distance to a leaf below, less
        depth, made monotone); without lengths an inner node's height is its clade size - 1. A
        negative length, as neighbour joining gives, counts as 0. Nodes with one child vanish.
        """
        parent, height, n = convert.read_newick(text, labels)
        if n == 1:
            return cls([-1], [0.0], 1)
        return cls.with_size_heights(parent, n) if height is None else cls(parent, height, n)

    def to_newick(self, labels: Any = None) -> str:
        """Newick with branch lengths (height differences), names quoted where they must be."""
        return convert.write_newick(self.parent, self.height, self.children, self.n_leaves, labels)

    @classmethod
    def from_children(cls, children: list[list[int]], n_leaves: int) -> Tree:
        """From the children of inner nodes n, n+1, ..., bottom-up; heights clade size - 1."""
        parent = np.full(n_leaves + len(children), -1, np.int32)
        for offset, below in enumerate(children):
            parent[below] = n_leaves + offset
        return cls.with_size_heights(parent, n_leaves)

    @classmethod
    def with_size_heights(cls, parent: ArrayLike, n_leaves: int) -> Tree:
        """The convention of top-down methods: the height of a node is its clade size - 1."""
        parents = np.ascontiguousarray(_int32(parent, "The parents of a tree"))
        if np.any(parents[:-1] <= np.arange(parents.size - 1)):
            raise InvalidTree("Not a tree: a node's parent must have a larger index than the node.")
        return cls(parents, kernels.subtree_sizes(parents, n_leaves) - 1.0, n_leaves)

    @classmethod
    def star(cls, n_leaves: int) -> Tree:
        """All items under one root: the tree that claims nothing."""
        n_leaves = whole_number(n_leaves, "n_leaves", InvalidTree, 1)
        if n_leaves == 1:
            return cls([-1], [0.0], 1)
        parent = np.full(n_leaves + 1, n_leaves, np.int32)
        parent[-1] = -1
        return cls.with_size_heights(parent, n_leaves)


def _int32(values: ArrayLike, what: str) -> Int:
    whole = whole_numbers(values, what, InvalidTree)
    if whole.dtype != np.int32 and whole.size and (whole.min() < -1 or whole.max() >= 2**31):
        raise InvalidTree(f"{what} must be nodes, or -1 for the root's.")
    return whole.astype(np.int32, copy=False)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


# ---------------------------------------------------------------------- the registered invariants


@invariant
def arrays_have_the_right_shape(tree: Tree) -> str | None:
    n, m = tree.n_leaves, tree.parent.size
    if tree.parent.ndim != 1 or tree.height.shape != tree.parent.shape:
        return "parent and height must be one-dimensional and of one length"
    if n < 1 or not (m == 1 if n == 1 else n < m <= 2 * n - 1):
        return f"{n} leaves cannot have {m} nodes in all"
    return None


@invariant
def root_is_last(tree: Tree) -> str | None:
    if tree.parent[-1] != -1:
        return f"the last node must be the root, but its parent is {tree.parent[-1]}"
    return None


@invariant
def parents_come_after_children(tree: Tree) -> str | None:
    nodes = np.arange(tree.parent.size - 1)
    wrong = np.flatnonzero((tree.parent[:-1] <= nodes) | (tree.parent[:-1] >= tree.parent.size))
    if wrong.size:
        return f"node {wrong[0]} has parent {tree.parent[wrong[0]]}"
    return None


@invariant
def leaves_have_no_children(tree: Tree) -> str | None:
    wrong = np.flatnonzero(tree.parent[:-1] < tree.n_leaves)
    if wrong.size:
        return f"node {wrong[0]} hangs below leaf {tree.parent[wrong[0]]}"
    return None


@invariant
def inner_nodes_branch(tree: Tree) -> str | None:
    count = np.bincount(tree.parent[:-1], minlength=tree.parent.size)[tree.n_leaves :]
    wrong = np.flatnonzero(count < 2)
    if wrong.size:
        node = wrong[0] + tree.n_leaves
        return f"inner node {node} has {count[wrong[0]]} child(ren), and needs two or more"
    return None


@invariant
def heights_rise(tree: Tree) -> str | None:
    if not np.all(np.isfinite(tree.height)):
        return f"the height of node {np.flatnonzero(~np.isfinite(tree.height))[0]} is not finite"
    if np.any(tree.height[: tree.n_leaves] != 0):
        return f"leaf {np.flatnonzero(tree.height[: tree.n_leaves])[0]} has a height other than 0"
    wrong = np.flatnonzero(tree.height[:-1] > tree.height[tree.parent[:-1]])
    if wrong.size:
        return f"node {wrong[0]} is higher than its parent"
    return None


#: The invariants so far, the first ones, which ``treekernels.is_sound`` checks in one pass.
COMPILED = len(INVARIANTS)
