"""The run: check, begin or continue, sample in short calls of the kernel, yield snapshots."""

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
from hcviz.algorithms.ddt.agreement import ChainAgreement
from hcviz.algorithms.ddt.density import put_scale, put_tree
from hcviz.algorithms.ddt.leafnoise import (
    check_noise,
    first_noise,
    is_learnt,
    unsaved_noise,
)
from hcviz.algorithms.ddt.legal import mark_groups
from hcviz.algorithms.ddt.multichain import (
    chain_agreement_of,
    combined,
    generators,
    state_of,
    states_of,
)
from hcviz.algorithms.ddt.numbering import by_time
from hcviz.algorithms.ddt.observed import observe
from hcviz.algorithms.ddt.parameters import Parameters
from hcviz.algorithms.ddt.recording import Recorder
from hcviz.algorithms.ddt.running import Chain
from hcviz.algorithms.ddt.start import put_first, put_start, raise_sigma, repair_tree
from hcviz.algorithms.ddt.state import DdtState, put_locations
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
from hcviz.core.cores import has_cores_alone
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.not_groups import check_avoidable
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree

#: Columns whose range is smaller are constant.
LEAST = 1e-100
#: Proposals of a run that ends when it is stopped.
MAX_STEPS = 10**9


def run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any = None
) -> Iterator[Snapshot | None]:
    """Sample trees from the posterior of the Dirichlet diffusion tree (Vikram & Dasgupta 2016).

    Locations are integrated out. With ``latents="gibbs"`` they are drawn given the tree once in n
    proposals, and moves are made given them, as in the paper. The posterior is the same
    (docs/performance.md compares how both mix). From the ``state`` of a snapshot, a
    :class:`DdtState`, a run continues bit for bit.

    Hard constraints hold in every snapshot, including the first; :class:`InconsistentTriplets` if
    no tree satisfies them. So do ``not_groups``, even where triplets are soft. If sigma is None,
    constant columns are left out, since they have no scale. If sigma is given, they count like
    others: a column of zeros still prefers some trees. A proposal costs O(depth * d), more with
    constraints. O(n d) memory.

    *Scales.* With ``learn`` the priors are c ~ Exp(1) and sigma^2 ~ inverse-Gamma(1, s^2), for each
    dimension or for all, where s is the given ``sigma``. If it is None, s^2 is the column's
    variance times (1 + c) / c. At this sigma^2 the model's leaves vary as much as the data, on
    average. This uses the data twice, but weakly: the prior counts as much as two items.

    *Leaf noise.* If a column has ties and ``leaf_noise`` is "auto", the leaf noise nu is learnt
    with sigma. Its prior is nu / (1 + nu) ~ Uniform(0, 1). Both priors are restricted to nu
    sigma_d^2 >= resolution_d^2 / 12 in columns with ties. This bounds the likelihood, so the
    posterior is proper (docs/leaf-noise.md). ``log_joint`` then includes the prior of nu. It is a
    density of the times -log(1 - t), not t, since the density of t is unbounded at t = 1 with noise
    and c < 1.

    *Chains.* ``chains`` of them run in threads, each with its own random numbers, so the result
    does not depend on threads. Tree and metrics are those of the first chain, which is the same as
    with ``chains=1``. The others start from trees drawn from the prior, repaired under the
    triplets. The prior is wider than any posterior; chains from one start would agree before they
    have mixed. ``rhat`` and ``ess`` are those of the log joint of all chains since the posterior
    last changed, without the first quarter. They are computed again when the record has grown by a
    tenth.
    """
    chains = _chains(problem, params, rng, start)
    return _stream(chains, problem, params, start, _agreement(chains, problem, params, start))


def _agreement(
    chains: list[Chain], problem: Problem, params: Parameters, start: Any
) -> ChainAgreement | None:
    state = state_of(start, problem.n_items)
    learnt = bool(chains[0].w.tally[LEARNT])
    return chain_agreement_of(chains[0].data_digest, problem, params, state, learnt)


