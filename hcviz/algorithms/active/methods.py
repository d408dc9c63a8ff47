"""Krishnamurthy et al.'s (2012) methods: ``ActiveCluster`` with one flat method or another, and
over everything."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import param

from hcviz.algorithms.active.flat import CUTS, FLAT
from hcviz.algorithms.active.framework import ASKED, PAPER, ActiveCluster
from hcviz.algorithms.base import Algorithm
from hcviz.core.heights import SIZE
from hcviz.core.problem import Problem
from hcviz.core.similarity_oracles import oracle_of
from hcviz.core.snapshot import Mask, Snapshot

CITED = "Krishnamurthy, Balakrishnan, Xu and Singh 2012"


def _variant(*overridden: str) -> Any:
    """The option ``variant``, whose document says what the paper's way overrides."""
    *first, final = *overridden, "no parting by the lowest similarity (apart)"
    said = ", ".join(first) + " and " * bool(first) + final
    return param.Selector(
        default="ours", objects=["ours", "paper"],
        doc=f"Paper: as the paper has it, {said}, whatever is said beside it.",
    )  # fmt: skip


class Clusters(param.Parameterized):
    """How many, and whose way: those of recursive k-means."""

    k = param.Integer(
        2, bounds=(2, 50), allow_None=True,
        doc="Clusters of each division, at most: items whose similarities have no noise may be "
        "parted into fewer. None: by the largest gap in the spectrum, up to eight.",
    )  # fmt: skip
    variant: Any = _variant()


class Cut(param.Selector):  # type: ignore[type-arg]
    """A choice among :data:`CUTS`, as they are when it is made."""

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


class Spectral(Clusters):
    cut: Any = Cut(
        default="centred", objects=CUTS,
        doc="Which eigenvector divides: of the double-centred similarity, far better at depth, or "
        "of the Laplacian (the paper's); or a flat method of your own (register_flat).",
    )  # fmt: skip
    variant: Any = _variant("cut = laplacian")


class Active(Clusters):
    s = param.Integer(
        None, bounds=(3, None), allow_None=True,
        doc="Items sampled at each division: more cost more and err less. None: c ln n.",
    )  # fmt: skip
    c = param.Number(8.0, bounds=(0.1, 1000.0), doc="s = c ln n, where s is not given.")
    below_s: Any = param.Selector(
        default="full", objects=["full", "stop"],
        doc="What becomes of s items or fewer: divided by all their similarities, or left whole.",
    )  # fmt: skip
    repair = param.Number(
        0.5, bounds=(0.0, 10.0),
        doc="How many more similarities right placements may cost, as a share of what a recursion "
        "that halves asks for: second looks at items in doubt, and all similarities of sets of up "
        "to some 12 s items. 0: neither.",
    )  # fmt: skip
    sharpen = param.Boolean(
        True, doc="Divide a sample by how alike its items look to others that are compared with "
        "it anyway: noise hides less. No more similarities are asked for.",
    )  # fmt: skip
    threads = param.Integer(
        None, bounds=(1, 256), allow_None=True,
        doc="Threads, above 20,000 items; the tree does not depend on them. Similarities that are "
        "not said to be thread-safe are asked for by one at a time. None: one a core.",
    )  # fmt: skip
    variant: Any = _variant("below_s = stop", "repair = 0", "no sharpening")


class ActiveSpectral(Active, Spectral):
    """The active spectral method's."""

    variant: Any = _variant("cut = laplacian", "below_s = stop", "repair = 0", "no sharpening")


class HeurSpec(ActiveSpectral):
    """The three heuristics, each a switch."""

    k = param.Integer(
        2, bounds=(2, 50), allow_None=True,
        doc="Clusters of each division, at most, where the eigengap does not choose.",
    )  # fmt: skip
    eigengap = param.Boolean(True, doc="Choose k by the largest gap in the spectrum, up to eight.")
    drop_low_degree = param.Boolean(
        True, doc="Set sampled items of low degree aside, and place them like the others."
    )
    new_clusters = param.Boolean(
        True, doc="Items outlyingly dissimilar to every sampled cluster form a new one."
    )


