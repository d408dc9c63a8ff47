"""Compiled cuts of one supergraph: balanced sweeps, refinement, enumeration, conditional means.

A supergraph is a dense symmetric ``weights`` (k, k), usually with a zero diagonal, and ``sizes``
int64 (k,), the number of items of each supernode. A cut is ``side``, bool (k,). It is balanced if
each side has at least a third of the items.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit
from hcviz.core.spectralkernels import (
    best_prefix,
    component_labels,
    degrees,
    exact_vector,
    prefixes,
    small_cut,
)


@njit
def is_balanced(inside, total):
    """Return True if both sides have at least a third of the items."""
    return 3 * inside >= total and 3 * (total - inside) >= total


@njit(shared=True)
def balanced_sweep(weights, degree, values, sizes):
    """Return the lightest balanced prefix of the nodes ordered by ``values``: bool (k,).

    Ties are broken as in :func:`hcviz.core.spectralkernels.best_prefix`. If no prefix is balanced,
    some supernode has more than a third of the items, and the largest is cut off. This is balanced
    unless it has more than two thirds. Then no cut is balanced, and this one is the nearest.
    """
    place, cuts, held = prefixes(weights, degree, values, sizes)
    total = sizes.sum()
    for i in range(cuts.size):
        if not is_balanced(held[i], total):
            cuts[i] = np.inf
    best = best_prefix(cuts, held, total)
    if cuts[best] < np.inf:
        return place <= best
    side = np.zeros(sizes.size, np.bool_)
    side[np.argmax(sizes)] = True
    return side


@njit
def link_pieces(weights, sizes):
    """Add a tiny weight to every pair, in place, so that a disconnected graph has an order."""
    k = sizes.size
    trace = 1e-6 * weights.sum() / (k * k)
    if trace == 0.0:
        trace = 1.0
    for i in range(k):
        for j in range(k):
            if i != j:
                weights[i, j] += trace


@njit(shared=True)
def small_balanced_cut(weights, sizes):
    """Return the balanced spectral sweep cut of at most ``EXACT`` nodes; may add tiny weights."""
    k = sizes.size
    if k == 2:
        return np.array([True, False])
    if component_labels(weights)[1] > 1:
        link_pieces(weights, sizes)
    degree = degrees(weights)
    return balanced_sweep(weights, degree, exact_vector(weights, degree), sizes)


@njit
def cut_value(cut, inside, total, balanced):
    """Return what is minimised: the cut's weight, or w(S, S^c) / (|S| |S^c|) if not
    ``balanced``."""
    return cut if balanced else cut / (np.float64(inside) * (total - inside))


@njit(shared=True)
def refine(weights, sizes, side, balanced, sign):
    """Move single supernodes to the other side, in place: the best move, while one helps.

    A move helps if it lowers ``sign`` times w(S, S^c) / (|S| |S^c|); with ``balanced``, if it
    lowers ``sign`` w(S, S^c) and both sides keep a third of the items. The result is locally
    optimal. O(k^2), and O(k) for each move.
    """
    k = sizes.size
    total = sizes.sum()
    inside = 0
    cut = 0.0
    gain = np.zeros(k)  # how much lighter the cut becomes if the node moves
    nodes = 0
    for i in range(k):
        row = weights[i]
        across, along = 0.0, 0.0
        for j in range(k):
            if side[j] != side[i]:
                across += row[j]
            elif j != i:
                along += row[j]
        gain[i] = across - along
        cut += across / 2.0
        if side[i]:
            inside += sizes[i]
            nodes += 1
    if balanced and not is_balanced(inside, total):
        return
    scale = 0.0
    for i in range(k):
        scale = max(scale, abs(gain[i]))
    while True:
        now = sign * cut_value(cut, inside, total, balanced)
        least = now - 1e-12 * max(abs(now), cut_value(scale, 1, total, balanced))
        best = -1
        for i in range(k):
            left = inside - sizes[i] if side[i] else inside + sizes[i]
            if left == 0 or left == total or (balanced and not is_balanced(left, total)):
                continue
            value = sign * cut_value(cut - gain[i], left, total, balanced)
            if value < least:
                best, least = i, value
        if best < 0:
            return
        cut -= gain[best]
        gain[best] = -gain[best]
        row = weights[best]
        for j in range(k):
            if j != best:  # edges inside a side become edges across, and the reverse
                if side[j] == side[best]:
                    gain[j] += 2.0 * row[j]
                else:
                    gain[j] -= 2.0 * row[j]
        inside += -sizes[best] if side[best] else sizes[best]
        side[best] = not side[best]


@njit
def best_cut(weights, sizes, balanced):
    """Return the best of all 2^(k-1) - 1 cuts, in the order of a Gray code: bool (k,).

    The best cut has the least w(S, S^c) / (|S| |S^c|), or is the lightest balanced one. If none is
    balanced, it is the most even one. Of equals (to 1e-9) it is the most even, then the first. Node
    0 is on the first side.
    """
    k = sizes.size
    total = sizes.sum()
    side = np.zeros(k, np.bool_)
    found = np.zeros(k, np.bool_)
    side[0] = True
    inside = sizes[0]
    cut = 0.0
    for j in range(1, k):
        cut += weights[0, j]
    found[0] = True
    scale = 1e-12 * (np.abs(weights).sum() + 1e-300)
    least, gap, fits = np.inf, np.inf, False
    for code in range(1 << (k - 1)):
        if code > 0:
            v = 1
            while code >> (v - 1) & 1 == 0:
                v += 1
            row = weights[v]
            across, along = 0.0, 0.0
            for j in range(k):
                if j != v:
                    if side[j] == side[v]:
                        along += row[j]
                    else:
                        across += row[j]
            cut += along - across
            inside += -sizes[v] if side[v] else sizes[v]
            side[v] = not side[v]
        if inside == total:
            continue
        even = abs(2.0 * inside - total)
        fit = is_balanced(inside, total)
        value = cut_value(cut, inside, total, balanced)
        slack = 1e-9 * abs(value) + cut_value(scale, inside, total, balanced)
        if balanced and fit != fits:
            better = fit
        elif balanced and not fit:
            better = even < gap or (even == gap and value < least - slack)
        else:
            better = value < least - slack or (value <= least + slack and even < gap)
        if better:
            least, gap, fits = value, even, fit
            found[:] = side
    return found


@njit
def small_spectral_cut(weights, sizes, balanced, refined):
    """Return the spectral cut of a small graph, balanced or refined if wanted."""
    side = small_balanced_cut(weights, sizes) if balanced else small_cut(weights, sizes)
    if refined and sizes.size > 2:
        refine(weights, sizes, side, balanced, 1.0)
    return side


@njit
def densest_single_cut(weights, sizes):
    """Return the densest cut that separates one supernode from all others: bool (k,)."""
    k = sizes.size
    total = sizes.sum()
    best, most = 0, -np.inf
    for i in range(k):
        cut = 0.0
        for j in range(k):
            if j != i:
                cut += weights[i, j]
        density = cut_value(cut, sizes[i], total, False)
        if density > most * (1.0 + 1e-12) or best < 0 or most == -np.inf:
            best, most = i, density
    side = np.zeros(k, np.bool_)
    side[best] = True
    return side


@njit
def coin_sides(rng, k):
    """Toss a fair coin for each of k supernodes, again until both sides have one: bool (k,)."""
    side = np.empty(k, np.bool_)
    while True:
        heads = 0
        for v in range(k):
            side[v] = rng.random() < 0.5
            heads += side[v]
        if 0 < heads < k:
            return side


#: Sums over supernodes with weights W, sizes s and probabilities p: of W p, W s p^2 and W s p.
WP, WSPP, WSP = 0, 1, 2


@njit
def expected_value(total, within, held_l, held_r, sums_l, sums_r, own_l, own_r, own_square):
    """Return the expected value of recursive random cutting, given each supernode's side
    probability.

    A pair that is separated now counts ``total``. A pair that stays together counts 2, plus 2/3 for
    each other item on its side. ``sums`` are, for one side with probabilities p: the sum of W_PQ
    p_P p_Q, the same times (s_P p_P + s_Q p_Q), and the same times (s_P + s_Q). ``held`` is the
    expected number of items on a side, ``own`` the sum of I_P p_P, and ``own_square`` that of I_P
    s_P (p_P^2 + q_P^2).
    """
    third = 2.0 / 3.0
    value = total * (within - sums_l[WP] - sums_r[WP])
    value += 2.0 * sums_l[WP] + third * (
        sums_l[WSP] - 2.0 * sums_l[WP] + held_l * sums_l[WP] - sums_l[WSPP]
    )
    value += 2.0 * sums_r[WP] + third * (
        sums_r[WSP] - 2.0 * sums_r[WP] + held_r * sums_r[WP] - sums_r[WSPP]
    )
    return value + third * (held_l * own_l + held_r * own_r - own_square)


@njit
def conditional_sides(weights, own, sizes):
    """Choose sides by conditional expectations of random cutting: bool (k,). O(k^2).

    ``own`` (k,) are the weights inside the supernodes. One supernode after the other goes to the
    side with the higher expected value of recursive random cutting, while the sides of later ones
    are random. The last goes to an empty side if there is one.
    """
    k = sizes.size
    total = np.float64(sizes.sum())
    # For each side and node: the sums over the others.
    near = np.zeros((2, 3, k))
    sums = np.zeros((2, 3))
    within = 0.0
    for v in range(k):
        for j in range(k):
            if j != v:
                w = weights[v, j]
                within += w / 2.0
                for x in range(2):
                    near[x, WP, v] += 0.5 * w
                    near[x, WSPP, v] += 0.25 * w * sizes[j]
                    near[x, WSP, v] += 0.5 * w * sizes[j]
        for x in range(2):
            sums[x, WP] += near[x, WP, v] * 0.5 / 2.0
            sums[x, WSPP] += near[x, WSPP, v] * 0.5
            sums[x, WSP] += (near[x, WSP, v] + sizes[v] * near[x, WP, v]) * 0.5 / 2.0
    held = np.array([total / 2.0, total / 2.0])
    mine = np.array([own.sum() / 2.0, own.sum() / 2.0])
    square = 0.0
    for v in range(k):
        square += own[v] * sizes[v] / 2.0
    side = np.zeros(k, np.bool_)
    trial = np.empty((2, 2, 3))
    trial_held = np.empty((2, 2))
    trial_mine = np.empty((2, 2))
    first = 0
    for v in range(k):
        s = np.float64(sizes[v])
        worth = np.empty(2)
        new_square = square + own[v] * s / 2.0
        for option in range(2):  # 0: left, whose probability becomes 1
            for x in range(2):
                p = 1.0 if option == x else 0.0
                for old in range(2):
                    q = 0.5 if old == 0 else p
                    add = -1.0 if old == 0 else 1.0
                    if old == 0:
                        trial[option, x] = sums[x]
                    trial[option, x, WP] += add * q * near[x, WP, v]
                    trial[option, x, WSPP] += add * q * (q * s * near[x, WP, v] + near[x, WSPP, v])
                    trial[option, x, WSP] += add * q * (s * near[x, WP, v] + near[x, WSP, v])
                trial_held[option, x] = held[x] + (p - 0.5) * s
                trial_mine[option, x] = mine[x] + (p - 0.5) * own[v]
            worth[option] = expected_value(
                total, within, trial_held[option, 0], trial_held[option, 1],
                trial[option, 0], trial[option, 1],
                trial_mine[option, 0], trial_mine[option, 1], new_square,
            )  # fmt: skip
        chosen = 0 if worth[0] >= worth[1] else 1
        if v == k - 1 and first == 0:
            chosen = 0
        elif v == k - 1 and first == k - 1:
            chosen = 1
        side[v] = chosen == 0
        first += side[v]
        for x in range(2):
            sums[x] = trial[chosen, x]
            held[x] = trial_held[chosen, x]
            mine[x] = trial_mine[chosen, x]
            p = 1.0 if chosen == x else 0.0
            for j in range(k):
                if j != v:
                    w = weights[v, j]
                    near[x, WP, j] += (p - 0.5) * w
                    near[x, WSPP, j] += (p * p - 0.25) * w * s
                    near[x, WSP, j] += (p - 0.5) * w * s
        square = new_square
    return side