class RecordedRun:
    """The chains of :func:`run`, each at its first tree; compiled code records their draws.

    Parameters
    ----------
    chains : list of Chain
        They have begun.
    agreement : ChainAgreement or None
        Receives the log joints of all snapshots but the first.
    total : int
        Proposals that each chain is to make.
    thin : int or None
        Proposals between two draws at the start; see :class:`hcviz.posterior.draws.Draws`.

    Attributes
    ----------
    chains : list of Recorder
        The chains.
    """

    def __init__(
        self, chains: list[Chain], agreement: ChainAgreement | None, total: int, thin: int | None
    ) -> None:
        self.chains = [Recorder(chain) for chain in chains]
        self.total, self.thin = total, thin
        self._agreement = agreement

    def snapshot(self, step: int, total: int) -> Snapshot:
        """Return a snapshot of the first chain, with the states of all."""
        return _snapshot([each.chain for each in self.chains], self._agreement, step, total)


def recorded_run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any = None
) -> RecordedRun:
    """Return the chains of :func:`run` with the same random numbers, to be advanced by the caller.

    Parameters and errors are those of :func:`run`.
    """
    chains = _chains(problem, params, rng, start)
    for number, chain in enumerate(chains):
        _begin(chain, problem, params, start if number == 0 else None, number == 0)
    total, every = _length(params, problem.n_items)
    thin = None if total == MAX_STEPS and not params.every else every
    return RecordedRun(chains, _agreement(chains, problem, params, start), total, thin)


def _length(params: Parameters, n_items: int) -> tuple[int, int]:
    """Return the proposals of each chain, and those between two snapshots."""
    total = params.steps or 200 * n_items
    return total, params.every or (10 if total == MAX_STEPS else 1) * n_items


def _chains(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any
) -> list[Chain]:
    """Check everything, and allocate the chains."""
    n = problem.n_items
    if n < 2:
        raise InvalidData("A diffusion tree needs two items or more.")
    hard = params.beta is None
    triplets = problem.triplets
    if hard:
        build(n, triplets, problem.groups)  # raises where there is no tree
    if len(problem.not_groups):
        check_avoidable(
            n,
            problem.not_groups,
            triplets if hard else (),
            problem.groups if hard else (),
            problem.labels,
        )
    state = state_of(start, n)
    data, _ = used_columns(problem, params.mu, params.sigma is not None)
    check_noise(data, params.leaf_noise)
    digest = digest_of(data)
    states = states_of(state, params.chains)
    chains = []
    common = params.sigma is not None and np.ndim(params.sigma) == 0
    for saved, own in zip(states, generators(rng, params.chains), strict=True):
        c, sigma, scale, noise, floor = _scale(
            data, params, saved if saved and saved.fits(digest) else None
        )
        w = allocate(
            n, data, triplets.rows, triplets.weights, noise, params.beta, floor, problem.groups,
            problem.not_groups,
        )  # fmt: skip
        put_scale(w, c, sigma)
        w.tally[GIVEN] = params.latents == "gibbs"
        generator = own if saved is None else saved.rng()
        chains.append(Chain(w, generator, saved, params.learn, scale, common, digest))
    return chains


def split_run(
    problem: Problem, params: Parameters, rng: np.random.Generator, start: Any = None
) -> SplitRun | None:
    """Return the chains of :func:`run` as runs of one chain each; None if there is only one."""
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
            begin = Snapshot(saved.tree(), 0, 1, state=replace(saved, other_chains=None))
        parts.append(RunPart(alone if number == 0 else {**alone, "init": "random"}, own, begin))
    data, _ = used_columns(problem, params.mu, params.sigma is not None)
    learnt = is_learnt(data, params.leaf_noise, params.learn)
    agreement = chain_agreement_of(digest_of(data), problem, params, state, learnt)
    return SplitRun(
        parts, lambda all_: combined(all_[0], [each.state for each in all_[1:]], agreement)
    )


def endless(params: Parameters, problem: Problem) -> dict[str, Any]:
    """Return the parameters of a run of two chains or more without an end; {} if ``steps`` is
    given."""
    if params.steps:
        return {}
    given = {"steps": MAX_STEPS, "chains": max(2, params.chains)}
    if params.every:
        given["every"] = min(params.every, 200 * problem.n_items)  # a run ends at a snapshot
    return given


def remaining(params: Parameters, snapshot: Snapshot) -> dict[str, Any]:
    """Return the parameters of the rest of the run that made ``snapshot``."""
    return {"steps": snapshot.total - snapshot.step}


