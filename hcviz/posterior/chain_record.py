"""``ChainRecord``: thinned draws of each chain, to judge whether the sampler has settled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.posterior import convergence, kernels
from hcviz.posterior.chain_comparison import ChainComparison, compare_chains
from hcviz.posterior.thinned_stream import ThinnedStream

Codes = NDArray[np.uint64]
Float = NDArray[np.float64]

#: Recorded draws in all, and the smallest number of draws for each chain. With so many draws, 400
#: of them can be effective.
MAX_DRAWS, MIN_CHAIN_DRAWS = 2048, 256
#: Average number of recorded clades of a draw. For more items, only the clades whose code falls
#: into a fixed share of all codes are recorded.
CLADES_PER_DRAW = 256


class ChainRecord:
    """The log joint, the root height and the clades of thinned draws, for each chain.

    Parameters
    ----------
    n_items : int
        Number of items.

    Attributes
    ----------
    n_draws : dict of int to int
        Number of all draws of each chain.
    burned_in : bool
        True if the burn-in was removed before the draws came.
    scalars : ThinnedStream
        (log joint, root height) of each recorded draw.
    codes : ThinnedStream
        First halves of the clades' codes of each recorded draw, uint64.
    one_in : uint64
        Clades are recorded if the second half of their code is a multiple of this number.
    """

    def __init__(self, n_items: int) -> None:
        self.n_draws: dict[int, int] = {}
        self.burned_in = False
        self.scalars = ThinnedStream(MAX_DRAWS, MIN_CHAIN_DRAWS)
        self.codes = ThinnedStream(MAX_DRAWS, MIN_CHAIN_DRAWS)
        self.one_in = np.uint64(-(-n_items // CLADES_PER_DRAW))
        self._comparison: ChainComparison | None = None

    def next_number(self, chain: int) -> int:
        """Return the number of the next draw of a chain, from 0, and count the draw."""
        number = self.n_draws.get(chain, 0)
        self.n_draws[chain] = number + 1
        self._comparison = None
        return number

    def add(self, chain: int, number: int, log_joint: float, root_height: float) -> None:
        """Record the log joint and the root height of a draw, if the draw is kept."""
        self.scalars.add(chain, number, (log_joint, root_height))

    def keeps_codes(self, number: int) -> bool:
        """Return True if the clades of a draw with this number are kept."""
        return self.codes.keeps(number)

    def add_codes(self, chain: int, number: int, codes: Codes) -> None:
        """Record the clades of a draw; ``codes`` is uint64 (k, 2)."""
        chosen = codes[:, kernels.SECOND] % self.one_in == 0
        self.codes.add(chain, number, codes[chosen, kernels.FIRST].copy())

    def set_comparison(self, comparison: ChainComparison | None) -> None:
        """Set a comparison of the chains that was computed before; None: compute it on request."""
        self._comparison = comparison

    def compare_chains(self) -> ChainComparison:
        """Compare the clade supports of the chains; cached until the next draw.

        No draw is removed as burn-in. The halves of a single chain are compared.
        """
        if self._comparison is None:
            chains = list(self._table(self.codes, 0.0)) if self.n_draws else []
            self._comparison = compare_chains(chains)
        return self._comparison

    def effective_numbers(self, codes: Codes) -> Float:
        """Return the effective number of draws for the support of each clade: float64 (k,).

        NaN if a chain has fewer than 50 recorded draws, and for clades that are not recorded.
        ``codes`` is uint64 (k, 2).
        """
        found = np.full(len(codes), np.nan)
        known = np.flatnonzero(codes[:, kernels.SECOND] % self.one_in == 0)
        recorded = self._table(self.codes, 0.0)
        if recorded.shape[1] >= convergence.MIN_DRAWS and known.size:
            has = self._has_clades(recorded, codes[known, kernels.FIRST])
            for k, indicator in zip(known.tolist(), has, strict=True):
                found[k] = convergence.ess_mean(indicator)
        return found

    def verdict(
        self, clades: Codes, names: Sequence[str], burn_in: float | None
    ) -> convergence.Verdict:
        """Judge the log joint, the root height and some clades; see :func:`convergence.verdict`.

        Parameters
        ----------
        clades : uint64 (k,)
            First halves of the codes of recorded clades.
        names : sequence of str
            Their names in the sentence.
        burn_in : float or None
            The share of each chain that is removed; None: 0.25, or 0 if ``burned_in``.
        """
        if burn_in is None:
            burn_in = 0.0 if self.burned_in else convergence.BURN_IN
        scalars = self._table(self.scalars, burn_in)
        quantities: dict[str, ArrayLike] = {"the root's height": scalars[:, :, 1]}
        if not np.isnan(scalars[:, :, 0]).any():
            quantities = {"the log joint": scalars[:, :, 0], **quantities}
        if clades.size and scalars.shape[1] >= convergence.MIN_DRAWS:
            has = self._has_clades(self._table(self.codes, burn_in), clades)
            quantities |= dict(zip(names, has, strict=True))
        return replace(convergence.verdict(quantities), accuracy=self.compare_chains().accuracy)

    def tables(self, clades: Codes) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the recorded draws, and which of them have each clade.

        Parameters
        ----------
        clades : uint64 (k,)
            First halves of the codes of recorded clades.

        Returns
        -------
        float64 (chains, draws, 2)
            Log joint and root height.
        bool (chains, draws, k)
            True if the draw has the clade.
        """
        scalars = self._table(self.scalars, 0.0)
        if not clades.size:
            return scalars, np.zeros((*scalars.shape[:2], 0), np.bool_)
        return scalars, np.stack(self._has_clades(self._table(self.codes, 0.0), clades), axis=-1)

    def mean_root_height(self) -> float:
        """Return the mean height of the root over the recorded draws."""
        return float(np.mean([height for _, height in self.scalars.value]))

    @staticmethod
    def _has_clades(recorded: Codes, clades: Codes) -> list[NDArray[np.bool_]]:
        """Return, for each clade, which draws have it: bool (chains, draws)."""
        chains, draws, width = recorded.shape
        has = np.zeros((chains * draws, clades.size), np.bool_)
        rows = np.ascontiguousarray(recorded).reshape(-1, width)
        kernels.contained(rows, np.ascontiguousarray(clades), has)
        return [column.reshape(chains, draws) for column in has.T]

    @staticmethod
    def _table(stream: ThinnedStream, burn_in: float) -> NDArray[Any]:
        """Return the recorded values without burn-in: (chains, draws, width), filled with 0."""
        chains = [rows[math.ceil(burn_in * len(rows)) :] for rows in stream.by_chain()]
        draws = min(len(rows) for rows in chains)
        width = max(np.size(value) for value in stream.value)
        table = np.zeros((len(chains), draws, width), np.asarray(stream.value[0]).dtype)
        for i, rows in enumerate(chains):
            for j, position in enumerate(rows[len(rows) - draws :]):
                value = stream.value[position]
                table[i, j, : np.size(value)] = value
        return table


__all__ = ["ChainRecord"]
