"""The registry of methods, and the functions that run them.

A new method is one file (copy ``_template.py``) and one line in ``MODULES``, or an entry point of
another package (``plugins.py``). ``make lint`` then writes its name into ``names.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from hcviz.algorithms.base import Algorithm
from hcviz.algorithms.names import MethodName
from hcviz.algorithms.plugins import plugin_modules
from hcviz.core.build import build as build_tree
from hcviz.core.errors import InvalidParameter
from hcviz.core.named_conflicts import named_conflicts
from hcviz.core.not_groups import avoid
from hcviz.core.problem import Problem
from hcviz.core.progress import ProgressBar
from hcviz.core.snapshot import Snapshot
from hcviz.core.text import closest_name, shorten
from hcviz.core.tree import Tree
from hcviz.core.tree_info import TreeInfo
from hcviz.core.validation import check_integer

if TYPE_CHECKING:
    from hcviz.posterior import Posterior
    from hcviz.posterior.draws import Sampler

#: The default number of chains of :func:`sample`, the same on every machine, and the most.
DEFAULT_CHAINS, MAX_CHAINS = 2, 64
#: The default budget of :func:`sample`, and the largest that is accepted: seconds of wall time.
DEFAULT_SECONDS, MAX_SECONDS = 60.0, 1e9

#: The module of each registry name, whose ``ALGORITHMS`` contains it. It is imported at first use.
MODULES = {
    "ddt": "hcviz.algorithms.ddt",
    "crsc": "hcviz.algorithms.structural",
    "crbc": "hcviz.algorithms.structural",
    "hrsc": "hcviz.algorithms.structural",
    "dasgupta-search": "hcviz.algorithms.structural",
    "random-cut": "hcviz.algorithms.structural",
    "derandomised-cut": "hcviz.algorithms.structural",
    "densest-cut": "hcviz.algorithms.structural",
    "active-spectral": "hcviz.algorithms.active",
    "active-kmeans": "hcviz.algorithms.active",
    "heurspec": "hcviz.algorithms.active",
    "spectral": "hcviz.algorithms.active",
    "kmeans": "hcviz.algorithms.active",
    "build": "hcviz.algorithms.build",
    "average": "hcviz.algorithms.linkage",
    "single": "hcviz.algorithms.linkage",
    "complete": "hcviz.algorithms.linkage",
    "ward": "hcviz.algorithms.linkage",
    "neighbour-ward": "hcviz.algorithms.neighbours",
    "4-al": "hcviz.algorithms.comparison",
    "sl": "hcviz.algorithms.comparison",
    "cl": "hcviz.algorithms.comparison",
    "4k-al-active": "hcviz.algorithms.comparison",
    "4k-al": "hcviz.algorithms.comparison",
    "adds-sdp": "hcviz.algorithms.comparison",
    "t-ste": "hcviz.algorithms.comparison",
    "forte": "hcviz.algorithms.comparison",
    "actual-agreement": "hcviz.algorithms.card_sort",
    "best-merge": "hcviz.algorithms.card_sort",
}
# Methods of other packages: algorithms/plugins.py.
MODULES |= plugin_modules(MODULES)


def algorithms() -> list[str]:
    """Return the registry's names.

    Returns
    -------
    list of str

    Examples
    --------
    >>> algorithms()[:4]
    ['ddt', 'crsc', 'crbc', 'hrsc']
    """
    return list(MODULES)


def get(name: str) -> Algorithm:
    """Return the method of that name.

    Parameters
    ----------
    name : str
        A name in the registry, :func:`algorithms`.

    Returns
    -------
    Algorithm
        Its declaration. Its module is imported at first use.

    Raises
    ------
    InvalidParameter
        There is no such method, or its module in ``MODULES`` has no method of that name.

    Examples
    --------
    >>> get("average").triplets
    'hard'
    """
    if not isinstance(name, str) or name not in MODULES:
        like = closest_name(name, MODULES) if isinstance(name, str) else None
        meant = f"Did you mean {like!r}? " if like else ""
        known = f"{meant}Known: {', '.join(MODULES)}."
        raise InvalidParameter(f"There is no method {shorten(repr(name))}.", known)
    try:
        methods = import_module(MODULES[name]).ALGORITHMS
    except Exception as error:  # a module of another package may raise anything
        raise InvalidParameter(
            f"The method {name!r} cannot be imported from {MODULES[name]}: {error}.",
            "Repair or remove the package that declares it.",
        ) from error
    found: dict[str, Algorithm] = {a.name: a for a in methods}
    if name not in found:
        raise InvalidParameter(
            f"The registry expects the method {name!r} in {MODULES[name]}, which has "
            f"{' and '.join(map(repr, found)) or 'none'}.",
            f"Write name={name!r} in that module, or change the line in MODULES.",
        )
    return found[name]


def generator(seed: int, run: int = 0) -> np.random.Generator:
    """Return the random generator of a run.

    Parameters
    ----------
    seed : int
        The seed of a session, 0 or more.
    run : int
        The number of the run in the session, 0 or more.

    Returns
    -------
    numpy.random.Generator
        Different runs of a session have independent random numbers.

    Raises
    ------
    InvalidParameter
        A number is not a whole number of 0 or more.

    Examples
    --------
    >>> int(generator(1).integers(100)) == int(generator(1, run=0).integers(100))
    True
    """
    words = (
        check_integer(seed, "The seed", InvalidParameter),
        check_integer(run, "The number of a run", InvalidParameter),
    )
    return np.random.default_rng(np.random.SeedSequence(words))


def seed_of(seed: Any) -> int:
    """Return a seed that is a number.

    Parameters
    ----------
    seed : int, None or numpy.random.Generator
        A number is returned as it is. None: a random number. A generator: a number drawn from it.

    Returns
    -------
    int
        0 or more.

    Raises
    ------
    InvalidParameter
        ``seed`` is none of these.

    Examples
    --------
    >>> seed_of(7), seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1))
    (7, True)
    """
    if seed is None:
        seed = np.random.default_rng()
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**32))
    return check_integer(seed, "The seed", InvalidParameter)


def run(
    name: MethodName | str,
    problem: Any,
    *,
    seed: Any = 0,
    start: Any = None,
    progress: bool = False,
    **params: Any,
) -> Iterator[Snapshot]:
    """Run a method, and iterate over its snapshots.

    Parameters
    ----------
    name : str
        The method.
    problem : Problem, Dataset, DataFrame, array (n, d), str or path
        What to run on. A DataFrame, an array or nested lists mean ``Problem(features=...)``, a
        data set its ``problem()``. A text is the name of a built-in data set, or a path to a
        table.
    seed : int, None or numpy.random.Generator
        Of the random numbers. Seed s gives the same as run 0 of a page with this seed. None: a
        random seed. A generator: the seed is drawn from it.
    start : Tree, Snapshot or None
        Where to begin. From a snapshot with a ``state``, the run continues. If the state contains a
        random generator, ``seed`` is ignored.
    progress : bool
        Show a bar: tqdm's, if it is installed, else a line on stderr.
    **params
        Parameters of the method.

    Returns
    -------
    iterator of Snapshot
        The last has ``step == total``. Each has a tree with the items' names.

    Raises
    ------
    HcvizError
        The problem or a parameter is wrong. It is raised before the method runs.

    Examples
    --------
    >>> *_, last = run("average", [[0.0], [1.0], [5.0]])
    >>> last.tree
    Tree(3 leaves, 2 inner nodes)
    """
    method, number = get(name), seed_of(seed)
    checked = method.parameters(**params)
    given = method.check_problem(problem, start)
    stream = method.start_run(given, checked, generator(number), start)
    found = _named_trees(stream, given.own_labels, method.info(given, params, number))
    return _with_progress(found, method.title) if progress else found


def _named_trees(
    stream: Iterator[Snapshot | None], labels: tuple[str, ...] | None, info: TreeInfo
) -> Iterator[Snapshot]:
    """Yield the snapshots of a run, whose trees get the items' names and how they were made."""
    for snapshot in stream:
        if snapshot is not None:
            yield replace(snapshot, tree=snapshot.tree.with_labels(labels).with_info(info))


