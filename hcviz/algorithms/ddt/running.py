"""``Chain``: one chain, advanced by short calls, so that it can be cancelled between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from hcviz.algorithms.ddt.chain import advance
from hcviz.algorithms.ddt.density import (
    integrated,
    likelihood_total,
    log_noise,
    log_prior,
    refresh_part,
)
from hcviz.algorithms.ddt.start import put_first
from hcviz.algorithms.ddt.state import DdtState
from hcviz.algorithms.ddt.sweep import begin_sweep, squares_part, sweep_part
from hcviz.algorithms.ddt.work import GIVEN, PROPOSALS, SLOT, Float, Work, allocate
from hcviz.core.jit import compile_for

#: Seconds that one call of a kernel should take.
CALL_SECONDS = 0.015
#: A cycle that no run completes.
NEVER = 10**15
#: Sweeps of more work than this, n * (200 + d), about 10 ms, are made in parts.
LARGE = 2_000_000
#: Work of one call in such a part, nodes * (50 + 2 d): about 10 ms.
PART = 5_000_000


class Chain:
    """One chain: its arrays, its random numbers, the state from which it continues, and its work.

    ``due`` proposals are made by repeated :meth:`go`, until :attr:`busy` is False. The result does
    not depend on how the work is cut, so the clock may decide that. ``data_digest`` identifies the
    data.
    """

    def __init__(
        self,
        w: Work,
        rng: np.random.Generator,
        saved: DdtState | None,
        learn: bool,
        scale: Float,
        common: bool,
        data_digest: str = "",
    ) -> None:
        self.w, self.rng, self.saved, self.data_digest = w, rng, saved, data_digest
        self.learn, self.scale, self.common = learn, scale, common
        self.due = 0
        n, dims = w.data.shape
        self._large = n * (200 + dims) > LARGE
        self._chunk = max(1, min(32, 500_000 // (dims + 1)))
        self._block = PART // (50 + 2 * dims) + 4  # nodes of one part
        self._parts: Iterator[None] | None = None
        self._joint: float | None = None
        self._advance: Callable[..., None] | None = None

    @property
    def busy(self) -> bool:
        """True while there is work."""
        return self.due > 0 or self._parts is not None

    @property
    def needs_joint(self) -> bool:
        """True if the log joint is not yet computed, and locations are not given."""
        return self._joint is None and not self.w.tally[GIVEN]

    def joint(self) -> float:
        """Return the log joint, locations integrated out. O(n d), unless :meth:`go` computed it."""
        found = integrated(self.w) if self._joint is None else self._joint
        self._joint = None
        return found

    def go(self) -> None:
        """Make one call: some proposals with their sweeps, or a part of a large sweep."""
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
        self._chunk = max(
            1, min(int(count * CALL_SECONDS / max(took, 1e-6)), 4 * self._chunk, 1 << 20)
        )
        if self._large:
            self._parts = self._finish(self.w.tally[PROPOSALS] % n == 0, self.due == 0)

    def _finish(self, sweep: bool, measure: bool) -> Iterator[None]:
        """Do in parts what follows proposals: a sweep, and the computation of the log joint."""
        if sweep:
            state = begin_sweep(self.w)
            while sweep_part(
                self.w, self.rng, self.learn, self.scale, self.common, state, self._block
            ):
                yield
        if measure:
            yield from self._measured()

    def _measured(self) -> Iterator[None]:
        """Do :func:`hcviz.algorithms.ddt.density.integrated` in parts, for :meth:`joint`."""
        w = self.w
        given = bool(w.tally[GIVEN])
        nodes = len(w.node)
        at = 0
        while given and at < nodes:
            at = refresh_part(w, at, self._block)
            yield
        at, square, logs = 0, np.empty(w.sigma.size), np.zeros(1)
        while at < nodes:
            at = squares_part(w, square, logs, at, self._block)
            yield
        total = float(likelihood_total(w, square, float(logs[0])))
        self._joint = float(log_prior(w) + log_noise(w)) + total
        if given:
            w.node[w.data.shape[0] :, SLOT] ^= 1


def warm() -> None:
    """Compile or load the kernels that only large problems call."""
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
