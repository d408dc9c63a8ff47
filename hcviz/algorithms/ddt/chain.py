"""How the moves follow each other: a fixed cycle, so that a chain can be cut and go on anywhere."""

from __future__ import annotations

from hcviz.algorithms.ddt.density import refresh
from hcviz.algorithms.ddt.moves import TRIES_EACH, regraft
from hcviz.algorithms.ddt.scales import learn_scales
from hcviz.algorithms.ddt.times import draw_locations, learn_c, sweep_times
from hcviz.algorithms.ddt.work import GIVEN, PROPOSALS, ROOT, SUBTREE, TRIES
from hcviz.core.jit import njit


@njit
def advance(w, rng, proposals, cycle, learn, scale, common):
    """``proposals`` SPR proposals, a sweep of the other moves after every ``cycle``-th ever.

    A subtree's tries may be cut by the end of a call or a cycle; they go on where they were left.
    """
    count = w.tally
    nodes = w.node.shape[0]
    while proposals > 0:
        if count[TRIES] == 0:
            subtree = int(rng.random() * (nodes - 1))
            count[SUBTREE] = subtree if subtree < count[ROOT] else subtree + 1
            count[TRIES] = TRIES_EACH
        tries = min(count[TRIES], proposals, cycle - count[PROPOSALS] % cycle)
        regraft(w, rng, count[SUBTREE], tries)
        count[TRIES] -= tries
        count[PROPOSALS] += tries
        proposals -= tries
        if count[PROPOSALS] % cycle == 0:
            sweep(w, rng, learn, scale, common)


@njit
def sweep(w, rng, learn, scale, common):
    """Times, then c, leaf noise and sigma where learnt (and then every message anew). O(n d).

    Where locations are given they are integrated out for this and then drawn anew: all of it
    together leaves the joint law of tree, times, c, noise, sigma and locations alone.
    """
    if w.tally[GIVEN] == 1:
        refresh(w)
    sweep_times(w, rng)
    if learn:
        learn_c(w, rng)
        learn_scales(w, rng, scale, common)
        refresh(w)
    if w.tally[GIVEN] == 1:
        draw_locations(w, rng)
