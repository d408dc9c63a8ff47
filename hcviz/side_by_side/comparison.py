"""``compare_methods``: several methods on the same data and constraints."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hcviz.algorithms import fit_with_metrics, get, seed_of
from hcviz.algorithms.base import Algorithm
from hcviz.core.errors import InvalidParameter
from hcviz.core.problem import Problem, as_problem
from hcviz.core.text import shorten
from hcviz.core.tree import Tree
from hcviz.side_by_side.drawing import draw_trees, html_page
from hcviz.side_by_side.figures import TreeFigures, measure, queries_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class MethodResult:
    """The tree of one method, and its figures.

    Parameters
    ----------
    method, title : str
        The method's name in the registry, and its name for people.
    tree : Tree
        Its tree.
    figures : TreeFigures
        Cost, distance and violated constraints.
    queries : float
        Number of similarities, or of comparisons, that it asked for; NaN if it asks for nothing.
    seconds : float
        Wall time of the run.

    Examples
    --------
    >>> import hcviz
    >>> compared = hcviz.compare_methods([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]], ["ward"])
    >>> compared.results[0].title
    "Ward's linkage"
    """

    method: str
    title: str
    tree: Tree
    figures: TreeFigures
    queries: float
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison:
    """The results of several methods on the same data and constraints.

    Parameters
    ----------
    problem : Problem
        The data and constraints.
    results : tuple of MethodResult
        One for each method, in the order asked for.

    Attributes
    ----------
    trees : dict of str to Tree
        The tree of each method.

    Examples
    --------
    >>> import hcviz
    >>> compared = hcviz.compare_methods("zoo", ["average", "crsc"])
    >>> list(compared.trees)
    ['average', 'crsc']
    """

    problem: Problem
    results: tuple[MethodResult, ...]

    @property
    def trees(self) -> dict[str, Tree]:
        """The tree of each method."""
        return {each.method: each.tree for each in self.results}

    def frame(self) -> pd.DataFrame:
        """Return the figures as a table with a row for each method.

        Returns
        -------
        pandas.DataFrame
            The index is the method. Columns: ``cost`` is Dasgupta's cost. ``distance`` is the
            triplet distance to the first method's tree: the mean over that tree's triplets.
            ``violated`` is the number of constraints that the tree violates. ``queries`` is the
            number of similarities or comparisons that the method asked for. ``seconds`` is the
            wall time. NaN where a number is unknown or has no meaning.

        Examples
        --------
        >>> import hcviz
        >>> hcviz.compare_methods("zoo", ["average", "crsc"]).frame()["violated"].to_dict()
        {'average': 0, 'crsc': 0}
        """
        import pandas as pd

        rows = [
            (
                each.figures.cost,
                each.figures.distance,
                each.figures.violated,
                each.queries,
                each.seconds,
            )
            for each in self.results
        ]
        return pd.DataFrame(
            rows,
            index=pd.Index([each.method for each in self.results], name="method"),
            columns=["cost", "distance", "violated", "queries", "seconds"],
        )

    def plot(self, axes: Sequence[Axes] | None = None, *, names: bool | None = None) -> Any:
        """Draw the trees beside each other with matplotlib.

        Parameters
        ----------
        axes : sequence of matplotlib.axes.Axes, optional
            Where to draw, one for each method. Default: a new figure of pyplot.
        names : bool, optional
            Whether the items' names are drawn. Default: for 60 items or fewer.

        Returns
        -------
        numpy.ndarray of matplotlib.axes.Axes
            One for each method. An item has the same colour in all trees: that of its cluster in
            the first tree. A branch is coloured if all its items have that colour. The trees after
            the first have the leaf order that is nearest to that of the first.

        Raises
        ------
        InvalidParameter
            The number of axes is not the number of methods.

        Examples
        --------
        >>> import hcviz, matplotlib
        >>> matplotlib.use("agg")
        >>> axes = hcviz.compare_methods("zoo", ["average", "ward"]).plot()
        >>> [each.get_title(loc="left") for each in axes]
        ['Average linkage', "Ward's linkage"]
        """
        count = len(self.results)
        if axes is None:
            from matplotlib import pyplot

            n = self.problem.n_items
            long = min(max(0.16 * n, 3.0), 8.0)
            _, made = pyplot.subplots(
                1, count, figsize=(3.4 * count, long), layout="constrained", squeeze=False
            )
            axes = made[0]
        if len(axes) != count:
            raise InvalidParameter(
                f"{len(axes)} axes were given for {count} methods.",
                f"Use pyplot.subplots(1, {count}).",
            )
        draw_trees(
            axes,
            [each.tree for each in self.results],
            [each.title for each in self.results],
            [_caption(each) for each in self.results],
            self.problem.labels,
            names=names,
        )
        return axes

    def __repr__(self) -> str:
        methods = ", ".join(each.method for each in self.results)
        return f"MethodComparison({self.problem.n_items} items: {methods})"

    def _repr_html_(self) -> str:
        return html_page(
            [each.tree for each in self.results],
            [each.title for each in self.results],
            self.problem.labels,
            self.frame(),
        )


def _caption(result: MethodResult) -> str:
    """Return the figures of a result in one line."""
    figures = result.figures
    parts = [f"cost {_number(figures.cost)}"] if figures.cost == figures.cost else []
    parts += [f"distance {figures.distance:.3f}", f"{figures.violated} violated"]
    return " · ".join(parts)


def _number(value: float) -> str:
    """Return a number with four digits or more, and no exponent if it is large."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def compare_methods(
    problem: Any,
    methods: Sequence[str] | Mapping[str, Mapping[str, Any]],
    *,
    triplets: Any = None,
    groups: Any = None,
    seed: Any = 0,
    progress: bool = False,
) -> MethodComparison:
    """Run several methods on the same data and constraints, and compare their trees.

    Parameters
    ----------
    problem : Problem, Dataset, DataFrame, array (n, d), str or path
        What :func:`hcviz.fit` takes.
    methods : sequence of str, or mapping of str to mapping
        Names of methods, or the parameters of each: ``{"crsc": {"refine": True}, "ward": {}}``.
    triplets : Triplets, int (m, 3) or names (m, 3), optional
        Constraints in place of the problem's own triplets.
    groups : Groups or sets of int or str, optional
        Constraints in place of the problem's own groups.
    seed : int, None or numpy.random.Generator
        Of the random numbers of each method.
    progress : bool
        Show a bar for each method.

    Returns
    -------
    MethodComparison
        ``frame()`` is the table of figures, ``trees`` the trees, ``plot()`` a picture. A notebook
        shows all of it.

    Raises
    ------
    InvalidParameter
        No method is given, a method is unknown or given twice, or a parameter is wrong.
    InvalidData, InvalidConstraint, InconsistentTriplets
        A method cannot run on the problem. All methods are checked before the first one runs.

    Notes
    -----
    The first run of a method in a process also loads its compiled code, which ``seconds``
    includes: up to a second. ``hcviz warm`` compiles it beforehand. A method that cannot keep that
    a set of items is not a group runs without this constraint, and may violate it.

    Examples
    --------
    >>> import hcviz
    >>> zoo = hcviz.datasets.load("zoo")
    >>> rule = [("dolphin", "seal", "tuna")]
    >>> compared = hcviz.compare_methods(zoo, ["average", "ward", "spectral"], triplets=rule)
    >>> compared.frame().columns.tolist()
    ['cost', 'distance', 'violated', 'queries', 'seconds']
    >>> compared.frame().loc["average", ["distance", "violated"]].tolist()
    [0.0, 0.0]
    """
    chosen = _checked_methods(methods)
    given = as_problem(problem)
    if triplets is not None:
        given = given.with_triplets(triplets)
    if groups is not None:
        given = given.with_groups(groups)
    number = seed_of(seed)
    runs = []
    for method, params in chosen:
        method.parameters(**params)
        own = given if method.avoids_groups else given.with_not_groups(())
        runs.append((method, params, method.check_problem(own)))
    results: list[MethodResult] = []
    for method, params, own in runs:
        began = time.perf_counter()
        tree, metrics = fit_with_metrics(method.name, own, seed=number, progress=progress, **params)
        seconds = time.perf_counter() - began
        first = results[0].tree if results else tree
        results.append(
            MethodResult(
                method.name,
                method.title,
                tree,
                measure(given, tree, first),
                queries_of(method, own, metrics),
                seconds,
            )
        )
    return MethodComparison(given, tuple(results))


def _checked_methods(methods: Any) -> list[tuple[Algorithm, dict[str, Any]]]:
    """Return the methods and their parameters."""
    if isinstance(methods, str):
        raise InvalidParameter(
            f"methods must be a list of names, not {shorten(repr(methods))}.",
            f"Write [{shorten(repr(methods))}], or several names.",
        )
    try:
        names = list(methods)
    except TypeError:
        raise InvalidParameter(
            f"methods must be a list of names, not {shorten(repr(methods))}."
        ) from None
    if not names:
        raise InvalidParameter("No method was given.", "Name one or more, such as 'average'.")
    chosen = []
    for at, name in enumerate(names):
        if name in names[:at]:
            raise InvalidParameter(f"The method {name!r} is given twice.", "Name each once.")
        params = methods[name] if isinstance(methods, Mapping) else {}
        if not isinstance(params, Mapping):
            raise InvalidParameter(
                f"The parameters of {name} must be a mapping of names to values, "
                f"not {shorten(repr(params))}."
            )
        chosen.append((get(name), dict(params)))
    return chosen


__all__ = ["MethodComparison", "MethodResult", "compare_methods"]
