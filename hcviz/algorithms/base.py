"""``Algorithm``: the declaration of one method, read by the page, the command line and the
tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import param

from hcviz.algorithms.declared_parts import ClusterCurve, RunPart, SampledDivision, SplitRun
from hcviz.algorithms.needs import COMPARISONS, compared_text, computes_all_pairs, missing_input
from hcviz.algorithms.parameter_values import accepted_values, is_no_number, nearest_accepted
from hcviz.algorithms.starting import check_start, with_triplets_for_groups
from hcviz.core.errors import InvalidConstraint, InvalidData, InvalidParameter, TooLarge
from hcviz.core.heights import UNNAMED, Heights
from hcviz.core.merge_steps import MergeStep
from hcviz.core.named_conflicts import named_conflicts
from hcviz.core.problem import (
    MAX_DENSE,
    Problem,
    as_problem,
)
from hcviz.core.snapshot import Series, Snapshot, View
from hcviz.core.text import shorten
from hcviz.core.tree import Tree
from hcviz.core.tree_info import TreeInfo

if TYPE_CHECKING:  # its imports take a second
    from hcviz.posterior.draws import SamplerRun

#: Arguments of a problem that a person may give to a method.
PROBLEM_ARGUMENTS = ("triplets", "groups", "not_groups", "comparisons", "labels", "similarity")

Run = Callable[[Problem, Any, np.random.Generator, Any], Iterator[Snapshot | None]]


class NoParameters(param.Parameterized):
    """The parameters of a method that has none."""


@dataclass(frozen=True)
class Algorithm:
    """The declaration of one method.

    Parameters
    ----------
    name : str
        Its name in the registry.
    title : str
        Its name on the page.
    paper : str
        Authors and year.
    run : callable
        ``run(problem, params, rng, start)`` yields snapshots, the last with ``step == total``. It
        may yield None where it can be stopped and has nothing new to show. ``start`` is None, a
        :class:`Tree` over the same items, or a :class:`Snapshot` of an earlier run, perhaps of
        another method. The tree need not satisfy the triplets.
    needs : tuple of str
        Alternative inputs, one of which suffices: ``features``, ``similarity`` (features provide it
        too), ``triplets``, ``comparisons``, ``similarity oracle``, ``comparison oracle``,
        ``piles`` (of a card sort). ``items``: nothing else is needed.
    triplets : {"hard", "soft", "ignored"}
        The constraint mode. ``hard``: every tree of the method satisfies the triplets.
    runs : {"thread", "process"}
        ``thread``: every long call is a kernel that releases the GIL and returns within 50 ms.
        ``process``: a worker process, which is ended when the run is cancelled. For scipy,
        scikit-learn and cvxpy.
    params : type
        The class of its parameters.
    summary : str
        One sentence for the page.
    how_it_works : str
        A paragraph of three to five sentences about what the method does, step by step, in plain
        words. The page, ``hcviz.describe`` and ``hcviz run METHOD --help`` show it.
    samples : bool
        True if its snapshots are draws from a posterior, so that clades have supports. Such a
        method runs in a thread.
    needs_process : callable or None
        ``needs_process(params)`` returns True if these parameters need a process although ``runs``
        is ``thread``.
    softened_by : str
        A parameter that makes hard triplets soft if it is not None. The page takes its words from
        the parameter's label and doc.
    soft_price : callable or None
        ``soft_price(problem)`` returns the first value of ``softened_by``: the price of one
        violated triplet on this data. Without it the value is 1, or the nearest value in bounds.
    split_run : callable or None
        ``split_run(problem, params, rng, start)`` returns the run as a :class:`SplitRun`, or None
        if it cannot be split.
    endless : callable or None
        ``endless(params, problem)`` returns the parameters of a run that continues until it is
        stopped. It returns none if ``params`` fix the number of steps. None for a method that ends
        by itself.
    recorded_run : callable or None
        ``recorded_run(problem, params, rng, start)`` returns a
        :class:`hcviz.posterior.draws.SamplerRun` of ``params.chains`` chains, which make the draws
        of ``run`` in compiled code. None if the method does not sample, or has only snapshots.
    remaining : callable or None
        ``remaining(params, snapshot)`` returns the parameters of a run that starts at ``snapshot``
        and does the rest of the run that made it, bit for bit. So a lost run can be resumed.
    at_k : callable or None
        ``at_k(params, k)`` returns parameters with which the method itself makes a partition into k
        clusters (``Snapshot.labels``). None if it makes none, or if k cannot be chosen.
    subquadratic : bool
        True if the method queries few similarities, so that it also runs where all pairs are too
        many.
    needs_no_matrix : callable or None
        ``needs_no_matrix(problem)`` returns True if the method computes no full matrix of this
        problem, so that it runs on any number of items.
    heights : Heights or callable
        The meaning of the heights of its trees, or a function of problem and tree that returns it.
    views : Mapping
        The name and type of each view that its snapshots may carry. Each type has one renderer, so
        the page draws any method's views.
    objective : {"", "minimise", "maximise"}
        What the method does with Dasgupta's cost; "" if the cost is not its objective.
    maximises : callable or None
        ``maximises(params)`` returns True if these parameters make a minimiser maximise.
    improves : bool
        True if the method begins at ``start``, repaired, and changes it only for a better tree.
    priced_by : str
        The parameter that is the price of one violated triplet, in units of the cost. If its value
        is None, all triplets are hard.
    balanced : bool
        True if each division leaves a third of the items on both sides, if the constraints allow
        it.
    curve : ClusterCurve or None
        The view that shows the quality of each number of clusters.
    sampled_division : callable or None
        ``sampled_division(params)`` returns the recursion of a method that queries few
        similarities.
    baseline : str
        The page's name of its tree beside a learning curve; "" if the tree is not shown there.
    compare_order : int or None
        Its place among the methods that the agreement sheet runs by default; None: only on request.
    avoids_groups : bool
        True if no tree of the method has a clade of ``problem.not_groups``. Other methods refuse a
        problem that has some.
    compares : callable or None
        ``compares(problem)`` returns what the method compares, for people. None: as ``needs`` say.
    reads_groups : bool
        True if the method reads ``problem.groups`` when constraints are hard. Otherwise, and when
        they are soft, it gets triplets in place of groups (:meth:`with_groups_as_read`).
    merge_steps : callable or None
        ``merge_steps(problem, tree)`` returns the merges that made the tree, in their order, as
        :class:`hcviz.core.merge_steps.MergeStep`. None if the method does not merge by a matrix of
        distances.

    Raises
    ------
    InvalidParameter
        ``softened_by``, ``priced_by`` or ``curve`` names something that is not declared.

    Notes
    -----
    ``hcviz/algorithms/_template.py`` is a complete method to copy.

    Examples
    --------
    >>> def one_star(problem, params, rng, start):
    ...     yield Snapshot(Tree.star(problem.n_items), step=1, total=1)
    >>> star = Algorithm("star", "Star", "", one_star, needs=("items",), runs="thread")
    >>> *_, last = star.start_run(Problem(labels=["owl", "elm"]), star.parameters(), generator(0))
    >>> last.tree
    Tree(2 leaves, 1 inner nodes)
    """

    name: str
    title: str
    paper: str
    run: Run
    needs: tuple[str, ...] = ("similarity",)
    triplets: Literal["hard", "soft", "ignored"] = "ignored"
    runs: Literal["thread", "process"] = "process"
    params: type[param.Parameterized] = NoParameters
    summary: str = ""
    how_it_works: str = ""
    samples: bool = False
    needs_process: Callable[[Mapping[str, Any]], bool] | None = None
    softened_by: str = ""
    soft_price: Callable[[Problem], float] | None = None
    split_run: Callable[[Problem, Any, np.random.Generator, Any], SplitRun | None] | None = None
    endless: Callable[[Any, Problem], Mapping[str, Any]] | None = None
    recorded_run: Callable[[Problem, Any, np.random.Generator, Any], SamplerRun] | None = None
    remaining: Callable[[Any, Snapshot], Mapping[str, Any]] | None = None
    at_k: Callable[[Mapping[str, Any], int], Mapping[str, Any]] | None = None
    subquadratic: bool = False
    needs_no_matrix: Callable[[Problem], bool] | None = None
    heights: Heights | Callable[[Problem, Tree], Heights] = UNNAMED
    views: Mapping[str, type[View]] = field(default_factory=dict)
    objective: Literal["", "minimise", "maximise"] = ""
    maximises: Callable[[Mapping[str, Any]], bool] | None = None
    improves: bool = False
    priced_by: str = ""
    balanced: bool = False
    curve: ClusterCurve | None = None
    sampled_division: Callable[[Any], SampledDivision] | None = None
    baseline: str = ""
    compare_order: int | None = None
    avoids_groups: bool = False
    compares: Callable[[Problem], str] | None = None
    reads_groups: bool = False
    merge_steps: Callable[[Problem, Tree], tuple[MergeStep, ...]] | None = None

    def __post_init__(self) -> None:
        named = {"softened by": self.softened_by, "priced by": self.priced_by}
        if self.curve is not None:
            named["given a number of clusters by"] = self.curve.parameter
            if self.views.get(self.curve.view) is not Series:
                raise InvalidParameter(
                    f"{self.name} has a curve {self.curve.view!r}, which is not one of its views.",
                    f"Declare it: views={{{self.curve.view!r}: Series}}.",
                )
        for how, parameter in named.items():
            if parameter and parameter not in self.parameter_names():
                raise InvalidParameter(
                    f"{self.name} is {how} {parameter!r}, which is not one of its parameters.",
                    f"Name one of: {', '.join(self.parameter_names())}.",
                )

    def constraint_mode(self, params: Mapping[str, Any]) -> Literal["hard", "soft", "ignored"]:
        """Return what triplets are to the method with these parameters.

        Parameters
        ----------
        params : Mapping
            Parameters by name; those that are not given have their default.

        Returns
        -------
        {"hard", "soft", "ignored"}
            ``soft`` if the parameter ``softened_by`` is not None, else ``triplets``.

        Examples
        --------
        >>> get("ddt").constraint_mode({}), get("ddt").constraint_mode({"beta": 2.0})
        ('hard', 'soft')
        """
        softened = self.softened_by and params.get(self.softened_by) is not None
        return "soft" if softened else self.triplets

    def maximises_cost(self, params: Mapping[str, Any]) -> bool:
        """Return True if the method maximises Dasgupta's cost, as for dissimilarities.

        Parameters
        ----------
        params : Mapping
            Parameters by name.

        Returns
        -------
        bool
            True if ``objective`` is ``maximise``, or if these parameters reverse a minimiser.

        Examples
        --------
        >>> get("average").maximises_cost({})
        False
        """
        reverses = self.maximises is not None and self.maximises(params)
        return self.objective == "maximise" or reverses

    def price(self, params: Mapping[str, Any]) -> float | None:
        """Return the price of one violated triplet of weight 1.

        Parameters
        ----------
        params : Mapping
            Parameters by name.

        Returns
        -------
        float or None
            In units of the cost; None if triplets have no price.

        Raises
        ------
        InvalidParameter
            A parameter is wrong.

        Examples
        --------
        >>> get("dasgupta-search").price({"lam": 3.0}), get("average").price({})
        (3.0, None)
        """
        if not self.priced_by:
            return None
        value = getattr(self.parameters(**params), self.priced_by)
        return None if value is None else float(value)

    def heights_of(self, problem: Problem, tree: Tree) -> Heights:
        """Return the meaning of the heights of one of its trees.

        Parameters
        ----------
        problem : Problem
            The problem of the run.
        tree : Tree
            A tree of the method.

        Returns
        -------
        Heights
            Title and scale of the axis.

        Examples
        --------
        >>> problem = Problem(features=[[0.0], [1.0], [5.0]])
        >>> get("average").heights_of(problem, fit("average", problem)).title
        'distance'
        """
        return self.heights if isinstance(self.heights, Heights) else self.heights(problem, tree)

    def info(self, problem: Problem, params: Mapping[str, Any], seed: int | None = 0) -> TreeInfo:
        """Return how a tree of the method is made.

        Parameters
        ----------
        problem : Problem
            What the method runs on.
        params : Mapping
            Parameters by name.
        seed : int or None
            The seed; None if it is unknown.

        Returns
        -------
        TreeInfo
            ``str`` of it is a caption.

        Examples
        --------
        >>> str(get("crsc").info(Problem(features=[[0.0], [1.0]]), {}, seed=3))
        'Recursive sparsest cut of 2 items. Cosine of the z-scored columns. Seed 3.'
        """
        counts = {
            "triplets": len(problem.triplets),
            "groups": len(problem.groups),
            "sets that are no groups": len(problem.not_groups),
        }
        defaults = {name: self.params.param[name].default for name in self.parameter_names()}
        return TreeInfo(
            method=self.name,
            title=self.title,
            compared=compared_text(problem, self.needs)
            if self.compares is None
            else self.compares(problem),
            n_items=problem.n_items,
            seed=seed,
            constraints={name: count for name, count in counts.items() if count},
            constraint_mode=self.constraint_mode(params),
            params={
                name: value
                for name, value in params.items()
                if name not in defaults or not np.array_equal(value, defaults[name])  # also arrays
            },
        )

    def softening(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters that make hard triplets soft on this data.

        Parameters
        ----------
        problem : Problem
            The data, which can determine the first price.

        Returns
        -------
        dict of str to object
            Empty if the method cannot be made soft.

        Examples
        --------
        >>> problem = Problem(features=[[0.0], [1.0], [5.0]])
        >>> list(get("ddt").softening(problem)), get("average").softening(problem)
        (['beta'], {})
        """
        if not self.softened_by:
            return {}
        value = 1.0 if self.soft_price is None else self.soft_price(problem)
        return {self.softened_by: nearest_accepted(self.params.param[self.softened_by], value)}

    def run_location(self, params: Mapping[str, Any]) -> Literal["thread", "process"]:
        """Return where a run with these parameters belongs.

        Parameters
        ----------
        params : Mapping
            Parameters by name.

        Returns
        -------
        {"thread", "process"}
            ``process`` if ``needs_process`` says so, else ``runs``.

        Examples
        --------
        >>> get("ddt").run_location({})
        'thread'
        """
        if self.needs_process is not None and self.needs_process(params):
            return "process"
        return self.runs

    def parameters(self, **values: Any) -> param.Parameterized:
        """Return checked parameters.

        Parameters
        ----------
        **values
            Parameters by name. A float without a fraction is accepted for a whole number.

        Returns
        -------
        param.Parameterized
            An object of the class ``params``, with defaults for the parameters that are not given.

        Raises
        ------
        InvalidParameter
            The method has no parameter of a name, or a value is outside its bounds.

        Examples
        --------
        >>> get("ddt").parameters(chains=2).chains
        2
        """
        known = self.parameter_names()
        for name in values:
            if name not in known:
                hint = f"It takes: {', '.join(known)}." if known else "It takes none."
                if name in PROBLEM_ARGUMENTS:
                    hint = f"It belongs to the data: Problem(data, {name}=...)."
                raise InvalidParameter(f"{self.name} has no parameter {shorten(name)!r}.", hint)
        for name, value in values.items():
            what = self.params.param[name]
            if isinstance(what, param.Integer) and isinstance(value, float) and value.is_integer():
                values[name] = int(value)  # 1e3 is a whole number
            accepted = accepted_values(what)
            try:
                if isinstance(what, param.Number) and is_no_number(value):
                    raise TypeError(f"{name} must be a number")
                self.params(**{name: values[name]})
            except (ValueError, TypeError) as error:
                message = f"{name} must be {accepted}, not {shorten(repr(value))}"
                message = message if accepted else shorten(str(error), 400)
                raise InvalidParameter(f"{self.name}: {message.rstrip('.')}.") from None
        return self.params(**values)

    def parameter_names(self) -> list[str]:
        """Return the names of the parameters.

        Returns
        -------
        list of str
            In the order of the class ``params``.

        Examples
        --------
        >>> "steps" in get("ddt").parameter_names()
        True
        """
        return [name for name in self.params.param if name != "name"]

    def missing_data(self, problem: Problem) -> str | None:
        """Return what this method needs and the problem does not have; None if nothing.

        Parameters
        ----------
        problem : Problem
            The problem to run on.

        Returns
        -------
        str or None
            A sentence that says why the method cannot run; None if it can.

        Examples
        --------
        >>> get("average").missing_data(Problem(labels=["owl", "elm"]))
        'Average linkage needs similarity, which this data does not have.'
        """
        return missing_input(problem, self.title, self.needs, self.too_large(problem))

    def too_large(self, problem: Problem) -> bool:
        """Return True if the method would compute all similarities of too many items.

        Parameters
        ----------
        problem : Problem
            The problem to run on.

        Returns
        -------
        bool
            True for more than ``MAX_DENSE`` items without a similarity matrix, unless the method is
            ``subquadratic`` or needs no matrix of this problem.

        Examples
        --------
        >>> get("average").too_large(Problem(features=np.zeros((20_000, 1))))
        True
        """
        if self.subquadratic or problem.n_items <= MAX_DENSE:
            return False
        if self.needs_no_matrix is not None and self.needs_no_matrix(problem):
            return False
        return computes_all_pairs(problem, self.needs)

    def start_run(
        self, problem: Any, params: Any, rng: np.random.Generator, start: Any = None
    ) -> Iterator[Snapshot | None]:
        """Check the problem and the start, then call :attr:`run`.

        Parameters
        ----------
        problem : Problem, DataFrame or array (n, d)
            What to run on.
        params : param.Parameterized
            The result of :meth:`parameters`.
        rng : numpy.random.Generator
            The random numbers, as of :func:`hcviz.algorithms.generator`.
        start : Tree, Snapshot or None
            Where to begin.

        Returns
        -------
        iterator of (Snapshot or None)
            None where the run can be stopped and has nothing new to show.

        Raises
        ------
        InvalidData, TooLarge
            The method cannot run on this problem, or with this start. It is raised before the
            method runs.

        Examples
        --------
        >>> method = get("average")
        >>> *_, last = method.start_run([[0.0], [1.0]], method.parameters(), generator(0))
        >>> last.tree.n_leaves
        2
        """
        problem = self.check_problem(problem, start)
        with named_conflicts(problem.triplets, problem.groups, problem.own_labels):
            return self.run(self.with_groups_as_read(problem, params), params, rng, start)

    def start_recorded_run(
        self, problem: Any, params: Any, rng: np.random.Generator, start: Any = None
    ) -> SamplerRun:
        """Check the problem and the start, then call :attr:`recorded_run`.

        Parameters
        ----------
        problem : Problem, DataFrame or array (n, d)
            What to run on.
        params : param.Parameterized
            The result of :meth:`parameters`.
        rng : numpy.random.Generator
            The random numbers, as of :func:`hcviz.algorithms.generator`.
        start : Tree, Snapshot or None
            Where to begin.

        Returns
        -------
        SamplerRun
            The chains, each at its first tree. Their draws are those of :meth:`start_run`.

        Raises
        ------
        InvalidParameter
            The method has no such run.
        InvalidData, TooLarge
            See :meth:`start_run`.

        Examples
        --------
        >>> method = get("ddt")
        >>> run = method.start_recorded_run([[0.0], [1.0]], method.parameters(), generator(0))
        >>> len(run.chains)
        1
        """
        if self.recorded_run is None:
            raise InvalidParameter(f"{self.name} cannot record draws.", "Use start_run().")
        problem = self.check_problem(problem, start)
        with named_conflicts(problem.triplets, problem.groups, problem.own_labels):
            return self.recorded_run(self.with_groups_as_read(problem, params), params, rng, start)

    def with_groups_as_read(self, problem: Problem, params: Any) -> Problem:
        """Return the problem with its groups in the form that the method reads.

        Parameters
        ----------
        problem : Problem
            Any problem.
        params : param.Parameterized
            The method's parameters.

        Returns
        -------
        Problem
            With the groups, or with triplets in place of them: all that they imply for hard
            constraints, and a weighted part of them for soft ones.

        Raises
        ------
        InconsistentTriplets
            The constraints are hard and no tree satisfies them all.

        Examples
        --------
        >>> method = get("adds-sdp")
        >>> problem = Problem(labels=["a", "b", "c"], groups=[[0, 1]])
        >>> method.with_groups_as_read(problem, method.parameters()).triplets.rows.tolist()
        [[0, 1, 2]]
        """
        mode = self.constraint_mode(params.param.values())
        if mode == "hard" and self.reads_groups:
            return problem
        return with_triplets_for_groups(problem, mode)

    def check_problem(self, problem: Any, start: Any = None) -> Problem:
        """Return ``problem`` as a :class:`Problem` on which this method can run.

        Parameters
        ----------
        problem : Problem, DataFrame or array (n, d)
            What to run on.
        start : Tree, Snapshot or None
            Where to begin.

        Returns
        -------
        Problem
            The problem itself, or one of the features.

        Raises
        ------
        InvalidData, InvalidConstraint, TooLarge
            The method cannot run on this problem, or with this start.

        Examples
        --------
        >>> get("average").check_problem([[0.0], [1.0]]).n_items
        2
        """
        problem = as_problem(problem)
        if len(problem.not_groups) and not self.avoids_groups:
            raise InvalidConstraint(
                f"{self.title} cannot keep that a set of items is not a group.",
                "Take ddt, or leave these sets out.",
            )
        reason = self.missing_data(problem)
        if reason:
            kind = TooLarge if self.too_large(problem) else InvalidData
            raise kind(reason, COMPARISONS if self.needs == ("comparisons",) else "")
        check_start(start, problem.n_items)
        return problem


__all__ = ["Algorithm", "ClusterCurve", "NoParameters", "RunPart", "SampledDivision", "SplitRun"]
