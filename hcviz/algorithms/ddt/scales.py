"""Updates of sigma and of the leaf noise nu, given the tree and its times.

The noise variance of a leaf is nu sigma_d^2 in column d. Priors: sigma_d^2 ~ inverse-Gamma(SHAPE,
s_d^2). The density of nu is (1 + nu)^-2, so nu / (1 + nu), the share of noise in the variance of a
leaf, is uniform on (0, 1). If nu is learnt, both priors are restricted to

    nu sigma_d^2 >= floor_d   in every column d,

where floor_d is the variance of rounding to the column's resolution (``leafnoise.py``), 0 without
ties. The restriction bounds the likelihood, so the posterior is proper (docs/leaf-noise.md).

Given the tree, 1 / sigma_d^2 is a Gamma variable below nu / floor_d, and sigma can be integrated
out of the density of nu. So a Metropolis step for nu, or for c with times, costs one pass over the
messages. Another move multiplies all of 1 - t and nu by a factor, and divides all of sigma^2 by it.
Only the root's factor of the likelihood changes, so the move costs O(n + d).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import math

from hcviz.algorithms.ddt.moves import LATEST
from hcviz.algorithms.ddt.times import RATE as RATE_C
from hcviz.algorithms.ddt.times import SHAPE as SHAPE_C
from hcviz.algorithms.ddt.work import (
    HARMONIC,
    LEARNT,
    NOISE,
    PARENT,
    PROPOSALS,
    ROOT,
    SLOT,
    VAR,
    C,
    H,
    U,
)
from hcviz.core.copykernels import copy_matrix, copy_vector
from hcviz.core.jit import njit

#: The shape of sigma^2's inverse-Gamma prior; its scale is given at the start.
SHAPE = 1.0
#: nu stays between exp(-MAX_LOG_NOISE) and exp(MAX_LOG_NOISE), far outside any posterior.
MAX_LOG_NOISE = 200.0


@njit
def root_message(w):
    """Return the root's message (var, mean...), with means in the data's units. O(d)."""
    root = w.tally[ROOT]
    top = w.msg[2 * root + w.node[root, SLOT]].copy()
    top[1:] *= w.sigma
    return top


@njit
def proposal_is_due(w):
    """Return True if this sweep proposes another nu or c: every second sweep, to save time.

    It depends on the number of proposals alone, so a continued chain makes the same moves.
    """
    return (w.tally[PROPOSALS] // w.data.shape[0]) % 2 == 0


@njit
def noise_is_due(w):
    """Return True if the next proposal is another nu, False if it is another c; they alternate."""
    return (w.tally[PROPOSALS] // w.data.shape[0]) % 4 < 2


@njit(error_model="numpy")
def propose(w, rng):
    """Write another nu into ``w``, or another c with all u scaled by 1 / c. O(n).

    Returns the old nu or c, and the old times. The caller calls :func:`refresh`. With noise, c and
    late times determine each other, so c alone would mix slowly.
    """
    n, dims = w.data.shape
    times = w.time.copy()
    step = math.tan(math.pi * (rng.random() - 0.5)) * 2.0  # Cauchy: steps of every size
    step = min(max(step, -2 * MAX_LOG_NOISE), 2 * MAX_LOG_NOISE)
    if noise_is_due(w):
        old = w.real[NOISE]
        # Given all else, log nu has a standard deviation of sqrt(2 / (n d)) or more.
        w.real[NOISE] = math.exp(math.log(old) + step / math.sqrt(n * max(dims, 1)))
        return old, times
    old = w.real[C]
    factor = math.exp(step / math.sqrt(n))
    w.real[C] = old * factor
    for v in range(n, w.node.shape[0]):
        w.time[v, U] /= factor
    return old, times


@njit(error_model="numpy")
def accept_or_restore(w, rng, scale, common, old, times, logs, square, top, other_logs, other):
    """Accept the values of :func:`propose`, or restore the old ones. O(n + d).

    Sigma is integrated out. ``logs``, ``square`` and ``top`` (:func:`root_message`) belong to the
    old values, ``other_logs`` and ``other`` to the new. ``square`` and ``top`` are overwritten with
    those of the result.
    """
    nu, c = w.real[NOISE], w.real[C]
    turn = noise_is_due(w)
    threshold = math.log(1.0 - rng.random())
    gain = -math.inf
    if is_valid(w):
        gain = log_noise_given_tree(w, scale, common, nu, other_logs, other)
        gain -= log_noise_given_tree(w, scale, common, old if turn else nu, logs, square)
        if not turn:  # of log c; the tree's terms in c and u are the same before and after
            gain += SHAPE_C * math.log(c / old) - RATE_C * (c - old)
    if threshold < gain:
        copy_vector(square, other)
        copy_vector(top, root_message(w))
        return
    w.real[NOISE if turn else C] = old
    copy_matrix(w.time, times)


@njit
def is_valid(w):
    """Return True if nu, c and times are in their bounds, and times increase from parent to
    child."""
    node, time = w.node, w.time
    if not (abs(math.log(w.real[NOISE])) < MAX_LOG_NOISE and 1e-8 < w.real[C] < 1e8):
        return False
    latest = LATEST if w.data.shape[1] > 0 else math.inf
    for v in range(w.data.shape[0], node.shape[0]):
        above = node[v, PARENT]
        if not (time[above, U] if above >= 0 else 0.0) < time[v, U] < latest:
            return False  # because of rounding, or too late
    return True


@njit(error_model="numpy")
def log_noise_given_tree(w, scale, common, nu, logs, square):
    """Return the log density of log nu given tree and data, up to a constant. O(d).

    Sigma is integrated out. ``square`` is that of :func:`sweep.squares_part` at the current sigma.
    """
    n, dims = w.data.shape
    value = math.log(nu) - 2.0 * math.log1p(nu) - 0.5 * dims * logs
    total = 0.0
    highest = 0.0
    for d in range(dims):
        half = 0.5 * square[d] * w.sigma[d] * w.sigma[d]
        total += half
        highest = max(highest, w.noise_floor[d])
        if not common:
            value += log_scale(SHAPE + 0.5 * n, scale[d] + half, nu, w.noise_floor[d])
    if common and dims > 0:
        value += log_scale(SHAPE + 0.5 * n * dims, scale[0] + total, nu, highest)
    return value


@njit(error_model="numpy")
def log_scale(shape, rate, nu, floor):
    """Return the log of the integral of x^(shape - 1) exp(-rate x) over 0 < x <= nu / floor, less a
    constant."""
    value = -shape * math.log(rate)
    if floor > 0.0:
        value += log_gamma_cdf(shape, rate * nu / floor)
    return value


@njit(error_model="numpy")
def log_gamma_cdf(shape, x):
    """Return the log of the regularised lower incomplete gamma function; O(sqrt(shape)) terms.

    Below the mean it is computed by its series, above by Lentz's continued fraction of the other
    tail.
    """
    if not x > 0.0:
        return -math.inf
    front = shape * math.log(x) - x - math.lgamma(shape)
    if x < shape + 1.0:
        term = 1.0 / shape
        total = term
        k = shape
        while term > 1e-17 * total:
            k += 1.0
            term *= x / k
            total += term
        return front + math.log(total)
    b = x + 1.0 - shape
    c = 1e300
    d = 1.0 / b
    value = d
    for i in range(1, 100_000):
        a = -i * (i - shape)
        b += 2.0
        d = a * d + b
        d = 1.0 / (d if abs(d) > 1e-300 else 1e-300)
        c = b + a / c
        if abs(c) < 1e-300:
            c = 1e-300
        value *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return math.log1p(-min(math.exp(front) * value, 1.0))


@njit(error_model="numpy")
def gamma_below(rng, shape, top):
    """Draw a standard Gamma(shape) variable given that it is at most ``top``, for shape > 1.
    Exact."""
    if top >= shape - 1.0:  # a quarter of the mass or more
        while True:
            x = rng.standard_gamma(shape)
            if x <= top:
                return x
    # x = top (1 - e): (1 - e)^(shape - 1) exp(top e) is at most exp(-(shape - 1 - top) e)
    rate = shape - 1.0 - top
    while True:
        e = rng.random()
        if rate > 1e-9:
            e = -math.log1p(e * math.expm1(-rate)) / rate
        if e < 1.0 and math.log(1.0 - rng.random()) < (shape - 1.0) * (math.log1p(-e) + e):
            return top * (1.0 - e)


@njit(error_model="numpy")
def draw_sigma(w, rng, scale, common, square):
    """Draw sigma^2 given tree, times and nu, for each dimension or for all: inverse-Gamma. O(d).

    ``square`` is that of :func:`sweep.squares_part`, and is overwritten. The leaf noise is a share
    of sigma^2, so sigma^2 is conjugate with and without noise. If nu is learnt, sigma^2 is at least
    floor / nu.
    """
    n, dims = w.data.shape
    sigma = w.sigma
    learnt = w.tally[LEARNT] == 1
    total = 0.0
    highest = 0.0
    for d in range(dims):
        square[d] *= 0.5 * sigma[d] * sigma[d]
        total += square[d]
        highest = max(highest, w.noise_floor[d])
    if common and dims > 0:
        rate = scale[0] + total
        top = rate * w.real[NOISE] / highest if learnt and highest > 0.0 else math.inf
        sigma[:] = math.sqrt(rate / gamma_below(rng, SHAPE + 0.5 * n * dims, top))
    else:
        for d in range(dims):
            rate = scale[d] + square[d]
            top = math.inf
            if learnt and w.noise_floor[d] > 0.0:
                top = rate * w.real[NOISE] / w.noise_floor[d]
            sigma[d] = math.sqrt(rate / gamma_below(rng, SHAPE + 0.5 * n, top))


@njit(error_model="numpy")
def log_rescaled(z, fall, size, ratio, nu, var, h, square, dims):
    """Return the log density of :func:`rescale`'s z, up to a constant."""
    part = nu * math.exp(-z)
    both = var + (math.exp(z) - h)
    value = -fall * z - 2.0 * math.log1p(part) - size * SHAPE * z - ratio * math.exp(-z)
    return value - z - 0.5 * (dims * math.log(both) + square / both)


