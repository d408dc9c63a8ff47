"""The methods of Krishnamurthy et al. (2012).

They are ``ActiveCluster`` with a flat method, and recursions over all similarities.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import param

from hcviz.algorithms.active.flat import CUTS, FLAT
from hcviz.algorithms.active.framework import PAPER, QUERIED_VIEW, ActiveCluster
from hcviz.algorithms.base import Algorithm
from hcviz.core.heights import SIZE
from hcviz.core.problem import Problem
from hcviz.core.similarity_oracles import oracle_of
from hcviz.core.snapshot import Mask, Snapshot

CITED = "Krishnamurthy, Balakrishnan, Xu and Singh 2012"


def _variant(*overridden: str) -> Any:
    """Return the option ``variant``; its doc names what the paper's variant overrides."""
    *first, final = *overridden, "no exact splits of noise-free samples"
    listed = ", ".join(first) + " and " * bool(first) + final
    return param.Selector(
        default="ours", objects=["ours", "paper"],
        doc=f"Paper: as in the paper, {listed}, whatever these options are.",
    )  # fmt: skip


class ClusterParameters(param.Parameterized):
    """Parameters of recursive k-means: the number of clusters, and the variant."""

    k = param.Integer(
        2, bounds=(2, 50), allow_None=True, label="Clusters k",
        doc="Clusters of each division, at most: similarities without noise may give fewer. "
        "None: by the largest gap in the spectrum, up to eight.",
    )  # fmt: skip
    variant: Any = _variant()


class Cut(param.Selector):  # type: ignore[type-arg]
    """A choice among :data:`CUTS`, read when the choice is made, since cuts can be registered."""

    __slots__: list[str] = []

    @property
    def objects(self) -> list[str]:
        return list(CUTS)

    @objects.setter
    def objects(self, _objects: Any) -> None:
        self.names: Any = None
        self._objects = list(CUTS)

    def get_range(self) -> dict[str, str]:
        return {name: name for name in CUTS}


class Spectral(ClusterParameters):
    """Parameters of recursive spectral clustering."""

    cut: Any = Cut(
        default="centred", objects=CUTS,
        doc="Which eigenvector divides: of the double-centred similarity, which finds deep "
        "clusters far better, or of the Laplacian (the paper's). A flat method of your own "
        "(register_flat) can be chosen too.",
    )  # fmt: skip
    variant: Any = _variant("cut = laplacian")


class Active(ClusterParameters):
    """Parameters of the methods that query few similarities."""

    s = param.Integer(
        None, bounds=(3, None), allow_None=True, label="Sample size s",
        doc="Items sampled at each division: more cost more and err less. None: c ln n.",
    )  # fmt: skip
    c = param.Number(
        8.0, bounds=(0.1, 1000.0), label="Sample factor c", doc="s = c ln n, where s is not given."
    )
    below_s: Any = param.Selector(
        default="full", objects=["full", "stop"],
        doc="Sets of s items or fewer: full divides them by all their similarities, stop leaves "
        "them undivided.",
    )  # fmt: skip
    repair = param.Number(
        0.5, bounds=(0.0, 10.0),
        doc="How many more similarities correct placements may cost, as a share of what a "
        "recursion that halves queries. It pays for comparing items in doubt again, and for all "
        "similarities of sets of up to about 12 s items. 0: neither.",
    )  # fmt: skip
    sharpen = param.Boolean(
        True, doc="Divide a sample by how alike its items look to other items that are compared "
        "with it anyway, which removes noise. No more similarities are queried.",
    )  # fmt: skip
    threads = param.Integer(
        None, bounds=(1, 256), allow_None=True,
        doc="Threads, above 20,000 items; the tree does not depend on them. An oracle that is not "
        "thread-safe is queried by one at a time. None: one for each core.",
    )  # fmt: skip
    variant: Any = _variant("below_s = stop", "repair = 0", "no sharpening")


