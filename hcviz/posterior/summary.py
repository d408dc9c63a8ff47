"""``Posterior``: what a stream of sampled trees says, within bounded memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidData, InvalidParameter, TooLarge
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.core.validation import check_integers
from hcviz.posterior import convergence, kernels
from hcviz.posterior.clades import CladeTable
from hcviz.posterior.draws import Draws
from hcviz.posterior.settling import Settling, compare_chains
from hcviz.posterior.summarytree import margins, summary_tree
from hcviz.posterior.thinned import Thinned

Float = NDArray[np.float64]
Int = NDArray[np.int32]

#: Trees that are kept whole; draws of log joint, root time and clades that are kept to judge by, in
#: all and at least for each chain: so many that 400 effective ones can be among them.
MAX_TREES, MAX_DRAWS, EACH = 256, 2048, 256
#: Numbers of all trees that are kept whole, over their items, in the posterior of a run.
ROOM = 1_000_000
#: Clades of one draw that are kept to be judged by, on average; where there are more, only those
#: whose code falls into a fixed share of all codes.
SAMPLED = 256
#: A clade of so few items is called by their names.
FEW = 3
#: n x n matrices are refused above this many items.
MAX_MATRIX = 2_000
#: Entries of n x n matrices that one call may add up, which bounds the trees it looks at.
MATRIX_WORK = 2e8
#: Clades (those of least certain support) whose convergence is watched.
WATCHED = 5
#: A clade is in doubt where its support is this far from 0 and from 1. The median effective number
#: of such clades is taken over so many of them.
DOUBT, WATCHED_SIZES = 0.02, 64


class Posterior:
    """Summaries of sampled trees over ``n_items``, fed one tree at a time.

    Two memories, both bounded: a table of all trees' clades (:class:`CladeTable`: supports are
    counts over *all* trees, exact until ``clade_error`` leaves 0) and evenly thinned trees
    (:class:`Thinned`: 128 to 256 of them once there are as many, from which everything about
    triplets, distances and depths comes). It is of one posterior: where the constraints or the data
    change, start another. It can be pickled.

    :meth:`add` costs O(n), about 0.02 ms at n = 150.
    """

    def __init__(self, n_items: int, max_trees: int = MAX_TREES) -> None:
        if n_items < 2 or max_trees < 4:
            raise InvalidParameter("A posterior is of two items or more and keeps 4 trees or more.")
        self.n_items = n_items
        self.clade_table = CladeTable(n_items)
        self._settling: Settling | None = None
        self._burned_in = False  # whether burn-in was set aside before the draws came here
        self.ring = Thinned(max_trees)
        self.draws = Thinned(MAX_DRAWS, EACH)
        self.codes = Thinned(MAX_DRAWS, EACH)
        self._one_in = np.uint64(-(-n_items // SAMPLED))
        self.seen: dict[int, int] = {}  # draws of each chain
        self.proposals = 0  # of all chains, burn-in included, in the result of hcviz.sample
        self.best: tuple[Tree, float, Any] | None = None  # the highest log joint, and its state
        self._champion: tuple[Int, Float] | None = None
        self._champion_codes: NDArray[np.uint64] | None = None
        self._shapes: tuple[Int, Int, Int] | None = None

    def __len__(self) -> int:
        """How many trees were added."""
        return self.clade_table.trees

    def add(self, tree: Tree, log_joint: float, state: Any = None, chain: int = 0) -> None:
        """One more draw. Chains are numbered by the caller and add their draws in turn.

        ``state`` is kept with the tree of the highest log joint only. nan: nobody knows it.
        """
        self._fits(tree)
        self._settling = None
        number = self.seen.get(chain, 0)
        self.seen[chain] = number + 1
        codes = self.clade_table.codes(tree)
        self.clade_table.add(tree, codes)
        if self.best is None or math.isnan(self.best[1]) or log_joint > self.best[1]:
            self.best = (tree, float(log_joint), state)
        if self._champion_codes is None or self._credit(codes) > self._credit(self._champion_codes):
            self._champion, self._champion_codes = (tree.parent, tree.height), codes
        if self.ring.wants(number):
            shape = kernels.shape_of(tree.parent.copy(), self.n_items)
            self.ring.add(chain, number, (tree.parent, tree.height, shape))
            self._shapes = None
        self.draws.add(chain, number, (float(log_joint), float(tree.height[-1])))
        if self.codes.wants(number):
            self.codes.add(chain, number, codes[codes[:, 1] % self._one_in == 0, 0].copy())

    @classmethod
    def of_draws(cls, draws: Sequence[Draws], found: Settling | None = None) -> Posterior:
        """The posterior of the later half of each chain's draws.

        Parameters
        ----------
        draws : sequence of Draws
            One for each chain.
        found : Settling or None
            How far the chains are from each other; None: computed when asked for.
        """
        n = draws[0].n_items
        made = cls(n, max(16, min(MAX_TREES, ROOM // n)))
        made._settling, made._burned_in = found, True
        made.proposals = sum(each.made for each in draws)
        for each in draws:
            made.clade_table.add_draws(each, each.latest())
        rows = [range(each.latest().start, each.held) for each in draws]
        credits = [made._credits(each) for each in draws]
        for number in range(max(map(len, rows))):
            for chain, each in enumerate(draws):
                if number < len(rows[chain]):
                    made._keep(each, rows[chain][number], chain, number)
        made.seen = {chain: len(each) for chain, each in enumerate(rows)}
        joints = [np.nan_to_num(each.log_joint[each.latest()], nan=-np.inf) for each in draws]
        chain = int(np.argmax([each.max() for each in joints]))
        at = rows[chain][int(joints[chain].argmax())]
        tree = Tree(*draws[chain].arrays(at), n)
        made.best = (tree, float(draws[chain].log_joint[at]), None)
        chain = int(np.argmax([each.max() for each in credits]))
        champion = draws[chain].arrays(rows[chain][int(credits[chain].argmax())])
        made._champion = champion
        made._champion_codes = kernels.clade_codes(champion[0], n, made.clade_table.keys)[n:-1]
        return made

    def _keep(self, draws: Draws, row: int, chain: int, number: int) -> None:
        """Put one draw into the thinned records; its clades are counted elsewhere."""
        nodes = int(draws.nodes[row])
        if self.ring.wants(number):
            parent, height = draws.arrays(row)
            self.ring.add(chain, number, (parent, height, kernels.shape_of(parent, self.n_items)))
        root = float(draws.height[row, nodes - self.n_items - 1])
        self.draws.add(chain, number, (float(draws.log_joint[row]), root))
        if self.codes.wants(number):
            parent = draws.parent[row, :nodes]
            codes = kernels.clade_codes(parent, self.n_items, self.clade_table.keys)
            codes = codes[self.n_items : -1]
            self.codes.add(chain, number, codes[codes[:, 1] % self._one_in == 0, 0].copy())

    def _credits(self, draws: Draws) -> Float:
        """:meth:`_credit` of each draw in the later half: float64 (draws,)."""
        found = []
        for row in range(draws.latest().start, draws.held):
            parent = draws.parent[row, : draws.nodes[row]]
            codes = kernels.clade_codes(parent, self.n_items, self.clade_table.keys)
            found.append(self._credit(codes[self.n_items : -1]))
        return np.array(found)

    def add_snapshot(self, snapshot: Snapshot) -> None:
        """:meth:`add` of a snapshot's tree, and of the trees of all chains that its state has."""
        chains = getattr(snapshot.state, "chains", ())
        self.add(snapshot.tree, snapshot.metrics.get("log_joint", math.nan), snapshot.state)
        for number, state in enumerate(chains[1:], 1):
            self.add(state.tree(), state.log_joint, state, number)

    # ------------------------------------------------------------------ clades

    @property
    def clade_error(self) -> float:
        """Supports are too low by this much at most (a share of the trees); 0: exact."""
        return self.clade_table.error / max(len(self), 1)

    def support(self, tree: Tree) -> Float:
        """The share of all trees that have each clade of ``tree``, which may be of any method.

        Parameters
        ----------
        tree : Tree
            Over the same items.

        Returns
        -------
        float64 (n_internal,)
            In the order of the inner nodes n, n + 1, ...; the root's is 1. Exact, or too low by
            ``clade_error`` at most.

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
        self._some()
        self._fits(tree)
        counts = self.clade_table.counts(self.clade_table.codes(tree))
        return np.append(counts / len(self), 1.0)

    def support_sizes(self, tree: Tree, nodes: ArrayLike) -> Float:
        """How many independent trees the supports of these inner nodes' clades are worth: float64,
        as ``nodes``.

        By the autocorrelation of having the clade along each chain (a chain that always has it, or
        never, counts in full), over the draws that are kept to judge by. NaN with fewer than 50 of
        them a chain and, of more than 256 items, for clades outside the share that is kept.
        O(nodes * draws kept).
        """
        self._some()
        chosen = np.asarray(nodes, dtype=np.int64).ravel() - tree.n_leaves
        wanted = self.clade_table.codes(tree)[chosen]
        kept = np.ascontiguousarray(self._table(self.codes, 0.0))
        chains, draws, width = kept.shape
        found = np.full(chosen.size, np.nan)
        known = np.flatnonzero(wanted[:, 1] % self._one_in == 0)
        if draws >= convergence.FEWEST and known.size:
            has = np.zeros((chains * draws, known.size), np.bool_)
            targets = np.ascontiguousarray(wanted[known, 0])
            kernels.contained(kept.reshape(-1, width), targets, has)
            for k, column in zip(known.tolist(), has.T, strict=True):
                found[k] = convergence.ess_mean(column.reshape(chains, draws))
        return found

    def clades(self, min_support: float = 0.05) -> list[tuple[Int, float]]:
        """The clades with a support of at least ``min_support``.

        Parameters
        ----------
        min_support : float
            From 0 to 1.

        Returns
        -------
        list of (items, support)
            The items of a clade, int32, sorted; and the share of trees that have it. Clades with
            greater support come first, of equals larger ones. Single items and the set of all
            items are left out.

        Raises
        ------
        InvalidParameter
            ``min_support`` is not from 0 to 1.
        InvalidData
            No tree has been sampled yet.

        Notes
        -----
        A clade is listed if one of the thinned trees has it. A clade with support p is missing
        from 256 independent ones with probability (1 - p)^256, 2e-6 at 0.05. O(trees kept * n).

        Examples
        --------
        >>> import hcviz
        >>> from hcviz.posterior import Posterior
        >>> posterior = Posterior(3)
        >>> posterior.add(hcviz.Tree([3, 3, 4, 4, -1], [0, 0, 0, 0.5, 1.0], 3), 0.0)
        >>> [(items.tolist(), support) for items, support in posterior.clades()]
        [([0, 1], 1.0)]
        """
        self._some()
        if isinstance(min_support, bool | str) or not 0.0 <= min_support <= 1.0:
            raise InvalidParameter(f"min_support must be from 0 to 1, not {min_support!r}.")
        n, table = self.n_items, self.clade_table
        seen: set[tuple[int, int]] = set()
        found: list[tuple[Int, float]] = []
        for parent, height, _ in self.ring.value:
            codes = kernels.clade_codes(parent, n, table.keys)[n:-1]
            share = table.counts(codes) / len(self)
            tree = None
            for k in np.flatnonzero(share >= min_support).tolist():
                code = (int(codes[k, 0]), int(codes[k, 1]))
                if code not in seen:
                    seen.add(code)
                    tree = tree or Tree(parent, height, n)
                    found.append((np.sort(tree.leaves(n + k)), float(share[k])))
        return sorted(found, key=lambda each: (-each[1], -each[0].size, each[0].tolist()))

    def clade_support(self, items: ArrayLike) -> float:
        """The share of all trees in which exactly these items are a clade. O(their number)."""
        self._some()
        chosen = np.unique(self._items(items))
        if chosen.size in (1, self.n_items):
            return 1.0
        return self.clade_table.count_of(chosen) / len(self)

    def clade_entropy(self, tree: Tree) -> Float:
        """Bits of doubt about each clade of ``tree``: float64 (n_internal,); 1 at support 1/2."""
        share = self.support(tree)
        return _bits(share) + _bits(1.0 - share)

    def consensus(self, threshold: float = 0.5) -> tuple[Tree, Float]:
        """The majority-rule consensus tree and its inner nodes' supports, float64 (n_internal,).

        Its clades are those that more than ``threshold`` (1/2 to 1) of all trees have: any two of
        these occur together in some tree, so they nest; where they leave a choice there is a
        polytomy. A node's height is the mean of its clade's over the trees that have it, made to
        rise. O(n^2) bits at worst.
        """
        self._some()
        if not 0.5 <= threshold < 1:
            raise InvalidParameter("The threshold of a consensus is from 0.5 to below 1.")
        sets, share, mean = self.clade_table.above(threshold)
        n, k = self.n_items, len(sets)
        parent = np.full(n + k + 1, -1, np.int32)
        height = np.zeros(n + k + 1)
        over = np.full(n, n + k, np.int32)  # the smallest clade so far around each item
        # The largest first, so parents before children: clade i becomes node n + k - 1 - i.
        for i, members in enumerate(sets):
            node = n + k - 1 - i
            parent[node] = over[members[0]]
            over[members] = node
            height[node] = mean[i]
        parent[:n] = over
        height[-1] = np.mean([draw[1] for draw in self.draws.value])
        for v in range(n + k):
            height[parent[v]] = max(height[parent[v]], height[v])
        return Tree(parent, height, n), np.append(share[::-1], 1.0)

    def max_credibility(self) -> Tree:
        """The maximum clade credibility tree: of sampled trees the one with the greatest product of
        clade supports.

        Exactly: the best, by the supports as they are now, of the thinned trees and of one more,
        the winner of a duel with each tree that ever came (by the supports of that moment). With
        few trees that is the best of all; with many it may miss one that only later supports
        favour. O(trees kept * n).
        """
        self._some()
        assert self._champion is not None
        best, credit = self._champion, self._credit(self._champion_codes)
        for parent, height, _ in self.ring.value:
            n = self.n_items
            codes = kernels.clade_codes(parent.copy(), n, self.clade_table.keys)[n:-1]
            value = self._credit(codes)
            if value > credit:
                best, credit = (parent, height), value
        return Tree(*best, self.n_items)

    def summary_tree(self, composed: bool = True, before: Tree | None = None) -> Tree:
        """The tree of greatest clade credibility that the sampled clades can form.

        Parameters
        ----------
        composed : bool
            True: any two sampled clades may be joined (CCD0-MAP). False: a clade is split only as
            some sampled tree splits it (HIPSTR).
        before : Tree or None
            A binary tree of the same items, such as the summary before a constraint was added. Its
            clades may be used as well, and their supports count as 3 standard errors higher. So a
            clade of it is replaced only where the draws show that others are more credible. With
            more draws it has less and less effect.

        Returns
        -------
        Tree
            Without ``before``, its product of clade supports is at least that of
            :meth:`max_credibility`. Where all sampled trees and ``before`` are binary, it is
            binary, and it satisfies every triplet that they all satisfy.

        Raises
        ------
        InvalidData
            No tree has been sampled yet, or ``before`` has a node with more than two children.

        Notes
        -----
        The clades are those of the thinned trees and of the best tree of :meth:`max_credibility`;
        their supports are of all trees. See :func:`hcviz.posterior.summarytree.summary_tree` for
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
        self._some()
        assert self._champion is not None
        trees = [(parent, height) for parent, height, _ in self.ring.value]
        if not any(parent is self._champion[0] for parent, _ in trees):
            trees.append(self._champion)
        if before is None:
            return summary_tree(self.clade_table, trees, composed)
        if not before.is_binary:
            raise InvalidData("The tree before must be binary.", "Leave before=None.")
        share = self.support(before)[:-1]
        extra = margins(share, self._effective_number(before, share))
        return summary_tree(self.clade_table, trees, composed, before, extra)

    def _effective_number(self, tree: Tree, share: Float) -> float:
        """The median over clades of ``tree`` that are in doubt; NaN with too few draws to say.

        ``share``: the supports of the clades below the root.
        """
        doubtful = np.flatnonzero((share > DOUBT) & (share < 1.0 - DOUBT))
        if not doubtful.size:
            return float(len(self))
        most = min(doubtful.size, WATCHED_SIZES * int(self._one_in))
        some = doubtful[np.linspace(0, doubtful.size - 1, most).astype(int)]
        sizes = self.support_sizes(tree, tree.n_leaves + some)
        sizes = sizes[~np.isnan(sizes)]
        return float(np.median(sizes)) if sizes.size else math.nan

    def _credit(self, codes: Any) -> float:
        """Sum of log support; a clade that is not held counts as half a tree."""
        counts = np.maximum(self.clade_table.counts(codes), 0.5)
        return float(np.log(counts / len(self)).sum())

    # ------------------------------------------------------------------ triplets

    def triplet_shares(self, triplets: Any) -> Float:
        """P(ab|c), P(ac|b), P(bc|a) for many triplets: float64 (k, 3), from the thinned trees.

        What is missing to 1 are trees that leave the three unresolved.
        O(trees kept * (n log n + k)): 5,000 triplets at n = 150 in some 5 ms.
        """
        return self._count(triplets)[0] / len(self.ring)

    def triplet_probability(self, triplets: Any) -> Float:
        """P(ab|c) of each row: float64 (k,)."""
        return np.asarray(self.triplet_shares(triplets)[:, 0])

    def triplet_entropy(self, triplets: Any) -> Float:
        """Bits of doubt about how each three items hang together, float64 (k,): 0 to log2 3.

        (To 2, where there are unresolved trees.)
        """
        shares = self.triplet_shares(triplets)
        rest = np.maximum(1.0 - shares.sum(axis=1), 0.0)
        found: Float = _bits(shares).sum(axis=1) + _bits(rest)
        return found

    def joint_probability(self, triplets: Any) -> float:
        """The share of the thinned trees in which *all* of ``triplets`` hold."""
        return float(self._count(triplets)[1].mean())

    def _count(self, triplets: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        self._some()
        rows = Triplets.of(triplets, self.n_items).rows.copy()
        place, gap, _ = self.shapes()
        out = np.zeros((len(rows), 3), np.int64)
        held = np.zeros(len(place), np.bool_)
        kernels.count_triplets(place, gap, rows, out, held)
        return out, held

    # ------------------------------------------------------------------ distances and depths

    def distance_variance(self, subsets: ArrayLike, induced: bool = True) -> Float:
        """Vikram & Dasgupta's (2016) criterion for a question: TDV(S) of many subsets S at once,
        float64 (L,).

        ``subsets`` is int (L, s), s >= 2. TDV(S) is the greatest variance, over u and v in S, of
        the number of edges between u and v over the thinned trees: in the tree induced by S (as the
        published code has it) or in the whole tree (as the text has it). The code's standard
        deviation is its root. O(trees kept * (n log n + L s^2)): 100 subsets of 10 at n = 150 in
        some 10 ms.
        """
        found = self.distance_variances(subsets, induced)
        return np.asarray(found.max(axis=(1, 2)))

    def distance_variances(self, subsets: ArrayLike, induced: bool = True) -> Float:
        """As :meth:`distance_variance`, of every pair: float64 (L, s, s), symmetric."""
        self._some()
        chosen = np.atleast_2d(np.asarray(subsets))
        if chosen.ndim != 2 or chosen.shape[1] < 2:
            raise InvalidData("Subsets of items are rows of two items or more.")
        chosen = self._items(chosen)
        ordered = np.sort(chosen, axis=1)
        if np.any(ordered[:, 1:] == ordered[:, :-1]):
            raise InvalidData("A subset names an item twice.")
        place, gap, depth = self.shapes()
        many, s = chosen.shape
        total = np.zeros((many, s, s), np.int64)
        square = np.zeros((many, s, s), np.int64)
        kernels.count_distances(place, gap, depth, chosen, induced, total, square)
        variance = _variance(total, square, len(place))
        return variance + variance.transpose(0, 2, 1)

    def depth_moments(self) -> tuple[Float, Float]:
        """Mean and variance of the depth (edges from the root) of every LCA: two float64 (n, n).

        On the diagonal the leaves' own depths. From as many evenly spaced thinned trees as make
        2e8 entries together (all at n = 800, 50 at n = 2,000; half a second); above 2,000 items
        :class:`TooLarge`.
        """
        self._some()
        n = self.n_items
        if n > MAX_MATRIX:
            raise TooLarge(
                f"The depths of all LCAs are an n x n matrix, and there are {n:,} items (the limit "
                f"is {MAX_MATRIX:,}).",
                "Ask for the triplets or subsets you need.",
            )
        return depth_moments(*self.shapes())

    # ------------------------------------------------------------------ the thinned trees

    def trees(self, number: int | None = None) -> list[Tree]:
        """The thinned trees in the order they came; or about ``number`` evenly spaced ones."""
        kept = self.ring.value
        if number is not None and number < len(kept):
            at = np.unique(np.linspace(0, len(kept) - 1, max(number, 1)).round().astype(int))
            kept = [kept[i] for i in at.tolist()]
        return [Tree(parent, height, self.n_items) for parent, height, _ in kept]

    def shapes(self) -> tuple[Int, Int, Int]:
        """``(place, gap, depth)`` of the thinned trees: int32 (k, n), (k, n - 1), (k, n)."""
        if self._shapes is None:
            each = [shape for _, _, shape in self.ring.value]
            place, gap, depth = (np.stack(parts) for parts in zip(*each, strict=True))
            self._shapes = place, gap, depth
        return self._shapes

    # ------------------------------------------------------------------ has it settled?

    def settling(self) -> Settling:
        """How far the chains' clade supports are from each other; see
        :func:`hcviz.posterior.settling.compare_chains`.

        It is of the draws that are kept to judge by: none is set aside. The halves of a single
        chain are compared. Of more than 256 items only a fixed share of all possible clades is
        used. It is computed once after each change; some 50 ms at n = 150.
        """
        if self._settling is None:
            chains = [] if not len(self) else list(self._table(self.codes, 0.0))
            self._settling = compare_chains(chains)
        return self._settling

    @property
    def accuracy(self) -> float:
        """Supports are right to within this much, as far as independent chains can tell.

        The 95 % quantile, over clades with support above 5 %, of the difference between the
        chains, or of two standard errors where that is more: 0.08 is "accurate to about 8 points".
        NaN with fewer than 50 draws a chain.
        """
        return self.settling().accuracy

    @property
    def settled(self) -> bool:
        """Whether :attr:`accuracy` is at most 0.05."""
        return self.settling().settled

    def verdict(
        self, burn_in: float | None = None, labels: Sequence[str] | None = None
    ) -> convergence.Verdict:
        """Whether the chains have settled, in words and numbers; see :func:`convergence.verdict`.

        Looked at are log joint, root height, and whether a tree has each of the five least certain
        clades (support between 0.05 and 0.95), over what was kept of each chain less its first
        ``burn_in`` (None: 0.25, or 0 in the result of :func:`hcviz.sample`, where burn-in is left
        out already), cut to the shortest; not the log joint where a tree came without. Of more than
        256 items only a fixed share of all possible clades is looked at. ``labels`` name the items
        in what is said. Its ``accuracy`` is :attr:`accuracy`. Some 80 ms.
        """
        if not len(self):
            return convergence.verdict({})
        if burn_in is None:
            burn_in = 0.0 if self._burned_in else convergence.BURN_IN
        joint = self._table(self.draws, burn_in)
        quantities: dict[str, ArrayLike] = {"the root's height": joint[:, :, 1]}
        if not np.isnan(joint[:, :, 0]).any():
            quantities = {"the log joint": joint[:, :, 0], **quantities}
        targets = self.clade_table.uncertain(WATCHED, self._one_in)
        if targets.size and joint.shape[1] >= convergence.FEWEST:
            codes = np.ascontiguousarray(self._table(self.codes, burn_in))
            chains, draws, width = codes.shape
            has = np.zeros((chains * draws, targets.size), np.bool_)
            kernels.contained(codes.reshape(-1, width), targets, has)
            for i, name in enumerate(self._names(targets, labels)):
                quantities[name] = has[:, i].reshape(chains, draws)
        return replace(convergence.verdict(quantities), accuracy=self.accuracy)

    def _names(self, codes: NDArray[np.uint64], labels: Sequence[str] | None) -> list[str]:
        """What to call each clade: by its items where they are few, else by their number.

        Its items are read off a thinned tree that has it; a clade without any is "a rare clade".
        """
        items: dict[int, NDArray[np.intp]] = {}
        for parent, height, _ in self.ring.value[::-1]:
            if len(items) == codes.size:
                break
            own = kernels.clade_codes(parent.copy(), self.n_items, self.clade_table.keys)[:, 0]
            for at in np.flatnonzero(np.isin(own[self.n_items :], codes)).tolist():
                node = self.n_items + at
                if int(own[node]) not in items:
                    tree = Tree(parent, height, self.n_items)
                    items[int(own[node])] = np.sort(tree.leaves(node))
        found: list[str] = []
        for code in codes.tolist():
            members = items.get(code)
            if members is None:
                name = "a rare clade"
            elif members.size <= FEW:
                called = [str(x) if labels is None else labels[x] for x in members.tolist()]
                name = f"the clade of {', '.join(called[:-1])} and {called[-1]}"
            else:
                name = f"a clade of {members.size} items"
            name += f" ({100 * self._share(code):.0f} % of the trees)"
            again = sum(each.startswith(name) for each in found)
            found.append(f"{name}, number {again + 1}" if again else name)
        return found

    def _share(self, code: int) -> float:
        at = np.flatnonzero(self.clade_table.used & (self.clade_table.key[:, 0] == np.uint64(code)))
        return float(self.clade_table.count[at].sum()) / len(self)

    @staticmethod
    def _table(kept: Thinned, burn_in: float) -> NDArray[Any]:
        """(chains, draws, width) of what is kept, the first part of each chain set aside.

        Rows shorter than the longest are filled with 0.
        """
        chains = [rows[math.ceil(burn_in * len(rows)) :] for rows in kept.by_chain()]
        draws = min(len(rows) for rows in chains)
        width = max(np.size(value) for value in kept.value)
        found = np.zeros((len(chains), draws, width), np.asarray(kept.value[0]).dtype)
        for i, rows in enumerate(chains):
            for j, position in enumerate(rows[len(rows) - draws :]):
                value = kept.value[position]
                found[i, j, : np.size(value)] = value
        return found

    # ------------------------------------------------------------------

    def _fits(self, tree: Tree) -> None:
        if tree.n_leaves != self.n_items:
            raise InvalidData(
                f"The tree has {tree.n_leaves} leaves, the posterior {self.n_items} items."
            )

    def _some(self) -> None:
        if not len(self):
            raise InvalidData("No tree has been sampled yet.", "Let the sampler run first.")

    def _items(self, items: ArrayLike) -> Int:
        found = check_integers(items, "Items", InvalidData)
        if found.size == 0 or found.min() < 0 or found.max() >= self.n_items:
            raise InvalidData(f"There are items 0..{self.n_items - 1} only.")
        return np.ascontiguousarray(found, dtype=np.int32)


def depth_moments(place: Int, gap: Int, depth: Int) -> tuple[Float, Float]:
    """:meth:`Posterior.depth_moments` of what :meth:`Posterior.shapes` gives, which nobody changes:
    so another thread can count while trees are added."""
    n = place.shape[1]
    many = min(len(place), max(int(MATRIX_WORK / n**2), 8))
    chosen = np.unique(np.linspace(0, len(place) - 1, many).round().astype(int))
    place, gap, depth = place[chosen], gap[chosen], depth[chosen]
    order = np.argsort(place, axis=1).astype(np.int32)
    mean, variance = np.empty((n, n)), np.empty((n, n))
    for begin in range(0, n, 64):  # some 10 ms each, without the GIL
        rows = slice(begin, min(begin + 64, n))
        kernels.depth_rows(place, order, gap, depth, begin, mean[rows], variance[rows])
    return mean, variance


def _bits(share: Float) -> Float:
    """-p log2 p, 0 at 0."""
    return -share * np.log2(np.where(share > 0, share, 1.0))


def _variance(total: NDArray[np.int64], square: NDArray[np.int64], number: int) -> Float:
    """Mean square less squared mean (the population's variance), exact until the last division."""
    return (number * square - total * total) / float(number) ** 2


def warm() -> None:
    """Compile (or load) the kernels, so that nobody's first click waits for it."""
    made = Posterior(4)
    for parent in ([4, 4, 5, 6, 5, 6, -1], [5, 4, 4, 6, 5, 6, -1]):
        made.add(Tree(parent, [0, 0, 0, 0, 0.1, 0.2, 0.3], 4), 0.0)
    made.triplet_shares([[0, 1, 2]])
    made.distance_variance([[0, 1, 2]])
    made.depth_moments()
    made.max_credibility()
    made.summary_tree()
    made.consensus()
    kernels.contained(np.zeros((1, 2), np.uint64), np.zeros(1, np.uint64), np.zeros((1, 1), bool))
