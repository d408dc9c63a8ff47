"""``Chain``: one chain on its way, advanced by short calls: a cancel is seen between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator

import numpy as np

from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import (
    integrated,
    likelihood_end,
    likelihood_some,
    likelihood_top,
    log_noise,
    log_prior,
    postorder,
    refresh_inner,
    refresh_leaves,
)
from hcviz.algorithms.ddt.scales import (
    choose,
    draw_sigma,
    is_due,
    propose,
    rescale,
    root_message,
)
from hcviz.algorithms.ddt.start import put_first
from hcviz.algorithms.ddt.state import DdtState
from hcviz.algorithms.ddt.times import draw_some, learn_c, sweep_begin, sweep_some
from hcviz.algorithms.ddt.work import GIVEN, LEARNT, PROPOSALS, ROOT, SLOT, Float, Work, allocate
from hcviz.core.jit import compile_for

#: Seconds that one call of a kernel should take.
CALL = 0.015
#: A cycle that has no end within reach.
NEVER = 10**15
#: Sweeps of more than this, n * (200 + d), some 10 ms, are made in parts.
LARGE = 2_000_000
#: What a call may pass over, in nodes * (50 + 2 d): some 10 ms.
PASSED = 5_000_000


class Chain:
    """A chain's arrays, its random numbers, the state that it goes on from, and what is due.

    ``of`` is the digest of its data.

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
        of: str = "",
    ) -> None:
        self.w, self.rng, self.saved, self.of = w, rng, saved, of
        self.learn, self.scale, self.common = learn, scale, common
        self.due = 0
        n, dims = w.data.shape
        self._large = n * (200 + dims) > LARGE
        self._chunk = max(1, min(32, 500_000 // (dims + 1)))
        self._block = PASSED // (50 + 2 * dims) + 4  # nodes that a call may pass over
        self._parts: Iterator[None] | None = None
        self._joint: float | None = None
        self._advance: Callable[..., None] | None = None

    @property
    def busy(self) -> bool:
        return self.due > 0 or self._parts is not None

    @property
    def must_measure(self) -> bool:
        """Whether the log joint is still to be computed, and no location is in the way."""
        return self._joint is None and not self.w.tally[GIVEN]

    def joint(self) -> float:
        """The log joint, locations integrated out. O(n d), unless :meth:`go` has seen to it."""
        found = integrated(self.w) if self._joint is None else self._joint
        self._joint = None
        return found

    def go(self) -> None:
        """One more call: some proposals with their sweeps, or a part of what is large."""
        if self._parts is not None:
            if next(self._parts, self) is self:
                self._parts = None
            return
        n = self.w.data.shape[0]
        count = min(self._chunk, self.due)
        cycle = n
        if self._large:
            count = min(count, n - int(self.w.tally[PROPOSALS]) % n)
            cycle = NEVER
        arguments = (self.w, self.rng, count, cycle, self.learn, self.scale, self.common)
        if self._advance is None:
            self._advance = compile_for(advance, *arguments)
        began = time.perf_counter()
        self._advance(*arguments)
        took = time.perf_counter() - began
        self.due -= count
        self._chunk = max(1, min(int(count * CALL / max(took, 1e-6)), 4 * self._chunk, 1 << 20))
        if self._large:
            self._parts = self._finish(self.w.tally[PROPOSALS] % n == 0, self.due == 0)

    def _finish(self, sweep: bool, measure: bool) -> Iterator[None]:
        """What :meth:`go` owes after its proposals, cut into calls of some 10 ms."""
        if sweep:
            yield from self._swept()
        if measure:
            yield from self._measured()

    def _swept(self) -> Iterator[None]:
        """:func:`hcviz.algorithms.ddt.chain.sweep` in parts."""
        w, rng = self.w, self.rng
        given = bool(w.tally[GIVEN])
        if given:
            yield from self._refreshed()
        visits = 20_000_000 // (500 + 5 * w.data.shape[1]) + 1
        top = sweep_begin(w)
        while top > 0:
            top = sweep_some(w, rng, top, visits)
            yield
        if self.learn:
            learn_c(w, rng)
            yield from self._scales()
            yield from self._refreshed()
        if given:
            end = postorder(w.node, w.spare, w.tally[ROOT])
            while end > 0:
                begin = max(end - self._block // 4, 0)  # normal deviates take their time
                draw_some(w, rng, begin, end)
                end = begin
                yield

    def _measured(self) -> Iterator[None]:
        """:func:`hcviz.algorithms.ddt.density.integrated` in parts, for :meth:`joint`."""
        w = self.w
        given = bool(w.tally[GIVEN])
        if given:
            yield from self._refreshed()
        square = np.empty(w.sigma.size)
        logs = yield from self._squares(square)
        self._joint = float(log_prior(w) + log_noise(w)) + float(likelihood_end(w, square, logs))
        if given:
            w.node[w.data.shape[0] :, SLOT] ^= 1

    def _scales(self) -> Iterator[None]:
        """:func:`hcviz.algorithms.ddt.scales.learn_scales` in parts."""
        w, rng, scale, common = self.w, self.rng, self.scale, self.common
        square = np.empty(w.sigma.size)
        logs = yield from self._squares(square)
        if not w.tally[LEARNT]:
            draw_sigma(w, rng, scale, common, square)
            return
        top = root_message(w)
        if is_due(w):
            old, times = propose(w, rng)
            yield from self._refreshed()
            other = np.empty(w.sigma.size)
            other_logs = yield from self._squares(other)
            choose(w, rng, scale, common, old, times, logs, square, top, other_logs, other)
        draw_sigma(w, rng, scale, common, square)
        rescale(w, rng, scale, common, top)

    def _squares(self, square: Float) -> Generator[None, None, float]:
        """:func:`hcviz.algorithms.ddt.scales.squares` in parts."""
        w = self.w
        logs = likelihood_top(w, square)
        for begin in range(w.data.shape[0], len(w.node), self._block):
            end = min(begin + self._block, len(w.node))
            logs = likelihood_some(w, square, begin, end, logs)
            yield
        return float(logs)

    def _refreshed(self) -> Iterator[None]:
        """:func:`hcviz.algorithms.ddt.density.refresh` in parts."""
        w = self.w
        n = w.data.shape[0]
        for begin in range(0, n, self._block):
            refresh_leaves(w, begin, min(begin + self._block, n))
            yield
        number = postorder(w.node, w.spare, w.tally[ROOT])
        for begin in range(0, number, self._block):
            refresh_inner(w, begin, min(begin + self._block, number))
            yield


def warm() -> None:
    """Compile (or load) what only large problems call by itself."""
    data = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 2.0]])
    none = np.empty((0, 3), np.int32)
    w = allocate(4, data, none, np.empty(0), 0.0, None)
    rng = np.random.Generator(np.random.PCG64(0))
    put_first(w, rng, "average")
    for given in (False, True):
        w.tally[GIVEN] = given
        chain = Chain(w, rng, None, True, np.ones(2), False)
        chain._large = True
        chain.due = 4
        while chain.busy:
            chain.go()
        chain.joint()
