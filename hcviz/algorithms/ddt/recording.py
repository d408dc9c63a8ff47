"""``Recorder``: a chain that copies its thinned trees to arrays inside compiled code."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import log_joint, postorder, refresh
from hcviz.algorithms.ddt.running import CALL_SECONDS, Chain
from hcviz.algorithms.ddt.work import GIVEN, ORDER, PARENT, ROOT, SLOT, H
from hcviz.core.jit import compile_for, njit
from hcviz.posterior.draws import Draws


@njit(error_model="numpy")
def copy_draw(w, parent, height):
    """Copy the current tree to ``parent`` (m,) and ``height`` (n - 1,); return the log joint.

    Inner nodes are numbered with parents after children; heights are 1 - t. O(n d).
    """
    node, n = w.node, w.data.shape[0]
    number = postorder(node, w.spare, w.tally[ROOT])
    rank = np.arange(node.shape[0]).astype(np.int32)
    for place in range(number):
        rank[w.spare[ORDER, place]] = n + place
    for v in range(node.shape[0]):
        above = node[v, PARENT]
        parent[rank[v]] = rank[above] if above >= 0 else -1
        if v >= n:
            height[rank[v] - n] = w.time[v, H]
    if w.tally[GIVEN] == 0:
        return log_joint(w)
    refresh(w)
    value = log_joint(w)
    for v in range(n, node.shape[0]):  # restore the given locations, which are in the other rows
        node[v, SLOT] = 1 - node[v, SLOT]
    return value


@njit
def advance_recording(
    w, rng, proposals, learn, scale, common, made, thin, held, parent, height, joint
):
    """Advance by ``proposals``; copy each tree whose number of proposals ``thin`` divides.

    Returns ``(made, held)``, earlier if the arrays are full.
    """
    n = w.data.shape[0]
    end = made + proposals
    while made < end and held < parent.shape[0]:
        step = min(end - made, thin - made % thin)
        advance(w, rng, step, n, learn, scale, common)
        made += step
        if made % thin == 0:
            joint[held] = copy_draw(w, parent[held], height[held])
            held += 1
    return made, held


class Recorder:
    """A chain as a :class:`hcviz.posterior.draws.Sampler`."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._chunk = 32
        self._advance: Callable[..., tuple[int, int]] | None = None
        # Compile or load the kernels before anything is timed.
        draws = Draws(len(chain.w.data), 1)
        self.record(draws)
        self._go(draws, 0)

    def advance(self, draws: Draws, proposals: int, stop: Callable[[], bool]) -> None:
        """Make proposals until ``draws.n_proposals`` is ``proposals``; stops after about 15 ms."""
        while draws.n_proposals < proposals and not stop():
            if draws.is_full:
                draws.thin_out()
            count = min(self._chunk, proposals - draws.n_proposals)
            before, began = draws.n_proposals, time.perf_counter()
            self._go(draws, count)
            took = max(time.perf_counter() - began, 1e-6)
            wanted = int((draws.n_proposals - before) * CALL_SECONDS / took)
            self._chunk = max(1, min(wanted, 4 * self._chunk, 1 << 20))

    def _go(self, draws: Draws, count: int) -> None:
        """Make ``count`` proposals."""
        chain = self.chain
        arguments = (
            chain.w, chain.rng, count, chain.learn, chain.scale, chain.common,
            draws.n_proposals, draws.thin, draws.n_draws,
            draws.parent, draws.height, draws.log_joint,
        )  # fmt: skip
        if self._advance is None:
            self._advance = compile_for(advance_recording, *arguments)
        draws.n_proposals, draws.n_draws = self._advance(*arguments)

    def record(self, draws: Draws) -> None:
        """Copy the current tree."""
        at = draws.n_draws
        draws.log_joint[at] = copy_draw(self.chain.w, draws.parent[at], draws.height[at])
        draws.n_draws += 1
