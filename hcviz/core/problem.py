"""``Problem``: the items and their data, as a method gets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from hcviz.core.dataframes import features_of_frame, is_frame, matrix_of_frame
from hcviz.core.errors import InvalidConstraint, InvalidData, TooLarge
from hcviz.core.groups import Groups
from hcviz.core.item_names import indices_of
from hcviz.core.matrix_checks import (
    check_dissimilarity,
    check_features,
    check_sparse,
    check_square,
    is_feature_table,
)
from hcviz.core.oracle_protocols import check_oracle
from hcviz.core.piles import Pile, check_piles
from hcviz.core.similarity import (
    DEFAULT_SIMILARITY,
    from_distance,
    similarity_from_features,
    similarity_text,
    zscore,
)
from hcviz.core.triplets import Comparisons, Triplets, chain_triplets

Float = NDArray[np.float64]

#: A dense matrix is not computed for more items: 800 MB.
MAX_DENSE = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Items with their features, similarities, comparisons and constraints.

    At least one parameter must determine the number of items, n.

    Parameters
    ----------
    labels : sequence of str, optional
        Different names, n of them. Default: the index of a DataFrame, or ``"0" .. "n-1"``. A
        DataFrame or an array (n, d) in this first place means ``features``.
    features : float64 (n, d) or DataFrame, optional
        Finite numbers from -1e100 to 1e100. d = 0 is allowed; the sampler then draws from its
        prior. In a pandas DataFrame, yes/no and true/false become one 0/1 column, and each value
        of a category becomes a 0/1 column ``column=value``. A missing cell gets the mean of its
        column. These columns are left out, with a UserWarning: columns named class, label,
        species or image, empty columns, and texts that are not categories.
    similarity : float64 (n, n), scipy.sparse or DataFrame, optional
        Finite, up to 1e100, and symmetric; larger is more similar. The diagonal is ignored. A
        sparse matrix stays sparse (a ``csr_array`` with int32 indices): missing entries are 0, and
        no entry may be negative. The index and columns of a DataFrame are the items.
    triplets : Triplets, int (m, 3) or names (m, 3), optional
        Constraints ab|c, hard or soft. Here and in groups, items are numbers or labels.
    comparisons : Comparisons or int (m, 3) or (m, 4), optional
        Answers about hidden similarities.
    oracle : SimilarityOracle or ComparisonOracle, optional
        It answers questions about similarities.
    feature_names : sequence of str, optional
        Names of the d features, for the views. Default: the columns of a DataFrame.
    dissimilarity : float64 (n, n), (n (n - 1) / 2,) or DataFrame, optional
        Measured distances, square or as ``scipy.spatial.distance.pdist`` returns them: finite,
        symmetric, 0 or more. The diagonal is ignored. Linkages and methods for dissimilarities use
        them. If there is no other source of similarities, other methods use (max d - d) / max d.
    groups : Groups or sets of int or str, optional
        Sets of items that must be clades, hard or soft. Stored as ``Groups``.
    not_groups : Groups or sets of int or str, optional
        Sets of items that must not be clades. Only some methods can keep them, for example
        ``ddt``. Stored as ``Groups``.
    piles : sequence of Pile, optional
        The piles of a card sort whose cards are the items.
    is_table : bool
        True if the columns of the features have different units, so that distances use their
        z-scores. It is always True for a DataFrame.

    Attributes
    ----------
    n_items : int
        Number of items, n.
    similarity_kind : str or None
        The name in ``SIMILARITIES`` of a similarity that was computed from the features; None for
        another one.
    scaling : str
        How the columns were or will be scaled, such as ``zscore``; "" if unknown.
    feature_weights : float64 (d,) or None
        The weights of the columns; the scaled features contain their roots. None: all are 1.

    Raises
    ------
    InvalidData, InvalidConstraint
        A value is not valid; the message names its row and column.

    Examples
    --------
    >>> import pandas as pd
    >>> fruit = {"grams": [150, 9], "colour": ["red", "green"], "sour": [False, True]}
    >>> problem = Problem(features=pd.DataFrame(fruit, index=["apple", "grape"]))
    >>> problem.labels
    ('apple', 'grape')
    >>> problem.feature_names
    ('grams', 'colour=green', 'colour=red', 'sour')
    """

    labels: Sequence[str] | None = None
    features: Any = None
    similarity: Any = None
    triplets: Any = None
    comparisons: Any = None
    oracle: Any = None
    feature_names: Sequence[str] | None = None
    dissimilarity: Any = None
    groups: Any = None
    not_groups: Any = None
    piles: Sequence[Pile] = ()
    n_items: int = field(init=False)
    is_table: bool = field(default=False, kw_only=True)
    similarity_kind: str | None = field(init=False, default=None)
    scaling: str = field(init=False, default="")
    feature_weights: Any = field(init=False, default=None)

    def __post_init__(self) -> None:
        put = object.__setattr__
        if is_frame(self.labels) or (isinstance(self.labels, np.ndarray) and self.labels.ndim == 2):
            if self.features is not None:
                raise InvalidData("Two tables were given: as labels and as features.")
            put(self, "features", self.labels)
            put(self, "labels", None)
        self._read_frames()
        counts: dict[str, int] = {}
        if self.labels is not None:
            put(self, "labels", check_labels(self.labels))
            counts["labels"] = len(self.labels)
        if self.features is not None:
            put(self, "features", check_features(self.features))
            counts["rows of features"] = len(self.features)
        if self.similarity is not None:
            check = check_sparse if issparse(self.similarity) else check_square
            put(self, "similarity", check(self.similarity, "similarity"))
            counts["rows of similarity"] = self.similarity.shape[0]
        if self.dissimilarity is not None:
            put(self, "dissimilarity", check_dissimilarity(self.dissimilarity))
            counts["rows of dissimilarity"] = len(self.dissimilarity)
            if self.similarity is None and self.features is None and self.oracle is None:
                distance = self.dissimilarity.copy()
                np.fill_diagonal(distance, 0.0)
                put(self, "similarity", check_square(from_distance(distance), "similarity"))
        if self.oracle is not None:
            counts["items of the oracle"] = check_oracle(self.oracle)
        if self.comparisons is not None and not isinstance(self.comparisons, Comparisons):
            put(self, "comparisons", Comparisons(self.comparisons))
        if self.labels is not None:
            for name in ("triplets", "groups", "not_groups"):
                put(self, name, self._indices(getattr(self, name), f"The {name}"))
        put(self, "triplets", Triplets.of(self.triplets))
        put(self, "groups", Groups.of(self.groups))
        put(self, "not_groups", Groups.of(self.not_groups))
        if len(set(counts.values())) > 1:
            found = ", ".join(f"{count} {what}" for what, count in counts.items())
            raise InvalidData(f"The parts of a problem disagree on the number of items: {found}.")
        n_named = [int(self.triplets.rows.max(initial=-1)) + 1]
        n_named += [int(items[-1]) + 1 for items in (*self.groups, *self.not_groups)]
        if self.comparisons is not None:
            n_named.append(self.comparisons.n_named)
        n = next(iter(counts.values()), max(n_named, default=0))
        if n < 1:
            raise InvalidData(
                "A problem needs items.", "Give labels, features, a similarity or comparisons."
            )
        put(self, "n_items", n)
        Triplets.of(self.triplets, n)
        Groups.of(self.groups, n)
        Groups.of(self.not_groups, n)
        put(self, "piles", check_piles(self.piles, n, "The card sort"))
        if self.comparisons is not None and n_named[-1] > n:
            raise InvalidData(
                f"The comparisons name item {n_named[-1] - 1}, but there are only {n} items."
            )
        if self.labels is None:
            put(self, "labels", tuple(str(i) for i in range(n)))
        if self.feature_names is not None:
            put(self, "feature_names", _texts(self.feature_names, "feature_names"))
            if self.features is None or len(self.feature_names) != self.features.shape[1]:
                raise InvalidData("feature_names must name each column of features once.")

    def _read_frames(self) -> None:
        """Replace DataFrames by arrays, and use their names if no names are given."""
        put = object.__setattr__
        names: dict[str, tuple[str, ...]] = {}
        if is_frame(self.features):
            read = features_of_frame(self.features)
            put(self, "features", read.features)
            put(self, "is_table", True)
            if self.feature_names is None:
                put(self, "feature_names", read.names)
            names["features"] = read.labels
        if self.is_table:
            put(self, "scaling", "zscore")
        for noun in ("similarity", "dissimilarity"):
            if is_frame(getattr(self, noun)):
                names[noun], matrix = matrix_of_frame(getattr(self, noun), noun)
                put(self, noun, matrix)
        if len(set(names.values())) > 1:
            frames = " and ".join(names)
            raise InvalidData(
                f"The DataFrames of {frames} have different items, or another order of items.",
                "Give them the same index: frame.loc[other.index].",
            )
        if self.labels is None and names:
            put(self, "labels", next(iter(names.values())))

    def __repr__(self) -> str:
        parts = [f"{self.n_items} items"]
        if self.features is not None:
            parts.append(f"{self.features.shape[1]} features")
        parts += [
            name for name in ("similarity", "dissimilarity") if getattr(self, name) is not None
        ]
        if self.oracle is not None:
            parts.append(type(self.oracle).__name__)
        for name in ("comparisons", "triplets", "groups", "not_groups", "piles"):
            count = 0 if getattr(self, name) is None else len(getattr(self, name))
            if count:
                parts.append(f"{count} {name.replace('_', ' ')}")
        return f"Problem({', '.join(parts)})"

    def _indices(self, items: Any, what: str) -> Any:
        assert self.labels is not None
        return indices_of(items, self.labels, what.replace("_", " "))

    def with_triplets(self, triplets: Any) -> Problem:
        """Return a problem with other triplets and otherwise the same data.

        Parameters
        ----------
        triplets : Triplets, int (m, 3), names (m, 3) or None
            The constraints; None: none. Items are numbers or labels.

        Returns
        -------
        Problem
            It shares its arrays with this one.

        Raises
        ------
        InvalidConstraint
            A row is not valid, or names an unknown item.

        Notes
        -----
        O(m).

        Examples
        --------
        >>> problem = Problem(features=[[0.0], [1.0], [5.0]])
        >>> len(problem.with_triplets([[1, 2, 0]]).triplets), len(problem.triplets)
        (1, 0)
        >>> pets = Problem(labels=["dog", "cat", "eel"])
        >>> pets.with_triplets([("dog", "cat", "eel")]).triplets.rows.tolist()
        [[0, 1, 2]]
        """
        made = copy(self)  # the other fields are checked and frozen already
        made.__dict__.pop("constraint_rows", None)  # cached, from the former triplets
        rows = self._indices(triplets, "The triplets")
        object.__setattr__(made, "triplets", Triplets.of(rows, self.n_items))
        return made

    def with_groups(self, groups: Any) -> Problem:
        """Return a problem with other groups and otherwise the same data.

        Parameters
        ----------
        groups : Groups, sets of int or str, or None
            Sets of items that must be clades.

        Returns
        -------
        Problem
            It shares the data with this one.

        Raises
        ------
        InvalidConstraint
            A group is not valid, names an unknown item, or has all items.

        Notes
        -----
        O(sum of the sizes).

        Examples
        --------
        >>> Problem(labels=["bat", "owl", "eel", "cod"]).with_groups([{2, 3}]).groups
        Groups(1)
        """
        made = copy(self)  # the other fields are checked and frozen already
        made.__dict__.pop("constraint_rows", None)  # cached, from the former groups
        sets = self._indices(groups, "The groups")
        object.__setattr__(made, "groups", Groups.of(sets, self.n_items))
        return made

    def with_group(self, items: Any, apart: Any = None) -> Problem:
        """Return a problem with one more constraint: some clade has ``items`` and not ``apart``.

        Parameters
        ----------
        items : int (k,), or a list or set of numbers or names
            Two or more different items.
        apart : int (m,), or a list or set of numbers or names, optional
            Items outside. None: all other items, so that ``items`` are a clade.

        Returns
        -------
        Problem
            It shares the data with this one.

        Raises
        ------
        InvalidConstraint
            An item is not valid, or in both sets; or the group has all items.

        Notes
        -----
        Without ``apart``, O(k). Otherwise the constraint is (k - 1) m triplets.

        Examples
        --------
        >>> problem = Problem(labels=["bat", "owl", "eel", "cod"]).with_group([2, 3])
        >>> problem.groups, len(problem.with_group(["bat", "owl"], apart=["eel"]).triplets)
        (Groups(1), 1)
        """
        if isinstance(apart, str):
            apart = [apart]
        items, apart = (self._indices(each, "The group's items") for each in (items, apart))
        if apart is None:
            return self.with_groups(self.groups + Groups.of([items], self.n_items))
        outside = sorted(apart) if isinstance(apart, (set, frozenset)) else np.atleast_1d(apart)
        inside = sorted(items) if isinstance(items, (set, frozenset)) else items
        rows = [chain_triplets(inside, each) for each in np.asarray(outside).tolist()]
        if not rows:
            raise InvalidConstraint(
                "No item is apart from the group.", "Leave out apart: then all other items are."
            )
        return self.with_triplets(self.triplets + Triplets(np.concatenate(rows)))

    def with_not_groups(self, not_groups: Any) -> Problem:
        """Return a problem with other sets that must not be clades and otherwise the same data.

        Parameters
        ----------
        not_groups : Groups, sets of int or str, or None
            Sets of items that must not be clades.

        Returns
        -------
        Problem
            It shares the data with this one.

        Raises
        ------
        InvalidConstraint
            A set is not valid, names an unknown item, or has all items.

        Notes
        -----
        O(sum of the sizes).

        Examples
        --------
        >>> problem = Problem(features=[[0.0], [1.0], [5.0]])
        >>> fit("ddt", problem.with_not_groups([{0, 1}]), steps=100).has_clade([0, 1])
        False
        """
        made = copy(self)  # the other fields are checked and frozen already
        sets = self._indices(not_groups, "The sets")
        object.__setattr__(made, "not_groups", Groups.of(sets, self.n_items))
        return made

    @property
    def own_labels(self) -> tuple[str, ...] | None:
        """The labels; None if they are the default, the numbers 0..n-1."""
        assert self.labels is not None
        default = all(name == str(i) for i, name in enumerate(self.labels))
        return None if default else tuple(self.labels)

    @property
    def n_constraints(self) -> int:
        """Number of triplets, groups, and sets that must not be clades."""
        return len(self.triplets) + len(self.groups) + len(self.not_groups)

    def without_constraints(self) -> Problem:
        """Return a problem with the same data and no constraints. O(1).

        Returns
        -------
        Problem
            It shares the data with this one.

        Examples
        --------
        >>> problem = Problem(labels=["bat", "owl", "eel"], groups=[{1, 2}])
        >>> problem.without_constraints().n_constraints
        0
        """
        return self.with_triplets(()).with_groups(()).with_not_groups(())

    @cached_property
    def constraint_rows(self) -> NDArray[np.int32]:
        """The rows of triplets and groups for kernels, int32 (m, 3)."""
        return np.concatenate([self.triplets.rows, self.groups.rows])

    def with_oracle(self, oracle: Any) -> Problem:
        """Return a problem with another oracle and otherwise the same data.

        Parameters
        ----------
        oracle : SimilarityOracle or ComparisonOracle
            An oracle over the same items.

        Returns
        -------
        Problem
            It shares its arrays with this one.

        Raises
        ------
        InvalidData
            The object is not an oracle, or has another number of items.

        Notes
        -----
        O(1).

        Examples
        --------
        >>> features = [[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]]
        >>> oracle = CountingOracle(FeatureOracle(features))
        >>> Problem(features=features).with_oracle(oracle).oracle.n_items
        3
        """
        if check_oracle(oracle) != self.n_items:
            raise InvalidData(
                f"The oracle has {oracle.n_items} items, and the problem {self.n_items}."
            )
        made = copy(self)  # the other fields are checked and frozen already
        made.__dict__.pop("similarity_or_default", None)  # cached, from the former oracle
        object.__setattr__(made, "oracle", oracle)
        object.__setattr__(made, "similarity_kind", None)
        return made

    def with_comparisons(self, more: Comparisons | None) -> Problem:
        """Return a problem with additional comparisons.

        Parameters
        ----------
        more : Comparisons or None
            They are added after the comparisons of this problem.

        Returns
        -------
        Problem
            It shares its other data with this one. The problem itself if there is nothing to add.

        Raises
        ------
        InvalidData
            A comparison names an unknown item.

        Notes
        -----
        O(number of comparisons).

        Examples
        --------
        >>> problem = Problem(labels=["owl", "rook", "elm"], comparisons=[[0, 1, 2]])
        >>> len(problem.with_comparisons(Comparisons([[1, 0, 2]])).comparisons)
        2
        """
        if more is None or not len(more):
            return self
        if more.n_named > self.n_items:
            raise InvalidData(
                f"The comparisons name item {more.n_named - 1}, but there are only {self.n_items} "
                "items."
            )
        made = copy(self)  # the other fields are checked and frozen already
        known = self.comparisons
        object.__setattr__(made, "comparisons", more if known is None else known + more)
        return made

    def as_dissimilarities(self) -> Problem:
        """Return a problem whose ``similarity`` field has the measured distances.

        Returns
        -------
        Problem
            For methods that read the numbers as dissimilarities. The problem itself if it has no
            measured distances.

        Examples
        --------
        >>> problem = Problem(dissimilarity=[[0, 3], [3, 0]])
        >>> problem.as_dissimilarities().similarity.tolist()
        [[0.0, 3.0], [3.0, 0.0]]
        """
        if self.dissimilarity is None:
            return self
        made = copy(self)  # all fields are checked and frozen already
        made.__dict__.pop("similarity_or_default", None)  # cached, from the former numbers
        object.__setattr__(made, "similarity", self.dissimilarity)
        return made

    def with_similarity_kind(
        self, kind: str, scaling: str = "", weights: Float | None = None
    ) -> Problem:
        """Return the same problem, with the name of the similarity of its features.

        Parameters
        ----------
        kind : str
            Its name in ``SIMILARITIES``. With the default one, linkages compare the features.
        scaling : str
            How the features were scaled, such as ``zscore``.
        weights : float64 (d,) or None
            The weight of each feature, whose root the scaled features were multiplied by.

        Returns
        -------
        Problem
            It shares the data with this one.

        Raises
        ------
        InvalidData
            The problem has no features.

        Examples
        --------
        >>> problem = Problem(features=[[0.0], [3.0]], similarity=[[1, 0.5], [0.5, 1]])
        >>> named = problem.with_similarity_kind("cosine-z")
        >>> [float(fit("average", each).height[-1]) for each in (problem, named)]
        [0.0, 3.0]
        """
        if self.features is None:
            raise InvalidData("Only features have such a similarity.", "Give features.")
        made = copy(self)  # all fields are checked and frozen already
        object.__setattr__(made, "similarity_kind", kind)
        object.__setattr__(made, "scaling", scaling)
        object.__setattr__(made, "feature_weights", weights)
        return made

    @property
    def compares_features(self) -> bool:
        """True if linkages merge by Euclidean distances of the features: docs/distances.md."""
        if self.dissimilarity is not None or self.features is None or not self.features.shape[1]:
            return False
        given = self.similarity is not None or self.all_at_once
        return self.similarity_kind == DEFAULT_SIMILARITY or not given

    @cached_property
    def coordinates(self) -> Float:
        """The features as distances use them: z-scores for a DataFrame, else as they are.

        Raises
        ------
        InvalidData
            The problem has no features.
        """
        if self.features is None:
            raise InvalidData("This needs features, and the problem has none.")
        return zscore(self.features) if self.is_table else self.features

    @property
    def similarity_text(self) -> str:
        """What methods that need similarities compare, for people."""
        if self.similarity_kind is not None:
            return similarity_text(self.similarity_kind)
        if self.dissimilarity is not None:
            return "measured distances"
        if self.similarity is not None:
            return "measured similarity"
        return "similarities of an oracle" if self.all_at_once else similarity_text()

    @property
    def distance_text(self) -> str:
        """What linkages compare, for people."""
        return self.euclidean_text if self.compares_features else self.similarity_text

    @property
    def euclidean_text(self) -> str:
        """What Ward's linkage of features compares, for people."""
        columns = "the z-scored columns" if self.scaling == "zscore" else "the features"
        return f"Euclidean distance of {columns}"

    @property
    def is_sparse(self) -> bool:
        """True if the similarity is a sparse matrix."""
        return bool(issparse(self.similarity))

    @property
    def all_at_once(self) -> bool:
        """True if there is an oracle that may be asked for all similarities."""
        return bool(getattr(self.oracle, "all_at_once", False))

    @cached_property
    def similarity_or_default(self) -> Float:
        """A dense similarity matrix, float64 (n, n).

        The given similarity, or all similarities of an oracle with ``all_at_once``, or (1 +
        cosine)/2 of the z-scored features.

        Raises
        ------
        TooLarge
            There are more than 10,000 items, and no dense similarity is given.
        InvalidData
            The problem has no similarity, no features, and no such oracle.
        """
        if self.is_sparse:
            if self.n_items > MAX_DENSE:
                raise TooLarge(
                    f"This needs a dense matrix of {self.n_items:,} x {self.n_items:,} "
                    f"similarities, but the limit is {MAX_DENSE:,} items.",
                    "Use crsc, crbc or hrsc with spectral cuts, which keep the matrix sparse.",
                )
            dense: Float = self.similarity.toarray()
            dense.flags.writeable = False
            return dense
        if self.similarity is not None:
            given: Float = self.similarity
            return given
        if self.features is None and not self.all_at_once:
            raise InvalidData(
                "This needs similarities, and the problem has neither a similarity nor features."
            )
        if self.n_items > MAX_DENSE:
            raise TooLarge(f"This {all_similarities_text(self.n_items)}", FEWER_QUERIES_HINT)
        if self.all_at_once:
            items = np.arange(self.n_items, dtype=np.int32)
            answer: Float = np.asarray(self.oracle.similarity(items, items), dtype=np.float64)
            if not getattr(self.oracle, "cheap", False):  # cheap oracles are hcviz's own
                return check_square(answer, "similarity")
            answer.flags.writeable = False
            return answer
        return similarity_from_features(self.features)