@njit(error_model="numpy")
def rescale(w, rng, scale, common, top):
    """Slice-sample z: add z to every u and to log sigma^2, subtract it from log nu. O(n + d).

    In the data's units only the root's branch changes, so only the root's factor of the likelihood
    changes. ``top`` is :func:`root_message` at the current nu. The map preserves volume in (u, log
    nu, log sigma^2). The caller calls :func:`refresh`.
    """
    node, time, sigma = w.node, w.time, w.sigma
    n, dims = w.data.shape
    if dims == 0:
        return
    root = w.tally[ROOT]
    latest = 0.0
    for v in range(n, node.shape[0]):
        latest = max(latest, time[v, U])
    ratio = 0.0
    square = 0.0
    for d in range(dims):
        part = 1.0 / (sigma[d] * sigma[d])
        square += top[1 + d] * top[1 + d] * part
        if d == 0 or not common:
            ratio += scale[d] * part
    size = 1 if common else dims
    fall = w.real[C] * w.table[HARMONIC, n - 1]
    nu, var, h = w.real[NOISE], top[VAR], time[root, H]
    level = log_rescaled(0.0, fall, size, ratio, nu, var, h, square, dims)
    level += math.log(1.0 - rng.random())
    begin, end = -time[root, U], LATEST - latest
    z = 0.0
    for _ in range(200):
        z = begin + rng.random() * (end - begin)
        if log_rescaled(z, fall, size, ratio, nu, var, h, square, dims) >= level:
            break
        if z < 0.0:
            begin = z
        else:
            end = z
    else:
        return
    times = time.copy()
    for v in range(n, node.shape[0]):
        time[v, U] += z
        time[v, H] = math.exp(-time[v, U])
    w.real[NOISE] = nu * math.exp(-z)
    if is_valid(w):
        sigma *= math.exp(0.5 * z)
    else:
        copy_matrix(time, times)
        w.real[NOISE] = nu