class ActiveSpectral(Active, Spectral):
    """Parameters of the active spectral method."""

    variant: Any = _variant("cut = laplacian", "below_s = stop", "repair = 0", "no sharpening")


class HeurSpec(ActiveSpectral):
    """Parameters of HeurSpec; each heuristic is a switch."""

    k = param.Integer(
        2, bounds=(2, 50), allow_None=True, label="Clusters k",
        doc="Clusters of each division, at most, if the eigengap does not choose.",
    )  # fmt: skip
    eigengap = param.Boolean(True, doc="Choose k by the largest gap in the spectrum, up to eight.")
    drop_low_degree = param.Boolean(
        True, doc="Set sampled items of low degree aside, and place them like the others."
    )
    new_clusters = param.Boolean(
        True, doc="Items that are very dissimilar to every sampled cluster form a new one."
    )


def framework(params: Any, flat: str, papers: str, n_items: int = 0) -> ActiveCluster:
    """Return the ActiveCluster of some parameters.

    ``papers`` is the flat method of the paper's variant. ``n_items``: use all similarities of this
    many items.
    """
    paper = params.variant == "paper"
    flat = papers if paper else flat
    if n_items:
        return ActiveCluster(
            flat, max(n_items, 1 + (params.k or 2)), params.k, repair=0.0, exact_split=not paper
        )
    heuristics = isinstance(params, HeurSpec)
    own = {name: getattr(params, name) for name in ("below_s", "repair", "sharpen")}
    return ActiveCluster(
        flat,
        params.s,
        None if heuristics and params.eigengap else params.k,
        params.c,
        drop_low_degree=heuristics and params.drop_low_degree,
        new_clusters=heuristics and params.new_clusters,
        **(PAPER if paper else own),
    )


def _run(
    method: ActiveCluster, problem: Problem, rng: np.random.Generator, threads: int | None = None
) -> Iterator[Snapshot | None]:
    """Run on a problem's similarity oracle."""
    seed = int(rng.integers(2**63))
    return method.grow(oracle_of(problem), seed, problem.triplets, threads, groups=problem.groups)


