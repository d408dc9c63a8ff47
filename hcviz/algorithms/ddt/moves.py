"""The constrained subtree-prune-and-regraft move (paper 003, section 3), compiled.

A subtree S is taken uniformly among the nodes other than the root and pruned. A particle then walks
down the remaining tree R from the topmost legal branch as the diffusion would: on a branch with m
leaves of R below it diverges at rate c / m in u, at a node it takes a child in proportion to its
leaves. Where it cannot go on (S's own root time, or a node below which nothing is legal, lies at
the end of the branch) it is made to diverge on that branch, by the exponential cut off there. So a
walk always ends in an admissible place; the density of old and new place, cut-offs included, enters
the acceptance ratio. R and the chance of S are the same in both directions.
"""

from __future__ import annotations

import math

import numpy as np

from hcviz.algorithms.ddt.density import root_factor, update
from hcviz.algorithms.ddt.legal import broken, gather, restrict
from hcviz.algorithms.ddt.work import (
    BETA,
    LIK,
    PRIOR,
    ROOT,
    ROOT_TERM,
    STAMP,
    C,
)
from hcviz.core.jit import njit

#: Times beyond this (1 - t < 1e-260) are refused where there are data: variances would underflow.
LATEST = 600.0


@njit
def detach(w, subtree, parent):
    """Cut ``subtree`` and its parent out: the sibling takes the parent's place. Sizes follow."""
    side = 0 if w.child[parent, 0] == subtree else 1
    sibling = w.child[parent, 1 - side]
    above = w.parent[parent]
    w.parent[sibling] = above
    if above >= 0:
        if w.child[above, 0] == parent:
            w.child[above, 0] = sibling
        else:
            w.child[above, 1] = sibling
    leaves = w.size[subtree]
    x = above
    while x >= 0:
        w.size[x] -= leaves
        x = w.parent[x]
    return sibling


@njit
def attach(w, subtree, parent, branch):
    """Put ``subtree`` with its ``parent`` onto the branch above ``branch``: detach's inverse."""
    side = 0 if w.child[parent, 0] == subtree else 1
    above = w.parent[branch]
    w.child[parent, 1 - side] = branch
    w.parent[parent] = above
    w.parent[branch] = parent
    if above >= 0:
        if w.child[above, 0] == branch:
            w.child[above, 0] = parent
        else:
            w.child[above, 1] = parent
    leaves = w.size[subtree]
    w.size[parent] = w.size[branch] + leaves
    x = above
    while x >= 0:
        w.size[x] += leaves
        x = w.parent[x]


@njit(error_model="numpy")
def log_divergence(w, branch, begin, u, limit, floor):
    """log density, in u, of the particle's diverging at u on the branch that begins at ``begin``.

    -inf where u is not strictly inside what is admissible. ``limit`` is S's own time, ``floor`` the
    stamp of nodes that may not be passed.
    """
    bottom = w.u[branch]
    if not (begin < u < bottom and u < limit):
        return -np.inf
    rate = w.real[C] / w.size[branch]
    value = math.log(rate) - rate * (u - begin)
    if bottom >= limit or w.floor[branch] == floor:
        value -= math.log(-math.expm1(-rate * (min(bottom, limit) - begin)))
    return value


@njit(error_model="numpy")
def log_path(w, branch, u, top, limit, floor):
    """log density of a walk from the branch above ``top`` that diverges above ``branch`` at u."""
    above = w.parent[branch]
    begin = w.u[above] if above >= 0 else 0.0
    value = log_divergence(w, branch, begin, u, limit, floor)
    x = branch
    while x != top:
        p = w.parent[x]
        if w.floor[p] == floor or w.u[p] >= limit:
            return -np.inf
        over = w.parent[p]
        begin = w.u[over] if over >= 0 else 0.0
        leaves = w.size[p]
        value += math.log(w.size[x] / leaves) - w.real[C] / leaves * (w.u[p] - begin)
        x = p
    return value


