"""Simulated sequences with a known phylogeny, similar to data of Krishnamurthy et al. (2012)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidParameter
from hcviz.core.similarity_oracles import StringOracle
from hcviz.core.tree import Tree
from hcviz.core.validation import check_integer
from hcviz.datasets.dataset import Dataset

Letters = NDArray[np.uint8]
ALPHABET = np.frombuffer(b"ACGT", np.uint8)


def phylogeny(
    n: int = 500,
    length: int = 400,
    depth: float = 0.6,
    indels: float = 0.05,
    balance: float = 1.0,
    seed: int = 0,
) -> Dataset:
    """Return n sequences that evolved along a random binary tree, with edit distances as an oracle.

    Parameters
    ----------
    n : int
        Number of sequences.
    length : int
        Letters of the sequence at the root.
    depth : float
        Expected substitutions per site from the root to each leaf.
    indels : float
        Insertions and deletions per substitution. Each has 1 to 5 letters.
    balance : float
        A clade is divided by a share from Beta(balance, balance). With 1, all shares have the same
        probability, as in a Yule tree. With infinity, clades are halved.
    seed : int
        Seed of the tree and the sequences.

    Returns
    -------
    Dataset
        ``oracle`` is a :class:`StringOracle` with the sequences in ``oracle.strings``. ``target``
        is the tree; its heights are expected substitutions until the present.

    Raises
    ------
    InvalidParameter
        If a parameter is out of range.

    Notes
    -----
    A clade of m leaves divides at the height depth log(m) / log(n). Along a branch with t
    substitutions per site, sites change by the model of Jukes and Cantor (1969). There are also
    Poisson(``indels`` t length) insertions or deletions. O(n length) time and memory.

    Examples
    --------
    >>> data = phylogeny(4, length=10, seed=1)
    >>> data.labels, len(data.oracle.strings)
    (('s0', 's1', 's2', 's3'), 4)
    """
    n = check_integer(n, "n", InvalidParameter, 1)
    length = check_integer(length, "length", InvalidParameter, 1)
    for name, value in (("depth", depth), ("indels", indels)):
        if not (math.isfinite(value) and value >= 0):
            raise InvalidParameter(f"{name} must be 0 or more, not {value}.")
    if not balance > 0:
        raise InvalidParameter(f"balance must be positive, not {balance}.")
    rng = np.random.default_rng(seed)
    target = random_phylogeny_tree(rng, n, depth, balance)
    order = rng.permutation(n)  # the numbers of the leaves must not show their order in the tree
    sequences: dict[int, Letters] = {target.root: rng.choice(ALPHABET, length)}
    texts = [""] * n
    for node in range(target.root, -1, -1):
        letters = sequences.pop(node)
        if node < n:
            texts[order[node]] = letters.tobytes().decode()
            continue
        for child in target.children(node).tolist():
            time = float(target.height[node] - target.height[child])
            sequences[child] = evolve(rng, letters, time, indels)
    parent = target.parent.copy()
    parent[order] = target.parent[:n]
    return Dataset(
        name="phylogeny",
        title=f"Phylogeny ({n} sequences)",
        labels=tuple(f"s{i}" for i in range(n)),
        target=Tree(parent, target.height, n),
        oracle=StringOracle(texts),
        provenance=(
            f"Drawn: sequences of {length} letters evolved along a random tree, depth={depth:g}, "
            f"indels={indels:g}, balance={balance:g}, seed={seed}; CC0."
        ),
    )


def random_phylogeny_tree(rng: np.random.Generator, n: int, depth: float, balance: float) -> Tree:
    """Return a random tree with leaves 0..n-1 from left to right."""
    if n == 1:
        return Tree.star(1)
    # Inner nodes are numbered by clade size, so that a parent comes after its children.
    waiting, made = [(0, n, -1)], []
    while waiting:
        begin, end, over = waiting.pop()
        made.append((begin, end, over))
        m = end - begin
        if m > 1:
            share = 0.5 if math.isinf(balance) else rng.beta(balance, balance)
            middle = begin + min(m - 1, max(1, round(share * m)))
            waiting += [(begin, middle, len(made) - 1), (middle, end, len(made) - 1)]
    begins, ends, overs = np.array(made).T
    size = ends - begins
    inner = np.flatnonzero(size > 1)
    number = np.empty(len(made), np.int64)
    number[size == 1] = begins[size == 1]
    number[inner[np.argsort(size[inner], kind="stable")]] = np.arange(n, 2 * n - 1)
    parent, height = np.full(2 * n - 1, -1, np.int64), np.zeros(2 * n - 1)
    parent[number] = np.where(overs >= 0, number[overs], -1)
    height[number] = depth * np.log(size) / math.log(n)
    return Tree(parent, height, n)


def evolve(rng: np.random.Generator, letters: Letters, time: float, indels: float) -> Letters:
    """Return ``letters``, uint8, after ``time`` expected substitutions per site."""
    probability = 0.75 * (1.0 - math.exp(-4.0 * time / 3.0))
    changed = rng.random(letters.size) < probability
    # A change gives one of the three other letters, 1 to 3 places further in ALPHABET.
    place = np.searchsorted(ALPHABET, letters[changed])
    letters = letters.copy()
    letters[changed] = ALPHABET[(place + rng.integers(1, 4, place.size)) % 4]
    for _ in range(rng.poisson(indels * time * letters.size)):
        at, count = int(rng.integers(letters.size + 1)), int(rng.integers(1, 6))
        if rng.random() < 0.5:
            letters = np.insert(letters, at, rng.choice(ALPHABET, count))
        else:
            letters = np.delete(letters, slice(at, at + count))
    return letters


__all__ = ["phylogeny"]
