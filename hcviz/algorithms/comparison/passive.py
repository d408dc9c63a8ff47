"""Methods of Ghoshdastidar et al. (2019) for given answers: 4K-AL and 4-AL."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import param
from numpy.typing import NDArray

from hcviz.algorithms.base import Algorithm
from hcviz.algorithms.comparison.asking import PAPER
from hcviz.algorithms.comparison.foural import four_al_steps
from hcviz.algorithms.comparison.similarities import adds, as_given, check_items, mulk4_steps
from hcviz.core.agglomerate import agglomerate
from hcviz.core.build import build
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.heights import RANK, kernel_heights
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons

#: The doc of the parameter ``repeats``.
REPEATS = "all counts every answer; once reads the list as a set, in which opposite answers cancel."


class Parameters(param.Parameterized):
    """How repeated answers count."""

    repeats: Any = param.Selector(default="all", objects=["all", "once"], doc=REPEATS)


class ClusterList(param.Parameter):  # type: ignore[type-arg]
    """A name (a number or a text) for each item's cluster, or None."""

    def _validate(self, val: Any) -> None:
        if val is None:
            return
        names = as_list(val)
        if not isinstance(names, list | tuple) or not all(
            each is None or isinstance(each, int | str) for each in names
        ):
            raise ValueError(
                f"{self.name} must be a list with a cluster's number or name for each item, in "
                "their order (such as 0, 0, -1, 1), or None"
            )


def as_list(initial: Any) -> Any:
    """Return the parts of a text with commas, numbers as numbers; return a list as it is."""
    if isinstance(initial, np.ndarray):
        return initial.tolist()
    if not isinstance(initial, str) or "," not in initial:
        return initial
    parts = [part.strip() for part in initial.strip().strip("[]()").split(",")]
    parts = parts[:-1] if parts[-1] == "" else parts  # a comma at the end
    return [int(part) if re.fullmatch(r"[+-]?\d{1,18}", part) else part for part in parts]


class FourAlParameters(Parameters):
    """Parameters of 4-AL."""

    initial = ClusterList(
        None,
        allow_None=True,
        label="Initial clusters",
        doc="Pure clusters to begin with (4-AL-I): a list with a cluster's number or name for each "
        "item, in their order (such as 0, 0, -1, 1); items with -1, None or an empty name begin "
        "alone. None: all items begin alone.",
    )


class KernelParameters(Parameters):
    """Parameters of the quadruplets kernel."""

    kernel: Any = param.Selector(
        default="equation 3",
        objects=["equation 3", "published"],
        doc="The paper's equation (3), or the kernel of the authors' code, which adds 2 AddS-4.",
    )


def answers_of(problem: Problem, repeats: str) -> Comparisons:
    """Return the problem's comparisons, with repeats counted as ``repeats`` says.

    Raises :class:`InvalidData` if they carry no information: all cancel, or all compare a pair with
    itself. O(m), unless they do.
    """
    found: Comparisons = problem.comparisons
    if found.table is None and _cancel(found):
        if not len(found.tally()[0]):
            raise InvalidData(
                "The answers only compare pairs of items with themselves, which carries no "
                "information.",
                "A quadruplet needs two different pairs.",
            )
        raise InvalidData(
            "The answers cancel: each question was answered as often one way as the other.",
            "Add an answer that no opposite answer cancels.",
        )
    if repeats == "all":
        return found
    once = found.once()
    if not len(once):
        raise InvalidData(
            "Each question was answered both ways. In a list that is read as a set (repeats = "
            "once) such answers cancel, so none is left.",
            "Take repeats = all, which counts how often.",
        )
    return once


def _cancel(answers: Comparisons) -> bool:
    """Return True if each question was answered equally often either way.

    Usually the first question shows that this is not so; otherwise all are counted.
    """
    columns = answers.rows.T
    first, second = columns[:2], columns[2:] if answers.is_quadruplets else columns[[0, 2]]

    def are(pairs: NDArray[np.int32], these: NDArray[np.int32]) -> NDArray[np.bool_]:
        i, j = these
        straight, turned = (pairs[0] == i) & (pairs[1] == j), (pairs[0] == j) & (pairs[1] == i)
        return np.asarray(straight | turned, bool)

    at = int(np.argmin(are(first, second)))  # 0 if each pair is compared with itself
    p, q = first[:, at], second[:, at]
    same, opposite = are(first, p) & are(second, q), are(first, q) & are(second, p)
    if np.count_nonzero(same) != np.count_nonzero(opposite):
        return False
    _, yes, no = answers.tally()
    return bool((yes == no).all())


def never_compared(problem: Problem) -> float:
    """Return how many items are in no comparison; ties decide where methods place them."""
    return float(np.sum(problem.comparisons.appearances(problem.n_items) == 0))


