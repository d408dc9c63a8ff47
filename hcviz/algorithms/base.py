"""``Algorithm``: a method as data, all that the page, the command line and the tests need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import param

from hcviz.core.errors import InvalidData, InvalidParameter, TooLarge
from hcviz.core.heights import UNNAMED, Heights
from hcviz.core.problem import (
    FEWER_QUERIES_HINT,
    MAX_DENSE,
    Problem,
    SimilarityOracle,
    all_similarities_text,
    as_problem,
)
from hcviz.core.snapshot import Series, Snapshot, View
from hcviz.core.text import shorten
from hcviz.core.tree import Tree

if TYPE_CHECKING:  # its imports take a second
    from hcviz.posterior.draws import Sampler

Run = Callable[[Problem, Any, np.random.Generator, Any], Iterator[Snapshot | None]]

#: What to do where comparisons are needed and there are none.
COMPARISONS = (
    "Give Problem(comparisons=...), or a file of answers whose first row says what was asked: "
    "anchor,near,far, say."
)


class NoParameters(param.Parameterized):
    """For methods without any."""


@dataclass(frozen=True)
class Share:
    """A part of a run which is a run of the same method: its parameters, random numbers, start."""

    params: Mapping[str, Any]
    rng: np.random.Generator
    start: Any = None


@dataclass(frozen=True)
class Shares:
    """A run in parts that know nothing of each other, to be done at the same time, anywhere.

    Each part yields as many snapshots as the run; ``together`` makes the run's next one of the
    parts' next ones, in the order of ``parts``, and is called once for each, in turn.
    """

    parts: Sequence[Share]
    together: Callable[[Sequence[Snapshot]], Snapshot]


@dataclass(frozen=True)
class ClusterCurve:
    """A declared :class:`Series` over the values of a parameter, the number of clusters.

    Parameters
    ----------
    view : str
        Name of the series in ``Snapshot.views``: x is the parameter's value, y its quality.
    parameter : str
        The parameter that takes one of these values; 0 lets the method choose.
    depends : tuple of str
        The parameters that change the curve. After a change of any other one, the curve of an
        earlier run on the same data is still valid.
    quality : str
        What the page calls y, in lower case.
    """

    view: str
    parameter: str
    depends: tuple[str, ...] = ()
    quality: str = "quality"


class SampledDivision(Protocol):
    """A recursion that divides a sample of each set, and assigns the other items to its clusters.

    :class:`hcviz.algorithms.active.ActiveCluster` is one. The page shows what it queries, and a
    cluster of workers does its subtasks.
    """

    @property
    def k(self) -> int | None:
        """Clusters of each division; None where the data choose."""

    @property
    def c(self) -> float:
        """The factor of the default sample size, c ln n."""

    def plan(self, n: int) -> Any:
        """Settings for n items; the attribute ``s`` is the sample size."""

    def foreseen(self, n: int) -> float:
        """Estimate the share of all pairs that a run queries, in [0, 1]."""

    def grow(self, oracle: Any, *args: Any, **options: Any) -> Iterator[Snapshot | None]:
        """Run on an oracle: ``grow(oracle, seed, triplets, crew=workers)``."""


@dataclass(frozen=True)
class Algorithm:
    """One method.

    ``needs``: alternatives, any one of which suffices: ``features``, ``similarity`` (which features
    provide too), ``triplets``, ``comparisons``, ``similarity oracle``, ``comparison oracle``;
    ``items`` asks for nothing else.
    ``triplets``: ``hard`` (every tree it yields satisfies them), ``soft`` or ``ignored``.
    ``softened_by``: a parameter that makes hard triplets soft by not being None; the page takes its
    words from the parameter's label and doc. ``soft_price(problem)``: the value to begin with, what
    one violated triplet costs on this data; without it 1, or the nearest value in bounds.
    ``runs``: ``thread`` (every long call is a kernel without the GIL that returns within 50 ms) or
    ``process`` (scipy, scikit-learn, cvxpy: in a worker that is ended on cancel); where some
    parameters need the latter after all, ``apart`` says so.
    ``at_k(params, k)``: parameters with which it makes a partition into k clusters itself, its
    snapshots' ``labels``; None where it makes none, or not as many as one likes.
    ``sparing``: it asks for few similarities, so that it runs where all are too many.
    ``samples``: its snapshots are draws from a posterior, so the share of them that have a clade
    means something; such a method runs in a thread.
    ``shares(problem, params, rng, start)``: the run in parts, or None where it is one piece.
    ``heights``: what its trees' heights mean, or a function of problem and tree that says so.
    ``endless(params, problem)``: parameters of a run that goes on until it is stopped; nothing
    where ``params`` fix the number of steps. None for a method that ends by itself.
    ``samplers(problem, params, rng, start)``: the chains of the run as
    :class:`hcviz.posterior.draws.Sampler`, ``params.chains`` of them; None where it does not
    sample, or has only snapshots.
    ``rest(params, snapshot)``: parameters with which a run that starts at ``snapshot`` is what was
    left of the run it is of, bit for bit; so it can be taken up where it was lost.
    ``views``: name -> type of each view that its snapshots may carry. Each type has one renderer,
    so the page draws them without knowing the method.
    ``objective``: whether it minimises or maximises Dasgupta's cost ("": neither is its aim);
    ``maximises(params)``: True where these parameters reverse a minimiser.
    ``improves``: it begins at ``start``, repaired, and changes it only for a better tree.
    ``priced_by``: the parameter that is the price of one violated triplet, in units of that cost;
    where its value is None, all triplets hold.
    ``balanced``: each division leaves a third of the items on both sides if constraints allow it.
    ``curve``: the view that shows how good each number of clusters is.
    ``sampled_division(params)``: the recursion of a method that queries few similarities.
    ``baseline``: what the page calls its tree where a learning curve compares with it; "": never.
    ``compare_order``: its place among the methods that the agreement sheet runs by default; None:
    only on request.
    ``run(problem, params, rng, start)`` yields snapshots, the last with ``step == total``; it may
    yield None where there is nothing to show but a good place to stop. ``start`` is None, a
    :class:`Tree` over the same items that need not satisfy the triplets, or a :class:`Snapshot` of
    an earlier run (perhaps of another method).
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
    samples: bool = False
    apart: Callable[[Mapping[str, Any]], bool] | None = None
    softened_by: str = ""
    soft_price: Callable[[Problem], float] | None = None
    shares: Callable[[Problem, Any, np.random.Generator, Any], Shares | None] | None = None
    endless: Callable[[Any, Problem], Mapping[str, Any]] | None = None
    samplers: Callable[[Problem, Any, np.random.Generator, Any], Sequence[Sampler]] | None = None
    rest: Callable[[Any, Snapshot], Mapping[str, Any]] | None = None
    at_k: Callable[[Mapping[str, Any], int], Mapping[str, Any]] | None = None
    sparing: bool = False
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

    def treats(self, params: Mapping[str, Any]) -> Literal["hard", "soft", "ignored"]:
        """How it treats triplets with these parameters."""
        softened = self.softened_by and params.get(self.softened_by) is not None
        return "soft" if softened else self.triplets

    def maximises_cost(self, params: Mapping[str, Any]) -> bool:
        """Whether the method makes Dasgupta's cost large, as for dissimilarities."""
        reverses = self.maximises is not None and self.maximises(params)
        return self.objective == "maximise" or reverses

    def price(self, params: Mapping[str, Any]) -> float | None:
        """The price of one violated triplet of weight 1; None where there is none."""
        if not self.priced_by:
            return None
        value = getattr(self.parameters(**params), self.priced_by)
        return None if value is None else float(value)

    def heights_of(self, problem: Problem, tree: Tree) -> Heights:
        """What the heights of one of its trees mean."""
        return self.heights if isinstance(self.heights, Heights) else self.heights(problem, tree)

    def softening(self, problem: Problem) -> dict[str, Any]:
        """Parameters that make hard triplets soft on this data; none where nothing does."""
        if not self.softened_by:
            return {}
        value = 1.0 if self.soft_price is None else self.soft_price(problem)
        return {self.softened_by: _nearest(self.params.param[self.softened_by], value)}

    def place(self, params: Mapping[str, Any]) -> Literal["thread", "process"]:
        """Where a run with these parameters belongs."""
        return "process" if self.apart is not None and self.apart(params) else self.runs

    def parameters(self, **values: Any) -> param.Parameterized:
        """The parameters, checked: :class:`InvalidParameter` names the one that is wrong."""
        known = self.parameter_names()
        for name in values:
            if name not in known:
                hint = f"It takes: {', '.join(known)}." if known else "It takes none."
                raise InvalidParameter(f"{self.name} has no parameter {shorten(name)!r}.", hint)
        for name, value in values.items():
            what = self.params.param[name]
            if isinstance(what, param.Integer) and isinstance(value, float) and value.is_integer():
                values[name] = int(value)  # 1e3 is a whole number
            wanted = _wanted(what)
            try:
                if isinstance(what, param.Number) and _is_no_number(value):
                    raise TypeError(f"{name} must be a number")
                self.params(**{name: values[name]})
            except (ValueError, TypeError) as fault:
                told = f"{name} must be {wanted}, not {shorten(repr(value))}"
                told = told if wanted else shorten(str(fault), 400)
                raise InvalidParameter(f"{self.name}: {told.rstrip('.')}.") from None
        return self.params(**values)

    def parameter_names(self) -> list[str]:
        return [name for name in self.params.param if name != "name"]

    def lacks(self, problem: Problem) -> str | None:
        """None if the problem has what this method needs, else a sentence."""
        if any(_has(problem, need) for need in self.needs):
            if self.too_large(problem):
                return f"{self.title} {all_similarities_text(problem.n_items)} {FEWER_QUERIES_HINT}"
            return None
        if "similarity" in self.needs and isinstance(problem.oracle, SimilarityOracle):
            return (
                f"{self.title} needs all similarities, and those of this data are too dear to "
                "compute all. Use active-spectral, which asks for a few of them, or take a sample."
            )
        return f"{self.title} needs {' or '.join(self.needs)}, which this data does not have."

    def too_large(self, problem: Problem) -> bool:
        """Whether it would compute all similarities of more items than that is done for."""
        given = {need for need in self.needs if _has(problem, need)}
        pairs = given <= {"similarity", "similarity oracle"} and problem.similarity is None
        large = not self.sparing and problem.n_items > MAX_DENSE
        return bool(given) and pairs and large

    def start_run(
        self, problem: Any, params: Any, rng: np.random.Generator, start: Any = None
    ) -> Iterator[Snapshot | None]:
        """Check what can be checked beforehand, then :attr:`run`. Raises before anything runs."""
        return self.run(self.checked(problem, start), params, rng, start)

    def checked(self, problem: Any, start: Any = None) -> Problem:
        """``problem`` as a :class:`Problem` that this method can run on, with this start.

        Raises :class:`InvalidData` or :class:`TooLarge` with a sentence.
        """
        problem = as_problem(problem)
        if not isinstance(problem, Problem):
            raise InvalidData(
                f"{self.title} needs a Problem, not {type(problem).__name__}.",
                "Give Problem(features=...), dataset.problem(), a DataFrame or an array.",
            )
        fault = self.lacks(problem)
        if fault:
            kind = TooLarge if self.too_large(problem) else InvalidData
            raise kind(fault, COMPARISONS if self.needs == ("comparisons",) else "")
        tree = start_tree(start)
        if tree is not None and tree.n_leaves != problem.n_items:
            raise InvalidData(
                f"The tree to start from has {tree.n_leaves} leaves, the problem "
                f"{problem.n_items} items."
            )
        return problem


