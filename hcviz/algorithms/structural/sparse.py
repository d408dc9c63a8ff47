"""Spectral cuts of sparse supergraphs, in steps, for the recursion over sparse similarities."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.structural import cutkernels, kernels, sparsekernels
from hcviz.core import spectralkernels
from hcviz.core.spectral import CHUNK, TOLERANCE

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]

#: The most Lanczos steps: more than for dense graphs, since neighbour graphs have smaller gaps.
MAX_STEPS = 200


def cut(
    graph: Rows, sizes: NDArray[np.int64], balanced: bool, refined: bool
) -> Generator[None, None, NDArray[np.bool_]]:
    """Return the spectral sweep cut of a graph of more than ``EXACT`` nodes: bool (k,)."""
    side: NDArray[np.bool_]
    labels, pieces = sparsekernels.components(*graph)
    yield
    if pieces > 1:  # a cut between pieces weighs nothing
        side = spectralkernels.halve_components(labels, pieces, sizes)
        if not balanced or cutkernels.is_balanced(sizes[side].sum(), sizes.sum()):
            return side
        graph = sparsekernels.link_pieces(*graph, labels, pieces)
    start, target, weight = graph
    degree = sparsekernels.degrees(start, weight)
    values = yield from second_vector(graph, degree)
    side = sparsekernels.sweep(start, target, weight, degree, values, sizes, balanced)
    yield
    if refined:
        sparsekernels.refine(start, target, weight, sizes, side, balanced)
    return side


def second_vector(
    graph: Rows, degree: NDArray[np.float64]
) -> Generator[None, None, NDArray[np.float64]]:
    """Do the same as :func:`hcviz.core.spectral.second_vector`; O(edges + k steps) for a step."""
    k = degree.size
    steps = min(MAX_STEPS, k - 1)
    scale = np.empty(k, np.float32)
    basis = np.empty((steps + 2, k), np.float32)
    spectralkernels.begin_lanczos(degree, scale, basis)
    alpha, beta = np.zeros(steps), np.zeros(steps)
    done = 0
    while True:
        work = 2 * len(graph[1]) + 4 * k * (done + 2)  # of one step
        wanted = min(steps, done + min(12, max(1, CHUNK // work)))
        reached = sparsekernels.lanczos(*graph, scale, basis, alpha, beta, done, wanted)
        yield
        weights, residual = spectralkernels.ritz_weights(alpha, beta, reached)
        if reached == steps or reached < wanted or residual < TOLERANCE:
            found: NDArray[np.float64] = spectralkernels.ritz_vector(basis, weights)
            return found
        done = reached


def divide_to_leaves(
    matrix: Any, state: Any, settings: Any, begin: int, end: int, t_begin: int, t_end: int,
    over: int,
) -> None:  # fmt: skip
    """Divide a small set down to its leaves by the dense method, on its own similarities."""
    m, count = end - begin, t_end - t_begin
    items = state.items[begin:end].copy()
    if m == 1:
        state.up[items[0]] = over
        return
    state.stamp += 1
    local = sparsekernels.set_matrix(
        matrix.indptr, matrix.indices, matrix.data, state.items, begin, end,
        state.key, state.member, state.stamp,
    )  # fmt: skip
    local.flags.writeable = False  # like the dense matrices, so that numba compiles one variant
    active = state.active[t_begin:t_end].copy()
    own = state.rows[active]
    rows = np.where(own < 0, own, state.key[own])  # a group's row has its size as -k
    up = np.full(2 * m - 1, -1, np.int32)
    kernels.divide_to_leaves(
        local, 0.0, np.arange(m, dtype=np.int32), 0, m, rows, np.arange(count, dtype=np.int32),
        0, count, -1, up, m, np.empty(m, np.int32), np.empty(m, np.int32),
        np.empty(m, np.int32), np.empty(count, np.int32),
        settings.prices[active] if len(settings.prices) else settings.prices,
        settings.balanced, settings.refined, settings.uneven,
    )  # fmt: skip
    above = np.where(up >= 0, up + (state.made - m), over).astype(np.int32)
    state.up[items] = above[:m]
    state.up[state.made : state.made + m - 1] = above[m:]
    state.made += m - 1
