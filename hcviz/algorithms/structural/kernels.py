"""Compiled steps of the top-down methods of Chatziafratis et al. (2018).

The state is a set of flat arrays. ``items`` is a permutation of 0..n-1. Every set still to be
divided is a slice of it, with increasing items. ``active`` holds the rows of the triplets and of
the groups (:mod:`hcviz.core.groups`) inside each set, also in slices. ``up`` is the tree so far:
parents of leaves 0..n-1, then of inner nodes in the order made, the root first.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.algorithms.structural.cutkernels import small_spectral_cut
from hcviz.core.buildkernels import find
from hcviz.core.jit import njit
from hcviz.core.repairkernels import gather, induced
from hcviz.core.treekernels import pair_lca


@njit(shared=True)
def contract(items, begin, end, rows, active, t_begin, t_end, link, number):
    """Join a and b of every active ab|c; return the number of supernodes.

    ``number[item]`` becomes its supernode. Supernodes are numbered by their first items.
    """
    for k in range(begin, end):
        link[items[k]] = items[k]
        number[items[k]] = -1
    for k in range(t_begin, t_end):
        a = find(link, rows[active[k], 0])
        b = find(link, rows[active[k], 1])
        link[max(a, b)] = min(a, b)
    count = 0
    for k in range(begin, end):
        x = items[k]
        root = find(link, x)
        if number[root] < 0:
            number[root] = count
            count += 1
        number[x] = number[root]
    return count


@njit
def supernode_sizes(items, begin, end, number, count):
    """Return the number of items in each supernode, int64 (count,)."""
    sizes = np.zeros(count, np.int64)
    for k in range(begin, end):
        sizes[number[items[k]]] += 1
    return sizes


@njit(shared=True)
def add_weights(matrix, low, items, begin, end, number, first, last, weights):
    """Add rows ``first .. last - 1`` of ``items`` to the supergraph's ``weights``.

    Parallel edges are summed; ``low`` is subtracted from every similarity; the diagonal is left
    out.
    """
    for k in range(first, last):
        x = items[k]
        row = matrix[x]
        out = weights[number[x]]
        own = number[x]
        for j in range(begin, end):
            y = items[j]
            if number[y] != own:
                out[number[y]] += max(row[y] - low, 0.0)


@njit
def copy_weights(matrix, low, items, begin, end, first, last, weights):
    """Do the same as :func:`add_weights` if every item is a supernode, twice as fast."""
    for k in range(first, last):
        row = matrix[items[k]]
        out = weights[k - begin]
        for j in range(begin, end):
            out[j - begin] = max(row[items[j]] - low, 0.0)
        out[k - begin] = 0.0


@njit(shared=True)
def add_triplet_prices(rows, active, t_begin, t_end, price, key, weights):
    """Add the price of every active ab|c to the edge a-b.

    A cut that separates a and b while c is in the set pays it (Chatziafratis et al. 2018, section
    3: the hyperedge {a, b, c} as a triangle).
    """
    for k in range(t_begin, t_end):
        t = active[k]
        a, b = key[rows[t, 0]], key[rows[t, 1]]
        if a != b:
            weights[a, b] += price[t]
            weights[b, a] += price[t]


@njit
def add_inner_weights(matrix, items, begin, end, number, own):
    """Add the weight of all pairs inside each supernode to ``own``."""
    for k in range(begin, end):
        x = items[k]
        row = matrix[x]
        for j in range(k + 1, end):
            if number[items[j]] == number[x]:
                own[number[x]] += row[items[j]]


@njit
def has_dominant(sizes):
    """Return True if a supernode has more than two thirds of the items: then no cut is balanced."""
    return 3 * sizes.max() > 2 * sizes.sum()


@njit(shared=True)
def split_set(
    items, begin, end, active, t_begin, t_end, rows, key, side, spare_items, spare_active, at
):
    """Carry out a cut; return ``(where, t_where, t_stop)``, the ends of the first sides and of the
    rest.

    ``key[item]`` is the supernode, and ``side`` is True for supernodes on the first side. Items
    stay increasing on both sides; triplets that the cut resolves are dropped.
    """
    where = begin
    for k in range(begin, end):
        x = items[k]
        key[x] = 0 if side[key[x]] else 1
        if key[x] == 0:
            where += 1
    first, second = begin, where
    for k in range(begin, end):
        x = items[k]
        if key[x] == 0:
            spare_items[first] = x
            first += 1
        else:
            spare_items[second] = x
            second += 1
    for k in range(begin, end):
        items[k] = spare_items[k]
    room = np.array([where - begin, end - where])
    gather(key, room, rows, active, t_begin, t_end, 2, spare_active, at)
    return where, at[1], at[2]


@njit
def divide_to_leaves(
    matrix, low, items, begin, end, rows, active, t_begin, t_end, over, up, made,
    link, key, spare_items, spare_active, price, balanced, refined, uneven,
):  # fmt: skip
    """Divide one small set down to its leaves by spectral sweep cuts; return the nodes made.

    It is one compiled call, since most sets of a recursion are small. ``price`` (m,) makes triplets
    soft; if it is empty, they are hard. ``uneven[0]`` counts the sets without a balanced cut.
    """
    pending = np.empty((end - begin + 1, 5), np.int64)
    pending[0] = np.array([begin, end, t_begin, t_end, over])
    waiting = 1
    at = np.empty(4, np.int32)
    soft = price.size > 0
    while waiting:
        waiting -= 1
        begin, end, t_begin, t_end, over = pending[waiting]
        if end - begin == 1:
            up[items[begin]] = over
            continue
        up[made] = over
        over = made
        made += 1
        joined = t_begin if soft else t_end
        count = contract(items, begin, end, rows, active, t_begin, joined, link, key)
        sizes = supernode_sizes(items, begin, end, key, count)
        weights = np.zeros((count, count))
        if count > 2:
            add_weights(matrix, low, items, begin, end, key, begin, end, weights)
            if soft:
                add_triplet_prices(rows, active, t_begin, t_end, price, key, weights)
        if balanced and has_dominant(sizes):
            uneven[0] += 1
        side = small_spectral_cut(weights, sizes, balanced, refined)
        where, t_where, t_stop = split_set(
            items, begin, end, active, t_begin, t_end, rows, key, side,
            spare_items, spare_active, at,
        )  # fmt: skip
        pending[waiting] = np.array([begin, where, t_begin, t_where, over])
        pending[waiting + 1] = np.array([where, end, t_where, t_stop, over])
        waiting += 2
    return made


@njit
def graft(items, begins, ends, overs, place, position, table, up, made, n_nodes):
    """Attach another tree, restricted to each pending set, to ``up``; return the nodes made.

    ``place`` is that tree's inverted leaf order; ``position`` and ``table`` are its LCA table;
    ``n_nodes`` is its number of nodes.
    """
    n = items.size
    sorted_items = np.empty(n, np.int32)
    between = np.empty(n, np.int32)
    stack = np.empty(n, np.int32)
    nodes = np.empty(n, np.int32)
    above = np.empty(n_nodes, np.int32)
    first = np.empty(n_nodes, np.int32)
    last = np.empty(n_nodes, np.int32)
    new = np.empty(n_nodes, np.int32)
    for s in range(begins.size):
        begin, end, over = begins[s], ends[s], overs[s]
        if end - begin == 1:
            up[items[begin]] = over
            continue
        order = np.argsort(place[items[begin:end]])
        for k in range(begin, end):
            sorted_items[k] = items[begin + order[k - begin]]
        for k in range(begin, end - 1):
            between[k] = pair_lca(sorted_items[k], sorted_items[k + 1], position, table)
        count = induced(sorted_items, begin, end, between, stack, nodes, above, first, last)
        for k in range(count - 1, -1, -1):
            u = nodes[k]
            up[made] = over if above[u] < 0 else new[above[u]]
            new[u] = made
            made += 1
        for k in range(begin, end):
            low = n_nodes
            if k > begin:
                low = between[k - 1]
            if k < end - 1 and between[k] < low:
                low = between[k]
            up[sorted_items[k]] = new[low]
    return made
