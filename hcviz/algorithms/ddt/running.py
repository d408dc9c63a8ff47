"""``Chain``: one chain on its way, advanced by short calls: a cancel is seen between them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from hcviz.algorithms.ddt.chain import advance, learn_scale
from hcviz.algorithms.ddt.density import postorder, refresh_inner, refresh_leaves
from hcviz.algorithms.ddt.state import DdtState
from hcviz.algorithms.ddt.times import draw_locations, sweep_begin, sweep_some
from hcviz.algorithms.ddt.work import GIVEN, PROPOSALS, ROOT, Float, Work

#: Seconds that one call of a kernel should take.
CALL = 0.015
#: A cycle that has no end within reach.
NEVER = 10**15
#: Sweeps of more than this, n * (200 + d), some 10 ms, are made in parts.
LARGE = 2_000_000


class Chain:
    """A chain's arrays, its random numbers, the state that it goes on from, and what is due.

    ``due`` SPR proposals are made by repeated :meth:`go`, until :attr:`busy` is False. How the work
    is cut has no say in its result, so the clock may decide it.
    """

    def __init__(
        self,
        w: Work,
        rng: np.random.Generator,
        saved: DdtState | None,
        learn: bool,
        scale: Float,
        common: bool,
    ) -> None:
        self.w, self.rng, self.saved = w, rng, saved
        self.learn, self.scale, self.common = learn, scale, common
        self.due = 0
        n, dims = w.data.shape
        self._large = n * (200 + dims) > LARGE
        self._chunk = max(1, min(32, 500_000 // (dims + 1)))
        self._sweep: Iterator[None] | None = None

    @property
    def busy(self) -> bool:
        return self.due > 0 or self._sweep is not None

    def go(self) -> None:
        """One more call: some proposals with their sweeps, or a part of a large sweep."""
        if self._sweep is not None:
            if next(self._sweep, self) is self:
                self._sweep = None
            return
        n = self.w.data.shape[0]
        count = min(self._chunk, self.due)
        cycle = n
        if self._large:
            count = min(count, n - int(self.w.tally[PROPOSALS]) % n)
            cycle = NEVER
        began = time.perf_counter()
        advance(self.w, self.rng, count, cycle, self.learn, self.scale, self.common)
        took = time.perf_counter() - began
        self.due -= count
        self._chunk = max(1, min(int(count * CALL / max(took, 1e-6)), 4 * self._chunk, 1 << 20))
        if self._large and self.w.tally[PROPOSALS] % n == 0:
            self._sweep = self._parts()

    def _parts(self) -> Iterator[None]:
        """:func:`hcviz.algorithms.ddt.chain.sweep`, cut into calls of some 10 ms."""
        w, rng = self.w, self.rng
        given = bool(w.tally[GIVEN])
        if given:
            yield from self._refresh()
        visits = 20_000_000 // (500 + 5 * w.data.shape[1]) + 1
        top = sweep_begin(w)
        while top > 0:
            top = sweep_some(w, rng, top, visits)
            yield
        if self.learn:
            learn_scale(w, rng, self.scale, self.common)
            yield
            yield from self._refresh()
        if given:
            draw_locations(w, rng)
            yield

    def _refresh(self) -> Iterator[None]:
        w = self.w
        n, dims = w.data.shape
        block = 5_000_000 // (50 + 2 * dims) + 1
        for begin in range(0, n, block):
            refresh_leaves(w, begin, min(begin + block, n))
            yield
        number = postorder(w.node, w.spare, w.tally[ROOT])
        for begin in range(0, number, block):
            refresh_inner(w, begin, min(begin + block, number))
            yield