#: Hint of an error message if a full matrix of similarities is too large.
FEWER_QUERIES_HINT = (
    "Use active-spectral, which asks for a few per cent of them, or a sample of items."
)


def all_similarities_text(n: int) -> str:
    """Return the rest of a message: a full matrix for ``n`` items is too large."""
    return (
        f"needs all {n:,} x {n:,} similarities at once: {n * n * 8 / 2**30:,.1f} GiB. "
        f"The limit is {MAX_DENSE:,} items."
    )


def check_labels(labels: Sequence[Any]) -> tuple[str, ...]:
    """Return the labels as strings; refuse empty and repeated ones."""
    names = _texts(labels, "Labels")
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        if not name.strip():
            raise InvalidData(f"Item {row} has an empty name.", "Give every item a name.")
        if name in seen:
            raise InvalidData(
                f"The name {name!r} occurs twice: items {seen[name]} and {row}.",
                "Names must differ, because constraints refer to items by name.",
            )
        seen[name] = row
    return names


def _texts(values: Any, what: str) -> tuple[str, ...]:
    try:
        return tuple(str(value) for value in values)
    except TypeError:
        raise InvalidData(f"{what} must be a list of names, not {values!r}.") from None


#: The reader of names and paths. ``hcviz`` sets it, because core imports no readers of files.
_readers: list[Callable[[str], Any]] = []


