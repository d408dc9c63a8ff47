"""Moves that keep the tree's shape: divergence times, c, and locations.

One sweep goes through the tree depth first, with valid messages from outside. Three messages meet
at a node v: from its two children and from above. Given them, its time has the density

    exp(u J) W^(-d/2) exp(-(V3 d12 + V2 d13 + V1 d23) / 2W),  W = V1 V2 + V1 V3 + V2 V3,

where J = 1 + jump, jump = c (H(l-1) + H(r-1) - H(l+r-1)), and d_ij are the squared distances of
the three means.
These cost O(d); each evaluation of the slice sampler (Neal, Annals of Statistics 2003) is then
O(1).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import math

import numpy as np

from hcviz.algorithms.ddt.density import FAST, postorder, update
from hcviz.algorithms.ddt.moves import LATEST, outside_message
from hcviz.algorithms.ddt.work import (
    HARMONIC,
    LEFT,
    ORDER,
    PARENT,
    RIGHT,
    ROOT,
    SIZE,
    SLOT,
    STACK,
    VAR,
    C,
    H,
    U,
)
from hcviz.core.jit import njit

#: Prior: c ~ Gamma(SHAPE, rate RATE).
SHAPE = 1.0
RATE = 1.0


@njit(fastmath=FAST, error_model="numpy")
def distances(msg, outer, i, j, v):
    """Return squared distances of message rows i, j and the outside message of v: (ij, io, jo)."""
    ij = 0.0
    io = 0.0
    jo = 0.0
    for d in range(1, msg.shape[1]):
        x = msg[i, d]
        y = msg[j, d]
        z = outer[v, d]
        ij += (x - y) * (x - y)
        io += (x - z) * (x - z)
        jo += (y - z) * (y - z)
    return ij, io, jo


@njit(error_model="numpy")
def log_time(u, jump, dims, base1, base2, base3, ij, io, jo):
    """Return a node's log density of time, in t: V1 = base1 + h, V2 = base2 + h, V3 = base3 - h."""
    value = u * (1.0 + jump)
    if dims > 0:
        h = math.exp(-u)
        v1 = base1 + h
        v2 = base2 + h
        v3 = base3 - h
        both = v1 * v2 + (v1 + v2) * v3
        if not both > 0.0:
            return -math.inf
        value -= 0.5 * (dims * math.log(both) + (v3 * ij + v2 * io + v1 * jo) / both)
    return value


@njit(error_model="numpy")
def slice_time(node, time, msg, outer, table, c, rng, v):
    """Slice-sample the time of inner node v given all else; its children's messages are valid.

    Sampling is uniform in u if both ends are finite. If both children are leaves, it is uniform in
    exp(-(u - u_p)), so that the interval is bounded. Shrinkage ends at the current value.
    """
    left = node[v, LEFT]
    right = node[v, RIGHT]
    above = node[v, PARENT]
    low = time[above, U] if above >= 0 else 0.0
    high = min(time[left, U], time[right, U])
    nl = node[left, SIZE]
    nr = node[right, SIZE]
    jump = c * (table[HARMONIC, nl - 1] + table[HARMONIC, nr - 1] - table[HARMONIC, nl + nr - 1])
    dims = msg.shape[1] - 1
    i = 2 * left + node[left, SLOT]
    j = 2 * right + node[right, SLOT]
    base1 = msg[i, VAR] - time[left, H]
    base2 = msg[j, VAR] - time[right, H]
    base3 = outer[v, VAR] + (time[above, H] if above >= 0 else 1.0)
    ij, io, jo = distances(msg, outer, i, j, v)
    u = time[v, U]
    bounded = high < math.inf
    # The density in u is that in t times e^-u; the density in exp(-(u - low)) is that in t.
    level = log_time(u, jump, dims, base1, base2, base3, ij, io, jo)
    if bounded:
        level -= u
        begin, end, now = low, high, u
    else:
        begin, end, now = 0.0, 1.0, math.exp(low - u)
    level += math.log(1.0 - rng.random())
    latest = LATEST if dims > 0 else math.inf
    for _ in range(200):
        trial = begin + rng.random() * (end - begin)
        new = trial
        if not bounded:
            new = low - math.log(trial) if trial > 0.0 else math.inf
        if low < new < high and new < latest:
            value = log_time(new, jump, dims, base1, base2, base3, ij, io, jo)
            if bounded:
                value -= new
            if value >= level:
                time[v, U] = new
                time[v, H] = math.exp(-new)
                return
        if trial < now:
            begin = trial
        else:
            end = trial


