"""The exact log joint of the model of Vikram & Dasgupta (2016), by Gaussian message passing.

Take an inner node v at u_v below a parent at u_p, with l and r leaves below its children. Its prior
density is a(t_v) exp(c (u_p - u_v) H(l+r-1)) (l-1)! (r-1)! / (l+r-1)!. Summed over the tree, the
exponents become c u_v (H(l-1) + H(r-1) - H(l+r-1)) for each v. With respect to u instead of t, the
factor 1 / (1-t) of a(t) is missing; moves use this form.
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
    ORDER,
    PARENT,
    RIGHT,
    ROOT,
    SIZE,
    SLOT,
    STACK,
    VAR,
    C,
    Float,
    H,
    Int,
    U,
    Work,
)
from hcviz.core.jit import njit

#: Sums may be regrouped for vector instructions; infinity and NaN keep their meaning.
FAST = {"reassoc", "contract", "arcp", "nsz"}
LOG_2PI = math.log(2.0 * math.pi)


@njit(fastmath=FAST, error_model="numpy")
def update(node, time, msg, v):
    """Compute the message of inner node v from its children's, into its spare row. O(d).

    The spare row becomes the current one. Children (m1, v1) and (m2, v2) are at distances h_v - h_1
    and h_v - h_2; the result is their precision-weighted mean.
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
    a = msg[i, VAR] + (h - time[left, H])
    b = msg[j, VAR] + (h - time[right, H])
    share = b / (a + b)
    for d in range(1, width):
        y = msg[j, d]
        msg[k, d] = y + share * (msg[i, d] - y)
    msg[k, VAR] = a * share


@njit
def postorder(node, spare, root):
    """Write the inner nodes to ``spare[ORDER]``, children first; return their number. O(n)."""
    number = node.shape[0] // 2
    last = number
    top = 1
    spare[STACK, 0] = root
    while top > 0:  # a preorder, written backwards
        top -= 1
        v = spare[STACK, top]
        if node[v, LEFT] < 0:
            continue
        last -= 1
        spare[ORDER, last] = v
        spare[STACK, top] = node[v, LEFT]
        spare[STACK, top + 1] = node[v, RIGHT]
        top += 2
    return number


@njit(error_model="numpy")
def refresh(w):
    """Recompute sizes, h, leaf messages (from data, sigma and leaf noise) and all messages. O(n d).

    The results equal those of path updates bit for bit, since each is the same function of the
    children.
    """
    at = np.int64(0)
    while at < w.node.shape[0]:
        at = refresh_part(w, at, w.node.shape[0])


@njit(shared=True, error_model="numpy")
def refresh_part(w, at, block):
    """Do the next part of :func:`refresh`, ``block`` nodes; return the place to continue from.

    Leaves are places 0 to n - 1, inner nodes in postorder the others. ``at`` is 0 at first, and the
    number of nodes at the end. Nothing else may change ``w`` between two parts.
    """
    n = np.int64(w.data.shape[0])
    if at < n:
        end = min(at + block, n)
        refresh_leaves(w, at, end)
        if end == n:
            postorder(w.node, w.spare, w.tally[ROOT])
        return end
    end = min(at + block, np.int64(w.node.shape[0]))
    refresh_inner(w, at - n, end - n)
    return end


@njit(error_model="numpy")
def refresh_leaves(w, begin, end):
    """Do :func:`refresh` for leaves begin .. end - 1. O(their number * d)."""
    node, msg, data, sigma = w.node, w.msg, w.data, w.sigma
    for i in range(begin, end):
        k = 2 * i + node[i, SLOT]
        msg[k, VAR] = w.real[NOISE]
        for d in range(data.shape[1]):
            msg[k, 1 + d] = data[i, d] / sigma[d]


@njit
def refresh_inner(w, begin, end):
    """Do :func:`refresh` for places begin .. end - 1 of ``spare[ORDER]``, a :func:`postorder`."""
    node, time, msg = w.node, w.time, w.msg
    for x in range(begin, end):
        v = w.spare[ORDER, x]
        time[v, H] = math.exp(-time[v, U])
        node[v, SIZE] = node[node[v, LEFT], SIZE] + node[node[v, RIGHT], SIZE]
        update(node, time, msg, v)


