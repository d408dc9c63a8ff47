"""Moves that leave the tree's shape alone: divergence times, c and sigma.

One sweep walks the tree depth first with the messages from outside at hand. Around a node v three
messages meet, from its two children and from above; given them its time has the density

    exp(u J) W^(-d/2) exp(-(V3 d12 + V2 d13 + V1 d23) / 2W),  W = V1 V2 + V1 V3 + V2 V3,

J = 1 + c (H(l-1) + H(r-1) - H(l+r-1)), d_ij the squared distances of the three means: after O(d)
for those, each evaluation of the slice sampler (Neal 2003) is O(1).
"""

from __future__ import annotations

import math

from hcviz.algorithms.ddt.density import FAST, refresh, root_factor, update
from hcviz.algorithms.ddt.moves import LATEST
from hcviz.algorithms.ddt.work import LOG_C, ROOT, ROOT_TERM, VAR, C
from hcviz.core.jit import njit

#: Shape of the priors: c ~ Gamma(1, rate 1); sigma^2 ~ inverse-Gamma(1, scale) (see ``scale``).
SHAPE = 1.0
RATE = 1.0


@njit(fastmath=FAST, error_model="numpy")
def distances(w, i, j, v):
    """Squared distances of message rows i, j and the outer message of v: (ij, io, jo)."""
    ij = 0.0
    io = 0.0
    jo = 0.0
    for d in range(w.mean.shape[1]):
        x = w.mean[i, d]
        y = w.mean[j, d]
        z = w.outer_mean[v, d]
        ij += (x - y) * (x - y)
        io += (x - z) * (x - z)
        jo += (y - z) * (y - z)
    return ij, io, jo


@njit(error_model="numpy")
def log_time(w, u, jump, dims, base1, base2, base3, ij, io, jo):
    """log density (in t) of a node's time: V1 = base1 + h, V2 = base2 + h, V3 = base3 - h."""
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
def slice_time(w, rng, v):
    """Slice-sample the time of inner node v given all else; its children's messages are current.

    Uniform in u where both ends are finite; where both children are leaves, uniform in
    exp(-(u - u_p)), so that the interval is bounded. Shrinkage ends at the present value.
    """
    left = w.child[v, 0]
    right = w.child[v, 1]
    above = w.parent[v]
    low = w.u[above] if above >= 0 else 0.0
    high = min(w.u[left], w.u[right])
    nl = w.size[left]
    nr = w.size[right]
    jump = w.real[C] * (w.harmonic[nl - 1] + w.harmonic[nr - 1] - w.harmonic[nl + nr - 1])
    dims = w.mean.shape[1]
    i = 2 * left + w.slot[left]
    j = 2 * right + w.slot[right]
    base1 = w.stat[i, VAR] - w.h[left]
    base2 = w.stat[j, VAR] - w.h[right]
    base3 = w.outer_var[v] + (w.h[above] if above >= 0 else 1.0)
    ij, io, jo = distances(w, i, j, v)
    u = w.u[v]
    bounded = high < math.inf
    # densities with respect to u (t's times e^-u), or to x = exp(-(u - low)) (t's, but a constant)
    level = log_time(w, u, jump, dims, base1, base2, base3, ij, io, jo)
    if bounded:
        level -= u
        begin = low
        end = high
        now = u
    else:
        begin = 0.0
        end = 1.0
        now = math.exp(low - u)
    level += math.log(1.0 - rng.random())
    latest = LATEST if dims > 0 else math.inf
    for _ in range(200):
        trial = begin + rng.random() * (end - begin)
        if bounded:
            new = trial
        elif trial > 0.0:
            new = low - math.log(trial)
        else:
            continue
        if low < new < high and new < latest:
            value = log_time(w, new, jump, dims, base1, base2, base3, ij, io, jo)
            if bounded:
                value -= new
            if value >= level:
                w.u[v] = new
                w.h[v] = math.exp(-new)
                return
        if trial < now:
            begin = trial
        else:
            end = trial


@njit(fastmath=FAST, error_model="numpy")
def outer(w, v, child, sibling):
    """What lies outside ``child``'s subtree says of v's position, into the child's outer row."""
    above = w.parent[v]
    a = w.outer_var[v] + ((w.h[above] if above >= 0 else 1.0) - w.h[v])
    j = 2 * sibling + w.slot[sibling]
    b = w.stat[j, VAR] + (w.h[v] - w.h[sibling])
    share = b / (a + b)
    for d in range(w.mean.shape[1]):
        y = w.mean[j, d]
        w.outer_mean[child, d] = y + share * (w.outer_mean[v, d] - y)
    w.outer_var[child] = a * share


