"""``Posterior``: summaries of sampled trees, within bounded memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.tree_info import TreeInfo
from hcviz.posterior import convergence, kernels
from hcviz.posterior.chain_comparison import ChainComparison, accuracy_text
from hcviz.posterior.chain_record import ChainRecord
from hcviz.posterior.clade_names import clade_names
from hcviz.posterior.clades import CladeTable
from hcviz.posterior.consensus import consensus_tree
from hcviz.posterior.draws import Draws
from hcviz.posterior.summarytree import margins, summary_tree
from hcviz.posterior.thinned_trees import ThinnedTrees, entropy_bits

Float = NDArray[np.float64]
Int = NDArray[np.int32]

#: Number of thinned trees.
MAX_TREES = 256
#: Limit of the numbers in the thinned trees of a run's posterior, divided by the number of items.
MAX_TREE_NUMBERS = 1_000_000
#: Number of clades (those of the least certain support) whose convergence is checked.
N_CHECKED_CLADES = 5
#: A clade is in doubt if its support is further than this from 0 and from 1. The median effective
#: number of draws is computed over at most this many clades in doubt.
DOUBT, MAX_DOUBTFUL_CLADES = 0.02, 64


class Posterior(ThinnedTrees):
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
        The names of the items, in the result of :func:`hcviz.sample`.
    info : TreeInfo or None
        How the trees were made, in the result of :func:`hcviz.sample`.

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

    def __init__(self, n_items: int, max_trees: int = MAX_TREES) -> None:
        if n_items < 2 or max_trees < 4:
            raise InvalidParameter("A posterior needs two items or more and keeps 4 trees or more.")
        super().__init__(n_items, max_trees)
        self.clade_table = CladeTable(n_items)
        self.record = ChainRecord(n_items)
        self.proposals = 0
        self.labels: tuple[str, ...] | None = None
        self.info: TreeInfo | None = None
        self.best: tuple[Tree, float, Any] | None = None
        # The tree with the greatest credibility so far, by the supports at the time it came.
        self._credible_tree: tuple[Int, Float] | None = None
        self._credible_codes: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        """Number of trees that were added."""
        return self.clade_table.trees

    def __repr__(self) -> str:
        trees = f"{len(self)} trees of {self.n_items} items"
        if not len(self):
            return f"Posterior({trees})"
        found = self.compare_chains()
        word = "settled" if found.settled else "not settled"
        return f"Posterior({trees}, {word}: {accuracy_text(found)})"

    def add(self, tree: Tree, log_joint: float, state: Any = None, chain: int = 0) -> None:
        """Add a draw.

        Parameters
        ----------
        tree : Tree
            The sampled tree.
        log_joint : float
            Its log joint; NaN if unknown.
        state : object
            The state of the chain; stored only for the tree of the highest log joint.
        chain : int
            The chain. The draws of each chain must come in their order.

        Raises
        ------
        InvalidData
            The tree has another number of leaves.

        Notes
        -----
        O(n), about 0.02 ms at n = 150.

        Examples
        --------
        >>> posterior = Posterior(3)
        >>> posterior.add(Tree.from_newick("((0,1),2);"), log_joint=-1.0)
        >>> len(posterior)
        1
        """
        self._check_tree(tree)
        number = self.record.next_number(chain)
        codes = self.clade_table.codes(tree)
        self.clade_table.add(tree, codes)
        if self.best is None or math.isnan(self.best[1]) or log_joint > self.best[1]:
            self.best = (tree, float(log_joint), state)
        if self._credible_codes is None or (
            self._log_credibility(codes) > self._log_credibility(self._credible_codes)
        ):
            self._credible_tree, self._credible_codes = (tree.parent, tree.height), codes
        if self.thinned_trees.keeps(number):
            self._keep(chain, number, tree.parent, tree.height)
        self.record.add(chain, number, float(log_joint), float(tree.height[-1]))
        if self.record.keeps_codes(number):
            self.record.add_codes(chain, number, codes)

    @classmethod
    def from_draws(
        cls, draws: Sequence[Draws], comparison: ChainComparison | None = None
    ) -> Posterior:
        """Create the posterior of each chain's draws after its burn-in.

        Parameters
        ----------
        draws : sequence of Draws
            One for each chain, over the same items.
        comparison : ChainComparison or None
            The comparison of the chains; None: computed on request.

        Returns
        -------
        Posterior
            Its ``record`` has no burn-in, so :meth:`verdict` removes none.

        Notes
        -----
        O(draws * n).

        Examples
        --------
        >>> from hcviz.posterior import Draws
        >>> draws = Draws(3)
        >>> draws.append(Tree.from_newick("((0,1),2);"), -1.0)
        >>> len(Posterior.from_draws([draws]))
        1
        """
        n = draws[0].n_items
        made = cls(n, max(16, min(MAX_TREES, MAX_TREE_NUMBERS // n)))
        made.record.burned_in = True
        made.proposals = sum(each.n_proposals for each in draws)
        for each in draws:
            made.clade_table.add_draws(each, each.after_burn_in())
        rows = [range(each.after_burn_in().start, each.n_draws) for each in draws]
        made._record_draws(draws, rows)
        made.record.set_comparison(comparison)
        joints = [
            np.nan_to_num(each.log_joint[each.after_burn_in()], nan=-np.inf) for each in draws
        ]
        chain = int(np.argmax([each.max() for each in joints]))
        row = rows[chain][int(joints[chain].argmax())]
        tree = Tree(*draws[chain].tree_arrays(row), n)
        made.best = (tree, float(draws[chain].log_joint[row]), None)
        credibility = [made._log_credibilities(each) for each in draws]
        chain = int(np.argmax([each.max() for each in credibility]))
        made._credible_tree = draws[chain].tree_arrays(
            rows[chain][int(credibility[chain].argmax())]
        )
        codes = kernels.clade_codes(made._credible_tree[0], n, made.clade_table.keys)
        made._credible_codes = codes[n:-1]
        return made

    def _record_draws(self, draws: Sequence[Draws], rows: Sequence[range]) -> None:
        """Add these rows of each chain's draws to the thinned trees and to the record."""
        record, trees = self.record, self.thinned_trees
        lengths = [len(each) for each in rows]
        for stream in (trees, record.scalars, record.codes):
            stream.expect(lengths)
        record.n_draws = dict(enumerate(lengths))
        stride = min(trees.stride, record.scalars.stride, record.codes.stride)
        for number in range(0, max(lengths), stride):
            for chain, each in enumerate(draws):
                if number < lengths[chain]:
                    self._record_draw(each, rows[chain][number], chain, number)

    def _record_draw(self, draws: Draws, row: int, chain: int, number: int) -> None:
        n_nodes = int(draws.nodes[row])
        if self.thinned_trees.keeps(number):
            self._keep(chain, number, *draws.tree_arrays(row))
        root_height = float(draws.height[row, n_nodes - self.n_items - 1])
        self.record.add(chain, number, float(draws.log_joint[row]), root_height)
        if self.record.keeps_codes(number):
            parent = draws.parent[row, :n_nodes]
            codes = kernels.clade_codes(parent, self.n_items, self.clade_table.keys)
            self.record.add_codes(chain, number, codes[self.n_items : -1])

    def _log_credibilities(self, draws: Draws) -> Float:
        """Return :meth:`_log_credibility` of each draw after the burn-in: float64 (draws,)."""
        chosen, table = draws.after_burn_in(), self.clade_table
        found = np.empty(chosen.stop - chosen.start)
        kernels.draw_credibilities(
            table.key, table.used, table.count, draws.parent[chosen], draws.nodes[chosen],
            self.n_items, table.keys, float(table.trees), found,
        )  # fmt: skip
        return found

    def add_snapshot(self, snapshot: Snapshot) -> None:
        """Add the tree of a snapshot, and the trees of the other chains in its state.

        Parameters
        ----------
        snapshot : Snapshot
            A snapshot of a method that samples. Its metric ``log_joint`` belongs to its tree.

        Raises
        ------
        InvalidData
            The tree has another number of leaves.

        Examples
        --------
        >>> posterior = Posterior(4)
        >>> features = [[0.0], [0.1], [5.0], [5.2]]
        >>> for snapshot in run("ddt", features, steps=60, every=20):
        ...     posterior.add_snapshot(snapshot)
        >>> len(posterior) > 1
        True
        """
        chains = getattr(snapshot.state, "chains", ())
        self.add(snapshot.tree, snapshot.metrics.get("log_joint", math.nan), snapshot.state)
        for number, state in enumerate(chains[1:], 1):
            self.add(state.tree(), state.log_joint, state, number)

    # ------------------------------------------------------------------ clades

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

    def clade_support(self, items: ArrayLike) -> float:
        """Return the share of all trees with the clade of exactly these items.

        Parameters
        ----------
        items : int (k,)
            Items, one or more; repeats are ignored.

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
        return consensus_tree(self.clade_table, threshold, mean_height)

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
        return Tree(*best, self.n_items)

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
        named = found.with_labels(self.labels).with_info(self.info)
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

    def _log_credibility(self, codes: Any) -> float:
        """Return the sum of log supports; an uncounted clade has the support of half a tree."""
        counts = np.maximum(self.clade_table.counts(codes), 0.5)
        return float(np.log(counts / len(self)).sum())

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

    # ------------------------------------------------------------------ checks

    def _check_tree(self, tree: Tree) -> None:
        if not isinstance(tree, Tree):
            raise InvalidData(f"A Tree is needed, not {type(tree).__name__}.")
        if tree.n_leaves != self.n_items:
            raise InvalidData(
                f"The tree has {tree.n_leaves} leaves, but the posterior has {self.n_items} items."
            )


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
