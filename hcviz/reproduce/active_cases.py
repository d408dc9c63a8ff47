"""Data and methods for the experiments of Krishnamurthy et al. (2012)."""

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
from hcviz.algorithms.active.recursion import Recursion
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import HcvizError, InvalidData
from hcviz.core.similarity import zscore
from hcviz.core.similarity_oracles import FeatureOracle, StringOracle
from hcviz.core.text_lines import nonempty_lines
from hcviz.core.tree import Tree
from hcviz.datasets import Dataset, load, noisy_blocks, phylogeny

Float = NDArray[np.float64]

#: Levels of the simulated block matrices. The first division should separate the two halves.
LEVELS = 3
#: Number of principal components of the articles, which are z-scored.
COMPONENTS = 10


def is_true_division(labels: NDArray[np.int32], data: Dataset) -> bool:
    """Return True if a division into two clusters is the target's first."""
    half = data.oracle.block >> (data.oracle.levels - 1)
    return bool((labels == half).all() or (labels == 1 - half).all())


def spectral(n: int) -> ActiveCluster:
    """Return SpectralCluster (algorithm 2) with all similarities of n items."""
    return ActiveCluster("laplacian", n, **PAPER)


def kmeans(n: int) -> ActiveCluster:
    """Return k-means on the rows of all similarities of n items."""
    return ActiveCluster("kmeans", n, **PAPER)


def sampled_entries(data: Dataset, budget: int, seed: int) -> NDArray[np.int32]:
    """Return a division from ``budget`` random entries, by algorithm 1 of Shamir and Tishby (2011).

    Entries that were not drawn are 0, and the others are divided by the share of drawn entries. The
    division is the sign of the second eigenvector of the Laplacian. The paper assumes similarities
    of 0 or more.
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


def queries_of_division(n: int, s: int) -> int:
    """Return the number of similarities that one division of n items by a sample of s queries."""
    s = min(s, n)
    return s * (n - s) + s * (s - 1) // 2


def blocks(n: int, sigma: float, seed: int) -> Dataset:
    """Return a noisy block matrix of n items."""
    return noisy_blocks(n, LEVELS, sigma, seed)


def sampling_patterns(n: int) -> dict[str, Any]:
    """Return the query masks of figure 1 by title, with items in the target's order.

    The masks of the paper's framework are those after the first division, after the divisions of
    both halves, and at the end. Our framework, with repair, has its mask at the end.
    """
    data = blocks(n, 0.1, 0)
    assert data.target is not None
    order = data.target.leaf_order
    items = np.arange(n, dtype=np.int32)
    paper = ActiveCluster("laplacian", c=4.0, **PAPER)
    counted = CountingOracle(data.oracle, cache=0)
    recursion = Recursion(counted, paper.settings(n), items, 0, NO_ROWS)
    found: dict[str, Any] = {}
    divided = 0
    while recursion.largest():  # the largest cluster is divided next
        for _ in recursion.step(None):
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
class TableData:
    """Data for the tables: similarities, features for HKM (None: rows of similarities), target."""

    name: str
    title: str
    labels: tuple[str, ...]
    oracle: Any
    features: Float | None = None
    target: Tree | None = None

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.oracle.n_items)

    def similarity(self) -> Float:
        """Return all similarities, float64 (n, n)."""
        everyone = np.arange(self.n, dtype=np.int32)
        return np.asarray(self.oracle.similarity(everyone, everyone))


def cases(quick: bool) -> list[TableData]:
    """Return the data of the tables.

    A phylogeny; 20 Newsgroups from HCVIZ_DATA (or else digits) instead of NIPS articles; noisy
    blocks instead of SNP; and the paper's data from HCVIZ_DATA.
    """
    tree = phylogeny(150 if quick else 600, length=300, depth=0.5, balance=8.0, seed=1)
    found = [TableData("phylo", tree.title, tree.labels, tree.oracle, None, tree.target)]
    try:
        data = load("newsgroups")
    except InvalidData:  # HCVIZ_DATA is not set
        data = load("digits")
    count = 300 if quick else 1000
    chosen = np.random.default_rng(0).permutation(data.n_items)[:count]
    features = np.asarray(data.filled(), np.float64)[chosen]
    if data.name == "newsgroups":  # without z-scores, the first component (length) would dominate
        features = zscore(features[:, :COMPONENTS])
    classes = data.classes or ()
    labels = tuple(f"{classes[i]}" for i in chosen)
    oracle = FeatureOracle(features, "cosine")
    found.append(TableData(data.name, data.title, labels, oracle, features))
    made = noisy_blocks(256 if quick else 1024, 4, 0.3, seed=2)
    found.append(TableData("blocks", made.title, made.labels, made.oracle, None, made.target))
    return found + paper_cases()


def paper_cases() -> list[TableData]:
    """Return the paper's data, from the folder ``krishnamurthy2012`` in HCVIZ_DATA.

    ``NAME.txt`` has one sequence per line (SNP, phylogeny), compared by edit distance.
    ``NAME.npy`` is float (n, d) (RTW), compared by cosine. ``NAME.mat`` has Roweis' NIPS articles
    (``counts``, words by articles), compared by the cosine of tf-idf. ``NAME.nwk`` may be a
    reference tree with leaves 0..n-1.
    """
    folder = Path(os.environ.get("HCVIZ_DATA") or ".") / "krishnamurthy2012"
    found = []
    for file in sorted(folder.iterdir()) if folder.is_dir() else []:
        if file.suffix not in (".txt", ".npy", ".mat"):
            continue
        oracle, features = _similarities(file)
        reference = file.with_suffix(".nwk")
        target = Tree.from_newick(_text(reference)) if reference.exists() else None
        n = oracle.n_items
        if n < 2:
            raise InvalidData(f"{file} has only one item.", "Two or more are needed.")
        if target is not None and target.n_leaves != n:
            raise InvalidData(f"{reference} has {target.n_leaves} leaves, {file.name} {n} items.")
        names = tuple(map(str, range(n)))
        found.append(TableData(file.stem, file.stem, names, oracle, features, target))
    return found


def _similarities(file: Path) -> tuple[Any, Float | None]:
    """Return the oracle for a file, and its features or None."""
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
        raise InvalidData(f"{file} is not UTF-8 text ({fault}).", "Save it as UTF-8.") from None


def _array(file: Path) -> Float:
    try:
        return np.asarray(np.load(file, allow_pickle=False), dtype=np.float64)
    except Exception as fault:  # numpy, zipfile and pickle raise many types
        raise InvalidData(f"{file} does not hold an array of numbers ({fault}).") from None


def _counts(file: Path) -> Float:
    """Return the tf-idf of a words-by-articles matrix of counts, with one row per article."""
    try:
        counts = loadmat(file)["counts"]
        rows = np.asarray(counts.todense() if hasattr(counts, "todense") else counts, np.float64).T
    except Exception as fault:  # scipy raises many types for damaged files
        raise InvalidData(
            f"{file} does not hold a matrix of numbers named counts "
            f"({type(fault).__name__}: {fault})."
        ) from None
    holds = np.maximum((rows > 0).sum(axis=0), 1)
    return np.asarray(rows * [math.log(len(rows) / h) for h in holds])


__all__ = [
    "TableData",
    "blocks",
    "cases",
    "is_true_division",
    "kmeans",
    "paper_cases",
    "queries_of_division",
    "sampled_entries",
    "sampling_patterns",
    "spectral",
]  # fmt: skip
