"""What paper 002's experiments need: success of a division, a rival, the data of its tables."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from hcviz.algorithms.active import ActiveCluster
from hcviz.core.errors import InvalidData
from hcviz.core.lazy import FeatureOracle, StringOracle
from hcviz.core.similarity import zscore
from hcviz.core.tree import Tree
from hcviz.datasets import Dataset, load, noisy_blocks, phylogeny

Float = NDArray[np.float64]

#: Levels of the block matrix of the simulations; the first division parts its two halves.
LEVELS = 3
#: Principal components of the articles that are taken, z-scored.
COMPONENTS = 10


def divided_right(labels: NDArray[np.int32], data: Dataset) -> bool:
    """Whether a division into two is the target's first."""
    half = data.oracle.block >> (data.oracle.levels - 1)
    return bool((labels == half).all() or (labels == 1 - half).all())


def spectral(n: int) -> ActiveCluster:
    """SpectralCluster (algorithm 2) on all similarities of n items."""
    return ActiveCluster("laplacian", n, repair=0.0)


def kmeans(n: int) -> ActiveCluster:
    """k-means on the rows of all similarities of n items."""
    return ActiveCluster("kmeans", n, repair=0.0)


def sampled_entries(data: Dataset, budget: int, seed: int) -> NDArray[np.int32]:
    """Algorithm 1 of Shamir and Tishby (2011): a division by ``budget`` entries drawn at random.

    The entries that were not drawn are 0, the others are scaled up by one over the share drawn;
    then the sign of the Laplacian's second eigenvector. (They have similarities of 0 or more.)
    """
    n = data.n_items
    everyone = np.arange(n, dtype=np.int32)
    rows, cols = np.triu_indices(n, 1)
    budget = min(budget, len(rows))
    drawn = np.random.default_rng(seed).choice(len(rows), budget, replace=False)
    matrix = np.zeros((n, n))
    whole = data.oracle.similarity(everyone, everyone)
    at = rows[drawn], cols[drawn]
    matrix[at] = whole[at] * (len(rows) / budget)

    class Seen:
        n_items = n
        cheap = True

        def similarity(self, r: Any, c: Any) -> Float:
            return np.asarray((matrix + matrix.T)[np.ix_(r, c)])

    return spectral(n).divide(Seen(), seed)


def budget_of(n: int, s: int) -> int:
    """Similarities that one division of n items by a sample of s asks for."""
    s = min(s, n)
    return s * (n - s) + s * (s - 1) // 2


def blocks(n: int, sigma: float, seed: int) -> Dataset:
    return noisy_blocks(n, LEVELS, sigma, seed)


# ---------------------------------------------------------------------- tables 1 and 2


@dataclass(frozen=True, eq=False)
class Case:
    """Data of the tables: similarities, what HKM takes its centres of (None: the similarities'
    rows), and the reference hierarchy, if there is one."""

    name: str
    title: str
    labels: tuple[str, ...]
    oracle: Any
    features: Float | None = None
    target: Tree | None = None

    @property
    def n(self) -> int:
        return int(self.oracle.n_items)

    def similarity(self) -> Float:
        everyone = np.arange(self.n, dtype=np.int32)
        return np.asarray(self.oracle.similarity(everyone, everyone))


def cases(quick: bool) -> list[Case]:
    """A phylogeny; articles (20 Newsgroups, where HCVIZ_DATA has them, in place of NIPS; else the
    digits); noisy blocks in place of the SNP data; and the paper's own data where they are."""
    tree = phylogeny(150 if quick else 600, length=300, depth=0.5, balance=8.0, seed=1)
    found = [Case("phylo", tree.title, tree.labels, tree.oracle, None, tree.target)]
    try:
        data = load("newsgroups")
    except InvalidData:  # which needs HCVIZ_DATA
        data = load("digits")
    count = 300 if quick else 1000
    chosen = np.random.default_rng(0).permutation(data.n_items)[:count]
    features = np.asarray(data.filled(), np.float64)[chosen]
    if data.name == "newsgroups":  # principal components; the first, of a text's length, rules them
        features = zscore(features[:, :COMPONENTS])
    classes = data.classes or ()
    labels = tuple(f"{classes[i]}" for i in chosen)
    oracle = FeatureOracle(features, "cosine")
    found.append(Case(data.name, data.title, labels, oracle, features))
    made = noisy_blocks(256 if quick else 1024, 4, 0.3, seed=2)
    found.append(Case("blocks", made.title, made.labels, made.oracle, None, made.target))
    return found + own_cases()


def own_cases() -> list[Case]:
    """The paper's own data, from the folder ``krishnamurthy2012`` below HCVIZ_DATA.

    ``NAME.txt``: a sequence a line (SNP, phylogeny), by edit distance; ``NAME.npy``: float (n, d)
    (RTW), by cosine; ``NAME.mat``: Roweis' NIPS articles (``counts``, words by articles), by cosine
    of tf-idf; beside each perhaps ``NAME.nwk``, a reference tree whose leaves are 0..n-1.
    """
    folder = Path(os.environ.get("HCVIZ_DATA") or ".") / "krishnamurthy2012"
    found = []
    for file in sorted(folder.iterdir()) if folder.is_dir() else []:
        features: Float | None = None
        if file.suffix == ".txt":
            oracle: Any = StringOracle(file.read_text(encoding="utf-8").split())
        elif file.suffix in (".npy", ".mat"):
            features = _counts(file) if file.suffix == ".mat" else _array(file)
            oracle = FeatureOracle(features, "cosine")
        else:
            continue
        beside = file.with_suffix(".nwk")
        target = Tree.from_newick(beside.read_text(encoding="utf-8")) if beside.exists() else None
        n = oracle.n_items
        if target is not None and target.n_leaves != n:
            raise InvalidData(f"{beside} has {target.n_leaves} leaves, {file.name} {n} items.")
        names = tuple(map(str, range(n)))
        found.append(Case(file.stem, file.stem, names, oracle, features, target))
    return found


def _array(file: Path) -> Float:
    try:
        return np.asarray(np.load(file, allow_pickle=False), dtype=np.float64)
    except (OSError, ValueError) as fault:
        raise InvalidData(f"{file} holds no array ({fault}).") from None


def _counts(file: Path) -> Float:
    """tf-idf of a words-by-articles matrix of counts, one article a row."""
    try:
        counts = loadmat(file)["counts"]
    except (OSError, ValueError, KeyError) as fault:
        raise InvalidData(f"{file} holds no matrix named counts ({fault}).") from None
    rows = np.asarray(counts.todense() if hasattr(counts, "todense") else counts, np.float64).T
    holds = np.maximum((rows > 0).sum(axis=0), 1)
    return np.asarray(rows * [math.log(len(rows) / h) for h in holds])


__all__ = [
    "Case", "blocks", "budget_of", "cases", "divided_right", "kmeans", "own_cases",
    "sampled_entries", "spectral",
]  # fmt: skip
