"""``Posterior``: summaries of sampled trees, within bounded memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.tree import Tree
from hcviz.posterior import convergence, kernels
from hcviz.posterior.chain_comparison import ChainComparison, accuracy_text
from hcviz.posterior.clade_names import clade_names
from hcviz.posterior.clade_supports import CladeSupports
from hcviz.posterior.clades import CladeTable
from hcviz.posterior.consensus import consensus_tree
from hcviz.posterior.draws import Draws
from hcviz.posterior.summarytree import margins, summary_tree

Float = NDArray[np.float64]
Int = NDArray[np.int32]

#: Number of clades (those of the least certain support) whose convergence is checked.
N_CHECKED_CLADES = 5
#: A clade is in doubt if its support is further than this from 0 and from 1. The median effective
#: number of draws is computed over at most this many clades in doubt.
DOUBT, MAX_DOUBTFUL_CLADES = 0.02, 64


class Posterior(CladeSupports):
    """Summaries of sampled trees, which are added one at a time.

    Parameters
    ----------
    n_items : int
        Number of items, 2 or more.
    max_trees : int
        Number of thinned trees, 4 or more.

    Attributes
    ----------
    clade_table : CladeTable
        Counts of the clades of *all* trees; exact while ``clade_error`` is 0.
    thinned_trees : ThinnedStream
        Evenly thinned trees, from ``max_trees`` / 2 to ``max_trees`` of them. Results about
        triplets, distances and depths are computed from these.
    record : ChainRecord
        Thinned draws of each chain, to judge whether the sampler has settled.
    best : (Tree, float, object) or None
        The tree with the highest log joint, this log joint, and the state.
    proposals : int
        Number of proposals of all chains, with burn-in, in the result of :func:`hcviz.sample`.
    labels : tuple of str or None
        The names of the items, in the result of :func:`hcviz.sample` or of the trees that were
        added. All trees of the posterior have them.
    info : TreeInfo or None
        How the trees were made, from the same source.

    Raises
    ------
    InvalidParameter
        ``n_items`` or ``max_trees`` is too small.

    Notes
    -----
    A posterior belongs to one set of data and constraints. If they change, create another. Memory
    does not grow with the number of trees. :meth:`add` takes O(n), about 0.02 ms at n = 150.

    Examples
    --------
    >>> posterior = Posterior(3)
    >>> posterior.add(Tree([3, 3, 4, 4, -1], [0, 0, 0, 0.5, 1.0], 3), log_joint=-1.0)
    >>> len(posterior), posterior.clade_support([0, 1])
    (1, 1.0)
    """

    def __repr__(self) -> str:
        trees = f"{len(self)} trees of {self.n_items} items"
        if not len(self):
            return f"Posterior({trees})"
        found = self.compare_chains()
        word = "settled" if found.settled else "not settled"
        return f"Posterior({trees}, {word}: {accuracy_text(found)})"

    # ------------------------------------------------------------------ trees

    def consensus(self, threshold: float = 0.5) -> tuple[Tree, Float]:
        """Compute the majority-rule consensus tree.

        Parameters
        ----------
        threshold : float
            From 0.5 to below 1.

        Returns
        -------
        tree : Tree
            The tree of all clades with a support above ``threshold``; it can have polytomies. The
            height of a node is the mean height of its clade, raised where a child is higher.
        supports : float64 (n_internal,)
            The supports of its inner nodes.

        Raises
        ------
        InvalidParameter, InvalidData
            The threshold is outside its bounds, or no tree has been sampled yet.

        Notes
        -----
        Two clades with a support above 1/2 occur together in some tree, so they are nested or
        disjoint. At worst O(n^2) bits of memory.

        References
        ----------
        Margush and McMorris (1981), "Consensus n-trees".

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> for text in ("((0,1),2);", "((0,1),2);", "((0,2),1);"):
        ...     posterior.add(Tree.from_newick(text), 0.0)
        >>> tree, supports = posterior.consensus()
        >>> tree.leaves(3).tolist(), supports.round(2).tolist()
        ([0, 1], [0.67, 1.0])
        """
        self._require_trees()
        if not 0.5 <= threshold < 1:
            raise InvalidParameter("The threshold of a consensus is from 0.5 to below 1.")
        mean_height = self.record.mean_root_height()
        found, supports = consensus_tree(self.clade_table, threshold, mean_height)
        named = self._named(found)
        return named.with_support(supports), supports

    def max_credibility(self) -> Tree:
        """Return the maximum clade credibility tree: the greatest product of clade supports.

        Returns
        -------
        Tree
            The best of the thinned trees and of one more tree. Each added tree is compared with
            the best one so far, by the supports at that moment. The winner is this one more tree.

        Raises
        ------
        InvalidData
            No tree has been sampled yet.

        Notes
        -----
        With few trees the result is the best of all. With many trees, a tree can be missed that
        only later supports favour. O(thinned trees * n).

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> for text in ("((0,1),2);", "((0,2),1);", "((0,1),2);"):
        ...     posterior.add(Tree.from_newick(text), 0.0)
        >>> posterior.max_credibility().leaves(3).tolist()
        [0, 1]
        """
        self._require_trees()
        assert self._credible_tree is not None
        assert self._credible_codes is not None
        best, credibility = self._credible_tree, self._log_credibility(self._credible_codes)
        for parent, height, _ in self.thinned_trees.value:
            n = self.n_items
            codes = kernels.clade_codes(parent.copy(), n, self.clade_table.keys)[n:-1]
            value = self._log_credibility(codes)
            if value > credibility:
                best, credibility = (parent, height), value
        return self._named(Tree(*best, self.n_items))

    def summary_tree(self, composed: bool = True, before: Tree | None = None) -> Tree:
        """Compute the tree of the greatest clade credibility that the sampled clades can form.

        Parameters
        ----------
        composed : bool
            True: any two sampled clades may be joined (CCD0-MAP). False: a clade is split only as
            in some sampled tree (HIPSTR).
        before : Tree or None
            A binary tree over the same items, such as the summary tree before a constraint was
            added. Its clades may be used as well, and their supports count as 3 standard errors
            higher. So one of its clades is replaced only if the draws show that others are more
            credible. The effect decreases with the number of draws.

        Returns
        -------
        Tree
            Without ``before``, its product of clade supports is at least that of
            :meth:`max_credibility`. If all sampled trees and ``before`` are binary, the result is
            binary and satisfies every triplet that they all satisfy. It has the supports of its
            clades, and the items' names if they are known.

        Raises
        ------
        InvalidData
            No tree has been sampled yet, or ``before`` has a node with more than two children.

        Notes
        -----
        The clades are from the thinned trees and the tree of :meth:`max_credibility`; their
        supports are from all trees. See :func:`hcviz.posterior.summarytree.summary_tree` for
        cost and references, and docs/summary-trees.md for a comparison with other summaries.

        Examples
        --------
        >>> import hcviz
        >>> from hcviz.posterior import Posterior
        >>> posterior = Posterior(3)
        >>> posterior.add(hcviz.Tree([3, 3, 4, 4, -1], [0, 0, 0, 0.5, 1.0], 3), 0.0)
        >>> posterior.summary_tree()
        Tree(3 leaves, 2 inner nodes)
        """
        self._require_trees()
        assert self._credible_tree is not None
        trees = [(parent, height) for parent, height, _ in self.thinned_trees.value]
        if not any(parent is self._credible_tree[0] for parent, _ in trees):
            trees.append(self._credible_tree)
        extra = None
        if before is not None:
            if not before.is_binary:
                raise InvalidData("The tree before must be binary.", "Leave before=None.")
            share = self.support(before)[:-1]
            extra = margins(share, self._effective_number(before, share))
        found = summary_tree(self.clade_table, trees, composed, before, extra)
        named = self._named(found)
        return named.with_support(self.support(found))

    def _effective_number(self, tree: Tree, share: Float) -> float:
        """Return the median effective number of draws over the clades of ``tree`` in doubt.

        ``share`` has the supports of the clades below the root. NaN with too few draws.
        """
        doubtful = np.flatnonzero((share > DOUBT) & (share < 1.0 - DOUBT))
        if not doubtful.size:
            return float(len(self))
        most = min(doubtful.size, MAX_DOUBTFUL_CLADES * int(self.record.one_in))
        some = doubtful[np.linspace(0, doubtful.size - 1, most).astype(int)]
        sizes = self.support_sizes(tree, tree.n_leaves + some)
        sizes = sizes[~np.isnan(sizes)]
        return float(np.median(sizes)) if sizes.size else math.nan

    # ------------------------------------------------------------------ convergence

    def compare_chains(self) -> ChainComparison:
        """Compare the clade supports of the chains.

        Returns
        -------
        ChainComparison
            The comparison of all recorded draws; none are removed as burn-in. The halves of a
            single chain are compared.

        Notes
        -----
        See :func:`hcviz.posterior.chain_comparison.compare_chains`. With more than 256 items, only
        a fixed share of all possible clades is used. Cached until the next draw; about 50 ms at
        n = 150.

        References
        ----------
        Fabreti and Höhna (2022).

        Examples
        --------
        >>> posterior, tree = Posterior(3), Tree.from_newick("((0,1),2);")
        >>> for _ in range(100):
        ...     posterior.add(tree, 0.0, chain=0)
        ...     posterior.add(tree, 0.0, chain=1)
        >>> posterior.compare_chains().difference
        0.0
        """
        return self.record.compare_chains()

    @property
    def accuracy(self) -> float:
        """The accuracy of the supports: 0.08 means "accurate to about 8 points".

        For clades with support above 5 %, the 95 % quantile of the difference between the chains,
        or of two standard errors if that is larger. NaN with fewer than 50 draws in a chain.
        """
        return self.compare_chains().accuracy

    @property
    def settled(self) -> bool:
        """True if :attr:`accuracy` is at most 0.05."""
        return self.compare_chains().settled

    def verdict(
        self, burn_in: float | None = None, labels: Sequence[str] | None = None
    ) -> convergence.Verdict:
        """Judge in words and numbers whether the chains have settled.

        Parameters
        ----------
        burn_in : float or None
            The share of each chain that is removed. None: 0.25, or 0 in the result of
            :func:`hcviz.sample`, which has no burn-in.
        labels : sequence of str or None
            Names of the items, for the sentence.

        Returns
        -------
        Verdict
            Its ``accuracy`` is :attr:`accuracy`.

        Notes
        -----
        :func:`hcviz.posterior.verdict` judges several quantities. They are the log joint (if it is
        known for all trees), the height of the root, and the five least certain clades. These have
        supports between 0.05 and 0.95. With more than 256 items, only a fixed share of all possible
        clades is used. About 80 ms.

        References
        ----------
        Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021): R-hat and effective sample sizes.

        Examples
        --------
        >>> Posterior(3).verdict().word
        'too few trees yet'
        """
        if not len(self):
            return convergence.verdict({})
        clades = self.clade_table.most_uncertain(N_CHECKED_CLADES, self.record.one_in)
        return self.record.verdict(
            clades, clade_names(clades, self.clade_table, self.thinned_trees, labels), burn_in
        )

    def to_arviz(self, min_support: float = 0.05) -> Any:
        """Return the recorded draws as an InferenceData of ArviZ.

        Parameters
        ----------
        min_support : float
            From 0 to 1. Clades with a smaller support are left out.

        Returns
        -------
        arviz.InferenceData
            ``posterior`` has ``root_height`` and ``has_clade``, which is 1 if the draw has the
            clade. ``sample_stats`` has ``lp``, the log joint. The coordinate ``clade`` names the
            items.

        Raises
        ------
        InvalidData
            ArviZ is not installed, or no tree has been sampled yet.

        Notes
        -----
        Draws are thinned to at most 2,048. With more than 256 items, only a fixed share of the
        clades is recorded.

        Examples
        --------
        >>> import hcviz
        >>> data = hcviz.sample([[0.0], [0.1], [5.0], [5.2]], seconds=5).to_arviz()
        >>> data.posterior["has_clade"].dims
        ('chain', 'draw', 'clade')
        """
        from hcviz.posterior.arviz_export import inference_data

        found = self.clades(min_support)
        codes = np.array([self.clade_table.code_of(items) for items, _ in found], np.uint64)
        codes = codes.reshape(-1, 2)
        known = codes[:, kernels.SECOND] % self.record.one_in == 0
        items = [each for (each, _), is_known in zip(found, known, strict=True) if is_known]
        scalars, has = self.record.tables(codes[known, kernels.FIRST])
        return inference_data(scalars, has, items, self.labels)


def warm() -> None:
    """Compile the kernels, or load them from the cache."""
    posterior = Posterior(4)
    for parent in ([4, 4, 5, 6, 5, 6, -1], [5, 4, 4, 6, 5, 6, -1]):
        posterior.add(Tree(parent, [0, 0, 0, 0, 0.1, 0.2, 0.3], 4), 0.0)
    posterior.triplet_shares([[0, 1, 2]])
    posterior.distance_variance([[0, 1, 2]])
    posterior.depth_moments()
    posterior.max_credibility()
    posterior.summary_tree()
    posterior.consensus()
    codes, target = np.zeros((1, 2), np.uint64), np.zeros(1, np.uint64)
    kernels.contained(codes, target, np.zeros((1, 1), bool))
    kernels.contained_sorted(codes, target, np.zeros((1, 1), bool))
    made = Draws(4)
    made.append(Tree([4, 4, 5, 6, 5, 6, -1], [0, 0, 0, 0, 0.1, 0.2, 0.3], 4), 0.0)
    Posterior.from_draws([made])
    made.clade_codes(CladeTable(4).keys)
