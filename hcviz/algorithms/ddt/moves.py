"""The regraft move under constraints (Vikram & Dasgupta 2016, section 3), compiled.

A subtree S is drawn uniformly among the nodes other than the root, or among the leaves
(:mod:`hcviz.algorithms.ddt.blocks`), and is pruned; R is what remains. A proposal lets a particle
walk down R from the topmost legal branch, as in the diffusion. On a branch with m leaves of R below
it, it diverges at rate c / m in u. At a node it takes a child in proportion to its leaves. At some
branches the walk must not go further. S's own root time is at such a branch, or nothing below its
node is legal. There the particle diverges in any case, at a time of the truncated exponential. So
each walk ends in an admissible position (branch b, time u).

Given S and R this is an independence sampler. A proposal is accepted with probability min(1, exp(W'
- W)), where W = log target - log walk density. Let S have s leaves, and K(m) = H(m+s-1) - H(m-1).
The factorials and the shares of the walk become constants, so

    W(b, u) = - c sum over branches passed of (K(m) - 1/m) length - c (K(m_b) - 1/m_b) (u - begin)
              + c u H(s-1) + log(mass of the truncated exponential, if truncated)
              + log N(m_S; mean, var)  [- beta * weight of violated triplets]

Here (mean, var) is the distribution of the location at (b, u) given all of R, plus S's own
variance. It needs the message of b from below and from outside. Outside messages are computed when
they are needed, and kept while S is the same. S is the same for ``TRIES_EACH`` proposals, which
share the pruning.

If locations are given (``latents="gibbs"``), (mean, var) follows from the two ends of the branch.
The location of S's own parent is not part of the move. It is integrated out for W, and drawn again
after an accepted move.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import math

import numpy as np

from hcviz.algorithms.ddt.avoided import gather_barred, is_barred, lowest_start
from hcviz.algorithms.ddt.blocks import block_top
from hcviz.algorithms.ddt.density import FAST, update
from hcviz.algorithms.ddt.legal import (
    ends_at,
    enter_group,
    gather_active,
    gather_partials,
    leave_group,
    legal_region,
    new_stamp,
    reset_stamps,
    violated_weight,
)
from hcviz.algorithms.ddt.work import (
    ACCEPTED,
    BETA,
    GIVEN,
    HARMONIC,
    LEFT,
    OUTER_STAMP,
    PARENT,
    PATH,
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
from hcviz.core.copykernels import copy_vector
from hcviz.core.jit import njit

#: With data, later times (1 - t < 1e-260) are refused, since variances would underflow.
LATEST = 600.0

#: Proposals for one subtree before another is drawn.
TRIES_EACH = 4


@njit
def detach(node, subtree, parent):
    """Prune ``subtree`` and its parent: the sibling takes the parent's place. Updates sizes."""
    sibling = node[parent, LEFT]
    if sibling == subtree:
        sibling = node[parent, RIGHT]
    above = node[parent, PARENT]
    node[sibling, PARENT] = above
    if above >= 0:
        if node[above, LEFT] == parent:
            node[above, LEFT] = sibling
        else:
            node[above, RIGHT] = sibling
    leaves = node[subtree, SIZE]
    x = above
    while x >= 0:
        node[x, SIZE] -= leaves
        x = node[x, PARENT]
    return sibling


@njit
def attach(node, subtree, parent, branch):
    """Attach ``subtree`` with its ``parent`` to the branch above ``branch``: the inverse of
    detach."""
    above = node[branch, PARENT]
    if node[parent, LEFT] == subtree:
        node[parent, RIGHT] = branch
    else:
        node[parent, LEFT] = branch
    node[parent, PARENT] = above
    node[branch, PARENT] = parent
    if above >= 0:
        if node[above, LEFT] == branch:
            node[above, LEFT] = parent
        else:
            node[above, RIGHT] = parent
    leaves = node[subtree, SIZE]
    node[parent, SIZE] = node[branch, SIZE] + leaves
    x = above
    while x >= 0:
        node[x, SIZE] += leaves
        x = node[x, PARENT]


@njit(error_model="numpy")
def walk(node, time, real, rng, top, limit, floor):
    """Draw ``(branch, u)`` by a walk. ``limit`` is S's own time; nodes of groups, and those with
    stamp ``floor``, end it.

    The exponential is memoryless, so one draw serves all branches. One uniform serves all choices,
    and is rescaled after each, since the product of their shares is at least 1/n.
    """
    branch = top
    above = node[top, PARENT]
    begin = time[above, U] if above >= 0 else 0.0
    c = real[C]
    left_over = -math.log(1.0 - rng.random()) / c
    choice = rng.random()
    while True:
        bottom = time[branch, U]
        m = node[branch, SIZE]
        if bottom >= limit or ends_at(node, branch, floor):
            rate = c / m
            mass = -math.expm1(-rate * (min(bottom, limit) - begin))
            return branch, begin - math.log1p(-rng.random() * mass) / rate
        needed = (bottom - begin) / m
        if left_over < needed:
            return branch, begin + left_over * m
        left_over -= needed
        begin = bottom
        child = node[branch, LEFT]
        share = node[child, SIZE] / m
        if choice < share:
            choice /= share
        else:
            choice = (choice - share) / (1.0 - share)
            child = node[branch, RIGHT]
        branch = child


