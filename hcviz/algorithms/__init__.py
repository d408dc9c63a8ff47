"""The registry. A new method is one file (copy ``_template.py``) and one line in ``MODULES``."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from hcviz.algorithms.base import Algorithm
from hcviz.core.build import build as build_tree
from hcviz.core.build import build_guided
from hcviz.core.errors import InvalidParameter
from hcviz.core.snapshot import Snapshot
from hcviz.core.text import shorten
from hcviz.core.tree import Tree
from hcviz.core.validation import check_integer

if TYPE_CHECKING:
    from hcviz.posterior import Posterior

#: Chains of :func:`sample`, a constant, so that results do not depend on the machine; most of them.
DEFAULT_CHAINS, MOST_CHAINS = 2, 64
#: Seconds of wall time that :func:`sample` takes at most, unless given.
DEFAULT_SECONDS = 60.0

#: Registry name -> module whose ``ALGORITHMS`` holds it; imported when first asked for.
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
    "4-al": "hcviz.algorithms.comparison",
    "sl": "hcviz.algorithms.comparison",
    "cl": "hcviz.algorithms.comparison",
    "4k-al-active": "hcviz.algorithms.comparison",
    "4k-al": "hcviz.algorithms.comparison",
    "adds-sdp": "hcviz.algorithms.comparison",
    "t-ste": "hcviz.algorithms.comparison",
    "forte": "hcviz.algorithms.comparison",
}


def algorithms() -> list[str]:
    """The registry's names."""
    return list(MODULES)


@cache
def get(name: str) -> Algorithm:
    """The method of that name; :class:`InvalidParameter` if there is none, or if the module that
    ``MODULES`` names for it has no method of that name."""
    if name not in MODULES:
        raise InvalidParameter(f"There is no method {name!r}.", f"Known: {', '.join(MODULES)}.")
    found: dict[str, Algorithm] = {a.name: a for a in import_module(MODULES[name]).ALGORITHMS}
    if name not in found:
        raise InvalidParameter(
            f"The registry expects the method {name!r} in {MODULES[name]}, which has "
            f"{' and '.join(map(repr, found)) or 'none'}.",
            f"Write name={name!r} in that module, or change the line in MODULES.",
        )
    return found[name]


def generator(seed: int, run: int = 0) -> np.random.Generator:
    """The random generator of run ``run`` of a session seeded ``seed``, both 0 or more."""
    words = (
        check_integer(seed, "The seed", InvalidParameter),
        check_integer(run, "The number of a run", InvalidParameter),
    )
    return np.random.default_rng(np.random.SeedSequence(words))


def run(
    name: str, problem: Any, *, seed: int = 0, start: Any = None, **params: Any
) -> Iterator[Snapshot]:
    """Run a method; iterate to get its snapshots, the last with ``step == total``.

    ``problem`` is a :class:`hcviz.Problem`; a DataFrame, an array (n, d) or nested lists are the
    problem of those features, ``Problem(features=...)``.
    ``start`` is a :class:`Tree`, or a :class:`Snapshot` to go on from (its ``state``, generator
    included where there is one, and then ``seed`` has no say). Seed s is the page's run 0.
    Raises :class:`HcvizError` before anything runs where the problem or a parameter is wrong.
    """
    method = get(name)
    stream = method.start_run(problem, method.parameters(**params), generator(seed), start)
    return (snapshot for snapshot in stream if snapshot is not None)


def sample(
    problem: Any,
    method: str = "ddt",
    *,
    seconds: float | None = None,
    seed: int = 0,
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
    seed : int
        Of the random numbers.
    chains : int or None
        Independent chains, 1 to 64; None: 2. The first begins where the method begins, the others
        at random trees. With one chain its two halves are compared.
    progress : bool
        Rewrite one line on stderr: "supports accurate to about 12 points, 3 s".
    **params
        Parameters of the method; ``steps`` and ``every`` are refused.

    Returns
    -------
    Posterior
        Of the later half of each chain. ``settled`` is True where the 95 % quantile, over clades
        with support above 5 %, of the difference between the chains is at most 0.05.

    Raises
    ------
    InvalidParameter
        The method does not sample, or a parameter is wrong.
    InvalidData, InconsistentTriplets
        The method cannot run on this problem.

    Notes
    -----
    Whether supports have settled is computed at fixed numbers of proposals. So a result that has
    settled depends on the seed, not on the clock, the threads or the machine's number of cores.
    One that has not, because ``seconds`` were spent, depends on them.

    Examples
    --------
    >>> import hcviz
    >>> posterior = hcviz.sample([[0.0], [0.1], [5.0], [5.2], [9.0]], seed=1)
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
                f"sample() goes on until the supports have settled and takes no {name!r}.",
                "Use seconds=..., or fit(..., steps=...) for a fixed number of proposals.",
            )
    number = DEFAULT_CHAINS if chains is None else check_integer(chains, "chains", InvalidParameter)
    if not 1 <= number <= MOST_CHAINS:
        raise InvalidParameter(f"chains must be from 1 to {MOST_CHAINS}, not {number}.")
    return _sample(
        found, problem, seed, number, params,
        seconds=budget, progress=sys.stderr if progress else None,
    )  # fmt: skip


