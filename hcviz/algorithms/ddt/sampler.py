"""The run: check, start or go on, sample in short calls of the kernel, yield snapshots."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.base import RunPart, SplitRun
from hcviz.algorithms.ddt.agreement import Agreement
from hcviz.algorithms.ddt.beside import (
    agreement_of,
    generators,
    state_of,
    states_of,
    together,
)
from hcviz.algorithms.ddt.density import put_scale, put_tree
from hcviz.algorithms.ddt.leafnoise import (
    check_noise,
    first_noise,
    is_learnt,
    unsaved_noise,
)
from hcviz.algorithms.ddt.numbering import by_time
from hcviz.algorithms.ddt.observed import observe
from hcviz.algorithms.ddt.parameters import Parameters
from hcviz.algorithms.ddt.recording import Recorder
from hcviz.algorithms.ddt.running import Chain
from hcviz.algorithms.ddt.start import lift_sigma, mend, put_first, put_start
from hcviz.algorithms.ddt.state import DdtState, put_places
from hcviz.algorithms.ddt.times import draw_locations
from hcviz.algorithms.ddt.work import (
    ACCEPTED,
    GIVEN,
    LEARNT,
    NOISE,
    PROPOSALS,
    SUBTREE,
    TRIES,
    Float,
    allocate,
)
from hcviz.core.build import build
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree

#: Columns that vary by less are constant.
LEAST = 1e-100
#: Proposals of a run that ends when it is stopped.
MOST_STEPS = 10**9


def run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any = None
) -> Iterator[Snapshot | None]:
    """Sample trees from the Dirichlet diffusion tree posterior (Vikram and Dasgupta 2016).

    Locations are integrated out; with ``latents="gibbs"`` they are drawn given the tree once in n
    proposals, which are weighed given them (the paper's interleaved way): the same posterior
    (docs/performance.md has how both mix). ``state`` of each snapshot is a :class:`DdtState`; from
    it a run goes on bit for bit. Constant columns are left out where sigma is None, since there is
    nothing to take their scale from; with sigma given they count as every column does (one of zeros
    still prefers trees that could have made it). Hard triplets hold in every snapshot, the first
    included; :class:`InconsistentTriplets` if they cannot. A proposal costs O(depth * d), more with
    triplets; memory is O(n d).

    With ``learn`` the priors are c ~ Exp(1) and, for each dimension or for all, sigma^2 ~
    inverse-Gamma(1, s^2), s being ``sigma`` as given. Where it is None s^2 comes from the data: the
    column's variance times (1 + c) / c, the sigma^2 at which the model's leaves vary as much as the
    data do on average. That uses the data twice, if weakly: the prior weighs as much as two items.

    Where a column has ties and ``leaf_noise`` is "auto" the leaf noise nu is learnt with sigma:
    nu / (1 + nu) ~ Uniform(0, 1), and both priors are restricted to nu sigma_d^2 >=
    resolution_d^2 / 12 in columns with ties. This bounds the likelihood, so the posterior is proper
    (docs/leaf-noise.md). ``log_joint`` then includes the prior of nu, and is a density of the times
    -log(1 - t), not t: with noise and c < 1 the density of t has no bound at t = 1.

    ``chains`` of them run side by side in threads, each with a stream of random numbers of its own,
    so that threads have no say in the result. Tree and metrics are the first chain's, which is the
    one that runs alone with ``chains=1``: two pictures then differ by the moves of one chain, not
    by a change of leader. The others start from trees drawn from the prior, which is wider than
    any posterior, bent to the triplets: chains from the same start would agree before they have
    seen anything. ``rhat`` and ``ess`` are those of the log joint, over what all chains did since
    the posterior last changed, its first quarter set aside; they are recomputed when the record
    has grown by a tenth.
    """
    chains = _chains(problem, params, rng, start)
    state = state_of(start, problem.n_items)
    learnt = bool(chains[0].w.tally[LEARNT])
    agreement = agreement_of(chains[0].of, problem, params, state, learnt)
    return _stream(chains, problem, params, start, agreement)


def samplers(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any = None
) -> list[Recorder]:
    """:func:`run`'s chains, each at its first tree: the same draws, recorded in compiled code."""
    chains = _chains(problem, params, rng, start)
    for number, chain in enumerate(chains):
        _begin(chain, problem, params, start if number == 0 else None, number == 0)
    return [Recorder(chain) for chain in chains]


def _chains(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> list[Chain]:
    """Check everything, and allocate the chains."""
    n = problem.n_items
    if n < 2:
        raise InvalidData("A diffusion tree needs two items or more.")
    hard = params.beta is None
    triplets = problem.triplets
    if hard and len(triplets):
        build(n, triplets)  # raises where there is no tree
    state = state_of(start, n)
    data, _ = columns(problem, params.mu, params.sigma is not None)
    check_noise(data, params.leaf_noise)
    of = digest(data)
    states = states_of(state, params.chains)
    chains = []
    common = params.sigma is not None and np.ndim(params.sigma) == 0
    for saved, own in zip(states, generators(rng, params.chains), strict=True):
        c, sigma, scale, noise, floor = _scale(
            data, params, saved if saved and saved.fits(of) else None
        )
        w = allocate(n, data, triplets.rows, triplets.weights, noise, params.beta, floor)
        put_scale(w, c, sigma)
        w.tally[GIVEN] = params.latents == "gibbs"
        generator = own if saved is None else saved.rng()
        chains.append(Chain(w, generator, saved, params.learn, scale, common, of))
    return chains


def shares(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any = None
) -> SplitRun | None:
    """:func:`run`'s chains as runs of one chain each; None where there is only one."""
    if params.chains == 1:
        return None
    state = state_of(start, problem.n_items)
    alone = {**params.param.values(), "chains": 1}
    del alone["name"]
    parts = []
    for number, (saved, own) in enumerate(
        zip(states_of(state, params.chains), generators(rng, params.chains), strict=True)
    ):
        begin = start if number == 0 else None
        if saved is not None:
            begin = Snapshot(saved.tree(), 0, 1, state=replace(saved, company=None))
        parts.append(RunPart(alone if number == 0 else {**alone, "init": "random"}, own, begin))
    data, _ = columns(problem, params.mu, params.sigma is not None)
    learnt = is_learnt(data, params.leaf_noise, params.learn)
    agreement = agreement_of(digest(data), problem, params, state, learnt)
    return SplitRun(
        parts, lambda all_: together(all_[0], [each.state for each in all_[1:]], agreement)
    )


def endless(params: Parameters, problem: Problem) -> dict[str, Any]:
    """A run of at least two chains for as long as it is needed, unless ``steps`` are given."""
    if params.steps:
        return {}
    n = problem.n_items
    every = min(params.every or 10 * n, 200 * n)  # a run is stopped at its snapshots
    return {"steps": MOST_STEPS, "every": every, "chains": max(2, params.chains)}


def rest(params: Parameters, snapshot: Snapshot) -> dict[str, Any]:
    """What a chain that goes on from ``snapshot`` still has to do of the run that this is of."""
    return {"steps": snapshot.total - snapshot.step}


def _stream(
    chains: list[Chain],
    problem: Problem,
    params: Parameters,
    start: Any,
    agreement: Agreement | None,
) -> Iterator[Snapshot | None]:
    n = problem.n_items
    for number, chain in enumerate(chains):
        if number:
            yield None
        _begin(chain, problem, params, start if number == 0 else None, number == 0)
    total = params.steps or 200 * n
    every = params.every or n
    threads = ThreadPoolExecutor(len(chains), "ddt-chain") if len(chains) > 1 else None
    try:
        yield _snapshot(chains, agreement, 0, total)
        done = 0
        while done < total:
            due = min(every, total - done)
            for chain in chains:
                chain.due = due
            while busy := [chain for chain in chains if chain.busy]:
                for _ in (threads.map if threads else map)(Chain.go, busy):
                    pass
                if any(chain.busy for chain in busy):
                    yield None
            done += due
            yield _snapshot(chains, agreement, done, total)
    finally:
        if threads is not None:
            threads.shutdown()


def _begin(chain: Chain, problem: Problem, params: Parameters, start: Any, first: bool) -> None:
    """Put the chain's first tree into its arrays, mended where it violates a hard triplet."""
    w, state = chain.w, chain.saved
    if state is not None:
        put_tree(w, state.parent, state.child, state.u)
        w.tally[[PROPOSALS, ACCEPTED]] = state.proposals, state.accepted
        w.tally[[SUBTREE, TRIES]] = state.subtree, state.tries
    elif start is not None:
        put_start(w, start if isinstance(start, Tree) else start.tree)
    else:
        put_first(w, chain.rng, params.init if first else "random")
    lift_sigma(w, chain.common)
    triplets = problem.triplets
    mended = params.beta is None and len(triplets) and mend(w, triplets, params.repair)
    if mended:
        w.tally[TRIES] = 0
    if w.tally[GIVEN]:
        places = None if state is None or mended else state.places
        if places is not None and state is not None and state.fits(chain.of):
            put_places(w, places)
        else:
            draw_locations(w, chain.rng)


def _snapshot(chains: list[Chain], agreement: Agreement | None, step: int, total: int) -> Snapshot:
    w = chains[0].w
    states, wrong, spread, heights = [], 0, 0.0, np.empty(0)
    for number, chain in enumerate(chains):
        parent, child, u, h, value, violations, scale = observe(chain.w, chain.must_measure)
        joint = value if chain.must_measure else chain.joint()
        states.append(DdtState.of(chain.w, chain.rng, joint, chain.of, arrays=(parent, child, u)))
        if number == 0:
            wrong, spread, heights = violations, scale, h
    first = states[0]
    metrics = {
        "log_joint": first.log_joint,
        "proposals": float(first.proposals),
        "accepted": float(first.accepted),
        "violated": float(wrong),
        "c": first.c,
    }
    if w.sigma.size:
        metrics["sigma"] = spread
        metrics["leaf_noise"] = float(w.real[NOISE])
    tree = Tree.deferred(w.data.shape[0], lambda: by_time(first.parent, first.u, heights))
    return together(Snapshot(tree, step, total, metrics, first), states[1:], agreement)


def columns(problem: Problem, mu: str, every: bool) -> tuple[Float, NDArray[np.bool_]]:
    """The features that count, less mu, float64 (n, d); and which they are: those that vary, or
    ``every`` one.

    (That they are finite and can be squared, the problem itself has seen to.)
    """
    features = np.asarray(problem.features, dtype=np.float64)
    low, high = features.min(axis=0), features.max(axis=0)
    varies = high - low > LEAST
    counts = np.ones_like(varies) if every else varies
    kept = features[:, counts]
    if mu == "mean" and kept.shape[1]:
        # of what is constant the mean is the value itself, however the sum is rounded
        kept = kept - np.where(varies, features.mean(axis=0), features[0])[counts]
    return np.ascontiguousarray(kept) + 0.0, counts  # + 0.0: no negative zeros: equal, other bytes


def digest(data: Float) -> str:
    """Which data a state is of: what was estimated from others is not taken for theirs."""
    found = hashlib.blake2b(repr(data.shape).encode(), digest_size=8)
    found.update(np.ascontiguousarray(data).data)
    return found.hexdigest()


def _scale(
    data: Float, params: Parameters, state: DdtState | None
) -> tuple[float, Float, Float, float, Float | None]:
    """c and sigma to start with, the scale of sigma^2's prior, the leaf noise, and its floors
    where it is learnt. ``state`` is of these data.
    """
    dims = data.shape[1]
    c = 1.0 if params.c is None else float(params.c)
    # the variance between leaves is sigma^2 (1 - E t_lca) = sigma^2 c / (1 + c) on average
    sigma = data.std(axis=0) * math.sqrt((1.0 + c) / c) if dims else np.empty(0)
    if params.sigma is not None:
        given = np.asarray(params.sigma, dtype=np.float64)
        if given.ndim and given.size != dims:
            raise InvalidParameter(
                f"ddt: sigma has {given.size} numbers, but the features have {dims} columns."
            )
        sigma = np.broadcast_to(given, (dims,)).copy()
    scale = sigma**2
    if state is not None and (params.learn or params.sigma is None):
        sigma = state.sigma
    if state is not None and (params.learn or params.c is None):
        c = state.c
    saved = None
    if state is not None:
        saved = unsaved_noise(data) if state.noise is None else state.noise
    noise, floor = first_noise(data, params.leaf_noise, params.learn, scale, saved)
    return c, sigma, scale, noise, floor
