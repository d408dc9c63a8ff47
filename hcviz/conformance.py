"""What every method must do, as checks that a package can run on its own methods.

``hcviz conformance package:ALGORITHMS`` runs them, and so does hcviz's own suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import generator
from hcviz.algorithms.base import Algorithm
from hcviz.conformance_data import DATA, planted_triplets, random_tree
from hcviz.core.build import build, chain_triplets
from hcviz.core.errors import HcvizError, InconsistentTriplets, InvalidData, InvalidParameter
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot, View
from hcviz.core.tree import INVARIANTS, Tree

#: Data of the checks with constraints, and numbers of triplets.
CONSTRAINED = ("blobs", "duplicates", "all equal", "features alone", "three items")
COUNTS = (1, 4, 16, 64)


@dataclass(frozen=True)
class Finding:
    """The result of one check of one method.

    Parameters
    ----------
    method, check : str
        The method's name, and what was checked.
    fault : str
        What is wrong; "" if nothing is.

    Examples
    --------
    >>> Finding("average", "same seed, same trees", "").passed
    True
    """

    method: str
    check: str
    fault: str

    @property
    def passed(self) -> bool:
        """True if nothing is wrong."""
        return not self.fault


def _require(condition: Any, fault: str) -> None:
    if not condition:
        raise InvalidData(fault)


@cache
def problem_named(data: str) -> Problem:
    """Return the problem of that name in ``DATA``, made once."""
    return DATA[data]()


def _stream(
    method: Algorithm, problem: Problem, seed: int = 0, start: Any = None, **params: Any
) -> Iterator[Snapshot]:
    found = method.start_run(problem, method.parameters(**params), generator(seed), start)
    return (snapshot for snapshot in found if snapshot is not None)


def _refusal(kind: type[HcvizError], call: Callable[[], Any], what: str) -> HcvizError:
    """Return the error of a call that must be refused before anything runs."""
    try:
        call()
    except kind as error:
        return error
    raise InvalidData(f"{what} is not refused before the run begins, with {kind.__name__}.")


def check_run(
    snapshots: Iterable[Snapshot], n: int, rows: NDArray[np.int32] | None = None
) -> list[Snapshot]:
    """Check the snapshots of a run and return them.

    Parameters
    ----------
    snapshots : iterable of Snapshot
        A run.
    n : int
        Number of items.
    rows : int32 (m, 3) or None
        Triplets that each tree must satisfy.

    Returns
    -------
    list of Snapshot
        All of them.

    Raises
    ------
    InvalidData
        A tree is not valid, or the progress is not.

    Examples
    --------
    >>> from hcviz.conformance import check_run
    >>> len(check_run(run("average", [[0.0], [1.0]]), 2))
    1
    """
    shown = list(snapshots)
    _require(shown, "A run yields no snapshot.")
    for snapshot in shown:
        _require(isinstance(snapshot, Snapshot), "A run yields something that is no Snapshot.")
        tree = snapshot.tree
        _require(isinstance(tree, Tree) and tree.n_leaves == n, f"A tree has not the {n} items.")
        for name, fault in INVARIANTS:
            _require(fault(tree) is None, f"A tree breaks the rule {name!r}.")
        if rows is not None and len(rows):
            wrong = rows[~tree.satisfies(rows)]
            _require(not len(wrong), f"The tree of step {snapshot.step} violates {wrong[:1]}.")
        _require(
            snapshot.labels is None or snapshot.labels.shape == (n,), "labels is not an array (n,)."
        )
        _require(
            all(matrix.shape == (n, n) for matrix in snapshot.matrices.values()),
            "A matrix of a snapshot is not (n, n).",
        )
        _require(
            all(np.isfinite(value) or np.isnan(value) for value in snapshot.metrics.values()),
            "A metric is infinite.",
        )
    steps = [snapshot.step for snapshot in shown]
    _require(len({each.total for each in shown}) == 1, "The total changes during a run.")
    _require(steps == sorted(steps) and steps[0] >= 0, "The steps of a run decrease.")
    _require(steps[-1] == shown[-1].total > 0, "The last snapshot has not step == total.")
    _require(steps.count(steps[-1]) == 1, "Several snapshots have step == total.")
    return shown


# ---------------------------------------------------------------------- the checks


def described(method: Algorithm) -> None:
    """Its declaration is complete, and it can run on some data."""
    _require(method.title, "It has no title.")
    _require(method.triplets in {"hard", "soft", "ignored"}, "triplets is none of the three modes.")
    _require(method.runs in {"thread", "process"}, "runs is neither thread nor process.")
    _require(
        any(method.missing_data(problem_named(data)) is None for data in DATA),
        "No data of the checks have what it needs.",
    )
    for name in method.parameter_names():
        _require(method.params.param[name].doc, f"The parameter {name!r} has no doc.")


def valid_trees(method: Algorithm) -> None:
    """Trees are trees, and progress increases to its total, on awkward data."""
    for data in DATA:
        problem = problem_named(data)
        if method.missing_data(problem) is not None:
            _refusal(InvalidData, lambda p=problem: _stream(method, p), f"Data {data!r}")  # type: ignore[misc]
            continue
        try:
            run = _stream(method, problem)
        except InvalidData:
            _require(problem.n_items == 1, f"It refuses {data!r}, which has what it needs.")
            continue
        check_run(run, problem.n_items)


def same_seed(method: Algorithm) -> None:
    """The same seed gives the same trees, and a run changes nothing outside it."""
    problem = problem_named("blobs")
    given = problem.features.copy(), problem.similarity.copy()
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    first, again = (list(_stream(method, problem, seed=3)) for _ in range(2))
    _require([s.tree for s in first] == [s.tree for s in again], "Its trees differ by run.")
    _require([s.step for s in first] == [s.step for s in again], "Its steps differ by run.")
    after = np.random.get_state()[1]  # type: ignore[index]  # noqa: NPY002
    _require(np.array_equal(before, after), "It uses NumPy's global random numbers.")
    same = np.array_equal(given[0], problem.features) and np.array_equal(
        given[1], problem.similarity
    )
    _require(same, "It changes the data of its problem.")


def hard_constraints(method: Algorithm) -> None:
    """If triplets are hard, every tree satisfies them, and contradictions are refused."""
    if method.triplets != "hard":
        return
    for data in CONSTRAINED:
        problem = problem_named(data)
        if method.missing_data(problem) is not None:
            continue
        for count in COUNTS:
            rows = planted_triplets(problem.n_items, count, seed=count)
            check_run(_stream(method, problem.with_triplets(rows)), problem.n_items, rows)
    wrong = problem_named("blobs").with_triplets([[0, 1, 2], [3, 4, 5], [1, 2, 0], [0, 1, 2]])
    error = _refusal(InconsistentTriplets, lambda: _stream(method, wrong), "A contradiction")
    conflict = getattr(error, "conflict", ())
    _require(conflict == (0, 2), f"The named conflict is {conflict}, not rows 0 and 2.")


def any_start(method: Algorithm) -> None:
    """A run may start from any tree of the items."""
    problem = problem_named("blobs")
    n = problem.n_items
    rows = chain_triplets([0, 5, 9], 1)
    for start in (
        Tree.star(n),
        random_tree(np.random.default_rng(0), n),
        build(n, [[0, i, i + 1] for i in range(1, n - 1)]),
    ):
        hard = rows if method.triplets == "hard" else None
        check_run(_stream(method, problem.with_triplets(rows), start=start), n, hard)


def bad_input(method: Algorithm) -> None:
    """Bad input gets an HcvizError before anything runs."""
    problem = problem_named("blobs")
    _refusal(InvalidParameter, lambda: _stream(method, problem, nonsense=1), "A wrong parameter")
    _refusal(InvalidData, lambda: _stream(method, problem, start=Tree.star(5)), "A wrong start")
    _refusal(InvalidParameter, lambda: _stream(method, problem, start="a tree"), "A wrong start")
    if "items" not in method.needs:
        bare = Problem(labels=["a", "b", "c"])
        error = _refusal(InvalidData, lambda: _stream(method, bare), "Missing data")
        _require(method.title in error.message, "The error for missing data has not its title.")


def declared_views(method: Algorithm) -> None:
    """Views are those that it declares, and it makes as many clusters as asked."""
    for declared in method.views.values():
        _require(declared in get_args(View), f"{declared} is no type of view.")
    for snapshot in _stream(method, problem_named("blobs")):
        for name, view in snapshot.views.items():
            _require(type(view) is method.views.get(name), f"The view {name!r} is not declared.")
    if method.curve is not None:
        _require(method.curve.view in snapshot.views, "The declared curve is missing.")
    if method.at_k is not None:
        last = list(_stream(method, problem_named("blobs"), **method.at_k({}, 3)))[-1]
        count = 0 if last.labels is None else len(np.unique(last.labels))
        _require(count == last.metrics.get("k") == 3, f"It makes {count} clusters, not 3.")


def stopping(method: Algorithm) -> None:
    """A run that is dropped after its first snapshot closes without an error."""
    stream = method.start_run(problem_named("blobs"), method.parameters(), generator(0))
    next(snapshot for snapshot in stream if snapshot is not None)
    close = getattr(stream, "close", None)
    if close is not None:
        close()


#: What is checked -> the check. It raises an error if the method does not conform.
CHECKS: Mapping[str, Callable[[Algorithm], None]] = {
    "is described": described,
    "valid trees": valid_trees,
    "same seed, same trees": same_seed,
    "hard constraints": hard_constraints,
    "any start": any_start,
    "bad input": bad_input,
    "declared views": declared_views,
    "stopping": stopping,
}


def conformance(methods: Iterable[Algorithm]) -> Iterator[Finding]:
    """Check methods one by one.

    Parameters
    ----------
    methods : iterable of Algorithm
        The methods, such as ``package.ALGORITHMS``.

    Yields
    ------
    Finding
        One for each method and check, as soon as it is known.

    Examples
    --------
    >>> from hcviz.algorithms.build import ALGORITHMS
    >>> from hcviz.conformance import conformance
    >>> all(found.passed for found in conformance(ALGORITHMS))
    True
    """
    for method in methods:
        for name, check in CHECKS.items():
            fault = ""
            try:
                check(method)
            except HcvizError as error:
                fault = str(error)
            except Exception as error:  # any failure of a foreign method is a finding
                fault = f"{type(error).__name__}: {error}"
            yield Finding(method.name, name, fault)


def load_methods(place: str) -> tuple[Algorithm, ...]:
    """Import methods from a place such as ``package.module:ALGORITHMS``.

    Parameters
    ----------
    place : str
        Module and name; without a name, ``ALGORITHMS``.

    Returns
    -------
    tuple of Algorithm
        The methods.

    Raises
    ------
    InvalidParameter
        The place cannot be imported, or has no methods.

    Examples
    --------
    >>> from hcviz.conformance import load_methods
    >>> [method.name for method in load_methods("hcviz.algorithms.build:ALGORITHMS")]
    ['build']
    """
    module, _, name = place.partition(":")
    try:
        found = getattr(import_module(module), name or "ALGORITHMS")
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidParameter(
            f"Methods cannot be imported from {place!r}: {error}.",
            "Name a module and its tuple: package.module:ALGORITHMS.",
        ) from None
    methods = (found,) if isinstance(found, Algorithm) else found
    if not isinstance(methods, tuple | list) or not all(isinstance(m, Algorithm) for m in methods):
        raise InvalidParameter(f"{place!r} is no tuple of Algorithm.", "See _template.py.")
    return tuple(methods)


__all__ = ["CHECKS", "Finding", "check_run", "conformance", "load_methods"]
