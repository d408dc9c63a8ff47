"""The exact log joint of Vikram & Dasgupta's (2016) model, by Gaussian message passing over flat
arrays.

NOTES of the paper, restated: an inner node v with l and r leaves below its children, at u_v below a
parent at u_p, has prior density a(t_v) exp(c (u_p - u_v) H(l+r-1)) (l-1)! (r-1)! / (l+r-1)!.
Summed over the tree, the exponents regroup into c u_v (H(l-1) + H(r-1) - H(l+r-1)) for each v.
With respect to u in place of t the factor 1 / (1-t) of a(t) is gone, which is what moves use.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import math

import numpy as np

from hcviz.algorithms.ddt.work import (
    GIVEN,
    HARMONIC,
    LEARNT,
    LEFT,
    LOG_FACTORIAL,
    NOISE,
    PARENT,
    RIGHT,
    ROOT,
    SIZE,
    SLOT,
    C,
    Float,
    H,
    Int,
    U,
    Work,
)
from hcviz.core.jit import njit

#: Sums may be regrouped (vectorised), but infinities and NaNs keep their meaning.
FAST = {"reassoc", "contract", "arcp", "nsz"}
LOG_2PI = math.log(2.0 * math.pi)


@njit(fastmath=FAST, error_model="numpy")
def update(node, time, msg, v):
    """The message of inner node v from its children's, into its spare row, which then holds. O(d).

    Children (m1, v1) and (m2, v2) at distances h_v - h_1, h_v - h_2: precision-weighted mean.
    """
    left = node[v, LEFT]
    right = node[v, RIGHT]
    i = 2 * left + node[left, SLOT]
    j = 2 * right + node[right, SLOT]
    node[v, SLOT] = 1 - node[v, SLOT]
    width = msg.shape[1]
    if width == 1:
        return
    k = 2 * v + node[v, SLOT]
    h = time[v, H]
    a = msg[i, 0] + (h - time[left, H])
    b = msg[j, 0] + (h - time[right, H])
    share = b / (a + b)
    for d in range(1, width):
        y = msg[j, d]
        msg[k, d] = y + share * (msg[i, d] - y)
    msg[k, 0] = a * share


@njit
def postorder(node, spare, root):
    """Inner nodes into ``spare[1]``, children before parents; returns how many. O(n)."""
    number = node.shape[0] // 2
    last = number
    top = 1
    spare[0, 0] = root
    while top > 0:  # a preorder, written backwards
        top -= 1
        v = spare[0, top]
        if node[v, LEFT] < 0:
            continue
        last -= 1
        spare[1, last] = v
        spare[0, top] = node[v, LEFT]
        spare[0, top + 1] = node[v, RIGHT]
        top += 2
    return number


@njit(error_model="numpy")
def refresh(w):
    """Sizes, h, leaf messages (from data, sigma and leaf noise) and all messages anew. O(n d).

    Bit for bit what path updates hold: each is the same function of the same children.
    """
    refresh_leaves(w, 0, w.data.shape[0])
    refresh_inner(w, 0, postorder(w.node, w.spare, w.tally[ROOT]))


@njit(error_model="numpy")
def refresh_leaves(w, begin, end):
    """:func:`refresh` of leaves begin .. end - 1. O(their number * d)."""
    node, msg, data, sigma = w.node, w.msg, w.data, w.sigma
    for i in range(begin, end):
        k = 2 * i + node[i, SLOT]
        msg[k, 0] = w.real[NOISE]
        for d in range(data.shape[1]):
            msg[k, 1 + d] = data[i, d] / sigma[d]


@njit
def refresh_inner(w, begin, end):
    """:func:`refresh` of places begin .. end - 1 of ``spare[1]``, a :func:`postorder`."""
    node, time, msg = w.node, w.time, w.msg
    for x in range(begin, end):
        v = w.spare[1, x]
        time[v, H] = math.exp(-time[v, U])
        node[v, SIZE] = node[node[v, LEFT], SIZE] + node[node[v, RIGHT], SIZE]
        update(node, time, msg, v)


@njit(error_model="numpy")
def log_prior(w):
    """Log density of tree and times (in t), given c. O(n)."""
    node, time, table = w.node, w.time, w.table
    c = w.real[C]
    total = 0.0
    for v in range(w.data.shape[0], node.shape[0]):
        nl = node[node[v, LEFT], SIZE]
        nr = node[node[v, RIGHT], SIZE]
        u = time[v, U]
        jump = table[HARMONIC, nl - 1] + table[HARMONIC, nr - 1] - table[HARMONIC, nl + nr - 1]
        total += math.log(c) + u + c * u * jump
        total += table[LOG_FACTORIAL, nl - 1] + table[LOG_FACTORIAL, nr - 1]
        total -= table[LOG_FACTORIAL, nl + nr - 1]
    return total


@njit(error_model="numpy")
def log_likelihood(w, out):
    """Log density of the data given tree, times and sigma, locations integrated out. O(n d).

    Factors N(m1 - m2; 0, V1 + V2) at inner nodes and N(m; 0, v + t) at the root. ``out``, (d,), is
    given x' K^-1 x for each dimension in units of sigma^2, K_ij = t_lca(i,j) (plus the noise).
    """
    logs = likelihood_top(w, out)
    logs = likelihood_some(w, out, w.data.shape[0], w.node.shape[0], logs)
    return likelihood_end(w, out, logs)


@njit(error_model="numpy")
def likelihood_top(w, out):
    """The root's part of :func:`log_likelihood`: sets ``out``, returns a sum of logs. O(d)."""
    node, time, msg = w.node, w.time, w.msg
    dims = w.data.shape[1]
    if dims == 0:
        return 0.0
    root = w.tally[ROOT]
    k = 2 * root + node[root, SLOT]
    both = msg[k, 0] + (1.0 - time[root, H])
    logs = math.log(both)
    for d in range(dims):
        out[d] = msg[k, 1 + d] * msg[k, 1 + d] / both
    return logs