def _with_progress(snapshots: Iterator[Snapshot], title: str) -> Iterator[Snapshot]:
    """Show a bar while the snapshots are read."""
    bar = ProgressBar(title)
    try:
        for snapshot in snapshots:
            bar.update(snapshot.step, snapshot.total)
            yield snapshot
    finally:
        bar.close()


def sample(
    problem: Any,
    method: MethodName | str = "ddt",
    *,
    seconds: float | None = None,
    seed: Any = 0,
    chains: int | None = None,
    progress: bool = False,
    **params: Any,
) -> Posterior:
    """Sample trees until the supports of their clades have settled.

    Parameters
    ----------
    problem : Problem, DataFrame or array (n, d)
        What :func:`run` takes.
    method : str
        A method that samples, such as ``"ddt"``.
    seconds : float or None
        Budget of wall time once the chains have their first trees; None: 60.
    seed : int, None or numpy.random.Generator
        Of the random numbers, as for :func:`run`.
    chains : int or None
        Independent chains, 1 to 64; None: 2. The first begins as the method does, the others at
        random trees. With one chain its two halves are compared.
    progress : bool
        Show a bar with an estimate of the proposals until the supports have settled: tqdm's, if it
        is installed, else a line on stderr.
    **params
        Parameters of the method; ``steps`` and ``every`` are refused.

    Returns
    -------
    Posterior
        Of each chain after its burn-in. ``settled`` is True if the chains agree: over clades with
        support above 5 %, the 95 % quantile of their difference is at most 0.05.

    Raises
    ------
    InvalidParameter
        The method does not sample, or a parameter is wrong.
    InvalidData, InconsistentTriplets
        The method cannot run on this problem.

    Notes
    -----
    ``settled`` is computed at fixed numbers of proposals. So a settled result depends on the seed
    alone, not on the clock, the threads or the machine. A result that has not settled after
    ``seconds`` depends on them.

    Examples
    --------
    >>> import hcviz
    >>> posterior = hcviz.sample([[0.0], [0.1], [5.0], [5.2], [9.0]], seed=1, seconds=600)
    >>> posterior.settled
    True
    >>> items, support = posterior.clades()[0]
    >>> posterior.summary_tree()
    Tree(5 leaves, 4 inner nodes)
    """
    budget = _seconds(seconds)
    found = get(method)
    if not found.samples:
        raise InvalidParameter(
            f"{found.title} gives one tree and does not sample, so it has no posterior.",
            f"Use fit({method!r}, ...), or sample(problem, 'ddt').",
        )
    for name in ("steps", "every"):
        if name in params:
            raise InvalidParameter(
                f"sample() continues until the supports have settled, and takes no {name!r}.",
                "Use seconds=..., or fit(..., steps=...) for a fixed number of proposals.",
            )
    number = DEFAULT_CHAINS if chains is None else check_integer(chains, "chains", InvalidParameter)
    if not 1 <= number <= MAX_CHAINS:
        raise InvalidParameter(f"chains must be from 1 to {MAX_CHAINS}, not {number}.")
    return _sample(
        found, problem, seed_of(seed), number, params,
        seconds=budget, progress=progress,
    )  # fmt: skip


