"""``compare_chains``: how far the clade supports of independent chains are from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hcviz.posterior import convergence

Codes = NDArray[np.uint64]
Float = NDArray[np.float64]

#: Supports have settled when they are right to within this much.
LIMIT = 0.05
#: The quantile over clades that is compared with it, and the least support of those clades.
QUANTILE, LEAST = 0.95, 0.05
#: Effective draws are computed for this many clades at most, evenly spread over all codes.
WATCHED = 64


@dataclass(frozen=True)
class Settling:
    """How accurate supports are.

    Attributes
    ----------
    difference : float
        The 95 % quantile, over clades with support above 5 %, of the difference between the
        supports in independent chains. NaN with fewer than 50 draws a chain.
    error : float
        The same quantile of two standard errors of the support in all draws, by their effective
        number. It is large where chains agree by chance, after few changes.
    clades : int
        Number of clades that were compared.
    draws : int
        Draws of each chain.
    """

    difference: float
    error: float
    clades: int
    draws: int

    @property
    def accuracy(self) -> float:
        """The larger of ``difference`` and ``error``: 0.08 is "accurate to about 8 points"."""
        return max(self.difference, self.error)

    @property
    def settled(self) -> bool:
        """Whether ``accuracy`` is at most 0.05; False where it is unknown."""
        return self.accuracy <= LIMIT


def compare_chains(chains: Sequence[Codes]) -> Settling:
    """Compare the clade supports of independent chains.

    Parameters
    ----------
    chains : sequence of uint64 (draws, width)
        For each chain, one row a draw: the codes of its clades, filled up with 0. The latest draws
        of longer chains are used. The two halves of a single chain count as two chains.

    Returns
    -------
    Settling
        Its ``difference`` is, for two chains, the quantile of ``abs(p1 - p2)``. For more it is that
        of the largest difference between one chain's support and the mean of the others'.

    Notes
    -----
    O(N log N) for N codes in all, and O(draws log draws) for each of 64 clades. Several runs are
    judged by split frequencies and by the effective size of each split, after Fabreti and Höhna
    (2022).

    References
    ----------
    Fabreti and Höhna (2022), "Convergence assessment for Bayesian phylogenetic analysis using MCMC
    simulation".

    Examples
    --------
    >>> import numpy as np
    >>> always = np.full((100, 1), 7, np.uint64)
    >>> half = np.where(np.arange(100)[:, None] % 2, 7, 9).astype(np.uint64)
    >>> compare_chains([always, half]).difference
    0.5
    """
    draws = min((len(each) for each in chains), default=0)
    chains = [each[len(each) - draws :] for each in chains]
    if len(chains) == 1:
        draws //= 2
        chains = [chains[0][:draws], chains[0][len(chains[0]) - draws :]]
    if draws < convergence.FEWEST:
        return Settling(float("nan"), float("nan"), 0, draws)
    codes, share = supports(chains)
    pooled = share.mean(axis=0)
    counts = pooled > LEAST
    codes, share, pooled = codes[counts], share[:, counts], pooled[counts]
    if not codes.size:
        return Settling(0.0, 0.0, 0, draws)
    others = (share.sum(axis=0) - share) / (len(chains) - 1)
    difference = np.abs(share - others).max(axis=0)
    watched = np.unique(np.linspace(0, codes.size - 1, min(codes.size, WATCHED)).astype(int))
    error = [
        2.0 * np.sqrt(p * (1.0 - p) / convergence.ess_mean(has)) if 0.0 < p < 1.0 else 0.0
        for p, has in zip(pooled[watched], _indicators(chains, codes[watched]), strict=True)
    ]
    return Settling(
        float(np.quantile(difference, QUANTILE)),
        float(np.quantile(error, QUANTILE)),
        int(codes.size),
        draws,
    )


def supports(chains: Sequence[Codes]) -> tuple[Codes, Float]:
    """Codes (k,), rising, of the clades with support above 5 % in a chain; float64 (chains, k)."""
    tables = [np.unique(each[each != 0], return_counts=True) for each in chains]
    often = [codes[n > LEAST * len(c)] for (codes, n), c in zip(tables, chains, strict=True)]
    wanted = np.unique(np.concatenate(often))
    share = np.zeros((len(chains), wanted.size))
    for row, (codes, n), chain in zip(share, tables, chains, strict=True):
        if codes.size:
            at = np.minimum(np.searchsorted(codes, wanted), codes.size - 1)
            row[:] = np.where(codes[at] == wanted, n[at], 0) / len(chain)
    return wanted, share


def _indicators(chains: Sequence[Codes], targets: Codes) -> NDArray[np.bool_]:
    """Whether each draw has each of the rising ``targets``: bool (targets, chains, draws)."""
    has = np.zeros((targets.size, len(chains), len(chains[0])), np.bool_)
    for k, chain in enumerate(chains):
        row, column = np.nonzero(chain)
        code = chain[row, column]
        at = np.minimum(np.searchsorted(targets, code), targets.size - 1)
        hit = targets[at] == code
        has[at[hit], k, row[hit]] = True
    return has