@njit(error_model="numpy")
def sweep_times(w, rng):
    """Slice-sample every inner node's time, depth first. O(n d)."""
    n = w.data.shape[0]
    root = w.count[ROOT]
    for d in range(w.mean.shape[1]):
        w.outer_mean[root, d] = 0.0
    w.outer_var[root] = 0.0
    w.stack[0] = root
    w.phase[0] = 0
    top = 1
    dims = w.mean.shape[1]
    while top > 0:
        v = w.stack[top - 1]
        phase = w.phase[top - 1]
        if phase == 0:
            slice_time(w, rng, v)
        if phase == 2:
            update(w, v)
            top -= 1
            continue
        child = w.child[v, phase]
        w.phase[top - 1] = phase + 1
        if child >= n:
            if dims > 0:
                outer(w, v, child, w.child[v, 1 - phase])
            w.stack[top] = child
            w.phase[top] = 0
            top += 1
    w.real[ROOT_TERM] = root_factor(w, root)


@njit
def waiting(w):
    """-d(log prior)/dc, but for the k/c: sum over inner v of H(m_v - 1) (u_v - u_parent). O(n)."""
    total = 0.0
    for v in range(w.data.shape[0], w.parent.size):
        above = w.parent[v]
        total += w.harmonic[w.size[v] - 1] * (w.u[v] - (w.u[above] if above >= 0 else 0.0))
    return total


@njit(error_model="numpy")
def learn_c(w, rng):
    """c given the tree: Gamma(1 + n - 1, rate 1 + waiting). O(n)."""
    n = w.data.shape[0]
    c = rng.standard_gamma(SHAPE + n - 1.0) / (RATE + waiting(w))
    c = min(max(c, 1e-8), 1e8)
    w.real[C] = c
    w.real[LOG_C] = math.log(c)


@njit(error_model="numpy")
def quadratic(w, out):
    """x' K^-1 x for each dimension, in units of sigma^2, into ``out``; K_ij = t_lca. O(n d)."""
    n = w.data.shape[0]
    dims = w.mean.shape[1]
    root = w.count[ROOT]
    k = 2 * root + w.slot[root]
    both = w.stat[k, VAR] + (1.0 - w.h[root])
    for d in range(dims):
        out[d] = w.mean[k, d] * w.mean[k, d] / both
    for v in range(n, w.parent.size):
        left = w.child[v, 0]
        right = w.child[v, 1]
        i = 2 * left + w.slot[left]
        j = 2 * right + w.slot[right]
        both = w.stat[i, VAR] + w.stat[j, VAR] + (w.h[v] - w.h[left]) + (w.h[v] - w.h[right])
        for d in range(dims):
            gap = w.mean[i, d] - w.mean[j, d]
            out[d] += gap * gap / both


@njit(error_model="numpy")
def learn_sigma(w, rng, scale, common):
    """sigma^2 given tree and times: inverse-Gamma, one for each dimension or one for all.

    The leaf noise is a share of sigma^2, so this is conjugate with noise as without. The caller
    refreshes. ``scale`` is the prior's, (d,). O(n d).
    """
    n = w.data.shape[0]
    dims = w.sigma.size
    if dims == 0:
        return
    square = w.outer_mean[w.count[ROOT]]  # spare room: the root's outer message is 0 anyway
    quadratic(w, square)
    total = scale[0]
    for d in range(dims):
        square[d] *= 0.5 * w.sigma[d] * w.sigma[d]
        total += square[d]
    if common:
        sigma = math.sqrt(total / rng.standard_gamma(SHAPE + 0.5 * n * dims))
        for d in range(dims):
            w.sigma[d] = sigma
    else:
        for d in range(dims):
            w.sigma[d] = math.sqrt((scale[d] + square[d]) / rng.standard_gamma(SHAPE + 0.5 * n))


@njit
def sweep(w, rng, learn, scale, common):
    """Times, then c and sigma where they are learnt, then every message anew. O(n d)."""
    sweep_times(w, rng)
    if learn:
        learn_c(w, rng)
        learn_sigma(w, rng, scale, common)
    refresh(w)
