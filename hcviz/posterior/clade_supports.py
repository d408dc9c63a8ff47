"""``CladeSupports``: how often the sampled trees have a clade, and how certain that is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidParameter
from hcviz.core.item_names import indices_of
from hcviz.core.tree import Tree
from hcviz.posterior import kernels
from hcviz.posterior.collected_draws import CollectedDraws
from hcviz.posterior.thinned_trees import entropy_bits

Float = NDArray[np.float64]
Int = NDArray[np.int32]


class CladeSupports(CollectedDraws):
    """Supports of clades, their standard errors and entropies, from the counts of all draws."""

    @property
    def clade_error(self) -> float:
        """The largest error of a support, as a share of the trees; supports are never too high."""
        return self.clade_table.error / max(len(self), 1)

    def support(self, tree: Tree) -> Float:
        """Return the share of all trees that have each clade of ``tree``.

        Parameters
        ----------
        tree : Tree
            A tree of any method over the same items.

        Returns
        -------
        float64 (n_internal,)
            For the inner nodes n, n + 1, ...; 1 for the root. Exact, or too low by at most
            ``clade_error``.

        Raises
        ------
        InvalidData
            No tree has been sampled yet, or ``tree`` has another number of leaves.

        Notes
        -----
        O(m) for m nodes.

        Examples
        --------
        >>> import hcviz
        >>> posterior = hcviz.sample([[0.0], [0.1], [5.0]], seconds=5)
        >>> posterior.support(hcviz.fit("average", [[0.0], [0.1], [5.0]])).size
        2
        """
        self._require_trees()
        self._check_tree(tree)
        counts = self.clade_table.counts(self.clade_table.codes(tree))
        return np.append(counts / len(self), 1.0)

    def support_sizes(self, tree: Tree, nodes: ArrayLike) -> Float:
        """Return the effective number of draws for the supports of some clades of ``tree``.

        Parameters
        ----------
        tree : Tree
            A tree over the same items.
        nodes : int (k,)
            Inner nodes of ``tree``.

        Returns
        -------
        float64 (k,)
            NaN with fewer than 50 recorded draws in a chain. With more than 256 items, also NaN for
            clades outside the recorded share.

        Raises
        ------
        InvalidData
            No tree has been sampled yet.

        Notes
        -----
        Computed from the autocorrelation, along each chain, of having the clade. A chain that
        always or never has it counts in full. O(nodes * recorded draws).

        Examples
        --------
        >>> posterior, tree = Posterior(3), Tree.from_newick("((0,1),2);")
        >>> for _ in range(100):
        ...     posterior.add(tree, 0.0)
        >>> posterior.support_sizes(tree, [3]).tolist()
        [100.0]
        """
        self._require_trees()
        chosen = np.asarray(nodes, dtype=np.int64).ravel() - tree.n_leaves
        return self.record.effective_numbers(self.clade_table.codes(tree)[chosen])

    def clades(self, min_support: float = 0.05) -> list[tuple[Int, float]]:
        """List the clades with a support of at least ``min_support``.

        Parameters
        ----------
        min_support : float
            From 0 to 1.

        Returns
        -------
        list of (items, support)
            The items of a clade, int32, sorted, and the share of trees that have it. Sorted by
            support, then by size, both decreasing. Single items and the set of all items are left
            out.

        Raises
        ------
        InvalidParameter
            ``min_support`` is not from 0 to 1.
        InvalidData
            No tree has been sampled yet.

        Notes
        -----
        A clade is listed if one of the thinned trees has it. A clade with support p is missing
        from 256 independent trees with probability (1 - p)^256, 2e-6 at 0.05. O(thinned trees * n).

        Examples
        --------
        >>> import hcviz
        >>> from hcviz.posterior import Posterior
        >>> posterior = Posterior(3)
        >>> posterior.add(hcviz.Tree([3, 3, 4, 4, -1], [0, 0, 0, 0.5, 1.0], 3), 0.0)
        >>> [(items.tolist(), support) for items, support in posterior.clades()]
        [([0, 1], 1.0)]
        """
        self._require_trees()
        if isinstance(min_support, bool | str) or not 0.0 <= min_support <= 1.0:
            raise InvalidParameter(f"min_support must be from 0 to 1, not {min_support!r}.")
        n, table = self.n_items, self.clade_table
        seen: set[tuple[int, int]] = set()
        found: list[tuple[Int, float]] = []
        for parent, height, _ in self.thinned_trees.value:
            codes = kernels.clade_codes(parent, n, table.keys)[n:-1]
            share = table.counts(codes) / len(self)
            tree = None
            for k in np.flatnonzero(share >= min_support).tolist():
                code = (int(codes[k, kernels.FIRST]), int(codes[k, kernels.SECOND]))
                if code not in seen:
                    seen.add(code)
                    tree = tree or Tree(parent, height, n)
                    found.append((np.sort(tree.leaves(n + k)), float(share[k])))
        return sorted(found, key=lambda each: (-each[1], -each[0].size, each[0].tolist()))

    def clade_support(self, items: Any) -> float:
        """Return the share of all trees with the clade of exactly these items.

        Parameters
        ----------
        items : int or str (k,)
            Items, one or more; repeats are ignored. Names need :attr:`labels`.

        Returns
        -------
        float
            From 0 to 1; 1 for a single item and for all items. Too low by at most ``clade_error``.

        Raises
        ------
        InvalidData
            An item does not exist, or no tree has been sampled yet.

        Notes
        -----
        O(k log k).

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> posterior.add(Tree.from_newick("((0,1),2);"), 0.0)
        >>> posterior.add(Tree.from_newick("((0,2),1);"), 0.0)
        >>> posterior.clade_support([0, 1])
        0.5
        """
        self._require_trees()
        if self.labels is not None:
            items = indices_of(items, self.labels, "The items")
        chosen = np.unique(self._items(items))
        if chosen.size in (1, self.n_items):
            return 1.0
        return self.clade_table.count_of(chosen) / len(self)

    def clade_entropy(self, tree: Tree) -> Float:
        """Return the entropy of each clade of ``tree``: how uncertain it is to have the clade.

        Parameters
        ----------
        tree : Tree
            A tree over the same items.

        Returns
        -------
        float64 (n_internal,)
            In bits, from 0 to 1; 1 for a support of 1/2. For the inner nodes n, n + 1, ...

        Raises
        ------
        InvalidData
            No tree has been sampled yet, or ``tree`` has another number of leaves.

        Notes
        -----
        O(m) for m nodes.

        Examples
        --------
        >>> posterior, tree = Posterior(3), Tree.from_newick("((0,1),2);")
        >>> posterior.add(tree, 0.0)
        >>> posterior.add(Tree.from_newick("((0,2),1);"), 0.0)
        >>> float(posterior.clade_entropy(tree)[0])
        1.0
        """
        share = self.support(tree)
        return entropy_bits(share) + entropy_bits(1.0 - share)
