"""The class ``Dataset``: measured items, before any choice of similarity or scaling."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.column_kinds import TableSummary
from hcviz.core.errors import InvalidData, TooLarge
from hcviz.core.gower import gower, gower_columns
from hcviz.core.matrix_checks import check_dissimilarity, check_square, feature_table
from hcviz.core.oracle_protocols import check_oracle
from hcviz.core.piles import Pile, check_piles, pile_similarity, without_participants
from hcviz.core.problem import Problem, all_similarities_text, check_labels
from hcviz.core.similarity import DEFAULT_SIMILARITY, SIMILARITIES, similarity_from_features
from hcviz.core.similarity_oracles import FeatureOracle
from hcviz.core.table_dates import DateScale
from hcviz.core.tree import MAX_QUADRATIC, Tree
from hcviz.core.triplets import Comparisons
from hcviz.datasets.preprocessing import fill_missing, scale_features

Float = NDArray[np.float64]
Classes = tuple[str | None, ...]


#: With more items than this, a similarity is computed when a method queries it. A matrix would need
#: 128 MB or more.
LAZY_ABOVE = 4_000


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A named set of items.

    Parameters
    ----------
    name, title : str
        Names of the data set, for code and for people.
    labels : tuple of str
        Names of the n items, in the order of the file. All are different.
    features : float64 (n, d) or None
        Unscaled features, NaN for missing cells.
    feature_names : tuple of str or None
        Names of the d features (default: "feature 1", ...).
    feature_kinds : tuple of str or None
        For each column ``number``, ``binary``, ``category`` (one value of a one-hot category) or
        ``text`` (one term of a text).
    feature_columns : tuple of str or None
        The column of the table that each feature comes from (default: the names).
    feature_weights : tuple of float or None
        How much that column counts (default: 1).
    similarity : float64 (n, n) or None
        Measured similarities; larger is more alike.
    classes : tuple of (str or None), or None
        A known partition, for colours and for evaluation; None for an unknown class. Methods do
        not get it.
    strips : dict of str -> tuple of (str or None)
        All columns with classes; ``classes`` comes first.
    target : Tree or None
        The true hierarchy, possibly with polytomies.
    images : tuple of (PNG bytes or data URI or None), or None
        A picture of each item.
    comparisons : Comparisons or None
        Answers about the items.
    asked : dict of str -> int, or None
        Number of answers for each kind of question: ``triplets``, ``quadruplets``, ``central`` or
        ``odd``.
    oracle : SimilarityOracle or None
        Computes similarities when a method queries them; larger is more alike.
    dissimilarity : float64 (n, n) or None
        Measured distances, from which ``similarity`` was computed.
    provenance : str
        Source and licence, in one line.
    notes : tuple of str
        Sentences about decisions of the reader, such as ignored columns.
    measure : str
        What a measured similarity is, such as "share of participants", or an empty text.
    piles : sequence of Pile
        The piles of a card sort, with their participants and names.
    table : TableSummary or None
        The columns of the table that the features were read from.

    Raises
    ------
    InvalidData
        If the parts do not fit together.

    Examples
    --------
    >>> data = Dataset("two", "Two items", ("a", "b"), features=[[0.0, 1.0], [2.0, 1.0]])
    >>> data.n_items, data.feature_names
    (2, ('feature 1', 'feature 2'))
    """

    name: str
    title: str
    labels: tuple[str, ...]
    features: Any = None
    feature_names: Sequence[str] | None = None
    feature_kinds: Sequence[str] | None = None
    feature_columns: Sequence[str] | None = None
    feature_weights: Sequence[float] | None = None
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
    piles: Sequence[Pile] = ()
    table: TableSummary | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "labels", check_labels(self.labels))
        n = len(self.labels)
        if self.features is not None:
            put(self, "features", _checked_features(self.features))
            width = self.features.shape[1]
            named = self.feature_names or [f"feature {k + 1}" for k in range(width)]
            put(self, "feature_names", tuple(str(name) for name in named))
            for name in ("feature_names", "feature_kinds", "feature_columns", "feature_weights"):
                what = getattr(self, name)
                if what is not None:
                    put(self, name, tuple(what))
                if what is not None and len(what) != width:
                    noun = name.removeprefix("feature_")
                    raise InvalidData(f"{len(what)} {noun} for {width} feature columns.")
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
        put(self, "piles", check_piles(self.piles, n, self.title))
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
        if self.target is not None:
            put(self, "target", self.target.with_labels(self.labels))

    def __repr__(self) -> str:
        parts = [f"{self.n_items} items"]
        if self.features is not None and self.features.shape[1]:
            parts.append(f"{self.features.shape[1]} features")
        for name in ("similarity", "dissimilarity", "classes", "target"):
            if getattr(self, name) is not None:
                parts.append(name)
        return f"Dataset({self.title!r}, {', '.join(parts)})"

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.labels)

    @property
    def n_missing(self) -> int:
        """Number of missing cells: of the table as it was read, or of the features without one.

        A category with many values has one missing cell in the table, and many in the features.
        """
        if self.features is None:
            return 0
        missing = int(np.isnan(self.features).sum())
        return missing if self.table is None or missing == 0 else self.table.missing

    @property
    def n_cells(self) -> int:
        """Number of cells that :attr:`n_missing` counts among."""
        if self.features is None:
            return 0
        return self.features.size if self.table is None else self.table.cells

    def filled(self, missing: str = "column-mean") -> Float | None:
        """Return the unscaled features without missing cells.

        Parameters
        ----------
        missing : str
            Method for missing cells (:func:`fill_missing`).

        Returns
        -------
        float64 (n, d) or None
            None for a data set without features.

        Raises
        ------
        InvalidParameter
            If there is no such method.

        Examples
        --------
        >>> data = Dataset("two", "Two items", ("a", "b"), features=[[0.0, np.nan], [2.0, 1.0]])
        >>> data.filled().tolist()
        [[0.0, 1.0], [2.0, 1.0]]
        """
        return None if self.features is None else fill_missing(self.features, missing)

    def factors(self, filled: Float | None) -> Float | float:
        """Return what each scaled feature is multiplied by, from the weights of the columns.

        Parameters
        ----------
        filled : float64 (n, d) or None
            The features without missing cells.

        Returns
        -------
        float64 (d,), or 1.0
            The root of the weight of the column. The terms of a text also share one weight in
            proportion to their variances, so that a text counts as much as a number.

        Examples
        --------
        >>> data = Dataset("two", "Two items", ("a", "b"), [[0.0], [1.0]], feature_weights=[4.0])
        >>> float(data.factors(data.features)[0])
        2.0
        """
        kinds = self.feature_kinds or ()
        if filled is None or (self.feature_weights is None and "text" not in kinds):
            return 1.0
        found = np.array(self.feature_weights or np.ones(filled.shape[1]))
        texts = np.flatnonzero([kind == "text" for kind in kinds])
        if texts.size:
            variance = filled[:, texts].var(axis=0)
            sources = np.array(self._columns())[texts]
            for source in np.unique(sources):
                terms = sources == source
                found[texts[terms]] *= variance[terms] / max(variance[terms].sum(), 1e-300)
        return np.sqrt(found)

    @property
    def term_columns(self) -> dict[str, str]:
        """For each feature that is a term of a text, the column of the text."""
        names, kinds = self.feature_names or (), self.feature_kinds or ()
        triples = zip(names, kinds, self._columns(), strict=False)
        return {name: column for name, kind, column in triples if kind == "text"}

    @property
    def date_scales(self) -> dict[str, DateScale]:
        """For each feature that is a date, the scale of its column."""
        columns = () if self.table is None else self.table.columns
        scales = {each.name: each.dates for each in columns if each.dates is not None}
        pairs = zip(self.feature_names or (), self._columns(), strict=True)
        return {name: scales[column] for name, column in pairs if column in scales}

    def _columns(self) -> Sequence[str]:
        """Return the column of the table that each feature comes from."""
        return self.feature_columns or self.feature_names or ()

    def _gower(self) -> Float:
        """Return 1 - Gower's distance. Missing cells are left out pair by pair."""
        width = self.features.shape[1]
        kinds = self.feature_kinds or ["number"] * width
        weights = np.array(self.feature_weights or np.ones(width))
        return gower(*gower_columns(self.features, list(kinds), list(self._columns()), weights))

    def problem(
        self,
        similarity: str | None = DEFAULT_SIMILARITY,
        scaling: str = "zscore",
        missing: str = "column-mean",
        triplets: Any = None,
        left_out: Collection[str] = (),
    ) -> Problem:
        """Return the problem that a method gets.

        Parameters
        ----------
        similarity : str or None
            Kind of similarity, computed from the *unscaled* features. A measured similarity has
            priority. With None, the problem has no similarity. With the default, linkages compare
            the features (docs/distances.md).
        scaling : str
            Scaling of the problem's features (:func:`scale_features`).
        missing : str
            Method for missing cells (:func:`fill_missing`).
        triplets : Triplets or None
            Constraints.
        left_out : set of str
            Participants of a card sort whose piles are left out. The similarity is then computed
            from the other piles.

        Returns
        -------
        Problem
            It has an oracle instead of a matrix of similarities for more than 4,000 items. Measured
            distances are passed on.

        Raises
        ------
        InvalidParameter
            If a name is unknown.
        InvalidData
            If the participants who are not left out sorted no two cards.
        TooLarge
            Above 10,000 items, if the kind of similarity cannot be computed pair by pair.

        Notes
        -----
        O(n^2 d) with a matrix. Each kind of similarity has its own scaling. ``gower`` leaves out
        missing cells pair by pair, and compares categories by equality.

        Examples
        --------
        >>> from hcviz.datasets import load
        >>> problem = load("zoo").problem(similarity="cosine")
        >>> problem.similarity.shape, problem.features.shape
        ((101, 101), (101, 16))
        """
        filled = self.filled(missing)
        factors = self.factors(filled)
        matrix = self.similarity if similarity is not None else None
        oracle = self.oracle
        piles = without_participants(self.piles, left_out)
        if len(piles) < len(self.piles):
            if not piles:
                raise InvalidData("All participants are switched off.", "Leave one of them on.")
            matrix = pile_similarity(piles, self.n_items)[0] if matrix is not None else None
        if similarity is not None and matrix is None and filled is not None:
            large = self.n_items > LAZY_ABOVE and filled.shape[1] > 0
            if large and oracle is None and similarity in FeatureOracle.KINDS:
                oracle = FeatureOracle(filled, similarity, factors=factors)
            elif self.n_items <= MAX_QUADRATIC:
                matrix = (
                    self._gower()
                    if similarity == "gower"
                    else similarity_from_features(filled, similarity, factors)
                )
            elif oracle is None:
                raise TooLarge(
                    f"{SIMILARITIES[similarity][0]} {all_similarities_text(self.n_items)}",
                    f"Up to any size: {', '.join(FeatureOracle.KINDS)}.",
                )
        made = Problem(
            labels=self.labels,
            features=None if filled is None else scale_features(filled, scaling) * factors,
            feature_names=self.feature_names,
            similarity=matrix,
            comparisons=self.comparisons,
            oracle=oracle,
            triplets=triplets,
            dissimilarity=None if similarity is None else self.dissimilarity,
            piles=piles,
        )
        measured = self.similarity is not None or self.oracle is not None
        if similarity is None or filled is None or measured:
            return made
        weights = None if isinstance(factors, float) else factors**2
        return made.with_similarity_kind(similarity, scaling, weights)

    @classmethod
    def from_problem(cls, problem: Problem, name: str = "data") -> Dataset:
        """Return a data set with the parts of a problem, without its triplets.

        Parameters
        ----------
        problem : Problem
            Its features become the unscaled features.
        name : str
            Name and title of the data set.

        Returns
        -------
        Dataset
            Without classes and target.

        Raises
        ------
        TooLarge
            If the similarity is sparse and has more than 10,000 items.

        Examples
        --------
        >>> Dataset.from_problem(Problem(features=[[0.0], [1.0]], labels=["owl", "elm"])).labels
        ('owl', 'elm')
        """
        assert problem.labels is not None
        similarity, oracle = problem.similarity, problem.oracle
        if problem.is_sparse:
            similarity = problem.similarity_or_default
        features, weights = problem.features, None
        if problem.similarity_kind == DEFAULT_SIMILARITY:  # it is computed again
            similarity = oracle = None
            if features is not None and problem.feature_weights is not None:
                known = np.where(problem.feature_weights > 0.0, problem.feature_weights, 1.0)
                features, weights = features / np.sqrt(known), tuple(known.tolist())
        return cls(
            name=name,
            title=name,
            labels=tuple(problem.labels),
            features=features,
            feature_names=problem.feature_names,
            feature_weights=weights,
            similarity=similarity,
            comparisons=problem.comparisons,
            oracle=oracle,
            dissimilarity=problem.dissimilarity,
            piles=problem.piles,
            provenance="Given as a hcviz.Problem.",
        )


def class_tree(classes: Sequence[str | None]) -> Tree:
    """Return the tree with the levels root, classes and items. O(n log n).

    Parameters
    ----------
    classes : sequence of (str or None)
        The class of each of n items.

    Returns
    -------
    Tree
        Items without a class, or alone in it, are children of the root. With only one class, all
        items are children of the root.

    Examples
    --------
    >>> class_tree(["x", "x", "y", "y", None]).to_newick()
    '(4:4.0,(0:1.0,1:1.0):3.0,(2:1.0,3:1.0):3.0);'
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
    outside = [item for item in range(n) if item not in inside]
    top = [n + k for k in range(len(clades))] + outside
    return Tree.from_children([*clades, top], n)


def _checked_features(features: Any) -> Float:
    """Return the features as float64 (n, d). NaN is allowed, infinity is an error."""
    array = feature_table(features)
    wrong = np.argwhere(np.isinf(array))
    if wrong.size:
        row, column = wrong[0]
        raise InvalidData(f"Row {row}, column {column} of the features is {array[row, column]}.")
    array.flags.writeable = False
    return array


__all__ = ["Dataset", "class_tree"]
