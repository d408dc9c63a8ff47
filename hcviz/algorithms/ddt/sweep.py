"""The sweep: one update of all times, of c, of the scales, and of given locations.

It follows the proposals of slides and regrafts. It is a fixed sequence of steps, which is cut into
parts. A small chain makes all parts inside one compiled call (:func:`sweep`). A large one makes one
part in each call, so that it can be stopped between them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hcviz.algorithms.ddt.density import likelihood_part, likelihood_root, postorder, refresh_part
from hcviz.algorithms.ddt.scales import (
    accept_or_restore,
    draw_sigma,
    proposal_is_due,
    propose,
    rescale,
    root_message,
)
from hcviz.algorithms.ddt.times import (
    begin_sweep_times,
    draw_locations_part,
    learn_c,
    sweep_times_part,
)
from hcviz.algorithms.ddt.work import GIVEN, LEARNT, ROOT
from hcviz.core.arrays import Counters, FloatD, FloatRows
from hcviz.core.copykernels import copy_matrix, copy_vector
from hcviz.core.jit import njit

#: The steps, in their order.
(
    INTEGRATE,  # messages in place of given locations
    TIMES,
    DRAW_C,
    SQUARES,  # of the likelihood, for the scales
    PROPOSE,  # another leaf noise or c
    REFRESH_PROPOSED,
    SQUARES_PROPOSED,
    SCALES,  # accept or restore; sigma; all scales together
    REFRESH,
    LOCATIONS,  # draw them again if they are given
    END,
) = range(11)


# Places in SweepState.place and SweepState.logs
STEP, AT = range(2)
NOW, PROPOSED, OLD = range(3)


class SweepState(NamedTuple):
    """Where a sweep is, and what its steps leave for later ones; d dimensions, m nodes."""

    place: Counters  # (2,): step, and place within it
    logs: FloatD  # (3,): sums of logs of the likelihood now and as proposed; the old noise or c
    square: FloatD  # squares of the likelihood now
    other: FloatD  # as proposed
    top: FloatD  # (1 + d,): the root's message
    times: FloatRows  # (m, 2): the times before the proposal


@njit(shared=True)
def begin_sweep(w):
    """Return the state of a sweep before its first part."""
    d = w.sigma.size
    return SweepState(
        np.zeros(2, np.int64), np.zeros(3), np.empty(d), np.empty(d), np.empty(1 + d),
        np.empty((w.node.shape[0], 2)),
    )  # fmt: skip


@njit(error_model="numpy")
def sweep(w, rng, learn, scale, common):
    """Make a whole sweep. O(n d).

    Given locations are integrated out for it, and drawn again. The joint law of tree, times, c,
    noise, sigma and locations is invariant.
    """
    state = begin_sweep(w)
    while sweep_part(w, rng, learn, scale, common, state, w.node.shape[0]):
        pass


@njit(shared=True, error_model="numpy")
def sweep_part(w, rng, learn, scale, common, state, block):
    """Make the next part of a sweep, of about ``block`` nodes; return False after the last.

    Nothing else may change ``w`` between two parts of one sweep.
    """
    step, at = state.place[STEP], state.place[AT]
    n, m = w.data.shape[0], w.node.shape[0]
    given = w.tally[GIVEN] == 1
    learnt = learn and w.tally[LEARNT] == 1
    proposes = learnt and proposal_is_due(w)
    end = np.int64(0)  # the place at which the step is done
    if step == INTEGRATE:
        if given:
            at, end = refresh_part(w, at, block), m
    elif step == TIMES:
        visits = 3 * m if block >= m else 20_000_000 // (500 + 5 * w.data.shape[1]) + 1
        at = sweep_times_part(w, rng, begin_sweep_times(w) if at == 0 else at, visits)
    elif step == DRAW_C:
        if learn:
            learn_c(w, rng)
    elif step == SQUARES:
        if learn:
            at, end = squares_part(w, state.square, state.logs[NOW:], at, block), m
    elif step == PROPOSE:
        if learnt:
            copy_vector(state.top, root_message(w))
        if proposes:
            old, times = propose(w, rng)
            state.logs[OLD] = old
            copy_matrix(state.times, times)
    elif step == REFRESH_PROPOSED:
        if proposes:
            at, end = refresh_part(w, at, block), m
    elif step == SQUARES_PROPOSED:
        if proposes:
            at, end = squares_part(w, state.other, state.logs[PROPOSED:], at, block), m
    elif step == SCALES:
        if proposes:
            accept_or_restore(
                w, rng, scale, common, state.logs[OLD], state.times, state.logs[NOW], state.square,
                state.top, state.logs[PROPOSED], state.other,
            )  # fmt: skip
        if learn:
            draw_sigma(w, rng, scale, common, state.square)
        if learnt:
            rescale(w, rng, scale, common, state.top)
    elif step == REFRESH:
        if learn:
            at, end = refresh_part(w, at, block), m
    elif step == LOCATIONS and given:
        if at == 0:
            postorder(w.node, w.spare, w.tally[ROOT])
        last = n - 1 - at
        size = block if block >= m else block // 4  # normal deviates take longer
        first = max(last - size, 0)
        draw_locations_part(w, rng, first, last)
        at, end = n - 1 - first, n - 1
    if at == end:
        step, at = step + 1, np.int64(0)
    state.place[STEP], state.place[AT] = step, at
    return step < END


@njit(shared=True, error_model="numpy")
def squares_part(w, out, logs, at, block):
    """Add ``block`` nodes to ``out`` and ``logs[0]`` of :func:`density.log_likelihood`.

    ``at`` is 0 at first; returns the place to continue from, the number of nodes at the end.
    """
    m = w.node.shape[0]
    if at == 0:
        logs[0] = likelihood_root(w, out)
        at = w.data.shape[0]
    end = min(at + block, m)
    logs[0] = likelihood_part(w, out, at, end, logs[0])
    return end