@njit(shared=True, error_model="numpy")
def log_prior(w):
    """Return the log density of tree and times (in t), given c. O(n)."""
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
    """Return the log density of the data given tree, times and sigma. O(n d).

    Locations are integrated out: factors N(m1 - m2; 0, V1 + V2) at inner nodes, and N(m; 0, v + t)
    at the root. ``out``, (d,), receives x' K^-1 x for each dimension in units of sigma^2, with K_ij
    = t_lca(i,j), plus the noise on the diagonal.
    """
    logs = likelihood_root(w, out)
    logs = likelihood_part(w, out, w.data.shape[0], w.node.shape[0], logs)
    return likelihood_total(w, out, logs)


@njit(error_model="numpy")
def likelihood_root(w, out):
    """Compute the root's part of :func:`log_likelihood`: set ``out``, return a sum of logs.
    O(d)."""
    node, time, msg = w.node, w.time, w.msg
    dims = w.data.shape[1]
    if dims == 0:
        return 0.0
    root = w.tally[ROOT]
    k = 2 * root + node[root, SLOT]
    both = msg[k, VAR] + (1.0 - time[root, H])
    logs = math.log(both)
    for d in range(dims):
        out[d] = msg[k, 1 + d] * msg[k, 1 + d] / both
    return logs


@njit(error_model="numpy")
def likelihood_part(w, out, begin, end, logs):
    """Add the parts of inner nodes begin .. end - 1 to ``out`` and ``logs``; return ``logs``."""
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
        both = (msg[i, VAR] + (h - time[left, H])) + (msg[j, VAR] + (h - time[right, H]))
        logs += math.log(both)
        for d in range(dims):
            gap = msg[i, 1 + d] - msg[j, 1 + d]
            out[d] += gap * gap / both
    return logs


@njit(shared=True, error_model="numpy")
def likelihood_total(w, out, logs):
    """Return the log likelihood from the sums of all parts. O(d)."""
    n, dims = w.data.shape
    total = -0.5 * dims * (n * LOG_2PI + logs)
    for d in range(dims):
        total -= 0.5 * out[d] + n * math.log(w.sigma[d])
    return total


@njit(shared=True, error_model="numpy")
def log_noise(w):
    """Return the additional terms of the log joint if the leaf noise nu is learnt; else 0. O(n).

    These are the log prior density of nu, (1 + nu)^-2, and the change from t to u of the times'
    density. With noise, equal items may diverge at any late time. If c < 1, the density in t is
    then unbounded.
    """
    if w.tally[LEARNT] == 0:
        return 0.0
    total = -2.0 * math.log1p(w.real[NOISE])
    for v in range(w.data.shape[0], w.node.shape[0]):
        total -= w.time[v, U]
    return total


@njit(shared=True)
def log_joint(w):
    """Return :func:`log_prior` + :func:`log_noise` + :func:`log_likelihood`."""
    return log_prior(w) + log_noise(w) + log_likelihood(w, np.empty(w.sigma.size))


def integrated(w: Work) -> float:
    """Return :func:`log_joint` with locations integrated out; change nothing. O(n d).

    Messages are written to every inner node's spare row. If locations are given, flipping the slots
    restores them.
    """
    if not w.tally[GIVEN]:
        return float(log_joint(w))
    refresh(w)
    value = float(log_joint(w))
    w.node[w.data.shape[0] :, SLOT] ^= 1
    return value


def put_tree(w: Work, parent: Int, child: Int, u: Float) -> None:
    """Write a tree into ``w`` and compute everything; the root has parent -1."""
    w.node[:, PARENT] = parent
    w.node[:, LEFT : RIGHT + 1] = child
    w.time[:, U] = u
    w.tally[ROOT] = int(np.flatnonzero(w.node[:, PARENT] < 0)[0])
    refresh(w)


def put_scale(w: Work, c: float, sigma: Float) -> None:
    """Set c and sigma. The caller calls :func:`refresh`."""
    w.real[C] = c
    w.sigma[:] = sigma
