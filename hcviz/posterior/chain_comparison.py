"""``compare_chains``: the differences between the clade supports of independent chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hcviz.posterior import convergence, kernels

Codes = NDArray[np.uint64]
Float = NDArray[np.float64]

#: Supports are settled if their accuracy is at most this.
LIMIT = 0.05
#: The accuracy is this quantile over clades, and clades with at most this support are left out.
QUANTILE, MIN_SUPPORT = 0.95, 0.05
#: Effective numbers of draws are computed for at most this many clades, evenly spread over codes.
MAX_CHECKED = 64


@dataclass(frozen=True)
class ChainComparison:
    """The accuracy of clade supports.

    Parameters
    ----------
    difference : float
        The 95 % quantile, over clades with support above 5 %, of the difference between the
        supports in independent chains. NaN with fewer than 50 draws a chain.
    error : float
        The same quantile of two standard errors of the support in all draws, from their effective
        number. It is large if chains agree by chance, after few changes.
    clades : int
        Number of compared clades.
    draws : int
        Draws of each chain.

    Examples
    --------
    >>> found = ChainComparison(difference=0.03, error=0.08, clades=12, draws=400)
    >>> found.accuracy, found.settled
    (0.08, False)
    """

    difference: float
    error: float
    clades: int
    draws: int

    @property
    def accuracy(self) -> float:
        """The maximum of ``difference`` and ``error``: 0.08 means "accurate to about 8 points"."""
        return max(self.difference, self.error)

    @property
    def settled(self) -> bool:
        """True if ``accuracy`` is at most 0.05; False if it is unknown."""
        return self.accuracy <= LIMIT


def accuracy_text(found: ChainComparison | None) -> str:
    """Return a text such as "supports accurate to about 8 points"."""
    if found is None or not found.accuracy >= 0.0:
        return "too few trees yet"
    points = max(round(100.0 * found.accuracy), 1)
    return f"supports accurate to about {points} point{'s' if points > 1 else ''}"


def compare_chains(chains: Sequence[Codes]) -> ChainComparison:
    """Compare the clade supports of independent chains.

    Parameters
    ----------
    chains : sequence of uint64 (draws, width)
        For each chain, one row for each draw: the codes of its clades, filled with 0. Of longer
        chains only the last draws are used. The two halves of a single chain count as two chains.

    Returns
    -------
    ChainComparison
        Its ``difference`` is, for two chains, the quantile of ``abs(p1 - p2)``. For more chains it
        is the quantile of the largest difference between one chain and the mean of the others.

    Notes
    -----
    The comparison of split frequencies and effective sizes follows Fabreti and Höhna (2022).
    O(N log N) for N codes in all, and O(draws log draws) for each of 64 clades.

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
    if draws < convergence.MIN_DRAWS:
        return ChainComparison(float("nan"), float("nan"), 0, draws)
    codes, share = supports(chains)
    pooled = share.mean(axis=0)
    counts = pooled > MIN_SUPPORT
    codes, share, pooled = codes[counts], share[:, counts], pooled[counts]
    if not codes.size:
        return ChainComparison(0.0, 0.0, 0, draws)
    others = (share.sum(axis=0) - share) / (len(chains) - 1)
    difference = np.abs(share - others).max(axis=0)
    watched = np.unique(np.linspace(0, codes.size - 1, min(codes.size, MAX_CHECKED)).astype(int))
    error = [
        2.0 * np.sqrt(p * (1.0 - p) / convergence.ess_mean(has)) if 0.0 < p < 1.0 else 0.0
        for p, has in zip(pooled[watched], _indicators(chains, codes[watched]), strict=True)
    ]
    return ChainComparison(
        float(np.quantile(difference, QUANTILE)),
        float(np.quantile(error, QUANTILE)),
        int(codes.size),
        draws,
    )


def supports(chains: Sequence[Codes]) -> tuple[Codes, Float]:
    """Return the increasing codes of clades with support above 5 % in a chain, and their supports.

    uint64 (k,) and float64 (chains, k).
    """
    tables = [np.unique(each[each != 0], return_counts=True) for each in chains]
    frequent = [
        codes[n > MIN_SUPPORT * len(c)] for (codes, n), c in zip(tables, chains, strict=True)
    ]
    wanted = np.unique(np.concatenate(frequent))
    share = np.zeros((len(chains), wanted.size))
    for row, (codes, n), chain in zip(share, tables, chains, strict=True):
        if codes.size:
            at = np.minimum(np.searchsorted(codes, wanted), codes.size - 1)
            row[:] = np.where(codes[at] == wanted, n[at], 0) / len(chain)
    return wanted, share


def _indicators(chains: Sequence[Codes], targets: Codes) -> NDArray[np.bool_]:
    """Return which draws have each of the increasing ``targets``: bool (targets, chains, draws)."""
    has = np.zeros((targets.size, len(chains), len(chains[0])), np.bool_)
    for k, chain in enumerate(chains):
        kernels.contained_sorted(chain, targets, has[:, k])
    return has
