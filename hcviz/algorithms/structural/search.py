"""``dasgupta-search``: the cheapest tree that regrafting finds, under triplets."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import param
from numpy.typing import NDArray

from hcviz.algorithms.base import Algorithm
from hcviz.algorithms.starting import start_tree
from hcviz.algorithms.structural import regraft, sparseregraft, starts
from hcviz.algorithms.structural.crsc import lowest_similarity
from hcviz.algorithms.structural.recursion import CutSettings, recurse
from hcviz.algorithms.structural.regraft import EVALUATED, Best, Search
from hcviz.algorithms.structural.sparseregraft import SparseSearch
from hcviz.core.build import build, build_guided
from hcviz.core.buildkernels import renumbered
from hcviz.core.cost import dasgupta_cost, penalty
from hcviz.core.errors import InvalidParameter
from hcviz.core.groups import NO_GROUPS, Nesting
from hcviz.core.heights import SIZE
from hcviz.core.problem import Problem
from hcviz.core.similarity import magnitude
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets

#: Operations between two places to stop: about 10 to 20 ms.
CHUNK = 20_000_000
#: Proposals for each pair (i, j) without a budget, and the most in all.
PER_PAIR = 2500
MAX_PROPOSALS = 100_000_000
#: Proposals for each item of a sparse graph, if that is more than ``MAX_PROPOSALS``.
PER_ITEM = 2500
#: A sparse matrix of more items stays sparse.
MAX_MADE_DENSE = 2_000
#: The most snapshots, about.
SNAPSHOTS = 40
#: Gains below this share of the cost are rounding.
ROUNDING = 1e-13


class Parameters(param.Parameterized):
    """Parameters of the search."""

    objective: Any = param.Selector(
        default="similarity",
        label="Numbers are",
        objects={"similarities": "similarity", "dissimilarities": "dissimilarity"},
        doc="What the numbers are: similarities (the cost is minimised) or dissimilarities (the "
        "same sum is maximised).",
    )
    lam = param.Number(
        None,
        label="Lambda",
        allow_None=True,
        bounds=(0, None),
        doc="None: every triplet holds. Else a violated one costs lam times its weight times the "
        "size of the smallest clade with a and b (the regularised cost).",
    )
    proposals = param.Integer(
        None,
        allow_None=True,
        bounds=(1, 10**12),
        doc="How many regrafts are evaluated in all (about 100 million a second). None: 2500 n^2, "
        "at most 100 million.",
    )


def run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Iterated local search by subtree-prune-and-regraft.

    It minimises Dasgupta's cost, or with ``lam`` the regularised cost of Chatziafratis et al.
    (2018), equation (4). For dissimilarities it maximises the value minus the penalties. For a
    subtree S, *all* places to regraft it are evaluated in one O(n) pass
    (:mod:`hcviz.algorithms.structural.regraft`), after O(n |S|) to sum its rows. The best place is
    taken. At a tree where no regraft helps, the tree is kept if it is no worse than the best so
    far, and a few random regrafts begin the next descent. Every tree yielded is the best so far, so
    costs never increase. Hard triplets hold in all of them.

    It begins at ``start``, repaired and made binary. Otherwise it begins at the cheapest of three
    trees: CRSC's, average linkage, and the agglomeration Paris (Bonald et al. 2018). For
    dissimilarities it begins at a balanced tree. A constant added to all pairs adds (n^3 - n)/3
    times the constant to every binary tree's cost. So negative numbers need no shift.

    Raises :class:`InconsistentTriplets` before it yields anything, unless ``lam`` is given. It
    needs a dense matrix, and a float32 copy of it for the first tree. A sparse matrix of more than
    ``MAX_MADE_DENSE`` items stays sparse, if it has similarities and all triplets are hard
    (:mod:`hcviz.algorithms.structural.sparseregraft`). Then memory is linear in its entries.
    """
    if params.objective == "dissimilarity":
        problem = problem.as_dissimilarities()
    n = problem.n_items
    lam = None if params.lam is None else float(params.lam)
    soft = lam is not None
    triplets = Triplets() if lam == 0 else problem.triplets
    if lam is None:
        build(n, triplets, problem.groups)  # raises InconsistentTriplets
    elif not np.isfinite(lam):
        raise InvalidParameter("lam must be finite; leave it out to make every triplet hold.")
    is_sparse = searches_graph(problem, params)
    if problem.is_sparse and not is_sparse:
        problem.similarity_or_default  # noqa: B018  raises TooLarge
    warm_tree = start_tree(start)
    if warm_tree is not None and not soft:
        warm_tree = build_guided(warm_tree, triplets, problem.groups)
    if is_sparse:
        return sparse_search(problem, params.proposals, rng, warm_tree)
    return _search(problem, params, triplets, rng, warm_tree)