def framework(params: Any, flat: str, papers: str, n_items: int = 0) -> ActiveCluster:
    """The framework that parameters describe; ``n_items``: over all similarities of so many."""
    paper = params.variant == "paper"
    flat = papers if paper else flat
    if n_items:
        return ActiveCluster(
            flat, max(n_items, 1 + (params.k or 2)), params.k, repair=0.0, apart=not paper
        )
    heuristics = isinstance(params, HeurSpec)
    own = {name: getattr(params, name) for name in ("below_s", "repair", "sharpen")}
    return ActiveCluster(
        flat,
        params.s,
        None if heuristics and params.eigengap else params.k,
        params.c,
        drop=heuristics and params.drop_low_degree,
        fresh=heuristics and params.new_clusters,
        **(PAPER if paper else own),
    )


def _run(
    made: ActiveCluster, problem: Problem, rng: np.random.Generator, threads: int | None = None
) -> Iterator[Snapshot | None]:
    seed = int(rng.integers(2**63))
    return made.grow(oracle_of(problem), seed, problem.triplets, threads)


def run_spectral(
    problem: Problem, params: Spectral, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive spectral clustering by all similarities: ``spectral`` (algorithm 2, again and
    again). Up to 10,000 items; O(n^2) similarities, O(n^2) a Lanczos step."""
    return _run(framework(params, params.cut, "laplacian", problem.n_items), problem, rng)


def run_kmeans(
    problem: Problem, params: Clusters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """Recursive k-means on the rows of the similarity matrix (section 3.3): ``kmeans``. Into fewer
    than k where they have no noise and the root's lowest similarity parts them so, unless
    ``variant`` is the paper's."""
    return _run(framework(params, "kmeans", "kmeans", problem.n_items), problem, rng)


#: The methods that ask for a part of the similarities.
ACTIVE = ("active-spectral", "active-kmeans", "heurspec")


def described(name: str, params: Any) -> ActiveCluster:
    """The framework of an active method with these parameters."""
    if name == "active-kmeans":
        return framework(params, "kmeans", "kmeans")
    return framework(params, params.cut, "laplacian")


def run_active_spectral(
    problem: Problem, params: ActiveSpectral, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """ActiveSpectral: :class:`ActiveCluster` with a spectral cut; ``heurspec`` adds heuristics."""
    return _run(described("active-spectral", params), problem, rng, params.threads)


def run_active_kmeans(
    problem: Problem, params: Active, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """ActiveKMeans: :class:`ActiveCluster` with k-means on rows of the sample's similarities."""
    return _run(described("active-kmeans", params), problem, rng, params.threads)


#: Places of the methods in the agreement sheet's default.
_COMPARED = {"active-spectral": 1, "active-kmeans": 2, "heurspec": 3, "spectral": 5}


def _method(name: str, title: str, run: Any, params: Any, summary: str) -> Algorithm:
    return Algorithm(
        name=name, title=title, paper=CITED, run=run, needs=("similarity oracle", "similarity"),
        triplets="hard", runs="thread", params=params, summary=summary, sparing=name in ACTIVE,
        heights=SIZE, compare_order=_COMPARED.get(name),
        sampled_division=partial(described, name) if name in ACTIVE else None,
        views={ASKED: Mask},
    )  # fmt: skip


ALGORITHMS = (
    _method(
        "active-spectral", "Active spectral", run_active_spectral, ActiveSpectral,
        "Divides by a spectral cut of a sample and places the rest: few similarities, many items.",
    ),
    _method(
        "active-kmeans", "Active k-means", run_active_kmeans, Active,
        "Divides by k-means on a sample's similarities and places the rest.",
    ),
    _method(
        "heurspec", "Active spectral, with heuristics", run_active_spectral, HeurSpec,
        "Active spectral that chooses the number of clusters and looks out for small ones.",
    ),
    _method(
        "spectral", "Recursive spectral", run_spectral, Spectral,
        "Divides by spectral cuts of all similarities.",
    ),
    _method(
        "kmeans", "Recursive k-means", run_kmeans, Clusters,
        "Divides by k-means on the rows of the similarity matrix.",
    ),
)  # fmt: skip


def warm() -> None:
    """Compile (or load) the kernels, so that nobody's first click waits for it."""
    matrix = np.add.outer(np.arange(40.0), np.arange(40.0)) % 7.0
    told = Problem(similarity=matrix, triplets=[[0, 1, 2]])
    rng = np.random.default_rng(0)
    for flat in FLAT:
        for made in (ActiveCluster(flat, 8, repair=0.1), ActiveCluster(flat, 8, None)):
            for problem in (told, Problem(similarity=matrix)):
                for _ in _run(made, problem, rng):
                    pass


__all__ = ["ACTIVE", "ALGORITHMS", "described"]
