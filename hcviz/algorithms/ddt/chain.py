"""The order of the moves: a fixed cycle, so that a chain can be stopped and continued anywhere."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from hcviz.algorithms.ddt.blocks import block_size, prunes_leaf
from hcviz.algorithms.ddt.moves import TRIES_EACH, regraft
from hcviz.algorithms.ddt.slide import slide
from hcviz.algorithms.ddt.sweep import sweep
from hcviz.algorithms.ddt.work import GIVEN, PROPOSALS, ROOT, SLIDES, SUBTREE, TRIES
from hcviz.core.jit import njit


@njit
def advance(w, rng, proposals, cycle, learn, scale, common):
    """Make ``proposals`` proposals, and a sweep of the other moves after every ``cycle``-th.

    Slides and regrafts take turns: ``SLIDES`` slides, then ``TRIES_EACH`` regrafts of one subtree,
    into blocks of one size. A slide is one proposal, and so is each try of a regraft. The number of
    proposals so far and the tries left decide which is next. So the result does not depend on where
    a call ends.
    """
    count = w.tally
    period = count[SLIDES] + TRIES_EACH
    while proposals > 0:
        number = min(proposals, cycle - count[PROPOSALS] % cycle)
        slides = slides_due(count)
        if slides > 0:
            number = min(number, slides)
            for _ in range(number):
                slide(w, rng)
        else:
            turn = count[PROPOSALS] // period
            if count[TRIES] == 0:
                count[SUBTREE] = draw_subtree(w, rng, prunes_leaf(count, turn))
                count[TRIES] = TRIES_EACH
            number = min(number, count[TRIES], period * (turn + 1) - count[PROPOSALS])
            most = block_size(count, turn, w.data.shape[0])
            regraft(w, rng, count[SUBTREE], number, most)
            count[TRIES] -= number
        count[PROPOSALS] += number
        proposals -= number
        if count[PROPOSALS] % cycle == 0:
            sweep(w, rng, learn, scale, common)


@njit
def draw_subtree(w, rng, is_leaf):
    """Draw the subtree of a regraft: a leaf, or a node other than the root, uniformly."""
    if is_leaf:
        return int(rng.random() * w.data.shape[0])
    subtree = int(rng.random() * (w.node.shape[0] - 1))
    return subtree if subtree < w.tally[ROOT] else subtree + 1


@njit
def slides_due(count):
    """Return the number of slides before the next regraft; 0 if a subtree has tries left.

    There are no slides if locations are given, since Vikram & Dasgupta (2016) only regraft.
    """
    if count[TRIES] > 0 or count[GIVEN] == 1:
        return 0
    return max(0, count[SLIDES] - count[PROPOSALS] % (count[SLIDES] + TRIES_EACH))
