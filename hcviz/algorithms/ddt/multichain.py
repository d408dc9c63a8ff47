"""Several chains: where each continues, its random numbers, and a snapshot of all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hcviz.algorithms.ddt.agreement import ChainAgreement
from hcviz.algorithms.ddt.parameters import Parameters
from hcviz.algorithms.ddt.state import DdtState
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot


def state_of(start: Any, n_items: int) -> DdtState | None:
    """Return the state of ``start`` if it is a state of this sampler for as many items."""
    state = getattr(start, "state", None)
    fits = isinstance(state, DdtState) and state.parent.size == 2 * n_items - 1
    return state if fits else None


def states_of(state: DdtState | None, chains: int) -> list[DdtState | None]:
    """Return the state from which each chain continues; None for chains that begin."""
    known: list[DdtState | None] = list(state.chains[:chains] if state else ())
    return known + [None] * (chains - len(known))


def generators(rng: np.random.Generator, number: int) -> list[np.random.Generator]:
    """Return the generators of the chains. The first is ``rng`` itself, as a PCG64.

    The others are seeded from the current state of the first, without drawing from it. So the first
    chain is the same for any number of chains.
    """
    first = rng
    if not isinstance(rng.bit_generator, np.random.PCG64):
        first = np.random.Generator(np.random.PCG64(rng.integers(2**63)))
    stream = json.dumps(first.bit_generator.state, sort_keys=True).encode()
    word = int.from_bytes(hashlib.blake2b(stream, digest_size=16).digest())
    seeds = np.random.SeedSequence(word).spawn(number - 1)
    return [first, *(np.random.Generator(np.random.PCG64(seed)) for seed in seeds)]


def chain_agreement_of(
    data_digest: str, problem: Problem, params: Parameters, state: DdtState | None, learnt: bool
) -> ChainAgreement | None:
    """Return the record of several chains on these data, continued from a state.

    ``learnt``: True if the leaf noise is learnt.
    """
    if params.chains == 1:
        return None
    triplets = problem.triplets
    parts = [triplets.rows, triplets.weights]
    if len(problem.groups):
        parts.append(problem.groups.rows)
    if len(problem.not_groups):
        parts.append(problem.not_groups.rows)
    digest = posterior_digest(data_digest, parts, params, learnt)
    return ChainAgreement(params.chains, digest, state.other_chains if state else None)


def combined(
    first: Snapshot, others: Sequence[DdtState], agreement: ChainAgreement | None
) -> Snapshot:
    """Return the first chain's snapshot, with the other chains' states and the agreement of all."""
    if agreement is None:
        return first
    state: DdtState = first.state
    if first.step > 0:  # step 0 of a continued run is the last snapshot of the run before
        agreement.add([state.log_joint, *(other.log_joint for other in others)])
    other_chains = agreement.other_chains(tuple(others))
    metrics = {**first.metrics, **agreement.metrics()}
    return replace(first, metrics=metrics, state=replace(state, other_chains=other_chains))


def posterior_digest(
    data_digest: str, constraints: Sequence[Any], params: Parameters, learnt: bool
) -> str:
    """Return a digest of the posterior, since draws of another one do not count."""
    found = hashlib.blake2b(data_digest.encode(), digest_size=8)
    for part in constraints:
        found.update(repr(part.shape).encode() + np.ascontiguousarray(part).tobytes())
    model = [params.beta, params.learn, params.leaf_noise, params.c, np.asarray(params.sigma)]
    found.update(repr(model).encode())
    if learnt:  # older records without learnt noise are of another density
        found.update(b"learnt leaf noise")
    return found.hexdigest()
