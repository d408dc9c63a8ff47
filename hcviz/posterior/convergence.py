"""Convergence of a sampler: rank-normalised split R-hat, effective sample sizes, and a verdict.

After Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and
localization: an improved R-hat". The functions are written here with numpy and scipy, because arviz
needs xarray and a dozen more packages. The tests compare the results with those of arviz.

Draws are float64 (chains, draws), in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft
from scipy.special import ndtri
from scipy.stats import chi2, rankdata

from hcviz.core.errors import InvalidData

Float = NDArray[np.float64]

#: Limits of Vehtari et al. (2021). A settled quantity has a lower R-hat and a larger sample size.
RHAT_LIMIT, ESS_LIMIT = 1.01, 400.0
#: An R-hat above the first number means that the chains differ. Between 1.01 and this number, few
#: draws can be the reason. Then the chains differ if their means have a p-value below the second.
RHAT_DIFFERENT, CHANCE = 1.05, 1e-3
#: R-hat and sample sizes are NaN with fewer draws in a chain.
MIN_DRAWS_RHAT = 8
#: There is no judgement with fewer draws in a chain.
MIN_DRAWS = 50
#: The burn-in: the first draws of each chain, as a share, are left out.
BURN_IN = 0.25


def rhat(draws: ArrayLike) -> float:
    """Compute the rank-normalised split R-hat: the maximum of bulk and folded R-hat.

    Parameters
    ----------
    draws : float (chains, draws) or (draws,)
        Finite numbers.

    Returns
    -------
    float
        Near 1 if the chains and their halves agree. 1 if all draws are equal; infinity if each
        chain is constant and the values differ; NaN for fewer than 8 draws in a chain.

    Raises
    ------
    InvalidData
        The draws are not finite numbers.

    Notes
    -----
    O(N log N).

    References
    ----------
    Vehtari et al. (2021).

    Examples
    --------
    >>> rhat(np.ones((2, 10)))
    1.0
    """
    x = _chains(draws)
    if x.shape[1] < MIN_DRAWS_RHAT:
        return float("nan")
    halves = _split(x)
    folded = np.abs(halves - np.median(halves))
    return max(_between_within(_normal_scores(halves)), _between_within(_normal_scores(folded)))


def ess_bulk(draws: ArrayLike) -> float:
    """Compute the bulk effective sample size: of the rank-normalised split chains.

    Parameters
    ----------
    draws : float (chains, draws) or (draws,)
        Finite numbers.

    Returns
    -------
    float
        Number of independent draws with as much information about the bulk of the distribution;
        NaN for fewer than 8 draws in a chain.

    Raises
    ------
    InvalidData
        The draws are not finite numbers.

    Notes
    -----
    O(N log N).

    References
    ----------
    Vehtari et al. (2021).

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(2, 500))
    >>> 700 < ess_bulk(draws) < 1300
    True
    """
    x = _chains(draws)
    if x.shape[1] < MIN_DRAWS_RHAT:
        return float("nan")
    return _ess(_normal_scores(_split(x)))


def ess_mean(draws: ArrayLike) -> float:
    """Compute the effective sample size of the split chains for means.

    Parameters
    ----------
    draws : float (chains, draws) or (draws,)
        Finite numbers.

    Returns
    -------
    float
        For draws with two values, such as indicators of a clade, it equals :func:`ess_bulk`. NaN
        for fewer than 8 draws in a chain.

    Raises
    ------
    InvalidData
        The draws are not finite numbers.

    Notes
    -----
    O(N log N).

    References
    ----------
    Vehtari et al. (2021).

    Examples
    --------
    >>> slow = np.cumsum(np.random.default_rng(0).normal(size=(2, 500)), axis=1)
    >>> ess_mean(slow) < 50
    True
    """
    x = _chains(draws)
    return _ess(_split(x)) if x.shape[1] >= MIN_DRAWS_RHAT else float("nan")


def ess_tail(draws: ArrayLike) -> float:
    """Compute the tail effective sample size: the smaller of those of the 5 % and 95 % quantiles.

    Parameters
    ----------
    draws : float (chains, draws) or (draws,)
        Finite numbers.

    Returns
    -------
    float
        NaN for fewer than 8 draws in a chain.

    Raises
    ------
    InvalidData
        The draws are not finite numbers.

    Notes
    -----
    O(N log N).

    References
    ----------
    Vehtari et al. (2021).

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(2, 500))
    >>> 500 < ess_tail(draws) < 1300
    True
    """
    x = _chains(draws)
    if x.shape[1] < MIN_DRAWS_RHAT:
        return float("nan")
    return min(_ess(_split((x <= np.quantile(x, p)).astype(float))) for p in (0.05, 0.95))


def _chains(draws: ArrayLike) -> Float:
    x = np.asarray(draws, dtype=np.float64)
    x = x[None] if x.ndim == 1 else x
    if x.ndim != 2 or not np.all(np.isfinite(x)):
        raise InvalidData("Draws must be finite numbers, one row for each chain.")
    return x


def _split(x: Float) -> Float:
    """Split each chain into its two halves; the middle draw of an odd number is left out."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _normal_scores(x: Float) -> Float:
    """Convert ranks over all chains to normal quantiles (Blom's 3/8); ties are averaged."""
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
    """Return True if the means of the half chains differ by more than chance.

    The statistic is the variance of the means, divided by its expectation under the
    autocorrelation in each half. It is compared with a chi-squared distribution with m - 1 degrees
    of freedom. (R-hat alone is not enough, since it is larger for fewer draws.)
    """
    x = _normal_scores(_split(draws))
    within = float(x.var(axis=1, ddof=1).mean())
    if within <= 1e-15:
        return bool(np.ptp(x) > 0)
    each = _ess(x - x.mean(axis=1, keepdims=True)) / len(x)
    scaled = float(x.mean(axis=1).var(ddof=1)) / within * each
    return bool(scaled > chi2.isf(CHANCE, len(x) - 1) / (len(x) - 1))