@njit
def begin_sweep_times(w):
    """Prepare :func:`sweep_times_part`; return the depth of its stack, 1."""
    root = w.tally[ROOT]
    w.outer[root, :] = 0.0
    w.spare[STACK, 0] = root
    w.spare[ORDER, 0] = 0
    return np.int64(1)


@njit(error_model="numpy")
def sweep_times_part(w, rng, top, visits):
    """Continue a sweep for this many visits, three a node; return the stack's depth, 0 at the end.

    Nothing else may change ``w`` between two calls: the stack is in its spare rows.
    """
    node, time, msg, outer, table = w.node, w.time, w.msg, w.outer, w.table
    stack = w.spare[STACK]
    visited = w.spare[ORDER]  # how many children of each node on the stack were visited
    c = w.real[C]
    dims = msg.shape[1] - 1
    while top > 0 and visits > 0:
        visits -= 1
        v = stack[top - 1]
        done = visited[top - 1]
        if done == 2:
            update(node, time, msg, v)
            top -= 1
            continue
        if done == 0:
            slice_time(node, time, msg, outer, table, c, rng, v)
        visited[top - 1] = done + 1
        child = node[v, LEFT + done]
        if node[child, LEFT] >= 0:
            if dims > 0:
                outside_message(node, time, msg, outer, v, child)
            stack[top] = child
            visited[top] = 0
            top += 1
    return top


@njit
def waiting_time(w):
    """Return W = sum over inner v of H(m_v - 1) (u_v - u_parent). The log prior is k log c - c
    W."""
    node, time, table = w.node, w.time, w.table
    total = 0.0
    for v in range(w.data.shape[0], node.shape[0]):
        above = node[v, PARENT]
        begin = time[above, U] if above >= 0 else 0.0
        total += table[HARMONIC, node[v, SIZE] - 1] * (time[v, U] - begin)
    return total


@njit(error_model="numpy")
def learn_c(w, rng):
    """Draw c given the tree: Gamma(SHAPE + n - 1, rate RATE + waiting time). O(n)."""
    c = rng.standard_gamma(SHAPE + w.data.shape[0] - 1.0) / (RATE + waiting_time(w))
    w.real[C] = min(max(c, 1e-8), 1e8)


@njit(error_model="numpy")
def draw_locations(w, rng):
    """Draw all locations given tree, times and sigma (``GIVEN``). O(n d).

    They are drawn from the root down, each given its parent's location and its own message. The
    messages of all nodes must be valid, and are replaced by the locations.
    """
    draw_locations_part(w, rng, 0, postorder(w.node, w.spare, w.tally[ROOT]))


@njit(error_model="numpy")
def draw_locations_part(w, rng, begin, end):
    """Do :func:`draw_locations` for places end - 1 down to begin of ``spare[ORDER]``."""
    node, time, msg = w.node, w.time, w.msg
    if msg.shape[1] == 1:
        return
    for x in range(end - 1, begin - 1, -1):
        v = w.spare[ORDER, x]
        above = node[v, PARENT]
        own = 2 * v + node[v, SLOT]
        over = 2 * above + node[above, SLOT] if above >= 0 else np.int64(0)
        ahead = (time[above, H] if above >= 0 else 1.0) - time[v, H]
        share = ahead / (ahead + msg[own, VAR])
        spread = math.sqrt(share * msg[own, VAR])
        msg[own, VAR] = 0.0
        for d in range(1, msg.shape[1]):
            origin = msg[over, d] if above >= 0 else 0.0
            msg[own, d] = origin + share * (msg[own, d] - origin) + spread * rng.normal()
