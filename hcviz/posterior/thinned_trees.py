"""``ThinnedTrees``: the thinned trees of a posterior, and what is computed from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.tree import Tree
from hcviz.core.tree_info import TreeInfo
from hcviz.core.triplets import Triplets
from hcviz.core.validation import check_integers
from hcviz.posterior import kernels
from hcviz.posterior.thinned_shapes import depth_moments, distance_variances
from hcviz.posterior.thinned_stream import ThinnedStream

Float = NDArray[np.float64]
Int = NDArray[np.int32]

#: n x n matrices are not computed for more items.
MAX_MATRIX = 2_000


class ThinnedTrees:
    """Evenly thinned draws, and the shares of triplets, distances and depths in them.

    :class:`hcviz.posterior.Posterior` extends it by what is counted for all draws.
    """

    def __init__(self, n_items: int, max_trees: int) -> None:
        self.n_items = n_items
        self.thinned_trees = ThinnedStream(max_trees)
        self._shapes: tuple[Int, Int, Int] | None = None
        self.labels: tuple[str, ...] | None = None
        self.info: TreeInfo | None = None

    def _named(self, tree: Tree) -> Tree:
        """Return a tree with the names of the items and how it was made."""
        return tree.with_labels(self.labels).with_info(self.info)

    def _keep(self, chain: int, number: int, parent: Int, height: Float) -> None:
        """Add a draw that the stream keeps."""
        shape = kernels.shape_of(parent.copy(), self.n_items)
        self.thinned_trees.add(chain, number, (parent, height, shape))
        self._shapes = None

    # ------------------------------------------------------------------ triplets

    def triplet_shares(self, triplets: Any) -> Float:
        """Return the shares of the thinned trees with ab|c, ac|b and bc|a.

        Parameters
        ----------
        triplets : Triplets or int (k, 3)
            Rows a, b, c.

        Returns
        -------
        float64 (k, 3)
            The rest to 1 is the share of trees that do not resolve the three items.

        Raises
        ------
        InvalidData
            No tree has been sampled yet.
        InvalidConstraint
            A row is not valid.

        Notes
        -----
        O(thinned trees * (n log n + k)): about 5 ms for 5,000 triplets at n = 150.

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> for text in ("((0,1),2);", "((0,2),1);"):
        ...     posterior.add(Tree.from_newick(text), 0.0)
        >>> posterior.triplet_shares([[0, 1, 2]]).tolist()
        [[0.5, 0.5, 0.0]]
        """
        return self._count(triplets)[0] / len(self.thinned_trees)

    def triplet_probability(self, triplets: Any) -> Float:
        """Return the share of the thinned trees with ab|c, for each row.

        Parameters
        ----------
        triplets : Triplets or int (k, 3)
            Rows a, b, c.

        Returns
        -------
        float64 (k,)
            From 0 to 1.

        Raises
        ------
        InvalidData
            No tree has been sampled yet.
        InvalidConstraint
            A row is not valid.

        Notes
        -----
        Time as for :meth:`triplet_shares`.

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> posterior.add(Tree.from_newick("((0,1),2);"), 0.0)
        >>> posterior.triplet_probability([[0, 1, 2], [0, 2, 1]]).tolist()
        [1.0, 0.0]
        """
        return np.asarray(self.triplet_shares(triplets)[:, 0])

    def triplet_entropy(self, triplets: Any) -> Float:
        """Return the entropy of each three items' resolution in bits.

        Parameters
        ----------
        triplets : Triplets or int (k, 3)
            Rows of three items, in any order.

        Returns
        -------
        float64 (k,)
            From 0 to log2 3, or to 2 if some trees do not resolve the items.

        Raises
        ------
        InvalidData
            No tree has been sampled yet.
        InvalidConstraint
            A row is not valid.

        Notes
        -----
        Time as for :meth:`triplet_shares`.

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> for text in ("((0,1),2);", "((0,2),1);"):
        ...     posterior.add(Tree.from_newick(text), 0.0)
        >>> posterior.triplet_entropy([[0, 1, 2]]).tolist()
        [1.0]
        """
        shares = self.triplet_shares(triplets)
        rest = np.maximum(1.0 - shares.sum(axis=1), 0.0)
        found: Float = entropy_bits(shares).sum(axis=1) + entropy_bits(rest)
        return found

    def joint_probability(self, triplets: Any) -> float:
        """Return the share of the thinned trees that satisfy *all* triplets.

        Parameters
        ----------
        triplets : Triplets or int (k, 3)
            Rows ab|c.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        InvalidData
            No tree has been sampled yet.
        InvalidConstraint
            A row is not valid.

        Notes
        -----
        Time as for :meth:`triplet_shares`.

        Examples
        --------
        >>> posterior = Posterior(4)
        >>> for text in ("((0,1),2,3);", "((0,1),(2,3));"):
        ...     posterior.add(Tree.from_newick(text), 0.0)
        >>> posterior.joint_probability([[0, 1, 2], [2, 3, 0]])
        0.5
        """
        return float(self._count(triplets)[1].mean())

    def _count(self, triplets: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        self._require_trees()
        rows = Triplets.of(triplets, self.n_items).rows.copy()
        place, gap, _ = self.shapes()
        counts = np.zeros((len(rows), 3), np.int64)
        satisfied = np.zeros(len(place), np.bool_)
        kernels.count_triplets(place, gap, rows, counts, satisfied)
        return counts, satisfied

    # ------------------------------------------------------------------ distances and depths

    def distance_variance(self, subsets: ArrayLike, induced: bool = True) -> Float:
        """Compute TDV(S), the tree distance variance, for several subsets S of the items.

        Parameters
        ----------
        subsets : int (L, s), s >= 2
            Rows of different items.
        induced : bool
            True: distances in the tree induced by S, as in the published code. False: in the whole
            tree, as in the text of the paper.

        Returns
        -------
        float64 (L,)
            TDV(S) is the largest variance, over pairs in S, of the number of edges between them in
            the thinned trees. The published code has its square root.

        Raises
        ------
        InvalidData
            A subset is not valid, or no tree has been sampled yet.

        Notes
        -----
        O(thinned trees * (n log n + L s^2)): about 10 ms for 100 subsets of 10 at n = 150.

        References
        ----------
        Vikram and Dasgupta (2016).

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> for text in ("((0,1),2);", "((0,2),1);"):
        ...     posterior.add(Tree.from_newick(text), 0.0)
        >>> posterior.distance_variance([[0, 1], [0, 2]], induced=False).tolist()
        [0.25, 0.25]
        """
        found = self.distance_variances(subsets, induced)
        return np.asarray(found.max(axis=(1, 2)))

    def distance_variances(self, subsets: ArrayLike, induced: bool = True) -> Float:
        """Return the variances of :meth:`distance_variance` for each pair in each subset.

        Parameters
        ----------
        subsets : int (L, s), s >= 2
            Rows of different items.
        induced : bool
            As for :meth:`distance_variance`.

        Returns
        -------
        float64 (L, s, s)
            Symmetric in the last two axes.

        Raises
        ------
        InvalidData
            A subset is not valid, or no tree has been sampled yet.

        Notes
        -----
        Time as for :meth:`distance_variance`.

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> for text in ("((0,1),2);", "((0,2),1);"):
        ...     posterior.add(Tree.from_newick(text), 0.0)
        >>> posterior.distance_variances([[0, 1]], induced=False).tolist()
        [[[0.0, 0.25], [0.25, 0.0]]]
        """
        self._require_trees()
        chosen = np.atleast_2d(np.asarray(subsets))
        if chosen.ndim != 2 or chosen.shape[1] < 2:
            raise InvalidData("Subsets must be rows of two items or more.")
        chosen = self._items(chosen)
        ordered = np.sort(chosen, axis=1)
        if np.any(ordered[:, 1:] == ordered[:, :-1]):
            raise InvalidData("A subset names an item twice.")
        return distance_variances(*self.shapes(), chosen, induced)

    def depth_moments(self) -> tuple[Float, Float]:
        """Return mean and variance of the depth of the LCA of each two items.

        Returns
        -------
        mean : float64 (n, n)
            Mean number of edges from the root. The diagonal has the depths of leaves.
        variance : float64 (n, n)
            Its variance.

        Raises
        ------
        TooLarge, InvalidData
            There are more than 2,000 items, or no tree has been sampled yet.

        Notes
        -----
        Computed from evenly spaced thinned trees, as many as have 2e8 matrix entries together: all
        at n = 800, 50 at n = 2,000. At most about 0.5 s.

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> for text in ("((0,1),2);", "((0,2),1);"):
        ...     posterior.add(Tree.from_newick(text), 0.0)
        >>> mean, variance = posterior.depth_moments()
        >>> float(mean[0, 1]), float(variance[0, 1])
        (0.5, 0.25)
        """
        self._require_trees()
        n = self.n_items
        if n > MAX_MATRIX:
            raise TooLarge(
                f"The depths of all LCAs are an n x n matrix, and there are {n:,} items (the limit "
                f"is {MAX_MATRIX:,}).",
                "Ask for single triplets or subsets instead.",
            )
        return depth_moments(*self.shapes())

    # ------------------------------------------------------------------ trees and shapes

    def trees(self, number: int | None = None) -> list[Tree]:
        """Return the thinned trees in their order, or some of them.

        Parameters
        ----------
        number : int or None
            Number of evenly spaced trees; None: all thinned trees.

        Returns
        -------
        list of Tree
            At most ``number`` trees.

        Notes
        -----
        O(number * n).

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> posterior.add(Tree.from_newick("((0,1),2);"), 0.0)
        >>> posterior.trees()
        [Tree(3 leaves, 2 inner nodes)]
        """
        kept = self.thinned_trees.value
        if number is not None and number < len(kept):
            at = np.unique(np.linspace(0, len(kept) - 1, max(number, 1)).round().astype(int))
            kept = [kept[i] for i in at.tolist()]
        return [self._named(Tree(parent, height, self.n_items)) for parent, height, _ in kept]

    def shapes(self) -> tuple[Int, Int, Int]:
        """Return the shapes of the k thinned trees as arrays.

        Returns
        -------
        place : int32 (k, n)
            The position of each item in the order of the leaves.
        gap : int32 (k, n - 1)
            The depth of the LCA of the leaves at two neighbouring positions.
        depth : int32 (k, n)
            The depth of each item.

        Notes
        -----
        :mod:`hcviz.posterior.kernels` describes the arrays. Cached until the next draw.

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> posterior.add(Tree.from_newick("((0,1),2);"), 0.0)
        >>> [part.tolist() for part in posterior.shapes()]
        [[[1, 2, 0]], [[0, 1]], [[2, 2, 1]]]
        """
        if self._shapes is None:
            each = [shape for _, _, shape in self.thinned_trees.value]
            place, gap, depth = (np.stack(parts) for parts in zip(*each, strict=True))
            self._shapes = place, gap, depth
        return self._shapes

    # ------------------------------------------------------------------ checks

    def _require_trees(self) -> None:
        if not len(self.thinned_trees):
            raise InvalidData("No tree has been sampled yet.", "Let the sampler run first.")

    def _items(self, items: ArrayLike) -> Int:
        found = check_integers(items, "Items", InvalidData)
        if found.size == 0 or found.min() < 0 or found.max() >= self.n_items:
            raise InvalidData(f"Items must be numbers in 0..{self.n_items - 1}.")
        return np.ascontiguousarray(found, dtype=np.int32)


def entropy_bits(share: Float) -> Float:
    """Return -p log2 p, 0 at 0."""
    return -share * np.log2(np.where(share > 0, share, 1.0))
