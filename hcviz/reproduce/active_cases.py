"""What Krishnamurthy et al.'s (2012) experiments need: success of a division, a rival, the data of
its tables."""

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
from hcviz.algorithms.active.framework import NO_ROWS, PAPER
from hcviz.algorithms.active.growth import Growth
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import HcvizError, InvalidData
from hcviz.core.similarity import zscore
from hcviz.core.similarity_oracles import FeatureOracle, StringOracle
from hcviz.core.text_lines import nonempty_lines
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
    return ActiveCluster("laplacian", n, **PAPER)


def kmeans(n: int) -> ActiveCluster:
    """k-means on the rows of all similarities of n items."""
    return ActiveCluster("kmeans", n, **PAPER)


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


def sampling_patterns(n: int) -> dict[str, Any]:
    """Figure 1: title -> the share of the pairs asked for, items in the target's order: the paper's
    framework after the first division, after those of both halves and at its end, and ours at its
    end, with repair."""
    data = blocks(n, 0.1, 0)
    assert data.target is not None
    order = data.target.leaf_order
    items = np.arange(n, dtype=np.int32)
    paper = ActiveCluster("laplacian", c=4.0, **PAPER)
    counted = CountingOracle(data.oracle, cache=0)
    growth = Growth(counted, paper.plan(n), items, 0, NO_ROWS)
    found: dict[str, Any] = {}
    divided = 0
    while growth.largest():  # which is divided next
        for _ in growth.step(None):
            pass
        divided += 1
        if divided in (1, 3):
            found["first split" if divided == 1 else "second split"] = counted.mask(order, 256)
    found["the end"] = counted.mask(order, 256)
    counted = CountingOracle(data.oracle, cache=0)
    for _ in ActiveCluster("centred", c=4.0).grow(counted):
        pass
    found["ours, the end"] = counted.mask(order, 256)
    return found


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
        if file.suffix not in (".txt", ".npy", ".mat"):
            continue
        oracle, features = _similarities(file)
        beside = file.with_suffix(".nwk")
        target = Tree.from_newick(_text(beside)) if beside.exists() else None
        n = oracle.n_items
        if n < 2:
            raise InvalidData(f"{file} has one item, and nothing to compare it with.")
        if target is not None and target.n_leaves != n:
            raise InvalidData(f"{beside} has {target.n_leaves} leaves, {file.name} {n} items.")
        names = tuple(map(str, range(n)))
        found.append(Case(file.stem, file.stem, names, oracle, features, target))
    return found


def _similarities(file: Path) -> tuple[Any, Float | None]:
    """The oracle of a file, and its features, if it has any."""
    if file.suffix == ".txt":
        return StringOracle(nonempty_lines(_text(file).splitlines(), f"The file {file}")), None
    features = _counts(file) if file.suffix == ".mat" else _array(file)
    try:
        return FeatureOracle(features, "cosine"), features
    except HcvizError as fault:
        raise InvalidData(f"{file}: {fault.message}", fault.hint) from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise InvalidData(f"{file} is no text in UTF-8 ({fault}).", "Save it as such.") from None


def _array(file: Path) -> Float:
    try:
        return np.asarray(np.load(file, allow_pickle=False), dtype=np.float64)
    except Exception as fault:  # numpy's, zipfile's and pickle's, of many types
        raise InvalidData(f"{file} holds no array of numbers ({fault}).") from None


def _counts(file: Path) -> Float:
    """tf-idf of a words-by-articles matrix of counts, one article a row."""
    try:
        counts = loadmat(file)["counts"]
        rows = np.asarray(counts.todense() if hasattr(counts, "todense") else counts, np.float64).T
    except Exception as fault:  # scipy's MatReadError and many more, of damaged files
        raise InvalidData(
            f"{file} holds no matrix of numbers named counts ({type(fault).__name__}: {fault})."
        ) from None
    holds = np.maximum((rows > 0).sum(axis=0), 1)
    return np.asarray(rows * [math.log(len(rows) / h) for h in holds])


__all__ = [
    "Case", "blocks", "budget_of", "cases", "divided_right", "kmeans", "own_cases",
    "sampled_entries", "sampling_patterns", "spectral",
]  # fmt: skip
