"""Has the sampler settled? Rank-normalised split R-hat and effective sample sizes, and a sentence.

Vehtari, Gelman, Simpson, Carpenter, Buerkner, "Rank-normalization, folding, and localization: an
improved R-hat" (Bayesian Analysis 2021). Written here with numpy and scipy: arviz would bring
xarray and a dozen more packages for two functions. The tests hold these against arviz's numbers.

Everywhere draws are float64 (chains, draws), in the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import chi2, rankdata

from hcviz.core.errors import InvalidData

Float = NDArray[np.float64]

#: The paper's own limits: below and above these a quantity counts as settled.
RHAT_LIMIT, ESS_LIMIT = 1.01, 400.0
#: An R-hat above this is told as a difference, whatever the number of draws. Between 1.01 and this
#: it may be the chance of few draws: where they are few, it counts if such means come once in a
#: thousand times or less by chance.
RHAT_APART, CHANCE = 1.05, 1e-3
#: With fewer draws a chain there are no numbers.
FEWEST_AT_ALL = 8
#: Fewer draws a chain than this say nothing either way.
FEWEST = 50
#: The share of each chain's beginning that is set aside, as it still remembers the start.
BURN_IN = 0.25


def rhat(draws: ArrayLike) -> float:
    """Rank-normalised split R-hat: the larger of bulk and folded. O(N log N).

    1 when the chains (and the halves of each) agree. Draws that are all one value give 1; chains
    that stand still at different values give infinity. NaN for fewer than 8 draws a chain.
    """
    x = _chains(draws)
    if x.shape[1] < FEWEST_AT_ALL:
        return float("nan")
    halves = _split(x)
    folded = np.abs(halves - np.median(halves))
    return max(_between_within(_normal_scores(halves)), _between_within(_normal_scores(folded)))


def ess_bulk(draws: ArrayLike) -> float:
    """Effective sample size of the rank-normalised split chains: for means and medians."""
    x = _chains(draws)
    if x.shape[1] < FEWEST_AT_ALL:
        return float("nan")
    return _ess(_normal_scores(_split(x)))


def ess_mean(draws: ArrayLike) -> float:
    """Effective sample size of the split chains as they are: for means. O(N log N).

    Of draws of two values, such as whether a tree has a clade, the same as :func:`ess_bulk`.
    """
    x = _chains(draws)
    return _ess(_split(x)) if x.shape[1] >= FEWEST_AT_ALL else float("nan")


def ess_tail(draws: ArrayLike) -> float:
    """The smaller of the effective sample sizes of the 5 % and the 95 % quantile."""
    x = _chains(draws)
    if x.shape[1] < FEWEST_AT_ALL:
        return float("nan")
    return min(_ess(_split((x <= np.quantile(x, p)).astype(float))) for p in (0.05, 0.95))


def _chains(draws: ArrayLike) -> Float:
    x = np.asarray(draws, dtype=np.float64)
    x = x[None] if x.ndim == 1 else x
    if x.ndim != 2 or not np.all(np.isfinite(x)):
        raise InvalidData("Draws must be finite numbers, one row for each chain.")
    return x


def _split(x: Float) -> Float:
    """Every chain as two: its first and its last half (an odd one's middle draw is left out)."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _normal_scores(x: Float) -> Float:
    """Ranks over all chains, ties averaged, as quantiles of the normal (Blom's 3/8)."""
    rank = rankdata(x, method="average").reshape(x.shape)
    scores: Float = ndtri((rank - 0.375) / (x.size + 0.25))
    return scores


def _between_within(x: Float) -> float:
    draws = x.shape[1]
    within = float(x.var(axis=1, ddof=1).mean())
    between = float(x.mean(axis=1).var(ddof=1))
    if within <= 1e-15:
        return 1.0 if between <= 1e-15 else float("inf")
    return float(np.sqrt(between / within + (draws - 1) / draws))


def _differ(draws: Float) -> bool:
    """Whether the chains' (and their halves') means are further apart than chance explains.

    Their variance over what the autocorrelation within each half makes of it: F of m - 1 degrees of
    freedom, taken as a chi square's. (R-hat alone cannot tell: it grows as draws get fewer.)
    """
    x = _normal_scores(_split(draws))
    within = float(x.var(axis=1, ddof=1).mean())
    if within <= 1e-15:
        return bool(np.ptp(x) > 0)
    each = _ess(x - x.mean(axis=1, keepdims=True)) / len(x)
    scaled = float(x.mean(axis=1).var(ddof=1)) / within * each
    return bool(scaled > chi2.isf(CHANCE, len(x) - 1) / (len(x) - 1))


def _ess(x: Float) -> float:
    """By Geyer's initial monotone sequence over the chains' mean autocorrelations. O(N log N)."""
    chains, draws = x.shape
    if np.ptp(x) < 1e-15:
        return float(x.size)
    centred = x - x.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * draws, axis=1)
    product = np.fft.irfft(spectrum * np.conj(spectrum), axis=1)[:, :draws]
    covariance = product.mean(axis=0) / draws
    within = covariance[0] * draws / (draws - 1)
    total = covariance[0]
    if chains > 1:
        total += float(x.mean(axis=1).var(ddof=1))
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    # Sums of neighbours (2k, 2k + 1) are positive and fall: cut where they are not, then flatten.
    last = (draws - 1) // 2
    pairs = rho[0 : 2 * last : 2] + rho[1 : 2 * last : 2]
    fallen = np.flatnonzero(pairs < 0)
    kept = int(fallen[0]) if fallen.size else last - 1
    flat = np.minimum.accumulate(pairs[:kept])
    # One term more, where it is positive: for antithetic chains (as Stan and arviz do).
    tau = -1.0 + 2.0 * float(flat.sum()) + max(float(rho[2 * kept]), 0.0)
    size = float(chains * draws)
    return float(size / max(tau, 1.0 / np.log10(size)))


