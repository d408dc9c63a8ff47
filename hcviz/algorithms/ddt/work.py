"""``Work``: all arrays that a chain's kernels read and write.

Nodes 0..n-1 are the leaves, and n..2n-2 the inner nodes in no particular order: this numbering is
the kernel's own, and changes with the tree. Divergence times are stored as u = -log(1 - t), 0 at
the start of the diffusion and infinite at the leaves, and as h = 1 - t = exp(-u). Stored as t,
times near 1 would be rounded to 1. In u the integrated divergence function is linear: A(t) = c u.

A node's message is the distribution of its location given its subtree: N(mean, var) in units of
sigma, with one variance for all dimensions, stored as a row (var, mean...). Every node has two
rows, 2v and 2v + 1, and its ``SLOT`` tells which is current. Pruning writes to the other row, so
flipping the slot undoes it.

The arrays are few and wide for two reasons: each array adds a cost to every compiled call, and a
node's fields share a cache line.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hcviz.core.arrays import (
    Counters,
    FloatD,
    FloatK,
    FloatM,
    FloatND,
    FloatRows,
    IntList,
    IntRows,
    TripletRows,
)
from hcviz.core.groups import NO_GROUPS, Groups, Nesting
from hcviz.core.partial_clades import partial_clades

#: Hard triplets are read as statements if these name so much less items; else one by one.
LEAST_SAVED = 0.5
#: Slides between two prunings by regraft.
SLIDES_EACH = 1

Float = NDArray[np.float64]
Int = NDArray[np.int32]

# Columns of Work.node
PARENT, LEFT, RIGHT, SIZE, SLOT, FLOOR, MARK, OUTER_STAMP = range(8)
# Columns of Work.time
U, H = 0, 1
# Column of Work.msg and Work.outer: the variance; the means follow
VAR = 0
# Rows of Work.spare: a stack, an order of nodes, a list of leaves, and a path
STACK, ORDER, LEAVES, PATH = range(4)
# Places in Work.tally
ROOT, STAMP, PROPOSALS, ACCEPTED, SUBTREE, TRIES, GIVEN, LEARNT, SLIDES, SCALES = range(10)
# Places in Work.real
C, NOISE, BETA = range(3)
# Rows of Work.table
HARMONIC, LOG_FACTORIAL = 0, 1
# Columns of Work.active_triplets
NODE, KIND, TRIPLET = range(3)
# Columns of Work.partial: where the items of the group and those apart begin and end in
# ``partial_items``; then, in a move, how many of each are in S, and a list of statements
IN_GROUP, APART, END, GROUP_SEEN, APART_SEEN, TOUCHED = range(6)
# Columns of Work.avoided: size and first item of the set, a rule and its node, and then 1
# for each item of the set
SET_SIZE, FIRST, RULE, BARRED_NODE, MEMBERS = range(5)
# Rules: only strictly below the node, or not at the node or below it
ONLY_BELOW, ANYWHERE_ELSE = range(2)


class Work(NamedTuple):
    """Arrays of one chain; m = 2n - 1 nodes, d dimensions, k triplets.

    ``node`` columns: parent (-1 at the root), two children (-1 at leaves), leaves below, slot, and
    three stamps. A current stamp means: FLOOR, nothing is legal below this node (so does the mark
    of a group's node, :func:`hcviz.algorithms.ddt.legal.group_floor`); MARK, the node is on the
    path marked last; OUTER_STAMP, its outside message is valid. A row of ``outer`` is the
    distribution of the parent's location given all that is outside the node's subtree.
    """

    node: IntRows  # (m, 8)
    time: FloatRows  # (m, 2): u, h
    msg: FloatRows  # (2m, 1 + d)
    outer: FloatRows  # (m, 1 + d)
    table: FloatRows  # (2, n + 1): H(0) = 0, H(1) = 1, ...; log 0!, log 1!, ...
    tally: Counters  # (10,): root, last stamp, proposals, accepted, subtree, tries left,
    # 1 if locations are given (then a message is a location, with variance 0),
    # 1 if the leaf noise is learnt, the number of slides between two regrafts, and the number
    # of sizes of blocks for local regrafts
    real: FloatD  # (3,): c, leaf noise in units of sigma^2, beta (negative: hard triplets)
    spare: IntRows  # (4, m): stacks and lists
    path_prior: FloatM  # a slide's log prior along its path
    data: FloatND  # features less mu
    sigma: FloatD
    noise_floor: FloatD  # if the leaf noise is learnt, the least value of noise * sigma^2
    triplets: TripletRows
    weight: FloatK
    # (p, 6): hard triplets as statements (:mod:`hcviz.core.partial_clades`), if these are shorter
    partial: IntRows
    partial_items: IntList  # their items
    partial_begin: IntList  # (n + 1,): where each item's entries begin in ``item_partials``
    item_partials: IntList  # an entry is 2 * (number of the statement) + (1 if the item is apart)
    item_begin: IntList  # (n + 1,): where each item's triplets begin in ``item_triplets``
    item_triplets: IntList  # (3k,): triplet indices by item
    # (k, 3): of the triplets active in a move: node, kind of rule, triplet
    active_triplets: IntRows
    group_home: IntList  # (n,): the smallest hard group of each item, or -1
    group_over: IntList  # (g,): the smallest larger group that contains each group, or -1
    group_size: IntList  # (g,): number of items
    group_first: IntList  # (g,): lowest item
    # (f, 4 + n): for each set that must not be a clade its size and first item, two cells for the
    # rules that are active in a move (in the first rows), and its members as 0 or 1
    avoided: IntRows


def allocate(
    n: int,
    data: Float,
    triplets: Int,
    weight: Float,
    noise: float,
    beta: float | None,
    floor: Float | None = None,
    groups: Groups = NO_GROUPS,
    not_groups: Groups = NO_GROUPS,
) -> Work:
    """Return empty arrays for n items; O(n (d + 1) + k) memory.

    If ``floor`` is given, the leaf noise is learnt, beginning with ``noise``, with this floor in
    each column. ``groups`` are hard, and nested or disjoint. ``not_groups`` must not be clades.
    """
    nesting = Nesting(groups, n)
    m, d, k = 2 * n - 1, data.shape[1], len(triplets)
    numbers = np.arange(1, n + 1, dtype=np.float64)
    order = np.argsort(triplets.T.ravel(), kind="stable")
    item_begin = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(triplets.ravel(), minlength=n), out=item_begin[1:])
    node = np.full((m, 8), -1, np.int32)
    node[:, SIZE] = 1
    node[:, SLOT:] = 0
    time = np.zeros((m, 2))
    time[:, U] = np.inf
    table = np.zeros((2, n + 1))
    table[HARMONIC, 1:] = np.cumsum(1.0 / numbers)
    table[LOG_FACTORIAL, 1:] = np.cumsum(np.log(numbers))
    tally = np.zeros(10, np.int64)
    tally[LEARNT] = floor is not None
    tally[SLIDES] = SLIDES_EACH
    tally[SCALES] = max(0, (n - 1).bit_length() - 1)  # 2, 4, ..., the last one below n
    avoided = np.zeros((len(not_groups), MEMBERS + n), np.int32)
    for number, items in enumerate(not_groups):
        avoided[number, SET_SIZE] = items.size
        avoided[number, FIRST] = items[0]
        avoided[number, MEMBERS + items] = 1
    return Work(
        node=node,
        time=time,
        msg=np.zeros((2 * m, 1 + d)),
        outer=np.zeros((m, 1 + d)),
        table=table,
        tally=tally,
        real=np.array([1.0, noise, -1.0 if beta is None else beta]),
        spare=np.zeros((4, m), np.int32),
        path_prior=np.zeros(m),
        data=np.ascontiguousarray(data, dtype=np.float64).copy(),
        sigma=np.ones(d),
        noise_floor=np.zeros(d) if floor is None else np.asarray(floor, np.float64).copy(),
        triplets=np.ascontiguousarray(triplets, dtype=np.int32).copy(),
        weight=np.ascontiguousarray(weight, dtype=np.float64).copy(),
        **partial_arrays(triplets if beta is None else triplets[:0], n),
        item_begin=item_begin,
        item_triplets=(order % max(k, 1)).astype(np.int32),
        active_triplets=np.zeros((k, 3), np.int32),
        group_home=nesting.home,
        group_over=nesting.over,
        group_size=nesting.size,
        group_first=nesting.first,
        avoided=avoided,
    )


def partial_arrays(triplets: Int, n: int, least: float = LEAST_SAVED) -> dict[str, Int]:
    """Return the arrays of ``Work`` for hard triplets as statements.

    They are empty if statements name more than ``1 - least`` of the items that triplets name.
    """
    rows = np.asarray(triplets, np.int32)
    found = partial_clades(rows)
    if sum(map(len, chain.from_iterable(found))) > (1.0 - least) * rows.size:
        found = []
    parts = [part for each in found for part in each]
    lengths = np.array([part.size for part in parts], np.int32)
    ends = np.cumsum(lengths, dtype=np.int32).reshape(-1, 2)
    items = np.concatenate([np.empty(0, np.int32), *parts])
    entries = np.repeat(np.arange(len(parts), dtype=np.int32), lengths)
    table = np.zeros((len(found), 6), np.int32)
    table[:, APART], table[:, END] = ends.T
    table[1:, IN_GROUP] = ends[:-1, 1]
    begin = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(items, minlength=n), out=begin[1:])
    return {
        "partial": table,
        "partial_items": items,
        "partial_begin": begin,
        "item_partials": entries[np.argsort(items, kind="stable")],
    }
