"""The slide move: a subtree moves along one path from the root, past other nodes if need be.

This is "slice-positions" of Neal (2003, "Density modeling and clustering using Dirichlet diffusion
trees"), with locations integrated out. A leaf x is drawn uniformly, then one of its ancestors P
uniformly. S is the child of P that is not an ancestor of x; it has s leaves. P and S are pruned,
and R remains. P then moves along the path of R from the root to x. Its time is drawn by slice
sampling with shrinkage (Neal, Annals of Statistics 2003), between 0 and S's own time, uniformly in
h = exp(-u).

Take a branch with m leaves of R below it that begins at u_b, and K(m) = H(m+s-1) - H(m-1). Up to a
constant, the log density in h is

    - c sum over branches passed of K(m') length - c K(m) (u - u_b) + c u H(s-1) + u
    + log N(m_S; mean, var)  [- beta * weight of violated triplets]

The factor 1/m of the branch cancels the walk's share that leads to it. The last u is the Jacobian.
The move is reversible: x keeps the number of its ancestors, so P is drawn with the same probability
from both ends. Under hard constraints the legal part of the path is an interval. It begins at the
topmost legal branch, and ends at the first node on the path below which nothing is legal.

A slide costs O(depth * d), and O(d) for each point that it tries.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import math

import numpy as np

from hcviz.algorithms.ddt.avoided import gather_barred, is_barred
from hcviz.algorithms.ddt.density import update
from hcviz.algorithms.ddt.legal import (
    ends_at,
    enter_group,
    gather_active,
    gather_partials,
    leave_group,
    legal_region,
    reset_stamps,
    violated_weight,
)
from hcviz.algorithms.ddt.moves import LATEST, attach, detach, log_fit, outside_message
from hcviz.algorithms.ddt.work import (
    ACCEPTED,
    BETA,
    HARMONIC,
    LEFT,
    PARENT,
    PATH,
    RIGHT,
    ROOT,
    SIZE,
    C,
    H,
    U,
)
from hcviz.core.jit import njit

#: The most points that a slide tries; after that it leaves the tree as it is.
MAX_POINTS = 200


@njit
def draw_path(node, path, rng, leaves):
    """Draw a leaf x and its ancestor P; write the path from x up to the root, without P. O(depth).

    Returns ``(parent, subtree, place, length)``: P, S, the place of P's other child on the path,
    and the number of nodes on the path.
    """
    x = np.int64(rng.random() * leaves)
    length = 0
    while x >= 0:
        path[length] = x
        length += 1
        x = np.int64(node[x, PARENT])
    place = np.int64(rng.random() * (length - 1))
    parent = np.int64(path[place + 1])
    subtree = np.int64(node[parent, LEFT])
    if subtree == path[place]:
        subtree = np.int64(node[parent, RIGHT])
    length -= 1
    for k in range(place + 1, length):
        path[k] = path[k + 1]
    return parent, subtree, place, length


@njit
def prior_along(node, time, table, path, path_prior, top, limit, floor, c, leaves):
    """Write the log prior at the beginning of each branch of the path, from ``path[top]`` down.

    It is relative to the beginning of ``path[top]``, without the terms in u alone. Returns the
    place of the last branch that S may move to, and the lowest h allowed. O(depth).
    """
    k = top
    above = node[path[k], PARENT]
    begin = time[above, U] if above >= 0 else 0.0
    value = 0.0
    path_prior[k] = 0.0
    while True:
        v = path[k]
        bottom = time[v, U]
        if bottom >= time[limit, U]:
            return k, time[limit, H]
        if ends_at(node, v, floor):
            return k, time[v, H]
        m = node[v, SIZE]
        value -= c * (table[HARMONIC, m + leaves - 1] - table[HARMONIC, m - 1]) * (bottom - begin)
        begin = bottom
        k -= 1
        path_prior[k] = value


@njit(error_model="numpy")
def log_prior_at(node, time, table, branch, u, value, c, leaves):
    """Return the log prior density in h of S above ``branch`` at u; ``value`` is that at its
    beginning."""
    above = node[branch, PARENT]
    begin = time[above, U] if above >= 0 else 0.0
    m = node[branch, SIZE]
    rate = table[HARMONIC, m + leaves - 1] - table[HARMONIC, m - 1]
    return value + u + c * (u * table[HARMONIC, leaves - 1] - rate * (u - begin))


@njit
def extend(node, time, msg, outer, path, k, current, reached):
    """Compute the messages for a point on the branch above ``path[k]``. O(d) for each.

    Messages of R are valid below place ``current`` of the path. Outside messages are valid from its
    upper end down to place ``reached``. Returns the new values of both.
    """
    while current <= k:
        update(node, time, msg, np.int64(path[current]))
        current += 1
    while reached > k:
        reached -= 1
        v = np.int64(path[reached])
        outside_message(node, time, msg, outer, np.int64(path[reached + 1]), v)
    return current, reached


@njit(error_model="numpy")
def slide(w, rng):
    """Make one slide. Hard constraints stay satisfied; locations are integrated out. O(depth * d).

    It counts as accepted if S moves to another branch.
    """
    node, time, msg, outer, table = w.node, w.time, w.msg, w.outer, w.table
    tally, real, path, path_prior = w.tally, w.real, w.spare[PATH], w.path_prior
    active = w.active_triplets
    reset_stamps(node, tally)
    parent, subtree, place, length = draw_path(node, path, rng, w.data.shape[0])
    first = np.int64(detach(node, subtree, parent))
    top = length - 1
    root = np.int64(path[top])
    group, group_top = enter_group(w, subtree, parent, first, root)
    highest = group_top
    floor = np.int64(-1)
    found = 0
    if w.partial.shape[0] > 0:
        found = gather_partials(
            node, time, tally, w.spare, w.partial, w.partial_items, w.partial_begin,
            w.item_partials, active, subtree,
        )  # fmt: skip
    elif w.triplets.shape[0] > 0:
        found = gather_active(
            node, tally, w.spare, w.triplets, w.item_begin, w.item_triplets, active, subtree
        )
    if found > 0 and real[BETA] < 0.0:
        highest, floor = legal_region(node, time, tally, active, found, highest)
        if highest < 0:  # the current tree violates a triplet
            attach(node, subtree, parent, first)
            leave_group(node, group, group_top, parent, first)
            return
    while top > place and path[top] != highest:
        top -= 1
    soft = found > 0 and real[BETA] >= 0.0
    barred = gather_barred(w, subtree) if w.avoided.shape[0] > 0 else 0
    leaves = node[subtree, SIZE]
    c = real[C]
    last, low = prior_along(node, time, table, path, path_prior, top, subtree, floor, c, leaves)
    above = node[path[top], PARENT]
    high = time[above, H] if above >= 0 else 1.0
    dims = msg.shape[1] - 1
    latest = LATEST if dims > 0 else np.inf
    current, reached = place + 1, length - 1
    outer[root, :] = 0.0
    u = time[parent, U]
    h = time[parent, H]
    now = h
    k = place
    level = 0.0
    for point in range(MAX_POINTS):
        if point > 0:
            h = low + rng.random() * (high - low)
            u = -math.log(h) if h > 0.0 else np.inf
            while k > last and u >= time[path[k], U]:
                k -= 1
            while k < top and u <= time[node[path[k], PARENT], U]:
                k += 1
        branch = np.int64(path[k])
        above = node[branch, PARENT]
        weight = -np.inf
        begin = time[above, U] if above >= 0 else 0.0
        within = begin < u < time[branch, U] and u < time[subtree, U] and u < latest
        if within and not (barred > 0 and is_barred(w, barred, branch)):
            weight = log_prior_at(node, time, table, branch, u, path_prior[k], c, leaves)
            if dims > 0:
                current, reached = extend(node, time, msg, outer, path, k, current, reached)
                weight += log_fit(node, time, msg, outer, subtree, branch, u)
            if soft:
                weight -= real[BETA] * violated_weight(node, tally, active, w.weight, found, branch)
        if point == 0:
            level = weight + math.log(1.0 - rng.random())
        elif weight >= level and weight > -np.inf:
            break
        elif h < now:
            low = h
        else:
            high = h
    else:
        k, u = place, time[parent, U]
    if k != place:
        tally[ACCEPTED] += 1
    time[parent, U] = u
    time[parent, H] = math.exp(-u)
    attach(node, subtree, parent, path[k])
    leave_group(node, group, group_top, parent, path[k])
    x = np.int64(parent)
    while x >= 0:
        update(node, time, msg, x)
        root = x
        x = np.int64(node[x, PARENT])
    tally[ROOT] = root