@njit(error_model="numpy")
def walk(w, rng, top, limit, floor):
    """Draw (branch, u, log density) as :func:`log_path` has it; branch -1 if rounding left none."""
    branch = top
    above = w.parent[top]
    begin = w.u[above] if above >= 0 else 0.0
    log_density = 0.0
    while True:
        bottom = w.u[branch]
        rate = w.real[C] / w.size[branch]
        forced = bottom >= limit or w.floor[branch] == floor
        reach = 1.0
        if forced:
            reach = -math.expm1(-rate * (min(bottom, limit) - begin))
        u = begin - math.log1p(-rng.random() * reach) / rate
        if forced or u < bottom:
            break
        log_density -= rate * (bottom - begin)
        child = w.child[branch, 0]
        share = w.size[child] / w.size[branch]
        if rng.random() >= share:
            child = w.child[branch, 1]
            share = w.size[child] / w.size[branch]
        log_density += math.log(share)
        begin = bottom
        branch = child
    log_density += log_divergence(w, branch, begin, u, limit, floor)
    if log_density == -np.inf:
        branch = -1
    return branch, u, log_density


@njit(error_model="numpy")
def reprice(w, parent, old_above):
    """Messages and factors on both root paths after a move; the change of log joint (in u).

    ``parent`` is the moved node, ``old_above`` what was above it. Fills ``touched``; returns
    ``(gain, number touched, new root factor)``. O(path length * d).
    """
    w.count[STAMP] += 1
    stamp = w.count[STAMP]
    x = parent
    root = x
    while x >= 0:
        w.mark[x] = stamp
        root = x
        x = w.parent[x]
    gain = 0.0
    number = 0
    x = old_above
    while x >= 0 and w.mark[x] != stamp:
        gain += revised(w, x)
        w.touched[number] = x
        number += 1
        x = w.parent[x]
    x = parent
    while x >= 0:
        gain += revised(w, x)
        w.touched[number] = x
        number += 1
        x = w.parent[x]
    factor = root_factor(w, root)
    return gain + factor - w.real[ROOT_TERM], number, factor, root


@njit
def revised(w, v):
    """Update v's message; by how much its factors change."""
    k = 2 * v + w.slot[v]
    before = w.stat[k, LIK] + w.stat[k, PRIOR]
    update(w, v)
    k = 2 * v + w.slot[v]
    return w.stat[k, LIK] + w.stat[k, PRIOR] - before


@njit
def undo(w, number):
    """Flip back what a proposal wrote."""
    for x in range(number):
        v = w.touched[x]
        w.slot[v] = 1 - w.slot[v]


@njit(error_model="numpy")
def spr(w, rng):
    """One proposal; True if accepted. Hard triplets that hold go on holding."""
    m = w.parent.size
    subtree = int(rng.random() * (m - 1))
    if subtree >= w.count[ROOT]:
        subtree += 1
    parent = w.parent[subtree]
    above = w.parent[parent]
    old_u = w.u[parent]
    old_h = w.h[parent]
    sibling = detach(w, subtree, parent)
    top = sibling if above < 0 else w.count[ROOT]
    found = gather(w, subtree)
    floor = np.int64(-1)
    gain = 0.0
    if w.real[BETA] < 0.0 and found > 0:
        top, floor = restrict(w, found, top)
    limit = w.u[subtree]
    branch = -1
    if top >= 0:
        branch, u, forward = walk(w, rng, top, limit, floor)
    if branch >= 0 and (u < LATEST or w.mean.shape[1] == 0):
        backward = log_path(w, sibling, old_u, top, limit, floor)
        if w.real[BETA] >= 0.0 and found > 0:
            gain = w.real[BETA] * (broken(w, found, sibling) - broken(w, found, branch))
        w.u[parent] = u
        w.h[parent] = math.exp(-u)
        attach(w, subtree, parent, branch)
        change, number, factor, root = reprice(w, parent, above)
        gain += change + backward - forward
        if math.log(1.0 - rng.random()) < gain:
            w.real[ROOT_TERM] = factor
            w.count[ROOT] = root
            return True
        undo(w, number)
        detach(w, subtree, parent)
        w.u[parent] = old_u
        w.h[parent] = old_h
    attach(w, subtree, parent, sibling)
    return False
