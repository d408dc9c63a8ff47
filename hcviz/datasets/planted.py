"""Planted models: random similarities with a known hierarchy or partition."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from hcviz.core.errors import InvalidParameter, TooLarge
from hcviz.core.tree import MAX_QUADRATIC, Tree
from hcviz.datasets.dataset import Dataset, class_tree
from hcviz.datasets.sampling import Kind, count_comparisons, sample_comparisons

Float = NDArray[np.float64]
#: A function that draws numbers: (generator, number of draws) -> float64.
Draw = Callable[[np.random.Generator, int], Any]


#: Pairs of distributions (F_in, F_out) with P(w_in > w_out) = 3/4, so delta = 1/2. The probability
#: that a number of F_in is above a uniform number equals the mean of F_in.
PAIRS: dict[str, tuple[Draw, Draw]] = {
    "uniform-beta": (lambda rng, m: rng.beta(3.0, 1.0, m), lambda rng, m: rng.random(m)),
    "uniform-normal": (lambda rng, m: rng.normal(0.75, 0.1, m), lambda rng, m: rng.random(m)),
}


def planted_hierarchy(
    levels: int = 3,
    pure_size: int = 30,
    mu: float = 0.8,
    delta: float = 0.1,
    sigma: float = 0.1,
    seed: int | np.random.Generator = 0,
) -> Dataset:
    """Return data of the planted hierarchical model. O(n^2).

    The model is a balanced binary hierarchy of height L over 2^L pure clusters. The similarity of
    items i < j is drawn from N(mu - (L - l) delta, sigma^2), where l is the level of their LCA: 0
    at the root, L inside a pure cluster.

    Parameters
    ----------
    levels : int
        Height L of the hierarchy.
    pure_size : int
        Items of a pure cluster.
    mu : float
        Mean similarity inside a pure cluster. It is also the diagonal, which the model does not
        define.
    delta : float
        Difference of the means of two levels.
    sigma : float
        Standard deviation of the noise. The signal-to-noise ratio is delta / sigma.
    seed : int or numpy Generator
        Source of randomness.

    Returns
    -------
    Dataset
        It has ``similarity``, ``target`` (pure clusters are polytomies), ``classes`` (the pure
        clusters) and a strip for each level. Items are ordered by cluster.

    Raises
    ------
    InvalidParameter
        If a parameter is out of range.
    TooLarge
        If the model has too many items for a matrix.

    References
    ----------
    Ghoshdastidar, Perrot and von Luxburg (2019), section 2.2.

    Examples
    --------
    >>> planted_hierarchy(levels=2, pure_size=3).classes[:4]
    ('A', 'A', 'A', 'B')
    """
    levels, pure_size = _at_least("levels", levels, 0), _at_least("pure_size", pure_size, 1)
    _not_negative(sigma=sigma, delta=delta)
    rng = np.random.default_rng(seed)
    n_groups = 2**levels
    _check_size(n_groups * pure_size)
    group = np.repeat(np.arange(n_groups), pure_size)
    # Levels up to the LCA: the bits after the common prefix of the group numbers.
    up = np.frexp((group[:, None] ^ group[None, :]).astype(float))[1]
    similarity = _symmetric_noise(rng, len(group)) * sigma + (mu - delta * up)
    np.fill_diagonal(similarity, mu)
    names = _group_names(n_groups)
    strips = {"cluster": tuple(names[g] for g in group)}
    for level in range(levels - 1, 0, -1):
        above = _group_names(2**level)
        strips[f"level {level}"] = tuple(above[g >> (levels - level)] for g in group)
    return Dataset(
        name="planted",
        title=f"Planted hierarchy ({len(group)} items)",
        labels=tuple(_item_names(group, names)),
        similarity=similarity,
        classes=strips["cluster"],
        strips=strips,
        target=_balanced_tree(levels, pure_size),
        provenance=(
            f"Drawn: planted hierarchical model, levels={levels}, pure_size={pure_size}, "
            f"mu={mu:g}, delta={delta:g}, sigma={sigma:g}; CC0."
        ),
    )


def planted_partition(
    n: int = 1000,
    k: int = 4,
    delta: float = 0.5,
    sigma: float = 0.1,
    eps: float = 0.75,
    p: float | None = None,
    kind: Kind = "quadruplets",
    sizes: Sequence[int] | None = None,
    pair: str = "normal-normal",
    f_in: Draw | None = None,
    f_out: Draw | None = None,
    seed: int | np.random.Generator = 0,
) -> Dataset:
    """Return data of the planted partition model, with passive comparisons.

    The similarity of items i < j is drawn from F_in if they are in one cluster, and from F_out
    otherwise.

    Parameters
    ----------
    n, k : int
        Number of items, and of clusters of nearly equal size.
    delta, sigma : float
        For the pair ``normal-normal``: delta = 2 P(w_in > w_out) - 1, and the standard deviation.
    eps : float
        A comparison is right with probability (1 + eps)/2.
    p : float, optional
        Probability of each comparison to be observed. Default: the expected number is n (ln n)^4 as
        in the paper, or all comparisons if there are fewer. With 0, there are no comparisons.
    kind : {"quadruplets", "triplets"}
        Kind of the comparisons.
    sizes : sequence of int, optional
        Sizes of the clusters, instead of n and k.
    pair : {"normal-normal", "uniform-beta", "uniform-normal"}
        Distributions F_out and F_in. ``normal-normal`` has N(0, sigma^2) and N(sqrt(2) sigma
        PhiInv((1 + delta)/2), sigma^2). ``uniform-beta`` has U(0, 1) and Beta(3, 1), and
        ``uniform-normal`` has U(0, 1) and N(3/4, 0.1^2); both have delta = 1/2.
    f_in, f_out : callable, optional
        Functions of a generator and the number of draws, instead of the pair.
    seed : int or numpy Generator
        Source of randomness.

    Returns
    -------
    Dataset
        It has ``similarity`` (hide it from methods with ``problem(similarity=None)``),
        ``comparisons``, ``classes`` and ``target`` (root, clusters, items). Items are ordered by
        cluster. The diagonal of the similarity is its largest value.

    Raises
    ------
    InvalidParameter
        If a parameter is out of range, or the pair is unknown.
    TooLarge
        If there are too many items for a matrix, or too many comparisons.

    Notes
    -----
    The parameters of the last two pairs are ours. The paper has them in its appendix.

    References
    ----------
    Perrot, Esser and Ghoshdastidar (2020), section 2 and figure 1c.

    Examples
    --------
    >>> data = planted_partition(n=20, k=2)
    >>> data.target.n_internal
    3
    """
    if sizes is None:
        n, k = _at_least("n", n, 1), _at_least("k", k, 1)
        if k > n:
            raise InvalidParameter(f"{n} items cannot make {k} clusters.")
        sizes = [n // k + (g < n % k) for g in range(k)]
    sizes = [_at_least("each of sizes", size, 1) for size in sizes]
    if not sizes:
        raise InvalidParameter("sizes must name one cluster or more.")
    _not_negative(sigma=sigma)
    if pair != "normal-normal":
        if pair not in PAIRS:
            raise InvalidParameter(
                f"There is no pair of distributions {pair!r}.",
                f"Known: normal-normal, {', '.join(PAIRS)}.",
            )
        f_in, f_out = f_in or PAIRS[pair][0], f_out or PAIRS[pair][1]
    if not 0 <= delta < 1 and (f_in is None or f_out is None):
        raise InvalidParameter(f"delta must be at least 0 and below 1, not {delta}.")
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    _check_size(n)
    group = np.repeat(np.arange(len(sizes)), sizes)
    shift = math.sqrt(2) * sigma * float(ndtri((1 + delta) / 2)) if delta < 1 else 0.0
    draw_in = f_in or (lambda g, m: g.normal(shift, sigma, m))
    draw_out = f_out or (lambda g, m: g.normal(0.0, sigma, m))
    rows, columns = np.triu_indices(n, 1)
    inside = group[rows] == group[columns]
    values = np.empty(len(rows))
    values[inside] = draw_in(rng, int(inside.sum()))
    values[~inside] = draw_out(rng, int((~inside).sum()))
    similarity = np.zeros((n, n))
    similarity[rows, columns] = values
    similarity += similarity.T
    np.fill_diagonal(similarity, values.max(initial=0.0))
    if p is None:
        possible = count_comparisons(n, kind)
        p = min(1.0, n * math.log(n) ** 4 / possible) if possible else 0.0
    names = _group_names(len(sizes))
    classes = tuple(names[g] for g in group)
    drawn = f"delta={delta:g}, sigma={sigma:g}" if pair == "normal-normal" else pair
    return Dataset(
        name="planted-partition",
        title=f"Planted partition ({n} items)",
        labels=tuple(_item_names(group, names)),
        similarity=similarity,
        classes=classes,
        target=class_tree(classes),
        comparisons=sample_comparisons(similarity, p, kind, eps, rng) if p != 0 else None,
        provenance=(
            f"Drawn: planted partition, sizes {', '.join(map(str, sizes))}, {drawn}, eps={eps:g}, "
            f"p={p:g} ({kind}); CC0."
        ),
    )


def _symmetric_noise(rng: np.random.Generator, n: int) -> Float:
    upper = np.triu(rng.standard_normal((n, n)), 1)
    return upper + upper.T


def _balanced_tree(levels: int, pure_size: int) -> Tree:
    n = 2**levels * pure_size
    if n == 1:
        return Tree([-1], [0.0], 1)
    children: list[list[int]] = []
    nodes = list(range(n))
    width = pure_size
    for _ in range(levels + 1):
        if width > 1:
            groups = [nodes[start : start + width] for start in range(0, len(nodes), width)]
            nodes = [n + len(children) + g for g in range(len(groups))]
            children += groups
        width = 2
    return Tree.from_children(children, n)


def _group_names(count: int) -> list[str]:
    """Return A, B, ... for up to 26 groups, or G1, G2, ... for more."""
    return (
        [chr(65 + g) for g in range(count)] if count <= 26 else [f"G{g + 1}" for g in range(count)]
    )


def _item_names(group: NDArray[np.int64], names: Sequence[str]) -> list[str]:
    seen: dict[int, int] = {}
    made = []
    for g in group.tolist():
        seen[g] = seen.get(g, 0) + 1
        made.append(f"{names[g]}{'-' if len(names) > 26 else ''}{seen[g]}")
    return made


def _at_least(name: str, value: int, least: int) -> int:
    if int(value) != value or value < least:
        raise InvalidParameter(f"{name} must be a whole number of {least} or more, not {value}.")
    return int(value)


def _check_size(n: int) -> None:
    if n > MAX_QUADRATIC:
        raise TooLarge(
            f"A planted model of {n:,} items has an n x n matrix; {MAX_QUADRATIC:,} is the limit."
        )


def _not_negative(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise InvalidParameter(f"{name} must be 0 or more, not {value}.")


__all__ = ["planted_hierarchy", "planted_partition"]