def _sample(
    method: Algorithm,
    problem: Any,
    seed: int,
    chains: int,
    params: Mapping[str, Any],
    start: Any = None,
    progress: bool = False,
    **options: Any,
) -> Posterior:
    """Start chains of a method that samples, and run them."""
    from hcviz.posterior import sampling  # its import takes a second

    if "chains" in method.parameter_names():
        params = {**params, "chains": chains}
    checked = method.parameters(**params)
    problem = method.check_problem(problem, start)
    samplers: Sequence[Sampler]
    if method.recorded_run is not None:
        samplers = method.start_recorded_run(problem, checked, generator(seed), start).chains
    else:
        samplers = [
            sampling.SnapshotSampler(
                partial(method.start_run, problem, checked, generator(seed, chain))
            )
            for chain in range(chains)
        ]
        options["thin"] = 1
    bar = ProgressBar(method.title) if progress else None
    return sampling.sample_until_settled(
        samplers,
        problem.n_items,
        progress=bar,
        labels=problem.own_labels,
        info=method.info(problem, params, seed),
        **options,
    )


def _seconds(seconds: Any) -> float:
    """Return the checked budget of wall time."""
    if seconds is None:
        return DEFAULT_SECONDS
    good = isinstance(seconds, int | float | np.integer | np.floating)
    if not good or isinstance(seconds, bool) or not 0.0 < seconds <= MAX_SECONDS:
        raise InvalidParameter(
            f"seconds must be a positive number of seconds, not {shorten(repr(seconds))}.",
            "Give at most 1e9.",
        )
    return float(seconds)


