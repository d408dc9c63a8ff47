"""``HierarchicalClustering``: the methods of hcviz as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from hcviz.algorithms import fit, seed_of
from hcviz.core.errors import InvalidConstraint, InvalidParameter
from hcviz.core.problem import Problem
from hcviz.core.tree import Tree


class HierarchicalClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Cluster with a tree of any method of hcviz, for scikit-learn's pipelines and searches.

    Parameters
    ----------
    method : str
        The method, one of :func:`hcviz.algorithms`.
    n_clusters : int or None
        The number of clusters that the tree is cut into. None: no cut, so no ``labels_``.
    metric : {"euclidean", "precomputed"}
        ``precomputed``: ``X`` is a symmetric matrix of distances. Otherwise ``X`` has features,
        which are used as they are, also those of a DataFrame.
    constraints : sequence, int array (m, 3) or None
        A tuple (a, b, c) is a triplet: a and b are together before c. A set is a group: its items
        are a clade. Items are row numbers, or names in the index of a DataFrame.
    random_state : int, Generator, RandomState or None
        Of the random numbers. An int s gives the tree of ``hcviz.fit(..., seed=s)`` on the array.
    method_params : mapping or None
        The method's own parameters, such as ``{"steps": 2000}``.

    Attributes
    ----------
    tree_ : Tree
        The tree. It has names if ``X`` is a DataFrame whose index does not count its rows.
    labels_ : int (n,)
        The cluster of each row, 0 to ``n_clusters_`` - 1, from the top of the picture.
    children_ : int (n - 1, 2)
        The two nodes of each merge, as in :class:`sklearn.cluster.AgglomerativeClustering`.
    distances_ : float64 (n - 1,)
        The height of each merge.
    n_clusters_, n_leaves_ : int
        Number of clusters and of rows.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : str (d,)
        The columns, if ``X`` is a DataFrame with texts as columns.

    Raises
    ------
    InvalidParameter
        A parameter is wrong. Fitting raises it.
    InvalidConstraint, InconsistentTriplets
        A constraint is not valid, or no tree satisfies all of them. Fitting raises it.

    Notes
    -----
    A polytomy is cut as a whole, so ``n_clusters_`` can exceed ``n_clusters``; ``children_``
    resolves it into merges of equal height. Rows of ``X`` are the items, so constraints fit one
    table only: cross-validation selects rows.

    Examples
    --------
    >>> from hcviz.sklearn import HierarchicalClustering
    >>> points = [[0.0], [1.0], [5.0], [6.5]]
    >>> HierarchicalClustering(n_clusters=2).fit_predict(points).tolist()
    [0, 0, 1, 1]
    >>> model = HierarchicalClustering("average", n_clusters=2, constraints=[(1, 2, 0)])
    >>> model.fit_predict(points).tolist()
    [0, 1, 1, 1]
    """

    tree_: Tree
    labels_: NDArray[np.intp]
    children_: NDArray[np.intp]
    distances_: NDArray[np.float64]
    n_clusters_: int
    n_leaves_: int

    def __init__(
        self,
        method: str = "average",
        n_clusters: int | None = 2,
        *,
        metric: str = "euclidean",
        constraints: Sequence[Any] | None = None,
        random_state: Any = None,
        method_params: Mapping[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.n_clusters = n_clusters
        self.metric = metric
        self.constraints = constraints
        self.random_state = random_state
        self.method_params = method_params

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Build the tree and cut it.

        Parameters
        ----------
        X : float (n, d) or float (n, n)
            Features, or distances if ``metric`` is ``precomputed``.
        y : object
            Ignored.

        Returns
        -------
        HierarchicalClustering
            The estimator itself.

        Raises
        ------
        InvalidParameter, InvalidConstraint, InconsistentTriplets, ValueError
            A parameter, a constraint or ``X`` is wrong.

        Examples
        --------
        >>> from hcviz.sklearn import HierarchicalClustering
        >>> HierarchicalClustering(n_clusters=None).fit([[0.0], [1.0], [5.0]]).distances_.tolist()
        [1.0, 4.5]
        """
        names = _names(X)
        table = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if self.metric not in ("euclidean", "precomputed"):
            raise InvalidParameter(
                f"metric must be 'euclidean' or 'precomputed', not {self.metric!r}.",
                "For another distance, give a matrix of distances and metric='precomputed'.",
            )
        if self.n_clusters is not None and not _is_count(self.n_clusters, len(table)):
            raise InvalidParameter(
                f"n_clusters must be a whole number from 1 to the number of rows, "
                f"{len(table)}, not {self.n_clusters!r}."
            )
        if self.metric == "precomputed" and table.shape[0] != table.shape[1]:
            shape = " x ".join(map(str, table.shape))
            raise ValueError(f"A matrix of distances must be square; this one is {shape}.")
        data = {"dissimilarity" if self.metric == "precomputed" else "features": table}
        triplets, groups = _divided(self.constraints)
        problem = Problem(labels=names, triplets=triplets, groups=groups, **data)
        params = _checked_params(self.method_params)
        self.tree_ = fit(self.method, problem, seed=_seed(self.random_state), **params)
        merges = self.tree_.to_linkage()
        self.children_ = merges[:, :2].astype(np.intp)
        self.distances_ = merges[:, 2]
        self.n_leaves_ = len(table)
        if self.n_clusters is not None:
            self.labels_ = self.tree_.clusters(self.n_clusters).to_numpy(dtype=np.intp) - 1
            self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def fit_predict(self, X: ArrayLike, y: Any = None, **kwargs: Any) -> NDArray[np.intp]:
        """Build the tree, cut it, and return the clusters.

        Parameters
        ----------
        X : float (n, d) or float (n, n)
            As for :meth:`fit`.
        y : object
            Ignored.
        **kwargs
            Accepted for scikit-learn's API, and ignored.

        Returns
        -------
        int (n,)
            ``labels_``.

        Raises
        ------
        InvalidParameter
            ``n_clusters`` is None.

        Examples
        --------
        >>> from hcviz.sklearn import HierarchicalClustering
        >>> HierarchicalClustering("ward", n_clusters=3).fit_predict([[0.0], [1.0], [5.0]]).tolist()
        [0, 1, 2]
        """
        if self.n_clusters is None:
            raise InvalidParameter(
                "fit_predict needs n_clusters.", "Use fit(X).tree_ for the tree."
            )
        labels: NDArray[np.intp] = self.fit(X, y).labels_
        return labels


def _names(table: Any) -> list[str] | None:
    """Return the index of a DataFrame if its entries are different texts."""
    index = getattr(table, "index", None)
    if index is None or callable(index):  # a list has a method of this name
        return None
    names = list(index)
    texts = all(isinstance(name, str) for name in names)
    return names if texts and len(set(names)) == len(names) else None


def _divided(constraints: Any) -> tuple[list[Any] | None, list[Any] | None]:
    """Return the triplets and the groups."""
    rows = constraints.to_numpy() if hasattr(constraints, "to_numpy") else constraints
    try:
        given = [] if rows is None else list(rows)
    except TypeError:
        given = [rows]
    groups = [each for each in given if isinstance(each, (set, frozenset))]
    triplets = [each for each in given if not isinstance(each, (set, frozenset))]
    for each in triplets:
        if isinstance(each, str) or not hasattr(each, "__len__") or len(each) != 3:
            raise InvalidConstraint(
                f"A constraint must be a triplet (a, b, c) or a set of items, not {each!r}."
            )
    return triplets or None, groups or None


def _checked_params(params: Any) -> dict[str, Any]:
    """Return the method's own parameters."""
    if params is not None and not isinstance(params, Mapping):
        raise InvalidParameter(
            f"method_params must be a mapping, not {params!r}.", "Such as {'steps': 2000}."
        )
    found = dict(params or {})
    if "seed" in found:
        raise InvalidParameter("method_params has 'seed'.", "Give random_state instead.")
    return found


def _is_count(value: Any, most: int) -> bool:
    """Return True for a whole number from 1 to ``most``."""
    return isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= most


def _seed(random_state: Any) -> int:
    """Return the seed of hcviz for a random state of scikit-learn."""
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return seed_of(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


__all__ = ["HierarchicalClustering"]
