"""The run: check, start or go on, sample in short calls of the kernel, yield snapshots."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import log_joint, put_scale, put_tree
from hcviz.algorithms.ddt.legal import violated
from hcviz.algorithms.ddt.parameters import Parameters, number_or_auto
from hcviz.algorithms.ddt.start import mend, put_first, put_start, tree_of
from hcviz.algorithms.ddt.state import DdtState
from hcviz.algorithms.ddt.work import (
    ACCEPTED,
    PROPOSALS,
    SUBTREE,
    TRIES,
    C,
    Float,
    Work,
    allocate,
)
from hcviz.core.build import build
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree

#: Leaf noise where rows are equal, in units of sigma^2.
NOISE_OF_DUPLICATES = 0.01
#: Features beyond this cannot be squared; columns that vary by less than its inverse are constant.
LARGEST = 1e100
#: Seconds that one call of the kernel should take.
CALL = 0.015


def run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any = None
) -> Iterator[Snapshot | None]:
    """Sample trees from the Dirichlet diffusion tree posterior (Vikram and Dasgupta 2016).

    Locations are integrated out. ``state`` of each snapshot is a :class:`DdtState`; from it a run
    goes on bit for bit. Constant columns say nothing about the tree and are left out. Hard triplets
    hold in every snapshot, the first included; :class:`InconsistentTriplets` if they cannot.
    A proposal costs O(depth * d), more with triplets; memory is O(n d).
    """
    n = problem.n_items
    if n < 2:
        raise InvalidData("A diffusion tree needs two items or more.")
    hard = params.beta is None
    triplets = problem.triplets
    if hard and len(triplets):
        build(n, triplets)  # raises where there is no tree
    state = getattr(start, "state", None)
    state = state if isinstance(state, DdtState) and state.parent.size == 2 * n - 1 else None
    data, _ = columns(problem, params.mu)
    noise = noise_of(data, params.leaf_noise)
    c, sigma, scale = _scale(data, params, state)
    w = allocate(n, data, triplets.rows, triplets.weights, noise, params.beta)
    put_scale(w, c, sigma)
    common = params.sigma is not None and np.ndim(params.sigma) == 0
    return _stream(w, problem, params, _own(rng, state), start, state, scale, common)


def _stream(
    w: Work,
    problem: Problem,
    params: Parameters,
    rng: np.random.Generator,
    start: Any,
    state: DdtState | None,
    scale: Float,
    common: bool,
) -> Iterator[Snapshot | None]:
    n = problem.n_items
    if state is not None:
        put_tree(w, state.parent, state.child, state.u)
        w.tally[[PROPOSALS, ACCEPTED]] = state.proposals, state.accepted
        w.tally[[SUBTREE, TRIES]] = state.subtree, state.tries
    elif start is not None:
        put_start(w, start if isinstance(start, Tree) else start.tree)
    else:
        put_first(w, rng, params.init)
    triplets = problem.triplets
    if params.beta is None and len(triplets) and mend(w, triplets, params.repair):
        w.tally[TRIES] = 0
    total = params.steps or 200 * n
    every = params.every or n
    yield _snapshot(w, rng, 0, total)
    done, chunk = 0, 32
    while done < total:
        target = min(done + every, total)
        while done < target:
            count = min(chunk, target - done)
            began = time.perf_counter()
            advance(w, rng, count, n, params.learn, scale, common)
            took = time.perf_counter() - began
            done += count
            # How the work is cut has no say in its result, so the clock may decide it.
            chunk = max(1, min(int(count * CALL / max(took, 1e-6)), 4 * chunk, 1 << 20))
            if done < target:
                yield None
        yield _snapshot(w, rng, done, total)


def _snapshot(w: Work, rng: np.random.Generator, step: int, total: int) -> Snapshot:
    metrics = {
        "log_joint": float(log_joint(w)),
        "proposals": float(w.tally[PROPOSALS]),
        "accepted": float(w.tally[ACCEPTED]),
        "violated": float(violated(w)),
        "c": float(w.real[C]),
    }
    if w.sigma.size:
        metrics["sigma"] = float(np.exp(np.mean(np.log(w.sigma))))
    return Snapshot(tree_of(w), step, total, metrics, DdtState.of(w, rng))


def columns(problem: Problem, mu: str) -> tuple[Float, NDArray[np.bool_]]:
    """The features that vary, less mu, float64 (n, d); and which they are."""
    features = np.asarray(problem.features, dtype=np.float64)
    wrong = np.argwhere(~np.isfinite(features))
    if wrong.size:
        row, column = wrong[0]
        raise InvalidData(
            f"Row {row}, column {column} of the features is {features[row, column]}.",
            "Fill missing cells first.",
        )
    low, high = features.min(axis=0), features.max(axis=0)
    huge = np.flatnonzero((low < -LARGEST) | (high > LARGEST))
    if huge.size:
        raise InvalidData(
            f"Column {huge[0]} of the features goes beyond {LARGEST:g}.", "Scale it down."
        )
    varies = high - low > 1.0 / LARGEST
    kept = features[:, varies]
    if mu == "mean" and kept.shape[1]:
        kept = kept - kept.mean(axis=0)
    return np.ascontiguousarray(kept) + 0.0, varies  # + 0.0: no negative zeros: equal, other bytes


def noise_of(data: Float, leaf_noise: Any) -> float:
    """The leaf noise in units of sigma^2: as given, or by whether rows are equal. O(n d)."""
    number = number_or_auto("leaf_noise", leaf_noise)
    if data.shape[1] == 0 or (number is not None and number > 0):
        return number or 0.0
    seen: dict[bytes, int] = {}
    for row, values in enumerate(data):
        first = seen.setdefault(values.tobytes(), row)
        if first != row:
            if number is None:
                return NOISE_OF_DUPLICATES
            raise InvalidData(
                f"Rows {first} and {row} of the features are equal: without leaf noise the density "
                "has no bound.",
                'Set leaf_noise to "auto" or to a positive number.',
            )
    return 0.0


def _scale(data: Float, params: Parameters, state: DdtState | None) -> tuple[float, Float, Float]:
    """c and sigma to start with, and the scale of sigma^2's prior."""
    dims = data.shape[1]
    goes_on = state is not None and state.sigma.size == dims
    c = 1.0 if params.c is None else float(params.c)
    # the variance between leaves is sigma^2 (1 - E t_lca) = sigma^2 c / (1 + c) on average
    sigma = data.std(axis=0) * math.sqrt((1.0 + c) / c) if dims else np.empty(0)
    if params.sigma is not None:
        given = np.asarray(params.sigma, dtype=np.float64)
        if given.ndim and given.size != dims:
            raise InvalidParameter(
                f"ddt: sigma has {given.size} numbers, but {dims} columns of the features vary."
            )
        sigma = np.broadcast_to(given, (dims,)).copy()
    scale = sigma**2
    if state is not None and goes_on and (params.learn or params.sigma is None):
        sigma = state.sigma
    if state is not None and (params.learn or params.c is None):
        c = state.c
    return c, sigma, scale


def _own(rng: np.random.Generator, state: DdtState | None) -> np.random.Generator:
    if state is not None:
        return state.rng()
    if isinstance(rng.bit_generator, np.random.PCG64):
        return rng
    return np.random.Generator(np.random.PCG64(rng.integers(2**63)))
