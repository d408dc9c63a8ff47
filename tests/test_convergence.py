"""R-hat and effective sample sizes against the numbers of arviz, and the verdict.

The reference numbers are arviz 0.22.0's, computed in an environment of its own: for each array x of
``series()``, ``arviz.rhat(x)``, ``arviz.ess(x, method="bulk")``, ``arviz.ess(x, method="tail")``.
For a single chain arviz gives no R-hat; there it is that of its own ``_rhat``, ``_z_scale`` and
``_split_chains`` put together as for several.
"""

from __future__ import annotations

import numpy as np
import pytest

from hcviz.core.errors import InvalidData
from hcviz.posterior import ess_bulk, ess_tail, rhat, verdict

EXPECTED = {
    "independent": (1.0045520293, 967.28911527, 881.38833257),
    "autocorrelated": (1.0215500900, 70.05463589, 132.38939668),
    "antithetic": (1.0051653396, 743.13637642, 299.10408162),
    "one chain": (1.0011115169, 74.57960740, 134.96822851),
    "apart": (1.1519125444, 14.85123429, 410.71602623),
    "other scales": (1.1608742420, 351.92514262, 58.78484284),
    "heavy tails": (1.0136453714, 202.24361523, 271.85011657),
    "indicator": (1.0177418164, 108.23952322, 108.23952322),
    "drifting": (1.4180737740, 2.44638743, 20.19811175),
}


def autoregressive(rng, rho, chains, draws):
    noise = rng.normal(size=(chains, draws))
    x = np.empty((chains, draws))
    x[:, 0] = noise[:, 0]
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
    return x


def series():
    rng = np.random.default_rng(7)
    return {
        "independent": autoregressive(rng, 0.0, 4, 250),
        "autocorrelated": autoregressive(rng, 0.9, 2, 500),
        "antithetic": autoregressive(rng, -0.6, 3, 101),
        "one chain": autoregressive(rng, 0.7, 1, 333),
        "apart": autoregressive(rng, 0.3, 3, 200) + 0.5 * np.arange(3)[:, None],
        "other scales": autoregressive(rng, 0.2, 3, 150) * np.array([[1.0], [3.0], [1.0]]),
        "heavy tails": autoregressive(rng, 0.5, 4, 120) ** 3,
        "indicator": (autoregressive(rng, 0.8, 4, 200) > 0.4).astype(float),
        "drifting": autoregressive(rng, 0.5, 1, 60) + np.linspace(0, 3, 60),
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_the_numbers_equal_those_of_arviz(name):
    x = series()[name]
    assert (rhat(x), ess_bulk(x), ess_tail(x)) == pytest.approx(EXPECTED[name], rel=1e-8)


def test_a_line_of_draws_is_one_chain():
    x = series()["one chain"]
    assert rhat(x[0]) == rhat(x)


def test_monotone_maps_have_no_effect():
    x = series()["independent"]
    assert ess_bulk(np.exp(3 * x)) == pytest.approx(ess_bulk(x))


def test_constant_chains():
    assert rhat(np.ones((3, 20))) == 1.0
    assert ess_bulk(np.ones((3, 20))) == 60
    assert rhat(np.repeat([[0.0], [1.0]], 20, axis=1)) == np.inf


def test_too_few_and_not_finite():
    assert np.isnan(rhat(np.zeros((2, 7))))
    assert np.isnan(ess_bulk(np.zeros((2, 7))))
    assert np.isnan(ess_tail(np.zeros((2, 7))))
    for wrong in (np.zeros((2, 3, 4)), [0.0, np.nan] * 10):
        with pytest.raises(InvalidData):
            rhat(wrong)


# ---------------------------------------------------------------------- in words


def independent(chains, draws, shift=0.0):
    return (
        np.random.default_rng(1).normal(size=(chains, draws)) + shift * np.arange(chains)[:, None]
    )


def test_settled():
    found = verdict({"the log joint": independent(4, 500)})
    assert found.word == "settled"
    assert "All 4 chains agree" in found.why
    assert (found.chains, found.draws) == (4, 500)
    assert found.numbers["the log joint"].settled
    alone = verdict({"the log joint": independent(1, 2000)})
    assert alone.word == "settled"
    assert "Several chains would be" in alone.why


def test_still_settling_because_the_chains_differ():
    found = verdict({"fine": independent(4, 500), "the root": independent(4, 500, shift=1.0)})
    assert found.word == "still settling"
    assert "The chains still differ in the root" in found.why
    assert found.numbers["fine"].settled
    assert not found.numbers["the root"].settled
    one = verdict({"it": np.linspace(0, 1, 300)})
    assert "The first and the second half of the run still differ in it" in one.why
    stuck = verdict({"it": np.repeat([[0.0], [1.0]], 60, axis=1)})
    assert "infinite" in stuck.why


def test_too_few_draws_is_not_still_settling():
    """A short chain that moves freely, one that drifts, and a long one that hardly differs."""
    for chains in (1, 2):
        found = verdict({"it": independent(chains, 150)})
        assert found.word == "too few trees yet"
    rng = np.random.default_rng(2)
    assert verdict({"it": rng.normal(size=150) + np.linspace(0, 2, 150)}).word == "still settling"
    halves = rng.normal(size=(2, 4000)) + np.array([[0.0], [0.25]])
    found = verdict({"it": halves})
    assert 1.01 < found.numbers["it"].rhat < 1.05
    assert found.word == "still settling"
    found = verdict({"it": independent(2, 150)})
    assert "400 are needed" in found.why
    assert "independent trees for it" in found.why


def test_too_few_draws_for_a_judgement():
    assert verdict({"it": independent(3, 49)}).word == "too few trees yet"
    assert verdict({}).word == "too few trees yet"
    both = verdict({"long": independent(2, 500), "short": independent(2, 10)})
    assert both.word == "too few trees yet"
    assert "Each chain has 10 trees; a judgement needs 50" in both.why
