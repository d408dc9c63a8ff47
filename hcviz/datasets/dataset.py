"""``Dataset``: items as they were measured, before any choice of similarity or scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.problem import (
    Problem,
    all_similarities_text,
    check_dissimilarity,
    check_labels,
    check_oracle,
    check_square,
    feature_table,
)
from hcviz.core.similarity import SIMILARITIES, similarity_from_features
from hcviz.core.similarity_oracles import FeatureOracle
from hcviz.core.tree import MAX_QUADRATIC, Tree
from hcviz.core.triplets import Comparisons
from hcviz.datasets.prepare import fill_missing, scale_features

Float = NDArray[np.float64]
Classes = tuple[str | None, ...]


#: More items than this have no matrix of similarities (128 MB) unless a method wants it: they are
#: computed as they are asked for.
LAZY_ABOVE = 4_000


@dataclass(frozen=True, eq=False)
class Dataset:
    """A named set of items.

    Parameters
    ----------
    name, title : str
        For code, and for people.
    labels : tuple of str
        n different names, in the file's order.
    features : float64 (n, d) or None
        Unscaled, NaN where a cell is missing.
    feature_names : tuple of str or None
        d names (default: "feature 1", ...).
    feature_kinds : tuple of str or None
        For each column ``number``, ``binary`` or ``category`` (one value of a one-hot category).
    similarity : float64 (n, n) or None
        Where similarities themselves were measured; larger is more alike.
    measure : str
        What a measured similarity is, in words, as "share of participants"; "" for no more than
        a similarity.
    dissimilarity : float64 (n, n) or None
        Where distances were measured: kept as they are beside the similarity made of them.
    classes : tuple of str (or None where unknown), or None
        A known partition, for colours and judgement; no method sees it.
    strips : dict of name -> tuple of str or None
        Every such column, ``classes`` first.
    target : Tree or None
        The true hierarchy, where there is one; it may have polytomies.
    images : tuple of PNG bytes or data URIs (None: no picture), or None
    comparisons : Comparisons or None
    oracle : SimilarityOracle or None
        Where similarities are computed when they are asked for; larger is more alike.
    provenance : str
        One line: where it comes from, and its licence.
    notes : tuple of str
        What reading it decided (columns left out, and so on), as sentences.

    Raises :class:`InvalidData` where the parts do not fit together.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    features: Any = None
    feature_names: Sequence[str] | None = None
    feature_kinds: Sequence[str] | None = None
    similarity: Any = None
    classes: Sequence[str | None] | None = None
    strips: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    target: Tree | None = None
    images: Sequence[Any] | None = None
    comparisons: Comparisons | None = None
    asked: Mapping[str, int] | None = None
    oracle: Any = None
    dissimilarity: Any = None
    provenance: str = ""
    notes: tuple[str, ...] = ()
    measure: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "labels", check_labels(self.labels))
        n = len(self.labels)
        if self.features is not None:
            put(self, "features", _with_gaps(self.features))
            width = self.features.shape[1]
            named = self.feature_names or [f"feature {k + 1}" for k in range(width)]
            put(self, "feature_names", tuple(str(name) for name in named))
            if self.feature_kinds is not None:
                put(self, "feature_kinds", tuple(self.feature_kinds))
            for what in (self.feature_names, self.feature_kinds):
                if what is not None and len(what) != width:
                    raise InvalidData(f"{len(what)} names or kinds for {width} feature columns.")
        if self.similarity is not None:
            put(self, "similarity", check_square(self.similarity, "similarity"))
        if self.dissimilarity is not None:
            put(self, "dissimilarity", check_dissimilarity(self.dissimilarity))
        strips = {name: tuple(values) for name, values in self.strips.items()}
        if self.classes is not None:
            classes = tuple(self.classes)
            put(self, "classes", classes)
            strips = strips if classes in strips.values() else {"class": classes, **strips}
        elif strips:
            put(self, "classes", next(iter(strips.values())))
        put(self, "strips", strips)
        if self.images is not None:
            put(self, "images", tuple(self.images))
        if self.asked is None and self.comparisons is not None:
            kind = "quadruplets" if self.comparisons.is_quadruplets else "triplets"
            put(self, "asked", {kind: len(self.comparisons)})
        counts = {"rows of features": self.features, "rows of similarity": self.similarity}
        counts["rows of dissimilarity"] = self.dissimilarity
        if self.oracle is not None and check_oracle(self.oracle) != n:
            raise InvalidData(
                f"{self.title}: {n} labels, but an oracle of {self.oracle.n_items} items."
            )
        counts |= {"images": self.images, **{f"values of {k!r}": v for k, v in strips.items()}}
        for what, part in counts.items():
            if part is not None and len(part) != n:
                raise InvalidData(f"{self.title}: {n} labels, but {len(part)} {what}.")
        if self.target is not None and self.target.n_leaves != n:
            raise InvalidData(f"{self.title}: {n} labels, but a tree of {self.target.n_leaves}.")

    @property
    def n_items(self) -> int:
        return len(self.labels)

    @property
    def n_missing(self) -> int:
        """How many cells of the features are missing."""
        return 0 if self.features is None else int(np.isnan(self.features).sum())

    def filled(self, missing: str = "column-mean") -> Float | None:
        """The features without gaps, unscaled: see :func:`fill_missing`."""
        return None if self.features is None else fill_missing(self.features, missing)

    def problem(
        self,
        similarity: str | None = "cosine-z",
        scaling: str = "zscore",
        missing: str = "column-mean",
        triplets: Any = None,
    ) -> Problem:
        """What a method is given.

        Missing cells are filled by the method named ``missing``. The problem's features are those,
        scaled (:func:`scale_features`). Its similarity is the measured one; without one, the kind
        named ``similarity`` of the filled, *unscaled* features, since each kind says itself whether
        it z-scores; with ``similarity=None``, none at all. O(n^2 d). For more than 4,000 items it
        is no matrix but an oracle, which computes what it is asked for. Distances that were
        measured go along for the methods that want them.

        Raises :class:`InvalidParameter` for an unknown name, :class:`TooLarge` for more than 10,000
        items where the kind cannot be computed pair by pair.
        """
        filled = self.filled(missing)
        matrix = self.similarity if similarity is not None else None
        oracle = self.oracle
        if similarity is not None and matrix is None and filled is not None:
            large = self.n_items > LAZY_ABOVE and filled.shape[1] > 0
            if large and oracle is None and similarity in FeatureOracle.KINDS:
                oracle = FeatureOracle(filled, similarity)
            elif self.n_items <= MAX_QUADRATIC:
                matrix = similarity_from_features(filled, similarity)
            elif oracle is None:
                raise TooLarge(
                    f"{SIMILARITIES[similarity][0]} {all_similarities_text(self.n_items)}",
                    f"Up to any size: {', '.join(FeatureOracle.KINDS)}.",
                )
        return Problem(
            labels=self.labels,
            features=None if filled is None else scale_features(filled, scaling),
            feature_names=self.feature_names,
            similarity=matrix,
            comparisons=self.comparisons,
            oracle=oracle,
            triplets=triplets,
            dissimilarity=None if similarity is None else self.dissimilarity,
        )

    @classmethod
    def from_problem(cls, problem: Problem, name: str = "data") -> Dataset:
        """A problem that was made in Python, so that it can be shown; its features are taken as
        unscaled, its triplets stay behind."""
        assert problem.labels is not None
        return cls(
            name=name,
            title=name,
            labels=tuple(problem.labels),
            features=problem.features,
            feature_names=problem.feature_names,
            similarity=problem.similarity_or_default if problem.is_sparse else problem.similarity,
            comparisons=problem.comparisons,
            oracle=problem.oracle,
            dissimilarity=problem.dissimilarity,
            provenance="Given as a hcviz.Problem.",
        )


def class_tree(classes: Sequence[str | None]) -> Tree:
    """Root -> classes -> items, the target of a data set that has classes only.

    Items of unknown class (None), or alone in theirs, hang from the root; so does everything where
    there is but one class. O(n log n).
    """
    members: dict[str, list[int]] = {}
    for item, name in enumerate(classes):
        if name is not None:
            members.setdefault(str(name), []).append(item)
    clades = [group for group in members.values() if 1 < len(group) < len(classes)]
    if not clades:
        return Tree.star(len(classes))
    n = len(classes)
    inside = {item for group in clades for item in group}
    loose = [item for item in range(n) if item not in inside]
    top = [n + k for k in range(len(clades))] + loose
    return Tree.from_children([*clades, top], n)


def _with_gaps(features: Any) -> Float:
    array = feature_table(features)
    wrong = np.argwhere(np.isinf(array))
    if wrong.size:
        row, column = wrong[0]
        raise InvalidData(f"Row {row}, column {column} of the features is {array[row, column]}.")
    array.flags.writeable = False
    return array


__all__ = ["Dataset", "class_tree"]