def _ess(x: Float) -> float:
    """Compute the effective sample size by Geyer's initial monotone sequence. O(N log N)."""
    chains, draws = x.shape
    if np.ptp(x) < 1e-15:
        return float(x.size)
    centred = x - x.mean(axis=1, keepdims=True)
    length = fft.next_fast_len(2 * draws, real=True)
    spectrum = fft.rfft(centred, length, axis=1)
    product = fft.irfft(spectrum * np.conj(spectrum), length, axis=1)[:, :draws]
    covariance = product.mean(axis=0) / draws
    within = covariance[0] * draws / (draws - 1)
    total = covariance[0]
    if chains > 1:
        total += float(x.mean(axis=1).var(ddof=1))
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    # Geyer: sums of neighbours (2k, 2k + 1) must be positive, so stop at the first negative one.
    # They must also decrease, so take the running minimum.
    last = (draws - 1) // 2
    pairs = rho[0 : 2 * last : 2] + rho[1 : 2 * last : 2]
    negative = np.flatnonzero(pairs < 0)
    kept = int(negative[0]) if negative.size else last - 1
    monotone = np.minimum.accumulate(pairs[:kept])
    # Add one more term if it is positive, for antithetic chains, as Stan and arviz do.
    tau = -1.0 + 2.0 * float(monotone.sum()) + max(float(rho[2 * kept]), 0.0)
    size = float(chains * draws)
    return float(size / max(tau, 1.0 / np.log10(size)))


# ---------------------------------------------------------------------- the verdict