def _stream(
    chains: list[Chain],
    problem: Problem,
    params: Parameters,
    start: Any,
    agreement: ChainAgreement | None,
) -> Iterator[Snapshot | None]:
    """Advance all chains by ``every`` proposals at a time, and yield snapshots."""
    for number, chain in enumerate(chains):
        if number:
            yield None
        _begin(chain, problem, params, start if number == 0 else None, number == 0)
    total, every = _length(params, problem.n_items)
    threads = ThreadPoolExecutor(len(chains), "ddt-chain") if len(chains) > 1 else None
    try:
        yield _snapshot(chains, agreement, 0, total)
        done = 0
        while done < total:
            due = min(every, total - done)
            for chain in chains:
                chain.due = due
            while busy := [chain for chain in chains if chain.busy]:
                for _ in (threads.map if threads and has_cores_alone() else map)(Chain.go, busy):
                    pass
                if any(chain.busy for chain in busy):
                    yield None
            done += due
            yield _snapshot(chains, agreement, done, total)
    finally:
        if threads is not None:
            threads.shutdown()


def _begin(chain: Chain, problem: Problem, params: Parameters, start: Any, first: bool) -> None:
    """Write the chain's first tree into its arrays, repaired if it violates a hard triplet."""
    w, state = chain.w, chain.saved
    if state is not None:
        put_tree(w, state.parent, state.child, state.u)
        w.tally[[PROPOSALS, ACCEPTED]] = state.proposals, state.accepted
        w.tally[[SUBTREE, TRIES]] = state.subtree, state.tries
    elif start is not None:
        put_start(w, start if isinstance(start, Tree) else start.tree)
    else:
        put_first(w, chain.rng, params.init if first else "random")
    raise_sigma(w, chain.common)
    kept = problem if params.beta is None else problem.with_triplets(()).with_groups(())
    repaired = kept.n_constraints > 0 and repair_tree(
        w, kept.triplets, kept.groups, params.repair, kept.not_groups
    )
    if repaired:
        w.tally[TRIES] = 0
    mark_groups(w.node, w.group_size, w.group_first)
    if w.tally[GIVEN]:
        locations = None if state is None or repaired else state.places
        if locations is not None and state is not None and state.fits(chain.data_digest):
            put_locations(w, locations)
        else:
            draw_locations(w, chain.rng)


def _snapshot(
    chains: list[Chain], agreement: ChainAgreement | None, step: int, total: int
) -> Snapshot:
    """Return a snapshot of the first chain, with the states of all."""
    w = chains[0].w
    states, wrong, spread, heights = [], 0, 0.0, np.empty(0)
    for number, chain in enumerate(chains):
        parent, child, u, h, value, violations, scale = observe(chain.w, chain.needs_joint)
        joint = value if chain.needs_joint else chain.joint()
        arrays = parent, child, u
        states.append(DdtState.of(chain.w, chain.rng, joint, chain.data_digest, arrays=arrays))
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
    return combined(Snapshot(tree, step, total, metrics, first), states[1:], agreement)


def used_columns(problem: Problem, mu: str, every: bool) -> tuple[Float, NDArray[np.bool_]]:
    """Return the features that are used, less mu, float64 (n, d), and a mask of these columns.

    They are the columns that vary, or ``every`` one. :class:`Problem` has checked that all are
    finite and can be squared.
    """
    features = np.asarray(problem.features, dtype=np.float64)
    low, high = features.min(axis=0), features.max(axis=0)
    varies = high - low > LEAST
    counts = np.ones_like(varies) if every else varies
    kept = features[:, counts]
    if mu == "mean" and kept.shape[1]:
        # The mean of a constant column is its value; the sum of n values would be rounded.
        kept = kept - np.where(varies, features.mean(axis=0), features[0])[counts]
    # Adding 0.0 removes negative zeros, which are equal but have other bytes.
    return np.ascontiguousarray(kept) + 0.0, counts


def digest_of(data: Float) -> str:
    """Return a digest of the data, so that estimates are not used for other data."""
    found = hashlib.blake2b(repr(data.shape).encode(), digest_size=8)
    found.update(np.ascontiguousarray(data).data)
    return found.hexdigest()


def _scale(
    data: Float, params: Parameters, state: DdtState | None
) -> tuple[float, Float, Float, float, Float | None]:
    """Return the first c and sigma, the scale of sigma^2's prior, the leaf noise, and its floors.

    The floors are None if the noise is not learnt. ``state`` is a state of these data.
    """
    dims = data.shape[1]
    c = 1.0 if params.c is None else float(params.c)
    # The variance between leaves is sigma^2 (1 - E t_lca) = sigma^2 c / (1 + c) on average.
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
