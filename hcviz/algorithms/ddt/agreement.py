"""The agreement of several chains: a thinned record of their log joints, its R-hat and ESS."""

from __future__ import annotations

import math

import numpy as np

from hcviz.algorithms.ddt.state import DdtState, OtherChains
from hcviz.posterior.convergence import BURN_IN, ess_bulk, rhat
from hcviz.posterior.thinned_stream import ThinnedStream

#: The most rows that are kept, and the fewest rows after the first quarter that give numbers.
MAX_ROWS, FEWEST = 1024, 20


class ChainAgreement:
    """The log joints of all chains, one row for each snapshot, evenly thinned.

    ``before`` is the record of an earlier run. It is continued if the posterior and the number of
    chains are the same.
    """

    def __init__(self, chains: int, digest: str, before: OtherChains | None = None) -> None:
        self.digest = digest
        self.kept = ThinnedStream(MAX_ROWS)
        self.seen = 0
        self.rhat = self.ess = math.nan
        if before and before.digest == digest and before.joints.shape[1] == chains:
            self.kept.stride = before.stride
            for number, row in enumerate(before.joints):
                self.kept.add(0, number * before.stride, row)
            self.seen = before.seen
            self.rhat, self.ess = before.rhat, before.ess

    def add(self, joints: list[float]) -> None:
        """Add a row. R-hat and ESS are computed each time the record has grown by about a tenth."""
        kept = self.kept.add(0, self.seen, np.array(joints))
        self.seen += 1
        rows = len(self.kept)
        late = self.kept.value[math.ceil(BURN_IN * rows) :]
        if kept and len(late) >= FEWEST and rows % 2 ** (rows.bit_length() - 4) == 0:
            draws = np.array(late).T
            self.rhat, self.ess = rhat(draws), ess_bulk(draws)

    def metrics(self) -> dict[str, float]:
        """Return ``rhat`` and ``ess`` once there are enough rows."""
        found = {"rhat": self.rhat, "ess": self.ess}
        return {name: value for name, value in found.items() if math.isfinite(value)}

    def other_chains(self, others: tuple[DdtState, ...]) -> OtherChains:
        """Return the states of the other chains together with this record."""
        joints = np.array(self.kept.value).reshape(len(self.kept), 1 + len(others))
        return OtherChains(
            others, joints, self.kept.stride, self.seen, self.rhat, self.ess, self.digest
        )