@njit(error_model="numpy")
def log_weight(node, time, table, real, branch, u, top, leaves, limit, floor):
    """Return W(b, u) without likelihood and soft triplets; -inf where no walk ends. O(depth)."""
    c = real[C]
    x = branch
    above = node[x, PARENT]
    begin = time[above, U] if above >= 0 else 0.0
    bottom = time[x, U]
    m = node[x, SIZE]
    if not (begin < u < bottom and u < limit):
        return -np.inf
    value = 0.0
    if bottom >= limit or ends_at(node, x, floor):
        value = math.log(-math.expm1(-c / m * (min(bottom, limit) - begin)))
    single = leaves == 1  # then K(m) = 1/m, and only the truncation is left
    if not single:
        excess = table[HARMONIC, m + leaves - 1] - table[HARMONIC, m]
        value += c * (u * table[HARMONIC, leaves - 1] - excess * (u - begin))
    while x != top:
        x = node[x, PARENT]
        bottom = begin
        if bottom >= limit or ends_at(node, x, floor):
            return -np.inf
        above = node[x, PARENT]
        begin = time[above, U] if above >= 0 else 0.0
        if not single:
            m = node[x, SIZE]
            excess = table[HARMONIC, m + leaves - 1] - table[HARMONIC, m]
            value -= c * excess * (bottom - begin)
    return value


@njit(fastmath=FAST, error_model="numpy")
def outside_message(node, time, msg, outer, v, child):
    """Compute the outside message of ``child`` of v from v's own and the sibling's message.
    O(d)."""
    sibling = node[v, LEFT]
    if sibling == child:
        sibling = node[v, RIGHT]
    above = node[v, PARENT]
    h = time[v, H]
    j = 2 * sibling + node[sibling, SLOT]
    a = outer[v, VAR] + ((time[above, H] if above >= 0 else 1.0) - h)
    b = msg[j, VAR] + (h - time[sibling, H])
    share = b / (a + b)
    for d in range(1, msg.shape[1]):
        y = msg[j, d]
        outer[child, d] = y + share * (outer[v, d] - y)
    outer[child, VAR] = a * share


@njit
def update_outside(node, time, msg, outer, spare, root, v, stamp):
    """Make ``outer[v]`` valid for the current tree; ``OUTER_STAMP`` marks valid messages."""
    if node[root, OUTER_STAMP] != stamp:
        outer[root, :] = 0.0
        node[root, OUTER_STAMP] = stamp
    depth = 0
    x = v
    while node[x, OUTER_STAMP] != stamp:
        spare[STACK, depth] = x
        depth += 1
        x = node[x, PARENT]
    while depth > 0:
        depth -= 1
        x = spare[STACK, depth]
        outside_message(node, time, msg, outer, node[x, PARENT], x)
        node[x, OUTER_STAMP] = stamp


@njit
def outside_of_given(node, msg, outer, branch):
    """Set ``outer[branch]`` to its parent's location, if locations are given, or the origin.
    O(d)."""
    above = node[branch, PARENT]
    if above < 0:
        outer[branch, :] = 0.0
    else:
        copy_vector(outer[branch], msg[2 * above + node[above, SLOT]])


@njit(error_model="numpy")
def draw_parent_location(node, time, msg, outer, rng, subtree, parent, branch, u):
    """Draw the location of the detached ``parent`` as if it were above ``branch`` at u. O(d)."""
    above = node[branch, PARENT]
    h = math.exp(-u)
    i = 2 * branch + node[branch, SLOT]
    k = 2 * subtree + node[subtree, SLOT]
    p = 1.0 / (msg[i, VAR] + (h - time[branch, H]))
    q = 1.0 / (msg[k, VAR] + (h - time[subtree, H]))
    r = 1.0 / (outer[branch, VAR] + ((time[above, H] if above >= 0 else 1.0) - h))
    total = p + q + r
    spread = math.sqrt(1.0 / total)
    own = 2 * parent + node[parent, SLOT]
    msg[own, VAR] = 0.0
    for d in range(1, msg.shape[1]):
        mean = (p * msg[i, d] + q * msg[k, d] + r * outer[branch, d]) / total
        msg[own, d] = mean + spread * rng.normal()