def read_names_with(reader: Callable[[str], Any]) -> None:
    """Set the function that returns the data set of a name or a path."""
    _readers[:] = [reader]


def load_named(given: Any) -> Any:
    """Return the data set of a name or a path; return other values unchanged."""
    if isinstance(given, str | PathLike) and _readers:
        return _readers[0](fspath(given))
    return given


def as_problem(given: Any) -> Problem:
    """Return what a public function was given as a problem.

    Parameters
    ----------
    given : Problem, Dataset, DataFrame, array (n, d), nested lists, str or path
        Features mean ``Problem(features=...)``. A data set has a method ``problem``; its default
        similarity is that of the page. A text is the name of a built-in data set, or a path to a
        table.

    Returns
    -------
    Problem

    Raises
    ------
    InvalidData
        The argument is none of these, or cannot be read.
    """
    if isinstance(given, Problem):
        return given
    given = load_named(given)
    if is_feature_table(given):
        return Problem(features=given)
    make = getattr(given, "problem", None)
    found = make() if callable(make) else given
    if isinstance(found, Mapping):
        raise InvalidData("The data are a dict.", "Write pandas.DataFrame(data): items as rows.")
    if not isinstance(found, Problem):
        raise InvalidData(
            f"The data must be a Problem, a DataFrame or an array, not {type(found).__name__}.",
            "A data set, its name, or the path of a table is possible too.",
        )
    return found


__all__ = ["MAX_DENSE", "Problem", "as_problem", "load_named", "read_names_with"]