def run_kernel(
    problem: Problem, params: KernelParameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """4K-AL with passive comparisons: the kernel of equation (3), then average linkage.

    The kernel is :func:`hcviz.algorithms.comparison.similarities.mulk4_steps`. Ties and triplets
    are as in :func:`hcviz.core.agglomerate.agglomerate`. Metrics: ``answers``, and ``never
    compared``, the items without an answer, whose kernel is 0 everywhere.
    """
    check_items(problem.n_items)
    build(problem.n_items, problem.triplets)
    return _kernel(problem, params, rng)


def _kernel(
    problem: Problem, params: KernelParameters, rng: np.random.Generator
) -> Iterator[Snapshot | None]:
    """Compute the kernel, then agglomerate."""
    answers = answers_of(problem, params.repeats)
    n = problem.n_items
    kernel = yield from mulk4_steps(n, as_given(answers, n), params.kernel)
    tree = agglomerate(kernel, triplets=problem.triplets, rng=rng)
    yield _last(problem, answers, tree, "kernel", kernel)


def clusters_of(initial: Any, n: int) -> NDArray[np.int64]:
    """Return ``initial`` as numbers from 0, int64 (n,), -1 for items that begin alone."""
    names = list(as_list(initial))
    if len(names) != n:
        raise InvalidParameter(
            f"4-al: initial must name a cluster for each of the {n} items; it has {len(names)}.",
            "For instance initial=[0, 0, -1, 1, 1]: -1 is an item that begins alone.",
        )
    alone = [each in (None, "") or (not isinstance(each, str) and each < 0) for each in names]
    code = {name: k for k, name in enumerate(dict.fromkeys(map(str, names)))}
    return np.array(
        [-1 if lone else code[str(name)] for name, lone in zip(names, alone, strict=True)]
    )


def run_four_al(
    problem: Problem, params: FourAlParameters, rng: np.random.Generator, start: Any
) -> Iterator[Snapshot | None]:
    """4-AL (equations (4) and (5)), from single items or from ``initial`` clusters.

    See :func:`four_al_steps`. Comparisons that were given as a matrix of signs are read from it.
    The matrix shown is AddS-4, or AddS-3 of triplets, since 4-AL itself has similarities of
    clusters only.
    """
    n = problem.n_items
    answers = answers_of(problem, params.repeats)
    initial = None if params.initial is None else clusters_of(params.initial, n)
    steps = four_al_steps(
        n, as_given(answers, n), initial=initial, triplets=problem.triplets, rng=rng
    )
    return _four_al(problem, answers, steps)


def _four_al(
    problem: Problem, answers: Comparisons, steps: Generator[None, None, Tree]
) -> Iterator[Snapshot | None]:
    """Finish 4-AL and yield its tree."""
    tree = yield from steps
    yield _last(problem, answers, tree, "AddS", adds(problem.n_items, answers))


def _last(problem: Problem, answers: Comparisons, tree: Tree, name: str, matrix: Any) -> Snapshot:
    """Return the last snapshot."""
    metrics = {"answers": float(len(answers)), "never compared": never_compared(problem)}
    return Snapshot(tree, 1, 1, metrics=metrics, matrices={name: matrix})


KERNEL = Algorithm(
    name="4k-al",
    title="Quadruplets kernel",
    paper=PAPER,
    run=run_kernel,
    needs=("comparisons",),
    triplets="hard",
    runs="process",
    heights=kernel_heights,
    params=KernelParameters,
    compare_order=2,
    summary="Items are alike if they compare alike with all others; then average linkage. Best for "
    "given answers with much noise; with little, average linkage of comparisons recovers more.",
    how_it_works="The method reads the given comparisons, and asks for no others. Two items are "
    "similar if comparisons with the same other pairs have the same answer. The similarity counts "
    "agreeing answers minus disagreeing ones. Then the clusters with the greatest mean similarity "
    "merge, until one is left.",
)
FOUR_AL = Algorithm(
    name="4-al",
    title="Average linkage of comparisons",
    paper=PAPER,
    run=run_four_al,
    needs=("comparisons",),
    triplets="hard",
    runs="process",
    heights=RANK,
    params=FourAlParameters,
    compare_order=1,
    summary="Merges the clusters whose items were most often judged more alike than others. Best "
    "for given answers that are mostly right; with much noise, the quadruplets kernel recovers "
    "more.",
    how_it_works="The method reads the given comparisons, and asks for no others. Each item "
    "begins as a cluster of its own. For each two clusters, it counts how often a pair across "
    "them was judged more alike than another pair. The two clusters with the highest mean count "
    "merge, until one cluster is left.",
)