def _search(
    problem: Problem,
    params: Parameters,
    triplets: Triplets,
    rng: np.random.Generator,
    warm_tree: Tree | None,
) -> Iterator[Snapshot | None]:
    """Run the search and yield the best trees."""
    n = problem.n_items
    matrix = problem.similarity_or_default.view()
    matrix.flags.writeable = False
    lam = float(params.lam or 0.0)
    soft = params.lam is not None
    sign = -1.0 if params.objective == "dissimilarity" else 1.0
    total = params.proposals or min(PER_PAIR * n * n, MAX_PROPOSALS)

    def snapshot(tree: Tree, step: int) -> Snapshot:
        cost = dasgupta_cost(tree, matrix)
        metrics = {"cost": cost}
        if soft and len(problem.triplets):
            metrics["regularised"] = cost + sign * penalty(tree, triplets, lam)
            metrics["violated"] = float((~tree.satisfies(problem.triplets)).sum())
        return Snapshot(tree, min(step, total), total, metrics)

    if n < 3:
        yield snapshot(Tree.star(n), total)
        return
    first_tree = warm_tree or (yield from _first(problem, triplets, sign, lam, soft))
    s = allocate(n, triplets, lam, Nesting(problem.groups, n))
    left, right = binary_children(first_tree)
    regraft.put_tree(s, left, right, 2 * n - 2)
    stride = max(1, CHUNK // n)
    for first in range(0, n, stride):
        regraft.put_cuts(s, matrix, sign, first, min(first + stride, n))
        yield None
    regraft.put_penalties(s)
    best = Best(s.leaf.copy(), s.up.copy(), s.cut.copy(), np.array([regraft.total_cost(s)]))
    least_gain = ROUNDING * float(s.size @ np.abs(s.cut))
    # The search crosses plateaus; the tree shown changes only when it becomes cheaper.
    cheapest, cost, shown_at, shown_cost = best_tree(best, n), best.cost[0], 0, best.cost[0]
    yield snapshot(cheapest, 0)
    while s.tally[EVALUATED] < total:
        regraft.advance(s, best, matrix, sign, rng, least_gain, CHUNK, total)
        step = int(s.tally[EVALUATED])
        if best.cost[0] < cost - least_gain:
            cheapest, cost = best_tree(best, n), best.cost[0]
        if step < total and cost < shown_cost and (step - shown_at) * SNAPSHOTS >= total:
            shown_at, shown_cost = step, cost
            yield snapshot(cheapest, step)
        else:
            yield None
    yield snapshot(cheapest, total)


def _first(
    problem: Problem, triplets: Triplets, sign: float, lam: float, soft: bool
) -> Generator[None, None, Tree]:
    """Return the first tree, in steps; for dissimilarities a balanced one.

    It is the cheapest of CRSC's, average linkage and Paris. Linkages are repaired to satisfy hard
    constraints. With soft triplets, CRSC and the linkages ignore them, and the price of those they
    violate counts.
    """
    n, is_sparse = problem.n_items, stays_sparse(problem)
    known = problem.without_constraints() if soft else problem
    if sign < 0:
        halves = Tree.from_linkage(balanced_linkage(n))
        return halves if soft else build_guided(halves, problem.triplets, problem.groups)
    tree = Tree.star(n)
    aho = build(n, known.triplets, known.groups)
    for snapshot in recurse(known, CutSettings(), lowest_similarity(known, True), aho, False):
        if snapshot is not None:
            tree = snapshot.tree
        yield None
    matrix = problem.similarity if is_sparse else problem.similarity_or_default
    agglomerate = starts.agglomerate_sparse if is_sparse else starts.agglomerate
    least = _objective(tree, matrix, triplets, lam)
    for mass in starts.masses(matrix):
        other = yield from agglomerate(matrix, mass)
        other = build_guided(other, known.triplets, known.groups)
        if not other.is_binary:
            other = Tree.from_linkage(other.to_linkage())
        cost = _objective(other, matrix, triplets, lam)
        if cost < least:
            tree, least = other, cost
        yield None
    return tree


def stays_sparse(problem: Problem) -> bool:
    """Return True if the similarities are a sparse matrix of too many items to make it dense."""
    return problem.is_sparse and problem.n_items > MAX_MADE_DENSE


def searches_graph(problem: Problem, params: Parameters) -> bool:
    """Return True if the search keeps a sparse matrix sparse."""
    return stays_sparse(problem) and params.objective == "similarity" and params.lam is None


def sparse_search(
    problem: Problem, proposals: int | None, rng: np.random.Generator, warm_tree: Tree | None
) -> Iterator[Snapshot | None]:
    """Run the search on a sparse matrix, and yield the best trees."""
    n, matrix = problem.n_items, problem.similarity
    total = proposals or min(PER_PAIR * n * n, max(MAX_PROPOSALS, PER_ITEM * n))

    def snapshot(tree: Tree, step: int) -> Snapshot:
        return Snapshot(tree, min(step, total), total, {"cost": dasgupta_cost(tree, matrix)})

    if n < 3:
        yield snapshot(Tree.star(n), total)
        return
    tree = warm_tree or (yield from _first(problem, problem.triplets, 1.0, 0.0, False))
    if not tree.is_binary:
        tree = Tree.from_linkage(tree.to_linkage())
    yield snapshot(tree, 0)
    graph = matrix.indptr, matrix.indices, np.asarray(matrix.data, np.float64)
    s = allocate_sparse(n, problem.triplets, Nesting(problem.groups, n))
    put_sparse_tree(s, tree, matrix)
    yield None
    least_gain = ROUNDING * float(s.totals[sparseregraft.COST])
    shown_at, shown_cost = 0, s.totals[sparseregraft.COST]
    while (step := int(s.state[sparseregraft.EVALUATED])) < total:
        sparseregraft.advance(s, *graph, rng, least_gain, CHUNK, total)
        if (step - shown_at) * SNAPSHOTS >= total:
            shown_at = step
            sparseregraft.keep(s, *graph)
            if s.totals[sparseregraft.COST] < shown_cost - least_gain:
                shown_cost = s.totals[sparseregraft.COST]
                yield snapshot(sparse_tree(s, n), step)
                continue
        yield None
    sparseregraft.keep(s, *graph)
    found = sparse_tree(s, n)
    better = dasgupta_cost(found, matrix) <= dasgupta_cost(tree, matrix)
    yield snapshot(found if better else tree, total)  # rounding may hide that nothing was gained


def allocate_sparse(n: int, triplets: Triplets, nesting: Nesting) -> SparseSearch:
    """Return work space for a search over trees of a sparse graph of n items."""
    m, rows = 2 * n - 1, triplets.rows.copy()
    begin, owned = triplets_of_items(rows, n)

    def ints(size: int = m) -> NDArray[np.int32]:
        return np.zeros(size, np.int32)

    def reals(size: int = m) -> NDArray[np.float64]:
        return np.zeros(size)

    return SparseSearch(
        up=ints(), left=ints(), right=ints(), size=ints(), cut=reals(), rows=rows,
        item_begin=begin, item_triplets=owned, group_size=nesting.size, group_first=nesting.first,
        x=reals(), down=reals(), value=reals(), mark=ints(), inside=ints(), above=ints(),
        floor=ints(), other=ints(), need=ints(), met=ints(), order=ints(m + 1), queue=ints(),
        waiting=ints(), journal=ints(2 * sparseregraft.JOURNAL + 8), state=np.zeros(11, np.int64),
        totals=reals(2),
    )  # fmt: skip


def triplets_of_items(rows: Any, n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the triplets of each item, as offsets int32 (n + 1,) and a list int32 (3k,)."""
    begin = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(rows.ravel(), minlength=n), out=begin[1:])
    return begin, (np.argsort(rows.ravel(), kind="stable") // 3).astype(np.int32)


def put_sparse_tree(s: SparseSearch, tree: Tree, matrix: Any) -> None:
    """Write a binary tree and its cuts."""
    n = tree.n_leaves
    sparseregraft.put_tree(s, tree.parent, n)
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(matrix.indptr))
    once = rows < matrix.indices
    rows, columns = rows[once], matrix.indices[once]
    sparseregraft.put_cuts(s, tree.lca(rows, columns), np.asarray(matrix.data[once], np.float64))


def sparse_tree(s: SparseSearch, n: int) -> Tree:
    """Return the tree of a sparse search."""
    return Tree.with_size_heights(renumbered(sparseregraft.parents_first(s), n), n)


def _objective(tree: Tree, matrix: Any, triplets: Triplets, lam: float) -> float:
    """Return what the search minimises for similarities."""
    return dasgupta_cost(tree, matrix) + (penalty(tree, triplets, lam) if lam else 0.0)


def allocate(n: int, triplets: Triplets, lam: float, nesting: Nesting | None = None) -> Search:
    """Return work space for a search over trees of n items.

    Triplets are hard if ``lam`` is 0. The groups are always hard.
    """
    m, rows = 2 * n - 1, triplets.rows.copy()
    k = len(rows)
    nesting = nesting or Nesting(NO_GROUPS, n)
    marks = 3 * k + len(nesting.size) + 1
    item_begin, item_triplets = triplets_of_items(rows, n)

    def ints(*shape: int) -> NDArray[np.int32]:
        return np.zeros(shape, np.int32)

    def reals(size: int) -> NDArray[np.float64]:
        return np.zeros(size)

    return Search(
        size=ints(m), end=ints(m), up=ints(m), leaf=ints(m), cut=reals(m), place=ints(n), rows=rows,
        price=lam * triplets.weights, item_begin=item_begin, item_triplets=item_triplets,
        x=reals(n), weight=reals(m), edge=reals(m), below=reals(m), floor=np.zeros(m, np.bool_),
        need=ints(m), met=ints(m), down=reals(m), value=reals(m), touched=ints(marks),
        old=reals(m), spare=ints(5, m), spare_cut=reals(m), tally=np.zeros(5, np.int64),
        group_size=nesting.size, group_first=nesting.first,
    )  # fmt: skip


def binary_children(tree: Tree) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the left and right child of each node, int32 (2n-1,), -1 at leaves; the root is last.

    A polytomy becomes a chain of its children in order, so all its clades stay.
    """
    n = tree.n_leaves
    if not tree.is_binary:
        tree = Tree.from_linkage(tree.to_linkage())
    children = tree.children_csr[1]
    left, right = np.full((2, 2 * n - 1), -1, np.int32)
    left[n:], right[n:] = children[0::2], children[1::2]
    return left, right


def balanced_linkage(n: int) -> NDArray[np.float64]:
    """Return scipy's matrix of a tree of least depth: merge the two oldest nodes, repeatedly."""
    made = np.empty((n - 1, 4))
    size = np.ones(2 * n - 1)
    for k in range(n - 1):
        size[n + k] = size[2 * k] + size[2 * k + 1]
        made[k] = 2 * k, 2 * k + 1, k + 1, size[n + k]
    return made


def best_tree(best: Best, n: int) -> Tree:
    """Return the best tree so far."""
    return Tree.with_size_heights(regraft.parents(best.leaf, best.up, n), n)


def _price(problem: Problem) -> float:
    """Return a hundred typical similarities as the price of a violated triplet.

    A fixed number would ignore the answers for one data set, and let nothing else count for
    another.
    """
    if stays_sparse(problem):
        return 100.0 * magnitude(np.atleast_2d(problem.similarity.data))
    return 100.0 * magnitude(problem.similarity_or_default)


DASGUPTA_SEARCH = Algorithm(
    name="dasgupta-search",
    title="Cheapest tree by search",
    paper="Chatziafratis, Niazadeh and Charikar 2018",
    run=run,
    needs=("similarity",),
    triplets="hard",
    reads_groups=True,
    softened_by="lam",
    priced_by="lam",
    objective="minimise",
    improves=True,
    maximises=lambda params: params.get("objective") == "dissimilarity",
    soft_price=_price,
    runs="thread",
    heights=SIZE,
    params=Parameters,
    summary="Moves subtrees to where they make the tree cheapest, again and again, and shows the "
    "best one so far. Best for the cheapest tree of a few thousand items or of a sparse graph; on "
    "dense similarities, sparsest cuts are 10 to 130 times as fast and cost up to 2 per cent more.",
    how_it_works="The method begins with the cheapest of three trees of faster methods. It takes "
    "out a subtree, computes the cost of every place for it, and puts it into the cheapest one. "
    "When no move helps, a few random moves begin the next round. The cheapest tree that it has "
    "seen is the result. Moves that violate a constraint are not allowed.",
)


def warm() -> None:
    """Compile or load the kernels, so that the first run does not wait for this."""
    problem = Problem(similarity=np.ones((4, 4)), triplets=[[0, 1, 2]], groups=[[0, 1]])
    params = DASGUPTA_SEARCH.parameters(proposals=100)
    for _ in DASGUPTA_SEARCH.start_run(problem, params, np.random.default_rng(0), Tree.star(4)):
        pass