def run_spectral(
    problem: Problem, params: Spectral, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive spectral clustering by all similarities, up to 10,000 items (Algorithm 2,
    repeated).

    O(n^2) similarities, O(n^2) time for a Lanczos step.
    """
    return _run(framework(params, params.cut, "laplacian", problem.n_items), problem, rng)


def run_kmeans(
    problem: Problem, params: ClusterParameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive k-means on the rows of the similarity matrix (section 3.3).

    Similarities without noise may be divided into fewer than k clusters, unless ``variant`` is the
    paper's.
    """
    return _run(framework(params, "kmeans", "kmeans", problem.n_items), problem, rng)


#: The methods that query a part of the similarities.
ACTIVE = ("active-spectral", "active-kmeans", "heurspec")


def recursion_of(name: str, params: Any) -> ActiveCluster:
    """Return the ActiveCluster of an active method with these parameters."""
    if name == "active-kmeans":
        return framework(params, "kmeans", "kmeans")
    return framework(params, params.cut, "laplacian")


def run_active_spectral(
    problem: Problem, params: ActiveSpectral, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """ActiveSpectral: :class:`ActiveCluster` with a spectral cut; ``heurspec`` adds heuristics."""
    return _run(recursion_of("active-spectral", params), problem, rng, params.threads)


def run_active_kmeans(
    problem: Problem, params: Active, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """ActiveKMeans: :class:`ActiveCluster` with k-means on rows of the sample's similarities."""
    return _run(recursion_of("active-kmeans", params), problem, rng, params.threads)


#: The order of the methods in the agreement sheet's default.
_COMPARED = {"active-spectral": 1, "active-kmeans": 2, "heurspec": 3, "spectral": 5}


def _method(name: str, title: str, run: Any, params: Any, summary: str, how: str) -> Algorithm:
    """Declare one method. ``how``: how it works."""
    return Algorithm(
        name=name, title=title, paper=CITED, run=run, needs=("similarity oracle", "similarity"),
        triplets="hard", reads_groups=True, runs="thread", params=params, summary=summary,
        how_it_works=how,
        subquadratic=name in ACTIVE, heights=SIZE, compare_order=_COMPARED.get(name),
        sampled_division=partial(recursion_of, name) if name in ACTIVE else None,
        views={QUERIED_VIEW: Mask},
    )  # fmt: skip


ALGORITHMS = (
    _method(
        "active-spectral", "Active spectral", run_active_spectral, ActiveSpectral,
        "Divides by a spectral cut of a sample and places the rest. Best for similarities that are "
        "expensive: it asks for 2 per cent of those of 100,000 items.",
        "The method draws a small sample of the items, and asks for all similarities within it. "
        "An eigenvector of these similarities divides the sample in two. Every other item is "
        "compared with the sample, and goes to the side to which it is more similar. Each side is "
        "divided in the same way. So most pairs of items are never compared.",
    ),
    _method(
        "active-kmeans", "Active k-means", run_active_kmeans, Active,
        "Divides by k-means on a sample's similarities and places the rest. Best for expensive "
        "similarities if a check of the active spectral method is wanted: neither is better on all "
        "data.",
        "The method draws a small sample of the items, and asks for all similarities within it. "
        "Items of the sample are alike if their rows of similarities are alike, and k-means "
        "divides them so. Every other item is compared with the sample, and goes to the cluster "
        "to which it is most similar. Each cluster is divided in the same way.",
    ),
    _method(
        "heurspec", "Active spectral, with heuristics", run_active_spectral, HeurSpec,
        "Active spectral that chooses the number of clusters and finds small ones. Best for "
        "divisions into more than two parts; on balanced, noisy data its choices cost accuracy.",
        "The method divides a small sample of the items by its similarities, and compares all "
        "other items with the sample. The largest gap between the eigenvalues of the sample says "
        "how many clusters there are. Items of the sample with few similar ones are set aside, "
        "and placed later. Items that are similar to no cluster form a new one. Each cluster is "
        "divided in the same way.",
    ),
    _method(
        "spectral", "Recursive spectral", run_spectral, Spectral,
        "Divides by spectral cuts of all similarities. Best for noisy similarities that are all "
        "known: it tolerates more noise than the active methods.",
        "The method begins with all items and all their similarities. An eigenvector of the "
        "similarities gives each item a number, and similar items get similar numbers. The items "
        "with low numbers are one side, those with high numbers the other. Each side is divided "
        "in the same way, until single items are left.",
    ),
    _method(
        "kmeans", "Recursive k-means", run_kmeans, ClusterParameters,
        "Divides by k-means on the rows of the similarity matrix. Best for the noisiest "
        "similarities, if all are known: it recovers a little more than spectral cuts.",
        "The method describes each item by its similarities to all others. Two centres are "
        "chosen, and each item joins the nearer one. The centres move to the mean of their items, "
        "and this repeats until no item changes. Each of the clusters is divided in the same way, "
        "until single items are left.",
    ),
)  # fmt: skip


def warm() -> None:
    """Compile or load the kernels, so that the first run does not wait for this."""
    matrix = np.add.outer(np.arange(40.0), np.arange(40.0)) % 7.0
    constrained = Problem(similarity=matrix, triplets=[[0, 1, 2]])
    rng = np.random.default_rng(0)
    for flat in FLAT:
        for method in (ActiveCluster(flat, 8, repair=0.1), ActiveCluster(flat, 8, None)):
            for problem in (constrained, Problem(similarity=matrix)):
                for _ in _run(method, problem, rng):
                    pass


__all__ = ["ACTIVE", "ALGORITHMS", "recursion_of"]
