"""``Tree``: a rooted tree over the items 0..n-1, stored as read-only arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import convert
from hcviz.core import treekernels as kernels
from hcviz.core.arrays import FloatM, IntList, IntM, IntN, Parents
from hcviz.core.errors import InvalidTree, TooLarge
from hcviz.core.tree_views import TreeViews
from hcviz.core.validation import check_integer, check_integers

Int = NDArray[np.int32]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

#: The largest number of leaves for quadratic results (``lca_size``: 400 MB at 10,000).
MAX_QUADRATIC = 10_000

#: The invariants of a tree as (name, check) pairs. The tests check the output of every method.
INVARIANTS: list[tuple[str, Callable[[Tree], str | None]]] = []


def invariant(check: Callable[[Tree], str | None]) -> Callable[[Tree], str | None]:
    """Register an invariant; ``check(tree)`` returns None, or a description of the fault."""
    INVARIANTS.append((check.__name__, check))
    return check


class Tree(TreeViews):
    """A rooted tree whose leaves are the items 0..n-1; polytomies are allowed.

    Parameters
    ----------
    parent : int32 (m,)
        Parent of each node. Leaves are nodes 0..n-1; the index of a parent is larger than those of
        its children; the root is last and has the parent -1. Inner nodes have at least two
        children.
    height : float64 (m,)
        0 at the leaves, not decreasing toward the root. The method defines its meaning, such as
        linkage value, 1 - divergence time, or clade size - 1.
    n_leaves : int
        Number of items, n; m <= 2n - 1.

    Raises
    ------
    InvalidTree
        The arrays do not describe a tree; the message names the node.

    Notes
    -----
    The arrays are copied and made read-only. Two trees are equal if their arrays are equal. Use
    :func:`hcviz.metrics.clade_changes` to compare clades, whatever the numbers of the nodes.

    Examples
    --------
    >>> tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3)
    >>> tree.leaves(3).tolist(), tree.lca(0, 2)
    ([0, 1], 4)
    """

    def __init__(self, parent: ArrayLike, height: ArrayLike, n_leaves: int) -> None:
        self.parent: Parents = _int32(parent, "The parents of a tree").copy()
        try:
            self.height: FloatM = np.array(height, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidTree("The heights of a tree must be numbers, one for each node.") from None
        self.n_leaves = check_integer(n_leaves, "n_leaves", InvalidTree, 1)
        valid = (
            self.parent.ndim == self.height.ndim == 1
            and self.parent.size > 0
            and kernels.is_valid_tree(self.parent, self.height, self.n_leaves)
        )
        for name, check in INVARIANTS[N_COMPILED if valid else 0 :]:
            problem = check(self)
            if problem:
                raise InvalidTree(f"Not a tree ({name.replace('_', ' ')}): {problem}.")
        self.parent.flags.writeable = False
        self.height.flags.writeable = False

    @classmethod
    def deferred(cls, n_leaves: int, make: Callable[[], tuple[Int, Float]]) -> Tree:
        """Create a tree whose arrays are computed and checked on first access.

        Parameters
        ----------
        n_leaves : int
            Number of items.
        make : callable
            ``make()`` returns ``parent`` and ``height``, the same ones in each call.

        Returns
        -------
        Tree
            Its ``n_leaves`` is known at once. The first access to an array can raise InvalidTree.

        Examples
        --------
        >>> tree = Tree.deferred(2, lambda: ([2, 2, -1], [0.0, 0.0, 1.0]))
        >>> tree.root
        2
        """
        tree = cls.__new__(cls)
        tree.__dict__.update(n_leaves=n_leaves, _make=make)
        return tree

    def __getattr__(self, name: str) -> Any:
        # Python calls this for missing attributes only: the arrays of a deferred tree. Two threads
        # may both compute them.
        make = self.__dict__.get("_make")
        if make is not None and name in ("parent", "height"):
            self.__init__(*make(), self.n_leaves)  # type: ignore[misc]
            self.__dict__.pop("_make", None)
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(f"A Tree has no attribute {name!r}.") from None

    # Pickle would lose `writeable=False` and include cached arrays, so create a new tree instead.
    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (
            self.parent, self.height, self.n_leaves, self.labels, self.support, self.info,
        )  # fmt: skip

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
        """Number of nodes, m."""
        return int(self.parent.size)

    @property
    def n_internal(self) -> int:
        """Number of inner nodes."""
        return self.n_nodes - self.n_leaves

    @property
    def root(self) -> int:
        """The root, the last node."""
        return self.n_nodes - 1

    @property
    def is_binary(self) -> bool:
        """True if each inner node has two children."""
        return self.n_nodes == 2 * self.n_leaves - 1

    @cached_property
    def size(self) -> IntM:
        """Number of leaves below each node, int32 (m,); O(m)."""
        return _read_only(kernels.subtree_sizes(self.parent, self.n_leaves))

    @cached_property
    def depth(self) -> IntM:
        """Number of edges between each node and the root, int32 (m,); O(m)."""
        return _read_only(kernels.depths(self.parent))

    @cached_property
    def children_csr(self) -> tuple[IntList, IntList]:
        """The children of all nodes: ``(offsets (m+1,), items (m-1,))``, int32.

        The children of node v are ``items[offsets[v]:offsets[v + 1]]``, increasing.
        """
        offsets, items = kernels.children_csr(self.parent)
        return _read_only(offsets), _read_only(items)

    def children(self, node: int) -> Int:
        """Return the children of a node.

        Parameters
        ----------
        node : int
            A node, 0..m-1.

        Returns
        -------
        int32 (c,)
            Increasing; empty for a leaf. A read-only view.

        Raises
        ------
        InvalidTree
            The node does not exist.

        Notes
        -----
        O(1), after O(m) in the first call.

        Examples
        --------
        >>> Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3).children(4).tolist()
        [2, 3]
        """
        self._check_node(node)
        offsets, items = self.children_csr
        return items[offsets[node] : offsets[node + 1]]

    def _check_node(self, node: int) -> None:
        if type(node) is not int:  # skip the check in the common case, for speed
            node = check_integer(node, "A node", InvalidTree)
        if not 0 <= node < self.n_nodes:
            raise InvalidTree(f"The tree has no node {node}, only 0..{self.n_nodes - 1}.")

    @cached_property
    def leaf_start(self) -> IntM:
        """Position of each node's first leaf in :attr:`leaf_order`, int32 (m,)."""
        return _read_only(kernels.first_leaf_positions(self.parent, self.size))

    @cached_property
    def leaf_order(self) -> IntN:
        """The leaves in depth-first order, children by index, int32 (n,)."""
        order = np.empty(self.n_leaves, np.int32)
        order[self.leaf_start[: self.n_leaves]] = np.arange(self.n_leaves, dtype=np.int32)
        return _read_only(order)

    def leaves(self, node: int) -> Int:
        """Return the items below a node.

        Parameters
        ----------
        node : int
            A node, 0..m-1.

        Returns
        -------
        int32 (size[node],)
            A read-only view of :attr:`leaf_order`. A leaf is below itself.

        Raises
        ------
        InvalidTree
            The node does not exist.

        Notes
        -----
        O(1), after O(m) in the first call.

        Examples
        --------
        >>> Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3).leaves(3).tolist()
        [0, 1]
        """
        self._check_node(node)
        begin = self.leaf_start[node]
        return self.leaf_order[begin : begin + self.size[node]]

    def clades(self) -> Iterator[Int]:
        """Iterate over the clades of the inner nodes.

        Returns
        -------
        iterator of int32
            The leaves of each inner node, in the order of the nodes; read-only views, O(1) each.

        Examples
        --------
        >>> tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3)
        >>> [clade.tolist() for clade in tree.clades()]
        [[0, 1], [2, 0, 1]]
        """
        return (self.leaves(v) for v in range(self.n_leaves, self.n_nodes))

    @cached_property
    def _lca_table(self) -> tuple[Int, Int]:
        return kernels.lca_table(self.parent)

    def lca(self, i: ArrayLike, j: ArrayLike) -> Any:
        """Return the lowest common ancestors of nodes ``i`` and ``j``.

        Parameters
        ----------
        i, j : int or array of int
            Nodes; the shapes must broadcast. A node is its own ancestor.

        Returns
        -------
        int or int32 array
            An array of the broadcast shape, or an int for two scalars.

        Raises
        ------
        InvalidTree
            A node does not exist, or the shapes do not fit.

        Notes
        -----
        O(1) for each pair, after O(m log m) in the first call.

        Examples
        --------
        >>> tree = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3)
        >>> tree.lca(0, [0, 1, 2]).tolist()
        [0, 3, 4]
        """
        sides = (check_integers(side, "The nodes of lca()", InvalidTree) for side in (i, j))
        try:
            first, second = np.broadcast_arrays(*sides)
        except ValueError:
            raise InvalidTree("lca(i, j) needs as many nodes in i as in j.") from None
        for side in (first, second):
            if side.size and (side.min() < 0 or side.max() >= self.n_nodes):
                raise InvalidTree(f"lca() needs nodes in 0..{self.n_nodes - 1}.")
        left, right = (side.ravel().astype(np.int32, copy=False) for side in (first, second))
        found = kernels.lca_many(left, right, *self._lca_table)
        return found.reshape(first.shape) if first.ndim else int(found[0])

    def _numbers_of(self, leaves: Any) -> Any:
        """Return leaves as numbers, if they are names or a set."""
        from hcviz.core.item_names import indices_of

        found = leaves if self.labels is None else indices_of(leaves, self.labels, "The leaves")
        return sorted(found) if isinstance(found, (set, frozenset)) else found

    def smallest_clade(self, leaves: Any) -> int:
        """Return the LCA of one or more leaves.

        Parameters
        ----------
        leaves : int or str (k,)
            One or more leaves; repeats are allowed. Names need :meth:`with_labels`.

        Returns
        -------
        int
            The node of the smallest clade that contains them; the leaf itself for a single leaf.

        Raises
        ------
        InvalidTree
            There are no leaves, or one of them does not exist.

        Notes
        -----
        O(k + depth), after O(m) in the first call.

        Examples
        --------
        >>> Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3).smallest_clade([0, 1])
        3
        """
        given = self._numbers_of(leaves)
        wanted = check_integers(given, "The leaves of smallest_clade()", InvalidTree).ravel()
        if wanted.size == 0 or wanted.min() < 0 or wanted.max() >= self.n_leaves:
            raise InvalidTree(f"smallest_clade() takes leaves, numbers in 0..{self.n_leaves - 1}.")
        start = self.leaf_start[wanted]
        foremost = int(wanted[start.argmin()])
        return int(
            kernels.ancestor_to_position(
                self.parent, self.leaf_start, self.size, foremost, int(start.max())
            )
        )

    def lca_size(self) -> Int:
        """Return the number of leaves below the LCA of i and j, for all pairs.

        Returns
        -------
        int32 (n, n)
            1 on the diagonal.

        Raises
        ------
        TooLarge
            The tree has more than ``MAX_QUADRATIC`` leaves.

        Notes
        -----
        Papers write ``|T[i,j]|``. O(n^2) time and memory; the result is not cached.

        Examples
        --------
        >>> Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3).lca_size().tolist()
        [[1, 2, 3], [2, 1, 3], [3, 3, 1]]
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

    # ------------------------------------------------------------------ triplets and subtrees

    def has_clade(self, items: Any) -> bool:
        """Return True if some node has exactly these leaves below it.

        Parameters
        ----------
        items : int or str (k,)
            Different leaves, one or more, or a set of them. Names need :meth:`with_labels`.

        Returns
        -------
        bool
            True for the leaves of a node.

        Raises
        ------
        InvalidTree
            A leaf is repeated or does not exist, or there are none.

        Notes
        -----
        O(k + depth).

        Examples
        --------
        >>> Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3).has_clade([1, 0])
        True
        """
        given = self._numbers_of(items)
        wanted = check_integers(given, "The leaves of has_clade()", InvalidTree).ravel()
        if np.unique(wanted).size < wanted.size:
            raise InvalidTree("has_clade() names a leaf twice.")
        return bool(self.size[self.smallest_clade(wanted)] == wanted.size)

    def satisfies(self, triplets: Any = None, groups: Any = None) -> Bool:
        """Check constraints. A triplet ab|c holds if LCA(a,b) is strictly below LCA(a,b,c).

        Parameters
        ----------
        triplets : Triplets, int (m, 3) or names (m, 3), optional
            The triplets. Names need :meth:`with_labels`; the trees of a problem have them.
        groups : Groups or sets of items, optional
            Each holds if it is a clade.

        Returns
        -------
        bool (m + g,)
            True where the tree satisfies the triplet, then where it satisfies the group.

        Notes
        -----
        O(1) for each triplet, O(k) for a group of k items.

        Examples
        --------
        >>> Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3).satisfies([[0, 1, 2], [0, 2, 1]]).tolist()
        [True, False]
        """
        from hcviz.core.groups import Groups
        from hcviz.core.item_names import indices_of
        from hcviz.core.triplets import Triplets

        if self.labels is not None:
            triplets = indices_of(triplets, self.labels, "The triplets")
            groups = indices_of(groups, self.labels, "The groups")
        rows = Triplets.of(triplets, self.n_leaves).rows
        a, b, c = rows.T
        inner = self.lca(a, b)
        outer = self.lca(inner, c)
        known = Groups.of(groups, self.n_leaves)
        clades = [bool(self.size[self.smallest_clade(each)] == each.size) for each in known]
        return np.concatenate([np.atleast_1d(inner != outer), np.array(clades, np.bool_)])

    def restrict(self, leaves: Any) -> Tree:
        """Return the induced tree over some of the leaves.

        Parameters
        ----------
        leaves : int or str (k,)
            Different leaves, one or more. Leaf r of the result is ``leaves[r]``. Names need
            :meth:`with_labels`.

        Returns
        -------
        Tree
            Nodes with a single child are removed; heights are unchanged. The leaves keep their
            labels.

        Raises
        ------
        InvalidTree
            A leaf is repeated or does not exist, or there are none.

        Notes
        -----
        O(m).

        Examples
        --------
        >>> tree = Tree.from_newick("((0,1),(2,3));")
        >>> tree.restrict([0, 3, 2]).to_newick()
        '(0:3.0,(1:1.0,2:1.0):2.0);'
        """
        return self.restrict_with_origin(leaves)[0]

    def restrict_with_origin(self, leaves: Any) -> tuple[Tree, Int]:
        """Return the induced tree over some of the leaves, and the origin of its nodes.

        Parameters
        ----------
        leaves : int (k,)
            Different leaves, as for :meth:`restrict`.

        Returns
        -------
        restricted : Tree
            The tree of :meth:`restrict`.
        origin : int32 (nodes of the restricted tree,)
            For each of its nodes, the node of this tree.

        Raises
        ------
        InvalidTree
            A leaf is repeated or does not exist, or there are none.

        Notes
        -----
        O(m).

        Examples
        --------
        >>> tree = Tree.from_children([[0, 1], [2, 3], [4, 5]], 4)
        >>> tree.restrict_with_origin([0, 1])[1].tolist()
        [0, 1, 4]
        """
        given = self._numbers_of(leaves)
        wanted = check_integers(given, "The leaves of restrict()", InvalidTree).ravel()
        if wanted.size == 0:
            raise InvalidTree("A tree cannot be restricted to no leaves.")
        if wanted.min() < 0 or wanted.max() >= self.n_leaves:
            raise InvalidTree(f"restrict() names a leaf outside 0..{self.n_leaves - 1}.")
        rank = np.full(self.n_leaves, -1, np.int32)
        rank[wanted] = np.arange(wanted.size, dtype=np.int32)
        if np.any(rank[wanted] != np.arange(wanted.size)):
            raise InvalidTree("restrict() names a leaf twice.")
        parent, origin = kernels.restrict_nodes(self.parent, rank, wanted.size)
        made = Tree(parent, self.height[origin], wanted.size)
        if self.labels is not None:
            made = made.with_labels([self.labels[i] for i in wanted])
        return made, origin

    # ------------------------------------------------------------------ other forms

    @classmethod
    def from_linkage(cls, linkage: ArrayLike) -> Tree:
        """Create a tree from a linkage matrix of scipy.

        Parameters
        ----------
        linkage : float64 (n - 1, 4)
            Row i becomes the node n + i.

        Returns
        -------
        Tree
            Heights are column 2 if no parent is below its child and none is negative. Otherwise
            they are the ranks of the merges, 1..n-1: centroid and median linkages have inversions.

        Raises
        ------
        InvalidTree
            A row has a height that is not finite, an unknown cluster, or a wrong fourth column.

        Examples
        --------
        >>> Tree.from_linkage([[0, 1, 0.5, 2], [2, 3, 1.5, 3]]).parent.tolist()
        [3, 3, 4, 4, -1]
        """
        parent, height, stated = convert.read_linkage(linkage)
        tree = cls(parent, height, stated.size + 1)
        convert.check_sizes(tree.size[tree.n_leaves :], stated)
        return tree

    def to_linkage(self) -> Float:
        """Return a linkage matrix of scipy.

        Returns
        -------
        float64 (n - 1, 4)
            The merges in the order of heights. A polytomy becomes several merges of equal height.

        Examples
        --------
        >>> Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3).to_linkage().tolist()
        [[0.0, 1.0, 1.0, 2.0], [2.0, 3.0, 2.0, 3.0]]
        """
        return convert.write_linkage(self.n_leaves, self.height, self.size, self.children)

    @classmethod
    def from_newick(cls, text: str, labels: Any = None) -> Tree:
        """Read a tree from a Newick text.

        Parameters
        ----------
        text : str
            One tree in Newick format.
        labels : sequence of str or None
            The names of the items, in their order. None: the names in the text, in its order, or
            the items' numbers 0..n-1 if all leaf names are numbers.

        Returns
        -------
        Tree
            The height of a node is its greatest distance to a leaf below it, by branch lengths;
            negative lengths count as 0. Without lengths it is its clade size - 1. Nodes with a
            single child are removed. Comments ``[&support=0.9]`` and inner names that are all
            numbers, shares or percentages, become its ``support``. Other inner names are ignored.

        Raises
        ------
        InvalidTree
            The text is not a tree over these items.

        Examples
        --------
        >>> tree = Tree.from_newick("((owl:1,rook:1):2,elm:3);", ["elm", "owl", "rook"])
        >>> tree.leaves(3).tolist(), tree.height[3:].tolist()
        ([1, 2], [1.0, 3.0])
        >>> Tree.from_newick("((owl,rook),elm);").labels
        ('owl', 'rook', 'elm')
        """
        return tree_of_newick(convert.read_newick(text, labels))

    def to_newick(self, labels: Any = None, group_names: Mapping[int, str] | None = None) -> str:
        """Return a Newick text with branch lengths and supports.

        Parameters
        ----------
        labels : sequence of str or None
            The names of the items; None: the tree's ``labels``, else 0..n-1.
        group_names : mapping of int to str or None
            Names of inner nodes.

        Returns
        -------
        str
            A branch length is the difference of two heights. Names are quoted where necessary. A
            known support is a comment after its node: ``[&support=0.9]``.

        Raises
        ------
        InvalidTree
            The number of labels is not the number of leaves.

        Examples
        --------
        >>> Tree.star(2).to_newick(["owl", "elm"])
        '(owl:1.0,elm:1.0);'
        """
        names = self.labels if labels is None else labels
        n, support = self.n_leaves, self.support
        tags = {
            n + k: f"[&support={float(share)!r}]"
            for k, share in enumerate(() if support is None else support[:-1])
            if np.isfinite(share)
        }
        return convert.write_newick(
            self.parent, self.height, self.children, n, names, group_names, tags
        )

    @classmethod
    def from_children(cls, children: list[list[int]], n_leaves: int) -> Tree:
        """Create a tree from the children of its inner nodes.

        Parameters
        ----------
        children : list of list of int
            The children of the inner nodes n, n + 1, ..., the root last. A child has a smaller
            number than its parent.
        n_leaves : int
            Number of items, n.

        Returns
        -------
        Tree
            Heights are clade size - 1.

        Raises
        ------
        InvalidTree
            The lists do not describe a tree.

        Examples
        --------
        >>> Tree.from_children([[0, 1], [2, 3]], 3).parent.tolist()
        [3, 3, 4, 4, -1]
        """
        parent = np.full(n_leaves + len(children), -1, np.int32)
        for offset, below in enumerate(children):
            parent[below] = n_leaves + offset
        return cls.with_size_heights(parent, n_leaves)

    @classmethod
    def with_size_heights(cls, parent: ArrayLike, n_leaves: int) -> Tree:
        """Create a tree with clade size - 1 as heights, as top-down methods do.

        Parameters
        ----------
        parent : int (m,)
            Parent of each node, as for :class:`Tree`.
        n_leaves : int
            Number of items.

        Returns
        -------
        Tree
            A tree with these parents.

        Raises
        ------
        InvalidTree
            The parents do not describe a tree.

        Examples
        --------
        >>> Tree.with_size_heights([3, 3, 4, 4, -1], 3).height.tolist()
        [0.0, 0.0, 0.0, 1.0, 2.0]
        """
        parents = np.ascontiguousarray(_int32(parent, "The parents of a tree"))
        if np.any(parents[:-1] <= np.arange(parents.size - 1)):
            raise InvalidTree("Not a tree: a node's parent must have a larger index than the node.")
        return cls(parents, kernels.subtree_sizes(parents, n_leaves) - 1.0, n_leaves)

    @classmethod
    def star(cls, n_leaves: int) -> Tree:
        """Create the tree whose root is the parent of all leaves.

        Parameters
        ----------
        n_leaves : int
            Number of items, 1 or more.

        Returns
        -------
        Tree
            It satisfies no triplet.

        Raises
        ------
        InvalidTree
            ``n_leaves`` is below 1.

        Examples
        --------
        >>> Tree.star(3).parent.tolist()
        [3, 3, 3, -1]
        """
        n_leaves = check_integer(n_leaves, "n_leaves", InvalidTree, 1)
        if n_leaves == 1:
            return cls([-1], [0.0], 1)
        parent = np.full(n_leaves + 1, n_leaves, np.int32)
        parent[-1] = -1
        return cls.with_size_heights(parent, n_leaves)


def _restored(
    parent: Int,
    height: Float,
    n_leaves: int,
    labels: Any = None,
    support: Any = None,
    info: Any = None,
) -> Tree:
    return Tree(parent, height, n_leaves).with_labels(labels).with_support(support).with_info(info)


def _int32(values: ArrayLike, what: str) -> Int:
    numbers = check_integers(values, what, InvalidTree)
    if (
        numbers.dtype != np.int32
        and numbers.size
        and not (numbers.min() >= -1 and numbers.max() < 2**31)
    ):
        raise InvalidTree(f"{what} must be nodes, or -1 for the root.")
    return numbers.astype(np.int32, copy=False)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
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
        return f"node {wrong[0]} has the leaf {tree.parent[wrong[0]]} as its parent"
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


#: Number of invariants above, which ``treekernels.is_valid_tree`` checks in one compiled pass.
N_COMPILED = len(INVARIANTS)


def tree_of_newick(found: convert.NewickTree) -> Tree:
    """Return the tree of a Newick text that was read; see :meth:`Tree.from_newick`."""
    if found.n_leaves == 1:
        return Tree([-1], [0.0], 1).with_labels(found.labels)
    if found.height is None:
        made = Tree.with_size_heights(found.parent, found.n_leaves)
    else:
        made = Tree(found.parent, found.height, found.n_leaves)
    return made.with_labels(found.labels).with_support(found.support)
