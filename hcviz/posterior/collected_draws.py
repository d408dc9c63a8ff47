"""``CollectedDraws``: what a posterior keeps of the trees that are added to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.tree_info import TreeInfo
from hcviz.posterior import kernels
from hcviz.posterior.chain_comparison import ChainComparison
from hcviz.posterior.chain_record import ChainRecord
from hcviz.posterior.clades import CladeTable
from hcviz.posterior.draws import Draws
from hcviz.posterior.thinned_trees import ThinnedTrees

Float = NDArray[np.float64]
Int = NDArray[np.int32]

#: Number of thinned trees.
MAX_TREES = 256
#: Limit of the numbers in the thinned trees of a run's posterior, divided by the number of items.
MAX_TREE_NUMBERS = 1_000_000


class CollectedDraws(ThinnedTrees):
    """Counts of clades, thinned trees and the record of each chain, within bounded memory.

    :class:`hcviz.posterior.Posterior` extends it by the answers that it gives from these.
    """

    def __init__(self, n_items: int, max_trees: int = MAX_TREES) -> None:
        if n_items < 2 or max_trees < 4:
            raise InvalidParameter("A posterior needs two items or more and keeps 4 trees or more.")
        super().__init__(n_items, max_trees)
        self.clade_table = CladeTable(n_items)
        self.record = ChainRecord(n_items)
        self.proposals = 0
        self.best: tuple[Tree, float, Any] | None = None
        # The tree with the greatest credibility so far, by the supports at the time it came.
        self._credible_tree: tuple[Int, Float] | None = None
        self._credible_codes: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        """Number of trees that were added."""
        return self.clade_table.trees

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
        if self.labels is None and tree.labels is not None:
            self.labels, self.info = tree.labels, tree.info
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
        cls,
        draws: Sequence[Draws],
        comparison: ChainComparison | None = None,
        labels: Sequence[str] | None = None,
        info: TreeInfo | None = None,
    ) -> Self:
        """Create the posterior of each chain's draws after its burn-in.

        Parameters
        ----------
        draws : sequence of Draws
            One for each chain, over the same items.
        comparison : ChainComparison or None
            The comparison of the chains; None: computed on request.
        labels : sequence of str or None
            The names of the items.
        info : TreeInfo or None
            How the trees were made.

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
        made.labels, made.info = None if labels is None else tuple(labels), info
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
        tree = made._named(Tree(*draws[chain].tree_arrays(row), n))
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

    def _log_credibility(self, codes: Any) -> float:
        """Return the sum of log supports; an uncounted clade has the support of half a tree."""
        counts = np.maximum(self.clade_table.counts(codes), 0.5)
        return float(np.log(counts / len(self)).sum())

    def _check_tree(self, tree: Tree) -> None:
        if not isinstance(tree, Tree):
            raise InvalidData(f"A Tree is needed, not {type(tree).__name__}.")
        if tree.n_leaves != self.n_items:
            raise InvalidData(
                f"The tree has {tree.n_leaves} leaves, but the posterior has {self.n_items} items."
            )