@njit(error_model="numpy")
def likelihood_some(w, out, begin, end, logs):
    """The parts of inner nodes begin .. end - 1: adds to ``out`` and ``logs``, which it returns."""
    node, time, msg = w.node, w.time, w.msg
    dims = w.data.shape[1]
    if dims == 0:
        return logs
    for v in range(begin, end):
        left = node[v, LEFT]
        right = node[v, RIGHT]
        i = 2 * left + node[left, SLOT]
        j = 2 * right + node[right, SLOT]
        h = time[v, H]
        both = (msg[i, 0] + (h - time[left, H])) + (msg[j, 0] + (h - time[right, H]))
        logs += math.log(both)
        for d in range(dims):
            gap = msg[i, 1 + d] - msg[j, 1 + d]
            out[d] += gap * gap / both
    return logs


@njit(error_model="numpy")
def likelihood_end(w, out, logs):
    """The log likelihood from the sums of all parts. O(d)."""
    n, dims = w.data.shape
    total = -0.5 * dims * (n * LOG_2PI + logs)
    for d in range(dims):
        total -= 0.5 * out[d] + n * math.log(w.sigma[d])
    return total


@njit(error_model="numpy")
def log_noise(w):
    """What the log joint has besides where the leaf noise nu is learnt; else 0. O(n).

    The log prior density of nu, (1 + nu)^-2; and the change from t to u of the times' density. With
    noise, twins may part at any late time, and where c < 1 the density in t has no bound there.
    """
    if w.tally[LEARNT] == 0:
        return 0.0
    total = -2.0 * math.log1p(w.real[NOISE])
    for v in range(w.data.shape[0], w.node.shape[0]):
        total -= w.time[v, U]
    return total


@njit
def log_joint(w):
    """:func:`log_prior` + :func:`log_noise` + :func:`log_likelihood`."""
    return log_prior(w) + log_noise(w) + log_likelihood(w, np.empty(w.sigma.size))


def integrated(w: Work) -> float:
    """:func:`log_joint` whether locations are given or not; nothing changes. O(n d).

    Messages are written to every inner node's spare row, so given locations come back by a flip.
    """
    if not w.tally[GIVEN]:
        return float(log_joint(w))
    refresh(w)
    value = float(log_joint(w))
    w.node[w.data.shape[0] :, SLOT] ^= 1
    return value


def put_tree(w: Work, parent: Int, child: Int, u: Float) -> None:
    """Write a tree into ``w`` and compute everything; the root is where parent is -1."""
    w.node[:, PARENT] = parent
    w.node[:, LEFT : RIGHT + 1] = child
    w.time[:, U] = u
    w.tally[ROOT] = int(np.flatnonzero(w.node[:, PARENT] < 0)[0])
    refresh(w)


def put_scale(w: Work, c: float, sigma: Float) -> None:
    """Set c and sigma; the caller refreshes."""
    w.real[C] = c
    w.sigma[:] = sigma