@njit(fastmath=FAST, error_model="numpy")
def log_fit(node, time, msg, outer, subtree, branch, u):
    """Return log N(m_S; mean, var) of the subtree's message at (branch, u), up to a constant.
    O(d)."""
    h = math.exp(-u)
    above = node[branch, PARENT]
    i = 2 * branch + node[branch, SLOT]
    k = 2 * subtree + node[subtree, SLOT]
    a = msg[i, VAR] + (h - time[branch, H])
    b = outer[branch, VAR] + ((time[above, H] if above >= 0 else 1.0) - h)
    share = b / (a + b)
    var = a * share + msg[k, VAR] + (h - time[subtree, H])
    square = 0.0
    for d in range(1, msg.shape[1]):
        y = outer[branch, d]
        gap = msg[k, d] - (y + share * (msg[i, d] - y))
        square += gap * gap
    return -0.5 * ((msg.shape[1] - 1) * math.log(var) + square / var)


@njit(error_model="numpy")
def regraft(w, rng, subtree, tries, most):
    """Make ``tries`` proposals for one subtree; return how many were accepted.

    Places are those of the block of at most ``most`` leaves that S is in
    (:mod:`hcviz.algorithms.ddt.blocks`); without one, nothing happens. Hard constraints stay
    satisfied. O(depth * d) for pruning, about O(new nodes * d + depth) for each try.
    """
    node, time, msg, outer, table = w.node, w.time, w.msg, w.outer, w.table
    tally, real, spare, active = w.tally, w.real, w.spare, w.active_triplets
    reset_stamps(node, tally)
    parent = node[subtree, PARENT]
    above = node[parent, PARENT]
    sibling = node[parent, LEFT]
    if sibling == subtree:
        sibling = node[parent, RIGHT]
    if node[sibling, SIZE] > most:
        return 0
    detach(node, subtree, parent)
    root = np.int64(sibling) if above < 0 else tally[ROOT]
    group, group_top = enter_group(w, subtree, parent, sibling, root)
    top = group_top
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
        top, floor = legal_region(node, time, tally, active, found, top)
    barred = gather_barred(w, subtree) if w.avoided.shape[0] > 0 else 0
    if barred > 0 and top >= 0:
        top = lowest_start(w, barred, top)
    if top >= 0 and most < w.data.shape[0]:
        top = block_top(node, sibling, most, top)
    touched = 0
    given = tally[GIVEN] == 1
    x = np.int64(-1) if given else np.int64(above)
    while x >= 0:
        update(node, time, msg, x)
        spare[PATH, touched] = x
        touched += 1
        x = np.int64(node[x, PARENT])
    stamp = new_stamp(node, tally)
    dims = msg.shape[1] - 1
    soft = found > 0 and real[BETA] >= 0.0
    leaves = node[subtree, SIZE]
    limit = time[subtree, U]
    latest = LATEST if dims > 0 else np.inf
    branch, u = np.int64(sibling), time[parent, U]
    present = 0.0
    accepted = 0
    for turn in range(-1, tries if top >= 0 else -1):
        if turn < 0:
            new, new_u = branch, u
        else:
            new, new_u = walk(node, time, real, rng, top, limit, floor)
        weight = -np.inf
        if new_u < latest and not (barred > 0 and is_barred(w, barred, new)):
            weight = log_weight(node, time, table, real, new, new_u, top, leaves, limit, floor)
        if weight > -np.inf:
            if dims > 0:
                if given:
                    outside_of_given(node, msg, outer, new)
                else:
                    update_outside(node, time, msg, outer, spare, root, new, stamp)
                weight += log_fit(node, time, msg, outer, subtree, new, new_u)
            if soft:
                weight -= real[BETA] * violated_weight(node, tally, active, w.weight, found, new)
        if turn < 0:
            present = weight
        elif math.log(1.0 - rng.random()) < weight - present:
            branch, u, present = new, new_u, weight
            accepted += 1
            if given and dims > 0:  # at once: the draws must not depend on where tries end
                draw_parent_location(node, time, msg, outer, rng, subtree, parent, branch, u)
    if accepted == 0:
        for y in range(touched):
            x = spare[PATH, y]
            node[x, SLOT] = 1 - node[x, SLOT]
        attach(node, subtree, parent, sibling)
        leave_group(node, group, group_top, parent, sibling)
        return 0
    time[parent, U] = u
    time[parent, H] = math.exp(-u)
    attach(node, subtree, parent, branch)
    leave_group(node, group, group_top, parent, branch)
    x = np.int64(parent)
    while x >= 0:
        if not given:
            update(node, time, msg, x)
        root = x
        x = np.int64(node[x, PARENT])
    tally[ROOT] = root
    tally[ACCEPTED] += accepted
    return accepted
