"""The diffusion tree's definitions, slow and plain, and ways to put trees into the kernel."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np

from hcviz import Tree
from hcviz.algorithms.ddt.density import put_scale, put_tree
from hcviz.algorithms.ddt.legal import gather_active, gather_partials, mark_groups
from hcviz.algorithms.ddt.starttrees import children_of
from hcviz.algorithms.ddt.work import (
    LEARNT,
    LEFT,
    PARENT,
    RIGHT,
    SIZE,
    SLIDES_EACH,
    U,
    Work,
    allocate,
    partial_arrays,
)
from hcviz.core.groups import Groups


def harmonic(k: int) -> float:
    return sum(1.0 / i for i in range(1, k + 1))


def slow_log_prior(w: Work) -> float:
    """The generative formula, top down by recursion, in t: Vikram & Dasgupta's (2016) prior, as
    NOTES state it."""
    c = float(w.real[0])

    def leaves(v: int) -> int:
        return 1 if w.node[v, LEFT] < 0 else leaves(w.node[v, LEFT]) + leaves(w.node[v, RIGHT])

    def below(v: int, begin: float) -> float:
        if w.node[v, LEFT] < 0:
            return 0.0
        u = float(w.time[v, U])
        left, right = int(w.node[v, LEFT]), int(w.node[v, RIGHT])
        nl, nr = leaves(left), leaves(right)
        own = math.log(c) + u  # log a(t), a(t) = c / (1 - t)
        own += (c * begin - c * u) * harmonic(nl + nr - 1)
        own += math.lgamma(nl) + math.lgamma(nr) - math.lgamma(nl + nr)
        return own + below(left, u) + below(right, u)

    return below(int(np.flatnonzero(w.node[:, PARENT] < 0)[0]), 0.0)


def slow_log_likelihood(w: Work) -> float:
    """A Gaussian with covariance sigma^2 (t_lca(i, j) + [i = j] noise), t_ii = 1."""
    n, dims = w.data.shape
    cov = np.empty((n, n))
    for i in range(n):
        above = {i}
        x = i
        while w.node[x, PARENT] >= 0:
            x = int(w.node[x, PARENT])
            above.add(x)
        for j in range(n):
            y = j
            while y not in above:
                y = int(w.node[y, PARENT])
            cov[i, j] = 1.0 + w.real[1] if i == j else -math.expm1(-w.time[y, U])
    _, logdet = np.linalg.slogdet(cov)
    total = 0.0
    for d in range(dims):
        x = w.data[:, d] / w.sigma[d]
        total -= 0.5 * (n * math.log(2 * math.pi) + logdet + x @ np.linalg.solve(cov, x))
        total -= n * math.log(w.sigma[d])
    return total


def slow_log_joint(w: Work) -> float:
    """Tree, times and data; where the leaf noise nu is learnt also nu, and u in place of t."""
    value = slow_log_prior(w) + slow_log_likelihood(w)
    if w.tally[LEARNT]:
        nu = float(w.real[1])
        if np.any(nu * w.sigma**2 < w.noise_floor * (1 - 1e-9)):
            return -math.inf
        value += math.log(1 / (1 + nu) ** 2)
        n = w.data.shape[0]
        for v in range(n, 2 * n - 1):
            value += math.log(math.exp(-w.time[v, U]))  # dt = exp(-u) du
    return value


def slow_bound(w: Work) -> float:
    """What :func:`slow_log_joint` with learnt noise never exceeds at this c (docs/leaf-noise.md).

    A tied column: (2 pi floor)^(-n/2). One without ties, least gap g: (pi e g^2 / n)^(-n/2). The
    tree: c^(n-1).
    """
    n, dims = w.data.shape
    value = (n - 1) * math.log(float(w.real[0]))
    for d in range(dims):
        if w.noise_floor[d] > 0:
            value -= 0.5 * n * math.log(2 * math.pi * w.noise_floor[d])
        else:
            gap = np.diff(np.sort(w.data[:, d])).min()
            value -= 0.5 * n * math.log(math.pi * math.e * gap**2 / n)
    return value


def slow_log_walk(
    w: Work, top: int, limit: float, floors: set[int], branch: int, u: float
) -> float:
    """log density (in u) of diverging above ``branch`` at u, walking from above ``top``."""
    c = float(w.real[0])
    path = [branch]
    while path[-1] != top:
        path.append(int(w.node[path[-1], PARENT]))
    total = 0.0
    for x, after in zip(path[::-1], [*path[-2::-1], None], strict=True):
        above = int(w.node[x, PARENT])
        begin = float(w.time[above, U]) if above >= 0 else 0.0
        rate = c / int(w.node[x, SIZE])
        end = min(float(w.time[x, U]), limit)
        forced = w.time[x, U] >= limit or x in floors
        if after is not None:
            if forced:
                return -math.inf
            total -= rate * (end - begin)
            total += math.log(w.node[after, SIZE] / w.node[x, SIZE])
        else:
            if not begin < u < end:
                return -math.inf
            total += math.log(rate) - rate * (u - begin)
            if forced:
                total -= math.log(1.0 - math.exp(-rate * (end - begin)))
    return total


def chain(
    tree: Tree,
    rng: np.random.Generator,
    dims: int = 3,
    triplets=(),
    noise: float = 0.0,
    beta: float | None = None,
    c: float = 1.0,
    data=None,
    floor=None,
    groups=(),
    not_groups=(),
    statements: bool | None = None,
) -> Work:
    """The kernel's arrays with ``tree``'s shape, random times that rise, and random data.

    Triplets are read as statements, or one by one, if ``statements`` is given.
    """
    n = tree.n_leaves
    rows = np.asarray(triplets, np.int32).reshape(-1, 3)
    data = rng.normal(size=(n, dims)) if data is None else np.asarray(data, float)
    w = allocate(
        n,
        data,
        rows,
        1.0 + np.arange(len(rows)) % 2,
        noise,
        beta,
        floor,
        Groups(groups),
        Groups(not_groups),
    )
    if statements is not None:
        w = w._replace(**partial_arrays(rows if statements else rows[:0], n, least=0.0))
    put_scale(w, c, rng.uniform(0.5, 1.5, size=data.shape[1]))
    u = np.full(2 * n - 1, np.inf)
    for v in range(2 * n - 2, n - 1, -1):
        p = tree.parent[v]
        u[v] = (u[p] if p >= 0 else 0.0) + rng.exponential(0.4) + 1e-3
    put_tree(w, tree.parent.copy(), children_of(tree.parent.copy(), n), u)
    mark_groups(w.node, w.group_size, w.group_first)
    return w


def ancestors(w: Work, v: int) -> list[int]:
    """A node and the nodes above it, up to the root."""
    found = []
    while v >= 0:
        found.append(int(v))
        v = int(w.node[v, PARENT])
    return found


def gather_rules(w: Work, subtree: int) -> int:
    """The rules of a pruned subtree in ``w.active_triplets``, as the moves gather them."""
    if len(w.partial):
        return gather_partials(
            w.node, w.time, w.tally, w.spare, w.partial, w.partial_items, w.partial_begin,
            w.item_partials, w.active_triplets, subtree,
        )  # fmt: skip
    return gather_active(
        w.node, w.tally, w.spare, w.triplets, w.item_begin, w.item_triplets, w.active_triplets,
        subtree,
    )  # fmt: skip


def consistent_triplets(tree: Tree, count: int, rng: np.random.Generator) -> np.ndarray:
    """``count`` random triplets that a binary ``tree`` satisfies, int32 (count, 3)."""
    rows = []
    while len(rows) < count:
        a, b, c = rng.choice(tree.n_leaves, 3, replace=False)
        for row in ((a, b, c), (a, c, b), (b, c, a)):
            if tree.satisfies([row])[0]:
                rows.append(row)
    return np.array(rows, np.int32).reshape(-1, 3)


def nested(w: Work):
    """The shape as a frozenset of frozensets: leaves as integers."""

    def visit(v: int):
        if w.node[v, LEFT] < 0:
            return int(v)
        return frozenset((visit(int(w.node[v, LEFT])), visit(int(w.node[v, RIGHT]))))

    return visit(int(np.flatnonzero(w.node[:, PARENT] < 0)[0]))


def z_score(values, expected: float, batches: int = 40) -> float:
    """(mean - expected) / standard error by batch means, which allows for autocorrelation."""
    values = np.asarray(values, float)
    size = len(values) // batches
    means = values[: size * batches].reshape(batches, size).mean(axis=1)
    error = means.std(ddof=1) / math.sqrt(batches)
    return float((means.mean() - expected) / max(error, 1e-12))


#: How many standard errors a mean may be off: by chance once in some 10,000 comparisons.
LIMIT = 4.5


#: So many slides between two regrafts that there is never a regraft.
SLIDES_ALONE = 10**9
#: Slides between two regrafts: none, as many as by default, no regrafts.
MOVES = {"regrafts": 0, "both": SLIDES_EACH, "slides": SLIDES_ALONE}


def exact_harmonic(k: int) -> Fraction:
    return sum((Fraction(1, i) for i in range(1, k + 1)), Fraction(0))


@cache
def law(items: frozenset) -> dict:
    """Exact probability of each labelled shape: a root split (L, R) of n has probability
    (l-1)! (r-1)! / ((n-1)! H(n-1)), the times being integrated out, and sides are independent."""
    if len(items) == 1:
        return {next(iter(items)): Fraction(1)}
    first, *rest = sorted(items)
    n = len(items)
    out: dict = {}
    for size in range(len(rest)):
        for chosen in combinations(rest, size):
            left = frozenset((first, *chosen))
            right = items - left
            ways = Fraction(1)
            for side in (left, right):
                for i in range(1, len(side)):
                    ways *= i
            for i in range(1, n):
                ways /= i
            split = ways / exact_harmonic(n - 1)
            for a, pa in law(left).items():
                for b, pb in law(right).items():
                    out[frozenset((a, b))] = split * pa * pb
    return out


def shape_of(tree) -> tuple[str, str] | str:
    """A nested tree without its labels: a root's two sides, each a string; "." is a leaf."""

    def written(part) -> str:
        if not isinstance(part, frozenset):
            return "."
        return "(" + "".join(sorted(written(x) for x in part)) + ")"

    return tuple(sorted(written(x) for x in tree)) if isinstance(tree, frozenset) else "."
