"""Data sets for the experiments of Vikram and Dasgupta (2016)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage

from hcviz.core.convert import parse_newick
from hcviz.core.errors import InvalidData
from hcviz.core.problem import Problem
from hcviz.core.tree import Tree
from hcviz.datasets import Dataset, class_tree, load, scale_features
from hcviz.metrics import triplet_distance

#: Items and principal components of subsamples, and the seed of their choice.
ITEMS, COMPONENTS, CHOICE = 150, 10, 2016

#: Triplet distance of average linkage, from the paper's published code.
PUBLISHED = {"iris": 0.102, "zoo-published": 0.316, "mnist": 0.448, "newsgroups": 0.616}


@dataclass(frozen=True, eq=False)
class Case:
    """One data set.

    Attributes
    ----------
    key, title : names for code and for people
    problem : data for the sampler
    target : the true tree
    average : triplet distance of average linkage on Euclidean distances of the unchanged data, as
        in the published figures
    note : how the data were prepared
    params : parameters of the sampler
    """

    key: str
    title: str
    problem: Problem
    target: Tree
    average: float
    note: str
    params: dict[str, Any] = field(default_factory=dict)


def cases(quick: bool) -> list[Case]:
    """Return Iris and Zoo and, unless ``quick``, the data in ``HCVIZ_DATA`` (or else digits)."""
    found = [iris(), zoo()]
    if quick:
        return found
    more = {"zoo-published": zoo_published, "mnist": mnist, "newsgroups": newsgroups}
    missing = []
    for key, make in more.items():
        try:
            found.append(make())
        except InvalidData:
            missing.append(key)
    if "mnist" in missing:
        found.append(digits())
    return found


def iris() -> Case:
    data = load("iris")
    assert data.target is not None
    features = _array(data)
    # Two flowers are equal, so the model needs noise. docs/reproductions.md uses this value.
    return _case(
        "iris",
        data.title,
        data.labels,
        features,
        features,
        data.target,
        "as they are, leaf noise .01",
        {"leaf_noise": 0.01},
    )


def zoo() -> Case:
    data = load("zoo")
    assert data.target is not None
    return _zoo("zoo", data, np.arange(data.n_items), data.target, "the taxonomy of hcviz")


def zoo_published() -> Case:
    """Return Zoo with the paper's target (93 animals, some at wrong places; see its README)."""
    file = Path(os.environ.get("HCVIZ_DATA") or ".") / "zoo" / "opentree_published.json"
    try:
        newick = json.loads(file.read_text(encoding="utf-8"))["newick"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidData(
            f"{file} is missing, or has no tree.", "Set HCVIZ_DATA to the folder of the data."
        ) from None
    data = load("zoo")
    names = sorted(name for name, is_leaf in parse_newick(newick)[0] if is_leaf)
    unknown = set(names) - set(data.labels)
    if unknown:
        raise InvalidData(f"{file} names animals that Zoo does not have: {sorted(unknown)[:3]}.")
    items = np.array([data.labels.index(name) for name in names])
    tree = Tree.from_newick(newick, names)
    return _zoo("zoo-published", data, items, tree, "the published target")


def mnist() -> Case:
    return _sampled("mnist", load("mnist"))


def newsgroups() -> Case:
    return _sampled("newsgroups", load("newsgroups"))


def digits() -> Case:
    return _sampled("digits", load("digits"))


def _zoo(key: str, data: Dataset, items: NDArray[Any], target: Tree, what: str) -> Case:
    raw = _array(data)[items]
    labels = tuple(data.labels[i] for i in items)
    # Half of the animals have an identical animal, and many columns are constant within a class. A
    # learned sigma of such a column would become very small, and a single feature would determine
    # the tree. So sigma stays at the standard deviation, and leaf noise equals the diffusion.
    return _case(
        key,
        f"Zoo, {what}",
        labels,
        raw,
        scale_features(raw, "zscore"),
        target,
        "columns divided by their standard deviation; sigma 1, c 1, leaf noise 1, not learned",
        {"sigma": 1.0, "c": 1.0, "learn": False, "leaf_noise": 1.0},
    )


def _sampled(key: str, data: Dataset) -> Case:
    rng = np.random.default_rng(CHOICE)
    items = np.sort(rng.choice(data.n_items, ITEMS, replace=False))
    assert data.classes is not None
    classes = [data.classes[i] for i in items]
    labels = tuple(data.labels[i] for i in items)
    raw = _array(data)[items]
    if key == "newsgroups":  # the columns are principal components of all articles
        raw = raw[:, :COMPONENTS]
        note = f"{ITEMS} articles, first {COMPONENTS} principal components"
        features = raw
    else:
        centred = raw - raw.mean(axis=0)
        u, s, _ = np.linalg.svd(centred, full_matrices=False)
        features = u[:, :COMPONENTS] * s[:COMPONENTS]
        note = f"{ITEMS} of them, first {COMPONENTS} principal components for the sampler"
    return _case(key, data.title, labels, raw, features, class_tree(classes), note)


def _case(
    key: str,
    title: str,
    labels: tuple[str, ...],
    raw: NDArray[np.float64],
    features: NDArray[np.float64],
    target: Tree,
    note: str,
    params: dict[str, Any] | None = None,
) -> Case:
    average = triplet_distance(target, Tree.from_linkage(linkage(raw, "average")))
    problem = Problem(labels=labels, features=features)
    return Case(key, title, problem, target, average, note, params or {})


def _array(data: Dataset) -> NDArray[np.float64]:
    filled = data.filled()
    assert filled is not None
    return filled