@dataclass(frozen=True)
class Diagnosis:
    """R-hat, bulk and tail effective sample size of a quantity.

    Parameters
    ----------
    rhat : float
        The result of :func:`rhat`.
    bulk : float
        The result of :func:`ess_bulk`.
    tail : float
        The result of :func:`ess_tail`.

    Examples
    --------
    >>> Diagnosis(rhat=1.002, bulk=900.0, tail=650.0).settled
    True
    """

    rhat: float
    bulk: float
    tail: float

    @classmethod
    def of(cls, draws: ArrayLike) -> Diagnosis:
        """Compute the three numbers.

        Parameters
        ----------
        draws : float (chains, draws) or (draws,)
            Finite numbers.

        Returns
        -------
        Diagnosis
            NaN for fewer than 8 draws in a chain.

        Raises
        ------
        InvalidData
            The draws are not finite numbers.

        Examples
        --------
        >>> Diagnosis.of(np.ones((2, 10))).rhat
        1.0
        """
        return cls(rhat(draws), ess_bulk(draws), ess_tail(draws))

    @property
    def settled(self) -> bool:
        """True if R-hat is below 1.01 and both sample sizes are above 400."""
        return self.rhat < RHAT_LIMIT and self.least > ESS_LIMIT

    @property
    def least(self) -> float:
        """The smaller of the two effective sample sizes."""
        return min(self.bulk, self.tail)


@dataclass(frozen=True)
class Verdict:
    """A judgement on whether the sampler has settled.

    Parameters
    ----------
    word : {"settled", "still settling", "too few trees yet"}
        The judgement.
    why : str
        The reason, as a sentence.
    chains, draws : int
        Number of chains, and of draws of each chain after burn-in.
    numbers : mapping of str to Diagnosis
        The numbers of each quantity.
    accuracy : float
        The accuracy of clade supports; see :attr:`Posterior.accuracy`.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(4, 1000))
    >>> found = verdict({"log joint": draws})
    >>> found.word, found.chains
    ('settled', 4)
    """

    word: Literal["settled", "still settling", "too few trees yet"]
    why: str
    chains: int = 0
    draws: int = 0
    numbers: Mapping[str, Diagnosis] = field(default_factory=dict)
    accuracy: float = float("nan")


def verdict(quantities: Mapping[str, ArrayLike]) -> Verdict:
    """Judge whether a sampler has settled, from several quantities.

    Parameters
    ----------
    quantities : mapping of str to float (chains, draws)
        The draws of each quantity by name, without burn-in.

    Returns
    -------
    Verdict
        "settled": each quantity has an R-hat below 1.01, and bulk and tail effective sample sizes
        above 400. "still settling": an R-hat is above 1.05, or above 1.01 and not explained by few
        draws. "too few trees yet": otherwise, or with fewer than 50 draws in a chain.

    Notes
    -----
    For a single chain, its two halves are compared. This cannot detect a region that the chain
    never visited, and the sentence recommends several chains.

    References
    ----------
    Vehtari et al. (2021).

    Examples
    --------
    >>> verdict({}).word
    'too few trees yet'
    """
    arrays = {name: _chains(draws) for name, draws in quantities.items()}
    chains, draws = min((x.shape for x in arrays.values()), default=(0, 0))
    if draws < MIN_DRAWS:
        return Verdict(
            "too few trees yet",
            f"Each chain has {draws} trees; a judgement needs {MIN_DRAWS}.",
            chains,
            draws,
        )
    numbers = {name: Diagnosis.of(x) for name, x in arrays.items()}
    differing = max(numbers, key=lambda name: numbers[name].rhat)
    worst = numbers[differing].rhat
    few = min(numbers, key=lambda name: numbers[name].least)
    least = numbers[few].least
    enough = least > ESS_LIMIT
    if not worst < RHAT_LIMIT and (
        enough or not worst < RHAT_DIFFERENT or _differ(arrays[differing])
    ):
        halves = "The first and the second half of the run" if chains == 1 else "The chains"
        shown = f"{worst:.3f}" if np.isfinite(worst) else "infinite"
        why = f"{halves} still differ in {differing}: R-hat is {shown}, and must be below 1.01."
        return Verdict("still settling", why, chains, draws, numbers)
    if not enough:
        why = (
            f"The trees so far are worth {least:.0f} independent trees for {few}; "
            f"{ESS_LIMIT:.0f} are needed."
        )
        return Verdict("too few trees yet", why, chains, draws, numbers)
    agree = "Both halves of the one chain agree" if chains == 1 else f"All {chains} chains agree"
    why = f"{agree} (R-hat at most {worst:.3f}), with {least:.0f} independent trees or more."
    if chains == 1:
        why += " Several chains would be stronger evidence."
    return Verdict("settled", why, chains, draws, numbers)