def _nearest(what: param.Parameter[Any], value: float) -> Any:
    """The value that a parameter takes in the place of ``value``; None is left out."""
    if isinstance(what, param.Boolean):
        return True
    if isinstance(what, param.Selector):
        return next(each for each in what.get_range().values() if each is not None)
    low, high = getattr(what, "bounds", None) or (None, None)
    least, most = getattr(what, "inclusive_bounds", (True, True))
    if low is not None and (value < low or (value == low and not least)):
        value = low if least else low + 1 if high is None else (low + high) / 2
    if high is not None and (value > high or (value == high and not most)):
        value = high if most else high - 1 if low is None else (low + high) / 2
    return round(value) if isinstance(what, param.Integer) else value


def _is_no_number(value: Any) -> bool:
    """What counts as one otherwise: True is 1, and infinity is above any bound."""
    infinite = isinstance(value, float | np.floating) and not np.isfinite(value)
    return isinstance(value, bool | np.bool_) or bool(infinite)


def explained(what: param.Parameter[Any]) -> str:
    """A parameter's doc, and what it takes where that is a range."""
    told = _wanted(what) if isinstance(what, param.Number) and what.bounds else ""
    doc = " ".join((what.doc or "").split())
    return f"{doc} Takes {told}." if told else doc


def _wanted(what: param.Parameter[Any]) -> str:
    """What a parameter takes, in words; nothing where its own check says it."""
    if isinstance(what, param.Boolean):
        told = "True or False"
    elif isinstance(what, param.Selector):
        told = " or ".join(repr(value) for value in what.get_range().values())
    elif isinstance(what, param.Number):
        told = "a whole number" if isinstance(what, param.Integer) else "a number"
        low, high = what.bounds or (None, None)
        least, most = what.inclusive_bounds
        if low is not None and high is not None and least and most:
            told += f" from {low} to {high}"
        else:
            ends = []
            if low is not None:
                ends.append(f"of {low} or more" if least else f"above {low}")
            if high is not None:
                within = f"at most {high}" if ends else f"of {high} or less"
                ends.append(within if most else f"below {high}")
            told = " ".join([told, " and ".join(ends)]).rstrip()
    elif isinstance(what, param.String):
        told = "a text"
    else:
        return ""
    return f"{told}, or None" if what.allow_None else told


def start_tree(start: Any) -> Tree | None:
    """The tree inside whatever ``start`` is."""
    if start is None or isinstance(start, Tree):
        return start
    if isinstance(start, Snapshot):
        return start.tree
    raise InvalidParameter("start must be a Tree or a Snapshot of an earlier run.")


def _has(problem: Problem, need: str) -> bool:
    if need == "items":
        return True
    if need == "similarity":
        return (
            problem.similarity is not None
            or problem.all_at_once
            or (problem.features is not None and problem.features.shape[1] > 0)
        )
    if need == "triplets":
        return len(problem.triplets) > 0
    if need == "comparisons":
        return problem.comparisons is not None and len(problem.comparisons) > 0
    if need == "similarity oracle":
        return hasattr(problem.oracle, "similarity")
    if need == "comparison oracle":
        return hasattr(problem.oracle, "compare")
    return getattr(problem, need) is not None
