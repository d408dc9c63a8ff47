"""Sequences that evolved along a known tree: Krishnamurthy et al.'s (2012) phylogeny data, made
anew."""

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
    """n sequences at the leaves of a random binary tree, and their edit distances as an oracle.

    The tree is drawn from the root: a clade of m leaves divides into two with the first share
    Beta(``balance``, ``balance``) distributed, at least one leaf each (1: all shares alike, as in a
    Yule tree; infinity: always in half). Every leaf lies ``depth`` expected substitutions a site
    from the root, and a clade divides at the time at which that share log(m) / log(n) is left.
    Along a branch of t substitutions each site changes by Jukes and Cantor's model, and
    Poisson(``indels`` t length) insertions or deletions of 1 to 5 letters strike it.

    ``oracle`` is a :class:`StringOracle` (``oracle.strings`` are the sequences), ``target`` the
    tree, its heights the substitutions back to the present. O(n length) time and memory.
    """
    n = check_integer(n, "n", InvalidParameter, 1)
    length = check_integer(length, "length", InvalidParameter, 1)
    for name, value in (("depth", depth), ("indels", indels)):
        if not (math.isfinite(value) and value >= 0):
            raise InvalidParameter(f"{name} must be 0 or more, not {value}.")
    if not balance > 0:
        raise InvalidParameter(f"balance must be positive, not {balance}.")
    rng = np.random.default_rng(seed)
    target = random_history(rng, n, depth, balance)
    order = rng.permutation(n)  # the leaves' numbers say nothing of where they stand
    sequences: dict[int, Letters] = {target.root: rng.choice(ALPHABET, length)}
    texts = [""] * n
    for node in range(target.root, -1, -1):
        letters = sequences.pop(node)
        if node < n:
            texts[order[node]] = letters.tobytes().decode()
            continue
        for child in target.children(node).tolist():
            time = float(target.height[node] - target.height[child])
            sequences[child] = evolved(rng, letters, time, indels)
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


def random_history(rng: np.random.Generator, n: int, depth: float, balance: float) -> Tree:
    """The tree: leaves 0..n-1 from left to right, heights ``depth`` log(m) / log(n)."""
    if n == 1:
        return Tree.star(1)
    # Inner nodes by clade size, so that a parent comes after its children.
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


def evolved(rng: np.random.Generator, letters: Letters, time: float, indels: float) -> Letters:
    """``letters`` after ``time`` expected substitutions a site, uint8."""
    changed = 0.75 * (1.0 - math.exp(-4.0 * time / 3.0))
    struck = rng.random(letters.size) < changed
    # One of the three other letters: the places of A, C, G, T in ALPHABET, moved on by 1 to 3.
    place = np.searchsorted(ALPHABET, letters[struck])
    letters = letters.copy()
    letters[struck] = ALPHABET[(place + rng.integers(1, 4, place.size)) % 4]
    for _ in range(rng.poisson(indels * time * letters.size)):
        at, count = int(rng.integers(letters.size + 1)), int(rng.integers(1, 6))
        if rng.random() < 0.5:
            letters = np.insert(letters, at, rng.choice(ALPHABET, count))
        else:
            letters = np.delete(letters, slice(at, at + count))
    return letters


__all__ = ["phylogeny"]