def fit(
    name: MethodName | str,
    problem: Any,
    *,
    seed: Any = 0,
    start: Any = None,
    progress: bool = False,
    **params: Any,
) -> Tree:
    """Run a method and return its tree.

    Parameters
    ----------
    name : str
        The method.
    problem : Problem, DataFrame or array (n, d)
        What :func:`run` takes.
    seed : int, None or numpy.random.Generator
        Of the random numbers, as for :func:`run`. ``tree.info.seed`` is the number.
    start : Tree, Snapshot or None
        Where to begin, as for :func:`run`.
    progress : bool
        Show a bar, as :func:`run` and :func:`sample` do.
    **params
        Parameters of the method.

    Returns
    -------
    Tree
        The last tree of the run, with the items' names. For a method that samples, the summary
        tree of its draws with its supports: the most credible tree of sampled clades, see
        :meth:`Posterior.summary_tree`.

    Notes
    -----
    *Samplers.* Without ``steps`` and ``every``, two chains continue until the supports have
    settled, as in :func:`sample`. Each makes 5,000 n proposals at most (above 400 items: 2,000,000
    or 200 n, whichever is more). With either, each of ``chains`` (default 1) makes exactly
    ``steps`` proposals (default 200 n), and ``every`` is the thinning. The first eighth
    of the draws is burn-in, or more if the log joint was slow to rise. The result depends on the
    seed alone.

    *Hard constraints without ``start``.* A sampler without ``steps`` and ``every`` first finds the
    summary tree without constraints. The first chain begins at that tree, repaired. Its clades are
    kept where the draws do not contradict them. This takes twice the time. A method that improves a
    tree (``dasgupta-search``) also begins at its tree without constraints, repaired.

    Examples
    --------
    >>> fit("average", [[0.0], [1.0], [5.0]]).to_newick(["a", "b", "c"])
    '(c:4.5,(a:1.0,b:1.0):3.5);'
    >>> import hcviz
    >>> fit("average", hcviz.datasets.load("zoo")).clusters(2)[["wolf", "lion", "wasp"]].tolist()
    [1, 1, 2]
    """
    return fit_with_metrics(name, problem, seed=seed, start=start, progress=progress, **params)[0]


def fit_with_metrics(
    name: MethodName | str,
    problem: Any,
    *,
    seed: Any = 0,
    start: Any = None,
    progress: bool = False,
    **params: Any,
) -> tuple[Tree, Mapping[str, float]]:
    """Run a method, and return its tree and the metrics of its last snapshot.

    Parameters
    ----------
    name : str
        The method.
    problem : Problem, DataFrame or array (n, d)
        What :func:`run` takes.
    seed : int, None or numpy.random.Generator
        Of the random numbers, as for :func:`run`.
    start : Tree, Snapshot or None
        Where to begin, as for :func:`run`.
    progress : bool
        Show a bar.
    **params
        Parameters of the method.

    Returns
    -------
    tree : Tree
        The tree of :func:`fit`.
    metrics : mapping of str to float
        The numbers of the last snapshot; none for a summary tree of a sampler.

    Examples
    --------
    >>> tree, metrics = fit_with_metrics("active-spectral", [[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]])
    >>> metrics["queries"]
    3.0
    """
    method, seed = get(name), seed_of(seed)
    if method.samples and method.recorded_run is not None:
        return _summary(method, problem, seed, start, params, progress), {}
    if method.improves and start is None and method.constraint_mode(params) == "hard":
        problem = method.check_problem(problem, None)
        if problem.n_constraints:
            _check_consistency(problem)
            start = fit(name, problem.without_constraints(), seed=seed, **params)
    for snapshot in run(name, problem, seed=seed, start=start, progress=progress, **params):
        last = snapshot
    return last.tree, last.metrics


def _check_consistency(problem: Problem) -> None:
    """Raise :class:`InconsistentTriplets`, with names of items, if no tree satisfies a problem."""
    with named_conflicts(problem.triplets, problem.groups, problem.own_labels):
        build_tree(problem.n_items, problem.triplets, problem.groups)


def _summary(
    method: Algorithm,
    problem: Any,
    seed: int,
    start: Any,
    params: Mapping[str, Any],
    progress: bool = False,
) -> Tree:
    """Return the summary tree of a sampler's draws."""
    checked: Any = method.parameters(**params)
    given = method.check_problem(problem, start)
    n = given.n_items
    if "steps" in params or "every" in params:
        steps = checked.steps or 200 * n
        chains = checked.chains
        thin = checked.every or max(1, min(4 * n, steps // 512))
        posterior = _sample(
            method, problem, seed, chains, params, start,
            seconds=math.inf, proposals=steps, until_settled=False, thin=thin, progress=progress,
        )  # fmt: skip
    else:
        chains = params.get("chains", DEFAULT_CHAINS)
        most = max(200 * n, min(5_000 * n, 2_000_000))
        before = None
        bound = given.n_constraints > 0 and method.constraint_mode(params) == "hard"
        if start is None and bound and given.features.shape[1]:
            _check_consistency(given)
            bare = given.without_constraints()
            start = _summary(method, bare, seed, None, params, progress)
            before = avoid(start, given.not_groups, given.triplets, given.groups)
        posterior = _sample(
            method, problem, seed, chains, params, start,
            seconds=math.inf, proposals=most, progress=progress,
        )  # fmt: skip
        return posterior.summary_tree(before=before)
    return posterior.summary_tree()
