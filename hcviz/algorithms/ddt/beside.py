"""Chains side by side: where each goes on from, its random numbers, and what all say together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hcviz.algorithms.ddt.agreement import Agreement
from hcviz.algorithms.ddt.parameters import Parameters
from hcviz.algorithms.ddt.state import DdtState
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot


def state_of(start: Any, n_items: int) -> DdtState | None:
    """The state that ``start`` carries, if it is one of this sampler's over so many items."""
    state = getattr(start, "state", None)
    fits = isinstance(state, DdtState) and state.parent.size == 2 * n_items - 1
    return state if fits else None


def states_of(state: DdtState | None, chains: int) -> list[DdtState | None]:
    """What each chain goes on from; None where it begins."""
    known: list[DdtState | None] = list(state.chains[:chains] if state else ())
    return known + [None] * (chains - len(known))


def generators(rng: np.random.Generator, number: int) -> list[np.random.Generator]:
    """The first chain's is ``rng`` itself (as PCG64, which states can hold); the others' come from
    where it stands, which is all that is known of a generator that was put there by hand.

    That leaves rng's own stream alone, so that the first chain is the same with any number.
    """
    first = rng
    if not isinstance(rng.bit_generator, np.random.PCG64):
        first = np.random.Generator(np.random.PCG64(rng.integers(2**63)))
    stands = json.dumps(first.bit_generator.state, sort_keys=True).encode()
    word = int.from_bytes(hashlib.blake2b(stands, digest_size=16).digest())
    seeds = np.random.SeedSequence(word).spawn(number - 1)
    return [first, *(np.random.Generator(np.random.PCG64(seed)) for seed in seeds)]


def agreement_of(
    of: str, problem: Problem, params: Parameters, state: DdtState | None, learnt: bool
) -> Agreement | None:
    """The record of several chains on the data with the digest ``of``, taken up from a state.

    ``learnt``: whether the leaf noise is.
    """
    if params.chains == 1:
        return None
    triplets = problem.triplets
    target = _target(of, triplets.rows, triplets.weights, params, learnt)
    return Agreement(params.chains, target, state.company if state else None)


def together(first: Snapshot, others: Sequence[DdtState], agreement: Agreement | None) -> Snapshot:
    """The first chain's snapshot, with the other chains in its state and what all agree on."""
    if agreement is None:
        return first
    state: DdtState = first.state
    if first.step > 0:  # the start of a run that goes on was the end of the one before
        agreement.add([state.log_joint, *(other.log_joint for other in others)])
    company = agreement.company(tuple(others))
    metrics = {**first.metrics, **agreement.metrics()}
    return replace(first, metrics=metrics, state=replace(state, company=company))


def _target(of: str, rows: Any, weights: Any, params: Parameters, learnt: bool) -> str:
    """What the posterior is of: draws of another one say nothing about its convergence."""
    found = hashlib.blake2b(of.encode(), digest_size=8)
    for part in (rows, weights):
        found.update(repr(part.shape).encode() + np.ascontiguousarray(part).tobytes())
    model = [params.beta, params.learn, params.leaf_noise, params.c, np.asarray(params.sigma)]
    found.update(repr(model).encode())
    if learnt:  # records of before it was learnt are of another density
        found.update(b"learnt leaf noise")
    return found.hexdigest()