def _sample(
    method: Algorithm,
    problem: Any,
    seed: int,
    chains: int,
    params: Mapping[str, Any],
    start: Any = None,
    **options: Any,
) -> Posterior:
    """Start ``chains`` chains of a method that samples, and run them."""
    from hcviz.posterior import sampling  # its imports take a second

    if "chains" in method.parameter_names():
        params = {**params, "chains": chains}
    checked = method.parameters(**params)
    problem = method.checked(problem, start)
    if method.samplers is not None:
        samplers = method.samplers(problem, checked, generator(seed), start)
    else:
        samplers = []
        for chain in range(chains):
            rng = generator(seed, chain)
            begin = partial(method.start_run, problem, checked, rng)
            samplers.append(sampling.SnapshotSampler(begin))
        options["thin"] = 1
    return sampling.sample_until_settled(samplers, problem.n_items, **options)


def _seconds(seconds: Any) -> float:
    """A budget of wall time, checked."""
    if seconds is None:
        return DEFAULT_SECONDS
    good = isinstance(seconds, int | float | np.integer | np.floating)
    if not good or isinstance(seconds, bool) or not 0.0 < seconds < math.inf:
        raise InvalidParameter(
            f"seconds must be a positive number of seconds, not {shorten(repr(seconds))}."
        )
    return float(seconds)


def fit(name: str, problem: Any, *, seed: int = 0, start: Any = None, **params: Any) -> Tree:
    """Run a method and return its tree.

    Parameters
    ----------
    name : str
        The method.
    problem : Problem, DataFrame or array (n, d)
        What :func:`run` takes.
    seed : int
        Of the random numbers.
    start : Tree, Snapshot or None
        Where to begin, as for :func:`run`.
    **params
        Parameters of the method.

    Returns
    -------
    Tree
        The last tree of the run. Of a method that samples it is the summary tree of its draws: the
        most credible tree that sampled clades can form, see :meth:`Posterior.summary_tree`.

    Notes
    -----
    Without ``steps``, a sampler's two chains go on until the supports have settled, as in
    :func:`sample`, or until each has made 5,000 n proposals (above 400 items: 2,000,000 or 200 n,
    whichever is more). Under hard constraints, and without ``start``, it first finds the summary
    tree without constraints. The first chain begins at that tree, repaired, and its clades are
    kept where the draws do not contradict them. This takes twice the time. With ``steps`` each of
    its ``chains`` (1 unless given) makes exactly so many, and ``every`` is the thinning. The
    earlier half of the draws is burn-in. The result depends on the seed alone.

    A method that improves a tree (``dasgupta-search``) begins in the same way: under hard
    constraints, and without ``start``, at its tree without constraints, repaired.

    Examples
    --------
    >>> fit("average", [[0.0], [1.0], [5.0]]).to_newick(["a", "b", "c"])
    '(c:4.5,(a:1.0,b:1.0):3.5);'
    """
    method = get(name)
    if method.samples and method.samplers is not None:
        return _summary(method, problem, seed, start, params)
    if method.improves and start is None and method.treats(params) == "hard":
        given = method.checked(problem, None)
        if len(given.triplets):
            build_tree(given.n_items, given.triplets)  # raises where there is no tree
            start = fit(name, given.with_triplets([]), seed=seed, **params)
    for snapshot in run(name, problem, seed=seed, start=start, **params):
        tree = snapshot.tree
    return tree


def _summary(
    method: Algorithm, problem: Any, seed: int, start: Any, params: Mapping[str, Any]
) -> Tree:
    """The summary tree of a sampler's draws."""
    checked: Any = method.parameters(**params)
    given = method.checked(problem, start)
    n = given.n_items
    if "steps" in params or "every" in params:
        steps = checked.steps or 200 * n
        chains = checked.chains
        thin = checked.every or max(1, min(4 * n, steps // 512))
        posterior = _sample(
            method, problem, seed, chains, params, start,
            seconds=math.inf, proposals=steps, until_settled=False, thin=thin,
        )  # fmt: skip
    else:
        chains = params.get("chains", DEFAULT_CHAINS)
        most = max(200 * n, min(5_000 * n, 2_000_000))
        before = None
        bound = len(given.triplets) > 0 and method.treats(params) == "hard"
        if start is None and bound and given.features.shape[1]:
            build_tree(n, given.triplets)  # raises where there is no tree
            start = _summary(method, given.with_triplets([]), seed, None, params)
            before = build_guided(start, given.triplets)
        posterior = _sample(
            method, problem, seed, chains, params, start, seconds=math.inf, proposals=most
        )
        return posterior.summary_tree(before=before)
    return posterior.summary_tree()
