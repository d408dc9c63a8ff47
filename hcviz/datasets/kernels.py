"""Compiled functions for noise that is a function of the pair of items."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from hcviz.core.jit import njit
from hcviz.core.splitmixkernels import child_seed, mix64, uniform


@njit
def normal_quantile(p):
    """Return the quantile of the standard normal distribution at 0 < p < 1, to 1e-16.

    Algorithm AS 241, PPND16, of Wichura (1988).
    """
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        above = ((((((2.5090809287301226727e3 * r + 3.3430575583588128105e4) * r
                     + 6.7265770927008700853e4) * r + 4.5921953931549871457e4) * r
                   + 1.3731693765509461125e4) * r + 1.9715909503065514427e3) * r
                 + 1.3314166789178437745e2) * r + 3.3871328727963666080e0  # fmt: skip
        below = ((((((5.2264952788528545610e3 * r + 2.8729085735721942674e4) * r
                     + 3.9307895800092710610e4) * r + 2.1213794301586595867e4) * r
                   + 5.3941960214247511077e3) * r + 6.8718700749205790830e2) * r
                 + 4.2313330701600911252e1) * r + 1.0  # fmt: skip
        return q * above / below
    r = p if q < 0 else 1.0 - p
    r = np.sqrt(-np.log(r))
    if r <= 5.0:
        r -= 1.6
        above = ((((((7.74545014278341407640e-4 * r + 2.27238449892691845833e-2) * r
                     + 2.41780725177450611770e-1) * r + 1.27045825245236838258e0) * r
                   + 3.64784832476320460504e0) * r + 5.76949722146069140550e0) * r
                 + 4.63033784615654529590e0) * r + 1.42343711074968357734e0  # fmt: skip
        below = ((((((1.05075007164441684324e-9 * r + 5.47593808499534494600e-4) * r
                     + 1.51986665636164571966e-2) * r + 1.48103976427480074590e-1) * r
                   + 6.89767334985100004550e-1) * r + 1.67638483018380384940e0) * r
                 + 2.05319162663775882187e0) * r + 1.0  # fmt: skip
    else:
        r -= 5.0
        above = ((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r
                     + 1.24266094738807843860e-3) * r + 2.65321895265761230930e-2) * r
                   + 2.96560571828504891230e-1) * r + 1.78482653991729133580e0) * r
                 + 5.46378491116411436990e0) * r + 6.65790464350110377720e0  # fmt: skip
        below = ((((((2.04426310338993978564e-15 * r + 1.42151175831644588870e-7) * r
                     + 1.84631831751005468180e-5) * r + 7.86869131145613259100e-4) * r
                   + 1.48753612908506148525e-2) * r + 1.36929880922735805310e-1) * r
                 + 5.99832206555887937690e-1) * r + 1.0  # fmt: skip
    value = above / below
    return -value if q < 0 else value


@njit
def ideal_similarities(levels):
    """Return the depth of the LCA of two blocks / levels, float64 (2^levels,).

    The index is the exclusive or of the blocks. The depth is the length of the common prefix of
    their ``levels`` bits.
    """
    ideal = np.empty(1 << levels)
    for difference in range(ideal.size):
        up = 0
        while difference >> up > 0:
            up += 1
        ideal[difference] = (levels - up) / levels
    return ideal


@njit
def block_similarities(block, ideal, sigma, seed, rows, cols):
    """Return the ideal similarity plus noise, a function of seed and pair: float64 (r, c).

    ``block`` int32 (n,) is the block of each item, ``sigma`` the standard deviation of the noise.
    An item and itself have the similarity 1.
    """
    out = np.empty((rows.size, cols.size))
    n = np.uint64(block.size)
    start = child_seed(np.uint64(seed), 0)
    for i in range(rows.size):
        x = rows[i]
        for j in range(cols.size):
            y = cols[j]
            value = ideal[block[x] ^ block[y]]
            if x != y and sigma > 0.0:
                pair = np.uint64(min(x, y)) * n + np.uint64(max(x, y))
                word = mix64(mix64(pair ^ start) + start)
                value += sigma * normal_quantile(uniform(word))
            out[i, j] = value
    return out
