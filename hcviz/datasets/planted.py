"""Planted models: similarities drawn around a known hierarchy or a known partition."""

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
#: Draws numbers: (generator, how many) -> float64.
Draw = Callable[[np.random.Generator, int], Any]


#: Pairs of distributions by name, (F_in, F_out), each with P(w_in > w_out) = 3/4, that is with
#: delta = 1/2: Beta(3, 1) and N(3/4, 0.1^2) are above a uniform number with the probability of
#: their mean.
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
    """The planted hierarchical model of Ghoshdastidar et al. (2019), section 2.2.

    A balanced binary hierarchy of height ``levels`` (L) over 2^L pure clusters of ``pure_size``
    items: w_ij ~ N(mu - (L - l) delta, sigma^2), independent for i < j, l the level of the lowest
    common ancestor (0 at the root, L inside a pure cluster). The diagonal, which the model leaves
    open, is mu. Items stand cluster by cluster; the signal-to-noise ratio is delta / sigma.

    The data set has ``similarity``, ``target`` (pure clusters as polytomies), ``classes`` (the pure
    clusters) and one strip for each level. O(n^2).
    """
    levels, pure_size = _at_least("levels", levels, 0), _at_least("pure_size", pure_size, 1)
    _not_negative(sigma=sigma, delta=delta)
    rng = np.random.default_rng(seed)
    n_groups = 2**levels
    _check_size(n_groups * pure_size)
    group = np.repeat(np.arange(n_groups), pure_size)
    # Levels up to the common ancestor: how long a shared prefix the group numbers lack.
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
    """The planted partition of Perrot et al. (2020), section 2, and comparisons passively seen of
    it.

    w_ij ~ F_in inside a cluster, F_out across, independent for i < j. By default F_out = N(0,
    sigma^2) and F_in = N(sqrt(2) sigma PhiInv((1 + delta)/2), sigma^2), so that delta is
    2 P(w_in > w_out) - 1. ``pair`` names the paper's other two (Figure 1c), both with delta = 1/2,
    and then delta and sigma have no say: ``"uniform-beta"``, F_out = U(0, 1), F_in = Beta(3, 1),
    and ``"uniform-normal"``, U(0, 1) and N(3/4, 0.1^2); which Beta and which normal are ours, since
    the paper's stand in an appendix that we do not have. ``f_in`` and ``f_out``, called with a
    generator and how many numbers to draw, take the place of the pair's. k clusters as equal in
    size as n allows, or of the given ``sizes`` (then n and k have no say); items stand cluster by
    cluster.

    Each comparison is seen with probability ``p``, right with probability (1 + eps)/2; p = None
    takes the paper's expected number, n (ln n)^4 (all of them where there are fewer); p = 0 draws
    none. The diagonal of the similarity, which the model leaves open, is its largest value.

    The data set has ``similarity`` (hidden from methods by ``problem(similarity=None)``),
    ``comparisons``, ``classes`` and ``target`` (root -> clusters -> items).
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
    """A, B, ... up to 26 of them; G1, G2, ... beyond."""
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
