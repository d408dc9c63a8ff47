"""The exact log joint of paper 003's model, by Gaussian message passing over flat arrays.

NOTES of the paper, restated: an inner node v with l and r leaves below its children, at u_v below a
parent at u_p, has prior density a(t_v) exp(c (u_p - u_v) H(l+r-1)) (l-1)! (r-1)! / (l+r-1)!.
Summed over the tree, the exponents regroup into c u_v (H(l-1) + H(r-1) - H(l+r-1)) for each v: a
term of v alone, so a move changes it only where a node's time or number of leaves changes.
With respect to u in place of t the factor 1/(1-t) of a(t) is gone, which is what moves use.
"""

from __future__ import annotations

import math

import numpy as np

from hcviz.algorithms.ddt.work import LIK, LOG_C, NOISE, PRIOR, ROOT, ROOT_TERM, VAR, C
from hcviz.core.jit import njit

#: Sums may be regrouped (vectorised), but infinities and NaNs keep their meaning.
FAST = {"reassoc", "contract", "arcp", "nsz"}
LOG_2PI = math.log(2.0 * math.pi)


@njit(fastmath=FAST, error_model="numpy")
def update(w, v):
    """The message and the two factors of inner node v from its children, into its spare rows.

    O(d). Children (m1, v1) and (m2, v2) at distances h_v - h_1, h_v - h_2: precision-weighted mean,
    factor N(m1 - m2; 0, V1 + V2).
    """
    left = w.child[v, 0]
    right = w.child[v, 1]
    i = 2 * left + w.slot[left]
    j = 2 * right + w.slot[right]
    k = 2 * v + 1 - w.slot[v]
    w.slot[v] = 1 - w.slot[v]
    nl = w.size[left]
    nr = w.size[right]
    jump = w.harmonic[nl - 1] + w.harmonic[nr - 1] - w.harmonic[nl + nr - 1]
    w.stat[k, PRIOR] = (
        w.real[LOG_C]
        + w.real[C] * w.u[v] * jump
        + w.log_factorial[nl - 1]
        + w.log_factorial[nr - 1]
        - w.log_factorial[nl + nr - 1]
    )
    dims = w.mean.shape[1]
    if dims == 0:
        return
    a = w.stat[i, VAR] + (w.h[v] - w.h[left])
    b = w.stat[j, VAR] + (w.h[v] - w.h[right])
    both = a + b
    share = b / both
    square = 0.0
    for d in range(dims):
        gap = w.mean[i, d] - w.mean[j, d]
        square += gap * gap
        w.mean[k, d] = w.mean[j, d] + share * gap
    w.stat[k, VAR] = a * share
    w.stat[k, LIK] = -0.5 * (dims * (LOG_2PI + math.log(both)) + square / both)


@njit(fastmath=FAST, error_model="numpy")
def root_factor(w, root):
    """log N(m_root; 0, v_root + t_root), the diffusion starting at 0 at t = 0. O(d)."""
    dims = w.mean.shape[1]
    if dims == 0:
        return 0.0
    k = 2 * root + w.slot[root]
    both = w.stat[k, VAR] + (1.0 - w.h[root])
    square = 0.0
    for d in range(dims):
        square += w.mean[k, d] * w.mean[k, d]
    return -0.5 * (dims * (LOG_2PI + math.log(both)) + square / both)


@njit
def postorder(w):
    """Inner nodes into ``touched``, children before parents; returns how many. O(n)."""
    n = w.data.shape[0]
    last = n - 1
    top = 1
    w.stack[0] = w.count[ROOT]
    while top > 0:  # a preorder, written backwards
        top -= 1
        v = w.stack[top]
        if v < n:
            continue
        last -= 1
        w.touched[last] = v
        w.stack[top] = w.child[v, 0]
        w.stack[top + 1] = w.child[v, 1]
        top += 2
    return n - 1


@njit(error_model="numpy")
def refresh(w):
    """Sizes, h, leaf messages (from data, sigma and leaf noise) and all messages anew. O(n d).

    Bit for bit what the path updates hold: each is the same function of the same children.
    """
    n = w.data.shape[0]
    for i in range(n):
        k = 2 * i + w.slot[i]
        w.stat[k, VAR] = w.real[NOISE]
        for d in range(w.data.shape[1]):
            w.mean[k, d] = w.data[i, d] / w.sigma[d]
    for x in range(postorder(w)):
        v = w.touched[x]
        w.h[v] = math.exp(-w.u[v])
        w.size[v] = w.size[w.child[v, 0]] + w.size[w.child[v, 1]]
        update(w, v)
    w.real[ROOT_TERM] = root_factor(w, w.count[ROOT])


@njit(error_model="numpy")
def log_joint(w):
    """Log prior of tree and times (density in t) plus integrated log likelihood, from the factors.

    O(n + d).
    """
    n = w.data.shape[0]
    total = w.real[ROOT_TERM]
    for v in range(n, 2 * n - 1):
        k = 2 * v + w.slot[v]
        total += w.stat[k, LIK] + w.stat[k, PRIOR] + w.u[v]
    for d in range(w.sigma.size):
        total -= n * math.log(w.sigma[d])
    return total


def put_tree(w, parent, child, u):
    """Write a tree into ``w`` and compute everything; the root is where parent is -1."""
    w.parent[:] = parent
    w.child[:] = child
    w.u[:] = u
    w.count[ROOT] = int(np.flatnonzero(w.parent < 0)[0])
    refresh(w)


def put_scale(w, c, sigma):
    """Set c and sigma; the caller refreshes."""
    w.real[C] = c
    w.real[LOG_C] = math.log(c)
    w.sigma[:] = sigma
