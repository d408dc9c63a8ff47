"""The registry. A new method is one file (copy ``_template.py``) and one line in ``MODULES``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from hcviz.algorithms.base import Algorithm
from hcviz.core.errors import InvalidParameter
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.whole import whole_number

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
        whole_number(seed, "The seed", InvalidParameter),
        whole_number(run, "The number of a run", InvalidParameter),
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


def fit(name: str, problem: Any, *, seed: int = 0, **params: Any) -> Tree:
    """Run a method to its end and return the last tree; ``problem`` is what :func:`run` takes.

    Examples
    --------
    >>> fit("average", [[0.0], [1.0], [5.0]]).to_newick(["a", "b", "c"])
    '(c:4.5,(a:1.0,b:1.0):3.5);'
    """
    for snapshot in run(name, problem, seed=seed, **params):
        tree = snapshot.tree
    return tree
