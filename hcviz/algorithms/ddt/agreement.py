"""Whether several chains agree: the thinned record of their log joints, and its R-hat and ESS."""

from __future__ import annotations

import math

import numpy as np

from hcviz.algorithms.ddt.state import Company, DdtState
from hcviz.posterior.convergence import BURN_IN, ess_bulk, rhat
from hcviz.posterior.thinned_stream import ThinnedStream

#: Rows kept, and the fewest, after the first quarter, that numbers are given for.
MAX_ROWS, FEWEST = 1024, 20


class Agreement:
    """Log joints of all chains, one row a snapshot, evenly thinned; picked up from a state."""

    def __init__(self, chains: int, target: str, before: Company | None = None) -> None:
        self.target = target
        self.kept = ThinnedStream(MAX_ROWS)
        self.seen = 0
        self.rhat = self.ess = math.nan
        if before and before.target == target and before.joints.shape[1] == chains:
            self.kept.stride = before.stride
            for number, row in enumerate(before.joints):
                self.kept.add(0, number * before.stride, row)
            self.seen = before.seen
            self.rhat, self.ess = before.rhat, before.ess

    def add(self, joints: list[float]) -> None:
        """One more row. R-hat and ESS follow each time the record has grown by a tenth or so."""
        kept = self.kept.add(0, self.seen, np.array(joints))
        self.seen += 1
        rows = len(self.kept)
        late = self.kept.value[math.ceil(BURN_IN * rows) :]
        if kept and len(late) >= FEWEST and rows % 2 ** (rows.bit_length() - 4) == 0:
            draws = np.array(late).T
            self.rhat, self.ess = rhat(draws), ess_bulk(draws)

    def metrics(self) -> dict[str, float]:
        """``rhat`` and ``ess``, once there is enough to say."""
        found = {"rhat": self.rhat, "ess": self.ess}
        return {name: value for name, value in found.items() if math.isfinite(value)}

    def company(self, others: tuple[DdtState, ...]) -> Company:
        joints = np.array(self.kept.value).reshape(len(self.kept), 1 + len(others))
        return Company(
            others, joints, self.kept.stride, self.seen, self.rhat, self.ess, self.target
        )