# ---------------------------------------------------------------------- the verdict


@dataclass(frozen=True)
class Diagnosis:
    """R-hat, bulk and tail effective sample size of one quantity."""

    rhat: float
    bulk: float
    tail: float

    @classmethod
    def of(cls, draws: ArrayLike) -> Diagnosis:
        return cls(rhat(draws), ess_bulk(draws), ess_tail(draws))

    @property
    def settled(self) -> bool:
        return self.rhat < RHAT_LIMIT and self.least > ESS_LIMIT

    @property
    def least(self) -> float:
        """The smaller of the two effective sample sizes."""
        return min(self.bulk, self.tail)


@dataclass(frozen=True)
class Verdict:
    """``word`` for a badge, ``why`` as a sentence, and the numbers behind it by quantity."""

    word: Literal["settled", "still moving", "too few trees yet"]
    why: str
    chains: int = 0
    draws: int = 0  # of each chain, after those set aside
    numbers: Mapping[str, Diagnosis] = field(default_factory=dict)
    accuracy: float = float("nan")  # of clade supports, see Posterior.accuracy


def verdict(quantities: Mapping[str, ArrayLike]) -> Verdict:
    """Judge named quantities, each (chains, draws); what was set aside is the caller's business.

    "too few trees yet": fewer than 50 draws a chain, or nothing that speaks against it but too
    little for it. "settled": every quantity has R-hat < 1.01 and bulk and tail effective sample
    sizes > 400, the limits of Vehtari et al. 2021. "still moving": an R-hat above 1.05, or above
    1.01 and no chance of few draws; the worst quantity says why. A single chain is compared
    with itself, first half against second: that cannot show a region that it never saw, and the
    sentence says so.
    """
    arrays = {name: _chains(draws) for name, draws in quantities.items()}
    chains, draws = min((x.shape for x in arrays.values()), default=(0, 0))
    if draws < FEWEST:
        return Verdict(
            "too few trees yet",
            f"Only {draws} of the {FEWEST} trees a chain that a judgement needs are there.",
            chains,
            draws,
        )
    numbers = {name: Diagnosis.of(x) for name, x in arrays.items()}
    apart = max(numbers, key=lambda name: numbers[name].rhat)
    worst = numbers[apart].rhat
    few = min(numbers, key=lambda name: numbers[name].least)
    least = numbers[few].least
    enough = least > ESS_LIMIT
    if not worst < RHAT_LIMIT and (enough or not worst < RHAT_APART or _differ(arrays[apart])):
        halves = "The first and the second half of the run" if chains == 1 else "The chains"
        shown = f"{worst:.3f}" if np.isfinite(worst) else "infinite"
        why = f"{halves} still differ in {apart}: R-hat is {shown}, and should fall below 1.01."
        return Verdict("still moving", why, chains, draws, numbers)
    if not enough:
        why = (
            f"The trees so far are worth {least:.0f} independent ones for {few}; "
            f"{ESS_LIMIT:.0f} are wanted."
        )
        return Verdict("too few trees yet", why, chains, draws, numbers)
    agree = "Both halves of the one chain agree" if chains == 1 else f"All {chains} chains agree"
    why = f"{agree} (R-hat at most {worst:.3f}), with {least:.0f} independent trees' worth or more."
    if chains == 1:
        why += " Several chains would be a stronger proof."
    return Verdict("settled", why, chains, draws, numbers)
