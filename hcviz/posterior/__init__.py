"""Summaries of sampled trees, and checks whether the sampler has settled."""

from hcviz.posterior.chain_comparison import ChainComparison, compare_chains
from hcviz.posterior.chain_record import ChainRecord
from hcviz.posterior.clades import CladeTable
from hcviz.posterior.convergence import (
    Diagnosis,
    Verdict,
    ess_bulk,
    ess_mean,
    ess_tail,
    rhat,
    verdict,
)
from hcviz.posterior.draws import Draws, Sampler
from hcviz.posterior.membership import membership_shares
from hcviz.posterior.summary import Posterior, warm
from hcviz.posterior.thinned_shapes import depth_moments
from hcviz.posterior.thinned_stream import ThinnedStream

__all__ = [
    "ChainComparison",
    "ChainRecord",
    "CladeTable",
    "Diagnosis",
    "Draws",
    "Posterior",
    "Sampler",
    "ThinnedStream",
    "Verdict",
    "compare_chains",
    "depth_moments",
    "ess_bulk",
    "ess_mean",
    "ess_tail",
    "membership_shares",
    "rhat",
    "verdict",
    "warm",
]
